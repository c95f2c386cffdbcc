//! A product without a row: Snell can only answer it with a denial, by exit code 2 with the reason on standard error.

use super::claude_replies::NO_CONTEXT;
use super::reply::{EMPTY_DIALECT, EMPTY_ROW, ReplyDialect, ReplyForm, ReplyRow};
use super::tool_dialect::CANONICAL_TOOLS;
use super::{
    AgentProduct, AgentVariables, EvidenceLevel, NotificationKinds, QuestionTool, StderrUse, SubagentSessions,
    SupportLevel, TranscriptFormat, claude,
};

/// Exit code 2, which blocks a tool call in nearly every product.
pub(super) static EXIT_CODE_REPLIES: ReplyDialect =
    ReplyDialect { rows: &[exit_code_row("PreToolUse"), exit_code_row("PermissionRequest")], ..EMPTY_DIALECT };

/// A row for an event that only exit code 2 refuses.
pub(super) const fn exit_code_row(event: &'static str) -> ReplyRow {
    ReplyRow { event, deny: ReplyForm::ExitCode, context: NO_CONTEXT, ..EMPTY_ROW }
}

/// The row that every product starts from.
pub(super) const BASE_PRODUCT: AgentProduct = AgentProduct {
    name: "",
    title: "",
    support: SupportLevel::Full,
    payload_marks: &[],
    env_marks: &[],
    vocabulary: None,
    evidence: EvidenceLevel::Documented,
    events: &[],
    renamed_events: &[],
    event_shapes: &[],
    tools: &CANONICAL_TOOLS,
    adapt: |_| {},
    reply: &EXIT_CODE_REPLIES,
    subagent_sessions: SubagentSessions::Linked,
    stderr: StderrUse::Hidden,
    answer_notes: &[],
    variables: AgentVariables {
        pid: None,
        launcher_session_id: None,
        session_id: None,
        project_dir: None,
        stop_block_cap: None,
        unattended: &[],
    },
    headless_args: &[],
    // Scripts send these types to a receiver for any product.
    notifications: NotificationKinds::CLAUDE_LIKE,
    asks_permission: true,
    question_tools: QuestionTool::CANONICAL,
    transcript: TranscriptFormat::Unsupported,
    transcript_files: None,
    contract: None,
    install: None,
};

/// A product without a row.
pub(super) static UNKNOWN: AgentProduct = AgentProduct {
    name: "unknown",
    title: "an unknown agent",
    support: SupportLevel::DenyOnly,
    // Most new products start from Claude Code's hooks.
    variables: claude::VARIABLES,
    ..BASE_PRODUCT
};
