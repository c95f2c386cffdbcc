//! Claude Code's contract: what its hooks match, receive and answer, and how they run.

mod answers;
mod handlers;
mod http;
mod matching;
mod outputs;
mod payload;
mod running;
mod settings;

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// A project with these handlers for an event, for whatever it is about.
fn create_project(event: &str, handlers: &Value) -> CliSandbox {
    CliSandbox::new().hooks(".claude/settings.json", &json!({event: [{"hooks": handlers}]}))
}

fn build_command_hook(line: &str) -> Value {
    json!({"type": "command", "command": line})
}

/// A hook that prints this answer.
fn build_printing_hook(answer: &Value) -> Value {
    build_command_hook(&format!("printf '%s' '{answer}'"))
}

/// What comes of an event whose hooks give these answers.
fn run_with_answers(event: &str, answers: &[Value]) -> CommandOutput {
    let handlers: Vec<_> = answers.iter().map(build_printing_hook).collect();
    create_project(event, &json!(handlers))
        .run_event(event, &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}))
}

/// An answer that speaks for its event.
fn build_specific_output(event: &str, mut fields: Value) -> Value {
    fields["hookEventName"] = event.into();
    json!({"hookSpecificOutput": fields})
}

/// `snell run` for a call of Bash.
fn run_bash_call(sandbox: &CliSandbox) -> CommandOutput {
    sandbox.run_event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s1"}))
}
