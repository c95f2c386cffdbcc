//! What an agent has sent, read as far as it can be. What cannot be read is not passed over: an agent that is about to do
//! something is answered all the same.

use std::io::{self, ErrorKind, IsTerminal, Read};

use anyhow::bail;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::{Map, Value};
use snell::{Event, EventError, EventName, Guest, JsonError};

use crate::commands::run::MAX_PAYLOAD_BYTES;
use crate::handlers::DecodeProblem;
use crate::payload::json_depth::{drop_deep_values, drop_long_members};
use crate::payload::salvage::{MAX_SALVAGE_BYTES, salvage_fields};

/// So much more than can be read is taken from an agent and thrown away: one that cannot write all that it has to say may
/// not listen either.
const MAX_DISCARDED_BYTES: u64 = 1 << 30;

/// What an event is called of which only the session can be told.
const UNREADABLE_EVENT_NAME: &str = "Unreadable";

/// The event on standard input, and what could not be read of it.
pub(super) fn read_event_from_stdin() -> anyhow::Result<(Event, Option<DecodeProblem>)> {
    let mut payload = Vec::new();
    let mut stdin = BlockingStdin(io::stdin().lock());
    if !stdin.0.is_terminal() {
        let mut within = (&mut stdin).take(MAX_PAYLOAD_BYTES + 1);
        if let Err(error) = within.read_to_end(&mut payload) {
            return salvage_event(&payload, format!("reading it from stdin ended too early ({error})"));
        }
    }
    if payload.len() as u64 > MAX_PAYLOAD_BYTES {
        payload.truncate(MAX_SALVAGE_BYTES);
        payload.shrink_to_fit();
        // Whether it was worth the wait shows in whether the agent listens; there is nothing else to be done.
        let _ = io::copy(&mut stdin.take(MAX_DISCARDED_BYTES), &mut io::sink());
        let why = format!("it is larger than {MAX_PAYLOAD_BYTES} bytes");
        return salvage_oversized_event(&payload, why);
    }
    parse_payload(&payload)
}

/// Standard input. Reading from it waits for bytes, also if the descriptor is set not to block.
struct BlockingStdin(io::StdinLock<'static>);

impl Read for BlockingStdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => wait_for_input(&self.0)?,
                read => return read,
            }
        }
    }
}

fn wait_for_input(stdin: &io::StdinLock<'_>) -> io::Result<()> {
    let mut fds = [PollFd::new(stdin, PollFlags::IN)];
    match poll(&mut fds, None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn parse_payload(payload: &[u8]) -> anyhow::Result<(Event, Option<DecodeProblem>)> {
    match Event::from_json(None, payload) {
        Ok((event, _)) => Ok((event, None)),
        // What is nested too deeply for us, or holds too many values, may not be for the tool.
        Err(EventError::NotJson(error @ (JsonError::TooDeep | JsonError::TooManyValues))) => {
            parse_trimmed_payload(payload, &error)
        }
        Err(error @ EventError::NoName) => {
            parse_foreign_event(payload).map_or_else(|| Err(error.into()), |event| Ok((event, None)))
        }
        Err(error) => salvage_event(payload, describe_error(&error)),
    }
}

/// The event without the parts of it that are too deep or too long.
fn parse_trimmed_payload(payload: &[u8], excess: &JsonError) -> anyhow::Result<(Event, Option<DecodeProblem>)> {
    match Event::from_json(None, &drop_long_members(&drop_deep_values(payload))) {
        Ok((event, _)) => Ok((event, Some(DecodeProblem::truncated(excess.to_string())))),
        Err(EventError::NotJson(error @ JsonError::TooManyValues)) => {
            salvage_oversized_event(payload, error.to_string())
        }
        Err(error) => salvage_event(payload, describe_error(&error)),
    }
}

/// The event of an agent that says in other fields which one it is.
fn parse_foreign_event(payload: &[u8]) -> Option<Event> {
    let fields: Map<String, Value> = serde_json::from_slice(payload).ok()?;
    let name = Guest::find_fallback_event_name(&fields)?.to_owned();
    Event::from_object(Some(&name), fields).ok().map(|(event, _)| event)
}

/// What can be made out at the beginning; if that is nothing, it cannot be read at all.
fn salvage_event(payload: &[u8], why: String) -> anyhow::Result<(Event, Option<DecodeProblem>)> {
    let fields = salvage_fields(payload);
    match event_from_fields(fields) {
        Some(event) => Ok((event, Some(DecodeProblem::unreadable(why)))),
        None => bail!("cannot read the event, and nothing in it says which one it is, so nothing was judged: {why}"),
    }
}

/// As [`beginning`], of a payload that is too large to be looked at as a whole. If its beginning does not name the event, it
/// can be any, so it counts as one that must be judged.
fn salvage_oversized_event(payload: &[u8], why: String) -> anyhow::Result<(Event, Option<DecodeProblem>)> {
    let fields = salvage_fields(payload);
    let name = (!fields.contains_key("hook_event_name")).then_some(EventName::PreToolUse.as_str());
    let (event, _) = Event::from_object(name, fields)?;
    Ok((event, Some(DecodeProblem::unreadable(why))))
}

fn event_from_fields(fields: Map<String, Value>) -> Option<Event> {
    let name = (!fields.contains_key("hook_event_name")).then_some(UNREADABLE_EVENT_NAME);
    if name.is_some() && !fields.contains_key("session_id") {
        return None;
    }
    Event::from_object(name, fields).ok().map(|(event, _)| event)
}

fn describe_error(error: &EventError) -> String {
    match error {
        EventError::NotJson(why) => format!("it is not valid JSON ({why})"),
        other => other.to_string(),
    }
}
