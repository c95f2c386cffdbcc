//! Shows how the guard treats the calls of an agent once Snell is installed there.

use snell::{BuiltinHandler, Timestamp};
use snell_guard::{GuardDecision, PolicyPreset};

use crate::env;
use crate::env::caller::CallerEnv;
use crate::guard::{ProjectGuard, summarize_decision};
use crate::output;

/// Prints which calls will be denied and which asked about, by the user's own settings.
pub(super) fn print_guard_preview() -> anyhow::Result<()> {
    let settings = CallerEnv::engine_builder("/".into())?.survey().load().0.settings();
    if !settings.handlers.is_enabled(BuiltinHandler::Guard) {
        output::print_line("The guard is off, so every tool call runs (`guard = false` in [handlers]).");
        return Ok(());
    }
    let now = env::read_clock_override().unwrap_or_else(Timestamp::now);
    let guard = ProjectGuard::from_settings(&settings, "/".as_ref(), now);
    let policy = guard.policy();
    let is_audit = policy.preset == PolicyPreset::Audit;
    output::print_line(&match policy.preset {
        PolicyPreset::Audit => {
            "The guard judges and records every tool call, and stops none (preset audit).".to_owned()
        }
        preset => format!("The guard judges every tool call from now on (preset {}).", preset.name()),
    });
    for (label, decision) in [("Denies", GuardDecision::Deny), ("Asks", GuardDecision::Ask)] {
        let overview = summarize_decision(policy, decision);
        let rules = output::format_count(overview.rules, "rule");
        let label = if is_audit { format!("Would {}", decision.name()) } else { label.to_owned() };
        let examples = if overview.examples.is_empty() {
            String::new()
        } else {
            format!(": {}, …", overview.examples.join(", "))
        };
        output::print_line(&format!("  {label:<10} {rules}{examples}"));
    }
    output::print_line(&format!("  {:<10} snell guard rules", "All rules"));
    let (label, next) = match is_audit {
        true => ("Later", "snell guard replay --since 7d"),
        false => ("To watch", "snell install --audit (judge and record only)"),
    };
    output::print_line(&format!("  {label:<10} {next}"));
    Ok(())
}
