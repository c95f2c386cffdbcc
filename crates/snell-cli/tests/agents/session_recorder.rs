//! Records sessions of real agents: the transcript as it grows, and the events that Snell received.
//!
//! `cargo xtask states --record AGENT` runs it. It writes `fixtures/recordings/AGENT/SCENE`, except for `expected.jsonl`, which
//! people write. Paths of this machine and long texts are replaced.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};
use snell::{AgentProduct, Timestamp};
use snell_test_support::agents::{AgentCache, RealAgent};
use snell_test_support::database::query_texts;
use snell_test_support::files::{list_tree, write_file};
use snell_test_support::model::{ModelScript, ModelTurn, ScriptedCall};
use snell_test_support::process::{Signal, send_signal_to_group};
use snell_test_support::wait::wait_until_within;

use crate::bench::AgentBench;
use crate::terminal::AgentTerminal;

/// The agent to record.
const AGENT_VARIABLE: &str = "SNELL_RECORD_AGENT";

/// How often sizes of files are compared.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(10);

/// How long a state may take to be reached.
const STATE_LIMIT: Duration = Duration::from_secs(20);

/// How long after a turn its last lines are written.
const LATE_WRITES: Duration = Duration::from_secs(3);

/// Longer texts are truncated.
const MAX_TEXT_CHARS: usize = 300;

/// Lines that are longer after that are left out: lists of tools and the like.
const MAX_LINE_BYTES: usize = 3_000;

/// Longer lists are truncated.
const MAX_ELEMENTS: usize = 12;

/// A session to record.
struct RecordedScene {
    name: &'static str,
    script: fn() -> ModelScript,
    play: fn(&AgentBench),
}

/// At the prompt of Claude Code.
const PROMPT_SCENES: &[RecordedScene] = &[
    RecordedScene { name: "turn", script: || ModelScript::new().text("Done."), play: |bench| play_dialog(bench, &[]) },
    RecordedScene {
        name: "permission",
        script: || ModelScript::new().shell("touch asked.txt").text("Done."),
        play: |bench| play_dialog(bench, &[("Do you want to proceed?", "Enter")]),
    },
    RecordedScene {
        name: "denied",
        script: || ModelScript::new().shell("touch asked.txt").text("Done."),
        play: |bench| play_dialog(bench, &[("Do you want to proceed?", "Escape")]),
    },
    RecordedScene {
        name: "question-tool",
        script: || ModelScript::new().call(ScriptedCall::Question("Which colour?".to_owned())).text("Done."),
        play: |bench| play_dialog(bench, &[("Which colour?", "Enter")]),
    },
    RecordedScene {
        name: "question",
        script: || ModelScript::new().text("Both files are old. Shall I delete them?"),
        play: |bench| play_dialog(bench, &[]),
    },
    RecordedScene {
        name: "interrupt",
        script: || ModelScript::new().turn(ModelTurn::HalfHeldText("One two three four five.".to_owned())),
        play: |bench| {
            let terminal = open_terminal(bench);
            terminal.submit_line("Say something");
            bench.model.wait_for_held_answers(1);
            wait_for_state(bench, &["processing"]);
            terminal.press_key("Escape");
            terminal.wait_for_text("Interrupted");
            thread::sleep(LATE_WRITES);
        },
    },
    RecordedScene {
        name: "api-error",
        script: || ModelScript::new().turn(ModelTurn::Refused),
        play: |bench| {
            let terminal = open_terminal(bench);
            terminal.submit_line("Say something");
            terminal.wait_for_text("refused the request");
            thread::sleep(LATE_WRITES);
        },
    },
    RecordedScene { name: "subagent", script: script_subagent, play: |bench| play_dialog(bench, &[]) },
];

/// With a prompt, and without a user.
const HEADLESS_SCENES: &[RecordedScene] = &[
    RecordedScene { name: "turn", script: || ModelScript::new().text("Done."), play: run_prompt },
    RecordedScene {
        name: "tool-call",
        script: || ModelScript::new().shell("echo one").shell("echo two").text("Done."),
        play: run_prompt,
    },
    RecordedScene {
        name: "question",
        script: || ModelScript::new().shell("echo one").text("Both files are old. Shall I delete them?"),
        play: run_prompt,
    },
    RecordedScene {
        name: "interrupt",
        script: || ModelScript::new().shell("echo one").turn(ModelTurn::HeldText("Never said.".to_owned())),
        play: |bench| {
            let mut child = bench.spawn_prompt("Say something");
            bench.model.wait_for_held_answers(1);
            send_signal_to_group(child.id(), Signal::INT);
            child.wait().unwrap();
        },
    },
    RecordedScene { name: "api-error", script: || ModelScript::new().turn(ModelTurn::Refused), play: run_prompt },
    RecordedScene { name: "subagent", script: script_subagent, play: run_prompt },
];

fn script_subagent() -> ModelScript {
    let script = ModelScript::new().call(ScriptedCall::Subagent).text("Parent is done.");
    script.subagent(vec![ModelTurn::Text("Sub-agent is done.".to_owned())])
}

fn run_prompt(bench: &AgentBench) {
    bench.run_prompt("Do the work");
}

fn open_terminal(bench: &AgentBench) -> AgentTerminal<'_> {
    let terminal = AgentTerminal::open(bench, "--permission-mode default");
    terminal.wait_for_text("❯");
    terminal
}

/// Gives a prompt, presses a key at each dialog, and waits for the end of the turn.
fn play_dialog(bench: &AgentBench, dialogs: &[(&str, &str)]) {
    let terminal = open_terminal(bench);
    terminal.submit_line("Do the work");
    for (text, key) in dialogs {
        terminal.wait_for_text(text);
        wait_for_state(bench, &["awaiting_input"]);
        terminal.press_key_until_gone(key, text);
    }
    match dialogs {
        [(_, "Escape")] => terminal.wait_for_text("Interrupted"),
        _ => {
            wait_for_state(bench, &["idle", "awaiting_input"]);
        }
    }
    thread::sleep(LATE_WRITES);
}

/// Waits until the agent is in one of these states, after the first moments of its turn.
fn wait_for_state(bench: &AgentBench, states: &[&str]) {
    thread::sleep(LATE_WRITES / 2);
    let is_in_state = |agent: &Value| states.contains(&agent["state"].as_str().unwrap_or_default());
    let is_reached = || bench.list_agents().iter().any(is_in_state).then_some(());
    let _ = wait_until_within(STATE_LIMIT, is_reached);
}

/// Watches the sizes of transcripts.
struct GrowthSampler {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<(Timestamp, PathBuf, u64)>>,
}

impl GrowthSampler {
    fn start(directory: PathBuf) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ends = Arc::clone(&is_over);
        let thread = thread::spawn(move || {
            let mut sizes = BTreeMap::new();
            let mut growth = Vec::new();
            while !ends.load(Ordering::Relaxed) {
                for path in list_files(&directory) {
                    let size = fs::metadata(&path).map(|metadata| metadata.len()).unwrap_or(0);
                    if size > 0 && sizes.insert(path.clone(), size) != Some(size) {
                        growth.push((Timestamp::now(), path, size));
                    }
                }
                thread::sleep(SAMPLE_INTERVAL);
            }
            growth
        });
        Self { is_over, thread }
    }

    fn stop(self) -> Vec<(Timestamp, PathBuf, u64)> {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

fn list_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { list_files(&path) } else { vec![path] }).collect()
}

#[test]
#[ignore = "cargo xtask states --record runs it"]
fn sessions_are_recorded() {
    let name = std::env::var(AGENT_VARIABLE).expect("SNELL_RECORD_AGENT names the agent");
    let agent = RealAgent::find(&name).expect("an agent of cargo xtask agents");
    let product = AgentProduct::find_by_name(&name).unwrap();
    let cache = AgentCache::locate().unwrap();
    assert_eq!(cache.missing_packages(agent), Vec::<String>::new(), "run cargo xtask agents {name}");
    let scenes = if name == "claude" { PROMPT_SCENES } else { HEADLESS_SCENES };
    let only = std::env::var("SNELL_AGENT_CHECK").ok();
    for scene in scenes.iter().filter(|scene| only.as_ref().is_none_or(|only| only == scene.name)) {
        if scene.name == "subagent" && agent.tools.subagent.is_none() {
            continue;
        }
        let bench = AgentBench::new(agent, &cache, (scene.script)());
        bench.install_snell();
        let files = product.transcript_files.unwrap();
        let sampler = GrowthSampler::start(bench.home().join(files.directory.default).join(files.below));
        (scene.play)(&bench);
        thread::sleep(LATE_WRITES);
        let growth = sampler.stop();
        SessionRecording { bench: &bench, files_suffix: files.suffix, growth }.write(scene.name);
    }
}

/// What was recorded of a session.
struct SessionRecording<'a> {
    bench: &'a AgentBench,
    files_suffix: &'static str,
    growth: Vec<(Timestamp, PathBuf, u64)>,
}

impl SessionRecording<'_> {
    fn write(&self, scene: &str) {
        let directory =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recordings").join(self.bench.agent.name);
        let directory = directory.join(scene);
        let _ = self.bench.list_agents();
        let is_transcript = |path: &Path| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.ends_with(self.files_suffix) && !name.starts_with("agent-")
        };
        let path = self.growth.iter().map(|(_, path, _)| path).find(|path| is_transcript(path)).unwrap().clone();
        let content = fs::read_to_string(&path).unwrap();
        let mut sizes = vec![(0, 0)];
        let mut transcript = String::new();
        for line in content.split_inclusive('\n') {
            let mut line_value: Value = serde_json::from_str(line).unwrap();
            shorten(&mut line_value);
            let shown = self.hide_paths(&line_value.to_string());
            if shown.len() <= MAX_LINE_BYTES {
                transcript.push_str(&shown);
                transcript.push('\n');
            }
            sizes.push((sizes.last().unwrap().0 + line.len() as u64, transcript.len()));
        }
        let session =
            query_texts(&self.database(), "SELECT session_id FROM conversations ORDER BY conversation_id").remove(0);
        let mut events = Vec::new();
        let mut last = 0;
        for (at, _, size) in self.growth.iter().filter(|(_, grown, _)| *grown == path) {
            let reached = sizes.iter().rev().find(|(original, _)| original <= size).map_or(0, |(_, own)| *own);
            if reached > last {
                let kind = if last == 0 { "transcript_new" } else { "transcript_activity" };
                let path = self.hide_paths(path.to_str().unwrap());
                let event = json!({"kind": kind, "session_id": session, "transcript_path": path, "file_size": reached});
                events.push((*at, event));
                last = reached;
            }
        }
        events.extend(self.list_hooks());
        events.sort_by_key(|(at, _)| *at);
        let lines = events.into_iter().map(|(at, mut event)| {
            event["ts"] = at.to_string().into();
            format!("{event}\n")
        });
        write_file(&directory.join("events.jsonl"), lines.collect::<String>());
        write_file(&directory.join("transcript.jsonl"), transcript);
        assert!(!list_tree(&directory).is_empty());
    }

    fn database(&self) -> PathBuf {
        self.bench.home().join(".local/share/snell/snell.db")
    }

    fn list_hooks(&self) -> Vec<(Timestamp, Value)> {
        let sql = "SELECT json_object('at', at, 'name', name, 'payload', payload) \
                   FROM events JOIN payloads USING (id) ORDER BY id";
        let rows = query_texts(&self.database(), sql);
        let read = |row: &String| {
            let row: Value = serde_json::from_str(row).unwrap();
            let mut payload: Value = serde_json::from_str(row["payload"].as_str().unwrap()).unwrap();
            shorten(&mut payload);
            let payload: Value = serde_json::from_str(&self.hide_paths(&payload.to_string())).unwrap();
            let at = Timestamp::from_microsecond(row["at"].as_i64().unwrap()).unwrap();
            (at, json!({"kind": "hook_received", "hook_name": row["name"], "payload": payload}))
        };
        rows.iter().map(read).collect()
    }

    fn hide_paths(&self, text: &str) -> String {
        let (home, project) = (self.bench.home(), self.bench.project());
        let root = home.parent().unwrap();
        let mut text = text.to_owned();
        for (path, shown) in [(project.as_path(), "/home/me/project"), (&home, "/home/me"), (root, "/tmp/agent")] {
            let path = path.to_str().unwrap();
            text = text.replace(path, shown).replace(&path.replace(['/', '.'], "-"), &shown.replace('/', "-"));
        }
        let snell = Path::new(env!("CARGO_BIN_EXE_snell")).parent().unwrap();
        let own_home = std::env::var("HOME").unwrap();
        text.replace(snell.to_str().unwrap(), "/opt/snell").replace(&format!("{own_home}/"), "/opt/")
    }
}

/// Truncates long texts and lists.
fn shorten(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().count() > MAX_TEXT_CHARS => {
            *text = text.chars().take(MAX_TEXT_CHARS).chain(['…']).collect();
        }
        Value::Array(list) => {
            list.truncate(MAX_ELEMENTS);
            list.iter_mut().for_each(shorten);
        }
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        _ => {}
    }
}
