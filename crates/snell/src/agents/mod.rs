//! Agents that call Snell as one of their own hooks: how each is recognised, and how a verdict is told to it.
//!
//! One file and one row per agent. What only one agent has (its vocabulary, the form of its answers) stays in its file.

mod claude;
mod fallback_decode;
mod unsupported;

use serde_json::{Map, Value};

use crate::event::Event;
use crate::verdict::Verdict;

/// Every agent that Snell can be a guest of. An agent whose payloads look like another's stands before it.
static GUESTS: &[&Guest] = &[&claude::GUEST];

/// An agent that calls Snell as one of its own hooks.
#[non_exhaustive]
pub struct Guest {
    /// What it is called in options and files: `claude`.
    pub name: &'static str,
    /// What it is called among people: `Claude Code`.
    pub title: &'static str,
    /// The contract of its own hook files, which it runs by itself.
    pub contract: &'static str,
    /// Its events that are known, by its own names and in the order of its own documentation.
    pub events: &'static [&'static str],
    /// Whether it sent this payload. That it was no stranger is known already.
    is_sender: fn(&CallerEvidence<'_>) -> bool,
    /// Whether there is more that shows it than the payload, so that a variable which another agent sets proves nothing.
    is_confirmed_by_env: fn(&CallerEvidence<'_>) -> bool,
    /// A verdict in its own words.
    encode_reply: fn(&Event, &Verdict) -> AgentReply,
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Guest {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// What is to be written to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentReply {
    /// One line for standard output, without its end; nothing where there is nothing to say.
    pub stdout: Option<String>,
    /// The exit code. It is 0 for every agent that reads its answers from standard output.
    pub exit_code: u8,
}

impl Guest {
    /// Every agent that Snell can be a guest of.
    pub fn all_guests() -> &'static [&'static Guest] {
        GUESTS
    }

    /// The agent of this name.
    pub fn find_by_name(name: &str) -> Option<&'static Guest> {
        GUESTS.iter().copied().find(|guest| guest.name == name)
    }

    /// The agent whose hook files nobody can borrow: the one that calls; where that is not known, one whose files every agent
    /// that may call runs by itself.
    pub(crate) fn non_borrowable_agent(caller: Option<&'static Guest>) -> Option<&'static Guest> {
        let first = GUESTS.first().copied();
        let of_all = first.filter(|first| GUESTS.iter().all(|guest| guest.contract == first.contract));
        caller.or(of_all)
    }

    /// The agent that sent this payload, as far as payload and environment tell.
    ///
    /// Several agents run the hook files of others, so what such a file says does not prove who calls: the payload does. A
    /// variable proves less, because whoever starts an agent may set it. Nothing is answered for an agent that Snell knows by
    /// its marks and cannot answer, and for one that it does not know: a verdict in the wrong words could be read as its
    /// opposite.
    pub fn identify_caller(
        payload: &Map<String, Value>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Option<&'static Guest> {
        let caller = CallerEvidence { payload, environment };
        if unsupported::identify_by_payload(&caller).is_some() {
            return None;
        }
        let guest = GUESTS.iter().copied().find(|guest| (guest.is_sender)(&caller))?;
        let is_it = (guest.is_confirmed_by_env)(&caller) || unsupported::identify_by_variable(&caller).is_none();
        is_it.then_some(guest)
    }

    /// The agent of this name, if that is what its hook file says: unless the payload has the marks of another that reads the
    /// same file. No variable speaks against it.
    pub fn find_registered(name: &str, payload: &Map<String, Value>) -> Option<&'static Guest> {
        let caller = CallerEvidence { payload, environment: &|_| None };
        Self::find_by_name(name).filter(|_| unsupported::identify_by_payload(&caller).is_none())
    }

    /// What an agent is called that Snell knows by its marks and cannot answer: `Cursor`.
    pub fn identify_unsupported(
        payload: &Map<String, Value>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Option<&'static str> {
        let caller = CallerEvidence { payload, environment };
        unsupported::identify_by_payload(&caller).or_else(|| unsupported::identify_by_variable(&caller))
    }

    /// A tool call that is about to happen, from the payload of an agent that cannot be answered: with the names that Claude
    /// Code has for all of this. Nothing if the payload does not say what is called, or what it is given.
    pub fn decode_fallback_call(payload: &Map<String, Value>) -> Option<Event> {
        fallback_decode::decode_tool_call(payload)
    }

    /// What such an agent calls an event, wherever its payload says so.
    pub fn find_fallback_event_name(payload: &Map<String, Value>) -> Option<&str> {
        fallback_decode::find_event_name(payload)
    }

    /// The verdict on an event as this agent expects it.
    ///
    /// The event is the one that the payload was read into: its [`Event::raw`] says under which name it came.
    pub fn encode_reply(&self, event: &Event, verdict: &Verdict) -> AgentReply {
        (self.encode_reply)(event, verdict)
    }
}

/// What is known of whoever calls.
struct CallerEvidence<'a> {
    payload: &'a Map<String, Value>,
    environment: &'a dyn Fn(&str) -> Option<String>,
}

impl CallerEvidence<'_> {
    /// A field of the payload, if it is a text that says something.
    fn payload_text(&self, key: &str) -> Option<&str> {
        self.payload.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    fn has_env_var(&self, name: &str) -> bool {
        (self.environment)(name).is_some_and(|value| !value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract;

    #[test]
    fn every_guest_has_its_own_name_and_a_contract() {
        for (index, guest) in GUESTS.iter().enumerate() {
            assert_eq!(Guest::find_by_name(guest.name), Some(*guest));
            assert!(GUESTS[..index].iter().all(|earlier| earlier.name != guest.name));
            assert!(contract::find_contract(guest.contract).is_some(), "{}", guest.name);
        }
        assert_eq!(Guest::find_by_name("nobody"), None);
    }
}
