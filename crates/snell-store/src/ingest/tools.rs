//! What is kept of a tool's call: what it is about, and how long it took.

use serde_json::Value;
use snell::{Event, EventName, Timestamp};

use crate::error::Result;
use crate::rows::Rows;
use crate::workers::one_line;

/// How many characters are kept of what a call is about.
const MAX_SUMMARY_CHARS: usize = 200;

/// What a call is about, in one line. Secrets are masked already, because the event's are.
pub(crate) fn summary(event: &Event) -> Option<String> {
    let argument = event.tool.as_ref()?.principal_argument()?;
    let line = one_line(&argument, MAX_SUMMARY_CHARS);
    (!line.is_empty()).then_some(line)
}

/// How long a tool took that has ended: what its agent says, else since it was told that it begins.
pub(super) fn took_us(
    rows: &mut dyn Rows,
    event: &Event,
    conversation_id: Option<i64>,
    at: Timestamp,
) -> Result<Option<u64>> {
    if !matches!(event.name, EventName::PostToolUse | EventName::PostToolUseFailure) {
        return Ok(None);
    }
    let told = event.raw.get("duration_ms").and_then(Value::as_f64);
    if let Some(told) = told.filter(|told| *told >= 0.0) {
        return Ok(Some((told * 1000.0) as u64));
    }
    let call = event.tool.as_ref().and_then(|tool| tool.use_id.as_deref());
    let (Some(call), Some(conversation_id)) = (call.filter(|id| !id.is_empty()), conversation_id) else {
        return Ok(None);
    };
    let began = rows.tool_began(conversation_id, call, at)?;
    let took = began.map(|began| at.as_microsecond() - began.as_microsecond());
    Ok(took.and_then(|took| u64::try_from(took).ok()))
}
