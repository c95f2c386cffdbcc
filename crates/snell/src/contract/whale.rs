//! whale: an array of hooks, the event as JSON on standard input, an answer as JSON on standard output.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{
    AfterBlock, BASE_CONTRACT, BaseDirectory, ChangePolicy, Contract, ContractReader, Envelope, ExecutionMode,
    FailureDisplay, HookContext, HookFileLocation, build_failure_answer, build_failure_answer_with,
    default_block_reason, react_to_name_or_failed_tool, to_json_line, trim_stdout,
};
use crate::config::{ConfigReader, EventVocabulary, MAX_TIMEOUT, SpannedNode, TimeoutField};
use crate::diagnostic::UserMessage;
use crate::event::{Event, EventName, parse_json};
use crate::hook::{Hook, HookAction};
use crate::matcher::Matcher;
use crate::outcome::{Outcome, RunEnd};
use crate::verdict::{Decision, HookAnswer, HookRunStatus};

const DEFAULT_TIMEOUT: Duration = Duration::from_millis(10_000);

pub(super) static WHALE: Contract = Contract {
    name: "whale",
    lane: "whale",
    locations: &[
        HookFileLocation::file(BaseDirectory::Project, ".whale/hooks.json"),
        HookFileLocation::file(BaseDirectory::Home, ".swagmanager/hooks.json"),
    ],
    execution_mode: |event| {
        if event.is_tool_event() { ExecutionMode::InOrder } else { ExecutionMode::Together { budget: None } }
    },
    after_block: AfterBlock::Stop,
    changes: ChangePolicy::First,
    failure_display: FailureDisplay::Warning,
    can_block: |event| matches!(event, EventName::PreToolUse | EventName::PermissionRequest),
    // `AfterTool` has a field for the success of the tool.
    find_reaction: react_to_name_or_failed_tool,
    reader: ContractReader::File(read_hook_file),
    build_envelope,
    read_answer,
    ..BASE_CONTRACT
};

/// The name that whale gives an event.
fn whale_event_name(event: &EventName) -> &str {
    match event {
        EventName::PreToolUse => "BeforeTool",
        EventName::PostToolUse | EventName::PostToolUseFailure => "AfterTool",
        other => other.as_str(),
    }
}

fn read_hook_file(reader: &mut ConfigReader<'_>, node: &SpannedNode) {
    let Some(entries) = reader.read_array(node, "a whale hook file") else {
        return;
    };
    for entry in entries {
        read_entry(reader, entry);
    }
}

fn read_entry(reader: &mut ConfigReader<'_>, node: &SpannedNode) {
    let keys = ["event", "command", "pattern", "timeout", "allowModify"];
    let Some(fields) = reader.read_table(node, "a hook", &keys) else {
        return;
    };
    let Some(written) = reader.read_required_text(&fields, "event", "a hook") else {
        return;
    };
    let at = fields.get("event").map_or(fields.offset, |node| node.offset);
    let event = reader.read_event_name(at, &written, EventVocabulary::Closed);
    let command = reader.read_required_text(&fields, "command", "a hook");
    let (Some(event), Some(command)) = (event, command) else {
        return;
    };
    let matcher = match fields.get("pattern") {
        None => Matcher::match_all(None),
        Some(node) => {
            let Some(pattern) = reader.expect_text(node, "pattern") else {
                return;
            };
            if pattern.contains('|') || pattern.contains(".*") {
                let message = UserMessage::new(format!("\"{pattern}\" is one wildcard pattern in this format"));
                reader.add_warning(node.offset, message.with_hint("use * and ?, and write one entry per name"));
            }
            if event.is_tool_event() {
                Matcher::from_glob(pattern)
            } else {
                reader.add_warning(node.offset, format!("\"pattern\" has no effect on {written}"));
                Matcher::match_all(None)
            }
        }
    };
    let timeout = reader.read_timeout(&fields, &TimeoutField::milliseconds(DEFAULT_TIMEOUT, MAX_TIMEOUT));
    let may_modify = reader.read_bool(&fields, "allowModify").unwrap_or(false);
    let origin = reader.locate_offset(fields.offset);
    reader.hooks.push(Hook {
        matcher,
        may_modify,
        ..Hook::new(&WHALE, event, HookAction::posix_shell(command), timeout, origin)
    });
}

fn build_envelope(_hook: &Hook, event: &Event, _scene: &HookContext<'_>) -> Envelope {
    Envelope { stdin: Some(to_json_line(&build_payload(event)).into()), ..Envelope::default() }
}

fn build_payload(event: &Event) -> Value {
    let mut object = Map::new();
    object.insert("event".into(), whale_event_name(&event.name).into());
    if event.name.is_tool_event() {
        for key in ["tool_name", "tool_input"] {
            object.extend(event.wire_field(key).map(|value| (key.to_owned(), value)));
        }
        if whale_event_name(&event.name) == "AfterTool" {
            let output = event.wire_field("tool_response").or_else(|| event.wire_field("error"));
            object.extend(output.map(|value| ("tool_output".to_owned(), into_text(value).into())));
            object.insert("tool_success".into(), (!event.has_tool_failed()).into());
        }
    } else {
        for key in ["message", "title", "notification_type", "source", "reason", "prompt"] {
            object.extend(event.wire_field(key).map(|value| (key.to_owned(), value)));
        }
    }
    object.extend(event.wire_field("session_id").map(|value| ("session_id".to_owned(), value)));
    Value::Object(object)
}

/// In whale an output is a string. Other values are sent as their JSON.
fn into_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn read_answer(hook: &Hook, event: &Event, outcome: &Outcome) -> HookAnswer {
    if outcome.end != RunEnd::Exited(0) {
        return build_failure_answer(hook, outcome);
    }
    let text = trim_stdout(outcome);
    let fields = match parse_json(text) {
        Ok(Value::Object(fields)) => fields,
        // Plain text is allowed. Invalid JSON is a failure.
        Err(fault) if text.starts_with('{') => {
            let text =
                format!("whale hook failed: the answer of \"{}\" cannot be read: {fault}", hook.command_summary());
            return build_failure_answer_with(hook, HookRunStatus::Failed, text);
        }
        _ => return HookAnswer::default(),
    };
    let mut answer = HookAnswer::default();
    if fields.get("allow").is_some_and(|allow| !(allow.is_boolean() || allow.is_null())) {
        let command = hook.command_summary();
        answer.warnings.push(format!("\"allow\" of \"{command}\" must be true or false (it is ignored)"));
    }
    if fields.get("allow") == Some(&Value::Bool(false)) {
        let message = fields.get("message").and_then(Value::as_str).filter(|message| !message.is_empty());
        answer.status = Some(HookRunStatus::Blocked);
        answer.decision = Decision::Deny;
        answer.reason = Some(message.map_or_else(|| default_block_reason(hook), str::to_owned));
    }
    let input = fields.get("modified_input").filter(|value| value.is_object());
    let output = fields.get("modified_output").filter(|value| value.is_string());
    match whale_event_name(&event.name) {
        "BeforeTool" if answer.decision != Decision::Deny => answer.tool_input = input.cloned(),
        // The tool has already run, so `allow` does not matter here.
        "AfterTool" => answer.tool_output = output.cloned(),
        _ => {}
    }
    for (key, unfit) in [("modified_input", input.is_none()), ("modified_output", output.is_none())] {
        if unfit && fields.get(key).is_some_and(|value| !value.is_null()) {
            let kind = if key == "modified_input" { "an object" } else { "a string" };
            answer.warnings.push(format!("\"{key}\" of \"{}\" must be {kind} (it is ignored)", hook.command_summary()));
        }
    }
    let changes = answer.tool_input.is_some() || answer.tool_output.is_some();
    if changes && !hook.may_modify {
        answer.tool_input = None;
        answer.tool_output = None;
        answer.warnings.push(format!(
            "\"{}\" changed the call without \"allowModify\": true (the change is ignored)",
            hook.command_summary()
        ));
    }
    answer
}
