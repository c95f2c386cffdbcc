//! Workers: sub-agents and tasks in events, each reported to its agent once.

use serde_json::{Value, json};
use snell::Decision;
use snell_store::{DecisionRecord, FinishedWorker, ReminderRecord, SnapshotQuery};

use crate::support::{SentEvent, TestStore, build_event, build_prompt};

/// Workers that are not reported to the session's agent yet.
fn list_unreported_workers(kept: &mut TestStore, session: &str) -> Vec<FinishedWorker> {
    let inquiry = SnapshotQuery { own_session_id: Some(session.into()), workers: true, ..SnapshotQuery::default() };
    kept.store.load_session_snapshot(&inquiry).unwrap().workers
}

/// All workers there are, as `kind name (label) status: summary`.
fn list_workers(kept: &TestStore) -> Vec<String> {
    let sql = "SELECT kind || ' ' || name || coalesce(' (' || label || ')', '') || ' ' || status || \
        coalesce(': ' || summary, '') FROM workers ORDER BY worker_id";
    kept.query_texts(sql)
}

fn create_begun_session() -> TestStore {
    let mut kept = TestStore::new();
    kept.ingest_event(build_event("SessionStart", "s").with_field("source", "startup"));
    kept.ingest_event(build_prompt("s", "Go."));
    kept
}

fn take_with_decision(kept: &mut TestStore, sent: SentEvent, judgement: DecisionRecord) {
    let mut observation = sent.into_record_in(&kept.project_dir());
    observation.judgement = Some(judgement);
    kept.store.ingest(observation).unwrap();
}

fn build_block_decision() -> DecisionRecord {
    DecisionRecord { decision: Decision::Deny, ..DecisionRecord::default() }
}

fn build_workers_reminder(workers: Vec<i64>) -> DecisionRecord {
    DecisionRecord { reminded: ReminderRecord { workers, ..ReminderRecord::default() }, ..DecisionRecord::default() }
}

fn build_subagent_event(event: &str, id: &str) -> SentEvent {
    build_event(event, "s").with_field("agent_id", id).with_field("agent_type", "Explore")
}

fn build_background_call(input: Value, response: Value) -> SentEvent {
    build_event("PostToolUse", "s")
        .with_field("tool_name", "Bash")
        .with_field("tool_input", input)
        .with_field("tool_response", response)
}

fn build_task_listing(tasks: Value) -> SentEvent {
    build_event("Stop", "s").with_field("background_tasks", tasks)
}

#[test]
fn every_event_about_a_worker_is_parsed() {
    let make = || json!({"command": "make all", "run_in_background": true});
    let cases: Vec<(&str, Vec<SentEvent>, &[&str])> = vec![
        ("a subagent begins", vec![build_subagent_event("SubagentStart", "a1")], &["subagent a1 (Explore) running"]),
        (
            "and stops",
            vec![
                build_subagent_event("SubagentStart", "a1"),
                build_subagent_event("SubagentStop", "a1").with_field("last_assistant_message", "Found it."),
            ],
            &["subagent a1 (Explore) done: Found it."],
        ),
        (
            "a stop without a start",
            vec![build_subagent_event("SubagentStop", "a1").with_field("last_assistant_message", "Found it.")],
            &["subagent a1 (Explore) done: Found it."],
        ),
        (
            "it begins once more",
            vec![
                build_subagent_event("SubagentStart", "a1"),
                build_subagent_event("SubagentStop", "a1")
                    .with_field("last_assistant_message", "Found it.")
                    .at_second(1),
                build_subagent_event("SubagentStart", "a1").at_second(2),
            ],
            &["subagent a1 (Explore) running"],
        ),
        (
            "the agent's own means has no type and no start",
            vec![build_event("SubagentStop", "s").with_field("agent_id", "a1").with_field("agent_type", "")],
            &[],
        ),
        (
            "a subagent that runs in the background without being asked to",
            vec![
                build_background_call(json!({"description": "Look"}), json!({"agentId": "a1", "isAsync": true})),
                build_prompt(
                    "s",
                    "<task-notification><task-id>a1</task-id><status>completed</status>\
                     <summary>Agent finished</summary><result>Nothing there.</result></task-notification>",
                ),
            ],
            &["subagent a1 (Look) done: Nothing there."],
        ),
        ("a subagent without an id", vec![build_event("SubagentStop", "s").with_field("agent_type", "Explore")], &[]),
        (
            "a task of its own",
            vec![build_event("TaskCreated", "s").with_field("task_id", "7").with_field("task_subject", "Write\ntests")],
            &["task 7 (Write tests) running"],
        ),
        (
            "that is completed",
            vec![
                build_event("TaskCreated", "s").with_field("task_id", 7).with_field("task_subject", "Write tests"),
                build_event("TaskCompleted", "s").with_field("task_id", "7"),
            ],
            &["task 7 (Write tests) done"],
        ),
        (
            "a command in the background",
            vec![build_background_call(make(), json!({"backgroundTaskId": "b1", "stdout": ""}))],
            &["task b1 (make all) running"],
        ),
        (
            "its description says more than the command",
            vec![build_background_call(
                json!({"command": "make", "description": "Build it", "run_in_background": true}),
                json!({"shell_id": 12}),
            )],
            &["task 12 (Build it) running"],
        ),
        (
            "a command that is waited for",
            vec![build_background_call(json!({"command": "make"}), json!({"backgroundTaskId": "b1"}))],
            &[],
        ),
        (
            "a command that does not want to be in the background",
            vec![build_background_call(json!({"run_in_background": "true"}), json!({"taskId": "b1"}))],
            &[],
        ),
        ("an answer in words", vec![build_background_call(make(), json!("Command running with ID: b1"))], &[]),
        ("an answer without an id", vec![build_background_call(make(), json!({"taskId": null, "id": " "}))], &[]),
        (
            "a subagent in the background is one worker",
            vec![
                build_subagent_event("SubagentStart", "a1"),
                build_background_call(
                    json!({"description": "Look around", "run_in_background": true}),
                    json!({"agentId": "a1", "status": "async_launched"}),
                ),
                build_task_listing(json!([{"id": "a1", "type": "subagent", "status": "running"}])),
                build_subagent_event("SubagentStop", "a1").with_field("last_assistant_message", "Nothing there."),
                build_prompt(
                    "s",
                    "<task-notification><task-id>a1</task-id><status>completed</status></task-notification>",
                ),
            ],
            &["subagent a1 (Explore) done: Nothing there."],
        ),
        (
            "a list of all kinds",
            vec![build_task_listing(json!([
                {"id": "t1", "status": "running", "command": "make"},
                {"task_id": "t2", "status": "Completed", "description": "Tests", "summary": "all green"},
                {"taskId": "t3", "status": "killed"},
                {"id": "t4"},
                {"id": "t5", "status": "timed_out"},
            ]))],
            &[
                "task t1 (make) running",
                "task t2 (Tests) done: all green",
                "task t3 failed",
                "task t4 running",
                "task t5 failed",
            ],
        ),
        (
            "what is listed no more has finished",
            vec![build_background_call(make(), json!({"taskId": "b1"})), build_task_listing(json!([])).at_second(1)],
            &["task b1 (make all) done"],
        ),
        (
            "what was only listed, too",
            vec![
                build_task_listing(json!([{"id": "t1"}, {"id": "t2"}])),
                build_task_listing(json!([{"id": "t2"}])).at_second(1),
            ],
            &["task t1 done", "task t2 running"],
        ),
        (
            "a stop without a list says nothing",
            vec![build_background_call(make(), json!({"taskId": "b1"})), build_event("Stop", "s").at_second(1)],
            &["task b1 (make all) running"],
        ),
        (
            "a list that nobody understands says nothing",
            vec![
                build_background_call(make(), json!({"taskId": "b1"})),
                build_task_listing(json!(["b2", {"name": "x"}, 5, null])).at_second(1),
                build_task_listing(json!({"b2": {}})).at_second(2),
                build_task_listing(json!("b2")).at_second(3),
            ],
            &["task b1 (make all) running"],
        ),
        (
            "the list of a subagent that stops ends nothing",
            vec![
                build_background_call(make(), json!({"taskId": "b1"})),
                build_event("SubagentStop", "s").with_field("background_tasks", json!([])),
            ],
            &["task b1 (make all) running"],
        ),
        (
            "tasks and subagents are not what is listed",
            vec![
                build_event("TaskCreated", "s").with_field("task_id", "1"),
                build_subagent_event("SubagentStart", "a1"),
                build_task_listing(json!([])).at_second(1),
            ],
            &["task 1 running", "subagent a1 (Explore) running"],
        ),
        (
            "a notification",
            vec![
                build_background_call(make(), json!({"taskId": "b1"})),
                build_prompt(
                    "s",
                    "<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n\
                     <summary>exit code 2</summary>\n</task-notification>",
                ),
            ],
            &["task b1 (make all) failed: exit code 2"],
        ),
        (
            "two notifications in one prompt",
            vec![build_prompt(
                "s",
                "<task-notification><task-id>b1</task-id><status>completed</status></task-notification>\n\
                 <task-notification><task-id>b2</task-id><status>stopped</status></task-notification>",
            )],
            &["task b1 done", "task b2 failed"],
        ),
        (
            "a prompt that speaks of one",
            vec![build_prompt("s", "What is <task-notification><task-id>b1</task-id></task-notification>?")],
            &[],
        ),
        ("half a notification", vec![build_prompt("s", "<task-notification><task-id>b1")], &[]),
        (
            "an event of another name with the same fields",
            vec![
                build_event("TeammateIdle", "s").with_field("task_id", "7"),
                build_event("PreToolUse", "s").with_field("task_id", "7"),
            ],
            &[],
        ),
    ];
    for (name, events, expected) in cases {
        let mut kept = create_begun_session();
        for event in events {
            kept.ingest_event(event);
        }
        assert_eq!(list_workers(&kept), expected, "{name}");
    }
}

#[test]
fn blocked_events_do_not_change_workers() {
    let goes_on = DecisionRecord { goes_on: true, ..DecisionRecord::default() };
    let mut kept = create_begun_session();
    kept.ingest_event(build_subagent_event("SubagentStart", "a1"));
    take_with_decision(&mut kept, build_subagent_event("SubagentStop", "a1"), build_block_decision());
    take_with_decision(&mut kept, build_subagent_event("SubagentStop", "a1"), goes_on);
    take_with_decision(&mut kept, build_event("TaskCreated", "s").with_field("task_id", "1"), build_block_decision());
    kept.ingest_event(build_event("TaskCreated", "s").with_field("task_id", "2"));
    take_with_decision(&mut kept, build_event("TaskCompleted", "s").with_field("task_id", "2"), build_block_decision());
    assert_eq!(list_workers(&kept), ["subagent a1 (Explore) running", "task 2 running"]);
}

#[test]
fn each_worker_is_reported_once_with_its_duration() {
    let mut kept = create_begun_session();
    kept.ingest_event(build_subagent_event("SubagentStart", "a1").at_second(10));
    kept.ingest_event(build_subagent_event("SubagentStart", "a2").at_second(11));
    kept.ingest_event(build_subagent_event("SubagentStop", "a2").at_second(20));
    kept.ingest_event(
        build_subagent_event("SubagentStop", "a1")
            .at_second(12)
            .with_delay()
            .with_field("last_assistant_message", "Found."),
    );
    let found = list_unreported_workers(&mut kept, "s");
    let first = FinishedWorker {
        worker_id: found[0].worker_id,
        kind: "subagent".into(),
        name: "a1".into(),
        label: Some("Explore".into()),
        succeeded: true,
        took_us: Some(2_000_000),
        summary: Some("Found.".into()),
    };
    assert_eq!(found[0], first);
    assert_eq!((found[1].name.as_str(), found[1].took_us, found.len()), ("a2", Some(9_000_000), 2));
    take_with_decision(
        &mut kept,
        build_prompt("s", "Wake up.").at_second(21),
        build_workers_reminder(vec![first.worker_id]),
    );
    let left: Vec<_> = list_unreported_workers(&mut kept, "s").into_iter().map(|worker| worker.name).collect();
    assert_eq!(left, ["a2"]);
    // A repeated signal is no news; a new run is.
    kept.ingest_event(
        build_subagent_event("SubagentStop", "a1").at_second(22).with_field("last_assistant_message", "Again."),
    );
    assert_eq!(list_unreported_workers(&mut kept, "s").len(), 1);
    kept.ingest_event(build_subagent_event("SubagentStart", "a1").at_second(23));
    assert_eq!(list_unreported_workers(&mut kept, "s").len(), 1);
    kept.ingest_event(build_subagent_event("SubagentStop", "a1").at_second(24));
    assert_eq!(list_unreported_workers(&mut kept, "s").len(), 2);
}

#[test]
fn a_session_has_its_own_workers_and_reports_no_others() {
    let mut kept = create_begun_session();
    let other = kept.create_other_project("other");
    kept.ingest_event(build_event("SessionStart", "t").with_field("cwd", other.as_str()));
    let in_t = |event: &str| build_event(event, "t").with_field("agent_id", "a1").with_field("cwd", other.as_str());
    kept.ingest_event(build_subagent_event("SubagentStart", "a1"));
    kept.ingest_event(in_t("SubagentStop").at_second(1));
    kept.ingest_event(
        build_event("Stop", "t")
            .with_field("cwd", other.as_str())
            .with_field("background_tasks", json!([]))
            .at_second(2),
    );
    assert_eq!(list_workers(&kept), ["subagent a1 (Explore) running", "subagent a1 done"]);
    assert_eq!(list_unreported_workers(&mut kept, "s"), []);
    let theirs = list_unreported_workers(&mut kept, "t");
    take_with_decision(
        &mut kept,
        build_prompt("s", "Wake up.").at_second(3),
        build_workers_reminder(vec![theirs[0].worker_id, -1, i64::MAX]),
    );
    assert_eq!(list_unreported_workers(&mut kept, "t"), theirs);
}

#[test]
fn a_late_record_of_a_report_counts() {
    let mut kept = create_begun_session();
    kept.ingest_event(build_subagent_event("SubagentStop", "a1").at_second(1));
    let reminder = build_workers_reminder(vec![list_unreported_workers(&mut kept, "s")[0].worker_id]);
    kept.ingest_event(build_event("Stop", "s").at_second(9));
    let late = build_prompt("s", "Wake up.").at_second(5).with_delay();
    let mut observation = late.into_record_in(&kept.project_dir());
    observation.judgement = Some(reminder);
    for _ in 0..2 {
        kept.store.ingest(observation.clone()).unwrap();
        assert_eq!(list_unreported_workers(&mut kept, "s"), []);
    }
}

#[test]
fn events_in_another_order_give_the_same_workers() {
    let mut kept = create_begun_session();
    kept.ingest_event(build_subagent_event("SubagentStop", "a1").at_second(8));
    kept.ingest_event(build_subagent_event("SubagentStart", "a1").at_second(5).with_delay());
    let found = list_unreported_workers(&mut kept, "s");
    assert_eq!((found.len(), found[0].took_us), (1, Some(3_000_000)));
    // The end of a finished run does not end the next one.
    kept.ingest_event(build_subagent_event("SubagentStart", "a2").at_second(10));
    kept.ingest_event(build_subagent_event("SubagentStop", "a2").at_second(9).with_delay());
    assert_eq!(list_workers(&kept)[1], "subagent a2 (Explore) running");
}

#[test]
fn summaries_are_masked_and_truncated() {
    let mut kept = create_begun_session();
    let words = format!("The token is ghp_{}. {}", "a1B2".repeat(9), "blah ".repeat(2000));
    kept.ingest_event(
        build_subagent_event("SubagentStop", &"n".repeat(500)).with_field("last_assistant_message", words),
    );
    let found = list_unreported_workers(&mut kept, "s").remove(0);
    let summary = found.summary.unwrap();
    assert!(summary.starts_with("The token is [masked: "), "{summary}");
    assert!(summary.len() <= 2048 && summary.contains("[…]"), "{}", summary.len());
    assert_eq!(found.name.chars().count(), 200);
}

#[test]
fn workers_are_removed_with_their_session() {
    let mut kept = create_begun_session();
    kept.ingest_event(build_subagent_event("SubagentStart", "a1"));
    kept.ingest_event(build_subagent_event("SubagentStop", "a2"));
    kept.ingest_event(build_event("SessionEnd", "s").with_field("reason", "other").at_second(1));
    kept.ingest_event(build_event("SessionStart", "t").with_field("cwd", "/elsewhere").at_second(5000));
    kept.store.prune(crate::support::make_timestamp(4000), &mut |_| {}).unwrap();
    assert_eq!(list_workers(&kept), Vec::<String>::new());
}
