//! Cursor: flat lists. It fires an event for every tool, and further events for shell commands, MCP tools and files.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules,
    EventFilter, ExitMeaning, FileLayout, HandlerType, InputChange, MatcherGrammar, PayloadTable, PayloadValue,
    TypeKey, answer_row, answer_row_for, payload_field,
};
use super::claude::events::MatchTarget;
use super::{BaseDirectory, Contract, ContractReader, HookFileLocation, WorkingDirectoryPolicy};
use crate::config::{MAX_TIMEOUT, TimeoutField};
use crate::event::{EventName, ToolClass};
use crate::verdict::Decision;

pub(super) static CURSOR: Contract = Contract {
    name: "cursor",
    lane: "cursor",
    locations: &[
        HookFileLocation::file(BaseDirectory::Project, ".cursor/hooks.json"),
        HookFileLocation::file(BaseDirectory::Home, ".cursor/hooks.json"),
    ],
    working_directory: WorkingDirectoryPolicy::Project,
    project_variable: Some("CURSOR_PROJECT_DIR"),
    can_block: |event| {
        matches!(
            event,
            EventName::PreToolUse
                | EventName::UserPromptSubmit
                | EventName::SubagentStart
                | EventName::SubagentStop
                | EventName::Stop
        )
    },
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

const GENERIC: EventFilter = EventFilter::Only(&["preToolUse", "postToolUse", "postToolUseFailure"]);
const SHELL: EventFilter = EventFilter::Only(&["beforeShellExecution", "afterShellExecution"]);
const MCP: EventFilter = EventFilter::Only(&["beforeMCPExecution", "afterMCPExecution"]);
const SUBAGENT: EventFilter = EventFilter::Only(&["subagentStart", "subagentStop"]);

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "cursor",
    layout: FileLayout::Flat,
    entry: EntryRules {
        keys: &["type", "command", "timeout", "matcher", "failClosed", "loop_limit", "prompt", "model"],
        type_key: TypeKey::Optional,
        types: &[HandlerType::COMMAND, HandlerType::PROMPT],
        timeout: |_| TimeoutField::seconds(Duration::from_secs(60), MAX_TIMEOUT),
        fail_closed: Some("failClosed"),
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::Expression,
    event_classes: &[
        ("beforeShellExecution", ToolClass::Shell),
        ("afterShellExecution", ToolClass::Shell),
        ("beforeMCPExecution", ToolClass::Mcp),
        ("afterMCPExecution", ToolClass::Mcp),
        ("beforeReadFile", ToolClass::FileRead),
        ("afterFileEdit", ToolClass::FileWrite),
    ],
    // Only its editor completes text with Tab.
    inert_events: &["beforeTabFileRead", "afterTabFileEdit"],
    match_targets: &[
        ("beforeShellExecution", MatchTarget::Command),
        ("afterShellExecution", MatchTarget::Command),
        ("afterFileEdit", MatchTarget::Nothing),
    ],
    payload: PayloadTable {
        has_claude_fields: |_| false,
        fields: &[
            payload_field(EventFilter::All, "conversation_id", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::All, "session_id", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::All, "generation_id", PayloadValue::FieldOrEmpty("prompt_id")),
            payload_field(EventFilter::All, "model", PayloadValue::FieldOrEmpty("model")),
            payload_field(EventFilter::All, "hook_event_name", PayloadValue::Event),
            payload_field(EventFilter::All, "cursor_version", PayloadValue::Word("")),
            payload_field(EventFilter::All, "workspace_roots", PayloadValue::ProjectList),
            payload_field(EventFilter::All, "user_email", PayloadValue::Null),
            payload_field(EventFilter::All, "transcript_path", PayloadValue::FieldOrNull("transcript_path")),
            payload_field(GENERIC, "tool_name", PayloadValue::ToolName),
            payload_field(GENERIC, "tool_input", PayloadValue::ToolInput),
            payload_field(GENERIC, "tool_use_id", PayloadValue::Field("tool_use_id")),
            payload_field(GENERIC, "cwd", PayloadValue::Cwd),
            payload_field(GENERIC, "duration", PayloadValue::Field("duration_ms")),
            payload_field(EventFilter::Only(&["postToolUse"]), "tool_output", PayloadValue::ToolOutputJson),
            payload_field(EventFilter::Only(&["postToolUseFailure"]), "error_message", PayloadValue::ToolOutputText),
            payload_field(SHELL, "command", PayloadValue::InputField("command")),
            payload_field(SHELL, "cwd", PayloadValue::Cwd),
            payload_field(SHELL, "sandbox", PayloadValue::Flag(false)),
            payload_field(EventFilter::Only(&["afterShellExecution"]), "output", PayloadValue::ToolOutputText),
            payload_field(MCP, "tool_name", PayloadValue::McpTool),
            payload_field(MCP, "tool_input", PayloadValue::ToolInputText),
            payload_field(EventFilter::Only(&["afterMCPExecution"]), "result_json", PayloadValue::ToolOutputJson),
            payload_field(
                EventFilter::Only(&["beforeReadFile", "afterFileEdit"]),
                "file_path",
                PayloadValue::InputField("file_path"),
            ),
            payload_field(EventFilter::Only(&["afterFileEdit"]), "edits", PayloadValue::Edits),
            payload_field(EventFilter::Only(&["beforeSubmitPrompt"]), "prompt", PayloadValue::FieldOrEmpty("prompt")),
            payload_field(SUBAGENT, "subagent_id", PayloadValue::Field("agent_id")),
            payload_field(SUBAGENT, "subagent_type", PayloadValue::Field("agent_type")),
            payload_field(EventFilter::Only(&["stop", "subagentStop"]), "status", PayloadValue::Word("completed")),
            payload_field(EventFilter::Only(&["sessionEnd"]), "reason", PayloadValue::Field("reason")),
            payload_field(EventFilter::Only(&["preCompact"]), "trigger", PayloadValue::Field("trigger")),
        ],
    },
    variables: &[
        ("CURSOR_PROJECT_DIR", PayloadValue::Project),
        ("CLAUDE_PROJECT_DIR", PayloadValue::Project),
        ("CURSOR_TRANSCRIPT_PATH", PayloadValue::Field("transcript_path")),
    ],
    answer: AnswerTable {
        exit_code: |_, code| if code == 2 { ExitMeaning::Deny } else { ExitMeaning::Failure },
        needs_output: true,
        rows: &[
            answer_row(
                &["PreToolUse", "SubagentStart"],
                "permission",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::None)],
                    reasons: &["user_message", "agent_message"],
                },
            ),
            answer_row(
                &["UserPromptSubmit"],
                "continue",
                AnswerMeaning::Decision {
                    words: &[("false", Decision::Deny), ("true", Decision::None)],
                    reasons: &["user_message"],
                },
            ),
            answer_row(&["Stop", "SubagentStop"], "followup_message", AnswerMeaning::DenialReason),
            answer_row_for(
                EventFilter::Only(&["preToolUse"]),
                answer_row(&[], "updated_input", AnswerMeaning::Input(InputChange::Replace)),
            ),
            answer_row(&["PostToolUse"], "updated_mcp_tool_output", AnswerMeaning::Output),
            answer_row(&["SessionStart", "PostToolUse"], "additional_context", AnswerMeaning::Context),
            answer_row(&["PreCompact"], "user_message", AnswerMeaning::Message),
        ],
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};
