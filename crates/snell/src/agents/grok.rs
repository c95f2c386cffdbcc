//! Grok Build. It also runs the user's hook file of Claude Code, and drops `args`.

use serde_json::{Map, Value};

use super::claude_replies::{
    ADDITIONAL_CONTEXT, APPROVE_PERMISSION, CLAUDE_LIKE, NO_CONTEXT, PERMISSION_DENY, UPDATED_INPUT, block_row,
};
use super::fingerprint::PayloadMark::Keys;
use super::install_recipe::{AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, SettingsScope};
use super::reply::{ContextEffect, EMPTY_ROW, ReplyDialect, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys, same_input};
use super::unknown::BASE_PRODUCT;
use super::{
    AgentEventRow, AgentProduct, AgentVariables, CapabilitySupport, EvidenceLevel, HookCapability, NotificationKinds,
    SubagentSessions,
};

pub(super) static GROK: AgentProduct = AgentProduct {
    name: "grok",
    title: "Grok Build",
    evidence: EvidenceLevel::Run,
    headless_args: &["-p", "--single"],
    payload_marks: &[Keys(&["hookEventName", "workspaceRoot"])],
    env_marks: &["GROK_SESSION_ID"],
    events: &[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionDenied",
        "Notification",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Stop",
        "StopFailure",
        "StopCancelled",
        "SessionEnd",
    ],
    // Earlier versions sent only these names.
    renamed_events: &[
        AgentEventRow::new("session_start", "SessionStart"),
        AgentEventRow::new("user_prompt_submit", "UserPromptSubmit"),
        AgentEventRow::new("pre_tool_use", "PreToolUse"),
        AgentEventRow::new("post_tool_use", "PostToolUse"),
        AgentEventRow::new("post_tool_use_failure", "PostToolUseFailure"),
        AgentEventRow::new("permission_denied", "PermissionDenied"),
        AgentEventRow::new("notification", "Notification"),
        AgentEventRow::new("subagent_start", "SubagentStart"),
        AgentEventRow::new("subagent_stop", "SubagentStop"),
        AgentEventRow::new("pre_compact", "PreCompact"),
        AgentEventRow::new("post_compact", "PostCompact"),
        AgentEventRow::new("stop", "Stop"),
        AgentEventRow::new("stop_failure", "StopFailure"),
        AgentEventRow::new("stop_cancelled", "StopCancelled"),
        AgentEventRow::new("session_end", "SessionEnd"),
    ],
    tools: &TOOLS,
    adapt,
    reply: &REPLIES,
    answer_notes: &[(
        HookCapability::ChangeInput,
        CapabilitySupport::Limited("if a hook removes an argument that the tool needs, the call is denied"),
    )],
    subagent_sessions: SubagentSessions::Unlinked,
    contract: Some("grok"),
    variables: AgentVariables { session_id: Some("GROK_SESSION_ID"), ..BASE_PRODUCT.variables },
    install: Some(INSTALL),
    notifications: NotificationKinds::CLAUDE_LIKE,
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect = ToolDialect {
    rows: &[
        same_input("run_terminal_command", "Bash"),
        same_input("monitor", "Bash"),
        renamed_keys("read_file", "Read", &[("target_file", "file_path")]),
        same_input("write", "Write"),
        same_input("search_replace", "Edit"),
        same_input("grep", "Grep"),
        renamed_keys("list_dir", "LS", &[("target_directory", "path")]),
        same_input("web_search", "WebSearch"),
        same_input("web_fetch", "WebFetch"),
        same_input("spawn_subagent", "Agent"),
        same_input("ask_user_question", "AskUserQuestion"),
    ],
    mcp: McpNameForm::WithoutPrefix,
};

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        block_row("UserPromptSubmit", NO_CONTEXT),
        ReplyRow {
            event: "PreToolUse",
            deny: PERMISSION_DENY,
            input: UPDATED_INPUT,
            approve: APPROVE_PERMISSION,
            context: ADDITIONAL_CONTEXT,
            ..EMPTY_ROW
        },
        block_row("PostToolUse", ADDITIONAL_CONTEXT),
        ReplyRow { context_effect: ContextEffect::ContinueTurn, ..block_row("Stop", ADDITIONAL_CONTEXT) },
        ReplyRow { context_effect: ContextEffect::ContinueTurn, ..block_row("SubagentStop", ADDITIONAL_CONTEXT) },
    ],
    ..CLAUDE_LIKE
};

/// An event inside a sub-agent has the sub-agent's own session, and its type but not its id.
fn adapt(payload: &mut Map<String, Value>) {
    let is_inside = payload.contains_key("subagentType") && !payload.contains_key("subagentId");
    if let Some(session) = payload.get("sessionId").filter(|_| is_inside).cloned() {
        payload.insert("subagentId".into(), session);
    }
}

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".grok").or_variable("GROK_HOME", ""),
    signs: ("grok", ".grok"),
    files: &[AgentSettingsFile::user("hooks/snell.json"), AgentSettingsFile::project(".grok/hooks/snell.json")],
    // The product's own is 5 s.
    timeout: Some(600),
    timeouts: &[("SessionEnd", 10)],
    notes: &[(SettingsScope::Project, "Grok Build does not run a project's hooks until you trust the project")],
    proof: DenialProof {
        payload: r#"{"hookEventName": "pre_tool_use", "hook_event_name": "PreToolUse", "workspaceRoot": "/",
            "toolName": "run_terminal_command", "toolInput": {"command": "COMMAND"},
            "tool_name": "run_terminal_command", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[
            DenialSign::Member("/hookSpecificOutput/permissionDecision", "\"deny\""),
            DenialSign::Member("/decision", "\"deny\""),
            DenialSign::Member("/decision", "\"block\""),
            DenialSign::ExitCode(2),
        ],
        ..DenialProof::CLAUDE
    },
    ..InstallRecipe::BASE
};
