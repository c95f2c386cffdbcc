//! Tool calls on a timeline: their ends and failures.

use serde_json::{Value, json};

use super::get_page;
use super::timeline::parse_timeline_rows;
use crate::support::TestApp;

/// The rows of calls on the timeline.
fn list_call_rows(app: &TestApp) -> Vec<String> {
    let rows = parse_timeline_rows(&get_page(app, "/agents/1?tools=1").body);
    rows.into_iter().map(|(_, text)| text).collect()
}

/// A session without call ids. Events are one second apart.
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
fn ends_without_ids_belong_to_their_calls() {
    let mut told = SessionWithoutCallIds::new();
    told.send_bash_event("PreToolUse", "one");
    told.send_bash_event("PreToolUse", "two");
    told.send_bash_event("PostToolUse", "one");
    told.send_bash_event("PostToolUse", "two");
    assert_eq!(list_call_rows(&told.app), ["tool Bash one 2.0 s", "tool Bash two 2.0 s"]);
}

#[test]
fn the_first_of_equal_calls_ends_first() {
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
fn a_call_with_a_changed_input_gets_its_end() {
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
fn an_end_without_a_start_is_its_own_call() {
    let mut told = SessionWithoutCallIds::new();
    told.send_bash_event("PreToolUse", "one");
    told.send_bash_event("PostToolUse", "other");
    told.send_event("PostToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}}));
    // The end does not repeat the input.
    told.send_event("PostToolUse", json!({"tool_name": "Bash"}));
    assert_eq!(list_call_rows(&told.app), ["tool Bash one 3.0 s", "tool Bash other", "tool Read /x"]);
}

#[test]
fn a_failed_call_has_its_reason() {
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
    // A call with only its end, which reports the failure in another form.
    app.send_event(
        "post-tool-use",
        &json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": "x", "tool_input": {"command": "make"},
            "tool_success": false, "error": long}),
    );
    let body = get_page(&app, "/agents/1?tools=1").body;
    let row = &body[body.find("first word").unwrap()..];
    assert!(row.contains("</summary>") && row.contains("word last"), "it is folded: {row}");
}
