//! Products that Snell can only answer with a denial. Nearly all of them take exit code 2, with the reason on standard
//! error, for a "no".

use super::fingerprint::PayloadMark::{self, Keys, Values};
use super::{AgentProduct, AgentReply, SupportLevel, claude, fallback_decode};
use crate::event::Event;
use crate::verdict::{Decision, Verdict};

/// The exit code that denies.
const EXIT_DENIED: u8 = 2;

/// The row that such products start from. Most of them follow Claude Code in what a row does not say.
pub(super) const DENY_ONLY: AgentProduct = AgentProduct {
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

/// Cursor. It also runs the hook files of Claude Code.
pub(super) static CURSOR: AgentProduct =
    deny_only("cursor", "Cursor", &[Keys(&["cursor_version"])], &["CURSOR_VERSION"]);

/// Cline. It reads JSON answers only, so exit code 2 does not stop it.
pub(super) static CLINE: AgentProduct = deny_only("cline", "Cline", &[Keys(&["clineVersion"])], &[]);

/// Windsurf.
pub(super) static WINDSURF: AgentProduct = deny_only("windsurf", "Windsurf", &[Keys(&["agent_action_name"])], &[]);

/// Codex. Its payloads and answers look like those of Claude Code, which sends `turn_id` too, with `MessageDisplay`, but
/// never `model` beside it.
pub(super) static CODEX: AgentProduct = deny_only("codex", "Codex", &[Keys(&["turn_id", "model"])], &[]);

/// Qwen Code, a fork of Gemini CLI with the event names of Claude Code.
pub(super) static QWEN: AgentProduct =
    deny_only("qwen", "Qwen Code", &[Values("permission_mode", &["auto_edit", "yolo"])], &["QWEN_PROJECT_DIR"]);

/// Grok Build. It also runs the user's hook file of Claude Code, and drops `args`.
pub(super) static GROK: AgentProduct =
    deny_only("grok", "Grok Build", &[Keys(&["hookEventName", "workspaceRoot"])], &["GROK_SESSION_ID"]);

/// Antigravity. It reads JSON answers only, so exit code 2 does not stop it.
pub(super) static ANTIGRAVITY: AgentProduct =
    deny_only("antigravity", "Antigravity", &[Keys(&["toolCall", "conversationId"])], &[]);

/// Copilot CLI. It also runs a project's hook files of Claude Code, and drops `args`.
pub(super) static COPILOT: AgentProduct = deny_only("copilot", "Copilot", &[Keys(&["sessionId", "toolArgs"])], &[]);

/// Goose.
pub(super) static GOOSE: AgentProduct = deny_only("goose", "Goose", &[Keys(&["matcher_context"])], &[]);

/// Crush. Its payloads have no mark of their own.
pub(super) static CRUSH: AgentProduct = deny_only("crush", "Crush", &[], &["CRUSH"]);

/// Factory droid.
pub(super) static DROID: AgentProduct = deny_only(
    "droid",
    "Factory droid",
    &[Values("permission_mode", &["off", "spec", "auto-low", "auto-medium", "auto-high"])],
    &["FACTORY_PROJECT_DIR"],
);

/// A product that has no row.
pub(super) static UNKNOWN: AgentProduct = deny_only("unknown", "an agent that Snell does not know", &[], &[]);

const fn deny_only(
    name: &'static str,
    title: &'static str,
    payload_marks: &'static [PayloadMark],
    env_marks: &'static [&'static str],
) -> AgentProduct {
    AgentProduct { name, title, payload_marks, env_marks, ..DENY_ONLY }
}

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
        "{reason} The user should be asked, which {} does not let Snell do; the user can run it, or allow it in snell.toml.",
        product.title
    )
}
