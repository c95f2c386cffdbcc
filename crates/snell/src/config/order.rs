//! Puts all hooks in one order, and applies the keys that concern all hooks.

use std::sync::Arc;

use super::exclude_self::HookExclusion;
use super::load::LoadedSource;
use crate::contract::CONTRACTS;
use crate::hook::{Hook, HookAction};
use crate::matcher::{Glob, GlobDialect};

/// All hooks in the order in which they run, after the switches of their lane. The hooks of an untrusted file are
/// disabled, and its switches have no effect.
pub(super) fn order_hooks(sources: &[LoadedSource], left_out: Option<&HookExclusion>) -> Vec<Arc<Hook>> {
    let mut hooks = Vec::new();
    for source in sources {
        let switches = LaneSwitches::from_sources(source.contract.lane, sources);
        hooks.extend(source.hooks.iter().map(|hook| {
            let mut hook = switches.apply_to(hook.clone());
            hook.is_untrusted = source.rejection_reason().is_some();
            if let Some(why) = source.rejection_reason() {
                hook.disabled = Some(why.to_owned());
            }
            if let Some(left_out) = left_out {
                left_out.apply_to(&mut hook);
            }
            Arc::new(hook)
        }));
    }
    let lane = |hook: &Arc<Hook>| CONTRACTS.iter().position(|contract| contract.lane == hook.contract.lane);
    hooks.sort_by_key(lane);
    hooks
}

/// The merged switches of a lane.
struct LaneSwitches {
    disabled: Option<String>,
    names: Vec<String>,
    urls: Option<Vec<String>>,
    variables: Option<Vec<String>>,
}

impl LaneSwitches {
    fn from_sources(lane: &str, sources: &[LoadedSource]) -> Self {
        let switches: Vec<_> = sources
            .iter()
            .filter(|source| source.contract.lane == lane && source.rejection_reason().is_none())
            .map(|source| &source.switches)
            .collect();
        // The last file is the nearest one, so it overrides the others.
        let disabled = switches.iter().rev().find_map(|switches| switches.disable_all.as_ref());
        Self {
            disabled: disabled
                .filter(|switch| switch.is_disabled)
                .map(|switch| format!("{} is set at {}", switch.written, switch.origin)),
            names: merge_lists(switches.iter().map(|switches| switches.disabled_names.as_ref())).unwrap_or_default(),
            urls: merge_lists(switches.iter().map(|switches| switches.allowed_http_urls.as_ref())),
            variables: merge_lists(switches.iter().map(|switches| switches.http_env_vars.as_ref())),
        }
    }

    fn apply_to(&self, mut hook: Hook) -> Hook {
        if self.disabled.is_some() {
            hook.disabled.clone_from(&self.disabled);
        } else if let Some(name) = hook.agent_entry.name.as_ref().filter(|name| self.names.contains(name)) {
            hook.disabled = Some(format!("the settings disable the hook \"{name}\""));
        }
        if let HookAction::Http(call) = &mut hook.action {
            let allowed = |pattern: &String| Glob::new(pattern, GlobDialect::PLAIN).matches(&call.url);
            if self.urls.as_ref().is_some_and(|urls| !urls.iter().any(allowed)) {
                call.refused = Some("its address is not in allowedHttpHookUrls".into());
            }
            if let Some(variables) = &self.variables {
                call.allowed_env_vars.retain(|name| variables.contains(name));
            }
        }
        hook
    }
}

/// A list to which every file may add. `None` if no file has it.
fn merge_lists<'a>(lists: impl Iterator<Item = Option<&'a Vec<String>>>) -> Option<Vec<String>> {
    let lists: Vec<_> = lists.flatten().collect();
    (!lists.is_empty()).then(|| lists.into_iter().flatten().cloned().collect())
}
