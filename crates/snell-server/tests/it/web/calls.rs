//! Calls of tools on a timeline: which end belongs to which beginning, and why one failed.

use serde_json::{Value, json};

use super::page;
use super::timeline::rows;
use crate::support::TestApp;

/// What the timeline says of calls.
fn calls(app: &TestApp) -> Vec<String> {
    let rows = rows(&page(app, "/agents/1?tools=1").body);
    rows.into_iter().map(|(_, text)| text).collect()
}

/// A session whose agent gives its calls no ids. Each event comes a second after the one before.
struct Without {
    app: TestApp,
    second: u32,
}

impl Without {
    fn ids() -> Self {
        let app = TestApp::start();
        let cwd = app.path().join("projects/s1");
        let mut told = Self { app, second: 0 };
        told.tell("SessionStart", json!({ "cwd": cwd }));
        told
    }

    fn tell(&mut self, event: &str, more: Value) {
        self.second += 1;
        let mut body = json!({
            "session_id": "s1", "hook_event_name": event, "timestamp": format!("2026-03-02T10:00:{:02}Z", self.second),
        });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.app.tell("event", &body);
    }

    fn bash(&mut self, event: &str, command: &str) {
        self.tell(event, json!({"tool_name": "Bash", "tool_input": {"command": command}}));
    }
}

#[test]
fn calls_without_ids_end_where_they_began() {
    let mut told = Without::ids();
    told.bash("PreToolUse", "one");
    told.bash("PreToolUse", "two");
    told.bash("PostToolUse", "one");
    told.bash("PostToolUse", "two");
    assert_eq!(calls(&told.app), ["tool Bash one 2.0 s", "tool Bash two 2.0 s"]);
}

#[test]
fn of_equal_calls_side_by_side_the_first_one_ends_first() {
    let mut told = Without::ids();
    told.bash("PreToolUse", "make");
    told.bash("PreToolUse", "make");
    told.bash("PostToolUse", "make");
    told.tell("Notification", json!({"message": "wait"}));
    told.bash("PostToolUseFailure", "make");
    told.bash("PreToolUse", "make");
    told.bash("PostToolUse", "make");
    assert_eq!(
        calls(&told.app),
        [
            "tool Bash make 2.0 s",
            "tool Bash make 3.0 s failed",
            "tool Bash make 1.0 s"
        ]
    );
}

#[test]
fn a_call_that_was_interrupted_does_not_end_with_a_later_one() {
    let mut told = Without::ids();
    told.bash("PreToolUse", "make");
    told.tell("UserPromptSubmit", json!({"prompt": "Once more."}));
    told.bash("PreToolUse", "make");
    told.bash("PostToolUse", "make");
    assert_eq!(
        calls(&told.app),
        ["tool Bash make no end was told", "tool Bash make 1.0 s"]
    );
}

#[test]
fn a_call_that_was_blocked_does_not_end_with_a_later_one() {
    let mut told = Without::ids();
    told.tell(
        "PreToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "make"},
            "snell": {"judgement": {"took_us": 1, "decision": "block", "reason": "no"}}}),
    );
    told.bash("PreToolUse", "make");
    told.bash("PostToolUse", "make");
    assert_eq!(calls(&told.app), ["tool Bash make blocked no", "tool Bash make 1.0 s"]);
}

#[test]
fn a_call_whose_input_a_hook_changed_ends_as_well() {
    let mut told = Without::ids();
    told.tell(
        "PreToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "make"},
            "snell": {"judgement": {"took_us": 1, "changed_input": {"command": "nice make"}}}}),
    );
    told.bash("PostToolUse", "nice make");
    let calls = calls(&told.app);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].starts_with("tool Bash make 1.0 s"), "{calls:?}");
}

#[test]
fn an_end_without_a_beginning_is_a_call_of_its_own() {
    let mut told = Without::ids();
    told.bash("PreToolUse", "one");
    told.bash("PostToolUse", "other");
    told.tell(
        "PostToolUse",
        json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}}),
    );
    // It does not say again what it was given.
    told.tell("PostToolUse", json!({"tool_name": "Bash"}));
    assert_eq!(
        calls(&told.app),
        ["tool Bash one 3.0 s", "tool Bash other", "tool Read /x"]
    );
}

#[test]
fn a_call_that_failed_says_why() {
    let app = TestApp::start();
    app.begin("s1");
    let long = format!("first {}last", "word ".repeat(1000));
    let cases = [
        (json!({"error": "exit 2: no such file"}), "failed exit 2: no such file"),
        (json!({"error": {"message": "refused", "code": 7}}), "failed refused"),
        (json!({"error": {"code": 7}}), "failed {&quot;code&quot;:7}"),
        (
            json!({"error": "<script>alert(1)</script>"}),
            "failed &lt;script&gt;alert(1)&lt;/script&gt;",
        ),
        (json!({"tool_response": "it broke"}), "failed it broke"),
        (json!({}), "failed"),
    ];
    for (number, (more, _)) in cases.iter().enumerate() {
        let mut call = json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": format!("t{number}"),
            "tool_input": {"command": "make"}});
        app.tell("pre-tool-use", &call);
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        call["hook_event_name"] = json!("PostToolUseFailure");
        call["duration_ms"] = json!(5);
        app.tell("event", &call);
    }
    let expected: Vec<_> = cases
        .iter()
        .map(|(_, told)| format!("tool Bash make 5.0 ms {told}"))
        .collect();
    assert_eq!(calls(&app), expected);
    // One of which only the end was told, and which says so in another way.
    app.tell(
        "post-tool-use",
        &json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": "x", "tool_input": {"command": "make"},
            "tool_success": false, "error": long}),
    );
    let body = page(&app, "/agents/1?tools=1").body;
    let row = &body[body.find("first word").unwrap()..];
    assert!(
        row.contains("</summary>") && row.contains("word last"),
        "it is folded: {row}"
    );
}
