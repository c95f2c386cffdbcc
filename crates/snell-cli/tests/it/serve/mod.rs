//! `snell serve` as a process of its own: what it takes, keeps and tells, whatever happens to it and around it.

mod full_disk;
mod hook_recording;
mod killed;
mod many_clients;
mod outbox;
mod poll_mode;
mod reconciler;
mod startup_shutdown;
mod team;
mod tmux_panes;
mod tokens;
mod transcript;
mod transcript_watch;
mod turn_phases;
mod usage;
mod users;

use std::path::Path;

use rusqlite::{Connection, Params, Row};
use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::wait::WAIT_TIMEOUT;

use crate::support::CliSandbox;

/// Any free port.
pub const ANYWHERE: &[&str] = &["--addr", "127.0.0.1:0"];

/// Starts a server in a sandbox.
pub fn start_server(sandbox: &CliSandbox, args: &[&str]) -> ServeProcess {
    let mut command = sandbox.command(&["serve"]);
    command.args(args);
    ServeProcess::spawn(&mut command).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts a server that polls every few milliseconds when hooks have been silent for a moment, and not at all before.
fn start_polling_server(sandbox: &CliSandbox) -> ServeProcess {
    let args = ["--poll-active", "1h", "--poll-silent", "20ms", "--silent-after", "300ms"];
    start_server(sandbox, &[ANYWHERE, &["--log", "off"], &args].concat())
}

/// Reads a database with another program's eyes.
fn query_rows<T>(
    database: &Path,
    sql: &str,
    params: impl Params,
    row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Vec<T> {
    let connection = Connection::open(database).unwrap();
    connection.busy_timeout(WAIT_TIMEOUT).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map(params, row).unwrap();
    rows.map(Result::unwrap).collect()
}

/// What an agent of the sandbox tells `snell hook`, with these variables.
fn run_hook(sandbox: &CliSandbox, variables: &[(&str, &str)], event: &str, fields: Value) {
    let payload = json!({"session_id": "s1", "hook_event_name": event, "cwd": sandbox.project()});
    let payload = merge_fields(payload, &fields);
    let mut command = sandbox.command(&["hook"]);
    command.envs(variables.iter().copied());
    let child = snell_test_support::process::spawn_with_stdin(&mut command, payload.to_string());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
