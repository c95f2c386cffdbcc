//! Claude Code at its prompt, with approvals on: an approved call does not ask, and any other still does.

use snell_test_support::model::ModelScript;
use snell_test_support::skip::require_program;

use super::{AgentCheck, CheckResults, CheckRunner, CheckSelection, yes_or};
use crate::terminal::AgentTerminal;

pub const CHECKS: &[AgentCheck] =
    &[AgentCheck { name: "approve", selection: CheckSelection::Full, run: check_approvals }];

/// The first text of the dialog about a permission.
const DIALOG: &str = "Do you want to proceed?";

/// A name, a command, and whether it is approved.
const CALLS: &[(&str, &str, bool)] = &[
    ("approve_edits", "mkdir -p made && echo x > made/asked.txt", true),
    ("approve_computes", "python3 -c 'print(6 * 7)' | tee asked.txt", true),
    ("approve_asks", "touch .envrc", false),
];

fn check_approvals(runner: &CheckRunner<'_>) -> CheckResults {
    let is_tried = runner.agent.name == "claude" && require_program("tmux").is_some();
    let calls = CALLS.iter().filter(|_| is_tried);
    calls.map(|(name, command, is_approved)| (*name, play_call(runner, command, *is_approved))).collect()
}

/// `yes` if the agent asks, or does not, as expected.
fn play_call(runner: &CheckRunner<'_>, command: &str, is_approved: bool) -> String {
    let script = ModelScript::new().shell(command).text("Done.");
    let bench = runner.snell_bench("[guard]\napprove = 'project'\n", script);
    let terminal = AgentTerminal::open(&bench, "--permission-mode default");
    terminal.wait_for_text("❯");
    terminal.submit_line("Go on");
    terminal.wait_for_text(if is_approved { "Done." } else { DIALOG });
    let told = bench.run_snell(&["log", "--json"]).stdout;
    yes_or(told.contains("Snell approved it") == is_approved, &format!("the log says: {told}"))
}
