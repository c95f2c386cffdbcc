//! Claude Code at its prompt, beside `snell serve`: each change of its state shows on the server within a second, although
//! the server checks all agents once a minute.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell_test_support::model::{ModelScript, ModelTurn, ScriptedCall};
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::skip::require_program;
use snell_test_support::wait::wait_until_within;

use super::{AgentCheck, CheckResults, CheckRunner, CheckSelection, report_result};
use crate::bench::AgentBench;
use crate::terminal::AgentTerminal;

pub const CHECKS: &[AgentCheck] =
    &[AgentCheck { name: "live", selection: CheckSelection::Full, run: check_live_states }];

/// How late a change may show.
const SHOWN_LIMIT: Duration = Duration::from_secs(1);

/// A change that does not show within this time is lost.
const STATE_LIMIT: Duration = Duration::from_secs(30);

/// A thing that happens to an agent, and the state that must follow.
struct LiveScene {
    name: &'static str,
    script: fn() -> ModelScript,
    /// Plays up to the moment of the change.
    prepare: fn(&LiveStage<'_>),
    change: fn(&LiveStage<'_>),
    expected: &'static str,
}

const SCENES: &[LiveScene] = &[
    LiveScene {
        name: "live_esc_before",
        script: || ModelScript::new().turn(ModelTurn::HeldText("Too late.".to_owned())),
        prepare: hold_answer,
        change: |stage| stage.terminal.press_key("Escape"),
        expected: "idle",
    },
    LiveScene {
        name: "live_esc_during",
        script: || ModelScript::new().turn(ModelTurn::HalfHeldText("One two three four five.".to_owned())),
        prepare: hold_answer,
        change: |stage| stage.terminal.press_key("Escape"),
        expected: "idle",
    },
    LiveScene {
        name: "live_refused",
        script: || ModelScript::new().shell("touch asked.txt").text("Done."),
        prepare: |stage| {
            stage.terminal.submit_line("Make the file");
            stage.terminal.wait_for_text("Do you want to proceed?");
            stage.expect_state("awaiting_input");
        },
        change: |stage| stage.terminal.press_key_until_gone("Escape", "Do you want to proceed?"),
        expected: "idle",
    },
    LiveScene {
        name: "live_api_error",
        script: || ModelScript::new().turn(ModelTurn::Refused),
        prepare: |_| {},
        change: |stage| {
            stage.terminal.submit_line("Say something");
            stage.terminal.wait_for_text("API Error");
        },
        expected: "idle",
    },
    LiveScene {
        name: "live_killed",
        script: || ModelScript::new().turn(ModelTurn::HeldText("Too late.".to_owned())),
        prepare: hold_answer,
        change: |stage| stage.bench.kill_agent(),
        expected: "ended",
    },
    LiveScene {
        name: "live_closed",
        script: || ModelScript::new().turn(ModelTurn::HeldText("Too late.".to_owned())),
        prepare: hold_answer,
        change: |stage| stage.terminal.close(),
        expected: "ended",
    },
    LiveScene {
        name: "live_subagent",
        script: || {
            let script = ModelScript::new().call(ScriptedCall::Subagent).text("It runs.").text("It ended.");
            script.subagent(vec![ModelTurn::HeldText("Nothing there.".to_owned())])
        },
        prepare: |stage| {
            stage.terminal.submit_line("Start it");
            stage.bench.model.wait_for_held_answers(1);
            stage.expect_state("background 1 0 0");
        },
        change: |stage| {
            stage.bench.model.release();
            stage.terminal.wait_for_text("It ended.");
        },
        expected: "idle",
    },
    LiveScene {
        name: "live_command",
        script: || {
            let input = json!({"command": "until test -e ready; do sleep 0.1; done", "run_in_background": true});
            let call = ScriptedCall::Native { name: "Bash", input };
            ModelScript::new().call(call).text("It runs.").text("It ended.")
        },
        prepare: |stage| {
            stage.terminal.submit_line("Start it");
            stage.expect_state("background 0 1 0");
        },
        change: |stage| {
            std::fs::write(stage.bench.project().join("ready"), "").unwrap();
            stage.terminal.wait_for_text("It ended.");
        },
        expected: "idle",
    },
    LiveScene {
        name: "live_wakeup",
        script: || {
            let input = json!({"cron": "0 0 1 1 *", "prompt": "Go on.", "recurring": false});
            ModelScript::new().call(ScriptedCall::Native { name: "CronCreate", input }).text("It is set.")
        },
        prepare: |_| {},
        change: |stage| {
            stage.terminal.submit_line("Wake up later");
            stage.terminal.wait_for_text("It is set.");
        },
        expected: "background 0 0 1",
    },
];

fn hold_answer(stage: &LiveStage<'_>) {
    stage.terminal.submit_line("Say something");
    stage.bench.model.wait_for_held_answers(1);
    stage.expect_state("processing");
}

/// An agent at its prompt, and the server that shows it.
struct LiveStage<'a> {
    bench: &'a AgentBench,
    terminal: AgentTerminal<'a>,
    server: ServeProcess,
}

fn check_live_states(runner: &CheckRunner<'_>) -> CheckResults {
    let is_tried = runner.agent.name == "claude" && require_program("tmux").is_some();
    let only = std::env::var("SNELL_AGENT_SCENE").ok();
    let scenes = SCENES.iter().filter(|scene| is_tried && only.as_ref().is_none_or(|only| scene.name == only));
    scenes.map(|scene| (scene.name, play_scene(runner, scene))).collect()
}

fn play_scene(runner: &CheckRunner<'_>, scene: &LiveScene) -> String {
    let bench = runner.snell_bench("", (scene.script)());
    let server = bench.start_server();
    let stage = LiveStage { terminal: AgentTerminal::open(&bench, "--permission-mode default"), bench: &bench, server };
    stage.terminal.wait_for_text("❯");
    (scene.prepare)(&stage);
    (scene.change)(&stage);
    let changed = Instant::now();
    let shown = wait_until_within(STATE_LIMIT, || (stage.read_state() == scene.expected).then(|| changed.elapsed()));
    let Some(after) = shown else { return format!("no: {}", stage.read_state()) };
    report_result(&format!("          {:<16} {} after {:.2} s", scene.name, scene.expected, after.as_secs_f64()));
    if after <= SHOWN_LIMIT { "yes".to_owned() } else { format!("late: after {:.1} s", after.as_secs_f64()) }
}

impl LiveStage<'_> {
    /// The state of the only agent; work in the background as `background SUBAGENTS COMMANDS WAKEUPS`.
    fn read_state(&self) -> String {
        let agents = self.server.get_json("/api/agents?ended=true")["items"].take();
        let describe = |agent: &Value| match &agent["background"] {
            Value::Null => agent["state"].as_str().unwrap().to_owned(),
            work => format!("background {} {} {}", work["subagents"], work["commands"], work["wakeups"]),
        };
        agents.as_array().unwrap().iter().map(describe).collect::<Vec<_>>().join(", ")
    }

    #[track_caller]
    fn expect_state(&self, state: &str) {
        let reached = wait_until_within(STATE_LIMIT, || (self.read_state() == state).then_some(()));
        assert!(reached.is_some(), "not {state}, but {}:\n{}", self.read_state(), self.terminal.read_screen());
    }
}
