//! The payloads with which every agent calls its hooks.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use snell::AgentProduct;
use snell_test_support::files::{find_repository_root, list_names};

/// The project of every payload, before it is replaced by a real one.
pub const RECORDED_PROJECT: &str = "/home/me/project";

/// The events on which hooks are tried, by their canonical names.
pub const EVENTS: [&str; 5] = ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"];

/// A payload of one event, with the variables that its hook gets.
#[derive(Clone, Debug)]
pub struct AgentPayload {
    pub event: &'static str,
    variables: Value,
    payload: Value,
}

impl AgentPayload {
    /// The payload of a session in this project.
    pub fn render_payload(&self, project: &Path) -> String {
        self.payload.to_string().replace(RECORDED_PROJECT, project.to_str().unwrap())
    }

    pub fn variables(&self, project: &Path) -> Vec<(String, String)> {
        let variables = self.variables.as_object().unwrap().iter();
        let in_project = |value: &Value| value.as_str().unwrap().replace(RECORDED_PROJECT, project.to_str().unwrap());
        variables.map(|(name, value)| (name.clone(), in_project(value))).collect()
    }
}

/// The payloads of a product, at most one for each event: recorded ones, or those of its documentation.
pub fn list_payloads(product: &'static AgentProduct) -> Vec<AgentPayload> {
    let directory = find_repository_root().join("fixtures/agents").join(product.name);
    let found = if directory.is_dir() { read_recorded(product, &directory) } else { list_documented(product) };
    assert!(found.iter().any(|payload| payload.event == "PreToolUse"), "{} has no payload", product.name);
    found
}

fn read_recorded(product: &'static AgentProduct, directory: &Path) -> Vec<AgentPayload> {
    let mut names = list_names(directory);
    // Longer names are variants.
    names.sort_by_key(String::len);
    let samples = names.iter().map(|name| fs::read_to_string(directory.join(name)).unwrap());
    let samples = samples.map(|text| serde_json::from_str::<Value>(&text).unwrap());
    keep_first_of_each_event(product, samples.map(|sample| (sample["env"].clone(), sample["payload"].clone())))
}

fn keep_first_of_each_event(
    product: &'static AgentProduct,
    samples: impl Iterator<Item = (Value, Value)>,
) -> Vec<AgentPayload> {
    let mut found: Vec<AgentPayload> = Vec::new();
    for (variables, payload) in samples {
        let decoded = product.decode(None, payload.as_object().unwrap().clone()).unwrap();
        let event = EVENTS.into_iter().find(|event| *event == decoded.name.as_str());
        let Some(event) = event.filter(|event| found.iter().all(|earlier| earlier.event != *event)) else {
            continue;
        };
        found.push(AgentPayload { event, variables, payload });
    }
    found
}

/// Payloads of products that no test runs, by their documentation.
fn list_documented(product: &'static AgentProduct) -> Vec<AgentPayload> {
    let (variables, payloads) = match product.name {
        "cursor" => (json!({}), document_cursor()),
        "windsurf" => (json!({}), document_windsurf()),
        "droid" => {
            (json!({"FACTORY_PROJECT_DIR": RECORDED_PROJECT}), document_claude_like("UserPromptSubmit", "Execute"))
        }
        "deepagents" => (json!({}), document_claude_like("UserPromptSubmit", "Bash")),
        "augment" => {
            (json!({"AUGMENT_PROJECT_DIR": RECORDED_PROJECT}), document_claude_like("PromptSubmit", "launch-process"))
        }
        "amp" => (json!({}), document_amp()),
        "crush" => (json!({"CRUSH": "1"}), document_crush()),
        "goose" => (json!({}), document_goose()),
        "kiro" => (json!({}), document_kiro()),
        "antigravity" => (json!({}), document_antigravity()),
        other => panic!("{other} has no payloads: add fixtures/agents/{other}, or its documented ones here"),
    };
    keep_first_of_each_event(product, payloads.into_iter().map(|payload| (variables.clone(), payload)))
}

/// Every payload with these members.
fn with_members<const N: usize>(members: Value, payloads: [Value; N]) -> Vec<Value> {
    let join = |payload: &Value| {
        let both = members.as_object().into_iter().chain(payload.as_object()).flatten();
        Value::Object(both.map(|(key, value)| (key.clone(), value.clone())).collect())
    };
    payloads.iter().map(join).collect()
}

fn document_cursor() -> Vec<Value> {
    with_members(
        json!({"conversation_id": "c1", "session_id": "c1", "cursor_version": "3.9.16", "workspace_roots": [RECORDED_PROJECT]}),
        [
            json!({"hook_event_name": "sessionStart"}),
            json!({"hook_event_name": "beforeSubmitPrompt", "prompt": "Look"}),
            json!({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "ls"}}),
            json!({"hook_event_name": "postToolUse", "tool_name": "MCP:notes", "tool_input": {"query": "x"},
                "tool_output": "\"as it was\""}),
            json!({"hook_event_name": "stop", "status": "completed", "loop_count": 0}),
        ],
    )
}

fn document_windsurf() -> Vec<Value> {
    with_members(
        json!({"trajectory_id": "t1", "execution_id": "e1"}),
        [
            json!({"agent_action_name": "pre_user_prompt", "tool_info": {"user_prompt": "Look"}}),
            json!({"agent_action_name": "pre_run_command", "tool_info": {"command_line": "ls", "cwd": RECORDED_PROJECT}}),
            json!({"agent_action_name": "post_run_command", "tool_info": {"command_line": "ls", "cwd": RECORDED_PROJECT}}),
            json!({"agent_action_name": "post_cascade_response", "tool_info": {"response": "Done."}}),
        ],
    )
}

fn document_claude_like(prompt_event: &str, shell: &str) -> Vec<Value> {
    with_members(
        json!({"session_id": "s1", "cwd": RECORDED_PROJECT}),
        [
            json!({"hook_event_name": "SessionStart", "source": "startup"}),
            json!({"hook_event_name": prompt_event, "prompt": "Look"}),
            json!({"hook_event_name": "PreToolUse", "tool_name": shell, "tool_input": {"command": "ls"}}),
            json!({"hook_event_name": "PostToolUse", "tool_name": shell, "tool_input": {"command": "ls"},
                "tool_response": "as it was"}),
            json!({"hook_event_name": "Stop", "stop_hook_active": false}),
        ],
    )
}

fn document_amp() -> Vec<Value> {
    with_members(
        json!({"plugin": "amp", "session_id": "s1", "cwd": RECORDED_PROJECT}),
        [
            json!({"hook_event_name": "session.start"}),
            json!({"hook_event_name": "agent.start", "prompt": "Look"}),
            json!({"hook_event_name": "tool.call", "tool_name": "Bash", "tool_input": {"cmd": "ls"}}),
            json!({"hook_event_name": "tool.result", "tool_name": "Bash", "tool_input": {"cmd": "ls"},
                "tool_response": "as it was", "tool_success": true}),
            json!({"hook_event_name": "agent.end", "stop_hook_active": false}),
        ],
    )
}

fn document_crush() -> Vec<Value> {
    let call = json!({"event": "PreToolUse", "session_id": "s1", "cwd": RECORDED_PROJECT, "tool_name": "bash",
        "tool_input": {"command": "ls"}});
    vec![call]
}

fn document_goose() -> Vec<Value> {
    with_members(
        json!({"session_id": "s1", "working_dir": RECORDED_PROJECT, "matcher_context": "shell"}),
        [
            json!({"event": "SessionStart"}),
            json!({"event": "UserPromptSubmit", "message": "Look"}),
            json!({"event": "PreToolUse", "tool_name": "developer__shell", "tool_input": {"command": "ls"}}),
            json!({"event": "PostToolUse", "tool_name": "developer__shell", "tool_input": {"command": "ls"},
                "tool_output": "as it was"}),
            json!({"event": "Stop"}),
        ],
    )
}

fn document_kiro() -> Vec<Value> {
    with_members(
        json!({"cwd": RECORDED_PROJECT}),
        [
            json!({"hook_event_name": "agentSpawn"}),
            json!({"hook_event_name": "userPromptSubmit", "prompt": "Look"}),
            json!({"hook_event_name": "preToolUse", "tool_name": "execute_bash", "tool_input": {"command": "ls"}}),
            json!({"hook_event_name": "postToolUse", "tool_name": "execute_bash", "tool_input": {"command": "ls"},
                "tool_response": "as it was"}),
            json!({"hook_event_name": "stop"}),
        ],
    )
}

fn document_antigravity() -> Vec<Value> {
    let call = json!({"name": "run_command", "args": {"CommandLine": "ls"}});
    with_members(
        json!({"conversationId": "c1", "workspacePaths": [RECORDED_PROJECT], "toolCall": call}),
        [json!({}), json!({"toolResult": "as it was"})],
    )
}
