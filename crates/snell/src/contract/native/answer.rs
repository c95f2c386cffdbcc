//! Reads the answer of a hook of a `snell.toml`.

use serde_json::Value;

use super::super::{
    build_failure_answer, build_failure_answer_with, build_text_answer, default_block_reason, nonblank_text,
    trim_stdout,
};
use crate::diagnostic::UserMessage;
use crate::event::{Event, EventName, parse_json};
use crate::hook::Hook;
use crate::outcome::{Outcome, RunEnd};
use crate::verdict::{Decision, HookAnswer, HookRunStatus};

/// The keys of a hook's answer.
const ANSWER_KEYS: &[&str] = &["decision", "reason", "tool_input", "tool_output", "context", "message"];

pub(super) fn read_answer(hook: &Hook, event: &Event, outcome: &Outcome) -> HookAnswer {
    let text = trim_stdout(outcome);
    let json = text.starts_with('{').then(|| parse_json(text).ok()).flatten();
    let answer = json.as_ref().map(|json| answer_from_json(hook, event, json));
    match (&outcome.end, answer) {
        (RunEnd::Exited(2), answer) => {
            let answer = answer.transpose().ok().flatten().unwrap_or_default();
            HookAnswer {
                status: Some(HookRunStatus::Blocked),
                decision: Decision::Deny,
                reason: answer
                    .reason
                    .or_else(|| nonblank_text(&outcome.stderr))
                    .or_else(|| Some(default_block_reason(hook))),
                tool_input: None,
                tool_output: None,
                ..answer
            }
        }
        // A "block" applies with any exit code. Other answers need exit code 0.
        (RunEnd::Exited(code), Some(Ok(answer))) if *code == 0 || answer.decision == Decision::Deny => answer,
        (RunEnd::Exited(0), Some(Err(fault))) => answer_bad_output(hook, &fault),
        (RunEnd::Exited(0), None) if text.starts_with('{') => {
            answer_bad_output(hook, "its output starts with { but is not valid JSON")
        }
        (RunEnd::Exited(0), None) => build_text_answer(event, text),
        _ => build_failure_answer(hook, outcome),
    }
}

/// Invalid output is a failure of the hook.
fn answer_bad_output(hook: &Hook, fault: &str) -> HookAnswer {
    let text = format!("snell hook failed: \"{}\" gave an invalid answer: {fault}", hook.command_summary());
    build_failure_answer_with(hook, HookRunStatus::Failed, text)
}

fn answer_from_json(hook: &Hook, event: &Event, json: &Value) -> Result<HookAnswer, String> {
    let text = |key: &str| json.get(key).and_then(Value::as_str).and_then(nonblank_text);
    let decision = read_decision(json)?;
    for key in ["reason", "message", "context"] {
        let fits = |value: &Value| value.is_string() || value.is_null() || (key == "context" && value.is_array());
        if json.get(key).is_some_and(|value| !fits(value)) {
            return Err(format!("\"{key}\" must be a string"));
        }
    }
    let mut answer = HookAnswer {
        decision,
        warnings: warn_of_unknown_keys(hook, json),
        reason: text("reason"),
        messages: text("message").into_iter().collect(),
        ..HookAnswer::default()
    };
    match json.get("context") {
        Some(Value::Array(items)) => {
            answer.context.extend(items.iter().filter_map(Value::as_str).filter_map(nonblank_text));
        }
        _ => answer.context.extend(text("context")),
    }
    if decision == Decision::Deny {
        answer.status = Some(HookRunStatus::Blocked);
        answer.reason.get_or_insert_with(|| default_block_reason(hook));
    }
    add_changes(&mut answer, hook, event, json)?;
    Ok(answer)
}

fn read_decision(json: &Value) -> Result<Decision, String> {
    match json.get("decision") {
        None | Some(Value::Null) => Ok(Decision::None),
        Some(Value::String(word)) => match word.as_str() {
            "allow" => Ok(Decision::Allow),
            "ask" => Ok(Decision::Ask),
            "block" | "deny" => Ok(Decision::Deny),
            other => Err(format!("\"decision\" must be \"allow\", \"ask\" or \"block\", not \"{other}\"")),
        },
        Some(other) => Err(format!("\"decision\" must be \"allow\", \"ask\" or \"block\", not {other}")),
    }
}

fn warn_of_unknown_keys(hook: &Hook, json: &Value) -> Vec<String> {
    let keys = json.as_object().into_iter().flat_map(|object| object.keys());
    keys.filter(|key| !ANSWER_KEYS.contains(&key.as_str()))
        .map(|key| {
            let text = format!("\"{}\" answered with the unknown key \"{key}\"", hook.command_summary());
            UserMessage::new(text).with_suggestion(key, ANSWER_KEYS.iter().copied()).to_string()
        })
        .collect()
}

/// Adds the tool input or output that the hook changed, if it may change them.
fn add_changes(answer: &mut HookAnswer, hook: &Hook, event: &Event, json: &Value) -> Result<(), String> {
    if json.get("tool_input").is_some_and(|value| !(value.is_object() || value.is_null())) {
        return Err("\"tool_input\" must be an object".into());
    }
    let input = json.get("tool_input").filter(|value| value.is_object());
    let output = json.get("tool_output").filter(|value| !value.is_null());
    if (input.is_some() || output.is_some()) && !hook.may_modify {
        let warning =
            format!("\"{}\" changed the call without modify = true (the change is ignored)", hook.command_summary());
        answer.warnings.push(warning);
        return Ok(());
    }
    match event.name {
        EventName::PreToolUse | EventName::PermissionRequest => answer.tool_input = input.cloned(),
        EventName::PostToolUse => answer.tool_output = output.cloned(),
        _ => {}
    }
    Ok(())
}
