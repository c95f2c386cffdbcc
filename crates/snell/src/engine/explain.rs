//! Why each configured hook would or would not run for an event, without running anything.

use std::sync::Arc;

use super::Engine;
use super::fire::is_duplicate_hook;
use super::select::{HookSelection, find_reaction, is_covered_by_command_pattern, is_covered_by_rule};
use crate::contract::{EventReaction, HookContext};
use crate::event::Event;
use crate::hook::{Hook, HookCondition};

/// Whether one configured hook would run for an event, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HookExplanation {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Whether it would run.
    pub fires: bool,
    /// The reason, with the values that were compared.
    pub why: String,
}

impl Engine {
    /// Explains for every configured hook whether it would run for the event. It runs nothing.
    pub fn explain(&self, event: &Event) -> Vec<HookExplanation> {
        let scene = self.hook_context();
        let event = &self.with_absolute_cwd(event.clone());
        let mut explained: Vec<HookExplanation> = Vec::new();
        for hook in self.hooks() {
            let selection = self.select_hook(&hook, event, &scene);
            let twin = explained.iter().find(|earlier| earlier.fires && is_duplicate_hook(&earlier.hook, &hook));
            let (fires, why) = match (selection, twin) {
                (HookSelection::Fire, Some(twin)) => {
                    (false, format!("it is a duplicate of {}", twin.hook.origin.to_string_with_column()))
                }
                (HookSelection::Fire, None) => (true, explain_match(&hook, event, &scene)),
                (HookSelection::Skip(reason) | HookSelection::Withhold(reason), _) => (false, reason),
                (HookSelection::NoMatch | HookSelection::OtherEvent, _) => (false, explain_match(&hook, event, &scene)),
            };
            explained.push(HookExplanation { hook, fires, why });
        }
        explained
    }
}

/// The comparisons, in the order in which they happen.
fn explain_match(hook: &Hook, event: &Event, scene: &HookContext<'_>) -> String {
    match find_reaction(hook, event) {
        EventReaction::No => {
            let names: Vec<_> = hook.events.iter().map(|event| event.as_str()).collect();
            return format!("it runs on {}, not on {}", names.join(", "), event.name);
        }
        EventReaction::Excluded(reason) => return reason.to_owned(),
        EventReaction::Yes => {}
    }
    let subject = (hook.contract.build_subject)(hook, event);
    let mut parts = vec![match &subject {
        Some(subject) => hook.matcher.explain(subject),
        None => format!("it runs on every {}", event.name),
    }];
    let matched = subject.is_none_or(|subject| hook.matcher.matches(&subject));
    if let Some(filters) = hook.filters.as_ref().filter(|_| matched) {
        let scene = scene.filter_scene();
        parts.extend(filters.explain(event, scene));
        if !filters.matches(event, scene) {
            return parts.join("; ");
        }
    }
    match &hook.condition {
        Some(HookCondition::Rule(rule)) if matched => {
            let covered = is_covered_by_rule(hook, rule, event, scene);
            let verb = if covered { "covers" } else { "does not cover" };
            parts.push(format!("if \"{}\" {verb} the call", rule.source_text()));
        }
        Some(HookCondition::Command(pattern)) if matched => {
            let verb = if is_covered_by_command_pattern(pattern, event) { "matches" } else { "does not match" };
            parts.push(format!("/{}/ {verb} the command", pattern.source_text().unwrap_or_default()));
        }
        Some(HookCondition::Shell(command)) if matched => {
            parts.push(format!("it runs only if \"{command}\" exits with 0 (not run here)"));
        }
        _ => {}
    }
    parts.join("; ")
}
