//! Gemini CLI: groups in `settings.json`, timeouts in milliseconds. Its code reads exit codes otherwise than its
//! documentation: every code above 1 denies, if the hook wrote something.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules,
    EventFilter, ExitMeaning, InputChange, JsonExits, MatcherGrammar, PayloadTable, PayloadValue, TextMeaning,
    answer_row, payload_field,
};
use super::{BaseDirectory, Contract, ContractReader, DedupPolicy, ExecutionMode, HookFileLocation};
use crate::config::{ConfigReader, DisableSwitch, MAX_TIMEOUT, ObjectFields, TimeoutField};
use crate::event::EventName;
use crate::verdict::Decision;

pub(super) static GEMINI: Contract = Contract {
    name: "gemini",
    lane: "gemini",
    locations: &[
        HookFileLocation::file(BaseDirectory::Project, ".gemini/settings.json"),
        HookFileLocation::file(BaseDirectory::Home, ".gemini/settings.json"),
    ],
    read_switches,
    execution_mode: |_| ExecutionMode::Together { budget: None },
    dedup: DedupPolicy::RunOnce,
    project_variable: Some("GEMINI_PROJECT_DIR"),
    can_block: |event| matches!(event, EventName::PreToolUse | EventName::UserPromptSubmit | EventName::Stop),
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "gemini",
    entry: EntryRules {
        keys: &["type", "command", "name", "timeout", "description", "env"],
        timeout: |_| TimeoutField::milliseconds(Duration::from_secs(60), MAX_TIMEOUT),
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::ExpressionOrName,
    payload: PayloadTable {
        has_claude_fields: |_| true,
        fields: &[
            payload_field(EventFilter::All, "timestamp", PayloadValue::Time),
            payload_field(EventFilter::Only(&["AfterTool"]), "tool_response", PayloadValue::Object),
            payload_field(EventFilter::Only(&["AfterTool"]), "tool_response.llmContent", PayloadValue::ToolOutputText),
            payload_field(
                EventFilter::Only(&["AfterTool"]),
                "tool_response.returnDisplay",
                PayloadValue::ToolOutputText,
            ),
            payload_field(EventFilter::Only(&["AfterTool"]), "tool_response.error", PayloadValue::ToolError),
            payload_field(EventFilter::Only(&["AfterAgent"]), "prompt", PayloadValue::FieldOrEmpty("prompt")),
            payload_field(
                EventFilter::Only(&["AfterAgent"]),
                "prompt_response",
                PayloadValue::FieldOrEmpty("last_assistant_message"),
            ),
        ],
    },
    variables: &[
        ("GEMINI_PROJECT_DIR", PayloadValue::Project),
        ("GEMINI_CWD", PayloadValue::Cwd),
        ("GEMINI_SESSION_ID", PayloadValue::Field("session_id")),
        ("CLAUDE_PROJECT_DIR", PayloadValue::Project),
    ],
    answer: AnswerTable {
        json: JsonExits::Any,
        reads_stderr: true,
        exit_code: |_, code| if code >= 2 { ExitMeaning::DenyWithText } else { ExitMeaning::Failure },
        text: |_| TextMeaning::Message,
        rows: &[
            answer_row(
                &[],
                "decision",
                AnswerMeaning::Decision {
                    // "allow" does not skip the question to the user.
                    words: &[
                        ("deny", Decision::Deny),
                        ("block", Decision::Deny),
                        ("ask", Decision::Ask),
                        ("allow", Decision::None),
                        ("approve", Decision::None),
                    ],
                    reasons: &["reason"],
                },
            ),
            answer_row(&["PreToolUse"], "hookSpecificOutput.tool_input", AnswerMeaning::Input(InputChange::Merge)),
            answer_row(
                &["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"],
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

/// `hooksConfig`: `enabled`, and the names of disabled hooks.
fn read_switches(reader: &mut ConfigReader<'_>, root: &ObjectFields<'_>) {
    let Some(switches) = root.get("hooksConfig").and_then(|node| reader.read_object(node, "\"hooksConfig\"")) else {
        return;
    };
    if let Some(enabled) = reader.read_bool(&switches, "enabled") {
        let at = switches.get("enabled").map_or(switches.offset, |node| node.offset);
        let origin = reader.locate_offset(at);
        let switch = DisableSwitch { written: "hooksConfig.enabled = false", is_disabled: !enabled, origin };
        reader.switches.disable_all = Some(switch);
    }
    if switches.contains_key("disabled") {
        reader.switches.disabled_names = reader.read_texts(&switches, "disabled");
    }
}
