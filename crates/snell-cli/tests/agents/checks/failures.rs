//! Hooks that crash or take too long.

use snell_test_support::model::ModelScript;

use super::{AgentCheck, CheckResults, CheckRunner, CheckSelection};

pub const CHECKS: &[AgentCheck] = &[
    AgentCheck { name: "crash", selection: CheckSelection::Full, run: check_crash },
    AgentCheck { name: "timeout", selection: CheckSelection::Full, run: check_timeout },
];

fn check_crash(runner: &CheckRunner<'_>) -> CheckResults {
    vec![
        ("crash_open", run_failing_hook(runner, "run = \"kill -9 $$\"", ExpectedCall::Runs)),
        (
            "crash_closed",
            run_failing_hook(runner, "run = \"kill -9 $$\"\non_failure = \"block\"", ExpectedCall::IsDenied),
        ),
    ]
}

fn check_timeout(runner: &CheckRunner<'_>) -> CheckResults {
    let slow = "run = \"sleep 60\"\ntimeout = \"1s\"";
    vec![
        ("timeout_open", run_failing_hook(runner, slow, ExpectedCall::Runs)),
        (
            "timeout_closed",
            run_failing_hook(runner, &format!("{slow}\non_failure = \"block\""), ExpectedCall::IsDenied),
        ),
    ]
}

/// The end of a call whose hook failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExpectedCall {
    Runs,
    IsDenied,
}

fn run_failing_hook(runner: &CheckRunner<'_>, keys: &str, expected: ExpectedCall) -> String {
    let hooks = format!("[[hook]]\nevent = \"PreToolUse\"\ntool = \"shell\"\n{keys}\n");
    let bench = runner.snell_bench(&hooks, ModelScript::new().shell("touch called.txt").text("Done."));
    let run = bench.run_prompt("Run the command");
    let found = if bench.project().join("called.txt").exists() { ExpectedCall::Runs } else { ExpectedCall::IsDenied };
    match found {
        _ if run.is_hung => "no: the agent hangs",
        _ if found == expected => "yes",
        ExpectedCall::Runs => "no: the call runs",
        ExpectedCall::IsDenied => "no: the call is denied",
    }
    .to_owned()
}
