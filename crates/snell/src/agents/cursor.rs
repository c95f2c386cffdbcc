//! Cursor. It also runs the hook files of Claude Code. Its "ask" is not enforced before every tool.

use super::fingerprint::PayloadMark::Keys;
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, JsonRegistration, RegistrationFormat,
    SettingsReader,
};
use super::reply::ReplyForm::Json;
use super::reply::ReplyValue::{Changed, False, Text, Word};
use super::reply::{ApprovalForm, EMPTY_DIALECT, EMPTY_ROW, OutputForm, ReplyDialect, ReplyForm, ReplyRow};
use super::tool_dialect::{McpNameForm, ToolDialect, same_input};
use super::unknown::BASE_PRODUCT;
use super::{AgentEventRow, AgentProduct};

pub(super) static CURSOR: AgentProduct = AgentProduct {
    name: "cursor",
    title: "Cursor",
    payload_marks: &[Keys(&["cursor_version"])],
    env_marks: &["CURSOR_VERSION"],
    events: &[
        "sessionStart",
        "sessionEnd",
        "beforeSubmitPrompt",
        "preToolUse",
        "postToolUse",
        "postToolUseFailure",
        "beforeShellExecution",
        "afterShellExecution",
        "beforeMCPExecution",
        "afterMCPExecution",
        "beforeReadFile",
        "beforeTabFileRead",
        "afterFileEdit",
        "afterTabFileEdit",
        "subagentStart",
        "subagentStop",
        "afterAgentResponse",
        "afterAgentThought",
        "preCompact",
        "stop",
        "workspaceOpen",
    ],
    renamed_events: &[
        AgentEventRow::new("sessionStart", "SessionStart"),
        AgentEventRow::new("sessionEnd", "SessionEnd"),
        AgentEventRow::new("beforeSubmitPrompt", "UserPromptSubmit"),
        AgentEventRow::new("preToolUse", "PreToolUse"),
        AgentEventRow::new("postToolUse", "PostToolUse"),
        AgentEventRow::new("postToolUseFailure", "PostToolUseFailure"),
        AgentEventRow::for_tool("beforeShellExecution", "PreToolUse", "Bash"),
        AgentEventRow::for_tool("afterShellExecution", "PostToolUse", "Bash"),
        AgentEventRow::new("beforeMCPExecution", "PreToolUse"),
        AgentEventRow::new("afterMCPExecution", "PostToolUse"),
        AgentEventRow::for_tool("beforeReadFile", "PreToolUse", "Read"),
        AgentEventRow::for_tool("beforeTabFileRead", "PreToolUse", "Read"),
        AgentEventRow::for_tool("afterFileEdit", "PostToolUse", "Edit"),
        AgentEventRow::for_tool("afterTabFileEdit", "PostToolUse", "Edit"),
        AgentEventRow::new("subagentStart", "SubagentStart"),
        AgentEventRow::new("subagentStop", "SubagentStop"),
        AgentEventRow::new("preCompact", "PreCompact"),
        AgentEventRow::new("stop", "Stop"),
    ],
    tools: &TOOLS,
    reply: &REPLIES,
    install: Some(INSTALL),
    contract: Some("cursor"),
    ..BASE_PRODUCT
};

pub(crate) static TOOLS: ToolDialect =
    ToolDialect { rows: &[same_input("Shell", "Bash"), same_input("Task", "Agent")], mcp: McpNameForm::Prefix("MCP:") };

/// The model reads the message to the user.
const PERMISSION: ReplyForm = Json(&[("permission", Word("deny")), ("user_message", Text), ("agent_message", Text)]);
const CONTEXT: ReplyForm = Json(&[("additional_context", Text)]);
const FOLLOW_UP: ReplyForm = Json(&[("followup_message", Text)]);

static REPLIES: ReplyDialect = ReplyDialect {
    rows: &[
        ReplyRow { event: "SessionStart", context: CONTEXT, ..EMPTY_ROW },
        ReplyRow { event: "UserPromptSubmit", deny: Json(&[("continue", False), ("user_message", Text)]), ..EMPTY_ROW },
        ReplyRow {
            event: "PreToolUse",
            deny: PERMISSION,
            input: Json(&[("permission", Word("allow")), ("updated_input", Changed)]),
            approve: ApprovalForm::Own(Json(&[("permission", Word("allow"))])),
            ..EMPTY_ROW
        },
        ReplyRow {
            event: "PostToolUse",
            output: OutputForm::McpKey("updated_mcp_tool_output"),
            context: CONTEXT,
            ..EMPTY_ROW
        },
        ReplyRow { event: "SubagentStart", deny: PERMISSION, ..EMPTY_ROW },
        ReplyRow { event: "SubagentStop", deny: FOLLOW_UP, ..EMPTY_ROW },
        ReplyRow { event: "Stop", deny: FOLLOW_UP, ..EMPTY_ROW },
    ],
    ..EMPTY_DIALECT
};

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".cursor"),
    signs: ("cursor-agent", ".cursor"),
    format: RegistrationFormat::Json(JsonRegistration {
        root: &[("version", "1")],
        ..JsonRegistration::SHELL_HANDLERS
    }),
    files: &[AgentSettingsFile::user("hooks.json"), AgentSettingsFile::project(".cursor/hooks.json")],
    left_out: &[
        ("beforeShellExecution", "preToolUse fires for the same call"),
        ("beforeMCPExecution", "preToolUse fires for the same call"),
        ("beforeReadFile", "preToolUse fires for the same call"),
        ("afterShellExecution", "postToolUse fires for the same call"),
        ("afterMCPExecution", "postToolUse fires for the same call"),
        ("afterFileEdit", "postToolUse fires for the same call"),
        ("beforeTabFileRead", "it fires for completions in the editor, not for an agent"),
        ("afterTabFileEdit", "it fires for completions in the editor, not for an agent"),
        ("afterAgentThought", "it fires for every thought, and each would start a process"),
    ],
    timeout: Some(600),
    readers: &[SettingsReader::of_product("grok", "Grok Build", ".grok")],
    proof: DenialProof {
        event: "preToolUse",
        payload: r#"{"hook_event_name": "preToolUse", "conversation_id": "c", "generation_id": "g",
            "cursor_version": "3.9.16", "workspace_roots": ["/"], "tool_use_id": "u",
            "tool_name": "Shell", "tool_input": {"command": "COMMAND"}}"#,
        signs: &[DenialSign::Member("/permission", "\"deny\""), DenialSign::ExitCode(2)],
    },
    ..InstallRecipe::BASE
};
