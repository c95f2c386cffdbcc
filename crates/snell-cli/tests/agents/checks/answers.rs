//! Claude Code at its prompt, with a hook that waits: the first answer counts, in its dialog or through Snell.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use snell_test_support::model::{ModelScript, ScriptedCall};
use snell_test_support::process::ChildGuard;
use snell_test_support::skip::require_program;
use snell_test_support::wait::wait_until_within;

use super::{AgentCheck, CheckResults, CheckRunner, CheckSelection};
use crate::bench::AgentBench;
use crate::terminal::AgentTerminal;

pub const CHECKS: &[AgentCheck] =
    &[AgentCheck { name: "answers", selection: CheckSelection::Full, run: check_answers }];

/// How long a request may take to be opened or closed.
const REQUEST_LIMIT: Duration = Duration::from_secs(20);

/// The first text of the dialog about a permission.
const DIALOG: &str = "Do you want to proceed?";

/// A request, and the way in which it is answered.
struct AnswerScene {
    name: &'static str,
    call: fn() -> ScriptedCall,
    /// The first text of the agent's dialog.
    dialog: &'static str,
    answer: fn(&AnswerStage<'_>),
    /// How the request ends: its status, and a text that the model reads.
    status: &'static str,
    read: &'static str,
    /// Whether the call ran.
    ran: bool,
}

const SCENES: &[AnswerScene] = &[
    AnswerScene {
        name: "answer_allow",
        call: touch_file,
        dialog: DIALOG,
        answer: |stage| stage.answer(&["allow"]),
        status: "answered",
        read: "",
        ran: true,
    },
    AnswerScene {
        name: "answer_deny",
        call: touch_file,
        dialog: DIALOG,
        answer: |stage| stage.answer(&["deny", "--message", "not from my phone"]),
        status: "answered",
        read: "not from my phone",
        ran: false,
    },
    AnswerScene {
        name: "answer_question",
        call: || ScriptedCall::Question("Which colour?".to_owned()),
        dialog: "Which colour?",
        answer: |stage| stage.answer(&["2"]),
        status: "answered",
        read: "\"Which colour?\"=\"Blue\"",
        ran: false,
    },
    AnswerScene {
        name: "answer_in_dialog",
        call: touch_file,
        dialog: DIALOG,
        answer: |stage| stage.terminal.press_key_until_gone("Enter", DIALOG),
        status: "withdrawn",
        read: "",
        ran: true,
    },
    AnswerScene {
        name: "answer_esc",
        call: touch_file,
        dialog: DIALOG,
        answer: |stage| stage.terminal.press_key_until_gone("Escape", DIALOG),
        status: "withdrawn",
        read: "",
        ran: false,
    },
];

fn touch_file() -> ScriptedCall {
    ScriptedCall::shell("touch asked.txt")
}

/// An agent whose hook waits.
struct AnswerStage<'a> {
    bench: &'a AgentBench,
    terminal: AgentTerminal<'a>,
}

fn check_answers(runner: &CheckRunner<'_>) -> CheckResults {
    let is_tried = runner.agent.name == "claude" && require_program("tmux").is_some();
    let scenes = SCENES.iter().filter(|_| is_tried);
    scenes.map(|scene| (scene.name, play_scene(runner, scene))).collect()
}

/// `yes` if all is as expected, else what is not.
fn play_scene(runner: &CheckRunner<'_>, scene: &AnswerScene) -> String {
    let script = ModelScript::new().call((scene.call)()).text("Done.");
    let bench = runner.snell_bench("[answers]\nenabled = true\n", script);
    let _watcher = hold_watcher(&bench);
    let stage = AnswerStage { terminal: AgentTerminal::open(&bench, "--permission-mode default"), bench: &bench };
    stage.terminal.wait_for_text("❯");
    stage.terminal.submit_line("Go on");
    stage.terminal.wait_for_text(scene.dialog);
    if stage.wait_for_status("open").is_none() {
        return "no: no request is open".to_owned();
    }
    (scene.answer)(&stage);
    let Some(closed) = stage.wait_for_status(scene.status) else {
        return format!("no: {:?}", stage.list_requests());
    };
    if scene.ran || !scene.read.is_empty() {
        stage.terminal.wait_for_text("Done.");
    }
    let ran = bench.project().join("asked.txt").exists();
    let has_read = scene.read.is_empty() || bench.model.requests().iter().any(|request| request.contains(scene.read));
    match (ran == scene.ran, has_read) {
        (true, true) => "yes".to_owned(),
        (false, _) => format!("no: the call ran: {ran}; {closed}"),
        (true, false) => "no: the model did not read the answer".to_owned(),
    }
}

/// A process that can pass on answers.
fn hold_watcher(bench: &AgentBench) -> ChildGuard {
    let mut command = bench.command(Path::new(env!("CARGO_BIN_EXE_snell")));
    ChildGuard::spawn(command.args(["requests", "--watch", "--json"]).stdout(Stdio::null()))
}

impl AnswerStage<'_> {
    fn list_requests(&self) -> Vec<Value> {
        let listed = self.bench.run_snell(&["requests", "--all", "--json"]);
        listed.json().as_array().cloned().unwrap_or_default()
    }

    /// Waits until the only request has this status.
    fn wait_for_status(&self, status: &str) -> Option<Value> {
        let find = || self.list_requests().into_iter().next().filter(|request| request["status"] == status);
        wait_until_within(REQUEST_LIMIT, find)
    }

    fn answer(&self, arguments: &[&str]) {
        let uid = self.list_requests()[0]["uid"].as_str().unwrap().to_owned();
        let answered = self.bench.run_snell(&[&["answer", &uid], arguments].concat());
        assert_eq!(answered.code, 0, "{answered:?}");
    }
}
