//! `cargo xtask agents`: installs real agents into a cache, and runs them against a scripted model.

mod install;
mod isolation;

use std::process::Command;

use anyhow::{Context, bail};
use snell_test_support::agents::{AgentCache, REAL_AGENTS, RealAgent};

use crate::print_message;

/// Runs the tests of real agents in `snell-cli`.
const TEST_ARGUMENTS: &[&str] = &["test", "--quiet", "--package", "snell-cli", "--test", "agents"];

/// At most so many agents run at the same time: they take memory, and their times matter.
const TEST_THREADS: &str = "--test-threads=2";

/// Installs these agents, or all, runs all checks, and writes their records anew.
pub(crate) fn check_all(names: &[String]) -> anyhow::Result<()> {
    let agents = select_agents(names)?;
    let cache = locate_cache()?;
    let installed = install::install_agents(&cache, &agents);
    if installed.is_empty() {
        bail!("none of the agents could be installed");
    }
    run_tests(&installed, &[("SNELL_AGENTS", "all"), ("SNELL_BLESS", "1")])
}

/// Runs a short selection of checks for the agents that are in the cache.
pub(crate) fn check_installed() -> anyhow::Result<()> {
    let cache = locate_cache()?;
    let (installed, missing): (Vec<_>, Vec<_>) =
        REAL_AGENTS.iter().copied().partition(|agent| cache.missing_packages(agent).is_empty());
    if !missing.is_empty() {
        let titles: Vec<_> = missing.iter().map(|agent| agent.title).collect();
        print_message(&format!(
            "skipped agents that are not installed: {} (hint: cargo xtask agents)",
            titles.join(", ")
        ));
    }
    if installed.is_empty() {
        return Ok(());
    }
    run_tests(&installed, &[])
}

fn select_agents(names: &[String]) -> anyhow::Result<Vec<&'static RealAgent>> {
    if names.is_empty() {
        return Ok(REAL_AGENTS.to_vec());
    }
    let known = || REAL_AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>().join(", ");
    let find =
        |name: &String| RealAgent::find(name).with_context(|| format!("unknown agent {name:?} (hint: {})", known()));
    names.iter().map(find).collect()
}

fn locate_cache() -> anyhow::Result<AgentCache> {
    AgentCache::locate().context("no directory for the cache (hint: set HOME or SNELL_AGENTS_CACHE)")
}

fn run_tests(agents: &[&RealAgent], variables: &[(&str, &str)]) -> anyhow::Result<()> {
    // The build may take the network, which the tests do not have.
    let built = Command::new("cargo").args(TEST_ARGUMENTS).arg("--no-run").status().context("cannot start cargo")?;
    if !built.success() {
        bail!("the tests of the agents do not build");
    }
    let tests = agents.iter().map(|agent| format!("{}_", agent.name));
    let mut command = isolation::isolated_command("cargo");
    command.args(TEST_ARGUMENTS).args(["--", "--nocapture", TEST_THREADS]).args(tests).envs(variables.iter().copied());
    let status = command.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("an agent does not behave as recorded in fixtures/agent-runs");
    }
    Ok(())
}
