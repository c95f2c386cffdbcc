//! The stored data of a tool call: its summary and its duration.

use serde_json::Value;
use snell::{AgentProduct, Event, EventName, Timestamp};

use super::question_text;
use crate::db::open_calls::EndedCall;
use crate::db::rows::Rows;
use crate::db::workers::to_single_line;
use crate::error::Result;
use crate::record::text_limits::truncate_with_notice;

/// The longest summary.
const MAX_SUMMARY_CHARS: usize = 200;

/// Fields with the addressee of a message.
const ADDRESSEE_FIELDS: &[&str] =
    &["to", "recipient", "recipients", "channel", "channel_id", "chat_id", "email", "phone_number"];

/// Fields with the subject of a message or a task, the shortest first.
const SUBJECT_FIELDS: &[&str] = &["subject", "title", "description", "name", "message", "text", "prompt", "body"];

/// The longest stored error of a call, apart from its payload.
const MAX_ERROR_BYTES: usize = 8_000;

/// Fields with the error of a call.
const ERROR_FIELDS: &[&str] = &["error", "tool_response", "tool_output"];

/// The summary of a call, as one line. Secrets are masked already, because the event's are.
pub fn summarize_tool_call(product: &AgentProduct, event: &Event) -> Option<String> {
    let tool = event.tool.as_ref()?;
    if let Some(question) = question_text::extract_question(product, tool) {
        return Some(question);
    }
    let about = match tool.principal_argument().filter(|argument| !argument.trim().is_empty()) {
        Some(argument) => argument.into_owned(),
        None => summarize_message(tool.input.as_ref()?).or_else(|| summarize_whole_input(tool.input.as_ref()?))?,
    };
    let line = to_single_line(&about, MAX_SUMMARY_CHARS);
    (!line.is_empty()).then_some(line)
}

/// The addressee and the subject: enough for a mail, and for a sub-agent's task.
fn summarize_message(input: &Value) -> Option<String> {
    let first = |fields: &[&str]| fields.iter().find_map(|field| join_text(input.get(field)?));
    match (first(ADDRESSEE_FIELDS), first(SUBJECT_FIELDS)) {
        (Some(to), Some(subject)) => Some(format!("to {to}: {subject}")),
        (Some(to), None) => Some(format!("to {to}")),
        (None, subject) => subject,
    }
}

/// A string, or several strings as one.
fn join_text(value: &Value) -> Option<String> {
    let found = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(Value::as_str).collect::<Option<Vec<_>>>()?.join(", "),
        _ => return None,
    };
    Some(found).filter(|found| !found.trim().is_empty())
}

/// The whole input, for tools without a field that matters more.
fn summarize_whole_input(input: &Value) -> Option<String> {
    match input {
        Value::Null => None,
        Value::Object(fields) if fields.values().all(is_blank) => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

fn is_blank(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// The id of a call, if it has one.
pub(crate) fn get_tool_call_id(event: &Event) -> Option<&str> {
    let id = event.tool.as_ref()?.use_id.as_deref();
    id.filter(|id| !id.is_empty())
}

/// Why a call failed; an empty string if the agent gave no reason.
pub(super) fn extract_tool_error(event: &Event) -> Option<String> {
    let is_end = matches!(event.name, EventName::PostToolUse | EventName::PostToolUseFailure);
    if !is_end || !event.has_tool_failed() {
        return None;
    }
    let error = ERROR_FIELDS.iter().find_map(|field| event.raw.get(*field).filter(|error| !error.is_null()));
    let text = match error {
        None => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => match other.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => other.to_string(),
        },
    };
    Some(truncate_with_notice(text.trim(), MAX_ERROR_BYTES).into_owned())
}

/// The data of a call at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ToolCallEnd {
    /// The event that began it, if the call has no id.
    pub(super) began_by: Option<i64>,
    pub(super) took_us: Option<u64>,
}

/// Finds the start of a call that ends, and its duration: the agent's figure, else the time since the start.
pub(super) fn resolve_call_end(
    rows: &mut dyn Rows,
    event: &Event,
    (agent_id, conversation_id): (i64, Option<i64>),
    at: Timestamp,
) -> Result<ToolCallEnd> {
    let is_end = matches!(event.name, EventName::PostToolUse | EventName::PostToolUseFailure);
    let Some(conversation_id) = conversation_id.filter(|_| is_end) else {
        return Ok(ToolCallEnd { began_by: None, took_us: parse_reported_duration_us(event).filter(|_| is_end) });
    };
    let (began_by, began) = match (get_tool_call_id(event), event.tool_name()) {
        (Some(call), _) => (None, rows.find_tool_start(conversation_id, call, at)?),
        (None, Some(tool)) => {
            let input = event.raw.get("tool_input");
            rows.find_ended_call(&EndedCall { agent_id, conversation_id, tool, input, at })?.unzip()
        }
        (None, None) => (None, None),
    };
    let since = began.map(|began| at.as_microsecond() - began.as_microsecond());
    Ok(ToolCallEnd {
        began_by,
        took_us: parse_reported_duration_us(event).or_else(|| since.and_then(|us| u64::try_from(us).ok())),
    })
}

/// The duration of a call by the agent's own figure.
fn parse_reported_duration_us(event: &Event) -> Option<u64> {
    let ms = event.raw.get("duration_ms").and_then(Value::as_f64);
    ms.filter(|ms| *ms >= 0.0).map(|ms| (ms * 1000.0) as u64)
}
