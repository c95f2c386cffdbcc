//! The end of a session.

use serde_json::{Value, json};

use super::{Stage, in_both_ways, noted};
use crate::hook::saying;
use crate::support::Sandbox;

const END: &str = "SessionEnd";

#[test]
fn a_session_ends_with_its_time_and_its_reason_and_clear_is_no_end() {
    let cases = [
        (json!({"reason": "logout"}), json!("logout")),
        (json!({"reason": "prompt_input_exit"}), json!("prompt_input_exit")),
        (json!({"reason": "other"}), json!("other")),
        (
            json!({"reason": "bypass_permissions_disabled"}),
            json!("bypass_permissions_disabled"),
        ),
        (
            json!({"reason": "a reason of a later version"}),
            json!("a reason of a later version"),
        ),
        (json!({}), json!("other")),
        (json!({"reason": "clear"}), Value::Null),
    ];
    in_both_ways(|stage| {
        for (fields, expected) in &cases {
            let stage = stage(Sandbox::new()).begin();
            stage.prompt("12:00:30", "Go.").is_silent();
            stage.stop("12:00:40").is_silent();
            stage.tell("12:01:00", END, fields.clone()).is_silent();
            let (ended_at, state) = match expected {
                Value::Null => (Value::Null, "idle"),
                _ => (noted("12:01:00"), "ended"),
            };
            assert_eq!(
                (
                    stage.column("end_reason"),
                    stage.column("ended_at"),
                    stage.column("current_state")
                ),
                (expected.clone(), ended_at, json!(state)),
                "{fields}"
            );
            assert_eq!(stage.column("last_seen_at"), noted("12:01:00"), "{fields}");
        }
    });
}

#[test]
fn a_session_that_ends_in_the_middle_of_its_work_has_ended() {
    let stage = Stage::new().begin();
    stage.prompt("12:00:30", "Go.").is_silent();
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}});
    stage.tell("12:00:40", "PreToolUse", tool).is_silent();
    stage.tell("12:01:00", END, json!({"reason": "other"})).is_silent();
    stage.is_in_state("ended");
    // What comes late does not wake it.
    assert_eq!(stage.column("ended_at"), noted("12:01:00"));
}

#[test]
fn what_was_cleared_goes_on_under_the_launchers_id() {
    let stage = Stage::new().launched(&[("CLAUDE_SESSION_ID", "ours")]).begin();
    stage.tell("12:01:00", END, json!({"reason": "clear"})).is_silent();
    stage
        .tell(
            "12:01:01",
            "SessionStart",
            json!({"session_id": "s2", "source": "clear"}),
        )
        .is_silent();
    stage
        .tell(
            "12:01:02",
            "UserPromptSubmit",
            json!({"session_id": "s2", "prompt": "Go."}),
        )
        .is_silent();
    let rows = stage
        .watched
        .rows("SELECT session_id, current_state, ended_at, end_reason, started_at FROM sessions");
    let expected = json!({
        "session_id": "ours", "current_state": "active", "ended_at": null, "end_reason": null,
        "started_at": noted("12:00:00"),
    });
    assert_eq!(rows, [expected]);
}

#[test]
fn a_hook_cannot_keep_a_session_from_ending() {
    let stage = Stage::configured(&saying(END, &json!({"decision": "block", "reason": "stay"}))).begin();
    let ran = stage.tell("12:01:00", END, json!({"reason": "logout"}));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert_eq!(stage.column("end_reason"), "logout");
}
