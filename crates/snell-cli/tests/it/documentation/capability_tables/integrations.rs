//! The ways in: what each of them does with the same events.

use std::ffi::OsString;

use serde_json::{Value, json};
use snell::{Engine, Event, EventName};

use super::{MarkdownTable, NOTHING, render_yes};
use crate::serve::{ANYWHERE, start_server};
use crate::support::CliSandbox;

/// Blocks one command, changes another, and adds context to prompts.
const HOOKS: &str = r#"
[[hook]]
event = "PreToolUse"
tool = "Bash"
modify = true
run = '''case "$SNELL_COMMAND" in
  forbidden) echo "not here" >&2; exit 2 ;;
  slow) echo '{"tool_input": {"command": "fast"}}' ;;
esac'''

[[hook]]
event = "UserPromptSubmit"
run = "echo told"
"#;

/// What came of an event, whoever was asked.
#[derive(Default)]
struct IntegrationOutcome {
    blocked: bool,
    changed: bool,
    context: bool,
}

/// Tells an event and its payload, and answers what came of it.
type IntegrationCall = fn(&CliSandbox, &str, &Value) -> IntegrationOutcome;

/// Ways to ask for something, each with what is said of it in the table.
type IntegrationVariants = [(&'static str, IntegrationCall)];

/// A way in.
struct IntegrationMode {
    name: &'static str,
    who: &'static str,
    ask: IntegrationCall,
    /// What makes the guard judge and the event be remembered, where that has to be asked for.
    guarded: &'static IntegrationVariants,
    recorded: &'static IntegrationVariants,
}

const WAYS: &[IntegrationMode] = &[
    IntegrationMode {
        name: "embed",
        who: "an agent in Rust: the library",
        ask: call_embedded,
        guarded: &[("yes", call_embedded)],
        recorded: &[("yes", call_embedded)],
    },
    IntegrationMode {
        name: "host",
        who: "an agent in any language: `snell run`",
        ask: call_host,
        guarded: &[("yes", call_host), ("with `--guard`", call_guarded_host)],
        recorded: &[("yes", call_host), ("with `--record`", call_recording_host)],
    },
    IntegrationMode {
        name: "guest",
        who: "an agent with hooks of its own: `snell hook`",
        ask: call_guest,
        guarded: &[("yes", call_guest)],
        recorded: &[("yes", call_guest)],
    },
    IntegrationMode {
        name: "receive",
        who: "dashboards, scripts, other machines: `snell serve`",
        ask: call_receiver,
        guarded: &[("yes", call_receiver)],
        recorded: &[("yes", call_receiver)],
    },
];

fn call_embedded(sandbox: &CliSandbox, event: &str, payload: &Value) -> IntegrationOutcome {
    let variables = [("PATH", std::env::var_os("PATH").unwrap())];
    let variables = variables.map(|(name, value)| (OsString::from(name), value));
    let (engine, _) = Engine::builder().project(sandbox.project()).env(variables).load();
    let event = match event {
        "PreToolUse" => Event::pre_tool_use("Bash", payload["tool_input"].clone()),
        _ => Event::new(EventName::UserPromptSubmit),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let verdict = runtime.block_on(engine.fire(event));
    IntegrationOutcome {
        blocked: verdict.is_blocked(),
        changed: verdict.tool_input.is_some(),
        context: !verdict.context.is_empty(),
    }
}

fn call_host(sandbox: &CliSandbox, event: &str, payload: &Value) -> IntegrationOutcome {
    call_host_with(sandbox, &["run", event], payload)
}

fn call_guarded_host(sandbox: &CliSandbox, event: &str, payload: &Value) -> IntegrationOutcome {
    call_host_with(sandbox, &["run", event, "--guard"], payload)
}

fn call_recording_host(sandbox: &CliSandbox, event: &str, payload: &Value) -> IntegrationOutcome {
    call_host_with(sandbox, &["run", event, "--record"], payload)
}

/// An option that is not there is bad usage: then nothing comes of it.
fn call_host_with(sandbox: &CliSandbox, args: &[&str], payload: &Value) -> IntegrationOutcome {
    let ran = sandbox.run_snell(args, &payload.to_string());
    if ran.code == 1 {
        return IntegrationOutcome::default();
    }
    IntegrationOutcome {
        blocked: ran.code == 2,
        changed: !ran.json()["tool_input"].is_null(),
        context: !ran.context().is_empty(),
    }
}

fn call_guest(sandbox: &CliSandbox, event: &str, payload: &Value) -> IntegrationOutcome {
    sandbox.run_snell(&["trust"], "");
    let ran = sandbox.send_hook_event("12:00:00", event, payload.clone());
    let answer = if ran.stdout.is_empty() { json!({}) } else { ran.json() };
    let specific = &answer["hookSpecificOutput"];
    IntegrationOutcome {
        blocked: specific["permissionDecision"] == "deny",
        changed: specific["updatedInput"].is_object(),
        context: specific["additionalContext"].is_string(),
    }
}

fn call_receiver(sandbox: &CliSandbox, event: &str, payload: &Value) -> IntegrationOutcome {
    let receiver = start_server(sandbox, ANYWHERE);
    let route = if event == "PreToolUse" { "pre-tool-use" } else { "user-prompt-submit" };
    let answer = receiver.send_event(route, payload);
    IntegrationOutcome {
        blocked: answer.get("decision").is_some_and(|decision| decision != "allow"),
        changed: answer.get("tool_input").is_some(),
        context: answer.get("context").is_some(),
    }
}

fn build_bash_payload(command: &str) -> Value {
    json!({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": command}})
}

fn create_project() -> CliSandbox {
    CliSandbox::with_frozen_clock().file("snell.toml", HOOKS)
}

/// The first of these ways that does it.
fn find_first_variant(ways: &IntegrationVariants, does: impl Fn(IntegrationCall) -> bool) -> String {
    let found = ways.iter().find(|(_, ask)| does(*ask));
    found.map_or(NOTHING, |(name, _)| *name).to_owned()
}

/// Whether the page knows the agent afterwards.
fn is_agent_listed(sandbox: &CliSandbox) -> bool {
    let receiver = start_server(sandbox, ANYWHERE);
    receiver.get_json("/api/agents")["items"] != json!([])
}

pub fn render_integrations_table() -> String {
    let columns = ["way in", "for", "blocks", "changes a call", "adds context", "guard", "recorded, and on the page"];
    let mut table = MarkdownTable::new(columns);
    for way in WAYS {
        let ask = |event: &str, payload: &Value| (way.ask)(&create_project(), event, payload);
        let harmless = ask("PreToolUse", &build_bash_payload("ls"));
        assert!(!harmless.blocked && !harmless.changed && !harmless.context, "{}", way.name);
        let prompt = json!({"session_id": "s1", "prompt": "Go."});
        let guarded =
            |ask: IntegrationCall| ask(&create_project(), "PreToolUse", &build_bash_payload("rm -rf /")).blocked;
        let recorded = |ask: IntegrationCall| {
            let sandbox = create_project();
            ask(&sandbox, "PreToolUse", &build_bash_payload("ls"));
            is_agent_listed(&sandbox)
        };
        table.push_row(
            way.name,
            [
                way.who.to_owned(),
                render_yes(ask("PreToolUse", &build_bash_payload("forbidden")).blocked),
                render_yes(ask("PreToolUse", &build_bash_payload("slow")).changed),
                render_yes(ask("UserPromptSubmit", &prompt).context),
                find_first_variant(way.guarded, guarded),
                find_first_variant(way.recorded, recorded),
            ],
        );
    }
    table.to_markdown()
}
