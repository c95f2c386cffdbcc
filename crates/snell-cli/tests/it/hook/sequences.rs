//! What agents really send, step by step: `fixtures/sequences/*.jsonl`.
//!
//! Each line is a step. It may let a named process end (`ends`), append lines to a transcript (`transcript`), send a
//! `payload` from a named `process` with variables (`env`), and let the store look after silent agents (`reconcile`). Then
//! what is expected must be so. `{project}` stands for the project's directory.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};
use snell_store::{ReconcileScope, Store};
use snell_test_support::database::extract_first_column;
use snell_test_support::files::find_repository_root;
use snell_test_support::process::LiveProcess;

use super::{HookSandbox, RecordingMode};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceStep {
    ends: Option<String>,
    #[serde(default)]
    transcript: BTreeMap<String, Vec<Value>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default = "default_process_name")]
    process: String,
    payload: Option<Value>,
    #[serde(default)]
    reconcile: bool,
    #[serde(default)]
    expect: SequenceExpectation,
}

fn default_process_name() -> String {
    "claude".into()
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct SequenceExpectation {
    /// Why it is expected, for people.
    #[serde(rename = "note")]
    _note: Option<String>,
    /// The agent that the event belongs to; what follows is about it.
    agent: Option<i64>,
    /// How many agents there are.
    agents: Option<i64>,
    /// How the agent was found. One that is known to the store may also be known in memory.
    correlation: Option<String>,
    state: Option<String>,
    /// The current tool; null if there is none.
    #[serde(default, deserialize_with = "deserialize_present")]
    tool: Option<Option<String>>,
    source: Option<String>,
    confidence: Option<String>,
    /// A part of why the state is what it is.
    why: Option<String>,
    /// The state of each session, and why it ended.
    #[serde(default)]
    sessions: BTreeMap<String, String>,
    /// What was said.
    turns: Option<Vec<String>>,
}

fn deserialize_present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Option<String>>, D::Error> {
    Deserialize::deserialize(value).map(Some)
}

#[test]
fn every_recorded_sequence_is_understood() {
    let directory = find_repository_root().join("fixtures/sequences");
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10);
    let mut wrong = Vec::new();
    for file in &files {
        for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
            replay_sequence(file, mode, &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn replay_sequence(file: &Path, mode: RecordingMode, wrong: &mut Vec<String>) {
    // What agents are told about themselves has tests of its own.
    let watched = HookSandbox::with_user_config(mode, "[handlers]\nremind = false\n");
    let mut processes: BTreeMap<String, LiveProcess> = BTreeMap::new();
    let mut pids: BTreeMap<String, String> = BTreeMap::new();
    let text = fs::read_to_string(file).unwrap().replace("{project}", watched.sandbox.project().to_str().unwrap());
    for (number, line) in (1..).zip(text.lines()) {
        let name = file.file_name().unwrap().to_string_lossy();
        let place = format!("{name}:{number} ({mode:?})");
        let step: SequenceStep = serde_json::from_str(line).unwrap_or_else(|error| panic!("{place}: {error}"));
        for (path, lines) in &step.transcript {
            fs::create_dir_all(Path::new(path).parent().unwrap()).unwrap();
            let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
            lines.iter().for_each(|line| writeln!(file, "{line}").unwrap());
        }
        if let Some(payload) = &step.payload {
            let pid = pids.entry(step.process.clone()).or_insert_with(|| {
                let process = LiveProcess::new();
                let pid = process.pid().to_string();
                processes.insert(step.process.clone(), process);
                pid
            });
            let mut variables: Vec<_> = step.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            variables.push(("CLAUDE_PID", pid.as_str()));
            watched.run_hook_with_env(&variables, payload).assert_silent();
        }
        if let Some(process) = &step.ends {
            processes.remove(process);
        }
        if step.reconcile {
            let mut store = Store::open(&watched.database_path()).unwrap().store;
            store.reconcile_agents(ReconcileScope::All, snell::Timestamp::now()).unwrap();
        }
        for fault in step.expect.list_mismatches(&watched) {
            wrong.push(format!("{place}: {fault}"));
        }
    }
}

impl SequenceExpectation {
    fn list_mismatches(&self, watched: &HookSandbox) -> Vec<String> {
        let event = &watched.query_rows("SELECT agent_id, correlation, state FROM events ORDER BY id DESC LIMIT 1")[0];
        let agent_id = event["agent_id"].as_i64().unwrap();
        let agent = &watched.query_rows(&format!("SELECT * FROM agents WHERE agent_id = {agent_id}"))[0];
        let mut faults = Vec::new();
        let mut check = |what: &str, expected: Option<&str>, found: &Value| {
            if let Some(expected) = expected
                && found != expected
            {
                faults.push(format!("{what} is {found}, not {expected}"));
            }
        };
        let number = |number: Option<i64>| number.map(|number| number.to_string());
        check("agent", number(self.agent).as_deref(), &agent_id.to_string().into());
        check("agents", number(self.agents).as_deref(), &watched.count_rows("agents").to_string().into());
        check("state", self.state.as_deref(), &agent["state"]);
        check("source", self.source.as_deref(), &agent["state_source"]);
        check("confidence", self.confidence.as_deref(), &agent["confidence"]);
        if event["correlation"] != "session_id" || self.correlation.as_deref() != Some("db_session_id") {
            check("correlation", self.correlation.as_deref(), &event["correlation"]);
        }
        if let Some(tool) = &self.tool {
            let found = agent["current_tool"].as_str().unwrap_or("none");
            check("tool", Some(tool.as_deref().unwrap_or("none")), &found.into());
        }
        if let Some(why) = self.why.as_deref().filter(|why| !agent["why"].as_str().unwrap().contains(*why)) {
            check("why", Some(why), &agent["why"]);
        }
        let states = watched.query_rows(
            "SELECT session_id, current_state || coalesce(' ' || end_reason, '') AS state FROM sessions ORDER BY 1",
        );
        let states: Map<_, _> =
            states.iter().map(|row| (row["session_id"].as_str().unwrap().to_owned(), row["state"].clone())).collect();
        for (session, state) in &self.sessions {
            check(session, Some(state), states.get(session).unwrap_or(&Value::Null));
        }
        if let Some(turns) = &self.turns {
            let sql = format!(
                "SELECT actor || ' ' || intent || ': ' || text AS said FROM turns WHERE agent_id = {agent_id} ORDER BY turn_id"
            );
            let said = extract_first_column(&watched.query_rows(&sql));
            check("what was said", Some(&turns.join(" | ")), &said.join(" | ").into());
        }
        faults
    }
}
