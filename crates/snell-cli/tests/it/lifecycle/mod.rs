//! What Snell does by itself as a session goes on: every sentence about it, tried on the real `snell hook`.

mod context;
mod daemon;
mod documented_config;
mod end;
mod failures;
mod files;
mod messaging;
mod profile;
mod prompt;
mod settings;
mod start;
mod stop;
mod tools;
mod unreadable;
mod wake_prompt;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{CommandOutput, run_with_stdin};

use crate::hook::{HookSandbox, RecordingMode};
use crate::support::CliSandbox;

/// How every message of the document begins.
const INFO: &str = "[CLAUDE OS SYS: INFO]: ";
const WARNING: &str = "[CLAUDE OS SYS: WARNING]: ";

/// A project with one session in it, on a day on which the clock says what the test wants.
struct LifecycleSandbox {
    watched: HookSandbox,
    variables: Vec<(String, String)>,
}

impl LifecycleSandbox {
    fn new() -> Self {
        Self::with_sandbox(CliSandbox::new())
    }

    fn with_sandbox(sandbox: CliSandbox) -> Self {
        Self::with_recording_mode(RecordingMode::Alone, sandbox)
    }

    /// As [`LifecycleSandbox::with_sandbox`], where events are recorded this way.
    fn with_recording_mode(mode: RecordingMode, sandbox: CliSandbox) -> Self {
        Self { watched: HookSandbox::with_sandbox(mode, sandbox.with_profile()), variables: Vec::new() }
    }

    /// A session without the profile.
    fn without_profile(sandbox: CliSandbox) -> Self {
        Self { watched: HookSandbox::with_sandbox(RecordingMode::Alone, sandbox), variables: Vec::new() }
    }

    /// With this `snell.toml` of the user.
    fn with_user_config(text: &str) -> Self {
        Self::with_sandbox(CliSandbox::new().home_file(".config/snell/snell.toml", text))
    }

    /// With these variables, as a launcher sets them.
    fn with_launcher_env(mut self, variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.variables.extend(variables.iter().map(owned));
        self
    }

    fn sandbox(&self) -> &CliSandbox {
        &self.watched.sandbox
    }

    /// Tells an event of the session at this time of the day.
    fn send_event(&self, time: &str, event: &str, fields: Value) -> CommandOutput {
        self.send_event_with_env(time, &[], event, fields)
    }

    /// As [`LifecycleSandbox::send_event`], with further variables.
    fn send_event_with_env(&self, time: &str, variables: &[(&str, &str)], event: &str, fields: Value) -> CommandOutput {
        let all = merge_fields(json!({"transcript_path": self.transcript_path()}), &fields);
        let now = format_time(time);
        let own = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let variables: Vec<_> = own.chain([("SNELL_NOW", now.as_str())]).chain(variables.iter().copied()).collect();
        self.watched.run_hook_with_env(&variables, &self.watched.build_payload("s1", event, all))
    }

    /// The session begins at noon, and there is nothing to say about it.
    fn begin_session(self) -> Self {
        self.send_event("12:00:00", "SessionStart", json!({"source": "startup"})).assert_silent();
        self
    }

    fn send_prompt(&self, time: &str, text: &str) -> CommandOutput {
        self.send_event(time, "UserPromptSubmit", json!({"prompt": text}))
    }

    fn send_stop(&self, time: &str) -> CommandOutput {
        self.send_event(time, "Stop", json!({"stop_hook_active": false}))
    }

    /// Runs another command of `snell` at this time of the day, as the session's agent would.
    fn run_snell(&self, time: &str, args: &[&str], stdin: &str) -> CommandOutput {
        let mut command = self.sandbox().command(args);
        command.env("SNELL_NOW", format_time(time)).env("CLAUDE_SESSION_ID", "s1");
        run_with_stdin(&mut command, stdin)
    }

    fn transcript_path(&self) -> PathBuf {
        self.sandbox().home().join("s1.jsonl")
    }

    /// The model answers at this time of the day, and its transcript says that so many tokens were in its context.
    fn append_model_answer(&self, time: &str, model: &str, tokens: u64) {
        let line = json!({
            "type": "assistant", "sessionId": "s1", "timestamp": format_time(time), "isSidechain": false,
            "message": {
                "role": "assistant", "model": model, "content": [{"type": "text", "text": "Well."}],
                "usage": {
                    "input_tokens": 3, "cache_creation_input_tokens": 997, "cache_read_input_tokens": tokens - 1000,
                    "output_tokens": 0,
                },
            },
        });
        let path = self.transcript_path();
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// The same, in percent of what usually fits in.
    fn fill_context(&self, time: &str, percent: f64) {
        self.append_model_answer(time, "claude-opus-4-5", (percent * 2000.0) as u64);
    }

    /// A column of the row that launchers and dashboards see of the session.
    fn session_column(&self, column: &str) -> Value {
        self.column_of_session("s1", column)
    }

    fn column_of_session(&self, session: &str, column: &str) -> Value {
        let sql = format!("SELECT {column} AS it FROM sessions WHERE session_id = '{session}'");
        let rows = self.watched.query_rows(&sql);
        assert_eq!(rows.len(), 1, "{session}: {rows:?}");
        rows[0]["it"].clone()
    }

    #[track_caller]
    fn assert_session_state(&self, expected: &str) {
        assert_eq!(self.session_column("current_state"), expected);
    }
}

/// Lets the same happen where a scribe records, and where there is none. Who asks a scribe may be answered too late to be
/// reminded of anything, so reminders with a scribe have a place of their own.
fn run_in_both_modes(story: impl Fn(&dyn Fn(CliSandbox) -> LifecycleSandbox)) {
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        story(&|sandbox| LifecycleSandbox::with_recording_mode(mode, sandbox));
    }
}

/// This time of the day.
fn format_time(time: &str) -> String {
    format!("2026-03-01T{time}Z")
}

/// The same as the table of sessions has it.
fn format_stored_time(time: &str) -> Value {
    format!("2026-03-01T{time}.000Z").into()
}
