//! Finds entries of `[[guard.allow]]` that have no effect.

use serde_json::json;
use snell::{AllowedCommand, Timestamp};
use snell_guard::{AllowListEntry, GuardDecision, GuardJudgement, GuardPolicy};

use crate::guard::ProjectGuard;
use crate::guard::lint::GuardLintFinding;
use crate::guard::policy::to_allow_entry;

/// The tool that runs a command.
const SHELL: &str = "Bash";

/// The fault of each entry that has one.
pub(crate) fn lint_allow_entries(
    guard: &ProjectGuard,
    entries: &[AllowedCommand],
    now: Timestamp,
) -> Vec<GuardLintFinding> {
    let mut earlier: Vec<&AllowedCommand> = Vec::new();
    let mut found = Vec::new();
    for entry in entries {
        match find_entry_fault(guard, entry, &earlier, now) {
            Some((what, remedy)) => found.push(GuardLintFinding { origin: entry.origin.clone(), what, remedy }),
            None => earlier.push(entry),
        }
    }
    found
}

/// The fault of an entry, and its remedy.
fn find_entry_fault(
    guard: &ProjectGuard,
    entry: &AllowedCommand,
    earlier: &[&AllowedCommand],
    now: Timestamp,
) -> Option<(String, String)> {
    let command = &entry.command;
    if entry.is_expired(now) {
        let until = entry.until.map(|until| until.to_string()).unwrap_or_default();
        return Some((
            format!("\"{command}\" was allowed only until {until}"),
            "remove the entry, or set a later date".into(),
        ));
    }
    let allowed = to_allow_entry(entry);
    if let Some(fault) = allowed.pattern_error() {
        return Some((
            format!("\"{command}\" {fault}, so it allows nothing"),
            "write one command without pipes and variables, and quote special characters".into(),
        ));
    }
    let covers = |other: &&&AllowedCommand| to_allow_entry(other).covers(&allowed);
    if let Some(other) = earlier.iter().find(covers) {
        return Some((
            format!("\"{command}\" is already allowed by \"{}\" ({})", other.command, other.origin),
            "remove one of the two entries".into(),
        ));
    }
    if command.contains('*') {
        return find_useless_pattern(guard, &allowed);
    }
    find_useless_entry(guard, allowed)
}

/// Samples for `*`: a name and a path.
const WILDCARD_SAMPLES: [&str; 2] = ["x", "x/y"];

/// Reports a pattern if a rule stops every sample of it. `*` may stand for anything, so one sample proves nothing, and
/// a sample that no rule matches proves nothing about others.
fn find_useless_pattern(guard: &ProjectGuard, allowed: &AllowListEntry) -> Option<(String, String)> {
    let stopped = WILDCARD_SAMPLES.map(|stand_in| {
        let command = allowed.command.replace('*', stand_in);
        let example = AllowListEntry { command: command.clone(), ..allowed.clone() };
        // A quoted star is literal.
        if !allowed.covers(&example) {
            return None;
        }
        let rule = find_stopping_rule(guard, allowed.clone(), &command)?;
        Some((command, rule))
    });
    let [Some((example, rule)), Some(_)] = stopped else {
        return None;
    };
    Some((
        format!(
            "\"{}\" does not allow \"{example}\", because rule {rule} also applies to allowed commands",
            allowed.command
        ),
        format!("remove the entry; run `snell guard rules {rule}` for details"),
    ))
}

/// The rule that stops a command although this entry allows it.
fn find_stopping_rule(guard: &ProjectGuard, allowed: AllowListEntry, command: &str) -> Option<&'static str> {
    let policy = GuardPolicy { allowed: vec![allowed], ..guard.policy().clone() };
    let judgement = judge_with_policy(guard, policy, command);
    judgement.rule.filter(|_| judgement.unaudited > GuardDecision::Allow)
}

fn judge_with_policy(guard: &ProjectGuard, policy: GuardPolicy, command: &str) -> GuardJudgement {
    let guard = guard.clone().with_policy(policy);
    guard.judge(SHELL, &json!({ "command": command }), None)
}

/// Reports a command that is allowed without the entry, or stopped in spite of it.
fn find_useless_entry(guard: &ProjectGuard, allowed: AllowListEntry) -> Option<(String, String)> {
    let command = allowed.command.clone();
    let without =
        GuardPolicy { allowed: Vec::new(), preset: snell_guard::PolicyPreset::Strict, ..guard.policy().clone() };
    if judge_with_policy(guard, without, &command).unaudited == GuardDecision::Allow {
        return Some((
            format!("no rule stops \"{command}\" here, so the entry has no effect"),
            "remove the entry, or use the one that `snell guard explain` suggests for the blocked command".into(),
        ));
    }
    let rule = find_stopping_rule(guard, allowed, &command)?;
    Some((
        format!("\"{command}\" is not allowed, because rule {rule} also applies to allowed commands"),
        format!("remove the entry; run `snell guard rules {rule}` for details"),
    ))
}
