//! Hybrid mode: hooks while they come, looking when they are silent.

use serde_json::{Value, json};

use super::{ANYWHERE, Receiver, hook};
use crate::support::{Sandbox, wait_until};

const SILENT_AFTER: f64 = 0.7;

fn start(sandbox: &Sandbox) -> Receiver {
    let args = [
        "--poll-active",
        "250ms",
        "--poll-silent",
        "50ms",
        "--silent-after",
        "700ms",
    ];
    Receiver::start(sandbox, &[ANYWHERE, &args].concat())
}

/// How it is. Whatever that is, the mode must be the one that follows from when a hook was last heard, and the interval
/// the one of the mode.
fn status(receiver: &Receiver) -> Value {
    let status = receiver.status();
    let ago = status["last_event_ago"].as_f64();
    let expected = match ago {
        Some(ago) if ago < SILENT_AFTER => ("hooks_active", 0.25),
        _ => ("polling_fallback", 0.05),
    };
    let told = (
        status["mode"].as_str().unwrap(),
        status["polling_interval"].as_f64().unwrap(),
    );
    assert_eq!(told, expected, "{status}");
    status
}

#[track_caller]
fn is_active_at_once(receiver: &Receiver, event: &str, received: u64) {
    let status = status(receiver);
    let told = (&status["last_event_type"], &status["events_received"]);
    assert_eq!(told, (&json!(event), &json!(received)));
    // On a machine that stood still for so long, they are silent again.
    assert!(status["mode"] == "hooks_active" || status["last_event_ago"].as_f64() >= Some(SILENT_AFTER));
}

fn falls_silent(receiver: &Receiver) {
    wait_until(|| (status(receiver)["mode"] == "polling_fallback").then_some(()));
}

#[test]
fn the_mode_follows_hooks_however_they_come() {
    let sandbox = Sandbox::new().env("SNELL_SCRIBE", "off");
    let receiver = start(&sandbox);
    assert_eq!(status(&receiver)["mode"], "polling_fallback");
    receiver.tell("session-start", &json!({"session_id": "s1", "cwd": sandbox.project()}));
    is_active_at_once(&receiver, "SessionStart", 1);
    falls_silent(&receiver);
    receiver.tell("notification", &json!({"session_id": "s1"}));
    is_active_at_once(&receiver, "Notification", 2);
    falls_silent(&receiver);
    hook(&sandbox, &[], "Stop", json!({}));
    is_active_at_once(&receiver, "Stop", 3);
    falls_silent(&receiver);
}

#[test]
fn what_the_server_finds_by_itself_is_no_hook() {
    let sandbox = Sandbox::new();
    let receiver = start(&sandbox);
    let transcript = super::transcript::Transcript::new(&sandbox, "s1");
    transcript.prompt("Do it.", super::transcript::now());
    receiver.agent_that_is("s1", "processing");
    let status = status(&receiver);
    assert_eq!(
        json!([status["mode"], status["events_received"], status["last_event_at"]]),
        json!(["polling_fallback", 0, null])
    );
}
