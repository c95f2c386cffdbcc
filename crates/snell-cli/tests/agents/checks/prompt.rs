//! Claude Code at its prompt: the state that Snell shows after each thing a person does.

use std::time::Duration;

use serde_json::Value;
use snell_test_support::model::{ModelScript, ModelTurn, ScriptedCall};
use snell_test_support::skip::require_program;
use snell_test_support::wait::wait_until_within;

use super::{AgentCheck, CheckResults, CheckRunner, CheckSelection};
use crate::bench::AgentBench;
use crate::terminal::AgentTerminal;

pub const CHECKS: &[AgentCheck] = &[
    AgentCheck { name: "prompt", selection: CheckSelection::Full, run: check_prompt },
    AgentCheck { name: "typed_answer", selection: CheckSelection::Full, run: check_typed_answers },
];

/// Answers that Snell types at the prompt: an agent could complete, collapse or run parts of them.
const TYPED_ANSWERS: &[&str] = &[
    "yes, push it",
    "1 of them",
    "as in @README.md",
    "first look at /etc and !important",
    "; $(touch run) `touch run` #{pane_id} \"x\" 'y'",
    "grün 🟢 ok",
];

/// How long a state may take to be shown. It follows from an event, or from the transcript.
const STATE_LIMIT: Duration = Duration::from_secs(15);

/// A thing that a person does, and the states before and after it.
struct PromptScene {
    name: &'static str,
    script: fn() -> ModelScript,
    play: fn(&PromptStage<'_>) -> String,
}

const SCENES: &[PromptScene] = &[
    PromptScene {
        name: "prompt_dialog",
        script: || ModelScript::new().shell("touch asked.txt").text("Done."),
        play: answer_dialog,
    },
    PromptScene {
        name: "prompt_question",
        script: || ModelScript::new().call(ScriptedCall::Question("Which colour?".to_owned())).text("Done."),
        play: answer_question,
    },
    PromptScene {
        name: "prompt_esc_before",
        script: || ModelScript::new().turn(ModelTurn::HeldText("Too late.".to_owned())),
        play: interrupt_answer,
    },
    PromptScene {
        name: "prompt_esc_during",
        script: || ModelScript::new().turn(ModelTurn::HalfHeldText("One two three four five.".to_owned())),
        play: interrupt_answer,
    },
    PromptScene { name: "prompt_clear", script: one_answer, play: clear_session },
    PromptScene { name: "prompt_compact", script: one_answer, play: compact_session },
    PromptScene { name: "prompt_exit", script: one_answer, play: exit_session },
    PromptScene { name: "prompt_closed", script: one_answer, play: close_terminal },
];

fn one_answer() -> ModelScript {
    ModelScript::new().text("First answer.").text("Second answer.")
}

/// An agent at its prompt.
struct PromptStage<'a> {
    bench: &'a AgentBench,
    terminal: AgentTerminal<'a>,
}

fn check_prompt(runner: &CheckRunner<'_>) -> CheckResults {
    let is_tried = runner.agent.name == "claude" && require_program("tmux").is_some();
    let scenes = SCENES.iter().filter(|_| is_tried);
    let play = |scene: &PromptScene| {
        let bench = runner.snell_bench("", (scene.script)());
        let stage = PromptStage { terminal: AgentTerminal::open(&bench, "--permission-mode default"), bench: &bench };
        stage.terminal.wait_for_text("❯");
        (scene.name, (scene.play)(&stage))
    };
    scenes.map(play).collect()
}

/// Each turn ends with a question, and each answer comes from another terminal.
fn check_typed_answers(runner: &CheckRunner<'_>) -> CheckResults {
    if runner.agent.name != "claude" || require_program("tmux").is_none() {
        return Vec::new();
    }
    let script = (1..=TYPED_ANSWERS.len() + 1).fold(ModelScript::new(), |script, turn| script.text(ask_about(turn)));
    let bench = runner.snell_bench("[answers]\nenabled = true\n", script);
    let stage = PromptStage { terminal: AgentTerminal::open(&bench, "--permission-mode default"), bench: &bench };
    stage.terminal.wait_for_text("❯");
    stage.terminal.submit_line("Push it");
    let answered = TYPED_ANSWERS.iter().zip(1..).try_for_each(|(answer, turn)| stage.answer_request(turn, answer));
    let result = answered.and_then(|()| {
        stage.terminal.wait_for_text(&ask_about(TYPED_ANSWERS.len() + 1));
        let prompts = bench.list_prompts();
        let is_each_once = prompts[0] == "Push it" && prompts[1..] == *TYPED_ANSWERS;
        if is_each_once { Ok("yes".to_owned()) } else { Err(format!("{prompts:?}")) }
    });
    vec![("typed_answer", result.unwrap_or_else(|problem| format!("no: {problem}")))]
}

fn ask_about(turn: usize) -> String {
    format!("Shall I push number {turn}?")
}

fn answer_dialog(stage: &PromptStage<'_>) -> String {
    stage.terminal.submit_line("Make the file");
    stage.terminal.wait_for_text("Do you want to proceed?");
    let asked = stage.wait_for_state("awaiting_input");
    stage.terminal.press_key_until_gone("Enter", "Do you want to proceed?");
    stage.terminal.wait_for_text("Done.");
    describe_states(&[("in the dialog", asked), ("after it", stage.wait_for_state("idle"))])
}

fn answer_question(stage: &PromptStage<'_>) -> String {
    stage.terminal.submit_line("Ask me something");
    stage.terminal.wait_for_text("Which colour?");
    let asked = stage.wait_for_state("awaiting_input");
    stage.terminal.press_key_until_gone("Enter", "Which colour?");
    stage.terminal.wait_for_text("Done.");
    describe_states(&[("at the question", asked), ("after it", stage.wait_for_state("idle"))])
}

fn interrupt_answer(stage: &PromptStage<'_>) -> String {
    stage.terminal.submit_line("Say something");
    stage.bench.model.wait_for_held_answers(1);
    let busy = stage.wait_for_state("processing");
    stage.terminal.press_key("Escape");
    let interrupted = stage.wait_for_state("idle");
    describe_states(&[("before Esc", busy), ("after Esc", interrupted)])
}

fn clear_session(stage: &PromptStage<'_>) -> String {
    stage.say_first_answer();
    stage.terminal.submit_line("/clear");
    let cleared = stage.wait_for_states(&["idle"]);
    stage.terminal.submit_line("Say it again");
    stage.terminal.wait_for_text("First answer.");
    describe_states(&[("after it", cleared), ("after the next prompt", stage.wait_for_states(&["idle"]))])
}

fn compact_session(stage: &PromptStage<'_>) -> String {
    stage.say_first_answer();
    stage.terminal.submit_line("/compact");
    stage.terminal.wait_for_text("Compacted");
    describe_states(&[("after it", stage.wait_for_states(&["idle"])), ("workers", stage.expect_no_workers())])
}

fn exit_session(stage: &PromptStage<'_>) -> String {
    stage.say_first_answer();
    stage.terminal.submit_line("/exit");
    describe_states(&[("after it", stage.wait_for_states(&[]))])
}

fn close_terminal(stage: &PromptStage<'_>) -> String {
    stage.say_first_answer();
    stage.terminal.close();
    describe_states(&[("after it", stage.wait_for_states(&[]))])
}

/// `yes` if all are as expected, else what is not.
fn describe_states(states: &[(&str, Result<(), String>)]) -> String {
    let wrong = states.iter().filter_map(|(when, state)| Some(format!("{when}: {}", state.as_ref().err()?)));
    let wrong: Vec<_> = wrong.collect();
    if wrong.is_empty() { "yes".to_owned() } else { format!("no: {}", wrong.join("; ")) }
}

impl PromptStage<'_> {
    /// Answers the question of this turn as a person at another terminal does.
    fn answer_request(&self, turn: usize, answer: &str) -> Result<(), String> {
        let find_request = || {
            let requests = self.bench.run_snell(&["requests", "--json"]).json();
            let request = requests.as_array()?.iter().find(|request| request["title"] == ask_about(turn))?;
            request["uid"].as_str().map(str::to_owned)
        };
        let uid = wait_until_within(STATE_LIMIT, find_request).ok_or_else(|| format!("no request {turn}"))?;
        let run = self.bench.run_snell(&["answer", &uid, answer]);
        if run.code == 0 { Ok(()) } else { Err(format!("{answer:?}: {}{}", run.stderr, self.terminal.read_screen())) }
    }

    fn say_first_answer(&self) {
        self.terminal.submit_line("Say something");
        self.terminal.wait_for_text("First answer.");
        let _ = self.wait_for_state("idle");
    }

    /// Waits until the only agent that has not ended is in this state.
    fn wait_for_state(&self, state: &str) -> Result<(), String> {
        self.wait_for_states(&[state])
    }

    /// Waits until the agents that have not ended are in these states.
    fn wait_for_states(&self, expected: &[&str]) -> Result<(), String> {
        let read = || {
            let state = |agent: &Value| agent["state"].as_str().unwrap_or_default().to_owned();
            self.bench.list_agents().iter().map(state).filter(|state| state != "ended").collect::<Vec<_>>()
        };
        let reached = wait_until_within(STATE_LIMIT, || (read() == expected).then_some(()));
        reached.ok_or_else(|| format!("{:?}", read()))
    }

    /// No workers may appear by themselves.
    fn expect_no_workers(&self) -> Result<(), String> {
        let sessions = self.bench.list_agents();
        let sessions = sessions.iter().filter_map(|agent| agent["session_id"].as_str());
        let workers: Vec<_> = sessions.flat_map(|session| self.bench.list_workers(session)).collect();
        if workers.is_empty() { Ok(()) } else { Err(format!("{} workers", workers.len())) }
    }
}
