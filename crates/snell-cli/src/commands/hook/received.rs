//! What an agent has sent, read as far as it can be. What cannot be read is not passed over: an agent that is about to do
//! something is answered all the same.

use std::io::{self, ErrorKind, IsTerminal, Read};

use anyhow::bail;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde_json::{Map, Value};
use snell::{Event, EventError, EventName, Guest, JsonError};

use crate::commands::run::MAX_PAYLOAD_BYTES;
use crate::glimpse::{LOOKED_AT, glimpse};
use crate::handlers::Unread;
use crate::shallow::{shallow, thin};

/// So much more than can be read is taken from an agent and thrown away: one that cannot write all that it has to say may
/// not listen either.
const MAX_DISCARDED_BYTES: u64 = 1 << 30;

/// What an event is called of which only the session can be told.
const NAMELESS: &str = "Unreadable";

/// The event on standard input, and what could not be read of it.
pub(super) fn receive() -> anyhow::Result<(Event, Option<Unread>)> {
    let mut payload = Vec::new();
    let mut stdin = WaitingStdin(io::stdin().lock());
    if !stdin.0.is_terminal() {
        let mut within = (&mut stdin).take(MAX_PAYLOAD_BYTES + 1);
        if let Err(error) = within.read_to_end(&mut payload) {
            return beginning(&payload, format!("reading it from stdin ended too early ({error})"));
        }
    }
    if payload.len() as u64 > MAX_PAYLOAD_BYTES {
        payload.truncate(LOOKED_AT);
        payload.shrink_to_fit();
        // Whether it was worth the wait shows in whether the agent listens; there is nothing else to be done.
        let _ = io::copy(&mut stdin.take(MAX_DISCARDED_BYTES), &mut io::sink());
        let why = format!("it is larger than {MAX_PAYLOAD_BYTES} bytes");
        return beginning_of_call(&payload, why);
    }
    read(&payload)
}

/// Standard input. Reading from it waits for bytes, also if the descriptor is set not to block.
struct WaitingStdin(io::StdinLock<'static>);

impl Read for WaitingStdin {
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

fn read(payload: &[u8]) -> anyhow::Result<(Event, Option<Unread>)> {
    match Event::from_json(None, payload) {
        Ok((event, _)) => Ok((event, None)),
        // What is nested too deeply for us, or holds too many values, may not be for the tool.
        Err(EventError::NotJson(error @ (JsonError::TooDeep | JsonError::TooManyValues))) => {
            without_excess(payload, &error)
        }
        Err(error @ EventError::NoName) => {
            named_elsewhere(payload).map_or_else(|| Err(error.into()), |event| Ok((event, None)))
        }
        Err(error) => beginning(payload, in_words(&error)),
    }
}

/// The event without the parts of it that are too deep or too long.
fn without_excess(payload: &[u8], excess: &JsonError) -> anyhow::Result<(Event, Option<Unread>)> {
    match Event::from_json(None, &thin(&shallow(payload))) {
        Ok((event, _)) => Ok((event, Some(Unread::partly(excess.to_string())))),
        Err(EventError::NotJson(error @ JsonError::TooManyValues)) => beginning_of_call(payload, error.to_string()),
        Err(error) => beginning(payload, in_words(&error)),
    }
}

/// The event of an agent that says in other fields which one it is.
fn named_elsewhere(payload: &[u8]) -> Option<Event> {
    let fields: Map<String, Value> = serde_json::from_slice(payload).ok()?;
    let name = Guest::foreign_name(&fields)?.to_owned();
    Event::from_object(Some(&name), fields).ok().map(|(event, _)| event)
}

/// What can be made out at the beginning; if that is nothing, it cannot be read at all.
fn beginning(payload: &[u8], why: String) -> anyhow::Result<(Event, Option<Unread>)> {
    let fields = glimpse(payload);
    match named(fields) {
        Some(event) => Ok((event, Some(Unread::wholly(why)))),
        None => bail!("cannot read the event, and nothing in it says which one it is, so nothing was judged: {why}"),
    }
}

/// As [`beginning`], of a payload that is too large to be looked at as a whole. If its beginning does not name the event, it
/// can be any, so it counts as one that must be judged.
fn beginning_of_call(payload: &[u8], why: String) -> anyhow::Result<(Event, Option<Unread>)> {
    let fields = glimpse(payload);
    let name = (!fields.contains_key("hook_event_name")).then_some(EventName::PreToolUse.as_str());
    let (event, _) = Event::from_object(name, fields)?;
    Ok((event, Some(Unread::wholly(why))))
}

fn named(fields: Map<String, Value>) -> Option<Event> {
    let name = (!fields.contains_key("hook_event_name")).then_some(NAMELESS);
    if name.is_some() && !fields.contains_key("session_id") {
        return None;
    }
    Event::from_object(name, fields).ok().map(|(event, _)| event)
}

fn in_words(error: &EventError) -> String {
    match error {
        EventError::NotJson(why) => format!("it is not valid JSON ({why})"),
        other => other.to_string(),
    }
}
