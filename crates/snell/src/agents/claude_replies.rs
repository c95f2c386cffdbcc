//! Answers in Claude Code's words, which several products accept. Exit code 2 could only have a reason, but no context, message
//! or change.

use super::reply::ReplyForm::{Json, Unsupported};
use super::reply::ReplyValue::{Changed, False, Text, Word};
use super::reply::{ApprovalForm, EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyForm, ReplyRow};

/// `permissionDecision`, which can also be "ask".
pub(super) const PERMISSION_DENY: ReplyForm = Json(&[
    ("hookSpecificOutput.permissionDecision", Word("deny")),
    ("hookSpecificOutput.permissionDecisionReason", Text),
]);
pub(super) const PERMISSION_ASK: ReplyForm = Json(&[
    ("hookSpecificOutput.permissionDecision", Word("ask")),
    ("hookSpecificOutput.permissionDecisionReason", Text),
]);
pub(super) const PERMISSION_ALLOW: ReplyForm = Json(&[
    ("hookSpecificOutput.permissionDecision", Word("allow")),
    ("hookSpecificOutput.permissionDecisionReason", Text),
]);
/// Without a `permissionDecision` the user's own permission prompt still comes, for the changed input.
pub(super) const UPDATED_INPUT: ReplyForm = Json(&[("hookSpecificOutput.updatedInput", Changed)]);
pub(super) const ADDITIONAL_CONTEXT: ReplyForm = Json(&[("hookSpecificOutput.additionalContext", Text)]);
pub(super) const DECISION_BLOCK: ReplyForm = Json(&[("decision", Word("block")), ("reason", Text)]);
pub(super) const DECISION_DENY: ReplyForm = Json(&[("decision", Word("deny")), ("reason", Text)]);
/// The answer to a permission request.
pub(super) const BEHAVIOR_DENY: ReplyForm =
    Json(&[("hookSpecificOutput.decision.behavior", Word("deny")), ("hookSpecificOutput.decision.message", Text)]);
pub(super) const BEHAVIOR_ALLOW: ReplyForm = Json(&[
    ("hookSpecificOutput.decision.behavior", Word("allow")),
    ("hookSpecificOutput.decision.updatedInput", Changed),
]);
/// The same, with one of the suggestions of the request.
pub(super) const BEHAVIOR_ALLOW_WITH: ReplyForm = Json(&[
    ("hookSpecificOutput.decision.behavior", Word("allow")),
    ("hookSpecificOutput.decision.updatedPermissions", Changed),
]);
pub(super) const CONTINUE_FALSE: ReplyForm = Json(&[("continue", False), ("stopReason", Text)]);
/// The key of texts for the user.
pub(super) const SYSTEM_MESSAGE: &str = "systemMessage";
/// The key that names the event again.
pub(super) const HOOK_EVENT_NAME: &str = "hookSpecificOutput.hookEventName";

/// A dialect with Claude Code's message, stop and event name.
pub(super) const CLAUDE_LIKE: ReplyDialect = ReplyDialect {
    message: Some(SYSTEM_MESSAGE),
    stop: CONTINUE_FALSE,
    event_name: Some(HOOK_EVENT_NAME),
    ..EMPTY_DIALECT
};

/// A row for an event that `decision: "block"` refuses.
pub(super) const fn block_row(event: &'static str, context: ReplyForm) -> ReplyRow {
    ReplyRow { event, deny: DECISION_BLOCK, context, ..EMPTY_ROW }
}

/// A row for an event that cannot be refused.
pub(super) const fn context_row(event: &'static str) -> ReplyRow {
    ReplyRow { event, context: ADDITIONAL_CONTEXT, ..EMPTY_ROW }
}

/// The row of a permission request.
pub(super) const PERMISSION_REQUEST_ROW: ReplyRow =
    ReplyRow { event: "PermissionRequest", deny: BEHAVIOR_DENY, allow: BEHAVIOR_ALLOW, ..EMPTY_ROW };

/// An approval by a product that takes no answer of the user.
pub(super) const APPROVE_PERMISSION: ApprovalForm = ApprovalForm::Own(PERMISSION_ALLOW);
pub(super) const APPROVE_DECISION: ApprovalForm =
    ApprovalForm::Own(Json(&[("decision", Word("allow")), ("reason", Text)]));

/// No context.
pub(super) const NO_CONTEXT: ReplyForm = Unsupported;
