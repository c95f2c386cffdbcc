//! `snell serve` as a process of its own: what it takes, keeps and tells, whatever happens to it and around it.

mod full_disk;
mod hook_recording;
mod killed;
mod many_clients;
mod outbox;
mod poll_mode;
mod reconciler;
mod startup_shutdown;
pub mod stream;
mod tmux_panes;
mod transcript;
mod turn_phases;
mod users;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rusqlite::{Connection, Params, Row};
use rustix::process::Signal;
use serde_json::{Value, json};
use snell_test_support::process::send_signal;
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;
use stream::EventStreamClient;

/// Longer than anything takes, also on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// Any free port.
pub const ANYWHERE: &[&str] = &["--addr", "127.0.0.1:0"];

/// A receiver in a sandbox, ended with the test.
pub struct ServeProcess {
    process: Child,
    address: String,
}

/// What it answered.
#[derive(Debug)]
struct ServeResponse {
    status: u16,
    head: String,
    body: String,
}

impl ServeProcess {
    pub fn start(sandbox: &CliSandbox, args: &[&str]) -> Self {
        let mut command = sandbox.command(&["serve"]);
        command.args(args);
        Self::spawn(&mut command).unwrap_or_else(|said| panic!("{said}"))
    }

    /// A receiver that looks every few milliseconds when hooks have been silent for a moment, and not at all before.
    fn start_polling(sandbox: &CliSandbox) -> Self {
        let args = ["--poll-active", "1h", "--poll-silent", "20ms", "--silent-after", "300ms"];
        Self::start(sandbox, &[ANYWHERE, &["--log", "off"], &args].concat())
    }

    /// Runs this command, which must end up as a receiver; if it does not, what it said instead.
    fn spawn(command: &mut Command) -> Result<Self, String> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let Some(address) = line.trim_end().strip_prefix("Snell listens on http://") else {
            let mut said = String::new();
            process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            process.wait().unwrap();
            return Err(format!("{line}{said}"));
        };
        Ok(Self { address: address.to_owned(), process })
    }

    fn send_request(&self, head: &str, body: &str) -> String {
        try_send_request(&self.address, head, body).unwrap()
    }

    /// What a page shows, which must be there.
    pub fn get_json(&self, path: &str) -> Value {
        let answer = ServeResponse::parse(&self.send_request(&format!("GET {path}"), "")).unwrap();
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        answer.json()
    }

    /// Tells it an event that it must take.
    pub fn send_event(&self, route: &str, body: &Value) -> Value {
        let answer = try_send_event(&self.address, route, body).unwrap();
        assert_eq!(answer.status, 200, "{route}: {answer:?}");
        answer.json()
    }

    fn hook_status(&self) -> Value {
        self.get_json("/hook/status")
    }

    /// The agent of a session, also if it has ended; nothing if nobody has heard of it.
    fn find_agent(&self, session: &str) -> Option<Value> {
        let agents = self.get_json("/api/agents?ended=true")["items"].take();
        let mut agents = agents.as_array().unwrap().iter();
        agents.find(|agent| agent["session_id"] == session).cloned()
    }

    /// Waits until the agent of a session is in a state.
    fn wait_for_agent_state(&self, session: &str, state: &str) -> Value {
        wait_until(|| self.find_agent(session).filter(|agent| agent["state"] == state))
    }

    /// Listens to the stream; the query begins with a question mark.
    pub fn open_stream(&self, query: &str) -> EventStreamClient {
        EventStreamClient::open(&self.address, query, None).unwrap()
    }

    /// Ends it with this signal; answers its exit code and what it said on standard error.
    fn stop_with_signal(mut self, signal: Signal) -> (Option<i32>, String) {
        send_signal(self.process.id(), signal);
        let mut said = String::new();
        self.process.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.process.wait().unwrap().code(), said)
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl ServeResponse {
    /// Nothing if it is not whole.
    fn parse(told: &str) -> Option<Self> {
        let (head, body) = told.split_once("\r\n\r\n")?;
        let answer = Self {
            status: head.split(' ').nth(1)?.parse().ok()?,
            head: head.to_ascii_lowercase(),
            body: body.to_owned(),
        };
        let length: usize = answer.header("content-length")?.parse().ok()?;
        (answer.body.len() == length).then_some(answer)
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(other, _)| *other == name).map(|(_, value)| value)
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Asks whoever is at an address; everything may go wrong.
fn try_send_request(address: &str, head: &str, body: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let length = body.len();
    let request = format!(
        "{head} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Tells whoever is at an address an event. An answer that is not whole is none.
fn try_send_event(address: &str, route: &str, body: &Value) -> io::Result<ServeResponse> {
    let told = try_send_request(address, &format!("POST /hook/{route}"), &body.to_string())?;
    ServeResponse::parse(&told).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Reads a database with another program's eyes.
fn query_rows<T>(
    database: &Path,
    sql: &str,
    params: impl Params,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let connection = Connection::open(database).unwrap();
    connection.busy_timeout(PATIENCE).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map(params, row).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The first column, as text.
fn query_texts(database: &Path, sql: &str) -> Vec<String> {
    query_rows(database, sql, [], |row| row.get(0))
}

fn count_rows(database: &Path, of: &str) -> i64 {
    query_rows(database, &format!("SELECT count(*) FROM {of}"), [], |row| row.get(0))[0]
}

#[track_caller]
fn assert_database_intact(database: &Path) {
    assert_eq!(query_texts(database, "PRAGMA integrity_check"), ["ok"]);
    assert!(query_rows(database, "PRAGMA foreign_key_check", [], |_| Ok(())).is_empty());
}

/// What an agent of the sandbox tells `snell hook`, with these variables.
fn run_hook(sandbox: &CliSandbox, variables: &[(&str, &str)], event: &str, fields: Value) {
    let mut payload = json!({"session_id": "s1", "hook_event_name": event, "cwd": sandbox.project()});
    let Value::Object(fields) = fields else {
        panic!("{fields} is no object");
    };
    payload.as_object_mut().unwrap().extend(fields);
    let mut command = sandbox.command(&["hook"]);
    command.envs(variables.iter().copied());
    let child = snell_test_support::process::spawn_with_stdin(&mut command, payload.to_string());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
