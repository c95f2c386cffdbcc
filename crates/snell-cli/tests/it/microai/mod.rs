//! The flat specification ("microai"), statement by statement.

mod configuration;
mod examples;
mod matching;
mod running;
mod variables;

use serde_json::{Value, json};

use crate::support::CliSandbox;

/// The file of a project's flat hooks.
const SETTINGS: &str = ".microai/settings.json";

/// A project whose flat file has these entries for an event.
fn create_project_with(event: &str, entries: &Value) -> CliSandbox {
    CliSandbox::new().hooks(SETTINGS, &json!({ event: entries }))
}

/// A shell command that the agent is about to run.
fn build_bash_call(command: &str) -> Value {
    json!({"session_id": "abc123", "tool_name": "Bash", "tool_input": {"command": command}})
}
