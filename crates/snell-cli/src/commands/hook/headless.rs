//! A question in a session in which no user can answer: `[guard] headless` decides, and the agent reads how.

use snell::{Decision, EventName, HeadlessChoice, Verdict};

/// How a question was settled without a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettledQuestion {
    Denied,
    Allowed,
}

/// Where `headless` is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HeadlessOrigin {
    Default,
    File,
}

/// Turns a question about a tool call into a decision. `None` if there is no question.
pub(super) fn settle_question(
    verdict: &mut Verdict,
    choice: HeadlessChoice,
    origin: HeadlessOrigin,
) -> Option<SettledQuestion> {
    if verdict.event != EventName::PreToolUse || verdict.decision != Decision::Ask {
        return None;
    }
    let reason = verdict.reason.take().unwrap_or_default();
    verdict.question = None;
    match choice {
        HeadlessChoice::Deny => {
            let origin = match origin {
                HeadlessOrigin::Default => ", the default",
                HeadlessOrigin::File => " in [guard] of snell.toml",
            };
            let denied = "No user can answer in this session, so Snell denied the call";
            verdict.deny(format!("{reason} {denied} (headless = \"deny\"{origin}).").trim());
            Some(SettledQuestion::Denied)
        }
        HeadlessChoice::Allow => {
            verdict.decision = Decision::None;
            verdict.add_context(format!("{ALLOWED} {reason}").trim());
            Some(SettledQuestion::Allowed)
        }
    }
}

/// The agent's text about an allowed question.
const ALLOWED: &str = "Snell would ask the user about this call. No user can answer in this session, so the call may run \
                       (headless = \"allow\" in [guard] of snell.toml).";

/// The recorded reason of an allowed question.
pub(super) const ALLOWED_RECORD: &str =
    "ask, allowed because no user can answer in this session (headless = \"allow\")";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_question_about_a_call_is_settled() {
        let cases = [
            (EventName::PreToolUse, Decision::Ask, HeadlessChoice::Deny, Some(SettledQuestion::Denied), Decision::Deny),
            (
                EventName::PreToolUse,
                Decision::Ask,
                HeadlessChoice::Allow,
                Some(SettledQuestion::Allowed),
                Decision::None,
            ),
            (EventName::PreToolUse, Decision::Deny, HeadlessChoice::Allow, None, Decision::Deny),
            (EventName::PreToolUse, Decision::Allow, HeadlessChoice::Deny, None, Decision::Allow),
            (EventName::PermissionRequest, Decision::Ask, HeadlessChoice::Allow, None, Decision::Ask),
        ];
        for (event, decision, choice, settled, after) in cases {
            let mut verdict = Verdict::new(event.clone());
            (verdict.decision, verdict.reason) = (decision, Some("why".to_owned()));
            let origin = HeadlessOrigin::File;
            assert_eq!(settle_question(&mut verdict, choice, origin), settled, "{event:?} {decision:?}");
            assert_eq!(verdict.decision, after, "{event:?} {decision:?}");
            let texts = [verdict.reason.unwrap_or_default(), verdict.context.join(" ")].concat();
            assert!(texts.contains("why"), "{texts}");
            assert_eq!(texts.contains("headless = "), settled.is_some(), "{texts}");
        }
    }
}
