//! Whether a hook reacts to an event.

use super::prepare::roots;
use crate::contract::{Reacts, Scene};
use crate::event::Event;
use crate::hook::{Action, Condition, Hook};

/// What a hook makes of an event, as far as that can be known without running anything.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// It is for another event.
    OtherEvent,
    /// It is for this event and looks for something else.
    NoMatch,
    /// It matches and does not run; the text says why.
    Skip(String),
    /// It runs (if its shell condition, where it has one, holds).
    Fire,
}

pub(super) fn select(hook: &Hook, event: &Event, scene: &Scene<'_>) -> Selection {
    match reacts(hook, event) {
        Reacts::No => return Selection::OtherEvent,
        Reacts::Not(_) => return Selection::NoMatch,
        Reacts::Yes => {}
    }
    if (hook.contract.subject)(event).is_some_and(|subject| !hook.matcher.matches(&subject)) {
        return Selection::NoMatch;
    }
    if let Some(Condition::Rule(rule)) = &hook.condition {
        let covered = event
            .tool
            .as_ref()
            .is_some_and(|tool| rule.covers(tool, roots(event, scene)));
        if !covered {
            return Selection::NoMatch;
        }
    }
    if let Some(why) = &hook.disabled {
        return Selection::Skip(why.clone());
    }
    match &hook.action {
        Action::Http(call) => match &call.refused {
            Some(why) => Selection::Skip(why.clone()),
            None => Selection::Fire,
        },
        _ => Selection::Fire,
    }
}

/// Whether any of the events it was written for is this one, in its contract's eyes.
pub(super) fn reacts(hook: &Hook, event: &Event) -> Reacts {
    let mut answer = Reacts::No;
    for written in &hook.events {
        match (hook.contract.reacts)(written, event) {
            Reacts::Yes => return Reacts::Yes,
            Reacts::No => {}
            not => answer = not,
        }
    }
    answer
}
