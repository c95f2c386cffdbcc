//! The flat specification ("microai"): one command per entry, variables in the environment, a failure may block.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::envelope::EnvelopeBuilder;
use super::settings_json::HookEventKey;
use super::{
    AfterBlock, BASE_CONTRACT, BaseDirectory, Contract, ContractReader, EntryShape, Envelope, ExecutionMode,
    FailureDisplay, HookContext, HookFileLocation, build_failure_answer, build_text_answer, nonblank_text,
    react_to_name_or_failed_tool,
};
use crate::config::{ConfigReader, MAX_TIMEOUT, NodeValue, ObjectFields, SpannedNode, TimeoutField};
use crate::diagnostic::UserMessage;
use crate::event::{Event, EventName};
use crate::hook::{FailurePolicy, Hook, HookAction, HookCondition};
use crate::matcher::Matcher;
use crate::outcome::{Outcome, RunEnd};
use crate::verdict::{Decision, HookAnswer, HookRunStatus};

const DEFAULT_TIMEOUT: Duration = Duration::from_millis(5000);

const KEYS: &[&str] = &["matcher", "command", "timeout", "continueOnFailure", "condition"];

/// All variables of the specification. Those that it does not list for an event are removed there, so that a hook never
/// reads a value from another program.
const VARIABLES: &[&str] = &[
    "TOOL_NAME",
    "INPUT",
    "OUTPUT",
    "PROMPT",
    "TIMESTAMP",
    "SESSION_ID",
    "USER_NAME",
    "PROJECT_ROOT",
    "PLATFORM",
    "AGENT_NAME",
    "INPUT_FILE",
    "OUTPUT_FILE",
    "PROMPT_FILE",
];

pub(super) static MICROAI: Contract = Contract {
    name: "microai",
    lane: "microai",
    locations: &[
        HookFileLocation::file(BaseDirectory::Project, ".microai/settings.json"),
        HookFileLocation::file(BaseDirectory::Project, ".microai/settings.local.json"),
    ],
    shapes: &[EntryShape::Flat],
    execution_mode: |event| match event {
        EventName::PostToolUse | EventName::PostToolUseFailure => ExecutionMode::Unattended,
        _ => ExecutionMode::InOrder,
    },
    after_block: AfterBlock::Stop,
    project_variable: Some("PROJECT_ROOT"),
    failure_display: FailureDisplay::Warning,
    can_block: |event| *event == EventName::PreToolUse,
    // "After tool execution", however that went.
    find_reaction: react_to_name_or_failed_tool,
    reader: ContractReader::Entry(read_entry),
    build_envelope,
    read_answer,
    ..BASE_CONTRACT
};

fn read_entry(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, node: &SpannedNode) {
    let what = format!("an entry for \"{}\"", key.written);
    let Some(fields) = reader.read_table(node, &what, KEYS) else {
        return;
    };
    let Some(command) = reader.read_required_text(&fields, "command", &what) else {
        return;
    };
    let Some(matcher) = read_matcher(reader, key, &fields) else {
        return;
    };
    let condition = reader.read_condition(&fields, "condition").map(HookCondition::Shell);
    let on_failure = read_continue_on_failure(reader, key, &fields);
    let timeout = reader.read_timeout(&fields, &TimeoutField::milliseconds(DEFAULT_TIMEOUT, MAX_TIMEOUT));
    let origin = reader.locate_offset(fields.offset);
    reader.hooks.push(Hook {
        matcher,
        condition,
        on_failure,
        ..Hook::new(&MICROAI, key.event.clone(), HookAction::posix_shell(command), timeout, origin)
    });
}

/// The entry's matcher, or `None` if the entry is ignored.
fn read_matcher(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, fields: &ObjectFields<'_>) -> Option<Matcher> {
    let Some(node) = fields.get("matcher") else {
        return Some(Matcher::match_all(None));
    };
    let written = reader.expect_text(node, "matcher")?;
    if !key.event.is_tool_event() {
        reader.add_warning(node.offset, format!("\"matcher\" has no effect on {}", key.event));
        return Some(Matcher::match_all(None));
    }
    let tool = written.split('(').next().unwrap_or_default().trim();
    if tool.contains('|') {
        reader.add_warning(
            node.offset,
            UserMessage::new(format!("\"{tool}\" is one tool name in this format, not a list"))
                .with_hint("write one entry per tool"),
        );
    } else if tool != "*" && tool.contains(['*', '?']) {
        reader.add_warning(
            node.offset,
            UserMessage::new(format!("\"{tool}\" is one tool name in this format, not a pattern"))
                .with_hint("write \"*\" alone for every tool"),
        );
    }
    Matcher::from_tool_pattern(written)
        .map_err(|fault| {
            let message = fault.map_text(|text| format!("\"matcher\" {text} (the entry is ignored)"));
            reader.add_error(node.offset, message);
        })
        .ok()
}

/// An invalid value is reported and read as the strictest one.
fn read_continue_on_failure(
    reader: &mut ConfigReader<'_>,
    key: &HookEventKey<'_>,
    fields: &ObjectFields<'_>,
) -> FailurePolicy {
    let Some(node) = fields.get("continueOnFailure") else {
        return FailurePolicy::Continue;
    };
    match node.value {
        NodeValue::Bool(true) => return FailurePolicy::Continue,
        NodeValue::Bool(false) => {}
        _ => {
            let kind = node.kind_name();
            reader.add_error(
                node.offset,
                format!("\"continueOnFailure\" must be true or false, not {kind} (using false)"),
            );
        }
    }
    if !(MICROAI.can_block)(&key.event) {
        reader.add_warning(node.offset, format!("a failure cannot block {}, only PreToolUse", key.event));
    }
    FailurePolicy::Block
}

fn build_envelope(_hook: &Hook, event: &Event, scene: &HookContext<'_>) -> Envelope {
    let made = EnvelopeBuilder::default()
        .without_vars(VARIABLES)
        .set_var("TIMESTAMP", format_to_second(scene.now).as_str())
        .set_var("SESSION_ID", event.session_id.as_deref());
    let made = match &event.name {
        name if name.is_tool_event() => add_tool_variables(made, event),
        EventName::UserPromptSubmit => made
            .set_or_spill("PROMPT", event.prompt.as_deref().unwrap_or_default())
            .set_var("USER_NAME", event.user_name.as_deref()),
        _ => made
            .set_path("PROJECT_ROOT", scene.project)
            .set_var("PLATFORM", event.platform.as_deref())
            .set_var("AGENT_NAME", event.agent_name.as_deref()),
    };
    made.into_envelope(None)
}

fn add_tool_variables(made: EnvelopeBuilder, event: &Event) -> EnvelopeBuilder {
    let tool = event.tool.clone().unwrap_or_default();
    let input = tool.input.unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    let made = made.set_var("TOOL_NAME", tool.name.as_str()).set_or_spill("INPUT", input.to_string().as_str());
    match event.name {
        EventName::PostToolUse | EventName::PostToolUseFailure => {
            let output = tool.output.or_else(|| event.wire_field("error")).unwrap_or_default();
            made.set_or_spill("OUTPUT", output.to_string().as_str())
        }
        _ => made,
    }
}

/// `2025-12-31T10:30:00Z`.
fn format_to_second(now: Timestamp) -> String {
    Timestamp::from_second(now.as_second()).unwrap_or(now).to_string()
}

fn read_answer(hook: &Hook, event: &Event, outcome: &Outcome) -> HookAnswer {
    if outcome.is_success() {
        return build_text_answer(event, &outcome.stdout);
    }
    let mut answer = build_failure_answer(hook, outcome);
    if answer.decision == Decision::Deny && event.name == EventName::PreToolUse {
        if !outcome.has_timed_out() {
            answer.status = Some(HookRunStatus::Blocked);
        }
        answer.reason = Some(format!("Hook blocked: {}", format_block_reason(hook, outcome)));
    }
    answer
}

/// The hook's standard error, else its standard output, else how it ended.
fn format_block_reason(hook: &Hook, outcome: &Outcome) -> String {
    match outcome.end {
        RunEnd::TimedOut(_) => format!("\"{}\" {}", hook.command_summary(), outcome.describe_end()),
        _ => nonblank_text(&outcome.stderr)
            .or_else(|| nonblank_text(&outcome.stdout))
            .unwrap_or_else(|| format!("\"{}\" {}", hook.command_summary(), outcome.describe_end())),
    }
}
