//! What is said about a judgement: to the model, to the user, to the store.

use snell::{GuardReport, Verdict as Answer};
use snell_guard::{Explanation, Judgement, Verdict};
use snell_store::GuardVerdict;

/// How the ids of rules begin that are about what the user protects.
const PROTECTED: &str = "protected.";

/// Whether it is about what the user protects.
pub(super) fn is_about_protected(judgement: &Judgement) -> bool {
    judgement.rule.is_some_and(|rule| rule.starts_with(PROTECTED))
}

/// Adds a judgement to what is answered: why and what to do instead for the model, and one line for the user. What nothing
/// speaks against gets no opinion at all: to allow it would skip the user's own permissions.
pub(super) fn tell(judgement: &Judgement, answer: &mut Answer) {
    let for_the_model = [judgement.reason.as_str(), judgement.advice].join(" ");
    let for_the_model = for_the_model.trim();
    let done = match judgement.decision {
        Verdict::Allow => return,
        Verdict::Ask => {
            answer.ask(for_the_model);
            "asks you about this"
        }
        Verdict::Deny => {
            answer.deny(for_the_model);
            "said no to this"
        }
    };
    let rule = judgement.rule.unwrap_or_default();
    answer.message(format!(
        "Snell: the guard {done} ({rule}); to look closer: snell guard explain"
    ));
}

/// A judgement, for programs.
pub(super) fn report(judgement: &Judgement) -> GuardReport {
    GuardReport {
        decision: judgement.decision.name(),
        rule: judgement.rule,
        tier: judgement.tier.map(|tier| tier.name()),
        reason: Some(judgement.reason.clone()).filter(|reason| !reason.is_empty()),
        advice: Some(judgement.advice).filter(|advice| !advice.is_empty()),
    }
}

/// A judgement of which nobody knows what led to it.
pub(super) fn unexplained(judgement: Judgement) -> Explanation {
    Explanation {
        decision: judgement.decision,
        would: judgement.would,
        rule: judgement.rule,
        tier: judgement.tier.map(|tier| tier.name()),
        reason: judgement.reason,
        advice: judgement.advice,
        spans: judgement.spans,
        allowed_by: judgement.allowed_by,
        steps: Vec::new(),
        steps_left_off: 0,
        effects: Vec::new(),
        unseen: vec!["the guard failed".into()],
        flips: Vec::new(),
    }
}

/// What is kept of a judgement; nothing of one that found nothing.
pub(super) fn recorded(judgement: &Judgement) -> Option<GuardVerdict> {
    let reason = match (judgement.decision, judgement.would) {
        (Verdict::Allow, Verdict::Deny) => format!("would be denied, but the guard only watches: {}", judgement.reason),
        (Verdict::Allow, Verdict::Ask) => format!("would be asked, but the guard only watches: {}", judgement.reason),
        _ => judgement.reason.clone(),
    };
    Some(GuardVerdict {
        decision: judgement.decision.name().to_owned(),
        rule: judgement.rule?.to_owned(),
        tier: judgement.tier.map(|tier| tier.name()).unwrap_or_default().to_owned(),
        reason,
        advice: Some(judgement.advice.to_owned()).filter(|advice| !advice.is_empty()),
    })
}
