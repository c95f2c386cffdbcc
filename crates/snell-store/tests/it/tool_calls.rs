//! Tool calls: their summaries, their durations, and the effect of a blocked call.

use serde_json::{Value, json};
use snell::Decision;
use snell_store::DecisionRecord;

use crate::support::{SentEvent, TestStore, build_event, build_prompt};

fn build_tool_event(event: &str, name: &str, input: Value) -> SentEvent {
    build_event(event, "s").with_field("tool_name", name).with_field("tool_input", input)
}

#[test]
fn a_call_is_summarised_in_one_line() {
    let long = "x".repeat(300);
    let short = format!("{}…", "x".repeat(199));
    let cases = [
        ("Bash", json!({"command": "make\n  all\t-j2"}), Some("make all -j2")),
        ("Bash", json!({"command": ["git", "push"]}), Some("git push")),
        ("Bash", json!({"command": long}), Some(short.as_str())),
        ("Read", json!({"file_path": "/a b", "limit": 5}), Some("/a b")),
        ("WebSearch", json!({"query": "tides"}), Some("tides")),
        ("mcp__mail__send", json!({"path": "/x"}), Some("/x")),
        ("Bash", json!({"command": "  "}), None),
        ("Bash", json!({"command": 5}), Some("{\"command\":5}")),
        ("Bash", json!("make"), Some("make")),
        ("Bash", json!({}), None),
        (
            "mcp__mail__send",
            json!({"body": "Dear all", "subject": "Hello", "to": ["a@b.c", "d@e.f"]}),
            Some("to a@b.c, d@e.f: Hello"),
        ),
        ("mcp__chat__post", json!({"channel": "ops", "text": "it\nburns"}), Some("to ops: it burns")),
        ("Task", json!({"prompt": "Look at all.", "description": "look"}), Some("look")),
        ("mcp__x__y", json!({"level": 3, "deep": {"a": [1]}}), Some("{\"level\":3,\"deep\":{\"a\":[1]}}")),
        ("Bash", json!({"command": "a\u{2028}b\u{85}c"}), Some("a\u{2028}b\u{85}c")),
        ("Bash", Value::Null, None),
    ];
    let mut kept = TestStore::new();
    for (name, input, expected) in &cases {
        kept.ingest_event(build_tool_event("PreToolUse", name, input.clone()));
        let entry = kept.list_events().pop().unwrap();
        assert_eq!((entry.tool.as_deref(), entry.tool_summary.as_deref()), (Some(*name), *expected), "{input}");
        assert_eq!(entry.tool_duration_ms, None);
    }
    kept.ingest_event(build_tool_event(
        "PreToolUse",
        "Bash",
        json!({"command": format!("login ghp_{}", "a1B2".repeat(9))}),
    ));
    let summary = kept.list_events().pop().unwrap().tool_summary.unwrap();
    assert!(summary.starts_with("login [masked: "), "{summary}");
    kept.ingest_event(build_prompt("s", "Go on."));
    assert_eq!(kept.list_events().pop().unwrap().tool_summary, None);
}

#[test]
fn the_duration_of_a_call_is_the_agents_figure_or_the_time_between() {
    let call = |event: &str, id: &str| {
        build_tool_event(event, "Bash", json!({"command": "make"})).with_field("tool_use_id", id)
    };
    let mut kept = TestStore::new();
    for (id, second) in [("t1", 10), ("t2", 11), ("t3", 12), ("again", 13)] {
        kept.ingest_event(call("PreToolUse", id).at_second(second));
    }
    kept.ingest_event(call("PreToolUse", "again").with_field("tool_input", json!({"command": "make b"})).at_second(20));
    kept.ingest_event(call("PreToolUse", "late").at_second(40));
    kept.ingest_event(call("PreToolUse", "next").at_second(14));
    kept.ingest_event(call("PreToolUse", "next").with_field("tool_input", json!({"command": "make c"})).at_second(41));
    let cases = [
        (call("PostToolUse", "t1").with_field("duration_ms", 1234).at_second(30), Some(1234.0)),
        (call("PostToolUse", "t2").with_field("duration_ms", 0.5).at_second(30), Some(0.5)),
        (call("PostToolUseFailure", "t3").at_second(30), Some(18_000.0)),
        // The same id twice: the last call before it.
        (call("PostToolUse", "again").at_second(30), Some(10_000.0)),
        (call("PostToolUse", "late").at_second(30), None),
        (call("PostToolUse", "next").at_second(30), Some(16_000.0)),
        (call("PostToolUse", "never").at_second(30), None),
        (call("PostToolUse", "").at_second(30), None),
        (
            call("PostToolUse", "t2").with_field("duration_ms", -1).with_field("tool_input", json!({})).at_second(30),
            Some(19_000.0),
        ),
        (
            call("PostToolUse", "t2")
                .with_field("duration_ms", "5")
                .with_field("tool_input", json!(null))
                .at_second(30),
            Some(19_000.0),
        ),
        (call("PermissionRequest", "t1").with_field("duration_ms", 7).at_second(30), None),
    ];
    for (event, expected) in cases {
        let shown = format!("{event:?}");
        kept.ingest_event(event);
        assert_eq!(kept.list_events().pop().unwrap().tool_duration_ms, expected, "{shown}");
    }
    // Ids of calls are unique only within a session.
    let other = kept.create_other_project("other");
    kept.ingest_event(
        call("PostToolUse", "t1").with_field("session_id", "elsewhere").with_field("cwd", other).at_second(30),
    );
    assert_eq!(kept.list_events().pop().unwrap().tool_duration_ms, None);
}

#[test]
fn a_blocked_call_does_not_change_the_session() {
    let bash = |event: &str, id: &str| {
        build_tool_event(event, "Bash", json!({"command": "make"})).with_field("tool_use_id", id)
    };
    let mut kept = TestStore::new();
    let state =
        |kept: &TestStore| kept.query_texts("SELECT current_state || coalesce(' ' || current_tool, '') FROM sessions");
    let block = |kept: &mut TestStore, sent: SentEvent| {
        let mut observation = sent.into_record_in(&kept.project_dir());
        observation.judgement = Some(DecisionRecord { decision: Decision::Deny, ..DecisionRecord::default() });
        kept.store.ingest(observation).unwrap();
    };
    kept.ingest_event(build_event("SessionStart", "s"));
    block(&mut kept, bash("PreToolUse", "t0"));
    assert_eq!(state(&kept), ["idle"]);
    kept.ingest_event(build_prompt("s", "Go."));
    block(&mut kept, bash("PreToolUse", "t1"));
    assert_eq!(state(&kept), ["active"]);
    kept.ingest_event(bash("PreToolUse", "t2"));
    assert_eq!(state(&kept), ["tool_active Bash"]);
    block(
        &mut kept,
        build_tool_event("PreToolUse", "Read", json!({"file_path": "/etc/shadow"})).with_field("tool_use_id", "t3"),
    );
    assert_eq!(state(&kept), ["tool_active Bash"]);
    kept.ingest_event(bash("PostToolUse", "t2"));
    assert_eq!(state(&kept), ["active"]);
}

#[test]
fn a_background_session_is_not_followed_from_tool_to_tool() {
    for (mode, expected) in [
        (None, "tool_active"),
        (Some("interactive"), "tool_active"),
        (Some("mission"), "tool_active"),
        (Some("background"), "active"),
    ] {
        let mut kept = TestStore::new();
        let with_mode = |mut sent: SentEvent| {
            sent.sender.mode = mode.map(str::to_owned);
            sent
        };
        kept.ingest_event(with_mode(build_prompt("s", "Go.")));
        kept.ingest_event(with_mode(build_tool_event("PreToolUse", "Bash", json!({"command": "make"}))));
        assert_eq!(kept.query_texts("SELECT current_state FROM sessions"), [expected], "{mode:?}");
    }
}
