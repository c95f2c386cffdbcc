//! Factory droid. Its payloads and answers look like those of Claude Code. A changed input is merged into the original one.

use super::claude_replies::{
    ADDITIONAL_CONTEXT, APPROVE_PERMISSION, CLAUDE_LIKE, NO_CONTEXT, PERMISSION_ASK, PERMISSION_DENY, UPDATED_INPUT,
    block_row, context_row,
};
use super::fingerprint::PayloadMark::{Contains, Values};
use super::install_recipe::{AgentDirectory, AgentSettingsFile, DenialProof, InstallRecipe, SettingsScope};
use super::reply::{EMPTY_ROW, InputPolicy, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, same_input};
use super::unknown::BASE_PRODUCT;
use super::{AgentProduct, AgentVariables, NotificationKinds};

pub(super) static DROID: AgentProduct = AgentProduct {
    name: "droid",
    title: "Factory droid",
    payload_marks: &[
        Values("permission_mode", &["off", "spec", "auto-low", "auto-medium", "auto-high"]),
        Contains("transcript_path", "/.factory/"),
    ],
    env_marks: &["FACTORY_PROJECT_DIR"],
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Notification",
        "SubagentStop",
        "PreCompact",
        "Stop",
        "SessionEnd",
    ],
    tools: &TOOLS,
    reply: &REPLIES,
    contract: Some("droid"),
    variables: AgentVariables { project_dir: Some("FACTORY_PROJECT_DIR"), ..BASE_PRODUCT.variables },
    install: Some(INSTALL),
    notifications: NotificationKinds::CLAUDE_LIKE,
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("Execute", "Bash"),
        same_input("Create", "Write"),
        same_input("ApplyPatch", "apply_patch"),
        same_input("Task", "Agent"),
        same_input("FetchUrl", "WebFetch"),
    ],
    mcp: McpNameForm::Canonical,
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
    input_policy: InputPolicy::Merge,
    ..CLAUDE_LIKE
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".factory"),
    signs: ("droid", ".factory"),
    files: &[AgentSettingsFile::user("hooks.json"), AgentSettingsFile::project(".factory/hooks.json")],
    timeout: Some(600),
    timeouts: &[("SessionEnd", 10)],
    notes: &[
        (SettingsScope::User, "Factory droid reads hooks when it starts"),
        (SettingsScope::Project, "Factory droid reads hooks when it starts"),
    ],
    proof: DenialProof {
        payload: r#"{"hook_event_name": "PreToolUse", "permission_mode": "auto-high",
            "tool_name": "Execute", "tool_input": {"command": "COMMAND"}}"#,
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
