//! Hybrid mode: hooks while they come, looking when they are silent.

use serde_json::{Value, json};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::wait::wait_until;

use super::{ANYWHERE, run_hook, start_server};
use crate::support::CliSandbox;

const SILENT_AFTER: f64 = 0.7;

fn start_hybrid(sandbox: &CliSandbox) -> ServeProcess {
    let args = ["--poll-active", "250ms", "--poll-silent", "50ms", "--silent-after", "700ms"];
    start_server(sandbox, &[ANYWHERE, &args].concat())
}

/// How it is. Whatever that is, the mode must be the one that follows from when a hook was last heard, and the interval
/// the one of the mode.
fn read_checked_status(receiver: &ServeProcess) -> Value {
    let status = receiver.hook_status();
    let ago = status["last_event_ago"].as_f64();
    let expected = match ago {
        Some(ago) if ago < SILENT_AFTER => ("hooks_active", 0.25),
        _ => ("polling_fallback", 0.05),
    };
    let told = (status["mode"].as_str().unwrap(), status["polling_interval"].as_f64().unwrap());
    assert_eq!(told, expected, "{status}");
    status
}

#[track_caller]
fn assert_active(receiver: &ServeProcess, event: &str, received: u64) {
    let status = read_checked_status(receiver);
    let told = (&status["last_event_type"], &status["events_received"]);
    assert_eq!(told, (&json!(event), &json!(received)));
    // On a machine that stood still for so long, they are silent again.
    assert!(status["mode"] == "hooks_active" || status["last_event_ago"].as_f64() >= Some(SILENT_AFTER));
}

fn wait_until_silent(receiver: &ServeProcess) {
    wait_until(|| (read_checked_status(receiver)["mode"] == "polling_fallback").then_some(()));
}

#[test]
fn the_mode_follows_hooks_however_they_come() {
    let sandbox = CliSandbox::new().env("SNELL_SCRIBE", "off");
    let receiver = start_hybrid(&sandbox);
    assert_eq!(read_checked_status(&receiver)["mode"], "polling_fallback");
    receiver.send_event("session-start", &json!({"session_id": "s1", "cwd": sandbox.project()}));
    assert_active(&receiver, "SessionStart", 1);
    wait_until_silent(&receiver);
    receiver.send_event("notification", &json!({"session_id": "s1"}));
    assert_active(&receiver, "Notification", 2);
    wait_until_silent(&receiver);
    run_hook(&sandbox, &[], "Stop", json!({}));
    assert_active(&receiver, "Stop", 3);
    wait_until_silent(&receiver);
}

#[test]
fn what_the_server_finds_by_itself_is_no_hook() {
    let sandbox = CliSandbox::new();
    let receiver = start_hybrid(&sandbox);
    let transcript = super::transcript::TranscriptFixture::new(&sandbox, "s1");
    transcript.append_prompt("Do it.", super::transcript::read_current_time());
    receiver.wait_for_agent_state("s1", "processing");
    let status = read_checked_status(&receiver);
    assert_eq!(
        json!([status["mode"], status["events_received"], status["last_event_at"]]),
        json!(["polling_fallback", 0, null])
    );
}
