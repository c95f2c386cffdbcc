//! Wave, statement by statement of its data model.

mod configuration;
mod payload;
mod running;

use serde_json::{Value, json};

use crate::support::CliSandbox;

/// The file of a project's Wave hooks.
const SETTINGS: &str = ".wave/settings.json";

/// Hooks that run these commands on an event, for every tool where the event is about one.
fn build_hooks(event: &str, commands: &[&str]) -> Value {
    let commands: Vec<_> = commands.iter().map(|command| json!({"type": "command", "command": command})).collect();
    let mut group = json!({ "hooks": commands });
    if event.contains("ToolUse") {
        group["matcher"] = "*".into();
    }
    json!({ event: [group] })
}

/// A project whose Wave file runs these commands on an event.
fn create_project_with(event: &str, commands: &[&str]) -> CliSandbox {
    CliSandbox::new().hooks(SETTINGS, &build_hooks(event, commands))
}
