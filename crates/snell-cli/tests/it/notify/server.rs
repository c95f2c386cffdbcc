//! Events on their way to Snell's own receiver.

use std::net::SocketAddr;

use serde_json::{Value, json};
use snell_test_support::files::parse_json_lines;
use snell_test_support::http::find_unused_address;
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::wait::wait_until;

use super::{list_outbox_files, read_waiting_bodies, run_notify, send_prompt_notification};
use crate::serve::start_server;
use crate::support::CliSandbox;

/// Starts the receiver of a sandbox at this address.
fn start_target_server(sandbox: &CliSandbox, address: &str) -> ServeProcess {
    start_server(sandbox, &["--addr", address, "--log", "off"])
}

/// What a sandbox has recorded, the oldest first.
fn read_log(sandbox: &CliSandbox) -> Vec<Value> {
    let ran = sandbox.run_snell(&["log", "--json", "--limit", "500"], "");
    let mut entries = parse_json_lines(&ran.stdout);
    entries.reverse();
    entries
}

fn select_field(entries: &[Value], pointer: &str) -> Vec<Value> {
    entries.iter().map(|entry| entry.pointer(pointer).cloned().unwrap_or_default()).collect()
}

#[test]
fn the_receiver_takes_whatever_is_forwarded() {
    let there = CliSandbox::new();
    let server = start_target_server(&there, "127.0.0.1:0");
    let here = CliSandbox::new().env("TMUX_PANE", "%5");
    let nested = (0..200).fold(json!(1), |inner, _| json!([inner]));
    let texts: Vec<_> = (0..40).map(|_| "y".repeat(30_000)).collect();
    let rows = [
        ("session-start", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Go."})),
        ("BeforeTool", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})),
        ("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"nested": nested}})),
        ("PostToolUse", json!({"tool_name": "Read", "tool_response": texts})),
        ("SubagentStop", json!({})),
        ("TeammateIdle", json!({"hook_event_name": "SomethingElse"})),
        ("notification", json!({"message": "…", "notification_type": "idle_prompt"})),
        ("stop", json!({"last_assistant_message": "Done."})),
        ("SessionEnd", json!({"reason": "exit"})),
    ];
    for (event, mut payload) in rows {
        payload["session_id"] = json!("s1");
        run_notify(&here, &[event, "--url", &server.url("")], &payload.to_string()).assert_no_warning();
    }
    assert_eq!((read_waiting_bodies(&here).len(), list_outbox_files(&here, "refused").len()), (0, 0));
    let entries = read_log(&there);
    let expected = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "SubagentStop",
        "TeammateIdle",
        "Notification",
        "Stop",
        "SessionEnd",
    ];
    assert_eq!(select_field(&entries, "/event"), expected);
    assert_eq!(select_field(&entries, "/agent_id"), [1; 10]);
    let agents = there.run_snell(&["agents", "--all", "--json"], "").json();
    assert_eq!((&agents[0]["tmux_pane"], &agents[0]["state"]), (&json!("%5"), &json!("ended")));
}

/// The fields of which the receiver asks that they are something.
const FIELDS: &[&str] = &[
    "session_id",
    "event_id",
    "hook_event_name",
    "cwd",
    "working_directory",
    "transcript_path",
    "prompt",
    "message",
    "title",
    "notification_type",
    "tool_name",
    "tool_use_id",
    "tool_input",
    "tool_response",
    "last_assistant_message",
    "stop_hook_active",
    "tmux_pane",
    "tmux_session",
    "headspace_session_id",
    "pid",
    "host",
    "reason",
    "source",
    "timestamp",
    "snell",
];

#[test]
fn the_receiver_takes_an_event_whatever_its_fields_are() {
    let there = CliSandbox::new();
    let server = start_target_server(&there, "127.0.0.1:0");
    let settings = format!("[server]\nurl = \"{}\"\n", server.url(""));
    let here = CliSandbox::with_frozen_clock()
        .home_file(".config/snell/snell.toml", &settings)
        .env("CLAUDE_SESSION_ID", "launched");
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1.5),
        json!(99_999_999_999_u64),
        json!(""),
        json!(" "),
        json!("x".repeat(3000)),
        json!(["ls", "-l"]),
        json!({"a": 1}),
    ];
    for (number, value) in values.iter().enumerate() {
        let mut payload: Value = FIELDS.iter().map(|field| (*field, value.clone())).collect();
        payload["n"] = json!(number);
        run_notify(&here, &["PreToolUse"], &payload.to_string()).assert_no_warning();
        payload["hook_event_name"] = json!("PostToolUse");
        payload["event_id"] = json!(format!("hook-{number}"));
        let ran = here.run_snell(&["hook", "--agent", "claude"], &payload.to_string());
        assert_eq!(ran.code, 0, "{value}: {ran:?}");
    }
    let entries = wait_until(|| Some(read_log(&there)).filter(|entries| entries.len() == 2 * values.len()));
    wait_until(|| read_waiting_bodies(&here).is_empty().then_some(()));
    assert!(list_outbox_files(&here, "refused").is_empty());
    let list: Vec<_> = entries.iter().filter(|entry| entry["payload"]["n"] == 8).collect();
    assert_eq!(list.len(), 2);
    for entry in list {
        assert_eq!(entry["payload"]["tool_input"], json!({"value": ["ls", "-l"]}));
        assert_eq!(entry["payload"]["prompt"], "[\"ls\",\"-l\"]");
    }
}

#[test]
fn what_a_hook_decided_elsewhere_is_recorded_here() {
    let there = CliSandbox::new();
    let server = start_target_server(&there, "127.0.0.1:0");
    let settings = format!(
        "[server]\nurl = \"{}\"\n[[hook]]\nevent = \"PreToolUse\"\nrun = \"echo not today >&2; exit 2\"\n",
        server.url("")
    );
    let here = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", &settings);
    here.send_hook_event("09:00:00", "SessionStart", json!({"source": "startup"}));
    here.send_hook_event("09:00:01", "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    let entries = wait_until(|| Some(read_log(&there)).filter(|entries| entries.len() == 2));
    assert_eq!(select_field(&entries, "/decision"), [Value::Null, json!("block")]);
    assert_eq!(select_field(&entries, "/reason"), [Value::Null, json!("not today")]);
    assert_eq!(select_field(&entries, "/at"), select_field(&read_log(&here), "/at"));
}

#[test]
fn a_server_that_starts_takes_what_waits_for_it() {
    let sandbox = CliSandbox::new();
    let address: SocketAddr = find_unused_address();
    let url = format!("http://{address}");
    for prompt in ["1", "2", "3"] {
        send_prompt_notification(&sandbox, &url, prompt).assert_warning_contains("cannot be reached");
    }
    send_prompt_notification(&sandbox, "http://elsewhere.invalid", "not for it");
    let server = start_target_server(&sandbox, &address.to_string());
    assert_eq!(server.url(""), url);
    wait_until(|| (read_waiting_bodies(&sandbox).len() == 1).then_some(()));
    assert_eq!(select_field(&read_log(&sandbox), "/payload/prompt"), ["1", "2", "3"]);
    send_prompt_notification(&sandbox, &url, "4").assert_no_warning();
    assert_eq!(select_field(&read_log(&sandbox), "/payload/prompt"), ["1", "2", "3", "4"]);
}
