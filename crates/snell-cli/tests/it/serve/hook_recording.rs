//! What hooks record on the same machine, without the server having a hand in it.

use serde_json::{Value, json};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::wait::wait_until;

use super::{ANYWHERE, run_hook, start_server};
use crate::support::CliSandbox;

/// `events_received`, `last_event_type` and `mode`.
fn read_event_status(receiver: &ServeProcess) -> Value {
    let status = receiver.hook_status();
    json!([status["events_received"], status["last_event_type"], status["mode"]])
}

#[test]
fn what_hooks_record_is_heard_and_counted_by_the_server() {
    for scribe in ["off", "wait", "on"] {
        let sandbox = CliSandbox::new().env("SNELL_SCRIBE", scribe);
        let receiver = start_server(&sandbox, ANYWHERE);
        assert_eq!(read_event_status(&receiver), json!([0, null, "polling_fallback"]), "{scribe}");
        let mut stream = receiver.open_stream("?types=turn_created,state_changed");
        for number in 1..4 {
            let text = format!("prompt {number}");
            run_hook(&sandbox, &[], "UserPromptSubmit", json!({"prompt": text}));
            let turn = stream.next_data_of("turn_created");
            assert_eq!((&turn["text"], &turn["actor"]), (&json!(text), &json!("USER")), "{scribe}");
            let counted = json!([2 * number - 1, "UserPromptSubmit", "hooks_active"]);
            assert_eq!(read_event_status(&receiver), counted, "{scribe}");
            run_hook(&sandbox, &[], "Stop", json!({}));
            let is_idle = |state: &Value| state["state"] == "idle" && state["state_source"] == "hook";
            stream.find_event(|heard| is_idle(&heard.data));
            let counted = json!([2 * number, "Stop", "hooks_active"]);
            assert_eq!(read_event_status(&receiver), counted, "{scribe}");
        }
        let agent = receiver.find_agent("s1").unwrap();
        assert_eq!((&agent["agent_id"], &agent["state"]), (&json!(1), &json!("idle")), "{scribe}");
    }
}

#[test]
fn hooks_and_requests_tell_of_the_same_agent() {
    let sandbox = CliSandbox::new().env("SNELL_SCRIBE", "off");
    let receiver = start_server(&sandbox, ANYWHERE);
    run_hook(&sandbox, &[], "SessionStart", json!({"source": "startup"}));
    let told = receiver.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "Go."}));
    assert_eq!((&told["agent_id"], &told["is_new_agent"]), (&json!(1), &json!(false)));
    run_hook(&sandbox, &[], "Stop", json!({}));
    let told = receiver.send_event("notification", &json!({"session_id": "s1"}));
    assert_eq!((&told["agent_id"], &told["state"]), (&json!(1), &json!("idle")));
    wait_until(|| (receiver.hook_status()["events_received"] == 4).then_some(()));
}
