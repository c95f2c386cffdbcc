//! Cline: directories of programs that are named after events.

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_FORMAT, EventFilter, FileLayout,
    InputChange, JsonExits, PayloadTable, PayloadValue, answer_row, payload_field,
};
use super::{BaseDirectory, Contract, ContractReader, FileSyntax, HookFileLocation, WorkingDirectoryPolicy};
use crate::event::EventName;
use crate::verdict::Decision;

pub(super) static CLINE: Contract = Contract {
    name: "cline",
    lane: "cline",
    locations: &[
        HookFileLocation::programs(BaseDirectory::Home, ".cline/hooks"),
        HookFileLocation::programs(BaseDirectory::Home, "Documents/Cline/Hooks"),
        HookFileLocation::programs(BaseDirectory::Project, ".cline/hooks"),
        HookFileLocation::programs(BaseDirectory::Project, ".clinerules/hooks"),
    ],
    syntax: FileSyntax::Program,
    working_directory: WorkingDirectoryPolicy::Project,
    can_block: |event| matches!(event, EventName::PreToolUse | EventName::UserPromptSubmit),
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

const PRE: EventFilter = EventFilter::Only(&["PreToolUse"]);
const POST: EventFilter = EventFilter::Only(&["PostToolUse"]);

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "cline",
    layout: FileLayout::Program,
    events: Some(&[
        "TaskStart",
        "TaskResume",
        "TaskCancel",
        "TaskComplete",
        "TaskError",
        "PreToolUse",
        "PostToolUse",
        "UserPromptSubmit",
        "Notification",
        "PreCompact",
        "SessionShutdown",
    ]),
    payload: PayloadTable {
        has_claude_fields: |_| false,
        fields: &[
            payload_field(EventFilter::All, "clineVersion", PayloadValue::Word("")),
            payload_field(EventFilter::All, "timestamp", PayloadValue::Time),
            payload_field(EventFilter::All, "taskId", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::All, "sessionContext.rootSessionId", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::All, "workspaceRoots", PayloadValue::ProjectList),
            payload_field(EventFilter::All, "userId", PayloadValue::FieldOrEmpty("user_name")),
            payload_field(
                EventFilter::All,
                "hookName",
                PayloadValue::EventWord(&[
                    ("TaskStart", "agent_start"),
                    ("TaskResume", "agent_resume"),
                    ("TaskCancel", "agent_abort"),
                    ("TaskComplete", "agent_end"),
                    ("TaskError", "agent_error"),
                    ("PreToolUse", "tool_call"),
                    ("PostToolUse", "tool_result"),
                    ("UserPromptSubmit", "prompt_submit"),
                    ("Notification", "notification"),
                    ("PreCompact", "pre_compact"),
                    ("SessionShutdown", "session_shutdown"),
                ]),
            ),
            payload_field(PRE, "tool_call.id", PayloadValue::Field("tool_use_id")),
            payload_field(PRE, "tool_call.name", PayloadValue::ToolName),
            payload_field(PRE, "tool_call.input", PayloadValue::ToolInput),
            payload_field(PRE, "preToolUse.toolName", PayloadValue::ToolName),
            payload_field(PRE, "preToolUse.parameters", PayloadValue::ToolInputStrings),
            payload_field(POST, "tool_result.id", PayloadValue::Field("tool_use_id")),
            payload_field(POST, "tool_result.name", PayloadValue::ToolName),
            payload_field(POST, "tool_result.input", PayloadValue::ToolInput),
            payload_field(POST, "tool_result.output", PayloadValue::ToolOutput),
            payload_field(POST, "tool_result.durationMs", PayloadValue::Field("duration_ms")),
            payload_field(POST, "postToolUse.toolName", PayloadValue::ToolName),
            payload_field(POST, "postToolUse.parameters", PayloadValue::ToolInputStrings),
            payload_field(POST, "postToolUse.result", PayloadValue::ToolOutputText),
            payload_field(POST, "postToolUse.success", PayloadValue::ToolSucceeded),
            payload_field(POST, "postToolUse.executionTimeMs", PayloadValue::Field("duration_ms")),
            payload_field(
                EventFilter::Only(&["UserPromptSubmit"]),
                "userPromptSubmit.prompt",
                PayloadValue::FieldOrEmpty("prompt"),
            ),
            payload_field(
                EventFilter::Only(&["Notification"]),
                "notification.message",
                PayloadValue::FieldOrEmpty("message"),
            ),
            payload_field(EventFilter::Only(&["TaskStart"]), "taskStart.taskMetadata", PayloadValue::Object),
            payload_field(EventFilter::Only(&["TaskComplete"]), "taskComplete.taskMetadata", PayloadValue::Object),
            payload_field(
                EventFilter::Only(&["TaskComplete"]),
                "turn.outputText",
                PayloadValue::Field("last_assistant_message"),
            ),
        ],
    },
    answer: AnswerTable {
        json: JsonExits::Any,
        rows: &[
            answer_row(
                &[],
                "cancel",
                AnswerMeaning::Decision {
                    words: &[("true", Decision::Deny), ("false", Decision::None)],
                    reasons: &["errorMessage"],
                },
            ),
            answer_row(
                &["PreToolUse"],
                "review",
                AnswerMeaning::Decision {
                    words: &[("true", Decision::Ask), ("false", Decision::None)],
                    reasons: &["errorMessage"],
                },
            ),
            answer_row(&["PreToolUse"], "overrideInput", AnswerMeaning::Input(InputChange::Replace)),
            answer_row(&[], "contextModification", AnswerMeaning::Context),
            answer_row(&[], "context", AnswerMeaning::Context),
        ],
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};
