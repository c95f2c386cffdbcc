//! Products that Snell can only answer with a denial: for nearly all of them exit code 2, with the reason on standard error.

use super::{AgentProduct, AgentReply, SupportLevel, claude, fallback_decode};
use crate::event::Event;
use crate::verdict::{Decision, Verdict};

/// The exit code that denies.
const EXIT_DENIED: u8 = 2;

/// The row that every product starts from: Snell can only deny, and the other fields are those of Claude Code.
pub(super) const BASE_PRODUCT: AgentProduct = AgentProduct {
    name: "",
    title: "",
    support: SupportLevel::DenyOnly,
    payload_marks: &[],
    env_marks: &[],
    vocabulary: None,
    events: &[],
    decode: fallback_decode::decode_foreign_event,
    encode,
    variables: claude::VARIABLES,
    notifications: claude::NOTIFICATIONS,
    question_tools: claude::QUESTION_TOOLS,
    transcript: claude::TRANSCRIPT,
    contract: None,
    install: None,
};

/// A product without a row.
pub(super) static UNKNOWN: AgentProduct = AgentProduct { name: "unknown", title: "an unknown agent", ..BASE_PRODUCT };

fn encode(product: &AgentProduct, _: &Event, verdict: &Verdict) -> AgentReply {
    let reason = verdict.reason.as_deref().unwrap_or("blocked");
    let reason = match verdict.decision {
        Decision::Deny => reason.to_owned(),
        Decision::Ask => refuse_question(product, reason),
        Decision::None | Decision::Allow => return AgentReply::default(),
    };
    AgentReply { stderr: Some(reason.clone()), exit_code: EXIT_DENIED, refusal: Some(reason), ..AgentReply::default() }
}

/// The reason of a denial in place of a question that the product cannot ask.
pub(super) fn refuse_question(product: &AgentProduct, reason: &str) -> String {
    format!(
        "{reason} Snell cannot ask the user in {}. The user can run it themselves, or allow it in snell.toml.",
        product.title
    )
}
