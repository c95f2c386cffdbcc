//! `snell hook` as agents call it: what it answers, and what is kept of it.

mod always_judged;
mod answers;
mod background;
mod full_disk;
mod killed;
mod known;
mod limits;
mod many_writers;
mod removed_log;
mod scribe;
mod secrets;
mod sequences;
pub mod slow;
mod softening;
mod strangers;
mod stuck;
mod terminal;
mod trouble;
mod unnamed;

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use serde_json::{Map, Value, json};

use crate::support::{Ran, Sandbox, start, wait_until};

/// How hooks record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One process keeps the database open for them. They wait for it, however crowded the machine is: tests run side by
    /// side.
    WithScribe,
    /// The same, as it is for users: on a crowded machine they do not wait.
    Hurried,
    /// Each by itself.
    Alone,
}

/// Lets a story happen in both modes.
fn in_both_modes(story: impl Fn(&Watched)) {
    for mode in [Mode::Alone, Mode::WithScribe] {
        story(&Watched::new(mode));
    }
}

/// A project in which agents call `snell hook`.
pub struct Watched {
    pub sandbox: Sandbox,
    mode: Mode,
}

impl Watched {
    fn new(mode: Mode) -> Self {
        Self::with(mode, Sandbox::new())
    }

    pub fn with(mode: Mode, sandbox: Sandbox) -> Self {
        let sandbox = sandbox.file(".git/HEAD", "ref: refs/heads/main\n");
        let sandbox = match mode {
            Mode::WithScribe => sandbox.env("SNELL_SCRIBE", "wait"),
            Mode::Hurried => sandbox.env("SNELL_SCRIBE", "on"),
            Mode::Alone => sandbox.env("SNELL_SCRIBE", "off"),
        };
        Self { sandbox, mode }
    }

    /// As [`Watched::with`], with this `snell.toml` of the user.
    fn with_hooks(mode: Mode, text: &str) -> Self {
        Self::with(mode, Sandbox::new().home_file(".config/snell/snell.toml", text))
    }

    /// What Claude Code sends for an event of a session.
    pub fn payload(&self, session: &str, event: &str, fields: Value) -> Value {
        let mut payload = json!({
            "session_id": session,
            "cwd": self.sandbox.project().to_str().unwrap(),
            "permission_mode": "default",
            "hook_event_name": event,
        });
        payload.as_object_mut().unwrap().extend(object(fields));
        payload
    }

    pub fn command(&self) -> Command {
        self.sandbox.command(&["hook"])
    }

    fn hook(&self, payload: &Value) -> Ran {
        self.hook_from(&[], payload)
    }

    /// As [`Watched::hook`], with these variables.
    pub fn hook_from(&self, variables: &[(&str, &str)], payload: &Value) -> Ran {
        let mut command = self.command();
        command.envs(variables.iter().copied());
        start(&mut command, &payload.to_string())
            .wait_with_output()
            .unwrap()
            .into()
    }

    /// An event to which there is nothing to say.
    fn event(&self, session: &str, event: &str, fields: Value) {
        self.hook(&self.payload(session, event, fields)).is_silent();
    }

    /// A prompt, to which there is nothing to say.
    fn prompt(&self, session: &str, text: &str) {
        self.event(session, "UserPromptSubmit", json!({"prompt": text}));
    }

    pub fn database(&self) -> PathBuf {
        self.sandbox.data().join("snell.db")
    }

    /// What the database answers, as objects.
    pub fn rows(&self, sql: &str) -> Vec<Value> {
        self.settle();
        rows(&open(&self.database()), sql)
    }

    /// Waits until the scribe, if there is one, has stored what it was handed: on a crowded machine hooks do not.
    fn settle(&self) {
        if let Ok(mut scribe) = UnixStream::connect(self.sandbox.data().join("scribe.sock")) {
            scribe.write_all(b"\"settle\"").unwrap();
            scribe.shutdown(Shutdown::Write).unwrap();
            let _ = scribe.read_to_end(&mut Vec::new());
        }
    }

    /// The only value of the only row.
    fn value(&self, sql: &str) -> Value {
        let rows = self.rows(sql);
        assert_eq!(rows.len(), 1, "{sql}: {rows:?}");
        rows[0].as_object().unwrap().values().next().unwrap().clone()
    }

    fn count(&self, of: &str) -> i64 {
        self.value(&format!("SELECT count(*) FROM {of}")).as_i64().unwrap()
    }

    /// The states of all agents, with their tools, in the order in which they were first seen.
    pub fn states(&self) -> Vec<String> {
        let sql = "SELECT state || coalesce(' ' || current_tool, '') AS state FROM agents ORDER BY agent_id";
        texts(&self.rows(sql))
    }

    /// How many notes wait.
    fn pending(&self) -> usize {
        let entries = fs::read_dir(self.sandbox.data().join("pending"));
        entries.map_or(0, |entries| {
            let names = entries.flatten().map(|entry| entry.file_name());
            names.filter(|name| name.to_string_lossy().ends_with(".json")).count()
        })
    }

    /// The process that keeps the database of this sandbox open, if there is one.
    pub fn scribe(&self) -> Option<u32> {
        let mut line = env!("CARGO_BIN_EXE_snell").as_bytes().to_vec();
        line.extend(b"\0scribe\0");
        line.extend(self.sandbox.data().as_os_str().as_encoded_bytes());
        line.push(0);
        let pids = fs::read_dir("/proc").unwrap().flatten();
        pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .find(|pid| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|found| found.starts_with(&line)))
    }

    /// Waits until a scribe takes requests. There is none in the other mode.
    pub fn wait_for_scribe(&self) {
        if self.mode != Mode::Alone {
            let socket = self.sandbox.data().join("scribe.sock");
            wait_until(|| std::os::unix::net::UnixStream::connect(&socket).ok());
        }
    }
}

impl Ran {
    /// The agent was not bothered.
    #[track_caller]
    pub fn is_silent(&self) {
        assert_eq!((self.code, self.stdout.as_str(), self.stderr.as_str()), (0, "", ""));
    }

    /// Something went wrong, and the agent was told nothing; its user may read one line.
    #[track_caller]
    pub fn is_trouble(&self) -> &str {
        assert_eq!((self.code, self.stdout.as_str()), (0, ""), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
        assert!(
            self.stderr.starts_with("snell: ") && self.stderr.ends_with('\n'),
            "{self:?}"
        );
        &self.stderr
    }
}

/// A process that lives until the test lets go of it, as an agent would.
pub struct Living(Child);

impl Living {
    pub fn new() -> Self {
        Self(
            Command::new("cat")
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()
                .unwrap(),
        )
    }

    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// The database, to be read only: even closing it must change nothing.
fn open(path: &std::path::Path) -> Connection {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
    connection
}

fn rows(connection: &Connection, sql: &str) -> Vec<Value> {
    let mut statement = connection.prepare(sql).unwrap();
    let names: Vec<_> = statement.column_names().map(str::to_owned).collect();
    let mut rows = statement.query([]).unwrap();
    let mut found = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        let values = names.iter().enumerate().map(|(index, name)| {
            let value = match row.get_ref(index).unwrap() {
                ValueRef::Null => Value::Null,
                ValueRef::Integer(number) => number.into(),
                ValueRef::Real(number) => number.into(),
                ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
                ValueRef::Blob(_) => panic!("there are no blobs"),
            };
            (name.clone(), value)
        });
        found.push(Value::Object(values.collect()));
    }
    found
}

/// The first column of each row.
pub fn texts(rows: &[Value]) -> Vec<String> {
    let first = |row: &Value| {
        row.as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_str()
            .unwrap()
            .to_owned()
    };
    rows.iter().map(first).collect()
}

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(object) = value else {
        panic!("{value} is no object");
    };
    object
}

/// A `[[hook]]` for this event that says this.
pub fn saying(event: &str, answer: &Value) -> String {
    format!("[[hook]]\nevent = \"{event}\"\nmodify = true\nrun = '''printf '%s' '{answer}' '''\n")
}
