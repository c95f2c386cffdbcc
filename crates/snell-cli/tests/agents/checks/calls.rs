//! Tool calls: they run, are denied, asked about or changed.

use std::fs;

use snell_test_support::model::{ModelScript, ScriptedCall};

use super::{AgentCheck, CheckResults, CheckRunner, CheckSelection, yes_or};
use crate::bench::AgentBench;

pub const CHECKS: &[AgentCheck] = &[
    AgentCheck { name: "without_snell", selection: CheckSelection::Full, run: check_without_snell },
    AgentCheck { name: "harmless", selection: CheckSelection::Short, run: check_harmless },
    AgentCheck { name: "block", selection: CheckSelection::Short, run: check_block },
    AgentCheck { name: "block_elsewhere", selection: CheckSelection::Full, run: check_block_of_other_shells },
    AgentCheck { name: "block_write", selection: CheckSelection::Full, run: check_block_of_write },
    AgentCheck { name: "ask", selection: CheckSelection::Full, run: check_ask },
    AgentCheck { name: "change_input", selection: CheckSelection::Short, run: check_change_of_input },
    AgentCheck { name: "change_output", selection: CheckSelection::Full, run: check_change_of_output },
];

/// A file in the home directory that a dangerous command deletes.
const TRACE: &str = "snell-trace";

/// It deletes only [`TRACE`], if it is not denied.
pub const DANGEROUS_COMMAND: &str = "find ~ -name snell-trace -delete";

pub fn leave_trace(bench: &AgentBench) {
    fs::write(bench.home().join(TRACE), "here\n").unwrap();
}

pub fn has_trace(bench: &AgentBench) -> bool {
    bench.home().join(TRACE).exists()
}

/// Proves that the dangerous command is one, and that the script is played.
fn check_without_snell(runner: &CheckRunner<'_>) -> CheckResults {
    let bench = runner.bench(ModelScript::new().shell(DANGEROUS_COMMAND).text("Done."));
    leave_trace(&bench);
    let run = bench.run_prompt("Clean up the files");
    vec![("without_snell", yes_or(!has_trace(&bench), &format!("the command did not run: {run:?}")))]
}

/// Qwen Code loses the output of a command that ends at once, on a busy machine. So the commands whose output matters end with a
/// short sleep.
fn check_harmless(runner: &CheckRunner<'_>) -> CheckResults {
    let script = ModelScript::new().shell("printf harmless-%s 42 | tee harmless.txt; sleep 0.5").text("Done.");
    let bench = runner.snell_bench("", script);
    let run = bench.run_prompt("Run the command");
    let ran = bench.project().join("harmless.txt").exists();
    let is_read = bench.model.has_read("harmless-42");
    vec![("harmless", yes_or(ran && is_read && !run.is_hung, &format!("ran: {ran}, read: {is_read}, {run:?}")))]
}

fn check_block(runner: &CheckRunner<'_>) -> CheckResults {
    let bench = runner.snell_bench("", ModelScript::new().shell(DANGEROUS_COMMAND).text("Done."));
    leave_trace(&bench);
    bench.run_prompt("Clean up the files");
    let is_asked = !bench.model.requests().is_empty();
    let is_told = bench.model.has_read("would delete the whole home directory");
    vec![("block", yes_or(has_trace(&bench) && is_asked, "no")), ("reason", yes_or(is_told, "no"))]
}

/// The tools beside the shell that run commands.
fn check_block_of_other_shells(runner: &CheckRunner<'_>) -> CheckResults {
    let tools = runner.agent.tools.other_shells;
    let results: Vec<_> = (0..tools.len()).map(|index| run_other_shell(runner, index)).collect();
    let result = match results.iter().find(|result| *result != "yes") {
        Some(result) => result.clone(),
        None => yes_or(!tools.is_empty(), "has none"),
    };
    vec![("block_elsewhere", result)]
}

fn run_other_shell(runner: &CheckRunner<'_>, index: usize) -> String {
    let tool = runner.agent.tools.other_shells[index].name;
    let call = ScriptedCall::OtherShell { index, command: DANGEROUS_COMMAND.to_owned() };
    let bench = runner.snell_bench("", ModelScript::new().call(call).text("Done."));
    leave_trace(&bench);
    bench.run_prompt("Clean up the files");
    match (has_trace(&bench), bench.has_denied()) {
        (true, true) => "yes".to_owned(),
        (true, false) => format!("not tried: {tool} does not run"),
        (false, _) => format!("no: {tool} runs"),
    }
}

/// A hook for all tools that write files. The guard's own targets are no test, because some agents refuse them by themselves.
fn check_block_of_write(runner: &CheckRunner<'_>) -> CheckResults {
    let hooks = r#"
[[hook]]
event = "PreToolUse"
tool = "file.write"
run = """printf '{"decision": "block", "reason": "words-of-the-block"}'"""
"#;
    let bench = runner.snell_bench(hooks, ModelScript::new());
    let path = bench.project().join("written.txt");
    let call = ScriptedCall::WriteFile { path: path.to_str().unwrap().to_owned(), content: "Text.".to_owned() };
    bench.model.set_script(ModelScript::new().call(call).text("Done."));
    bench.run_prompt("Write the file");
    let result = match (path.exists(), bench.has_denied()) {
        (false, true) => "yes",
        (false, false) => "not tried: the agent refuses it by itself",
        (true, _) => "no: the file is written",
    };
    vec![("block_write", result.to_owned())]
}

/// Nobody is there to answer. The call must not run.
fn check_ask(runner: &CheckRunner<'_>) -> CheckResults {
    let hooks = r#"
[[hook]]
event = "PreToolUse"
tool = "shell"
run = """printf '{"decision": "ask", "reason": "words-of-the-question"}'"""
"#;
    let bench = runner.snell_bench(hooks, ModelScript::new().shell("touch asked.txt").text("Done."));
    let run = bench.run_prompt("Run the command");
    let result = if bench.project().join("asked.txt").exists() {
        "no: the call runs"
    } else if run.is_hung {
        "no: the agent hangs"
    } else if bench.model.has_read("words-of-the-question") {
        "denied, with the reason"
    } else {
        "denied, without a reason"
    };
    vec![("ask", result.to_owned())]
}

/// A hook that rewrites a part of the input, and a hook that writes the command only.
fn check_change_of_input(runner: &CheckRunner<'_>) -> CheckResults {
    let rewrite = r#"sed -E 's/.*"tool_input":(\{[^}]*\}).*/{"tool_input":\1}/; s/original/changed/'"#;
    let replace = r#"printf '{"tool_input": {"command": "touch changed.txt"}}'"#;
    vec![("change_input", change_input(runner, rewrite)), ("replace_input", change_input(runner, replace))]
}

fn change_input(runner: &CheckRunner<'_>, hook: &str) -> String {
    let hooks = format!("[[hook]]\nevent = \"PreToolUse\"\ntool = \"shell\"\nmodify = true\nrun = '''\n{hook}\n'''\n");
    let bench = runner.snell_bench(&hooks, ModelScript::new().shell("touch original.txt").text("Done."));
    bench.run_prompt("Run the command");
    let exists = |name: &str| bench.project().join(name).exists();
    match (exists("changed.txt"), exists("original.txt")) {
        (true, false) => "yes",
        (false, true) => "no: the original call runs",
        (true, true) => "no: both calls run",
        (false, false) => "no: the call is denied",
    }
    .to_owned()
}

fn check_change_of_output(runner: &CheckRunner<'_>) -> CheckResults {
    let hooks = r#"
[[hook]]
event = "PostToolUse"
tool = "shell"
modify = true
run = """printf '{"tool_output": "output-of-the-hook"}'"""
"#;
    let bench = runner.snell_bench(hooks, ModelScript::new().shell("printf output-%s 42; sleep 0.5").text("Done."));
    bench.run_prompt("Run the command");
    let result = match (bench.model.has_read("output-of-the-hook"), bench.model.has_read("output-42")) {
        (true, false) => "yes",
        (true, true) => "no: the model reads both",
        (false, true) => "no: the model reads the original",
        (false, false) => "no: the model reads neither",
    };
    vec![("change_output", result.to_owned())]
}
