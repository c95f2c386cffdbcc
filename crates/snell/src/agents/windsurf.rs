//! Windsurf. It only understands exit code 2.

use super::fingerprint::PayloadMark::Keys;
use super::install_recipe::{
    AgentDirectory, AgentSettingsFile, DenialProof, DenialSign, InstallRecipe, JsonRegistration, RegistrationFormat,
};
use super::reply::{EMPTY_DIALECT, ReplyDialect};
use super::tool_dialect::{McpNameForm, ToolDialect, renamed_keys};
use super::unknown::{BASE_PRODUCT, exit_code_row};
use super::{AgentEventRow, AgentProduct};

pub(super) static WINDSURF: AgentProduct = AgentProduct {
    name: "windsurf",
    title: "Windsurf",
    payload_marks: &[Keys(&["agent_action_name"])],
    events: &[
        "pre_user_prompt",
        "pre_read_code",
        "post_read_code",
        "pre_write_code",
        "post_write_code",
        "pre_run_command",
        "post_run_command",
        "pre_mcp_tool_use",
        "post_mcp_tool_use",
        "post_cascade_response",
        "post_cascade_response_with_transcript",
        "post_setup_worktree",
    ],
    renamed_events: &[
        AgentEventRow::new("pre_user_prompt", "UserPromptSubmit"),
        AgentEventRow::for_tool("pre_read_code", "PreToolUse", "Read"),
        AgentEventRow::for_tool("post_read_code", "PostToolUse", "Read"),
        AgentEventRow::for_tool("pre_write_code", "PreToolUse", "Write"),
        AgentEventRow::for_tool("post_write_code", "PostToolUse", "Write"),
        AgentEventRow::for_tool("pre_run_command", "PreToolUse", "Bash"),
        AgentEventRow::for_tool("post_run_command", "PostToolUse", "Bash"),
        AgentEventRow::new("pre_mcp_tool_use", "PreToolUse"),
        AgentEventRow::new("post_mcp_tool_use", "PostToolUse"),
        AgentEventRow::new("post_cascade_response", "Stop"),
    ],
    tools: &TOOLS,
    reply: &REPLIES,
    install: Some(INSTALL),
    contract: Some("windsurf"),
    ..BASE_PRODUCT
};

/// Its events are about tools of one kind, so that only the keys differ.
pub(crate) static TOOLS: ToolDialect =
    ToolDialect { rows: &[renamed_keys("Bash", "Bash", &[("command_line", "command")])], mcp: McpNameForm::Canonical };

static REPLIES: ReplyDialect =
    ReplyDialect { rows: &[exit_code_row("PreToolUse"), exit_code_row("UserPromptSubmit")], ..EMPTY_DIALECT };

const INSTALL: InstallRecipe = InstallRecipe {
    directory: AgentDirectory::in_home(".codeium/windsurf"),
    signs: ("windsurf", ".codeium/windsurf"),
    format: RegistrationFormat::Json(JsonRegistration { timeout: None, ..JsonRegistration::SHELL_HANDLERS }),
    files: &[AgentSettingsFile::user("hooks.json"), AgentSettingsFile::project(".windsurf/hooks.json")],
    proof: DenialProof {
        event: "pre_run_command",
        payload: r#"{"agent_action_name": "pre_run_command", "trajectory_id": "t", "execution_id": "e",
            "tool_info": {"command_line": "COMMAND", "cwd": "/"}}"#,
        signs: &[DenialSign::ExitCode(2)],
    },
    ..InstallRecipe::BASE
};
