//! `snell hook` as agents call it: what it answers, and what is kept of it.

mod agent_identity;
mod always_judged;
mod answers;
mod background;
mod concurrent_agents;
mod daemon;
mod env_tampering;
mod every_agent;
mod failures;
mod foreign_files;
mod full_disk;
mod gemini;
mod killed;
mod limits;
mod missed_endings;
mod removed_log;
mod secrets;
mod sequences;
pub mod slow_hooks;
mod terminal;

mod without_arguments;

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use snell_test_support::database::{extract_first_column, query_rows};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{CommandOutput, find_processes, run_with_stdin};
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

/// How hooks record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordingMode {
    /// One process keeps the database open for them. They wait for it, however crowded the machine is: tests run side by
    /// side.
    WithDaemon,
    /// The same, as it is for users: on a crowded machine they do not wait.
    Hurried,
    /// Each by itself.
    Alone,
}

/// Lets a story happen in both modes.
fn run_in_both_modes(story: impl Fn(&HookSandbox)) {
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        story(&HookSandbox::new(mode));
    }
}

/// A project in which agents call `snell hook`.
pub struct HookSandbox {
    pub sandbox: CliSandbox,
    mode: RecordingMode,
}

impl HookSandbox {
    fn new(mode: RecordingMode) -> Self {
        Self::with_sandbox(mode, CliSandbox::new())
    }

    pub fn with_sandbox(mode: RecordingMode, sandbox: CliSandbox) -> Self {
        let sandbox = sandbox.file(".git/HEAD", "ref: refs/heads/main\n");
        let sandbox = match mode {
            RecordingMode::WithDaemon => sandbox.env("SNELL_SCRIBE", "wait"),
            RecordingMode::Hurried => sandbox.env("SNELL_SCRIBE", "on"),
            RecordingMode::Alone => sandbox.env("SNELL_SCRIBE", "off"),
        };
        Self { sandbox, mode }
    }

    /// As [`HookSandbox::with_sandbox`], with this `snell.toml` of the user.
    fn with_user_config(mode: RecordingMode, text: &str) -> Self {
        Self::with_sandbox(mode, CliSandbox::new().home_file(".config/snell/snell.toml", text))
    }

    /// What Claude Code sends for an event of a session.
    pub fn build_payload(&self, session: &str, event: &str, fields: Value) -> Value {
        merge_fields(
            json!({
                "session_id": session,
                "cwd": self.sandbox.project().to_str().unwrap(),
                "permission_mode": "default",
                "hook_event_name": event,
            }),
            &fields,
        )
    }

    pub fn hook_command(&self) -> Command {
        self.sandbox.command(&["hook"])
    }

    fn run_hook(&self, payload: &Value) -> CommandOutput {
        self.run_hook_with_env(&[], payload)
    }

    /// As [`HookSandbox::run_hook`], with these variables.
    pub fn run_hook_with_env(&self, variables: &[(&str, &str)], payload: &Value) -> CommandOutput {
        let mut command = self.hook_command();
        command.envs(variables.iter().copied());
        run_with_stdin(&mut command, payload.to_string())
    }

    /// An event to which there is nothing to say.
    fn send_silent_event(&self, session: &str, event: &str, fields: Value) {
        self.run_hook(&self.build_payload(session, event, fields)).assert_silent();
    }

    /// A prompt, to which there is nothing to say.
    fn send_prompt(&self, session: &str, text: &str) {
        self.send_silent_event(session, "UserPromptSubmit", json!({"prompt": text}));
    }

    pub fn database_path(&self) -> PathBuf {
        self.sandbox.data().join("snell.db")
    }

    /// What the database answers, as objects.
    pub fn query_rows(&self, sql: &str) -> Vec<Value> {
        self.wait_until_stored();
        query_rows(&self.database_path(), sql)
    }

    /// Waits until the scribe, if there is one, has stored what it was handed: on a crowded machine hooks do not.
    fn wait_until_stored(&self) {
        if let Ok(mut scribe) = UnixStream::connect(self.sandbox.data().join("scribe.sock")) {
            scribe.write_all(b"\"settle\"").unwrap();
            scribe.shutdown(Shutdown::Write).unwrap();
            let _ = scribe.read_to_end(&mut Vec::new());
        }
    }

    /// The only value of the only row.
    fn query_value(&self, sql: &str) -> Value {
        let rows = self.query_rows(sql);
        assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
        rows[0].as_object().unwrap().values().next().unwrap().clone()
    }

    fn count_rows(&self, of: &str) -> i64 {
        self.query_value(&format!("SELECT count(*) FROM {of}")).as_i64().unwrap()
    }

    /// The states of all agents, with their tools, in the order in which they were first seen.
    pub fn list_agent_states(&self) -> Vec<String> {
        let sql = "SELECT state || coalesce(' ' || current_tool, '') AS state FROM agents ORDER BY agent_id";
        extract_first_column(&self.query_rows(sql))
    }

    /// How many notes wait.
    fn count_pending(&self) -> usize {
        let entries = fs::read_dir(self.sandbox.data().join("pending"));
        entries.map_or(0, |entries| {
            let names = entries.flatten().map(|entry| entry.file_name());
            names.filter(|name| name.to_string_lossy().ends_with(".json")).count()
        })
    }

    /// The process that keeps the database of this sandbox open, if there is one.
    pub fn find_daemon_pid(&self) -> Option<u32> {
        let data = self.sandbox.data();
        let words = [env!("CARGO_BIN_EXE_snell"), "daemon", data.to_str().unwrap(), "--job=store"];
        find_processes(|process| process.command_line().starts_with(&words.map(str::to_owned))).first().copied()
    }

    /// Waits until a scribe takes requests. There is none in the other mode.
    pub fn wait_for_daemon(&self) {
        if self.mode != RecordingMode::Alone {
            let socket = self.sandbox.data().join("scribe.sock");
            wait_until(|| std::os::unix::net::UnixStream::connect(&socket).ok());
        }
    }
}

/// A `[[hook]]` for this event that says this.
pub fn render_answering_hook(event: &str, answer: &Value) -> String {
    format!("[[hook]]\nevent = \"{event}\"\nmodify = true\nrun = '''printf '%s' '{answer}' '''\n")
}
