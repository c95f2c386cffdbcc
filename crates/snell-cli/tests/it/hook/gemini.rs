//! Gemini CLI calls `snell hook`: its payloads are judged, answered in its own format, and recorded.

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use super::{HookSandbox, RecordingMode};
use crate::support::CliSandbox;

/// A payload as Gemini CLI sends it, with its variables.
fn run_gemini_hook(watched: &HookSandbox, name: &str, fields: Value) -> CommandOutput {
    let mut payload = watched.build_payload("g1", name, fields);
    let fields = payload.as_object_mut().unwrap();
    fields.remove("permission_mode");
    fields.insert("timestamp".into(), "2026-03-01T12:00:00Z".into());
    fields.insert("transcript_path".into(), "/home/me/.gemini/tmp/p/chats/session-1.jsonl".into());
    let project = watched.sandbox.project();
    let project = project.to_str().unwrap();
    let variables = [("GEMINI_SESSION_ID", "g1"), ("GEMINI_PROJECT_DIR", project), ("CLAUDE_PROJECT_DIR", project)];
    watched.run_hook_with_env(&variables, &payload)
}

fn run_command_hook(watched: &HookSandbox, command: &str) -> CommandOutput {
    run_gemini_hook(
        watched,
        "BeforeTool",
        json!({"tool_name": "run_shell_command", "tool_input": {"command": command, "description": "x"}}),
    )
}

#[test]
fn a_call_is_judged_and_denied_in_its_own_format() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    run_command_hook(&watched, "ls").assert_silent();
    let denied = run_command_hook(&watched, "rm -rf ~");
    assert_eq!((denied.code, denied.stderr.as_str()), (0, ""));
    assert_eq!(denied.json()["decision"], "deny");
    assert!(denied.json()["reason"].as_str().unwrap().contains("home"), "{denied:?}");
    // A question would hang a run without a terminal.
    let refused = run_command_hook(&watched, "history -c");
    assert_eq!((refused.code, refused.stderr.as_str()), (0, ""));
    assert_eq!(refused.json()["decision"], "deny");
    let written = json!({"tool_name": "write_file", "tool_input": {"file_path": "/etc/passwd", "content": ""}});
    assert_eq!(run_gemini_hook(&watched, "BeforeTool", written).json()["decision"], "deny");
    let decisions = watched.query_rows("SELECT name, decision FROM events ORDER BY rowid");
    let decisions: Vec<_> = decisions.iter().map(|row| row["decision"].as_str().unwrap_or_default()).collect();
    assert_eq!(decisions, ["", "block", "block", "block"]);
    let guard = watched.query_rows("SELECT decision, would FROM guard_verdicts ORDER BY guard_verdict_id");
    assert_eq!(guard[1], json!({"decision": "deny", "would": "ask"}));
}

#[test]
fn hooks_of_snell_toml_run_for_it_and_their_context_and_changes_reach_it() {
    let config = r#"
        [[hook]]
        event = "UserPromptSubmit"
        run = "echo Write tests."

        [[hook]]
        event = "PreToolUse"
        tool = "shell"
        modify = true
        run = "echo '{\"tool_input\": {\"command\": \"ls -l\", \"description\": \"x\"}}'"
    "#;
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", config);
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, sandbox);
    let prompt = run_gemini_hook(&watched, "BeforeAgent", json!({"prompt": "Go"}));
    assert_eq!(prompt.json()["hookSpecificOutput"]["additionalContext"], "Write tests.", "{prompt:?}");
    let changed = run_command_hook(&watched, "ls");
    assert_eq!(changed.json()["hookSpecificOutput"]["tool_input"]["command"], "ls -l", "{changed:?}");
}

#[test]
fn its_session_is_followed_from_prompt_to_question() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    let state = || watched.query_rows("SELECT product, state FROM agents");
    run_gemini_hook(&watched, "SessionStart", json!({"source": "startup"})).assert_silent();
    run_gemini_hook(&watched, "BeforeAgent", json!({"prompt": "Go"})).assert_silent();
    assert_eq!(state(), [json!({"product": "gemini", "state": "processing"})]);
    run_gemini_hook(
        &watched,
        "Notification",
        json!({"notification_type": "ToolPermission", "message": "Allow?", "details": {}}),
    )
    .assert_silent();
    assert_eq!(state(), [json!({"product": "gemini", "state": "awaiting_input"})]);
    let ended = json!({"prompt": "Go", "prompt_response": "Shall I push it?", "stop_hook_active": false});
    run_gemini_hook(&watched, "AfterAgent", ended).assert_silent();
    assert_eq!(state(), [json!({"product": "gemini", "state": "awaiting_input"})]);
    run_gemini_hook(&watched, "SessionEnd", json!({"reason": "exit"})).assert_silent();
    assert_eq!(state(), [json!({"product": "gemini", "state": "ended"})]);
}
