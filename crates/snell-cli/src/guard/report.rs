//! What is said about a judgement: to the model, to the user, to the store.

use std::borrow::Cow;

use serde_json::Value;
use snell::{Decision, GuardReport, Verdict, reveal_invisible_chars};
use snell_guard::{GuardDecision, GuardJudgement};
use snell_store::GuardVerdictRecord;
use snell_store::record::redaction;

use crate::install::notify_script::shell_quote;

/// A longer line is not pasted by anybody.
const MAX_COMMAND_BYTES: usize = 200;

/// The tool whose calls can be named by their command alone.
const SHELL: &str = "Bash";

/// Adds a judgement to what is answered: why and what to do instead for the model, and one line for the user. What nothing
/// speaks against gets no opinion at all: to allow it would skip the user's own permissions.
pub(super) fn apply_judgement(judgement: &GuardJudgement, closer: Option<&str>, answer: &mut Verdict) {
    let for_the_model = [&*reveal_invisible_chars(&judgement.reason), judgement.advice].join(" ");
    let for_the_model = for_the_model.trim();
    let done = match judgement.decision {
        GuardDecision::Allow => return,
        GuardDecision::Ask => {
            answer.ask(for_the_model);
            "asks you about this"
        }
        GuardDecision::Deny => {
            answer.deny(for_the_model);
            "said no to this"
        }
    };
    let rule = judgement.rule.unwrap_or_default();
    // A line with a secret in it would show the secret once more.
    let closer = closer.filter(|line| matches!(redaction::mask_secrets(line), Cow::Borrowed(_)));
    let closer = closer.unwrap_or(match judgement.decision {
        GuardDecision::Deny => "snell log --verdict block --limit 1 --json",
        GuardDecision::Ask | GuardDecision::Allow => "snell log --verdict ask --limit 1 --json",
    });
    answer.add_message(format!("Snell: the guard {done} ({rule}); to look closer: {closer}"));
}

/// A line that shows how a call is judged when it is pasted into a shell; nothing if it is too long for that, or would
/// not show all that is in it.
pub(super) fn format_explain_command(tool: &str, input: &Value) -> Option<String> {
    let command = input.get("command").and_then(Value::as_str);
    let line = match command.filter(|_| tool == SHELL) {
        Some(command) if command.starts_with('-') => format!("snell guard explain -- {}", shell_quote(command)),
        Some(command) => format!("snell guard explain {}", shell_quote(command)),
        None => {
            let (tool, input) = (shell_quote(tool), shell_quote(&input.to_string()));
            format!("snell guard explain --tool {tool} --input {input}")
        }
    };
    let is_seen = !line.contains(['\n', '\t', '\r']) && reveal_invisible_chars(&line) == line;
    (is_seen && line.len() <= MAX_COMMAND_BYTES).then_some(line)
}

/// A judgement, for programs.
pub(super) fn build_report(judgement: &GuardJudgement) -> GuardReport {
    GuardReport {
        decision: judgement.decision.name(),
        would: judgement.suppressed_decision().map(GuardDecision::name),
        rule: judgement.rule,
        tier: judgement.tier.map(|tier| tier.name()),
        reason: Some(reveal_invisible_chars(&judgement.reason).into_owned()).filter(|reason| !reason.is_empty()),
        advice: Some(judgement.advice).filter(|advice| !advice.is_empty()),
    }
}

/// Which input of a call was judged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgedInput {
    /// The agent's own.
    Original,
    /// The input that a hook made of it.
    Changed,
}

/// The decision of the guard, as everything but the guard itself knows it.
fn to_decision(decision: GuardDecision) -> Decision {
    match decision {
        GuardDecision::Allow => Decision::Allow,
        GuardDecision::Ask => Decision::Ask,
        GuardDecision::Deny => Decision::Deny,
    }
}

/// What is kept of a judgement; nothing of one that found nothing.
pub(super) fn build_record(judgement: &GuardJudgement, input: JudgedInput) -> Option<GuardVerdictRecord> {
    Some(GuardVerdictRecord {
        decision: to_decision(judgement.decision),
        would: judgement.suppressed_decision().map_or(Decision::None, to_decision),
        rule: judgement.rule?.to_owned(),
        tier: judgement.tier.map(|tier| tier.name()).unwrap_or_default().to_owned(),
        reason: reveal_invisible_chars(&judgement.reason).into_owned(),
        advice: Some(judgement.advice.to_owned()).filter(|advice| !advice.is_empty()),
        of_changed_input: input == JudgedInput::Changed,
    })
}
