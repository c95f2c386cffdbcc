//! `snell statusline`: one line whatever comes, and how full the context is, for everybody to see.

use std::fs;

use serde_json::{Value, json};
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

/// What Claude Code says, with this as its context window.
fn build_statusline_payload(window: Value) -> Value {
    json!({
        "hook_event_name": "Status",
        "session_id": "session-one",
        "cwd": "/work/here/src",
        "model": {"id": "claude-opus-4-1", "display_name": "Opus"},
        "workspace": {"current_dir": "/work/here/src", "project_dir": "/work/here"},
        "context_window": window,
        "exceeds_200k_tokens": false,
        "cost": {"total_cost_usd": 0.01},
    })
}

fn run_statusline(sandbox: &CliSandbox, input: &str) -> (String, String) {
    let ran = sandbox.run_snell(&["statusline"], input);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stdout.lines().count(), 1, "{:?}", ran.stdout);
    (ran.stdout.trim_end().to_owned(), ran.stderr)
}

#[test]
fn the_percentage_is_told_or_counted() {
    let usage = json!({"input_tokens": 1000, "cache_creation_input_tokens": 9000, "cache_read_input_tokens": 50000});
    let cases = [
        (json!({"used_percentage": 42}), "Opus · here · context 42 %"),
        (json!({"used_percentage": 41.6}), "Opus · here · context 42 %"),
        (json!({"used_percentage": 0}), "Opus · here · context 0 %"),
        (json!({"used_percentage": 130}), "Opus · here · context 100 %"),
        (json!({"used_percentage": 7, "current_usage": usage}), "Opus · here · context 7 %"),
        (json!({"current_usage": usage}), "Opus · here · context 30 %"),
        (
            json!({"used_percentage": null, "current_usage": usage, "context_window_size": 1_000_000}),
            "Opus · here · context 6 %",
        ),
        (json!({"current_usage": usage, "context_window_size": 0}), "Opus · here · context 30 %"),
        (json!({"current_usage": null, "total_input_tokens": 5}), "Opus · here"),
        (json!({"current_usage": {}}), "Opus · here"),
        (json!({"used_percentage": "many"}), "Opus · here"),
        (json!(null), "Opus · here"),
    ];
    let sandbox = CliSandbox::with_frozen_clock();
    for (window, expected) in cases {
        let shown = window.to_string();
        assert_eq!(
            run_statusline(&sandbox, &build_statusline_payload(window).to_string()),
            (expected.to_owned(), String::new()),
            "{shown}"
        );
    }
    assert_eq!(fs::read_dir(sandbox.data()).unwrap().count(), 0, "nothing is made for it");
}

#[test]
fn whatever_is_missing_is_left_out() {
    let sandbox = CliSandbox::with_frozen_clock();
    let cases = [
        (json!({}), "snell"),
        (json!({"model": {"id": "claude-x"}}), "claude-x"),
        (json!({"cwd": "/a/b"}), "b"),
        (json!({"cwd": "/", "model": 3, "workspace": []}), "snell"),
        (json!({"model": {"display_name": "a\nb\u{1b}[2J"}}), "a b\\u{1b}[2J"),
    ];
    for (input, expected) in cases {
        assert_eq!(run_statusline(&sandbox, &input.to_string()), (expected.to_owned(), String::new()), "{input}");
    }
}

#[test]
fn bad_input_is_a_plain_line_and_one_on_standard_error() {
    let sandbox = CliSandbox::with_frozen_clock();
    for input in ["", "{", "[]", "7", "\u{0}"] {
        let (shown, error) = run_statusline(&sandbox, input);
        assert_eq!(shown, "snell", "{input}");
        assert!(error.starts_with("error: the status line's input is") && error.lines().count() == 1, "{error}");
    }
}

#[test]
fn it_is_recorded_for_a_session_that_is_known() {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({}));
    let percent = || sandbox.run_snell(&["agents", "--json"], "").json()[0]["context_percent"].clone();
    assert_eq!(percent(), Value::Null);
    run_statusline(&sandbox, &build_statusline_payload(json!({"used_percentage": 42})).to_string());
    assert_eq!(percent(), json!(42.0));
    assert_eq!(sandbox.run_snell(&["agents", "--json"], "").json()[0]["model"], "claude-opus-4-1");
    let mut other = build_statusline_payload(json!({"used_percentage": 99}));
    other["session_id"] = json!("unknown");
    run_statusline(&sandbox, &other.to_string());
    assert_eq!(percent(), json!(42.0));
    assert_eq!(sandbox.run_snell(&["agents", "--json"], "").json().as_array().unwrap().len(), 1);
}

#[test]
fn the_size_of_the_context_is_recorded_before_the_first_answer() {
    let sandbox = CliSandbox::with_frozen_clock();
    let transcript = sandbox.project().join("t.jsonl");
    let fields = json!({"transcript_path": transcript});
    sandbox.send_hook_event("11:00:00", "SessionStart", fields.clone());
    let window = json!({"context_window_size": 1_000_000, "current_usage": null, "used_percentage": null});
    assert_eq!(run_statusline(&sandbox, &build_statusline_payload(window).to_string()).0, "Opus · here");
    let message = json!({"model": "claude-opus-4-1", "content": "Hi.", "usage": {"input_tokens": 130_000}});
    let line = json!({"type": "assistant", "sessionId": "session-one", "message": message});
    fs::write(&transcript, format!("{line}\n")).unwrap();
    sandbox.send_hook_event("11:00:01", "Stop", fields);
    assert_eq!(sandbox.run_snell(&["agents", "--json"], "").json()[0]["context_percent"], json!(13.0));
}

#[test]
fn the_same_again_writes_nothing() {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({}));
    let input = build_statusline_payload(json!({"used_percentage": 42})).to_string();
    run_statusline(&sandbox, &input);
    let log = || fs::metadata(sandbox.data().join("snell.db-wal")).unwrap().len();
    let before = log();
    run_statusline(&sandbox, &input);
    assert_eq!(log(), before);
}

#[test]
fn the_scribe_records_it_too() {
    let sandbox = CliSandbox::new();
    let payload = json!({"session_id": "session-one", "hook_event_name": "SessionStart", "cwd": sandbox.project()});
    sandbox.run_snell(&["hook"], &payload.to_string());
    let socket = sandbox.data().join("scribe.sock");
    wait_until(|| socket.exists().then_some(()));
    // Somebody else keeps this process from writing for itself, but not for long enough to matter to the scribe.
    run_statusline(&sandbox, &build_statusline_payload(json!({"used_percentage": 42})).to_string());
    let json = sandbox.run_snell(&["agents", "--json"], "").json();
    assert_eq!(json[0]["context_percent"], json!(42.0));
    fs::remove_file(socket).unwrap();
}

#[test]
fn others_that_wait_are_counted_and_the_own_session_is_not() {
    let sandbox = CliSandbox::with_frozen_clock().env("CLAUDE_SESSION_ID", "the launcher's");
    let asks = json!({"notification_type": "permission_prompt", "message": "May I?"});
    sandbox.send_hook_event("11:00:00", "Notification", asks.clone());
    let input = build_statusline_payload(json!(null)).to_string();
    assert_eq!(run_statusline(&sandbox, &input).0, "Opus · here", "it need not be told that it waits itself");
    for (number, expected) in [(1, "Opus · here · 1 waits for you"), (2, "Opus · here · 2 wait for you")] {
        let other =
            CliSandbox::with_frozen_clock().env("CLAUDE_PID", "1").env("SNELL_HOME", sandbox.data().to_str().unwrap());
        let mut payload = asks.clone();
        payload["session_id"] = json!(format!("other-{number}"));
        payload["cwd"] = json!(other.project());
        other.send_hook_event("11:01:00", "Notification", payload);
        assert_eq!(run_statusline(&sandbox, &input).0, expected);
    }
}

#[test]
fn a_database_that_cannot_be_used_costs_the_line_nothing() {
    let sandbox = CliSandbox::with_frozen_clock();
    fs::create_dir(sandbox.database()).unwrap();
    let (shown, error) =
        run_statusline(&sandbox, &build_statusline_payload(json!({"used_percentage": 42})).to_string());
    assert_eq!(shown, "Opus · here · context 42 %");
    assert!(error.starts_with("error: cannot open the database: ") && error.lines().count() == 2, "{error}");
}
