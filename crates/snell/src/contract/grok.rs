//! Grok Build: directories of files with Claude Code's groups. Payloads have keys in camelCase and in snake_case.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules,
    EventFilter, ExitMeaning, HandlerType, InputChange, JsonExits, MatcherGrammar, PayloadTable, PayloadValue,
    ToolNameForm, answer_row, payload_field,
};
use super::{AfterBlock, BaseDirectory, Contract, ContractReader, HookFileLocation, is_preventable};
use crate::config::{MAX_TIMEOUT, TimeoutField};
use crate::event::EventName;
use crate::matcher::NameListCharset;
use crate::verdict::Decision;

pub(super) static GROK: Contract = Contract {
    name: "grok",
    lane: "grok",
    locations: &[
        HookFileLocation::json_files(BaseDirectory::Home, ".grok/hooks"),
        HookFileLocation::json_files(BaseDirectory::Project, ".grok/hooks"),
    ],
    after_block: AfterBlock::Stop,
    project_variable: Some("GROK_WORKSPACE_ROOT"),
    can_block: is_preventable,
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

const TOOL: EventFilter = EventFilter::Only(&["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionDenied"]);

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "grok",
    event_aliases: Some("cursor"),
    entry: EntryRules {
        keys: &["type", "command", "timeout", "url", "headers", "allowedEnvVars", "name", "env"],
        types: &[HandlerType::COMMAND, HandlerType::HTTP],
        timeout: |event| match event {
            EventName::Stop | EventName::SubagentStop => TimeoutField::seconds(Duration::from_secs(600), MAX_TIMEOUT),
            _ => TimeoutField::seconds(Duration::from_secs(5), MAX_TIMEOUT),
        },
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::NamesOrExpression(NameListCharset::Wide),
    tool_names: |_| ToolNameForm::NativeAndCanonical,
    payload: PayloadTable {
        has_claude_fields: |_| true,
        fields: &[
            payload_field(EventFilter::All, "hookEventName", PayloadValue::SnakeEvent),
            payload_field(EventFilter::All, "sessionId", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::All, "workspaceRoot", PayloadValue::Project),
            payload_field(EventFilter::All, "timestamp", PayloadValue::Time),
            payload_field(EventFilter::All, "transcriptPath", PayloadValue::Field("transcript_path")),
            payload_field(EventFilter::All, "permissionMode", PayloadValue::Field("permission_mode")),
            payload_field(EventFilter::All, "promptId", PayloadValue::Field("prompt_id")),
            payload_field(TOOL, "toolName", PayloadValue::ToolName),
            payload_field(TOOL, "toolInput", PayloadValue::ToolInput),
            payload_field(TOOL, "toolUseId", PayloadValue::Field("tool_use_id")),
            payload_field(TOOL, "toolInputTruncated", PayloadValue::Flag(false)),
            payload_field(EventFilter::Only(&["PostToolUse"]), "toolResult", PayloadValue::ToolOutput),
            payload_field(
                EventFilter::Only(&["Stop", "SubagentStop"]),
                "stopHookActive",
                PayloadValue::Field("stop_hook_active"),
            ),
            payload_field(
                EventFilter::Only(&["Stop", "SubagentStop"]),
                "lastAssistantMessage",
                PayloadValue::Field("last_assistant_message"),
            ),
        ],
    },
    variables: &[
        ("GROK_HOOK_EVENT", PayloadValue::SnakeEvent),
        ("GROK_SESSION_ID", PayloadValue::Field("session_id")),
        ("GROK_WORKSPACE_ROOT", PayloadValue::Project),
        ("CLAUDE_PROJECT_DIR", PayloadValue::Project),
    ],
    answer: AnswerTable {
        json: JsonExits::Any,
        exit_code: |_, code| if code == 2 { ExitMeaning::Deny } else { ExitMeaning::Failure },
        rows: &[
            answer_row(
                &["PreToolUse"],
                "hookSpecificOutput.permissionDecision",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::None)],
                    reasons: &["hookSpecificOutput.permissionDecisionReason"],
                },
            ),
            answer_row(
                &[],
                "decision",
                AnswerMeaning::Decision {
                    words: &[
                        ("block", Decision::Deny),
                        ("deny", Decision::Deny),
                        ("approve", Decision::None),
                        ("allow", Decision::None),
                    ],
                    reasons: &["reason"],
                },
            ),
            answer_row(&["PreToolUse"], "hookSpecificOutput.updatedInput", AnswerMeaning::Input(InputChange::Replace)),
            answer_row(
                &["PreToolUse", "PostToolUse", "Stop", "SubagentStop"],
                "hookSpecificOutput.additionalContext",
                AnswerMeaning::Context,
            ),
            answer_row(&[], "systemMessage", AnswerMeaning::Message),
            answer_row(&[], "continue", AnswerMeaning::Continue { reason: "stopReason" }),
        ],
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};
