//! The native contract, `snell.toml`, key by key and answer by answer.

mod answers;
mod keys;

use serde_json::json;

use crate::support::{Ran, Sandbox};

/// A project with this `snell.toml`.
fn project(text: &str) -> Sandbox {
    Sandbox::new().file("snell.toml", text)
}

/// A `[[hook]]` for PreToolUse with these lines.
fn before(lines: &str) -> String {
    format!("[[hook]]\nevent = \"PreToolUse\"\n{lines}\n")
}

/// A `[[hook]]` for this event that prints this text and exits with this code.
fn saying(event: &str, text: &str, code: i32) -> String {
    format!("[[hook]]\nevent = \"{event}\"\nrun = '''printf '%s' '{text}'; exit {code}'''\n")
}

fn before_bash(sandbox: &Sandbox) -> Ran {
    sandbox.run(
        "PreToolUse",
        &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s1"}),
    )
}
