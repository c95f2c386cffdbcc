//! Answers where Snell itself fails: a call that was not judged to the end is a question to the user, or a "no" where the
//! agent cannot ask.

use snell::{AgentReply, Decision, Event, EventName, Guest, Verdict};

use super::{HookCall, write_reply};
use crate::commands::{BLOCKED, DONE};
use crate::output;

const UNJUDGED_REASON: &str = "Snell failed before it could judge this call.";

/// Reports where Snell failed. The message of the panic is left out: it may hold parts of the call.
pub(super) fn report_panic(place: &str) {
    output::print_note(&format!("failed at {place}; please report it"));
}

/// Tells the agent that its call was not judged. Answers with the exit code.
pub(super) fn reply_after_panic(call: &HookCall) -> u8 {
    let (reply, verdict) = reply_to_unjudged(call.guest, &call.event);
    match reply.stdout {
        Some(line) if write_reply(&line, &verdict).is_some() => BLOCKED,
        _ => reply.exit_code,
    }
}

fn reply_to_unjudged(guest: Option<&'static Guest>, event: &Event) -> (AgentReply, Verdict) {
    let mut verdict = Verdict::new(event.name.clone());
    let Some(guest) = guest else {
        let mut reply = AgentReply::default();
        let is_call = event.name == EventName::PreToolUse || Guest::decode_fallback_call(&event.raw).is_some();
        if is_call {
            output::print_note(UNJUDGED_REASON);
        }
        reply.exit_code = if is_call { BLOCKED } else { DONE };
        return (reply, verdict);
    };
    // A permission request is a question to the user already.
    if event.name == EventName::PreToolUse {
        verdict.ask(UNJUDGED_REASON);
    }
    (guest.encode_reply(event, &verdict), verdict)
}

/// Hooks did not run to their end, because a signal ended them or because the system has no descriptors left. What they would
/// have said about a tool call is unknown, so the user is asked. A "no" stays a "no".
pub(super) fn ask_after_hook_failure(error: &anyhow::Error, verdict: &mut Verdict) {
    output::print_error(error);
    if verdict.event == EventName::PreToolUse && verdict.decision < Decision::Ask {
        verdict.ask(format!("The hooks for this call did not run to their end: {error:#}."));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_that_snell_fails_to_judge_is_asked_about_or_refused() {
        let claude = Guest::find_by_name("claude");
        let input = json!({"command": "ls"});
        // Who calls, the event, whether the user is asked, and the exit code.
        let cases = [
            (claude, "PreToolUse", true, DONE),
            (claude, "PermissionRequest", false, DONE),
            (claude, "Stop", false, DONE),
            (None, "PreToolUse", false, BLOCKED),
            (None, "beforeShellExecution", false, BLOCKED),
            (None, "Stop", false, DONE),
        ];
        for (guest, name, is_asked, code) in cases {
            let payload = json!({"hook_event_name": name, "tool_name": "Bash", "tool_input": input});
            let (event, _) = Event::from_json(None, payload.to_string().as_bytes()).unwrap();
            let (reply, _) = reply_to_unjudged(guest, &event);
            let answer = reply.stdout.unwrap_or_default();
            assert_eq!(answer.contains(r#""permissionDecision":"ask""#), is_asked, "{name}: {answer}");
            assert_eq!(reply.exit_code, code, "{name}");
        }
    }
}
