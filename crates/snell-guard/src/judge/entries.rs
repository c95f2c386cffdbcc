//! Entries of the settings against an analysed call.
//!
//! Conditions on commands and hosts were compared while the command line was analysed. Here follow those on paths, and
//! calls of tools that run no command.

use std::cell::OnceCell;

use super::{CallAnalysis, GuardToolCall};
use crate::effects::{Effect, EffectKind, PathAction, protected_args};
use crate::judge::context::JudgeContext;
use crate::paths::PathMatch;
use crate::policy::{ForbiddenAccess, GuardDecision, GuardPolicy, PathProtection, PolicyEntry};
use crate::rules;
use crate::tools;
use snell_shell::ByteSpan;

/// Marks the effects that entries allow, and records the entries that deny the call or ask about it.
pub(super) fn apply_entries(
    seen: &mut CallAnalysis,
    call: &GuardToolCall<'_>,
    policy: &GuardPolicy,
    context: &JudgeContext,
) {
    let scene = EntryScene { call, context, tool_hosts: OnceCell::new() };
    let passed = collect_passed_paths(seen, policy, context);
    let mut watched: Vec<(usize, ByteSpan)> = Vec::new();
    for (number, entry) in policy.entries.iter().enumerate() {
        if entry.action == GuardDecision::Allow {
            continue;
        }
        if entry.paths.is_empty() {
            watched.extend(seen.watched.iter().filter(|(matched, _)| *matched == number).cloned());
            let by_code = seen.effects.iter().filter(|effect| effect.kind == EffectKind::Watched(number));
            watched.extend(by_code.map(|effect| (number, effect.span.clone())));
            if entry.command.is_none() && scene.matches_tool_host(entry) {
                watched.push((number, ByteSpan::default()));
            }
            continue;
        }
        let effects = seen.effects.iter().chain(&passed);
        let met = effects.filter(|effect| scene.watches_effect(number, entry, effect, seen));
        watched.extend(met.map(|effect| (number, effect.span.clone())));
    }
    seen.watched = watched;
    // They are no effects that people should read about.
    seen.effects.retain(|effect| !matches!(effect.kind, EffectKind::Watched(_)));
    for effect in &mut seen.effects {
        let marked = effect.allowed.and_then(|number| Some((number, policy.entries.get(number)?)));
        effect.allowed = match marked {
            Some((number, entry)) => scene.is_path_allowed(entry, effect).then_some(number),
            None => policy.entries.iter().position(|entry| scene.allows_tool_effect(entry, effect)),
        };
    }
}

/// Whether an analysed call matches the only entry of its policy.
pub(super) fn is_entry_met(seen: &CallAnalysis, entry: &PolicyEntry, call: &GuardToolCall<'_>) -> bool {
    if entry.action != GuardDecision::Allow {
        return !seen.watched.is_empty();
    }
    let is_excused = seen.effects.iter().any(|effect| effect.allowed.is_some());
    let is_permitted = seen.invocations.iter().any(|invocation| invocation.allowed.is_some());
    let has_host = || {
        let hosts = tools::find_tool_hosts(call);
        !hosts.is_empty() && hosts.iter().all(|host| entry.matches_host(host))
    };
    match (entry.paths.is_empty(), &entry.command, &entry.host) {
        (false, ..) => is_excused,
        (true, Some(_), _) => is_permitted,
        (true, None, Some(_)) => is_permitted || has_host(),
        (true, None, None) => true,
    }
}

/// The entry that decides, if no rule is graver; a locked rule is named before an entry with the same decision.
pub(super) fn find_deciding_entry(
    analysis: &CallAnalysis,
    policy: &GuardPolicy,
    found: Option<(GuardDecision, bool)>,
) -> Option<usize> {
    let decision_of = |number: &usize| policy.entries.get(*number).map(|entry| entry.action);
    let matched = analysis.watched.iter().map(|(number, _)| *number);
    let gravest = matched.reduce(|best, next| match (decision_of(&next), decision_of(&best)) {
        (Some(later), Some(earlier)) if later > earlier || (later == earlier && next < best) => next,
        _ => best,
    })?;
    let decision = decision_of(&gravest)?;
    let decides = match found {
        None => true,
        Some((verdict, is_locked)) => decision > verdict || (decision == verdict && !is_locked),
    };
    decides.then_some(gravest)
}

/// Arguments of programs without an entry in the tables that name a path of an entry.
fn collect_passed_paths(seen: &CallAnalysis, policy: &GuardPolicy, context: &JudgeContext) -> Vec<Effect> {
    let strict = policy.entries.iter().filter(|entry| entry.action != GuardDecision::Allow);
    let paths = strict.flat_map(|entry| entry.paths.iter());
    let protected: Vec<PathProtection> =
        paths.map(|path| PathProtection { path: path.clone(), from: ForbiddenAccess::Read }).collect();
    protected_args::find_protected_args(&seen.invocations, &protected, context)
}

/// A call against which entries are compared.
struct EntryScene<'a> {
    call: &'a GuardToolCall<'a>,
    context: &'a JudgeContext,
    tool_hosts: OnceCell<Vec<String>>,
}

impl EntryScene<'_> {
    /// The hosts that the input of a tool names; most calls have no entry that asks.
    fn tool_hosts(&self) -> &[String] {
        self.tool_hosts.get_or_init(|| tools::find_tool_hosts(self.call))
    }

    /// Whether the host condition of an entry holds for the tool itself.
    fn matches_tool_host(&self, entry: &PolicyEntry) -> bool {
        entry.host.is_none() || self.tool_hosts().iter().any(|host| entry.matches_host(host))
    }

    /// Whether an effect is what an entry with paths is about.
    fn watches_effect(&self, number: usize, entry: &PolicyEntry, effect: &Effect, seen: &CallAnalysis) -> bool {
        let EffectKind::Path(action) = effect.kind else {
            return false;
        };
        let is_only_read =
            matches!(action, PathAction::Read | PathAction::Use | PathAction::Send | PathAction::SendRaw);
        let is_meant = |pattern: &String| match effect.place.as_ref().map(|place| place.compare(pattern, self.context))
        {
            Some(PathMatch::Inside) => true,
            // To delete a directory deletes everything in it; a search of the whole project aims at no path.
            Some(PathMatch::Around) => !is_only_read,
            Some(PathMatch::Other) | None => false,
        };
        let is_by_command = || {
            let invocation = effect.by.and_then(|by| seen.invocations.get(by));
            invocation.is_some_and(|invocation| invocation.watched_by.contains(&number))
        };
        entry.paths.iter().any(is_meant)
            && (entry.is_independent_of_commands()
                || is_by_command()
                || (effect.by.is_none() && entry.command.is_none() && self.matches_tool_host(entry)))
    }

    /// Whether an entry for a command also allows this effect of it.
    fn is_path_allowed(&self, entry: &PolicyEntry, effect: &Effect) -> bool {
        let is_inside = |path: &String| {
            let place = effect.place.as_ref().filter(|place| place.path.is_some());
            place.is_some_and(|place| place.compare(path, self.context) == PathMatch::Inside)
        };
        entry.paths.is_empty() || entry.paths.iter().any(is_inside)
    }

    /// Whether an entry without a command allows an effect. An entry cannot excuse that the guard did not understand a
    /// call.
    fn allows_tool_effect(&self, entry: &PolicyEntry, effect: &Effect) -> bool {
        let is_host_allowed = || {
            let hosts = self.tool_hosts();
            effect.by.is_none() && !hosts.is_empty() && hosts.iter().all(|host| entry.matches_host(host))
        };
        entry.action == GuardDecision::Allow
            && entry.command.is_none()
            && (entry.host.is_none() || is_host_allowed())
            && self.is_path_allowed(entry, effect)
            && !rules::evaluate_rules(effect).any(|(rule, matched)| matched && rule.id.starts_with("guard."))
    }
}
