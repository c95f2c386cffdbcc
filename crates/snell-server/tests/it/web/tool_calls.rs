//! Calls of tools on a timeline: which end belongs to which beginning, and why one failed.

use serde_json::{Value, json};

use super::get_page;
use super::timeline::parse_timeline_rows;
use crate::support::TestApp;

/// What the timeline says of calls.
fn list_call_rows(app: &TestApp) -> Vec<String> {
    let rows = parse_timeline_rows(&get_page(app, "/agents/1?tools=1").body);
    rows.into_iter().map(|(_, text)| text).collect()
}

/// A session whose agent gives its calls no ids. Each event comes a second after the one before.
struct SessionWithoutCallIds {
    app: TestApp,
    second: u32,
}

impl SessionWithoutCallIds {
    fn new() -> Self {
        let app = TestApp::start();
        let cwd = app.data_dir().join("projects/s1");
        let mut told = Self { app, second: 0 };
        told.send_event("SessionStart", json!({ "cwd": cwd }));
        told
    }

    fn send_event(&mut self, event: &str, more: Value) {
        self.second += 1;
        let mut body = json!({
            "session_id": "s1", "hook_event_name": event, "timestamp": format!("2026-03-02T10:00:{:02}Z", self.second),
        });
        for (name, value) in more.as_object().unwrap() {
            body[name] = value.clone();
        }
        self.app.send_event("event", &body);
    }

    fn send_bash_event(&mut self, event: &str, command: &str) {
        self.send_event(event, json!({"tool_name": "Bash", "tool_input": {"command": command}}));
    }
}

#[test]
fn calls_without_ids_end_where_they_began() {
    let mut told = SessionWithoutCallIds::new();
    told.send_bash_event("PreToolUse", "one");
    told.send_bash_event("PreToolUse", "two");
    told.send_bash_event("PostToolUse", "one");
    told.send_bash_event("PostToolUse", "two");
    assert_eq!(list_call_rows(&told.app), ["tool Bash one 2.0 s", "tool Bash two 2.0 s"]);
}

#[test]
fn of_equal_calls_side_by_side_the_first_one_ends_first() {
    let mut told = SessionWithoutCallIds::new();
    told.send_bash_event("PreToolUse", "make");
    told.send_bash_event("PreToolUse", "make");
    told.send_bash_event("PostToolUse", "make");
    told.send_event("Notification", json!({"message": "wait"}));
    told.send_bash_event("PostToolUseFailure", "make");
    told.send_bash_event("PreToolUse", "make");
    told.send_bash_event("PostToolUse", "make");
    assert_eq!(
        list_call_rows(&told.app),
        ["tool Bash make 2.0 s", "tool Bash make 3.0 s failed", "tool Bash make 1.0 s"]
    );
}

#[test]
fn a_call_that_was_interrupted_does_not_end_with_a_later_one() {
    let mut told = SessionWithoutCallIds::new();
    told.send_bash_event("PreToolUse", "make");
    told.send_event("UserPromptSubmit", json!({"prompt": "Once more."}));
    told.send_bash_event("PreToolUse", "make");
    told.send_bash_event("PostToolUse", "make");
    assert_eq!(list_call_rows(&told.app), ["tool Bash make no result recorded", "tool Bash make 1.0 s"]);
}

#[test]
fn a_call_that_was_blocked_does_not_end_with_a_later_one() {
    let mut told = SessionWithoutCallIds::new();
    told.send_event(
        "PreToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "make"},
            "snell": {"judgement": {"took_us": 1, "decision": "block", "reason": "no"}}}),
    );
    told.send_bash_event("PreToolUse", "make");
    told.send_bash_event("PostToolUse", "make");
    assert_eq!(list_call_rows(&told.app), ["tool Bash make blocked no", "tool Bash make 1.0 s"]);
}

#[test]
fn a_call_whose_input_a_hook_changed_ends_as_well() {
    let mut told = SessionWithoutCallIds::new();
    told.send_event(
        "PreToolUse",
        json!({"tool_name": "Bash", "tool_input": {"command": "make"},
            "snell": {"judgement": {"took_us": 1, "changed_input": {"command": "nice make"}}}}),
    );
    told.send_bash_event("PostToolUse", "nice make");
    let calls = list_call_rows(&told.app);
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert!(calls[0].starts_with("tool Bash make 1.0 s"), "{calls:?}");
}

#[test]
fn an_end_without_a_beginning_is_a_call_of_its_own() {
    let mut told = SessionWithoutCallIds::new();
    told.send_bash_event("PreToolUse", "one");
    told.send_bash_event("PostToolUse", "other");
    told.send_event("PostToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}}));
    // It does not say again what it was given.
    told.send_event("PostToolUse", json!({"tool_name": "Bash"}));
    assert_eq!(list_call_rows(&told.app), ["tool Bash one 3.0 s", "tool Bash other", "tool Read /x"]);
}

#[test]
fn a_call_that_failed_says_why() {
    let app = TestApp::start();
    app.begin_session("s1");
    let long = format!("first {}last", "word ".repeat(1000));
    let cases = [
        (json!({"error": "exit 2: no such file"}), "failed exit 2: no such file"),
        (json!({"error": {"message": "refused", "code": 7}}), "failed refused"),
        (json!({"error": {"code": 7}}), "failed {&quot;code&quot;:7}"),
        (json!({"error": "<script>alert(1)</script>"}), "failed &lt;script&gt;alert(1)&lt;/script&gt;"),
        (json!({"tool_response": "it broke"}), "failed it broke"),
        (json!({}), "failed"),
    ];
    for (number, (more, _)) in cases.iter().enumerate() {
        let mut call = json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": format!("t{number}"),
            "tool_input": {"command": "make"}});
        app.send_event("pre-tool-use", &call);
        for (name, value) in more.as_object().unwrap() {
            call[name] = value.clone();
        }
        call["hook_event_name"] = json!("PostToolUseFailure");
        call["duration_ms"] = json!(5);
        app.send_event("event", &call);
    }
    let expected: Vec<_> = cases.iter().map(|(_, told)| format!("tool Bash make 5.0 ms {told}")).collect();
    assert_eq!(list_call_rows(&app), expected);
    // One of which only the end was told, and which says so in another way.
    app.send_event(
        "post-tool-use",
        &json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": "x", "tool_input": {"command": "make"},
            "tool_success": false, "error": long}),
    );
    let body = get_page(&app, "/agents/1?tools=1").body;
    let row = &body[body.find("first word").unwrap()..];
    assert!(row.contains("</summary>") && row.contains("word last"), "it is folded: {row}");
}
