//! The end of a session.

use serde_json::{Value, json};

use super::{LifecycleSandbox, format_stored_time, run_in_both_modes};
use crate::hook::render_answering_hook;
use crate::support::CliSandbox;

const END: &str = "SessionEnd";

#[test]
fn a_session_ends_with_its_time_and_its_reason_and_clear_is_no_end() {
    let cases = [
        (json!({"reason": "logout"}), json!("logout")),
        (json!({"reason": "prompt_input_exit"}), json!("prompt_input_exit")),
        (json!({"reason": "other"}), json!("other")),
        (json!({"reason": "bypass_permissions_disabled"}), json!("bypass_permissions_disabled")),
        (json!({"reason": "a reason of a later version"}), json!("a reason of a later version")),
        (json!({}), json!("other")),
        (json!({"reason": "clear"}), Value::Null),
    ];
    run_in_both_modes(|stage| {
        for (fields, expected) in &cases {
            let stage = stage(CliSandbox::new()).begin_session();
            stage.send_prompt("12:00:30", "Go.").assert_silent();
            stage.send_stop("12:00:40").assert_silent();
            stage.send_event("12:01:00", END, fields.clone()).assert_silent();
            let (ended_at, state) = match expected {
                Value::Null => (Value::Null, "idle"),
                _ => (format_stored_time("12:01:00"), "ended"),
            };
            assert_eq!(
                (
                    stage.session_column("end_reason"),
                    stage.session_column("ended_at"),
                    stage.session_column("current_state")
                ),
                (expected.clone(), ended_at, json!(state)),
                "{fields}"
            );
            assert_eq!(stage.session_column("last_seen_at"), format_stored_time("12:01:00"), "{fields}");
        }
    });
}

#[test]
fn a_session_that_ends_in_the_middle_of_its_work_has_ended() {
    let stage = LifecycleSandbox::new().begin_session();
    stage.send_prompt("12:00:30", "Go.").assert_silent();
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}});
    stage.send_event("12:00:40", "PreToolUse", tool).assert_silent();
    stage.send_event("12:01:00", END, json!({"reason": "other"})).assert_silent();
    stage.assert_session_state("ended");
    // What comes late does not wake it.
    assert_eq!(stage.session_column("ended_at"), format_stored_time("12:01:00"));
}

#[test]
fn what_was_cleared_goes_on_under_the_launchers_id() {
    let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_ID", "ours")]).begin_session();
    stage.send_event("12:01:00", END, json!({"reason": "clear"})).assert_silent();
    stage.send_event("12:01:01", "SessionStart", json!({"session_id": "s2", "source": "clear"})).assert_silent();
    stage.send_event("12:01:02", "UserPromptSubmit", json!({"session_id": "s2", "prompt": "Go."})).assert_silent();
    let rows =
        stage.watched.query_rows("SELECT session_id, current_state, ended_at, end_reason, started_at FROM sessions");
    let expected = json!({
        "session_id": "ours", "current_state": "active", "ended_at": null, "end_reason": null,
        "started_at": format_stored_time("12:00:00"),
    });
    assert_eq!(rows, [expected]);
}

#[test]
fn a_hook_cannot_keep_a_session_from_ending() {
    let stage = LifecycleSandbox::with_user_config(&render_answering_hook(
        END,
        &json!({"decision": "block", "reason": "stay"}),
    ))
    .begin_session();
    let ran = stage.send_event("12:01:00", END, json!({"reason": "logout"}));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert_eq!(stage.session_column("end_reason"), "logout");
}
