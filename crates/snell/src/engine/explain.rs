//! Why each configured hook would or would not run for an event, without running anything.

use std::sync::Arc;

use super::Engine;
use super::fire::is_twin;
use super::select::{Selection, is_covered, reacts};
use crate::contract::{Reacts, Scene};
use crate::event::Event;
use crate::hook::{Condition, Hook};

/// What one configured hook would do with an event, and why.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Explanation {
    /// The hook.
    pub hook: Arc<Hook>,
    /// Whether it would run.
    pub fires: bool,
    /// Why, in words: what was compared with what.
    pub why: String,
}

impl Engine {
    /// Says for every configured hook whether the event would make it run, and why. Nothing is run.
    pub fn explain(&self, event: &Event) -> Vec<Explanation> {
        let scene = self.scene();
        let event = &self.located(event.clone());
        let mut explained: Vec<Explanation> = Vec::new();
        for hook in self.hooks() {
            let selection = self.select(&hook, event, &scene);
            let twin = explained
                .iter()
                .find(|earlier| earlier.fires && is_twin(&earlier.hook, &hook));
            let (fires, why) = match (selection, twin) {
                (Selection::Fire, Some(twin)) => (false, format!("it is the same as {}", twin.hook.origin.exact())),
                (Selection::Fire, None) => (true, why(&hook, event, &scene)),
                (Selection::Skip(reason) | Selection::Withhold(reason), _) => (false, reason),
                (Selection::NoMatch | Selection::OtherEvent, _) => (false, why(&hook, event, &scene)),
            };
            explained.push(Explanation { hook, fires, why });
        }
        explained
    }
}

/// What was compared, in the order in which it is compared.
fn why(hook: &Hook, event: &Event, scene: &Scene<'_>) -> String {
    match reacts(hook, event) {
        Reacts::No => {
            let names: Vec<_> = hook.events.iter().map(|event| event.as_str()).collect();
            return format!("it is for {}, not for {}", names.join(", "), event.name);
        }
        Reacts::Not(reason) => return reason.to_owned(),
        Reacts::Yes => {}
    }
    let subject = (hook.contract.subject)(event);
    let mut parts = vec![match &subject {
        Some(subject) => hook.matcher.explain(subject),
        None => format!("it is for every {}", event.name),
    }];
    let matched = subject.is_none_or(|subject| hook.matcher.matches(&subject));
    match &hook.condition {
        Some(Condition::Rule(rule)) if matched => {
            let covered = is_covered(hook, rule, event, scene);
            let verb = if covered { "covers" } else { "does not cover" };
            parts.push(format!("if \"{}\" {verb} the call", rule.written()));
        }
        Some(Condition::Shell(command)) if matched => {
            parts.push(format!("it runs only if \"{command}\" exits with 0 (not tried here)"));
        }
        _ => {}
    }
    parts.join("; ")
}
