//! Workers: what events tell of subagents and tasks, and that their agent is told of each once.

use serde_json::{Value, json};
use snell_store::{FinishedWorker, Inquiry, Judgement, Reminded};

use crate::support::{Kept, Sent, prompt, sent};

/// Workers of which the session's agent was not told yet.
fn unreported(kept: &mut Kept, session: &str) -> Vec<FinishedWorker> {
    let inquiry = Inquiry {
        own_session_id: Some(session.into()),
        workers: true,
        ..Inquiry::default()
    };
    kept.store.facts(&inquiry).unwrap().workers
}

/// All workers there are, as `kind name (label) status: summary`.
fn workers(kept: &Kept) -> Vec<String> {
    let sql = "SELECT kind || ' ' || name || coalesce(' (' || label || ')', '') || ' ' || status || \
        coalesce(': ' || summary, '') FROM workers ORDER BY worker_id";
    kept.texts(sql)
}

fn begun() -> Kept {
    let mut kept = Kept::new();
    kept.take(sent("SessionStart", "s").with("source", "startup"));
    kept.take(prompt("s", "Go."));
    kept
}

fn judged(kept: &mut Kept, sent: Sent, judgement: Judgement) {
    let mut observation = sent.observed_in(&kept.project());
    observation.judgement = Some(judgement);
    kept.store.ingest(observation).unwrap();
}

fn blocked() -> Judgement {
    Judgement {
        decision: Some("block".into()),
        ..Judgement::default()
    }
}

fn told_of(workers: Vec<i64>) -> Judgement {
    Judgement {
        reminded: Reminded {
            workers,
            ..Reminded::default()
        },
        ..Judgement::default()
    }
}

fn subagent(event: &str, id: &str) -> Sent {
    sent(event, "s").with("agent_id", id).with("agent_type", "Explore")
}

fn in_background(input: Value, response: Value) -> Sent {
    sent("PostToolUse", "s")
        .with("tool_name", "Bash")
        .with("tool_input", input)
        .with("tool_response", response)
}

fn listing(tasks: Value) -> Sent {
    sent("Stop", "s").with("background_tasks", tasks)
}

#[test]
fn every_event_that_tells_of_a_worker_is_understood() {
    let make = || json!({"command": "make all", "run_in_background": true});
    let cases: Vec<(&str, Vec<Sent>, &[&str])> = vec![
        (
            "a subagent begins",
            vec![subagent("SubagentStart", "a1")],
            &["subagent a1 (Explore) running"],
        ),
        (
            "and stops",
            vec![
                subagent("SubagentStart", "a1"),
                subagent("SubagentStop", "a1").with("last_assistant_message", "Found it."),
            ],
            &["subagent a1 (Explore) done: Found it."],
        ),
        (
            "a stop without a start",
            vec![subagent("SubagentStop", "a1").with("last_assistant_message", "Found it.")],
            &["subagent a1 (Explore) done: Found it."],
        ),
        (
            "it begins once more",
            vec![
                subagent("SubagentStart", "a1"),
                subagent("SubagentStop", "a1")
                    .with("last_assistant_message", "Found it.")
                    .at(1),
                subagent("SubagentStart", "a1").at(2),
            ],
            &["subagent a1 (Explore) running"],
        ),
        (
            "a subagent without an id",
            vec![sent("SubagentStop", "s").with("agent_type", "Explore")],
            &[],
        ),
        (
            "a task of its own",
            vec![
                sent("TaskCreated", "s")
                    .with("task_id", "7")
                    .with("task_subject", "Write\ntests"),
            ],
            &["task 7 (Write tests) running"],
        ),
        (
            "that is completed",
            vec![
                sent("TaskCreated", "s")
                    .with("task_id", 7)
                    .with("task_subject", "Write tests"),
                sent("TaskCompleted", "s").with("task_id", "7"),
            ],
            &["task 7 (Write tests) done"],
        ),
        (
            "a command in the background",
            vec![in_background(make(), json!({"backgroundTaskId": "b1", "stdout": ""}))],
            &["task b1 (make all) running"],
        ),
        (
            "its description says more than the command",
            vec![in_background(
                json!({"command": "make", "description": "Build it", "run_in_background": true}),
                json!({"shell_id": 12}),
            )],
            &["task 12 (Build it) running"],
        ),
        (
            "a command that is waited for",
            vec![in_background(
                json!({"command": "make"}),
                json!({"backgroundTaskId": "b1"}),
            )],
            &[],
        ),
        (
            "a command that does not want to be in the background",
            vec![in_background(
                json!({"run_in_background": "true"}),
                json!({"taskId": "b1"}),
            )],
            &[],
        ),
        (
            "an answer in words",
            vec![in_background(make(), json!("Command running with ID: b1"))],
            &[],
        ),
        (
            "an answer without an id",
            vec![in_background(make(), json!({"taskId": null, "id": " "}))],
            &[],
        ),
        (
            "a subagent in the background is one worker",
            vec![
                subagent("SubagentStart", "a1"),
                in_background(
                    json!({"description": "Look around", "run_in_background": true}),
                    json!({"agentId": "a1", "status": "async_launched"}),
                ),
                listing(json!([{"id": "a1", "type": "subagent", "status": "running"}])),
                subagent("SubagentStop", "a1").with("last_assistant_message", "Nothing there."),
                prompt(
                    "s",
                    "<task-notification><task-id>a1</task-id><status>completed</status></task-notification>",
                ),
            ],
            &["subagent a1 (Explore) done: Nothing there."],
        ),
        (
            "a list of all kinds",
            vec![listing(json!([
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
            vec![in_background(make(), json!({"taskId": "b1"})), listing(json!([])).at(1)],
            &["task b1 (make all) done"],
        ),
        (
            "what was only listed, too",
            vec![
                listing(json!([{"id": "t1"}, {"id": "t2"}])),
                listing(json!([{"id": "t2"}])).at(1),
            ],
            &["task t1 done", "task t2 running"],
        ),
        (
            "a stop without a list says nothing",
            vec![in_background(make(), json!({"taskId": "b1"})), sent("Stop", "s").at(1)],
            &["task b1 (make all) running"],
        ),
        (
            "a list that nobody understands says nothing",
            vec![
                in_background(make(), json!({"taskId": "b1"})),
                listing(json!(["b2", {"name": "x"}, 5, null])).at(1),
                listing(json!({"b2": {}})).at(2),
                listing(json!("b2")).at(3),
            ],
            &["task b1 (make all) running"],
        ),
        (
            "the list of a subagent that stops ends nothing",
            vec![
                in_background(make(), json!({"taskId": "b1"})),
                sent("SubagentStop", "s").with("background_tasks", json!([])),
            ],
            &["task b1 (make all) running"],
        ),
        (
            "tasks and subagents are not what is listed",
            vec![
                sent("TaskCreated", "s").with("task_id", "1"),
                subagent("SubagentStart", "a1"),
                listing(json!([])).at(1),
            ],
            &["task 1 running", "subagent a1 (Explore) running"],
        ),
        (
            "a notification",
            vec![
                in_background(make(), json!({"taskId": "b1"})),
                prompt(
                    "s",
                    "<task-notification>\n<task-id>b1</task-id>\n<status>failed</status>\n\
                     <summary>exit code 2</summary>\n</task-notification>",
                ),
            ],
            &["task b1 (make all) failed: exit code 2"],
        ),
        (
            "two notifications in one prompt",
            vec![prompt(
                "s",
                "<task-notification><task-id>b1</task-id><status>completed</status></task-notification>\n\
                 <task-notification><task-id>b2</task-id><status>stopped</status></task-notification>",
            )],
            &["task b1 done", "task b2 failed"],
        ),
        (
            "a prompt that speaks of one",
            vec![prompt(
                "s",
                "What is <task-notification><task-id>b1</task-id></task-notification>?",
            )],
            &[],
        ),
        (
            "half a notification",
            vec![prompt("s", "<task-notification><task-id>b1")],
            &[],
        ),
        (
            "an event of another name with the same fields",
            vec![
                sent("TeammateIdle", "s").with("task_id", "7"),
                sent("PreToolUse", "s").with("task_id", "7"),
            ],
            &[],
        ),
    ];
    for (name, events, expected) in cases {
        let mut kept = begun();
        for event in events {
            kept.take(event);
        }
        assert_eq!(workers(&kept), expected, "{name}");
    }
}

#[test]
fn what_a_hook_prevents_has_not_happened() {
    let goes_on = Judgement {
        goes_on: true,
        ..Judgement::default()
    };
    let mut kept = begun();
    kept.take(subagent("SubagentStart", "a1"));
    judged(&mut kept, subagent("SubagentStop", "a1"), blocked());
    judged(&mut kept, subagent("SubagentStop", "a1"), goes_on);
    judged(&mut kept, sent("TaskCreated", "s").with("task_id", "1"), blocked());
    kept.take(sent("TaskCreated", "s").with("task_id", "2"));
    judged(&mut kept, sent("TaskCompleted", "s").with("task_id", "2"), blocked());
    assert_eq!(workers(&kept), ["subagent a1 (Explore) running", "task 2 running"]);
}

#[test]
fn an_agent_is_told_of_each_worker_once_with_how_long_it_took() {
    let mut kept = begun();
    kept.take(subagent("SubagentStart", "a1").at(10));
    kept.take(subagent("SubagentStart", "a2").at(11));
    kept.take(subagent("SubagentStop", "a2").at(20));
    kept.take(
        subagent("SubagentStop", "a1")
            .at(12)
            .delayed()
            .with("last_assistant_message", "Found."),
    );
    let found = unreported(&mut kept, "s");
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
    assert_eq!(
        (found[1].name.as_str(), found[1].took_us, found.len()),
        ("a2", Some(9_000_000), 2)
    );
    judged(
        &mut kept,
        prompt("s", "Wake up.").at(21),
        told_of(vec![first.worker_id]),
    );
    let left: Vec<_> = unreported(&mut kept, "s")
        .into_iter()
        .map(|worker| worker.name)
        .collect();
    assert_eq!(left, ["a2"]);
    // What is heard of it again is no news; but if it runs again, that is.
    kept.take(
        subagent("SubagentStop", "a1")
            .at(22)
            .with("last_assistant_message", "Again."),
    );
    assert_eq!(unreported(&mut kept, "s").len(), 1);
    kept.take(subagent("SubagentStart", "a1").at(23));
    assert_eq!(unreported(&mut kept, "s").len(), 1);
    kept.take(subagent("SubagentStop", "a1").at(24));
    assert_eq!(unreported(&mut kept, "s").len(), 2);
}

#[test]
fn a_session_has_its_own_workers_and_reports_no_others() {
    let mut kept = begun();
    let other = kept.other_project("other");
    kept.take(sent("SessionStart", "t").with("cwd", other.as_str()));
    let in_t = |event: &str| sent(event, "t").with("agent_id", "a1").with("cwd", other.as_str());
    kept.take(subagent("SubagentStart", "a1"));
    kept.take(in_t("SubagentStop").at(1));
    kept.take(
        sent("Stop", "t")
            .with("cwd", other.as_str())
            .with("background_tasks", json!([]))
            .at(2),
    );
    assert_eq!(workers(&kept), ["subagent a1 (Explore) running", "subagent a1 done"]);
    assert_eq!(unreported(&mut kept, "s"), []);
    let theirs = unreported(&mut kept, "t");
    judged(
        &mut kept,
        prompt("s", "Wake up.").at(3),
        told_of(vec![theirs[0].worker_id, -1, i64::MAX]),
    );
    assert_eq!(unreported(&mut kept, "t"), theirs);
}

#[test]
fn what_was_told_counts_however_late_it_is_recorded() {
    let mut kept = begun();
    kept.take(subagent("SubagentStop", "a1").at(1));
    let told = told_of(vec![unreported(&mut kept, "s")[0].worker_id]);
    kept.take(sent("Stop", "s").at(9));
    let late = prompt("s", "Wake up.").at(5).delayed();
    let mut observation = late.observed_in(&kept.project());
    observation.judgement = Some(told);
    for _ in 0..2 {
        kept.store.ingest(observation.clone()).unwrap();
        assert_eq!(unreported(&mut kept, "s"), []);
    }
}

#[test]
fn events_that_come_in_another_order_tell_the_same() {
    let mut kept = begun();
    kept.take(subagent("SubagentStop", "a1").at(8));
    kept.take(subagent("SubagentStart", "a1").at(5).delayed());
    let found = unreported(&mut kept, "s");
    assert_eq!((found.len(), found[0].took_us), (1, Some(3_000_000)));
    // The end of a run that is over does not end the next one.
    kept.take(subagent("SubagentStart", "a2").at(10));
    kept.take(subagent("SubagentStop", "a2").at(9).delayed());
    assert_eq!(workers(&kept)[1], "subagent a2 (Explore) running");
}

#[test]
fn last_words_are_masked_and_cut() {
    let mut kept = begun();
    let words = format!("The token is ghp_{}. {}", "a1B2".repeat(9), "blah ".repeat(2000));
    kept.take(subagent("SubagentStop", &"n".repeat(500)).with("last_assistant_message", words));
    let found = unreported(&mut kept, "s").remove(0);
    let summary = found.summary.unwrap();
    assert!(summary.starts_with("The token is [masked: "), "{summary}");
    assert!(summary.len() <= 2048 && summary.contains("[…]"), "{}", summary.len());
    assert_eq!(found.name.chars().count(), 200);
}

#[test]
fn workers_are_removed_with_their_session() {
    let mut kept = begun();
    kept.take(subagent("SubagentStart", "a1"));
    kept.take(subagent("SubagentStop", "a2"));
    kept.take(sent("SessionEnd", "s").with("reason", "other").at(1));
    kept.take(sent("SessionStart", "t").with("cwd", "/elsewhere").at(5000));
    kept.store.prune(crate::support::at(4000), &mut |_| {}).unwrap();
    assert_eq!(workers(&kept), Vec::<String>::new());
}
