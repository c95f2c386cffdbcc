//! Sessions in the store: resumed, with a sub-agent, killed; and the end of Snell in an agent.

use std::time::Duration;

use serde_json::Value;
use snell_test_support::files::list_tree;
use snell_test_support::model::{ModelScript, ModelTurn, ScriptedCall};
use snell_test_support::process::{Signal, send_signal_to_group};
use snell_test_support::wait::wait_until_within;

use super::calls::{DANGEROUS_COMMAND, has_trace, leave_trace};
use super::{AgentCheck, CheckResults, CheckRunner, CheckSelection, yes_or};
use crate::bench::AgentBench;

pub const CHECKS: &[AgentCheck] = &[
    AgentCheck { name: "session", selection: CheckSelection::Short, run: check_session },
    AgentCheck { name: "question", selection: CheckSelection::Full, run: check_question },
    AgentCheck { name: "resume", selection: CheckSelection::Full, run: check_resume },
    AgentCheck { name: "subagent", selection: CheckSelection::Full, run: check_subagent },
    AgentCheck { name: "interrupt", selection: CheckSelection::Full, run: check_interrupt },
    AgentCheck { name: "kill", selection: CheckSelection::Full, run: check_kill },
    AgentCheck { name: "uninstall", selection: CheckSelection::Short, run: check_uninstall },
];

/// One line for an agent: its product and its state.
fn describe_agents(agents: &[Value]) -> String {
    let describe = |agent: &Value| {
        format!("{} {}", agent["product"].as_str().unwrap_or("?"), agent["state"].as_str().unwrap_or("?"))
    };
    agents.iter().map(describe).collect::<Vec<_>>().join(", ")
}

/// How long after its end an agent may write its last words to its transcript.
const LATE_WORDS: Duration = Duration::from_secs(5);

/// So long may it take until the state of a disturbed agent is known, on a busy machine.
const STATE_LIMIT: Duration = Duration::from_secs(60);

fn has_last_words(agent: &Value) -> bool {
    agent["last_words"].as_str().is_some_and(|words| words.contains("Last words."))
}

/// Whether Snell knows one agent of this product, whose session is over.
fn check_session(runner: &CheckRunner<'_>) -> CheckResults {
    let bench = runner.snell_bench("", ModelScript::new().shell("echo one").text("Last words."));
    bench.run_prompt("Run the command");
    // Some agents write their last words after the event.
    wait_until_within(LATE_WORDS, || Some(()).filter(|()| bench.list_agents().iter().any(has_last_words)));
    let agents = bench.list_agents();
    let [agent] = agents.as_slice() else {
        return vec![("session", format!("no: {} agents: {}", agents.len(), describe_agents(&agents)))];
    };
    let field = |name: &str| agent[name].as_str().unwrap_or_default().to_owned();
    vec![
        ("session", yes_or(field("product") == runner.agent.name, &format!("no: {}", field("product")))),
        ("state_at_end", field("state")),
        ("last_words", yes_or(has_last_words(agent), "no")),
    ]
}

/// Whether the last message of an agent is seen as a question to its user. Its session may end right after that.
fn check_question(runner: &CheckRunner<'_>) -> CheckResults {
    let script = ModelScript::new().shell("echo one").text("Both files are old. Shall I delete them?");
    let bench = runner.snell_bench("", script);
    bench.run_prompt("Look at the files");
    let find_question = || bench.list_turn_intents().into_iter().find(|intent| intent == "question");
    let question = wait_until_within(LATE_WORDS, find_question);
    vec![("question", yes_or(question.is_some(), &format!("no: {:?}", bench.list_turn_intents())))]
}

fn check_resume(runner: &CheckRunner<'_>) -> CheckResults {
    let script = ModelScript::new().text("First answer.").text("Second answer.");
    let bench = runner.snell_bench("", script);
    bench.run_prompt("Say the first");
    let before = bench.list_agents();
    let Some(run) = bench.resume_session("Say the second") else {
        return vec![("resume", "not tried: takes a terminal".to_owned())];
    };
    let is_resumed = bench.model.requests().iter().any(|request| request.last_played_turn() == Some(0));
    if !is_resumed || !bench.model.has_read("Say the second") {
        return vec![("resume", format!("not tried: {}", run.output))];
    }
    let after = bench.list_agents();
    let ids = |agents: &[Value]| agents.iter().map(|agent| agent["agent_id"].clone()).collect::<Vec<_>>();
    let is_same = before.len() == 1 && ids(&before) == ids(&after);
    vec![("resume", yes_or(is_same, &format!("no: {} agents, then {}", before.len(), after.len())))]
}

fn check_subagent(runner: &CheckRunner<'_>) -> CheckResults {
    if runner.agent.tools.subagent.is_none() {
        return vec![("subagent", "has none".to_owned())];
    }
    let bench = run_subagent(runner, "touch subagent.txt");
    if !bench.project().join("subagent.txt").exists() {
        return vec![("subagent", "not tried: it does not start".to_owned())];
    }
    let family = describe_family(&bench);
    let bench = run_subagent(runner, &format!("touch subagent.txt; {DANGEROUS_COMMAND}"));
    vec![("subagent", family), ("subagent_block", yes_or(has_trace(&bench) && bench.has_denied(), "no"))]
}

/// Runs an agent whose sub-agent runs a line of shell.
fn run_subagent(runner: &CheckRunner<'_>, command: &str) -> AgentBench {
    // Some agents do not wait for their sub-agents.
    let wait = "for i in $(seq 30); do test -f subagent.txt && break; sleep 0.1; done; sleep 1";
    let script = ModelScript::new().call(ScriptedCall::Subagent).shell(wait).text("Parent is done.");
    let call = ModelTurn::Calls(vec![ScriptedCall::shell(command)]);
    let script = script.subagent(vec![call, ModelTurn::Text("Sub-agent is done.".to_owned())]);
    let bench = runner.snell_bench("", script);
    leave_trace(&bench);
    bench.run_prompt("Start a helper");
    bench
}

/// How Snell tells a sub-agent from its parent.
fn describe_family(bench: &AgentBench) -> String {
    let agents = bench.list_agents();
    let is_parent =
        |agent: &&Value| agent["last_words"].as_str().is_some_and(|words| words.contains("Parent is done."));
    let Some(parent) = agents.iter().find(is_parent).or(agents.first().filter(|_| agents.len() == 1)) else {
        return format!("no: {} agents, none is the parent", agents.len());
    };
    if parent["last_words"].as_str().is_some_and(|words| words.contains("Sub-agent is done.")) {
        return "no: the words of the sub-agent are those of its parent".to_owned();
    }
    let workers = bench.list_workers(parent["session_id"].as_str().unwrap());
    match (agents.len(), workers.len()) {
        (1, 1) => "yes: a worker".to_owned(),
        (2, 0) => "yes: an agent".to_owned(),
        (2, 1) => "yes: a worker and an agent".to_owned(),
        (agents, workers) => format!("no: {agents} agents, {workers} workers"),
    }
}

/// Ctrl-C while the model thinks.
fn check_interrupt(runner: &CheckRunner<'_>) -> CheckResults {
    let (_, state) = disturb_busy_agent(runner, |_, group| send_signal_to_group(group, Signal::INT));
    vec![("interrupt", state)]
}

/// `kill -9` while the model thinks.
fn check_kill(runner: &CheckRunner<'_>) -> CheckResults {
    let (busy, state) = disturb_busy_agent(runner, |bench, _| bench.kill_agent());
    vec![("kill_before", busy), ("kill", state)]
}

/// The state of an agent while the model thinks, and after a disturbance of its process group.
fn disturb_busy_agent(runner: &CheckRunner<'_>, disturb: fn(&AgentBench, u32)) -> (String, String) {
    let script = ModelScript::new().shell("touch called.txt").turn(ModelTurn::HeldText("Never said.".to_owned()));
    let bench = runner.snell_bench("", script);
    let mut child = bench.spawn_prompt("Run the command");
    bench.model.wait_for_held_answers(1);
    let busy = read_state(&bench);
    disturb(&bench, child.id());
    let state = wait_until_within(STATE_LIMIT, || Some(read_state(&bench)).filter(|state| *state != busy));
    bench.kill_agent();
    child.wait().unwrap();
    (busy, state.unwrap_or_else(|| "no: the state stays".to_owned()))
}

/// The state of the only agent.
fn read_state(bench: &AgentBench) -> String {
    match bench.list_agents().as_slice() {
        [agent] => agent["state"].as_str().unwrap_or_default().to_owned(),
        agents => format!("{} agents", agents.len()),
    }
}

/// Whether the home directory is as it was, apart from Snell's own data.
fn check_uninstall(runner: &CheckRunner<'_>) -> CheckResults {
    let bench = runner.bench(ModelScript::new());
    let list = || {
        let data = bench.home().join(".local");
        list_tree(&bench.home()).into_iter().filter(|(path, _)| !path.starts_with(&data)).collect::<Vec<_>>()
    };
    let before = list();
    bench.install_snell();
    let installed = list();
    let run = bench.run_snell(&["uninstall", runner.agent.name]);
    assert_eq!(run.code, 0, "{run:?}");
    let left: Vec<_> = list().into_iter().filter(|entry| !before.contains(entry)).map(|(path, _)| path).collect();
    vec![
        ("install", yes_or(installed != before, "no: it changes nothing")),
        ("uninstall", yes_or(list() == before, &format!("no: {left:?}"))),
    ]
}
