//! Real agents, driven by a scripted model on this machine, with Snell as their guest.
//!
//! `cargo xtask agents` installs them into a cache and runs everything. A plain `cargo test` runs a short selection of checks
//! for agents that are in the cache, and skips the others with a message. `SNELL_AGENTS=all` runs all checks, `SNELL_AGENTS=off` none.
//!
//! What each agent does is recorded in `fixtures/agent-runs/AGENT.json`. A run that differs from the record is a failure, unless
//! `SNELL_BLESS=1`, which writes the record anew.
//!
//! To look into a check: `SNELL_AGENT_CHECK=NAME` runs only this one, and `SNELL_AGENTS_KEEP=1` keeps the home directories in the
//! directory for temporary files, with the requests to the model in `requests.json`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on must fail")]
#![allow(missing_docs, unreachable_pub, reason = "tests are named as sentences")]

mod bench;
mod checks;
mod record;
mod session_recorder;
mod terminal;

use snell_test_support::agents::{AgentCache, RealAgent};
use snell_test_support::skip::report_skipped;

/// Runs the checks of an agent, and compares their results with its record.
#[track_caller]
fn check_agent(name: &str) {
    let agent = RealAgent::find(name).unwrap();
    if std::env::var_os("SNELL_AGENTS").is_some_and(|value| value == "off") {
        return report_skipped("SNELL_AGENTS=off");
    }
    let Some(cache) = find_installed_agent(agent) else { return };
    let record = record::AgentRecord::load(agent);
    let results = checks::run_checks(agent, &cache, |results| record.matches(results));
    record.settle(&results);
}

/// The cache, if it has the agent in the version that is tested.
fn find_installed_agent(agent: &RealAgent) -> Option<AgentCache> {
    let cache = AgentCache::locate()?;
    let missing = cache.missing_packages(agent);
    if missing.is_empty() {
        return Some(cache);
    }
    report_skipped(&format!(
        "{} is not installed ({}; hint: cargo xtask agents {})",
        agent.title,
        missing.join(", "),
        agent.name
    ));
    None
}

#[test]
fn claude_behaves_as_recorded() {
    check_agent("claude");
}

#[test]
fn codex_behaves_as_recorded() {
    check_agent("codex");
}

#[test]
fn gemini_behaves_as_recorded() {
    check_agent("gemini");
}

#[test]
fn qwen_behaves_as_recorded() {
    check_agent("qwen");
}

#[test]
fn copilot_behaves_as_recorded() {
    check_agent("copilot");
}

#[test]
fn opencode_behaves_as_recorded() {
    check_agent("opencode");
}

#[test]
fn kilo_behaves_as_recorded() {
    check_agent("kilo");
}

#[test]
fn pi_behaves_as_recorded() {
    check_agent("pi");
}

#[test]
fn cline_behaves_as_recorded() {
    check_agent("cline");
}

#[test]
fn kimi_behaves_as_recorded() {
    check_agent("kimi");
}

#[test]
fn grok_behaves_as_recorded() {
    check_agent("grok");
}

#[test]
fn vibe_behaves_as_recorded() {
    check_agent("vibe");
}
