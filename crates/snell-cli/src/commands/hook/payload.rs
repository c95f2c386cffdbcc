//! The payload on standard input. A payload that is only partly readable is still judged and answered.

use std::io::{self, ErrorKind, IsTerminal, Read};

use anyhow::bail;
use serde_json::{Map, Value};
use snell::{AgentProduct, EventError, JsonError, parse_payload_object};

use crate::commands::run::MAX_PAYLOAD_BYTES;
use crate::handlers::DecodeProblem;
use crate::payload::json_depth::{drop_deep_values, drop_long_members};
use crate::payload::salvage::{MAX_SALVAGE_BYTES, salvage_fields};
use crate::process::stdin::wait_for_stdin;

/// This many bytes beyond the limit are read and discarded: an agent that cannot write its whole payload may not read the answer
/// either.
const MAX_DISCARDED_BYTES: u64 = 1 << 30;

/// The event's name if only the session can be read.
const UNREADABLE_EVENT_NAME: &str = "Unreadable";

/// The fields of a payload.
#[derive(Debug)]
pub(super) struct HookPayload {
    pub(super) fields: Map<String, Value>,
    /// The event's name, if the fields have none.
    pub(super) event_name: Option<&'static str>,
    /// Why fields are missing.
    pub(super) problem: Option<DecodeProblem>,
}

/// Reads the payload on standard input.
pub(super) fn read_payload() -> anyhow::Result<HookPayload> {
    let mut bytes = Vec::new();
    let mut stdin = BlockingStdin(io::stdin().lock());
    if !stdin.0.is_terminal() {
        let mut within = (&mut stdin).take(MAX_PAYLOAD_BYTES + 1);
        if let Err(error) = within.read_to_end(&mut bytes) {
            return salvage_payload(&bytes, format!("stdin ended too early ({error})"));
        }
    }
    if bytes.len() as u64 > MAX_PAYLOAD_BYTES {
        bytes.truncate(MAX_SALVAGE_BYTES);
        bytes.shrink_to_fit();
        // An error only means that the agent stopped writing.
        let _ = io::copy(&mut stdin.take(MAX_DISCARDED_BYTES), &mut io::sink());
        let why = format!("it is larger than {MAX_PAYLOAD_BYTES} bytes");
        return Ok(salvage_oversized_payload(&bytes, why));
    }
    parse_payload(&bytes)
}

/// Standard input. Reading waits for bytes even if the descriptor is non-blocking.
struct BlockingStdin(io::StdinLock<'static>);

impl Read for BlockingStdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => drop(wait_for_stdin(None)?),
                read => return read,
            }
        }
    }
}

fn parse_payload(bytes: &[u8]) -> anyhow::Result<HookPayload> {
    match parse_payload_object(bytes) {
        Ok(fields) => Ok(HookPayload { fields, event_name: None, problem: None }),
        // A value that is too deep or too long for Snell may be fine for the tool.
        Err(EventError::NotJson(error @ (JsonError::TooDeep | JsonError::TooManyValues))) => {
            parse_trimmed_payload(bytes, &error)
        }
        Err(error) => salvage_payload(bytes, describe_error(&error)),
    }
}

/// The payload without the parts that are too deep or too long.
fn parse_trimmed_payload(bytes: &[u8], excess: &JsonError) -> anyhow::Result<HookPayload> {
    match parse_payload_object(&drop_long_members(&drop_deep_values(bytes))) {
        Ok(fields) if AgentProduct::find_any_event_name(&fields).is_some() => {
            Ok(HookPayload { fields, event_name: None, problem: Some(DecodeProblem::truncated(excess.to_string())) })
        }
        Ok(_) => salvage_payload(bytes, describe_error(&EventError::NoName)),
        Err(EventError::NotJson(error @ JsonError::TooManyValues)) => {
            Ok(salvage_oversized_payload(bytes, error.to_string()))
        }
        Err(error) => salvage_payload(bytes, describe_error(&error)),
    }
}

/// The fields at the beginning. Without the event or the session, the payload cannot be used.
fn salvage_payload(bytes: &[u8], why: String) -> anyhow::Result<HookPayload> {
    let fields = salvage_fields(bytes);
    let event_name = AgentProduct::find_any_event_name(&fields).is_none().then_some(UNREADABLE_EVENT_NAME);
    if event_name.is_some() && !fields.contains_key("session_id") {
        bail!("cannot read the event, so it was not judged: {why}");
    }
    Ok(HookPayload { fields, event_name, problem: Some(DecodeProblem::unreadable(why)) })
}

/// The fields at the beginning of a payload that exceeds the size limit. If the event's name is not among them, it may be a
/// tool call, so it is judged as one.
fn salvage_oversized_payload(bytes: &[u8], why: String) -> HookPayload {
    let fields = salvage_fields(bytes);
    let event_name = AgentProduct::find_any_event_name(&fields).is_none().then_some("PreToolUse");
    HookPayload { fields, event_name, problem: Some(DecodeProblem::unreadable(why)) }
}

fn describe_error(error: &EventError) -> String {
    match error {
        EventError::NotJson(why) => format!("it is not valid JSON ({why})"),
        other => other.to_string(),
    }
}
