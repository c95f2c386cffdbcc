//! The page without scripts.

mod agents;
mod event_details;
mod export;
mod forms;
mod guard;
mod hooks;
mod invisible_chars;
mod logging;
mod login;
mod performance;
mod requests;
mod sightings;
mod timeline;
mod timeline_filter;
mod tool_calls;
mod usage;
mod views;

use serde_json::{Value, json};
use snell_server::ServeSettings;
use snell_test_support::http::HttpResponse;

use crate::support::TestApp;

/// A server with a fixed clock, so that repeated renderings are equal.
fn start_with_stopped_clock() -> TestApp {
    TestApp::with_settings(stop_clock)
}

fn stop_clock(settings: &mut ServeSettings) {
    settings.now = Some("2026-03-02T12:00:00Z".parse().unwrap());
}

/// A page with status 200.
fn get_page(app: &TestApp, path: &str) -> HttpResponse {
    let answer = app.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer
}

/// An agent that waits for an answer.
fn create_waiting_agent(app: &TestApp, session: &str, text: &str) -> i64 {
    let cwd = app.data_dir().join("projects").join(session);
    let tell = |route: &str, mut body: Value| {
        body["session_id"] = session.into();
        body["cwd"] = json!(cwd);
        app.send_event(route, &body)
    };
    let before = "2026-03-02T11:59:59Z";
    tell("session-start", json!({"tmux_session": text, "source": text, "timestamp": before}));
    tell("user-prompt-submit", json!({"prompt": text}));
    let judgement = json!({
        "took_us": 5, "decision": "block", "reason": text,
        "runs": [{"contract": "snell", "source": "snell.toml", "line": 4, "command": text, "status": "failed",
            "exit_code": 1, "duration_us": 1500, "stderr": text, "why": text}],
        "guard": [{"decision": "deny", "rule": "some-rule", "tier": "t", "reason": text, "advice": text}],
    });
    let call = json!({"tool_name": "Bash", "tool_use_id": format!("{session}-1"), "tool_input": {"command": text}});
    let mut judged = call.clone();
    judged["snell"] = json!({"judgement": judgement});
    tell("pre-tool-use", judged);
    let mut ended = call;
    ended["duration_ms"] = json!(1234);
    tell("post-tool-use", ended);
    let told = tell("notification", json!({"message": text, "notification_type": "permission_prompt"}));
    assert_eq!(told["state"], "awaiting_input");
    told["agent_id"].as_i64().unwrap()
}

/// The text from the first mark up to the second one.
fn slice_between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let begin = text.find(from).unwrap_or_else(|| panic!("no {from} in {text}"));
    let end = text[begin..].find(to).unwrap_or_else(|| panic!("no {to} after {from}"));
    &text[begin..begin + end]
}
