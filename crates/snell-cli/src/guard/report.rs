//! Texts about a judgement, for the model, the user and the store.

use std::borrow::Cow;

use serde_json::Value;
use snell::{Decision, GuardReport, Verdict, reveal_invisible_chars};
use snell_guard::{GuardDecision, GuardJudgement};
use snell_store::GuardVerdictRecord;
use snell_store::record::redaction;

use crate::install::notify_script::shell_quote;

/// People do not paste longer commands.
const MAX_COMMAND_BYTES: usize = 200;

/// The tool whose calls are named by their command alone.
const SHELL: &str = "Bash";

/// Adds a judgement to the answer: reason and advice for the model, a question without advice and one line for the user. An allowed call gets no
/// decision, because "allow" would skip the user's own permissions.
pub(super) fn apply_judgement(judgement: &GuardJudgement, details: Option<&str>, answer: &mut Verdict) {
    let reason = reveal_invisible_chars(&judgement.reason);
    let for_the_model = [&*reason, judgement.advice].join(" ");
    let for_the_model = for_the_model.trim();
    let rule = match (&judgement.entry, judgement.rule) {
        (Some(entry), _) => format!("the entry at {entry}"),
        (None, rule) => format!("rule {}", rule.unwrap_or_default()),
    };
    let outcome = match judgement.decision {
        GuardDecision::Allow => return,
        GuardDecision::Ask => {
            // The reason of an entry without one names the entry already.
            let question = match judgement.rule_id().filter(|source| !reason.contains(source)) {
                Some(source) => format!("Snell asks ({source}): {reason}"),
                None => format!("Snell asks: {reason}"),
            };
            answer.ask_question(for_the_model, question);
            format!("{rule} asks you about this call")
        }
        GuardDecision::Deny => {
            answer.deny(for_the_model);
            format!("blocked by {rule}")
        }
    };
    // A command with a secret would show the secret once more.
    let details = details.filter(|line| matches!(redaction::mask_secrets(line), Cow::Borrowed(_)));
    let details = details.unwrap_or(match judgement.decision {
        GuardDecision::Deny => "snell log --verdict block --limit 1 --json",
        GuardDecision::Ask | GuardDecision::Allow => "snell log --verdict ask --limit 1 --json",
    });
    answer.add_message(format!("Snell: {outcome}; details: {details}"));
}

/// Tells the user that the call tries again what was denied before. The reason of a rule about that says it already.
pub(super) fn report_repeat(judgement: &GuardJudgement, repeats: Option<&str>, answer: &mut Verdict) {
    if let Some(sentence) = repeats.filter(|_| judgement.decision == GuardDecision::Deny) {
        answer.add_message(format!("Snell: the agent tries it again. {}", reveal_invisible_chars(sentence)));
    }
}

/// The command that explains a call; `None` if it is too long to paste or contains invisible characters.
pub(super) fn format_explain_command(tool: &str, input: &Value, session: Option<&str>) -> Option<String> {
    let command = input.get("command").and_then(Value::as_str);
    let explain = match session {
        Some(id) => format!("snell guard explain --session {}", shell_quote(id)),
        None => "snell guard explain".to_owned(),
    };
    let line = match command.filter(|_| tool == SHELL) {
        Some(command) if command.starts_with('-') => format!("{explain} -- {}", shell_quote(command)),
        Some(command) => format!("{explain} {}", shell_quote(command)),
        None => {
            let (tool, input) = (shell_quote(tool), shell_quote(&input.to_string()));
            format!("{explain} --tool {tool} --input {input}")
        }
    };
    let is_seen = !line.contains(['\n', '\t', '\r']) && reveal_invisible_chars(&line) == line;
    (is_seen && line.len() <= MAX_COMMAND_BYTES).then_some(line)
}

/// A judgement as JSON.
pub(super) fn build_report(judgement: &GuardJudgement) -> GuardReport {
    GuardReport {
        decision: judgement.decision.name(),
        would: judgement.suppressed_decision().map(GuardDecision::name),
        rule: judgement.rule_id().map(str::to_owned),
        tier: judgement.tier_name(),
        reason: Some(reveal_invisible_chars(&judgement.reason).into_owned()).filter(|reason| !reason.is_empty()),
        advice: Some(judgement.advice).filter(|advice| !advice.is_empty()),
        approved: None,
    }
}

/// Which input of a call was judged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum JudgedInput {
    /// The agent's own input.
    Original,
    /// The input after a hook changed it.
    Changed,
}

/// The guard's decision as the engine's type.
fn to_decision(decision: GuardDecision) -> Decision {
    match decision {
        GuardDecision::Allow => Decision::Allow,
        GuardDecision::Ask => Decision::Ask,
        GuardDecision::Deny => Decision::Deny,
    }
}

/// The judgement as the store keeps it; `None` if no rule matched.
pub(super) fn build_record(judgement: &GuardJudgement, input: JudgedInput) -> Option<GuardVerdictRecord> {
    Some(GuardVerdictRecord {
        decision: to_decision(judgement.decision),
        would: judgement.suppressed_decision().map_or(Decision::None, to_decision),
        rule: judgement.rule_id()?.to_owned(),
        tier: judgement.tier_name().unwrap_or_default().to_owned(),
        reason: reveal_invisible_chars(&judgement.reason).into_owned(),
        advice: Some(judgement.advice.to_owned()).filter(|advice| !advice.is_empty()),
        of_changed_input: input == JudgedInput::Changed,
    })
}
