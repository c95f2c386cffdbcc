//! What Snell does by itself as a session goes on: every sentence about it, tried on the real `snell hook`.

mod comms;
mod context;
mod document;
mod end;
mod failures;
mod files;
mod prompt;
mod scribe;
mod settings;
mod start;
mod stop;
mod tools;
mod unreadable;
mod wake_up;

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::hook::{Mode, Watched};
use crate::support::{Ran, Sandbox, start};

/// How every message of the document begins.
const INFO: &str = "[CLAUDE OS SYS: INFO]: ";
const WARNING: &str = "[CLAUDE OS SYS: WARNING]: ";

/// A project with one session in it, on a day on which the clock says what the test wants.
struct Stage {
    watched: Watched,
    variables: Vec<(String, String)>,
}

impl Stage {
    fn new() -> Self {
        Self::with(Sandbox::new())
    }

    fn with(sandbox: Sandbox) -> Self {
        Self::recording(Mode::Alone, sandbox)
    }

    /// As [`Stage::with`], where events are recorded this way.
    fn recording(mode: Mode, sandbox: Sandbox) -> Self {
        Self {
            watched: Watched::with(mode, sandbox),
            variables: Vec::new(),
        }
    }

    /// With this `snell.toml` of the user.
    fn configured(text: &str) -> Self {
        Self::with(Sandbox::new().home_file(".config/snell/snell.toml", text))
    }

    /// With these variables, as a launcher sets them.
    fn launched(mut self, variables: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        self.variables.extend(variables.iter().map(owned));
        self
    }

    fn sandbox(&self) -> &Sandbox {
        &self.watched.sandbox
    }

    /// Tells an event of the session at this time of the day.
    fn tell(&self, time: &str, event: &str, fields: Value) -> Ran {
        self.tell_with(time, &[], event, fields)
    }

    /// As [`Stage::tell`], with further variables.
    fn tell_with(&self, time: &str, variables: &[(&str, &str)], event: &str, fields: Value) -> Ran {
        let mut all = json!({"transcript_path": self.transcript()});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let now = at(time);
        let own = self
            .variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let variables: Vec<_> = own
            .chain([("SNELL_NOW", now.as_str())])
            .chain(variables.iter().copied())
            .collect();
        self.watched
            .hook_from(&variables, &self.watched.payload("s1", event, all))
    }

    /// The session begins at noon, and there is nothing to say about it.
    fn begin(self) -> Self {
        self.tell("12:00:00", "SessionStart", json!({"source": "startup"}))
            .is_silent();
        self
    }

    fn prompt(&self, time: &str, text: &str) -> Ran {
        self.tell(time, "UserPromptSubmit", json!({"prompt": text}))
    }

    fn stop(&self, time: &str) -> Ran {
        self.tell(time, "Stop", json!({"stop_hook_active": false}))
    }

    /// Runs another command of `snell` at this time of the day, as the session's agent would.
    fn snell(&self, time: &str, args: &[&str], stdin: &str) -> Ran {
        let mut command = self.sandbox().command(args);
        command.env("SNELL_NOW", at(time)).env("CLAUDE_SESSION_ID", "s1");
        start(&mut command, stdin).wait_with_output().unwrap().into()
    }

    fn transcript(&self) -> PathBuf {
        self.sandbox().home().join("s1.jsonl")
    }

    /// The model answers at this time of the day, and its transcript says that so many tokens were in its context.
    fn answers_with(&self, time: &str, model: &str, tokens: u64) {
        let line = json!({
            "type": "assistant", "sessionId": "s1", "timestamp": at(time), "isSidechain": false,
            "message": {
                "role": "assistant", "model": model, "content": [{"type": "text", "text": "Well."}],
                "usage": {
                    "input_tokens": 3, "cache_creation_input_tokens": 997, "cache_read_input_tokens": tokens - 1000,
                    "output_tokens": 0,
                },
            },
        });
        let path = self.transcript();
        let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }

    /// The same, in percent of what usually fits in.
    fn fills(&self, time: &str, percent: f64) {
        self.answers_with(time, "claude-opus-4-5", (percent * 2000.0) as u64);
    }

    /// A column of the row that launchers and dashboards see of the session.
    fn column(&self, column: &str) -> Value {
        self.column_of("s1", column)
    }

    fn column_of(&self, session: &str, column: &str) -> Value {
        let sql = format!("SELECT {column} AS it FROM sessions WHERE session_id = '{session}'");
        let rows = self.watched.rows(&sql);
        assert_eq!(rows.len(), 1, "{session}: {rows:?}");
        rows[0]["it"].clone()
    }

    #[track_caller]
    fn is_in_state(&self, expected: &str) {
        assert_eq!(self.column("current_state"), expected);
    }
}

/// Lets the same happen where a scribe records, and where there is none. Who asks a scribe may be answered too late to be
/// reminded of anything, so reminders with a scribe have a place of their own.
fn in_both_ways(story: impl Fn(&dyn Fn(Sandbox) -> Stage)) {
    for mode in [Mode::Alone, Mode::WithScribe] {
        story(&|sandbox| Stage::recording(mode, sandbox));
    }
}

/// This time of the day.
fn at(time: &str) -> String {
    format!("2026-03-01T{time}Z")
}

/// The same as the table of sessions has it.
fn noted(time: &str) -> Value {
    format!("2026-03-01T{time}.000Z").into()
}

/// The whole answer by which an agent is told this.
fn saying(event: &str, text: &str) -> String {
    let text = Value::from(text);
    format!("{{\"hookSpecificOutput\":{{\"hookEventName\":\"{event}\",\"additionalContext\":{text}}}}}\n")
}

impl Ran {
    /// The agent was told this and nothing else.
    #[track_caller]
    fn tells(&self, event: &str, text: &str) {
        self.tells_in("", event, text);
    }

    /// As [`Ran::tells`], or nothing at all if the text is empty; `what` names the case.
    #[track_caller]
    fn tells_in(&self, what: &str, event: &str, text: &str) {
        let expected = if text.is_empty() {
            String::new()
        } else {
            saying(event, text)
        };
        assert_eq!(
            (self.stdout.as_str(), self.stderr.as_str(), self.code),
            (expected.as_str(), "", 0),
            "{what}"
        );
    }
}
