//! Entries of `[[guard.allow]]` that let nothing through, although somebody believes that they do.

use serde_json::json;
use snell::{AllowedCommand, Timestamp};
use snell_guard::{Allowed, Judgement, Policy, Verdict};

use super::Guard;
use super::findings::Finding;

/// The tool that runs a command.
const SHELL: &str = "Bash";

/// What is wrong with each entry, as far as something is.
pub(super) fn findings(guard: &Guard, entries: &[AllowedCommand], now: Timestamp) -> Vec<Finding> {
    let mut earlier: Vec<&AllowedCommand> = Vec::new();
    let mut found = Vec::new();
    for entry in entries {
        match fault(guard, entry, &earlier, now) {
            Some((what, remedy)) => found.push(Finding {
                origin: entry.origin.clone(),
                what,
                remedy,
            }),
            None => earlier.push(entry),
        }
    }
    found
}

/// What is wrong, and what to do about it.
fn fault(
    guard: &Guard,
    entry: &AllowedCommand,
    earlier: &[&AllowedCommand],
    now: Timestamp,
) -> Option<(String, String)> {
    let command = &entry.command;
    if entry.is_expired(now) {
        let until = entry.until.map(|until| until.to_string()).unwrap_or_default();
        return Some((
            format!("\"{command}\" was allowed until {until}, and is no longer"),
            "remove it, or write a later day".into(),
        ));
    }
    let allowed = as_allowed(entry);
    if let Some(fault) = allowed.fault() {
        return Some((
            format!("\"{command}\" {fault}, so it lets nothing through"),
            "write one command as it is typed, without pipes and variables".into(),
        ));
    }
    let covers = |other: &&&AllowedCommand| as_allowed(other).covers(&allowed);
    if let Some(other) = earlier.iter().find(covers) {
        return Some((
            format!(
                "\"{command}\" is let through by \"{}\" already ({})",
                other.command, other.origin
            ),
            "remove one of them".into(),
        ));
    }
    if command.contains('*') {
        return in_vain_for_all(guard, &allowed);
    }
    in_vain(guard, allowed)
}

/// What a `*` may stand for: a name, and a path.
const STAND_INS: [&str; 2] = ["x", "x/y"];

/// Why commands of a pattern are stopped all the same. What it stands for may be one thing or another, so something is wrong only
/// if each of several commands is stopped; and that no rule minds these says nothing about others.
fn in_vain_for_all(guard: &Guard, allowed: &Allowed) -> Option<(String, String)> {
    let stopped = STAND_INS.map(|stand_in| {
        let command = allowed.command.replace('*', stand_in);
        let example = Allowed {
            command: command.clone(),
            ..allowed.clone()
        };
        // A star in quotes stands for itself.
        if !allowed.covers(&example) {
            return None;
        }
        let rule = stopping_rule(guard, allowed.clone(), &command)?;
        Some((command, rule))
    });
    let [Some((example, rule)), Some(_)] = stopped else {
        return None;
    };
    Some((
        format!(
            "\"{}\" does not let through what it seems to (\"{example}\"): {rule} minds it, and holds for allowed \
             commands as well",
            allowed.command
        ),
        format!("`snell guard rules {rule}` says why; remove the entry"),
    ))
}

/// The rule that stops a command although this is allowed.
fn stopping_rule(guard: &Guard, allowed: Allowed, command: &str) -> Option<&'static str> {
    let policy = Policy {
        allowed: vec![allowed],
        ..guard.policy.clone()
    };
    let judgement = judged(guard, policy, command);
    judgement.rule.filter(|_| judgement.would > Verdict::Allow)
}

fn judged(guard: &Guard, policy: Policy, command: &str) -> Judgement {
    let guard = Guard {
        policy,
        ..guard.clone()
    };
    guard.judge(SHELL, &json!({ "command": command }), None)
}

/// Why a command is stopped all the same, or would not have been.
fn in_vain(guard: &Guard, allowed: Allowed) -> Option<(String, String)> {
    let command = allowed.command.clone();
    let without = Policy {
        allowed: Vec::new(),
        preset: snell_guard::Preset::Strict,
        ..guard.policy.clone()
    };
    if judged(guard, without, &command).would == Verdict::Allow {
        return Some((
            format!("no rule minds \"{command}\" here, so the entry has no effect"),
            "remove it, or write the command that was stopped: `snell guard explain` offers the entry for it".into(),
        ));
    }
    let rule = stopping_rule(guard, allowed, &command)?;
    Some((
        format!("\"{command}\" is not let through: {rule} minds it, and holds for allowed commands as well"),
        format!("`snell guard rules {rule}` says why; remove the entry"),
    ))
}

fn as_allowed(entry: &AllowedCommand) -> Allowed {
    Allowed {
        command: entry.command.clone(),
        reason: entry.reason.clone(),
    }
}
