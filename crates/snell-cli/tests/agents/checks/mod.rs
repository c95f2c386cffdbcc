//! The list of checks. Each runs an agent in a home directory of its own.

mod answers;
mod approvals;
mod calls;
mod failures;
mod live;
mod prompt;
mod sessions;
mod texts;

use std::time::Instant;

use snell_test_support::agents::{AgentCache, RealAgent};
use snell_test_support::model::ModelScript;

use crate::bench::AgentBench;

/// What happened: `yes`, `no`, or what happens instead.
pub type CheckResults = Vec<(&'static str, String)>;

/// How the result of a check begins that panicked. It says nothing about the agent.
pub const BROKEN_CHECK: &str = "the check failed";

/// Who runs a check.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CheckSelection {
    /// Every `cargo test`.
    Short,
    /// `cargo xtask agents`.
    Full,
}

/// A check. It may have several results.
pub struct AgentCheck {
    pub name: &'static str,
    pub selection: CheckSelection,
    pub run: fn(&CheckRunner<'_>) -> CheckResults,
}

/// All checks, in the order in which they run.
const CHECKS: &[&[AgentCheck]] = &[
    calls::CHECKS,
    texts::CHECKS,
    failures::CHECKS,
    sessions::CHECKS,
    prompt::CHECKS,
    answers::CHECKS,
    approvals::CHECKS,
    live::CHECKS,
];

/// Makes benches for a check.
pub struct CheckRunner<'a> {
    pub agent: &'static RealAgent,
    cache: &'a AgentCache,
}

impl CheckRunner<'_> {
    /// An agent without Snell.
    pub fn bench(&self, script: ModelScript) -> AgentBench {
        AgentBench::new(self.agent, self.cache, script)
    }

    /// An agent with Snell, and with these hooks in the user's `snell.toml`.
    pub fn snell_bench(&self, hooks: &str, script: ModelScript) -> AgentBench {
        let bench = self.bench(script);
        bench.write_hooks(&hooks.replace("$PROJECT", bench.project().to_str().unwrap()));
        bench.install_snell();
        bench
    }
}

/// The only check to run, if one is named.
fn read_named_check() -> Option<String> {
    std::env::var("SNELL_AGENT_CHECK").ok()
}

/// Whether all checks run.
pub fn is_full_run() -> bool {
    read_named_check().is_none() && std::env::var_os("SNELL_AGENTS").is_some_and(|value| value == "all")
}

/// Runs the checks of an agent that are selected. One whose results are not expected runs again, once: on a busy machine an agent
/// may give up before its model answers.
pub fn run_checks(
    agent: &'static RealAgent,
    cache: &AgentCache,
    is_expected: impl Fn(&CheckResults) -> bool,
) -> CheckResults {
    let only = read_named_check();
    let runner = CheckRunner { agent, cache };
    let selected = CHECKS.iter().copied().flatten().filter(|check| match &only {
        Some(only) => check.name == only,
        None => is_full_run() || check.selection == CheckSelection::Short,
    });
    let mut results = Vec::new();
    for check in selected {
        let started = Instant::now();
        let first = run_check(check, &runner);
        let found = if is_expected(&first) { first } else { run_check(check, &runner) };
        for (name, result) in &found {
            report_result(&format!("{:<9} {name:<16} {result} ({:.1} s)", agent.name, started.elapsed().as_secs_f64()));
        }
        results.extend(found);
    }
    results
}

/// A check that panics must not lose the results of the others.
fn run_check(check: &AgentCheck, runner: &CheckRunner<'_>) -> CheckResults {
    let run = || (check.run)(runner);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().map_or("it panicked", String::as_str);
        vec![(check.name, format!("{BROKEN_CHECK}: {message}"))]
    })
}

/// `yes`, or what happened instead.
pub fn yes_or(is_so: bool, otherwise: &str) -> String {
    if is_so { "yes".to_owned() } else { otherwise.to_owned() }
}

#[allow(clippy::print_stderr, reason = "a long run shows its progress")]
fn report_result(line: &str) {
    eprintln!("{line}");
}
