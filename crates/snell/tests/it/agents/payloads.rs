//! Recorded payloads of real agents, one per event: the sender is recognized, and the event has canonical names.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use snell::{AgentProduct, Event};

/// A recorded payload, and the variables that its hook had.
struct RecordedPayload {
    agent: String,
    /// The file's name without `.json`: the agent's own name of the event, and a variant.
    name: String,
    variables: BTreeMap<String, String>,
    fields: Map<String, Value>,
}

impl RecordedPayload {
    fn identify(&self, registered: Option<&str>) -> &'static AgentProduct {
        AgentProduct::identify(&self.fields, &|name| self.variables.get(name).cloned(), registered)
    }

    fn decode(&self) -> Event {
        self.identify(None).decode(None, self.fields.clone()).unwrap()
    }

    fn label(&self) -> String {
        format!("{}/{}", self.agent, self.name)
    }
}

fn list_files(directory: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn read_recorded_payloads() -> Vec<RecordedPayload> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/agents");
    let directories = list_files(&root).into_iter().filter(|path| path.is_dir());
    let mut payloads = Vec::new();
    for directory in directories {
        for file in list_files(&directory) {
            let sample: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
            payloads.push(RecordedPayload {
                agent: directory.file_name().unwrap().to_str().unwrap().to_owned(),
                name: file.file_stem().unwrap().to_str().unwrap().to_owned(),
                variables: serde_json::from_value(sample["env"].clone()).unwrap(),
                fields: sample["payload"].as_object().unwrap().clone(),
            });
        }
    }
    payloads
}

#[test]
fn the_sender_of_every_recorded_payload_is_recognized() {
    let payloads = read_recorded_payloads();
    assert!(payloads.len() > 90, "{}", payloads.len());
    for payload in &payloads {
        // Claude Code's file is read by others, and drops its arguments there.
        for registered in [None, Some("claude"), Some(payload.agent.as_str())] {
            // A prompt of Copilot under Claude Code's names has no mark but its variable.
            assert_eq!(payload.identify(registered).name, payload.agent, "{} {registered:?}", payload.label());
        }
    }
}

/// Names of agents' events that are not canonical, and the canonical ones.
const RENAMED: &[(&str, &str)] = &[
    ("AfterAgent", "Stop"),
    ("AfterTool", "PostToolUse"),
    ("BeforeAgent", "UserPromptSubmit"),
    ("BeforeTool", "PreToolUse"),
    ("PreCompress", "PreCompact"),
    ("TaskComplete", "Stop"),
    ("TaskStart", "SessionStart"),
    ("agentStop", "Stop"),
    ("agent_end", "Stop"),
    ("before_agent_start", "UserPromptSubmit"),
    ("chat.message", "UserPromptSubmit"),
    ("permission.asked", "Notification"),
    ("permission.replied", "Notification"),
    ("permissionRequest", "PermissionRequest"),
    ("postToolUse", "PostToolUse"),
    ("post_agent", "Stop"),
    ("post_tool", "PostToolUse"),
    ("preToolUse", "PreToolUse"),
    ("pre_tool", "PreToolUse"),
    ("session.compacted", "PostCompact"),
    ("session.created", "SessionStart"),
    ("session.created.child", "SubagentStart"),
    ("session.error", "StopFailure"),
    ("session.idle", "Stop"),
    ("sessionEnd", "SessionEnd"),
    ("sessionStart", "SessionStart"),
    ("session_before_compact", "PreCompact"),
    ("session_shutdown", "SessionEnd"),
    ("session_start", "SessionStart"),
    ("tool.execute.after", "PostToolUse"),
    ("tool.execute.before", "PreToolUse"),
    ("tool.execute.before.child", "PreToolUse"),
    ("tool_call", "PreToolUse"),
    ("tool_result", "PostToolUse"),
    ("userPromptSubmitted", "UserPromptSubmit"),
    ("userPromptTransformed", "UserPromptExpansion"),
];

#[test]
fn every_recorded_event_has_its_canonical_name_its_session_and_its_directory() {
    for payload in read_recorded_payloads() {
        let event = payload.decode();
        let native = payload.name.trim_end_matches(".pascal");
        let renamed = RENAMED.iter().find(|(name, _)| *name == native);
        let expected = renamed.map_or(native.split('.').next().unwrap(), |(_, canonical)| canonical);
        assert_eq!(event.name.as_str(), expected, "{}", payload.label());
        assert!(event.session_id.as_ref().is_some_and(|id| !id.is_empty()), "{}", payload.label());
        assert!(event.cwd.as_ref().is_some_and(|cwd| cwd.starts_with("/home/me")), "{} {event:?}", payload.label());
        // A recorded event is decoded again, under its canonical name.
        let again = payload.identify(None).decode(Some(event.name.as_str()), event.raw.clone()).unwrap();
        assert_eq!(again, event, "{}", payload.label());
    }
}

#[test]
fn every_recorded_tool_call_has_a_canonical_tool_and_its_command() {
    let mut count = 0;
    for payload in read_recorded_payloads() {
        let event = payload.decode();
        if !event.name.is_tool_event() {
            continue;
        }
        count += 1;
        let tool = event.tool.clone().unwrap_or_else(|| panic!("{}", payload.label()));
        let expected = match payload.name.as_str() {
            "PreToolUse.apply_patch" => "apply_patch",
            "PreToolUse.spawn_agent" => "Agent",
            _ => "Bash",
        };
        assert_eq!(tool.name, expected, "{}", payload.label());
        if expected == "Bash" {
            assert!(tool.command().is_some_and(|command| !command.is_empty()), "{} {tool:?}", payload.label());
        }
        let is_failure = event.name.as_str() == "PostToolUseFailure";
        assert_eq!(event.has_tool_failed(), is_failure, "{}", payload.label());
        if event.name.as_str() == "PostToolUse" {
            assert!(tool.output.is_some(), "{}", payload.label());
        }
    }
    assert!(count > 30, "{count}");
}

#[test]
fn every_recorded_prompt_is_text_and_every_last_message_is_found() {
    for payload in read_recorded_payloads() {
        let event = payload.decode();
        if event.name.as_str() == "UserPromptSubmit" {
            assert!(event.prompt.as_ref().is_some_and(|prompt| !prompt.is_empty()), "{}", payload.label());
        }
        // Copilot, Kimi Code and Mistral Vibe do not send the last message.
        let is_silent = ["copilot", "kimi", "vibe"].contains(&payload.agent.as_str());
        if event.name.as_str() == "Stop" && !is_silent {
            let words = event.raw.get("last_assistant_message").and_then(Value::as_str);
            assert!(words.is_some_and(|words| !words.is_empty()), "{}", payload.label());
        }
    }
}

#[test]
fn a_sub_agent_belongs_to_the_session_of_its_parent_and_a_main_agent_is_none() {
    for payload in read_recorded_payloads() {
        let event = payload.decode();
        let id = event.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
        let is_inside = payload.name.ends_with(".child") || payload.name.to_lowercase().starts_with("subagent");
        assert_eq!(id.is_some(), is_inside, "{} {id:?}", payload.label());
        // Only the start of a sub-agent of Grok Build names its parent.
        if payload.agent == "grok" && payload.name != "SubagentStart" {
            continue;
        }
        assert_ne!(id, event.session_id.as_deref(), "{}", payload.label());
    }
}
