//! Deep Agents Code. Its payloads and answers are Claude Code's, also the names of its tools.

use super::claude_replies::{
    ADDITIONAL_CONTEXT, APPROVE_PERMISSION, CLAUDE_LIKE, NO_CONTEXT, PERMISSION_ASK, PERMISSION_DENY, UPDATED_INPUT,
    block_row, context_row,
};
use super::fingerprint::PayloadMark::Contains;
use super::install_recipe::{AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, SettingsScope};
use super::reply::{EMPTY_ROW, ReplyDialect, ReplyRow};
use super::unknown::BASE_PRODUCT;
use super::{AgentProduct, NotificationKinds};

pub(super) static DEEPAGENTS: AgentProduct = AgentProduct {
    name: "deepagents",
    title: "Deep Agents",
    payload_marks: &[Contains("transcript_path", "/.deepagents/")],
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "Notification",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "Stop",
        "SessionEnd",
    ],
    reply: &REPLIES,
    install: Some(INSTALL),
    notifications: NotificationKinds::CLAUDE_LIKE,
    ..BASE_PRODUCT
};

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        context_row("SessionStart"),
        block_row("UserPromptSubmit", ADDITIONAL_CONTEXT),
        ReplyRow {
            event: "PreToolUse",
            deny: PERMISSION_DENY,
            ask: PERMISSION_ASK,
            input: UPDATED_INPUT,
            approve: APPROVE_PERMISSION,
            context: ADDITIONAL_CONTEXT,
            ..EMPTY_ROW
        },
        block_row("PostToolUse", ADDITIONAL_CONTEXT),
        block_row("Stop", NO_CONTEXT),
        block_row("SubagentStop", NO_CONTEXT),
    ],
    ..CLAUDE_LIKE
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".deepagents"),
    signs: ("deepagents", ".deepagents"),
    files: &[AgentSettingsFile::user("hooks.json"), AgentSettingsFile::project(".deepagents/hooks.json")],
    notes: &[(SettingsScope::Project, "Deep Agents does not run a project's hooks until you trust the project")],
    proof: DenialProof {
        payload: r#"{"hook_event_name": "PreToolUse", "transcript_path": "/.deepagents/session",
            "tool_name": "Bash", "tool_input": {"command": "COMMAND"}}"#,
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
