//! Shows how the guard treats the calls of an agent once Snell is installed there.

use snell::{BuiltinHandler, GuardPreset, Timestamp};
use snell_guard::{ApprovalLevel, GuardDecision, PolicyPreset};

use crate::env;
use crate::env::caller::CallerEnv;
use crate::guard::{ProjectGuard, summarize_decision};
use crate::install::agents::InstallAgent;
use crate::output;

/// Prints which calls of these agents will be denied and which asked about, by the user's own settings or with this preset.
pub(super) fn print_guard_preview(agents: &[InstallAgent], preset: Option<GuardPreset>) -> anyhow::Result<()> {
    let mut settings = CallerEnv::engine_builder("/".into())?.survey().load().0.settings();
    settings.guard.preset = preset.unwrap_or(settings.guard.preset);
    if !settings.handlers.is_enabled(BuiltinHandler::Guard) {
        output::print_line("The guard is off, so every tool call runs (`guard = false` in [handlers]).");
        return Ok(());
    }
    let now = env::read_clock_override().unwrap_or_else(Timestamp::now);
    let guard = ProjectGuard::from_settings(&settings, "/".as_ref(), now);
    let policy = guard.policy();
    let is_audit = policy.preset == PolicyPreset::Audit;
    let exception = describe_untrusted(agents);
    output::print_line(&match policy.preset {
        PolicyPreset::Audit => {
            format!("The guard judges and records every tool call, and stops none (preset audit){exception}.")
        }
        preset => format!("The guard judges every tool call from now on (preset {}){exception}.", preset.name()),
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
    for agent in agents.iter().filter(|agent| !is_audit && !agent.asks_questions()) {
        let title = agent.title();
        output::print_line(&format!(
            "  {:<10} questions are denied, because {title} cannot ask",
            format!("In {title}")
        ));
    }
    output::print_line(&format!("  {:<10} snell guard rules", "All rules"));
    let (label, next) = match is_audit {
        true => ("Later", "snell guard replay --since 7d"),
        false => ("To watch", "snell config set guard.preset audit (judge and record only)"),
    };
    output::print_line(&format!("  {label:<10} {next}"));
    if policy.approval.level == ApprovalLevel::Off {
        let next = "snell config set guard.approve read (agents need not ask about calls that change nothing)";
        output::print_line(&format!("  {:<10} {next}", "Ask less"));
    }
    Ok(())
}

/// The agents that skip new hooks until their user trusts them, as the end of a sentence.
fn describe_untrusted(agents: &[InstallAgent]) -> String {
    let titles: Vec<_> =
        agents.iter().filter(|agent| agent.skips_untrusted_handlers()).map(InstallAgent::title).collect();
    if titles.is_empty() {
        return String::new();
    }
    format!(", except in {} until you trust its hooks there with /hooks", titles.join(" and "))
}
