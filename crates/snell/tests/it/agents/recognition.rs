//! Recognition of the caller by payload and environment, never by the claim of a hook file.

use serde_json::{Map, Value, json};
use snell::{AgentProduct, SupportLevel};
use snell_test_support::payload::merge_fields;

fn into_json_object(payload: Value) -> Map<String, Value> {
    match payload {
        Value::Object(object) => object,
        other => panic!("{other}"),
    }
}

fn recognize_guest(payload: &Value, variables: &[&str]) -> Option<&'static str> {
    let environment = |name: &str| variables.contains(&name).then(|| "1".to_owned());
    let product = AgentProduct::identify(&into_json_object(payload.clone()), &environment, None);
    (product.support == SupportLevel::Full).then_some(product.name)
}

/// Claude Code's payload before a tool runs.
fn build_tool_call_payload() -> Value {
    json!({
        "session_id": "s", "transcript_path": "/t.jsonl", "cwd": "/w", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "u",
    })
}

#[test]
fn claude_code_is_known_by_its_events() {
    let names = [
        "SessionStart",
        "Setup",
        "InstructionsLoaded",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolBatch",
        "Stop",
        "TeammateIdle",
        "ElicitationResult",
        "SessionEnd",
    ];
    for name in names {
        let payload = json!({"session_id": "s", "hook_event_name": name});
        assert_eq!(recognize_guest(&payload, &[]), Some("claude"), "{name}");
        assert_eq!(recognize_guest(&payload, &["CLAUDECODE"]), Some("claude"), "{name}");
    }
    let shown = json!({"session_id": "s", "hook_event_name": "MessageDisplay", "turn_id": "t", "delta": "Hello"});
    assert_eq!(recognize_guest(&shown, &[]), Some("claude"));
    let started = json!({"session_id": "s", "hook_event_name": "SessionStart", "source": "startup", "model": "m"});
    assert_eq!(recognize_guest(&started, &[]), Some("claude"));
}

#[test]
fn an_event_that_claude_code_may_know_by_now_is_still_its_own() {
    let named = |name: &str| json!({"session_id": "s", "hook_event_name": name});
    let transcript = json!({"transcript_path": "/t.jsonl"});
    let cases = [
        (merge_fields(named("Brainwave"), &transcript), &[][..], Some("claude")),
        (named("Brainwave"), &["CLAUDECODE"], Some("claude")),
        (named("Brainwave"), &[], None),
        (named("Brainwave"), &["CLAUDE_PROJECT_DIR"], None),
        (json!({"hook_event_name": "Brainwave", "transcript_path": "/t"}), &["CLAUDECODE"], None),
        // Names in the style of other agents.
        (merge_fields(named("pre_call"), &transcript), &[], None),
        (merge_fields(named("preToolUse"), &transcript), &["CLAUDECODE"], None),
        (json!({"session_id": "s", "transcript_path": "/t"}), &["CLAUDECODE"], None),
        (json!({"event": "PreToolUse", "session_id": "s"}), &[], None),
        (json!({}), &["CLAUDECODE"], None),
    ];
    for (payload, variables, expected) in cases {
        assert_eq!(recognize_guest(&payload, variables), expected, "{payload} {variables:?}");
    }
}

#[test]
fn another_agent_that_runs_claude_codes_files_is_not_taken_for_it() {
    let cases = [
        ("Cursor", merge_fields(build_tool_call_payload(), &json!({"cursor_version": "3.9.16"}))),
        ("Cline", json!({"clineVersion": "4", "hookName": "PreToolUse", "taskId": "t"})),
        ("Windsurf", json!({"agent_action_name": "pre_run_command", "tool_info": {}})),
        ("Codex", merge_fields(build_tool_call_payload(), &json!({"turn_id": "t", "model": "gpt-5.5"}))),
        ("Grok Build", json!({"hookEventName": "pre_tool_use", "workspaceRoot": "/w", "sessionId": "s"})),
        ("Antigravity", json!({"toolCall": {"name": "x"}, "conversationId": "c"})),
        ("Copilot", json!({"sessionId": "s", "toolArgs": {}, "toolName": "bash"})),
        ("Goose", merge_fields(build_tool_call_payload(), &json!({"matcher_context": "Bash"}))),
        ("Qwen Code", merge_fields(build_tool_call_payload(), &json!({"permission_mode": "yolo"}))),
        ("Factory droid", merge_fields(build_tool_call_payload(), &json!({"permission_mode": "auto-low"}))),
    ];
    let claude_code = |name: &str| (name == "CLAUDECODE").then(|| "1".to_owned());
    for (agent, payload) in cases {
        assert_eq!(AgentProduct::identify(&into_json_object(payload), &claude_code, None).title, agent);
    }
    for variable in VARIABLES {
        assert_ne!(recognize_guest(&build_tool_call_payload(), &[variable]), Some("claude"), "{variable}");
    }
    assert_eq!(recognize_guest(&build_tool_call_payload(), &["CLAUDE_PROJECT_DIR"]), Some("claude"));
}

/// Variables that identify other agents.
const VARIABLES: &[&str] =
    &["GEMINI_SESSION_ID", "GROK_SESSION_ID", "CRUSH", "QWEN_PROJECT_DIR", "FACTORY_PROJECT_DIR", "CURSOR_VERSION"];

#[test]
fn gemini_cli_is_known_by_its_events_its_transcript_and_its_variable() {
    let named = |name: &str| json!({"session_id": "s", "hook_event_name": name});
    let transcript = json!({"transcript_path": "/home/me/.gemini/tmp/p/chats/session-1.jsonl"});
    let cases = [
        (merge_fields(build_tool_call_payload(), &json!({"hook_event_name": "BeforeTool"})), &["CLAUDECODE"][..], true),
        (named("PreCompress"), &["CLAUDECODE"], true),
        (merge_fields(named("SessionStart"), &transcript), &["CLAUDECODE"], true),
        (named("SessionStart"), &["GEMINI_SESSION_ID"], true),
        (named("SessionStart"), &["GEMINI_SESSION_ID", "CLAUDECODE"], false),
        // It has no such event: an agent that it started inherited its variable.
        (named("PreToolUse"), &["GEMINI_SESSION_ID"], false),
    ];
    for (payload, variables, expected) in cases {
        assert_eq!(recognize_guest(&payload, variables) == Some("gemini"), expected, "{payload} {variables:?}");
    }
}

#[test]
fn what_shows_claude_code_outweighs_a_variable_of_another_agent() {
    for variable in VARIABLES {
        for its_own in ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PID"] {
            assert_eq!(
                recognize_guest(&build_tool_call_payload(), &[variable, its_own]),
                Some("claude"),
                "{variable} {its_own}"
            );
        }
        let guest = recognize_guest(&build_tool_call_payload(), &[variable, "CLAUDE_PROJECT_DIR"]);
        assert_ne!(guest, Some("claude"), "{variable}");
        // A payload of Crush.
        let theirs = json!({"event": "PreToolUse", "session_id": "s", "tool_name": "bash", "tool_input": {}});
        assert_ne!(recognize_guest(&theirs, &[variable, "CLAUDECODE"]), Some("claude"), "{variable}");
    }
}

#[test]
fn a_hook_file_says_who_calls_unless_the_payload_shows_another() {
    let identify =
        |name, payload: Value| AgentProduct::identify(&into_json_object(payload), &|_| None, Some(name)).name;
    assert_eq!(identify("claude", build_tool_call_payload()), "claude");
    assert_eq!(identify("claude", json!({"event": "PreToolUse"})), "claude");
    assert_eq!(identify("claude", merge_fields(build_tool_call_payload(), &json!({"cursor_version": "3"}))), "cursor");
    assert_eq!(identify("nobody", build_tool_call_payload()), "unknown");
    let foreign_call = json!({"event": "pre_tool_use", "tool_name": "bash", "tool_input": {}});
    assert_eq!(identify("claude", foreign_call), "unknown");
}

#[test]
fn a_call_of_an_unknown_agent_is_read_under_any_field_names() {
    let input = || json!({"path": "/x"});
    let cases = [
        (json!({"hook_event_name": "preToolUse", "tool_name": "Read", "tool_input": input()}), Some("Read")),
        (json!({"hookEventName": "pre_tool_use", "toolName": "view", "toolInput": input()}), Some("view")),
        (json!({"toolName": "view", "toolArgs": input().to_string()}), Some("view")),
        (json!({"toolName": "view", "toolArgs": input(), "toolResult": {}}), None),
        (json!({"toolCall": {"name": "view", "args": input()}}), Some("view")),
        (
            json!({"hookName": "PreToolUse", "preToolUse": {"toolName": "read_file", "parameters": input()}}),
            Some("read_file"),
        ),
        (json!({"hook_event_name": "postToolUse", "tool_name": "Read", "tool_input": input()}), None),
        (json!({"hook_event_name": "PreToolUse", "tool_name": "Read"}), None),
        (json!({"hook_event_name": "PreToolUse", "tool_input": input()}), None),
        (json!({}), None),
    ];
    for (payload, expected) in cases {
        let unknown = AgentProduct::identify(&into_json_object(json!({})), &|_| None, Some("shark"));
        let event = unknown.decode(Some("Unnamed"), into_json_object(payload.clone())).unwrap();
        let call = unknown.announced_call(&event);
        assert_eq!(call.as_ref().and_then(|call| call.tool_name()), expected, "{payload}");
        if let Some(tool) = call.and_then(|call| call.into_owned().tool) {
            assert_eq!(tool.input, Some(input()), "{payload}");
        }
    }
}
