//! Texts of hooks that the model reads: context, and reasons to go on.

use snell_test_support::model::ModelScript;

use super::{AgentCheck, CheckResults, CheckRunner, CheckSelection, yes_or};

pub const CHECKS: &[AgentCheck] = &[
    AgentCheck { name: "context", selection: CheckSelection::Short, run: check_context },
    AgentCheck { name: "stop", selection: CheckSelection::Full, run: check_stop },
];

fn check_context(runner: &CheckRunner<'_>) -> CheckResults {
    let events = [
        ("context_session", "SessionStart"),
        ("context_prompt", "UserPromptSubmit"),
        ("context_call", "PreToolUse"),
        ("context_result", "PostToolUse"),
    ];
    let hook = |(_, event): &(&str, &str)| {
        format!("[[hook]]\nevent = \"{event}\"\nrun = \"\"\"printf '{{\"context\": \"words-of-{event}\"}}'\"\"\"\n\n")
    };
    let hooks: String = events.iter().map(hook).collect();
    let bench = runner.snell_bench(&hooks, ModelScript::new().shell("echo one").text("Done."));
    bench.run_prompt("Run the command");
    events.map(|(name, event)| (name, yes_or(bench.model.has_read(&format!("words-of-{event}")), "no"))).to_vec()
}

/// A hook that blocks the first stop only.
fn check_stop(runner: &CheckRunner<'_>) -> CheckResults {
    let hooks = r#"
[[hook]]
event = "Stop"
run = """echo stop >> $PROJECT/stops.txt; test $(wc -l < $PROJECT/stops.txt) -gt 1 || printf '{"decision": "block", "reason": "words-to-go-on"}'"""
"#;
    let bench = runner.snell_bench(hooks, ModelScript::new().text("First.").text("Second.").text("Third."));
    let run = bench.run_prompt("Say something");
    let is_told = bench.model.has_read("words-to-go-on");
    let turns = bench.model.requests().len();
    let result = match (is_told, turns) {
        _ if run.is_hung => "no: the agent hangs".to_owned(),
        (true, 2) => "yes".to_owned(),
        (true, _) => format!("no: the model answers {turns} times"),
        (false, 1) => "no: the agent stops".to_owned(),
        (false, _) => "goes on, without the reason".to_owned(),
    };
    vec![("stop", result)]
}
