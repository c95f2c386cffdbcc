//! Finds entries of `[[guard.deny]]`, `[[guard.ask]]` and `[[guard.allow]]` that have no effect.

use serde_json::json;
use snell::{GuardChoice, GuardEntry, Timestamp, find_misspelled_tool};
use snell_guard::{GuardDecision, GuardJudgement, GuardPolicy, PolicyEntry};

use crate::guard::ProjectGuard;
use crate::guard::lint::GuardLintFinding;
use crate::guard::policy::to_policy_entry;

/// The tool that runs a command.
const SHELL: &str = "Bash";

/// The fault of each entry that has one.
pub(crate) fn lint_entries(guard: &ProjectGuard, entries: &[GuardEntry], now: Timestamp) -> Vec<GuardLintFinding> {
    let mut earlier: Vec<&GuardEntry> = Vec::new();
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
    entry: &GuardEntry,
    earlier: &[&GuardEntry],
    now: Timestamp,
) -> Option<(String, String)> {
    let about = entry.describe_conditions();
    let (participle, verb) = match entry.action {
        GuardChoice::Allow => ("allowed", "allows"),
        GuardChoice::Ask => ("asked about", "asks about"),
        GuardChoice::Deny => ("denied", "denies"),
    };
    if entry.is_expired(now) {
        let until = entry.until.map(|until| until.to_string()).unwrap_or_default();
        return Some((
            format!("\"{about}\" was {participle} only until {until}"),
            "remove the entry, or set a later date".into(),
        ));
    }
    let parsed = to_policy_entry(entry);
    if let (Some(fault), Some(command)) = (parsed.pattern_error(), &entry.command) {
        return Some((
            format!("\"{command}\" {fault}, so it {verb} nothing"),
            "write one command without pipes and variables, and quote special characters".into(),
        ));
    }
    if let Some(host) = entry.host.as_deref().filter(|host| host.contains(['/', ':', ' ', '@'])) {
        return Some((
            format!("\"{host}\" is not the name of a host, so the entry {verb} nothing"),
            "write a name such as \"api.example.com\" or \"*.example.com\"".into(),
        ));
    }
    if let Some(message) = entry.tool.as_ref().and_then(|tool| find_misspelled_tool(tool.source_text())) {
        return Some((message.text, message.hint.unwrap_or_default()));
    }
    // The other faults need a command alone: what else a call does is not known here.
    let is_for_command_alone = entry.path.is_none() && entry.host.is_none() && !entry.is_for_some_callers();
    let command = entry.command.as_deref().filter(|_| is_for_command_alone && entry.action == GuardChoice::Allow)?;
    let covers = |other: &&&GuardEntry| !other.is_for_some_callers() && to_policy_entry(other).covers(&parsed);
    if let Some(other) = earlier.iter().find(covers) {
        return Some((
            format!("\"{command}\" is already allowed by \"{}\" ({})", other.describe_conditions(), other.origin),
            "remove one of the two entries".into(),
        ));
    }
    if command.contains('*') {
        return find_useless_pattern(guard, command, &parsed);
    }
    find_useless_entry(guard, command, parsed)
}

/// Samples for `*`: a name and a path.
const WILDCARD_SAMPLES: [&str; 2] = ["x", "x/y"];

/// Reports a pattern if a rule stops every sample of it. `*` may stand for anything, so one sample proves nothing, and
/// a sample that no rule matches proves nothing about others.
fn find_useless_pattern(guard: &ProjectGuard, pattern: &str, allowed: &PolicyEntry) -> Option<(String, String)> {
    let stopped = WILDCARD_SAMPLES.map(|stand_in| {
        let command = pattern.replace('*', stand_in);
        let example = PolicyEntry { command: Some(command.clone()), ..allowed.clone() };
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
        format!("\"{pattern}\" does not allow \"{example}\", because rule {rule} also applies to allowed commands"),
        format!("remove the entry; run `snell guard rules {rule}` for details"),
    ))
}

/// The rule that stops a command although this entry allows it.
fn find_stopping_rule(guard: &ProjectGuard, allowed: PolicyEntry, command: &str) -> Option<&'static str> {
    let policy = GuardPolicy { entries: vec![allowed], ..guard.policy().clone() };
    let judgement = judge_with_policy(guard, policy, command);
    judgement.rule.filter(|_| judgement.unaudited > GuardDecision::Allow)
}

fn judge_with_policy(guard: &ProjectGuard, policy: GuardPolicy, command: &str) -> GuardJudgement {
    let guard = guard.clone().with_policy(policy);
    guard.judge(SHELL, &json!({ "command": command }), None)
}

/// Reports a command that is allowed without the entry, or stopped in spite of it.
fn find_useless_entry(guard: &ProjectGuard, command: &str, allowed: PolicyEntry) -> Option<(String, String)> {
    let without =
        GuardPolicy { entries: Vec::new(), preset: snell_guard::PolicyPreset::Strict, ..guard.policy().clone() };
    if judge_with_policy(guard, without, command).unaudited == GuardDecision::Allow {
        return Some((
            format!("no rule stops \"{command}\" here, so the entry has no effect"),
            "remove the entry, or use the one that `snell guard explain` suggests for the blocked command".into(),
        ));
    }
    let rule = find_stopping_rule(guard, allowed, command)?;
    Some((
        format!("\"{command}\" is not allowed, because rule {rule} also applies to allowed commands"),
        format!("remove the entry; run `snell guard rules {rule}` for details"),
    ))
}
