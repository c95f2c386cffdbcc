//! Mistral Vibe: a list of named hooks in TOML. Only JSON denies; a failure does with `strict`.

use std::time::Duration;

use super::agent_file::{
    AGENT_CONTRACT, AgentFileFormat, AnswerMeaning, AnswerTable, BASE_ANSWER, BASE_ENTRY, BASE_FORMAT, EntryRules,
    EventFilter, FileLayout, InputChange, MatcherGrammar, PayloadTable, PayloadValue, TypeKey, answer_row,
    payload_field,
};
use super::{AfterBlock, BaseDirectory, Contract, ContractReader, FileSyntax, HookFileLocation};
use crate::config::{MAX_TIMEOUT, TimeoutField};
use crate::event::EventName;
use crate::verdict::Decision;

pub(super) static VIBE: Contract = Contract {
    name: "vibe",
    lane: "vibe",
    locations: &[
        HookFileLocation::file(BaseDirectory::Project, ".vibe/hooks.toml"),
        HookFileLocation::file(BaseDirectory::Home, ".vibe/hooks.toml"),
    ],
    syntax: FileSyntax::Toml,
    after_block: AfterBlock::Stop,
    can_block: |event| matches!(event, EventName::PreToolUse | EventName::Stop),
    reader: ContractReader::Agent(&FORMAT),
    ..AGENT_CONTRACT
};

const TOOL: EventFilter = EventFilter::Only(&["pre_tool", "post_tool"]);
const POST: EventFilter = EventFilter::Only(&["post_tool"]);

static FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "vibe",
    layout: FileLayout::List("type"),
    entry: EntryRules {
        keys: &["name", "type", "command", "match", "timeout", "strict", "description"],
        type_key: TypeKey::Absent,
        timeout: |_| TimeoutField::seconds(Duration::from_secs(60), MAX_TIMEOUT),
        fail_closed: Some("strict"),
        needs_name: true,
        ..BASE_ENTRY
    },
    matcher: MatcherGrammar::GlobOrMarkedExpression,
    payload: PayloadTable {
        has_claude_fields: |_| false,
        fields: &[
            payload_field(EventFilter::All, "session_id", PayloadValue::FieldOrEmpty("session_id")),
            payload_field(EventFilter::All, "transcript_path", PayloadValue::FieldOrEmpty("transcript_path")),
            payload_field(EventFilter::All, "cwd", PayloadValue::Cwd),
            payload_field(EventFilter::All, "parent_session_id", PayloadValue::FieldOrNull("parent_session_id")),
            payload_field(EventFilter::All, "hook_event_name", PayloadValue::Event),
            payload_field(TOOL, "tool_name", PayloadValue::ToolName),
            payload_field(TOOL, "tool_call_id", PayloadValue::FieldOrEmpty("tool_use_id")),
            payload_field(TOOL, "tool_input", PayloadValue::ToolInput),
            payload_field(POST, "tool_status", PayloadValue::ToolStatus("failure")),
            payload_field(POST, "tool_output", PayloadValue::ToolOutput),
            payload_field(POST, "tool_output_text", PayloadValue::ToolOutputText),
            payload_field(POST, "tool_error", PayloadValue::ToolError),
            payload_field(POST, "duration_ms", PayloadValue::Field("duration_ms")),
        ],
    },
    answer: AnswerTable {
        rows: &[
            answer_row(
                &[],
                "decision",
                AnswerMeaning::Decision {
                    words: &[("deny", Decision::Deny), ("allow", Decision::None)],
                    reasons: &["reason"],
                },
            ),
            answer_row(&["PreToolUse"], "hook_specific_output.tool_input", AnswerMeaning::Input(InputChange::Replace)),
            answer_row(
                &["PostToolUse", "PostToolUseFailure"],
                "hook_specific_output.additional_context",
                AnswerMeaning::Context,
            ),
            answer_row(&[], "system_message", AnswerMeaning::Message),
        ],
        ..BASE_ANSWER
    },
    ..BASE_FORMAT
};
