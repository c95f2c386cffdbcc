//! Qwen Code: Gemini CLI's groups with Claude Code's events. A hook before a tool cannot change its input.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules,
    EventFilter, ExitMeaning, HandlerType, InputChange, JsonExits, MatcherGrammar, PayloadTable, PayloadValue,
    TextMeaning, ToolNameForm, answer_row, payload_field,
};
use super::{BaseDirectory, Contract, ContractReader, DedupPolicy, ExecutionMode, HookFileLocation, is_preventable};
use crate::config::{ConfigReader, DisableSwitch, MAX_TIMEOUT, ObjectFields, TimeoutField};
use crate::event::EventName;
use crate::verdict::Decision;

pub(super) static QWEN: Contract = Contract {
    name: "qwen",
    lane: "qwen",
    locations: &[
        HookFileLocation::file(BaseDirectory::Project, ".qwen/settings.json"),
        HookFileLocation::file(BaseDirectory::Home, ".qwen/settings.json"),
    ],
    read_switches,
    execution_mode: |_| ExecutionMode::Together { budget: None },
    dedup: DedupPolicy::RunOnce,
    project_variable: Some("QWEN_PROJECT_DIR"),
    can_block: |event| is_preventable(event) || *event == EventName::PreCompact,
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

const FUNCTION: HandlerType = HandlerType { name: "function", obstacle: Some("they are functions of the agent") };

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "qwen",
    entry: EntryRules {
        keys: &[
            "type",
            "command",
            "name",
            "description",
            "timeout",
            "async",
            "env",
            "shell",
            "statusMessage",
            "once",
            "url",
            "headers",
            "allowedEnvVars",
            "prompt",
            "model",
        ],
        types: &[HandlerType::COMMAND, HandlerType::HTTP, HandlerType::PROMPT, FUNCTION],
        timeout: |_| TimeoutField::milliseconds(Duration::from_secs(60), MAX_TIMEOUT),
        http_timeout: Some(TimeoutField::seconds(Duration::from_secs(600), MAX_TIMEOUT)),
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::ExpressionOrName,
    tool_names: |_| ToolNameForm::NativeAndCanonical,
    payload: PayloadTable {
        has_claude_fields: |_| true,
        fields: &[
            payload_field(EventFilter::All, "timestamp", PayloadValue::Time),
            payload_field(EventFilter::All, "tool_call_id", PayloadValue::Field("tool_use_id")),
            payload_field(EventFilter::Only(&["UserPromptSubmit"]), "submitted_prompt", PayloadValue::Field("prompt")),
        ],
    },
    variables: &[
        ("QWEN_PROJECT_DIR", PayloadValue::Project),
        ("GEMINI_PROJECT_DIR", PayloadValue::Project),
        ("CLAUDE_PROJECT_DIR", PayloadValue::Project),
    ],
    answer: AnswerTable {
        json: JsonExits::Any,
        exit_code: |_, code| if code == 2 { ExitMeaning::DenyWithText } else { ExitMeaning::Failure },
        text: |_| TextMeaning::Message,
        rows: &[
            answer_row(
                &["PreToolUse"],
                "hookSpecificOutput.permissionDecision",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("ask", Decision::Ask), ("allow", Decision::Allow)],
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
                        ("ask", Decision::Ask),
                        ("approve", Decision::None),
                        ("allow", Decision::None),
                    ],
                    reasons: &["reason"],
                },
            ),
            answer_row(
                &["PermissionRequest"],
                "hookSpecificOutput.decision.behavior",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("allow", Decision::Allow)],
                    reasons: &["hookSpecificOutput.decision.message"],
                },
            ),
            answer_row(
                &["PermissionRequest"],
                "hookSpecificOutput.decision.updatedInput",
                AnswerMeaning::Input(InputChange::Replace),
            ),
            answer_row(
                &[
                    "SessionStart",
                    "SubagentStart",
                    "UserPromptSubmit",
                    "PostToolUse",
                    "PostToolUseFailure",
                    "PostToolBatch",
                ],
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

fn read_switches(reader: &mut ConfigReader<'_>, root: &ObjectFields<'_>) {
    if let Some(is_disabled) = reader.read_bool(root, "disableAllHooks") {
        let at = root.get("disableAllHooks").map_or(root.offset, |node| node.offset);
        let origin = reader.locate_offset(at);
        reader.switches.disable_all = Some(DisableSwitch { written: "disableAllHooks", is_disabled, origin });
    }
}
