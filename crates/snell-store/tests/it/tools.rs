//! Calls of tools: what they are about, how long they took, and what a call that is blocked changes.

use serde_json::{Value, json};
use snell_store::Judgement;

use crate::support::{Kept, Sent, prompt, sent};

fn tool(event: &str, name: &str, input: Value) -> Sent {
    sent(event, "s").with("tool_name", name).with("tool_input", input)
}

#[test]
fn a_call_is_summed_up_in_one_line() {
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
        (
            "mcp__chat__post",
            json!({"channel": "ops", "text": "it\nburns"}),
            Some("to ops: it burns"),
        ),
        (
            "Task",
            json!({"prompt": "Look at all.", "description": "look"}),
            Some("look"),
        ),
        (
            "mcp__x__y",
            json!({"level": 3, "deep": {"a": [1]}}),
            Some("{\"level\":3,\"deep\":{\"a\":[1]}}"),
        ),
        (
            "Bash",
            json!({"command": "a\u{2028}b\u{85}c"}),
            Some("a\u{2028}b\u{85}c"),
        ),
        ("Bash", Value::Null, None),
    ];
    let mut kept = Kept::new();
    for (name, input, expected) in &cases {
        kept.take(tool("PreToolUse", name, input.clone()));
        let entry = kept.events().pop().unwrap();
        assert_eq!(
            (entry.tool.as_deref(), entry.tool_summary.as_deref()),
            (Some(*name), *expected),
            "{input}"
        );
        assert_eq!(entry.tool_duration_ms, None);
    }
    kept.take(tool(
        "PreToolUse",
        "Bash",
        json!({"command": format!("login ghp_{}", "a1B2".repeat(9))}),
    ));
    let summary = kept.events().pop().unwrap().tool_summary.unwrap();
    assert!(summary.starts_with("login [masked: "), "{summary}");
    kept.take(prompt("s", "Go on."));
    assert_eq!(kept.events().pop().unwrap().tool_summary, None);
}

#[test]
fn how_long_a_tool_took_is_what_its_agent_says_or_the_time_between() {
    let call = |event: &str, id: &str| tool(event, "Bash", json!({"command": "make"})).with("tool_use_id", id);
    let mut kept = Kept::new();
    for (id, second) in [("t1", 10), ("t2", 11), ("t3", 12), ("again", 13)] {
        kept.take(call("PreToolUse", id).at(second));
    }
    kept.take(
        call("PreToolUse", "again")
            .with("tool_input", json!({"command": "make b"}))
            .at(20),
    );
    kept.take(call("PreToolUse", "late").at(40));
    kept.take(call("PreToolUse", "next").at(14));
    kept.take(
        call("PreToolUse", "next")
            .with("tool_input", json!({"command": "make c"}))
            .at(41),
    );
    let cases = [
        (call("PostToolUse", "t1").with("duration_ms", 1234).at(30), Some(1234.0)),
        (call("PostToolUse", "t2").with("duration_ms", 0.5).at(30), Some(0.5)),
        (call("PostToolUseFailure", "t3").at(30), Some(18_000.0)),
        // The same id twice: the last call before it.
        (call("PostToolUse", "again").at(30), Some(10_000.0)),
        (call("PostToolUse", "late").at(30), None),
        (call("PostToolUse", "next").at(30), Some(16_000.0)),
        (call("PostToolUse", "never").at(30), None),
        (call("PostToolUse", "").at(30), None),
        (
            call("PostToolUse", "t2")
                .with("duration_ms", -1)
                .with("tool_input", json!({}))
                .at(30),
            Some(19_000.0),
        ),
        (
            call("PostToolUse", "t2")
                .with("duration_ms", "5")
                .with("tool_input", json!(null))
                .at(30),
            Some(19_000.0),
        ),
        (call("PermissionRequest", "t1").with("duration_ms", 7).at(30), None),
    ];
    for (event, expected) in cases {
        let shown = format!("{event:?}");
        kept.take(event);
        assert_eq!(kept.events().pop().unwrap().tool_duration_ms, expected, "{shown}");
    }
    // An id is one session's own.
    let other = kept.other_project("other");
    kept.take(
        call("PostToolUse", "t1")
            .with("session_id", "elsewhere")
            .with("cwd", other)
            .at(30),
    );
    assert_eq!(kept.events().pop().unwrap().tool_duration_ms, None);
}

#[test]
fn a_call_that_is_blocked_leaves_the_session_as_it_was() {
    let bash = |event: &str, id: &str| tool(event, "Bash", json!({"command": "make"})).with("tool_use_id", id);
    let mut kept = Kept::new();
    let state = |kept: &Kept| kept.texts("SELECT current_state || coalesce(' ' || current_tool, '') FROM sessions");
    let block = |kept: &mut Kept, sent: Sent| {
        let mut observation = sent.observed_in(&kept.project());
        observation.judgement = Some(Judgement {
            decision: Some("block".into()),
            ..Judgement::default()
        });
        kept.store.ingest(observation).unwrap();
    };
    kept.take(sent("SessionStart", "s"));
    block(&mut kept, bash("PreToolUse", "t0"));
    assert_eq!(state(&kept), ["idle"]);
    kept.take(prompt("s", "Go."));
    block(&mut kept, bash("PreToolUse", "t1"));
    assert_eq!(state(&kept), ["active"]);
    kept.take(bash("PreToolUse", "t2"));
    assert_eq!(state(&kept), ["tool_active Bash"]);
    block(
        &mut kept,
        tool("PreToolUse", "Read", json!({"file_path": "/etc/shadow"})).with("tool_use_id", "t3"),
    );
    assert_eq!(state(&kept), ["tool_active Bash"]);
    kept.take(bash("PostToolUse", "t2"));
    assert_eq!(state(&kept), ["active"]);
}

#[test]
fn a_session_in_the_background_is_not_followed_from_tool_to_tool() {
    for (mode, expected) in [
        (None, "tool_active"),
        (Some("interactive"), "tool_active"),
        (Some("mission"), "tool_active"),
        (Some("background"), "active"),
    ] {
        let mut kept = Kept::new();
        let with_mode = |mut sent: Sent| {
            sent.sender.mode = mode.map(str::to_owned);
            sent
        };
        kept.take(with_mode(prompt("s", "Go.")));
        kept.take(with_mode(tool("PreToolUse", "Bash", json!({"command": "make"}))));
        assert_eq!(kept.texts("SELECT current_state FROM sessions"), [expected], "{mode:?}");
    }
}
