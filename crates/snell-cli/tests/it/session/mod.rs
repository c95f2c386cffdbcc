//! `snell session`: which session is meant, what is said about it, what is shown of it.

mod list;
mod selector;
mod status;

use serde_json::{Value, json};
use snell_test_support::process::{CommandOutput, run_with_stdin};

use crate::support::CliSandbox;

/// Runs `snell` in the project with these variables.
fn run_snell_with_env(sandbox: &CliSandbox, variables: &[(&str, &str)], args: &[&str]) -> CommandOutput {
    let mut command = sandbox.command(args);
    command.envs(variables.iter().copied());
    run_with_stdin(&mut command, "")
}

/// Tells of a session that begins in this directory of the home directory, with these variables.
fn begin_session(sandbox: &CliSandbox, session: &str, directory: &str, variables: &[(&str, &str)]) {
    let cwd = sandbox.home().join(directory);
    std::fs::create_dir_all(&cwd).unwrap();
    let payload = json!({"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "cwd": cwd});
    let mut command = sandbox.command(&["hook"]);
    command.envs(variables.iter().copied());
    let ran = run_with_stdin(&mut command, payload.to_string());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{session}");
}

/// What the database says, as one text.
fn query_text(sandbox: &CliSandbox, sql: &str) -> Option<String> {
    let database = sandbox.open_database_with("");
    database.query_row(sql, [], |row| row.get::<_, Option<String>>(0)).unwrap()
}

/// What those who watch were told last.
fn read_last_change(sandbox: &CliSandbox) -> Value {
    let data =
        query_text(sandbox, "SELECT json_set(data, '$.kind', kind) FROM changes ORDER BY change_id DESC LIMIT 1");
    serde_json::from_str(&data.unwrap()).unwrap()
}
