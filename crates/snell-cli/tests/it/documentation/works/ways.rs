//! The ways in: what each of them does with the same events.

use std::ffi::OsString;

use serde_json::{Value, json};
use snell::{Engine, Event, EventName};

use super::{NOTHING, Table, yes};
use crate::serve::{ANYWHERE, Receiver};
use crate::support::Sandbox;

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
struct Came {
    blocked: bool,
    changed: bool,
    context: bool,
}

/// Tells an event and its payload, and answers what came of it.
type Ask = fn(&Sandbox, &str, &Value) -> Came;

/// Ways to ask for something, each with what is said of it in the table.
type Asked = [(&'static str, Ask)];

/// A way in.
struct Way {
    name: &'static str,
    who: &'static str,
    ask: Ask,
    /// What makes the guard judge and the event be remembered, where that has to be asked for.
    guarded: &'static Asked,
    recorded: &'static Asked,
}

const WAYS: &[Way] = &[
    Way {
        name: "embed",
        who: "an agent in Rust: the library",
        ask: embed,
        guarded: &[("yes", embed)],
        recorded: &[("yes", embed)],
    },
    Way {
        name: "host",
        who: "an agent in any language: `snell run`",
        ask: host,
        guarded: &[("yes", host), ("with `--guard`", host_guarded)],
        recorded: &[("yes", host), ("with `--record`", host_recorded)],
    },
    Way {
        name: "guest",
        who: "an agent with hooks of its own: `snell hook`",
        ask: guest,
        guarded: &[("yes", guest)],
        recorded: &[("yes", guest)],
    },
    Way {
        name: "receive",
        who: "dashboards, scripts, other machines: `snell serve`",
        ask: receive,
        guarded: &[("yes", receive)],
        recorded: &[("yes", receive)],
    },
];

fn embed(sandbox: &Sandbox, event: &str, payload: &Value) -> Came {
    let variables = [("PATH", std::env::var_os("PATH").unwrap())];
    let variables = variables.map(|(name, value)| (OsString::from(name), value));
    let (engine, _) = Engine::builder().project(sandbox.project()).env(variables).load();
    let event = match event {
        "PreToolUse" => Event::pre_tool_use("Bash", payload["tool_input"].clone()),
        _ => Event::new(EventName::UserPromptSubmit),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let verdict = runtime.block_on(engine.fire(event));
    Came {
        blocked: verdict.is_blocked(),
        changed: verdict.tool_input.is_some(),
        context: !verdict.context.is_empty(),
    }
}

fn host(sandbox: &Sandbox, event: &str, payload: &Value) -> Came {
    host_with(sandbox, &["run", event], payload)
}

fn host_guarded(sandbox: &Sandbox, event: &str, payload: &Value) -> Came {
    host_with(sandbox, &["run", event, "--guard"], payload)
}

fn host_recorded(sandbox: &Sandbox, event: &str, payload: &Value) -> Came {
    host_with(sandbox, &["run", event, "--record"], payload)
}

/// An option that is not there is bad usage: then nothing comes of it.
fn host_with(sandbox: &Sandbox, args: &[&str], payload: &Value) -> Came {
    let ran = sandbox.snell(args, &payload.to_string());
    if ran.code == 1 {
        return Came::default();
    }
    Came {
        blocked: ran.code == 2,
        changed: !ran.json()["tool_input"].is_null(),
        context: !ran.context().is_empty(),
    }
}

fn guest(sandbox: &Sandbox, event: &str, payload: &Value) -> Came {
    sandbox.snell(&["trust"], "");
    let ran = sandbox.tell("12:00:00", event, payload.clone());
    let answer = if ran.stdout.is_empty() { json!({}) } else { ran.json() };
    let specific = &answer["hookSpecificOutput"];
    Came {
        blocked: specific["permissionDecision"] == "deny",
        changed: specific["updatedInput"].is_object(),
        context: specific["additionalContext"].is_string(),
    }
}

fn receive(sandbox: &Sandbox, event: &str, payload: &Value) -> Came {
    let receiver = Receiver::start(sandbox, ANYWHERE);
    let route = if event == "PreToolUse" {
        "pre-tool-use"
    } else {
        "user-prompt-submit"
    };
    let answer = receiver.tell(route, payload);
    Came {
        blocked: answer.get("decision").is_some_and(|decision| decision != "allow"),
        changed: answer.get("tool_input").is_some(),
        context: answer.get("context").is_some(),
    }
}

fn call(command: &str) -> Value {
    json!({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": command}})
}

fn project() -> Sandbox {
    Sandbox::recording().file("snell.toml", HOOKS)
}

/// The first of these ways that does it.
fn first(ways: &Asked, does: impl Fn(Ask) -> bool) -> String {
    let found = ways.iter().find(|(_, ask)| does(*ask));
    found.map_or(NOTHING, |(name, _)| *name).to_owned()
}

/// Whether the page knows the agent afterwards.
fn is_on_the_page(sandbox: &Sandbox) -> bool {
    let receiver = Receiver::start(sandbox, ANYWHERE);
    receiver.page("/api/agents")["items"] != json!([])
}

pub fn table() -> String {
    let columns = [
        "way in",
        "for",
        "blocks",
        "changes a call",
        "adds context",
        "guard",
        "recorded, and on the page",
    ];
    let mut table = Table::new(columns);
    for way in WAYS {
        let ask = |event: &str, payload: &Value| (way.ask)(&project(), event, payload);
        let harmless = ask("PreToolUse", &call("ls"));
        assert!(
            !harmless.blocked && !harmless.changed && !harmless.context,
            "{}",
            way.name
        );
        let prompt = json!({"session_id": "s1", "prompt": "Go."});
        let guarded = |ask: Ask| ask(&project(), "PreToolUse", &call("rm -rf /")).blocked;
        let recorded = |ask: Ask| {
            let sandbox = project();
            ask(&sandbox, "PreToolUse", &call("ls"));
            is_on_the_page(&sandbox)
        };
        table.row(
            way.name,
            [
                way.who.to_owned(),
                yes(ask("PreToolUse", &call("forbidden")).blocked),
                yes(ask("PreToolUse", &call("slow")).changed),
                yes(ask("UserPromptSubmit", &prompt).context),
                first(way.guarded, guarded),
                first(way.recorded, recorded),
            ],
        );
    }
    table.text()
}
