//! A hook on every event, in a file of every format.

use serde_json::{Value, json};

use super::super::formats::{self, HookSpec, create_project, set_hook_script};
use super::callers::EVENTS;
use crate::support::CliSandbox;

/// The formats of agents, with their names of [`EVENTS`].
const AGENT_FORMATS: &[(&str, [Option<&str>; 5])] = &[
    ("codex", SAME_NAMES),
    ("gemini", [Some("SessionStart"), Some("BeforeAgent"), Some("BeforeTool"), Some("AfterTool"), Some("AfterAgent")]),
    ("qwen", SAME_NAMES),
    (
        "copilot",
        [Some("sessionStart"), Some("userPromptSubmitted"), Some("preToolUse"), Some("postToolUse"), Some("agentStop")],
    ),
    (
        "cursor",
        [Some("sessionStart"), Some("beforeSubmitPrompt"), Some("preToolUse"), Some("postToolUse"), Some("stop")],
    ),
    (
        "cline",
        [Some("TaskStart"), Some("UserPromptSubmit"), Some("PreToolUse"), Some("PostToolUse"), Some("TaskComplete")],
    ),
    ("kimi", SAME_NAMES),
    ("grok", SAME_NAMES),
    ("vibe", [None, None, Some("pre_tool"), Some("post_tool"), Some("post_agent")]),
    (
        "windsurf",
        [
            None,
            Some("pre_user_prompt"),
            Some("pre_run_command"),
            Some("post_run_command"),
            Some("post_cascade_response"),
        ],
    ),
    ("droid", SAME_NAMES),
];

const SAME_NAMES: [Option<&str>; 5] =
    [Some(EVENTS[0]), Some(EVENTS[1]), Some(EVENTS[2]), Some(EVENTS[3]), Some(EVENTS[4])];

/// The command of a hook.
const COMMAND: &str = ". ./does";

/// A project with a hook of this contract on every event. It runs the file `does`, and its failure blocks if the format can say so.
pub fn create_hook_project(contract: &str, does: &str) -> CliSandbox {
    if formats::CONTRACTS.contains(&contract) {
        let hook = HookSpec { closed: true, ..HookSpec::default() };
        return set_hook_script(create_project(contract, &EVENTS, &hook), does);
    }
    let sandbox = CliSandbox::new().file("does", does);
    let events = list_native_events(contract);
    let command = json!({"type": "command", "command": COMMAND});
    let grouped = || render_json(&events, &json!({"hooks": [command]}));
    match contract {
        "codex" => sandbox.file(".codex/hooks.json", &grouped()),
        "gemini" => sandbox.file(".gemini/settings.json", &grouped()),
        "qwen" => sandbox.file(".qwen/settings.json", &grouped()),
        "grok" => sandbox.file(".grok/hooks/one.json", &grouped()),
        "droid" => sandbox.file(".factory/hooks.json", &grouped()),
        "copilot" => sandbox.file(".github/hooks/one.json", &render_json(&events, &json!({"bash": COMMAND}))),
        "cursor" => {
            let entry = json!({"command": COMMAND, "failClosed": true});
            sandbox.file(".cursor/hooks.json", &render_json(&events, &entry))
        }
        "windsurf" => sandbox.file(".windsurf/hooks.json", &render_json(&events, &json!({"command": COMMAND}))),
        "kimi" => {
            let table = |event: &&str| format!("[[hooks]]\nevent = \"{event}\"\ncommand = \"{COMMAND}\"\n");
            sandbox.home_file(".kimi-code/config.toml", &events.iter().map(table).collect::<String>())
        }
        "vibe" => {
            sandbox.file(".vibe/hooks.toml", &events.iter().map(|event| render_vibe_hook(event)).collect::<String>())
        }
        "cline" => {
            let add =
                |sandbox: CliSandbox, event: &&str| sandbox.script(&format!(".clinerules/hooks/{event}"), COMMAND);
            events.iter().fold(sandbox, add)
        }
        other => panic!("{other} has no hook file: add it here"),
    }
}

/// The name that a format gives to an event.
pub fn find_native_event(contract: &str, event: &str) -> Option<&'static str> {
    let index = EVENTS.iter().position(|name| *name == event).unwrap();
    let row = AGENT_FORMATS.iter().find(|(name, _)| *name == contract);
    row.map_or(Some(EVENTS[index]), |(_, names)| names[index])
}

fn list_native_events(contract: &str) -> Vec<&'static str> {
    EVENTS.iter().filter_map(|event| find_native_event(contract, event)).collect()
}

fn render_json(events: &[&str], entry: &Value) -> String {
    let hooks: Value = events.iter().map(|event| ((*event).to_owned(), json!([entry]))).collect();
    json!({"version": 1, "hooks": hooks}).to_string()
}

fn render_vibe_hook(event: &str) -> String {
    let strict = if event.ends_with("_tool") { "strict = true\n" } else { "" };
    format!("[[hooks]]\nname = \"{event}\"\ntype = \"{event}\"\ncommand = \"{COMMAND}\"\n{strict}")
}
