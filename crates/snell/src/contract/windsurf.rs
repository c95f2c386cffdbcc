//! Windsurf: flat lists, one event per class of tools. Exit code 2 before an action is its only answer.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules, EventFilter,
    ExitMeaning, FileLayout, JsonExits, PayloadTable, PayloadValue, TypeKey, payload_field,
};
use super::{BaseDirectory, Contract, ContractReader, HookFileLocation, WorkingDirectoryPolicy};
use crate::config::{MAX_TIMEOUT, TimeoutField};
use crate::event::{EventName, ToolClass};

pub(super) static WINDSURF: Contract = Contract {
    name: "windsurf",
    lane: "windsurf",
    locations: &[
        HookFileLocation::file(BaseDirectory::Home, ".codeium/windsurf/hooks.json"),
        HookFileLocation::file(BaseDirectory::Project, ".windsurf/hooks.json"),
    ],
    working_directory: WorkingDirectoryPolicy::Project,
    can_block,
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

fn can_block(event: &EventName) -> bool {
    matches!(event, EventName::PreToolUse | EventName::UserPromptSubmit)
}

const COMMAND: EventFilter = EventFilter::Only(&["pre_run_command", "post_run_command"]);
const FILE: EventFilter = EventFilter::Only(&["pre_read_code", "post_read_code", "pre_write_code", "post_write_code"]);
const WRITE: EventFilter = EventFilter::Only(&["pre_write_code", "post_write_code"]);
const MCP: EventFilter = EventFilter::Only(&["pre_mcp_tool_use", "post_mcp_tool_use"]);

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "windsurf",
    layout: FileLayout::Flat,
    entry: EntryRules {
        keys: &["command", "powershell", "show_output", "working_directory"],
        type_key: TypeKey::Absent,
        // It has no timeouts.
        timeout: |_| TimeoutField::seconds(Duration::from_secs(600), MAX_TIMEOUT),
        directory: Some("working_directory"),
        ..BASE_ENTRY
    },
    event_classes: &[
        ("pre_read_code", ToolClass::FileRead),
        ("post_read_code", ToolClass::FileRead),
        ("pre_write_code", ToolClass::FileWrite),
        ("post_write_code", ToolClass::FileWrite),
        ("pre_run_command", ToolClass::Shell),
        ("post_run_command", ToolClass::Shell),
        ("pre_mcp_tool_use", ToolClass::Mcp),
        ("post_mcp_tool_use", ToolClass::Mcp),
    ],
    payload: PayloadTable {
        has_claude_fields: |_| false,
        fields: &[
            payload_field(EventFilter::All, "agent_action_name", PayloadValue::Event),
            payload_field(EventFilter::All, "trajectory_id", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::All, "execution_id", PayloadValue::FieldOrEmpty("prompt_id")),
            payload_field(EventFilter::All, "timestamp", PayloadValue::Time),
            payload_field(EventFilter::All, "tool_info", PayloadValue::Object),
            payload_field(COMMAND, "tool_info.command_line", PayloadValue::InputField("command")),
            payload_field(COMMAND, "tool_info.cwd", PayloadValue::Cwd),
            payload_field(FILE, "tool_info.file_path", PayloadValue::InputField("file_path")),
            payload_field(WRITE, "tool_info.edits", PayloadValue::Edits),
            payload_field(MCP, "tool_info.mcp_server_name", PayloadValue::McpServer),
            payload_field(MCP, "tool_info.mcp_tool_name", PayloadValue::McpTool),
            payload_field(MCP, "tool_info.mcp_tool_arguments", PayloadValue::ToolInput),
            payload_field(
                EventFilter::Only(&["post_mcp_tool_use"]),
                "tool_info.mcp_result",
                PayloadValue::ToolOutputText,
            ),
            payload_field(
                EventFilter::Only(&["pre_user_prompt"]),
                "tool_info.user_prompt",
                PayloadValue::FieldOrEmpty("prompt"),
            ),
            payload_field(
                EventFilter::Only(&["post_cascade_response"]),
                "tool_info.response",
                PayloadValue::FieldOrEmpty("last_assistant_message"),
            ),
        ],
    },
    answer: AnswerTable {
        json: JsonExits::Never,
        exit_code: |event, code| match code {
            2 if can_block(event) => ExitMeaning::Deny,
            _ => ExitMeaning::Failure,
        },
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};
