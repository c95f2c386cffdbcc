//! The native contract, `snell.toml`, key by key and answer by answer.

mod answers;
mod conditions;
mod keys;

use serde_json::json;
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// A project with this `snell.toml`.
fn create_project(text: &str) -> CliSandbox {
    CliSandbox::new().file("snell.toml", text)
}

/// A `[[hook]]` for PreToolUse with these lines.
fn render_tool_hook(lines: &str) -> String {
    format!("[[hook]]\nevent = \"PreToolUse\"\n{lines}\n")
}

/// A `[[hook]]` for this event that prints this text and exits with this code.
fn render_printing_hook(event: &str, text: &str, code: i32) -> String {
    format!("[[hook]]\nevent = \"{event}\"\nrun = '''printf '%s' '{text}'; exit {code}'''\n")
}

fn run_bash_call(sandbox: &CliSandbox) -> CommandOutput {
    sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s1"}))
}
