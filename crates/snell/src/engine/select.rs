//! Whether a hook reacts to an event.

use super::prepare::build_rule_roots;
use super::{Engine, MAX_DEPTH};
use crate::contract::{EventReaction, HookContext};
use crate::event::Event;
use crate::hook::{Hook, HookAction, HookCondition};
use crate::matcher::PermissionRule;

/// What a hook makes of an event, as far as that can be known without running anything.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HookSelection {
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
    pub(super) fn select_hook(&self, hook: &Hook, event: &Event, scene: &HookContext<'_>) -> HookSelection {
        match select_by_match(hook, event, scene) {
            HookSelection::Fire if self.is_too_deep() => {
                HookSelection::Withhold(format!("hooks fired by hooks stop at depth {MAX_DEPTH}"))
            }
            selection => selection,
        }
    }
}

fn select_by_match(hook: &Hook, event: &Event, scene: &HookContext<'_>) -> HookSelection {
    match find_reaction(hook, event) {
        EventReaction::No => return HookSelection::OtherEvent,
        EventReaction::Excluded(_) => return HookSelection::NoMatch,
        EventReaction::Yes => {}
    }
    if let Some(why) = hook.disabled.as_ref().filter(|_| hook.is_untrusted || hook.is_excluded) {
        return HookSelection::Skip(why.clone());
    }
    if (hook.contract.build_subject)(event).is_some_and(|subject| !hook.matcher.matches(&subject)) {
        return HookSelection::NoMatch;
    }
    if let Some(HookCondition::Rule(rule)) = &hook.condition
        && !is_covered_by_rule(hook, rule, event, scene)
    {
        return HookSelection::NoMatch;
    }
    if let Some(why) = &hook.disabled {
        return HookSelection::Skip(why.clone());
    }
    match &hook.action {
        HookAction::Http(call) => match &call.refused {
            Some(why) => HookSelection::Skip(why.clone()),
            None => HookSelection::Fire,
        },
        _ => HookSelection::Fire,
    }
}

/// Whether the event is a tool call that falls under the hook's rule. Where its contract has no rules, none holds.
pub(super) fn is_covered_by_rule(hook: &Hook, rule: &PermissionRule, event: &Event, scene: &HookContext<'_>) -> bool {
    let tool = event.tool.as_ref().filter(|_| (hook.contract.accepts_rules)(&event.name));
    tool.is_some_and(|tool| rule.covers(tool, build_rule_roots(event, scene)))
}

/// Whether any of the events it was written for is this one, in its contract's eyes.
pub(super) fn find_reaction(hook: &Hook, event: &Event) -> EventReaction {
    let mut answer = EventReaction::No;
    for written in &hook.events {
        match (hook.contract.find_reaction)(written, event) {
            EventReaction::Yes => return EventReaction::Yes,
            EventReaction::No => {}
            not => answer = not,
        }
    }
    answer
}
