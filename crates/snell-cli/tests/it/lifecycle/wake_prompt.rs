//! The prompt by which an agent is woken, and the answer that says which of its workers have finished.

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::LiveProcess;

use super::{INFO, LifecycleSandbox};

const PROMPT: &str = "UserPromptSubmit";
const TRIGGER: &str = "[CLAUDE OS SYS: NOTIFICATION]: Workers complete";

fn render_no_workers() -> String {
    format!("{INFO}No worker has finished since the last report")
}

/// `snell worker` as the session's agent says it.
fn run_worker(stage: &LifecycleSandbox, time: &str, args: &[&str]) {
    let ran = stage.run_snell(time, &[&["worker"], args].concat(), "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
}

/// How many workers its agent was told of.
fn list_reported_workers(stage: &LifecycleSandbox) -> Vec<Value> {
    stage
        .watched
        .query_rows("SELECT name, reported_at IS NOT NULL AS told FROM workers ORDER BY worker_id")
        .iter()
        .map(|row| json!([row["name"], row["told"]]))
        .collect()
}

#[test]
fn workers_that_have_finished_are_told_each_once() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.send_event("12:00:05", "SubagentStart", json!({"agent_id": "a81f", "agent_type": "Explore"})).assert_silent();
    run_worker(&stage, "12:00:10", &["start", "build", "--label", "release build"]);
    run_worker(&stage, "12:00:12", &["start", "deploy"]);
    run_worker(&stage, "12:00:51", &["done", "build", "--failed"]);
    let words = "The parser has two callers:\nthe guard and the log.";
    stage
        .send_event(
            "12:02:15",
            "SubagentStop",
            json!({"agent_id": "a81f", "agent_type": "Explore", "last_assistant_message": words}),
        )
        .assert_silent();
    stage.run_snell("12:02:16", &["session", "status", "waiting"], "");
    stage.send_prompt("12:02:20", TRIGGER).assert_context_answer(
        PROMPT,
        "[CLAUDE OS SYS: INFO]: Workers finished: 2\n\n\
             - build (release build): failed after 41s\n\
             - Explore (subagent a81f): done after 2m 10s\n  \
             The parser has two callers:\n  \
             the guard and the log.",
    );
    assert_eq!(list_reported_workers(&stage), [json!(["a81f", 1]), json!(["build", 1]), json!(["deploy", 0])]);
    stage.send_prompt("12:02:21", TRIGGER).assert_context_answer(PROMPT, &render_no_workers());
    run_worker(&stage, "12:02:30", &["done", "deploy", "--summary", "it is up"]);
    stage.send_prompt("12:02:31", TRIGGER).assert_context_answer(
        PROMPT,
        &format!("{INFO}Workers finished: 1\n\n- deploy: done after 2m 18s\n  it is up"),
    );
    stage.send_prompt("12:02:32", TRIGGER).assert_context_answer(PROMPT, &render_no_workers());
}

#[test]
fn a_prompt_that_is_the_trigger_wakes_and_one_that_mentions_it_does_not() {
    let cases = [
        (TRIGGER.to_owned(), true),
        (format!("[2026-01-03 10:00] {TRIGGER}"), true),
        (format!("[2026-01-03 10:00:07] {TRIGGER}"), true),
        (format!("2026-01-03T10:00:00Z {TRIGGER}"), true),
        (format!("2026-01-03T10:00:00.123+01:00: {TRIGGER}"), true),
        (format!("[10:00] {TRIGGER}"), true),
        (format!("  {TRIGGER}\n"), true),
        (format!("{TRIGGER}\n"), true),
        (format!("What does {TRIGGER} mean?"), false),
        (format!("Somebody typed {TRIGGER}"), false),
        (format!("See:\n{TRIGGER}"), false),
        (format!("{TRIGGER}d work"), false),
        ("Workers complete".to_owned(), false),
        ("[CLAUDE OS SYS: INFO]: Workers complete".to_owned(), false),
        ("Go on.".to_owned(), false),
    ];
    for (prompt, wakes) in cases {
        let stage = LifecycleSandbox::new().begin_session();
        run_worker(&stage, "12:00:10", &["done", "build"]);
        let expected = if wakes { format!("{INFO}Workers finished: 1\n\n- build: done") } else { String::new() };
        stage.send_prompt("12:00:11", &prompt).assert_context_answer_in(&prompt, PROMPT, &expected);
        assert_eq!(list_reported_workers(&stage), [json!(["build", i32::from(wakes)])], "{prompt}");
    }
}

#[test]
fn a_session_in_the_background_gets_no_summary_and_others_do() {
    for (mode, wakes) in [("interactive", true), ("mission", true), ("night shift", true), ("background", false)] {
        let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", mode)]).begin_session();
        run_worker(&stage, "12:00:10", &["done", "build"]);
        let expected = if wakes { format!("{INFO}Workers finished: 1\n\n- build: done") } else { String::new() };
        stage.send_prompt("12:00:11", TRIGGER).assert_context_answer_in(mode, PROMPT, &expected);
    }
}

#[test]
fn only_workers_of_this_conversation_are_told() {
    let stage = LifecycleSandbox::new();
    let (one, other) = (LiveProcess::new(), LiveProcess::new());
    let (one, other) = (one.pid().to_string(), other.pid().to_string());
    let tell = |time: &str, session: &str, event: &str, fields: Value| {
        let pid = if session == "s1" { &one } else { &other };
        let all = merge_fields(json!({"session_id": session}), &fields);
        stage.send_event_with_env(time, &[("CLAUDE_PID", pid.as_str())], event, all)
    };
    for session in ["s1", "s2"] {
        tell("12:00:00", session, "SessionStart", json!({"source": "startup"})).assert_silent();
        let subagent = json!({"agent_id": format!("of-{session}"), "agent_type": "Plan"});
        tell("12:00:01", session, "SubagentStart", subagent.clone()).assert_silent();
        tell("12:00:31", session, "SubagentStop", subagent).assert_silent();
    }
    assert_eq!(stage.watched.query_rows("SELECT * FROM sessions").len(), 2);
    let list = |session: &str| format!("{INFO}Workers finished: 1\n\n- Plan (subagent of-{session}): done after 30s");
    for session in ["s2", "s1"] {
        let wake = || tell("12:00:40", session, PROMPT, json!({"prompt": TRIGGER}));
        wake().assert_context_answer_in(session, PROMPT, &list(session));
        wake().assert_context_answer_in(session, PROMPT, &render_no_workers());
    }
}

#[test]
fn what_events_tell_of_workers_is_in_the_summary() {
    let background = json!({
        "tool_name": "Bash", "tool_use_id": "t1",
        "tool_input": {"command": "make all", "description": "Build everything", "run_in_background": true},
        "tool_response": {"stdout": "", "stderr": "", "backgroundTaskId": "b1"},
    });
    let running = json!([{"id": "b1", "type": "shell", "status": "running", "description": "Build everything"}]);
    let finished = json!([{"id": "b1", "type": "shell", "status": "completed", "description": "Build everything"}]);
    let failed = json!([{"id": "b1", "type": "shell", "status": "failed", "description": "Build everything"}]);
    let list = |outcome: &str| format!("{INFO}Workers finished: 1\n\n- Build everything (task b1): {outcome}");
    type WorkerEventList<'a> = &'a [(&'a str, Value)];
    let cases: [(&str, WorkerEventList<'_>, String); 5] = [
        (
            "a command in the background that ended",
            &[("PostToolUse", background.clone()), ("Stop", json!({"background_tasks": finished}))],
            list("done after 1m 0s"),
        ),
        (
            "one that failed",
            &[("PostToolUse", background.clone()), ("Stop", json!({"background_tasks": failed}))],
            list("failed after 1m 0s"),
        ),
        (
            "one that is not listed any more",
            &[("PostToolUse", background.clone()), ("Stop", json!({"background_tasks": []}))],
            list("done after 1m 0s"),
        ),
        (
            "one that still runs",
            &[("PostToolUse", background), ("Stop", json!({"background_tasks": running}))],
            render_no_workers(),
        ),
        (
            "a task",
            &[
                ("TaskCreated", json!({"task_id": "b1", "task_subject": "Build everything"})),
                ("TaskCompleted", json!({"task_id": "b1", "task_subject": "Build everything"})),
            ],
            list("done after 1m 0s"),
        ),
    ];
    for (what, events, expected) in cases {
        let stage = LifecycleSandbox::new().begin_session();
        for (minute, (event, fields)) in events.iter().enumerate() {
            stage.send_event(&format!("12:0{minute}:10"), event, fields.clone()).assert_silent();
        }
        stage.send_prompt("12:01:20", TRIGGER).assert_context_answer_in(what, PROMPT, &expected);
    }
}

#[test]
fn very_many_workers_are_told_in_several_parts_and_none_is_lost() {
    let stage = LifecycleSandbox::new().begin_session();
    let words = "x".repeat(900);
    let names: Vec<_> = (10..35).map(|number| format!("w{number}")).collect();
    for name in &names {
        let subagent = json!({"agent_id": name, "agent_type": "Plan", "last_assistant_message": words});
        stage.send_event("12:00:31", "SubagentStop", subagent).assert_silent();
    }
    let mut told = Vec::new();
    for _ in 0..names.len() {
        let answer = stage.send_prompt("12:01:00", TRIGGER).json();
        let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned();
        assert!(text.len() < 16 * 1024, "{}", text.len());
        assert!(!text.contains(&words), "its words are cut");
        told.extend(names.iter().filter(|name| text.contains(name.as_str())).cloned());
        if text == render_no_workers() {
            break;
        }
    }
    assert_eq!(told, names, "each once");
}
