//! One hook, written in each of the formats, and what is answered when an event is fired at it.

use serde_json::{Value, json};
use snell::EventName;
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// The contracts, in the order in which their hooks run.
pub const CONTRACTS: [&str; 6] = ["snell", "wave", "microai", "claude", "claude-os", "whale"];

/// Every event of agents that has a name of its own.
pub fn list_event_names() -> Vec<&'static str> {
    EventName::canonical_names().filter(|name| !EventName::parse(name).is_derived()).collect()
}

/// A hook that runs `hook.sh` in the project, which does what the file `does` says.
#[derive(Default)]
pub struct HookSpec<'a> {
    pub matcher: Option<&'a str>,
    /// A permission rule, where the format has one beside the matcher.
    pub rule: Option<&'a str>,
    pub timeout: Option<Value>,
    /// Its own failure blocks, where the format lets it say so.
    pub closed: bool,
}

/// A project in which a contract has this hook on these events.
pub fn create_project(contract: &str, events: &[&str], hook: &HookSpec<'_>) -> CliSandbox {
    let sandbox = set_hook_script(CliSandbox::new().script("hook.sh", ". ./does"), "true");
    let entry = |event: &str| build_hook_entry(contract, event, hook);
    match contract {
        "snell" => {
            let hooks: String = events.iter().map(|event| render_native_hook(event, hook)).collect();
            sandbox.file("snell.toml", &hooks)
        }
        "whale" => {
            let hooks: Vec<_> = events.iter().map(|event| entry(event)).collect();
            sandbox.file(".whale/hooks.json", &json!(hooks).to_string())
        }
        _ => {
            let hooks: Value = events.iter().map(|event| ((*event).to_owned(), json!([entry(event)]))).collect();
            let directory = contract.strip_suffix("-os").unwrap_or(contract);
            sandbox.hooks(&format!(".{directory}/settings.json"), &hooks)
        }
    }
}

/// A table of `snell.toml`.
fn render_native_hook(event: &str, hook: &HookSpec<'_>) -> String {
    let mut text = format!("[[hook]]\nevent = \"{event}\"\nrun = \"./hook.sh\"\nmodify = true\n");
    if let Some(matcher) = hook.matcher {
        text += &format!("tool = '{matcher}'\n");
    }
    if let Some(timeout) = &hook.timeout {
        text += &format!("timeout = {timeout}\n");
    }
    if hook.closed {
        text += "on_failure = \"block\"\n";
    }
    text
}

/// An entry of a JSON file.
fn build_hook_entry(contract: &str, event: &str, hook: &HookSpec<'_>) -> Value {
    let every_tool = (contract == "wave" && event.contains("Tool")).then_some("*");
    let matcher = hook.matcher.or(every_tool);
    let fields = match contract {
        "claude-os" => return json!("hook.sh"),
        "whale" => {
            json!({"event": event, "command": "./hook.sh", "pattern": matcher, "timeout": hook.timeout, "allowModify": true})
        }
        "microai" => json!({"command": "./hook.sh", "matcher": matcher, "timeout": hook.timeout,
            "continueOnFailure": hook.closed.then_some(false)}),
        _ => json!({"matcher": matcher, "hooks": [strip_nulls(json!(
            {"type": "command", "command": "./hook.sh", "timeout": hook.timeout, "if": hook.rule}))]}),
    };
    strip_nulls(fields)
}

fn strip_nulls(value: Value) -> Value {
    let Value::Object(mut members) = value else {
        return value;
    };
    members.retain(|_, value| !value.is_null());
    Value::Object(members)
}

/// Makes the hook of a project do this. The script itself stays: one that is running cannot be written.
pub fn set_hook_script(sandbox: CliSandbox, does: &str) -> CliSandbox {
    sandbox.file("does", does)
}

/// Fires an event with everything in it that a hook could be asked about.
pub fn run_full_event(sandbox: &CliSandbox, event: &str) -> CommandOutput {
    sandbox.run_event(
        event,
        &json!({
            "session_id": "s1", "tool_name": "Edit", "tool_input": {"file_path": "a.txt"}, "tool_response": "as it was",
            "tool_success": event != "PostToolUseFailure", "prompt": "Go.", "message": "Well.", "agent_type": "helper",
        }),
    )
}

/// A script that prints this and ends well.
pub fn render_printing_script(answer: &Value) -> String {
    format!("cat <<'ANSWER'\n{answer}\nANSWER")
}
