//! Whether a hook reacts to an event.

use super::prepare::build_rule_roots;
use super::{Engine, MAX_DEPTH};
use crate::contract::{EventReaction, HookContext, NATIVE};
use crate::event::{Event, ToolCall};
use crate::hook::{Hook, HookAction, HookCondition};
use crate::matcher::{MatchSubject, Matcher, PermissionRule};

/// Whether a hook runs for an event, without its shell condition.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HookSelection {
    /// It runs on another event.
    OtherEvent,
    /// It runs on this event, but its matcher does not match.
    NoMatch,
    /// It matches and does not run, for this reason.
    Skip(String),
    /// It matches and cannot run, for this reason. That is a failure of the hook.
    Withhold(String),
    /// It runs, if its shell condition is true.
    Fire,
}

impl Engine {
    /// Whether the hook runs for the event, within the depth limit.
    pub(super) fn select_hook(&self, hook: &Hook, event: &Event, scene: &HookContext<'_>) -> HookSelection {
        match select_by_match(hook, event, scene) {
            HookSelection::Fire if self.is_too_deep() => {
                HookSelection::Withhold(format!("hooks started other hooks more than {MAX_DEPTH} levels deep"))
            }
            selection => selection,
        }
    }
}

fn select_by_match(hook: &Hook, event: &Event, scene: &HookContext<'_>) -> HookSelection {
    // Hook files of other formats have no such events.
    if event.name.is_derived() && !std::ptr::eq(hook.contract, &NATIVE) {
        return HookSelection::OtherEvent;
    }
    match find_reaction(hook, event) {
        EventReaction::No => return HookSelection::OtherEvent,
        EventReaction::Excluded(_) => return HookSelection::NoMatch,
        EventReaction::Yes => {}
    }
    if let Some(why) = hook.disabled.as_ref().filter(|_| hook.is_untrusted || hook.is_excluded) {
        return HookSelection::Skip(why.clone());
    }
    if (hook.contract.build_subject)(hook, event).is_some_and(|subject| !hook.matcher.matches(&subject)) {
        return HookSelection::NoMatch;
    }
    if let Some(HookCondition::Rule(rule)) = &hook.condition
        && !is_covered_by_rule(hook, rule, event, scene)
    {
        return HookSelection::NoMatch;
    }
    if let Some(HookCondition::Command(pattern)) = &hook.condition
        && !is_covered_by_command_pattern(pattern, event)
    {
        return HookSelection::NoMatch;
    }
    if hook.filters.as_ref().is_some_and(|filters| !filters.matches(event, scene.filter_scene())) {
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

/// Whether the event is a tool call that the hook's rule covers. Without rules in its contract, it is not.
pub(super) fn is_covered_by_rule(hook: &Hook, rule: &PermissionRule, event: &Event, scene: &HookContext<'_>) -> bool {
    let tool = event.tool.as_ref().filter(|_| (hook.contract.accepts_rules)(&event.name));
    tool.is_some_and(|tool| rule.covers(tool, build_rule_roots(event, scene)))
}

/// Whether the event is a call of a shell tool whose command matches.
pub(super) fn is_covered_by_command_pattern(pattern: &Matcher, event: &Event) -> bool {
    let command = event.tool.as_ref().and_then(ToolCall::command);
    command.is_some_and(|command| pattern.matches(&MatchSubject::from_text("command", Some(&command))))
}

/// Whether the event is one of the hook's events, by its contract.
pub(super) fn find_reaction(hook: &Hook, event: &Event) -> EventReaction {
    let mut answer = EventReaction::No;
    for written in &hook.events {
        match (hook.contract.find_reaction)(hook, written, event) {
            EventReaction::Yes => return EventReaction::Yes,
            EventReaction::No => {}
            not => answer = not,
        }
    }
    answer
}
