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
    // What a pattern stands for may be one thing or another.
    if command.contains('*') {
        return None;
    }
    in_vain(guard, allowed)
}

/// Why a command is stopped all the same, or would not have been.
fn in_vain(guard: &Guard, allowed: Allowed) -> Option<(String, String)> {
    let command = allowed.command.clone();
    let judged = |policy: Policy| -> Judgement {
        let guard = Guard {
            policy,
            ..guard.clone()
        };
        guard.judge(SHELL, &json!({ "command": command }), None)
    };
    let without = Policy {
        allowed: Vec::new(),
        preset: snell_guard::Preset::Strict,
        ..guard.policy.clone()
    };
    if judged(without).would == Verdict::Allow {
        return Some((
            format!("no rule minds \"{command}\" here, so the entry has no effect"),
            "remove it, or write the command that was stopped: `snell guard explain` offers the entry for it".into(),
        ));
    }
    let with = Policy {
        allowed: vec![allowed],
        ..guard.policy.clone()
    };
    let judgement = judged(with);
    let rule = judgement.rule.filter(|_| judgement.would > Verdict::Allow)?;
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
