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

use crate::support::{Ran, Sandbox};

/// A project with these handlers for an event, for whatever it is about.
fn project(event: &str, handlers: &Value) -> Sandbox {
    Sandbox::new().hooks(".claude/settings.json", &json!({event: [{"hooks": handlers}]}))
}

fn command(line: &str) -> Value {
    json!({"type": "command", "command": line})
}

/// A hook that prints this answer.
fn saying(answer: &Value) -> Value {
    command(&format!("printf '%s' '{answer}'"))
}

/// What comes of an event whose hooks give these answers.
fn answered(event: &str, answers: &[Value]) -> Ran {
    let handlers: Vec<_> = answers.iter().map(saying).collect();
    project(event, &json!(handlers)).run(event, &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}))
}

/// An answer that speaks for its event.
fn specific(event: &str, mut fields: Value) -> Value {
    fields["hookEventName"] = event.into();
    json!({"hookSpecificOutput": fields})
}

/// `snell run` for a call of Bash.
fn before_bash(sandbox: &Sandbox) -> Ran {
    sandbox.run(
        "PreToolUse",
        &json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s1"}),
    )
}
