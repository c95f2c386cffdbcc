//! Whether a hook reacts to an event.

use super::prepare::roots;
use super::{Engine, MAX_DEPTH};
use crate::contract::{Reacts, Scene};
use crate::event::Event;
use crate::hook::{Action, Condition, Hook};
use crate::matcher::PermissionRule;

/// What a hook makes of an event, as far as that can be known without running anything.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// It is for another event.
    OtherEvent,
    /// It is for this event and looks for something else.
    NoMatch,
    /// It matches and does not run; the text says why.
    Skip(String),
    /// It matches and cannot run, which is a failure of the hook; the text says why.
    Withhold(String),
    /// It runs (if its shell condition, where it has one, holds).
    Fire,
}

impl Engine {
    /// What the hook makes of the event here: hooks fired by hooks go only so deep.
    pub(super) fn select(&self, hook: &Hook, event: &Event, scene: &Scene<'_>) -> Selection {
        match select(hook, event, scene) {
            Selection::Fire if self.is_too_deep() => {
                Selection::Withhold(format!("hooks fired by hooks stop at depth {MAX_DEPTH}"))
            }
            selection => selection,
        }
    }
}

fn select(hook: &Hook, event: &Event, scene: &Scene<'_>) -> Selection {
    match reacts(hook, event) {
        Reacts::No => return Selection::OtherEvent,
        Reacts::Not(_) => return Selection::NoMatch,
        Reacts::Yes => {}
    }
    if let Some(why) = hook.disabled.as_ref().filter(|_| hook.withheld || hook.is_left_out) {
        return Selection::Skip(why.clone());
    }
    if (hook.contract.subject)(event).is_some_and(|subject| !hook.matcher.matches(&subject)) {
        return Selection::NoMatch;
    }
    if let Some(Condition::Rule(rule)) = &hook.condition
        && !is_covered(hook, rule, event, scene)
    {
        return Selection::NoMatch;
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

/// Whether the event is a tool call that falls under the hook's rule. Where its contract has no rules, none holds.
pub(super) fn is_covered(hook: &Hook, rule: &PermissionRule, event: &Event, scene: &Scene<'_>) -> bool {
    let tool = event.tool.as_ref().filter(|_| (hook.contract.takes_rules)(&event.name));
    tool.is_some_and(|tool| rule.covers(tool, roots(event, scene)))
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
