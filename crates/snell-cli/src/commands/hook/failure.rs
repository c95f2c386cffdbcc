//! The answer if Snell itself fails: a call that was not judged is asked about, or denied if the agent cannot ask.

use snell::{AgentProduct, AgentReply, Decision, Event, EventName, SupportLevel, UserMessage, Verdict};

use super::HookCall;
use super::pipeline::write_reply;
use crate::commands::BLOCKED;
use crate::output;

const UNJUDGED_REASON: &str = "Snell failed before it could judge this call.";

/// Reports where Snell failed. It does not print the message of the panic, which may hold parts of the call.
pub(super) fn report_panic(place: &str) {
    output::print_warning(UserMessage::new(format!("Snell failed at {place}")).with_hint("please report this bug"));
}

/// Tells the agent that its call was not judged. The result is the exit code.
pub(super) fn reply_after_panic(call: &HookCall) -> u8 {
    let (reply, verdict) = reply_to_unjudged(call.product, &call.event);
    reply.stderr.iter().for_each(|reason| output::print_denial(reason));
    match reply.stdout {
        Some(line) if write_reply(&line, &verdict).is_some() => BLOCKED,
        _ => reply.exit_code,
    }
}

fn reply_to_unjudged(product: &AgentProduct, event: &Event) -> (AgentReply, Verdict) {
    let mut verdict = Verdict::new(event.name.clone());
    // A permission request already asks the user.
    if product.is_call_announced(event) {
        match product.support {
            SupportLevel::Full => verdict.ask(UNJUDGED_REASON),
            SupportLevel::DenyOnly => verdict.deny(UNJUDGED_REASON),
        }
    }
    // The event of an unknown product has its canonical name only there.
    let call = product.announced_call(event);
    (product.encode(call.as_deref().unwrap_or(event), &verdict), verdict)
}

/// A signal ended the hooks, or the system has no descriptors left. Their decision about a tool call is unknown, so the user is
/// asked. A denial stays a denial.
pub(super) fn ask_after_hook_failure(error: &anyhow::Error, verdict: &mut Verdict) {
    output::print_error(error);
    if verdict.event == EventName::PreToolUse && verdict.decision < Decision::Ask {
        verdict.ask(format!("The hooks for this call did not finish: {error:#}."));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::DONE;

    #[test]
    fn a_call_that_snell_fails_to_judge_is_asked_about_or_refused() {
        let [claude, cursor] = ["claude", "cursor"].map(|name| AgentProduct::find_by_name(name).unwrap());
        let unknown = AgentProduct::identify(&serde_json::Map::new(), &|_| None, None);
        let asked = r#""permissionDecision":"ask""#;
        let denied = r#""permission":"deny""#;
        // The agent, the event, a part of the answer, and the exit code.
        let cases = [
            (claude, "PreToolUse", asked, DONE),
            (claude, "PermissionRequest", "", DONE),
            (claude, "Stop", "", DONE),
            (cursor, "preToolUse", denied, DONE),
            (cursor, "beforeShellExecution", denied, DONE),
            (cursor, "stop", "", DONE),
            (unknown, "pre_tool_use", "", BLOCKED),
            (unknown, "stop", "", DONE),
        ];
        for (product, name, part, code) in cases {
            let payload = json!({"hook_event_name": name, "tool_name": "Bash", "tool_input": {"command": "ls"}});
            let event = product.decode(None, payload.as_object().unwrap().clone()).unwrap();
            let (reply, _) = reply_to_unjudged(product, &event);
            let answer = reply.stdout.unwrap_or_default();
            assert!(answer.contains(part), "{name}: {answer}");
            assert_eq!(answer.is_empty(), part.is_empty(), "{name}: {answer}");
            assert_eq!(reply.exit_code, code, "{name}");
            assert_eq!(reply.stderr.as_deref(), (code == BLOCKED).then_some(UNJUDGED_REASON), "{name}");
        }
    }
}
