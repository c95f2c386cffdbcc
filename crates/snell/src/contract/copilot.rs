//! Copilot CLI: directories of files with flat lists. Names of events in camelCase get other payloads than Claude Code's
//! names, and answers must be at the top of the object. A hook before a tool that fails denies.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, CommandKey,
    EntryRules, EventFilter, ExitMeaning, FileLayout, HandlerType, InputChange, MatcherGrammar, PayloadTable,
    PayloadValue, ToolNameForm, TypeKey, answer_row, answer_row_for, payload_field,
};
use super::{BaseDirectory, Contract, ContractReader, HookFileLocation, WorkingDirectoryPolicy, is_preventable};
use crate::config::{MAX_TIMEOUT, TimeoutField, TimeoutUnit};
use crate::event::{EventName, ToolClass};
use crate::hook::HookShell;
use crate::verdict::Decision;

pub(super) static COPILOT: Contract = Contract {
    name: "copilot",
    lane: "copilot",
    locations: &[
        HookFileLocation::json_files(BaseDirectory::Home, ".copilot/hooks"),
        HookFileLocation::json_files(BaseDirectory::Project, ".github/hooks"),
    ],
    working_directory: WorkingDirectoryPolicy::Project,
    project_variable: Some("COPILOT_PROJECT_DIR"),
    can_block: is_preventable,
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

const PERMISSION_WORDS: &[(&str, Decision)] =
    &[("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::Allow)];
const AFTER_TOOL: &[&str] = &["postToolUse", "postToolUseFailure"];
const TOOL_EVENTS: &[&str] = &["preToolUse", "preMcpToolCall", "postToolUse", "postToolUseFailure"];
/// Its payload is the same under both names.
const PERMISSION: EventFilter = EventFilter::Only(&["permissionRequest", "PermissionRequest"]);
/// Tools have Claude Code's names there, but their own keys.
const PASCAL_TOOL_EVENTS: EventFilter = EventFilter::Only(&["PreToolUse", "PostToolUse", "PostToolUseFailure"]);

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "copilot",
    layout: FileLayout::Flat,
    file_switch: Some("disableAllHooks"),
    entry: EntryRules {
        keys: &[
            "type",
            "bash",
            "powershell",
            "command",
            "exec",
            "args",
            "cwd",
            "env",
            "timeoutSec",
            "matcher",
            "comment",
            "url",
            "headers",
            "allowedEnvVars",
            "prompt",
        ],
        commands: &[
            CommandKey { key: "bash", shell: HookShell::Bash },
            CommandKey { key: "command", shell: HookShell::Posix },
        ],
        type_key: TypeKey::Optional,
        types: &[HandlerType::COMMAND, HandlerType::HTTP, HandlerType::PROMPT],
        timeout: |_| TimeoutField {
            key: "timeoutSec",
            unit: TimeoutUnit::Seconds,
            default: Duration::from_secs(30),
            cap: MAX_TIMEOUT,
        },
        directory: Some("cwd"),
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::WholeExpression,
    event_classes: &[("preMcpToolCall", ToolClass::Mcp)],
    tool_names: |event| match EventFilter::Pascal.contains(event) {
        true => ToolNameForm::NativeAndCanonical,
        false => ToolNameForm::Native,
    },
    payload: PayloadTable {
        has_claude_fields: |event| EventFilter::Pascal.contains(event) && event != "PermissionRequest",
        fields: &[
            payload_field(EventFilter::Pascal, "timestamp", PayloadValue::Time),
            payload_field(PASCAL_TOOL_EVENTS, "tool_name", PayloadValue::CanonicalToolName),
            payload_field(PERMISSION, "hookName", PayloadValue::Word("permissionRequest")),
            payload_field(PERMISSION, "sessionId", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(PERMISSION, "timestamp", PayloadValue::TimeMilliseconds),
            payload_field(PERMISSION, "cwd", PayloadValue::Cwd),
            payload_field(PERMISSION, "toolName", PayloadValue::ToolName),
            payload_field(PERMISSION, "toolInput", PayloadValue::ToolInput),
            payload_field(EventFilter::Camel, "sessionId", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::Camel, "timestamp", PayloadValue::TimeMilliseconds),
            payload_field(EventFilter::Camel, "cwd", PayloadValue::Cwd),
            payload_field(EventFilter::Camel, "prompt", PayloadValue::Field("prompt")),
            payload_field(EventFilter::Only(TOOL_EVENTS), "toolName", PayloadValue::ToolName),
            payload_field(EventFilter::Only(TOOL_EVENTS), "toolArgs", PayloadValue::ToolInput),
            payload_field(EventFilter::Only(AFTER_TOOL), "toolResult.resultType", PayloadValue::ToolStatus("failure")),
            payload_field(EventFilter::Only(AFTER_TOOL), "toolResult.textResultForLlm", PayloadValue::ToolOutputText),
            payload_field(EventFilter::Only(&["sessionStart"]), "source", PayloadValue::Field("source")),
            payload_field(EventFilter::Only(&["sessionEnd"]), "reason", PayloadValue::Field("reason")),
            payload_field(
                EventFilter::Only(&["agentStop", "subagentStop"]),
                "stopReason",
                PayloadValue::Word("end_turn"),
            ),
            payload_field(
                EventFilter::Only(&["agentStop", "subagentStop"]),
                "stop_hook_active",
                PayloadValue::Field("stop_hook_active"),
            ),
            payload_field(EventFilter::Only(&["agentStop"]), "transcriptPath", PayloadValue::Field("transcript_path")),
            payload_field(
                EventFilter::Only(&["subagentStart", "subagentStop"]),
                "agentName",
                PayloadValue::Field("agent_type"),
            ),
            payload_field(EventFilter::Only(&["preCompact"]), "trigger", PayloadValue::Field("trigger")),
            payload_field(EventFilter::Only(&["notification"]), "message", PayloadValue::Field("message")),
            payload_field(
                EventFilter::Only(&["notification"]),
                "notificationType",
                PayloadValue::Field("notification_type"),
            ),
            payload_field(
                EventFilter::Only(&["PostToolUse", "PostToolUseFailure"]),
                "tool_result.result_type",
                PayloadValue::ToolStatus("failure"),
            ),
            payload_field(
                EventFilter::Only(&["PostToolUse", "PostToolUseFailure"]),
                "tool_result.text_result_for_llm",
                PayloadValue::ToolOutputText,
            ),
        ],
    },
    variables: &[("COPILOT_PROJECT_DIR", PayloadValue::Project), ("CLAUDE_PROJECT_DIR", PayloadValue::Project)],
    answer: AnswerTable {
        has_progress_lines: true,
        exit_code: |event, code| match event {
            EventName::PreToolUse => ExitMeaning::Deny,
            EventName::PermissionRequest if code == 2 => ExitMeaning::Deny,
            _ => ExitMeaning::Failure,
        },
        rows: &[
            answer_row(
                &["PreToolUse"],
                "permissionDecision",
                AnswerMeaning::Decision { words: PERMISSION_WORDS, reasons: &["permissionDecisionReason"] },
            ),
            answer_row_for(
                EventFilter::Pascal,
                answer_row(
                    &["PreToolUse"],
                    "hookSpecificOutput.permissionDecision",
                    AnswerMeaning::Decision {
                        words: PERMISSION_WORDS,
                        reasons: &["hookSpecificOutput.permissionDecisionReason"],
                    },
                ),
            ),
            answer_row(
                &["UserPromptSubmit", "Stop", "SubagentStop"],
                "decision",
                AnswerMeaning::Decision {
                    words: &[("block", Decision::Deny), ("allow", Decision::None)],
                    reasons: &["reason"],
                },
            ),
            answer_row(
                &["PermissionRequest"],
                "behavior",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("allow", Decision::Allow)],
                    reasons: &["message"],
                },
            ),
            answer_row(&["PreToolUse"], "updatedInput", AnswerMeaning::Input(InputChange::Replace)),
            answer_row(&["PreToolUse"], "modifiedArgs", AnswerMeaning::Input(InputChange::Replace)),
            answer_row_for(
                EventFilter::Pascal,
                answer_row(
                    &["PreToolUse"],
                    "hookSpecificOutput.updatedInput",
                    AnswerMeaning::Input(InputChange::Replace),
                ),
            ),
            answer_row(&["PostToolUse"], "modifiedResult", AnswerMeaning::Output),
            answer_row(
                &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse"],
                "additionalContext",
                AnswerMeaning::Context,
            ),
            answer_row_for(
                EventFilter::Pascal,
                answer_row(&["PreToolUse"], "hookSpecificOutput.additionalContext", AnswerMeaning::Context),
            ),
        ],
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};
