//! Answers to the plugin that `snell install` writes for products that run plugins instead of commands.
//!
//! The plugin sends one JSON object per event, with Claude Code's field names and the product's own event and tool names. It
//! applies the answer: it blocks the call, changes its input or output, or passes text to the model.

use super::claude_replies::DECISION_DENY;
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Changed, Text};
use super::reply::{ContextEffect, EMPTY_DIALECT, EMPTY_ROW, OutputForm, ReplyDialect, ReplyForm, ReplyRow};
use super::{CapabilitySupport, HookCapability};

pub(super) const CONTEXT: ReplyForm = Json(&[("context", Text)]);

/// The plugin blocks a call if Snell does not answer.
pub(super) const PLUGIN_NOTES: &[(HookCapability, CapabilitySupport)] =
    &[(HookCapability::FailClosed, CapabilitySupport::Yes)];

pub(super) const MESSAGE: &str = "message";
pub(super) const CALL_ROW: ReplyRow =
    ReplyRow { event: "PreToolUse", deny: DECISION_DENY, input: Json(&[("tool_input", Changed)]), ..EMPTY_ROW };
pub(super) const STOP_ROW: ReplyRow = ReplyRow {
    event: "Stop",
    deny: DECISION_DENY,
    context: CONTEXT,
    context_effect: ContextEffect::ContinueTurn,
    ..EMPTY_ROW
};

/// The answers that a plugin applies.
pub(super) static PLUGIN_REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow { event: "UserPromptSubmit", deny: DECISION_DENY, context: CONTEXT, ..EMPTY_ROW },
        CALL_ROW,
        ReplyRow { event: "PostToolUse", output: OutputForm::Key("tool_output"), context: CONTEXT, ..EMPTY_ROW },
        ReplyRow { event: "PostToolUseFailure", context: CONTEXT, ..EMPTY_ROW },
        STOP_ROW,
    ],
    message: Some(MESSAGE),
    stop: Json(&[("stop", Text)]),
    ..EMPTY_DIALECT
};
