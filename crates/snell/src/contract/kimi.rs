//! Kimi Code: a list of hooks in the user's `config.toml`. It takes no changed input.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules,
    EventFilter, ExitMeaning, FileLayout, MatcherGrammar, PayloadTable, PayloadValue, TextMeaning, TypeKey, answer_row,
    payload_field,
};
use super::{BaseDirectory, Contract, ContractReader, DedupPolicy, ExecutionMode, FileSyntax, HookFileLocation};
use crate::config::TimeoutField;
use crate::event::EventName;
use crate::verdict::Decision;

pub(super) static KIMI: Contract = Contract {
    name: "kimi",
    lane: "kimi",
    locations: &[HookFileLocation::file(BaseDirectory::Home, ".kimi-code/config.toml")],
    syntax: FileSyntax::Toml,
    execution_mode: |_| ExecutionMode::Together { budget: None },
    dedup: DedupPolicy::RunOnce,
    can_block,
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

fn can_block(event: &EventName) -> bool {
    matches!(event, EventName::PreToolUse | EventName::Stop | EventName::UserPromptSubmit)
}

const TOOL: EventFilter = EventFilter::Only(&["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"]);

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "kimi",
    layout: FileLayout::List("event"),
    entry: EntryRules {
        keys: &["event", "matcher", "command", "timeout"],
        type_key: TypeKey::Absent,
        timeout: |_| TimeoutField::seconds(Duration::from_secs(30), Duration::from_secs(600)),
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::Expression,
    payload: PayloadTable {
        has_claude_fields: |_| false,
        fields: &[
            payload_field(EventFilter::All, "hook_event_name", PayloadValue::Event),
            payload_field(EventFilter::All, "session_id", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::All, "cwd", PayloadValue::Cwd),
            payload_field(EventFilter::All, "client_type", PayloadValue::Word("kimi_code_cli")),
            payload_field(TOOL, "tool_name", PayloadValue::ToolName),
            payload_field(TOOL, "tool_input", PayloadValue::ToolInput),
            payload_field(TOOL, "tool_call_id", PayloadValue::Field("tool_use_id")),
            payload_field(EventFilter::Only(&["PostToolUse"]), "tool_output", PayloadValue::ToolOutputText),
            payload_field(EventFilter::Only(&["PostToolUseFailure"]), "error.message", PayloadValue::ToolOutputText),
            payload_field(EventFilter::Only(&["UserPromptSubmit"]), "prompt", PayloadValue::PromptParts),
            payload_field(EventFilter::Only(&["SessionStart"]), "source", PayloadValue::Field("source")),
            payload_field(EventFilter::Only(&["SessionEnd"]), "reason", PayloadValue::Field("reason")),
            payload_field(EventFilter::Only(&["Stop"]), "stop_hook_active", PayloadValue::Field("stop_hook_active")),
            payload_field(EventFilter::Only(&["Notification"]), "message", PayloadValue::Field("message")),
            payload_field(
                EventFilter::Only(&["SubagentStart", "SubagentStop"]),
                "agent_type",
                PayloadValue::Field("agent_type"),
            ),
            payload_field(EventFilter::Only(&["PreCompact", "PostCompact"]), "trigger", PayloadValue::Field("trigger")),
        ],
    },
    answer: AnswerTable {
        exit_code: |event, code| match code {
            2 if can_block(event) => ExitMeaning::Deny,
            _ => ExitMeaning::Failure,
        },
        text: |event| match event {
            EventName::UserPromptSubmit => TextMeaning::VerbatimContext,
            _ => TextMeaning::Nothing,
        },
        rows: &[answer_row(
            &["PreToolUse"],
            "hookSpecificOutput.permissionDecision",
            AnswerMeaning::Decision {
                words: &[("deny", Decision::Deny), ("allow", Decision::None)],
                reasons: &["hookSpecificOutput.permissionDecisionReason"],
            },
        )],
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};
