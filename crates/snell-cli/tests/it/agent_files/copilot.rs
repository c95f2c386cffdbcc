//! Copilot CLI.

use serde_json::json;

use super::{assert_answers, assert_matchers, assert_payloads, assert_tools, create_project, fire_event};
use crate::support::CliSandbox;

#[test]
fn a_hook_before_a_tool_that_fails_denies() {
    let deny = json!({"decision": "block", "reason": "no"});
    let open = json!({"decision": "allow", "status": "failed"});
    assert_answers(
        "copilot",
        &[
            (
                "preToolUse",
                "PreToolUse",
                r#"echo '{"permissionDecision": "deny", "permissionDecisionReason": "no"}'"#,
                deny.clone(),
            ),
            ("preToolUse", "PreToolUse", "echo no >&2; exit 1", deny.clone()),
            ("preToolUse", "PreToolUse", "echo no >&2; exit 2", deny.clone()),
            ("preToolUse", "PreToolUse", "kill -9 $$", json!({"decision": "block"})),
            ("preToolUse", "PreToolUse", "echo '{'", open.clone()),
            ("userPromptSubmitted", "UserPromptSubmit", "echo no >&2; exit 2", open.clone()),
            ("permissionRequest", "PermissionRequest", "echo no >&2; exit 2", deny.clone()),
            ("permissionRequest", "PermissionRequest", "echo no >&2; exit 1", open),
            ("permissionRequest", "PermissionRequest", r#"echo '{"behavior": "deny", "message": "no"}'"#, deny.clone()),
            ("preToolUse", "PreToolUse", r#"echo '{"permissionDecision": "ask"}'"#, json!({"decision": "ask"})),
            // The answer must be at the top, unless the event has Claude Code's name.
            (
                "preToolUse",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny"}}'"#,
                json!({"decision": "allow"}),
            ),
            (
                "PreToolUse",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny"}}'"#,
                json!({"decision": "block"}),
            ),
            (
                "preToolUse",
                "PreToolUse",
                r#"echo '{"modifiedArgs": {"command": "x"}}'"#,
                json!({"tool_input": {"command": "x"}}),
            ),
            (
                "PreToolUse",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"updatedInput": {"command": "x"}, "additionalContext": "c"}}'"#,
                json!({"tool_input": {"command": "x"}, "context": ["c"]}),
            ),
            (
                "postToolUse",
                "PostToolUse",
                r#"echo '{"modifiedResult": {"resultType": "success", "textResultForLlm": "new"}, "additionalContext": "c"}'"#,
                json!({"tool_output": "new", "context": ["c"]}),
            ),
            ("agentStop", "Stop", r#"echo '{"decision": "block", "reason": "no"}'"#, deny.clone()),
            (
                "preToolUse",
                "PreToolUse",
                r#"echo '{"type": "progress", "message": "wait"}'; echo '{"permissionDecision": "deny", "permissionDecisionReason": "no"}'"#,
                deny,
            ),
        ],
    );
}

#[test]
fn a_time_limit_denies_nothing() {
    let sandbox = create_project("copilot", "preToolUse", json!({"timeoutSec": 0.2})).file("does", "sleep 30");
    let ran = fire_event(&sandbox, "PreToolUse", json!({}));
    assert_eq!((ran.decision().as_str(), ran.statuses()), ("allow", vec!["timed_out".to_owned()]));
}

#[test]
fn the_case_of_an_event_decides_about_its_payload() {
    assert_payloads(
        "copilot",
        &[
            (
                "preToolUse",
                "PreToolUse",
                json!({"sessionId": "s1", "cwd": "*", "toolName": "bash", "toolArgs": {"command": "ls"}}),
            ),
            (
                "postToolUse",
                "PostToolUse",
                json!({"toolName": "bash", "toolResult": {"resultType": "success", "textResultForLlm": "out"}}),
            ),
            ("userPromptSubmitted", "UserPromptSubmit", json!({"sessionId": "s1", "prompt": "Go."})),
            (
                "agentStop",
                "Stop",
                json!({"transcriptPath": "/t.jsonl", "stopReason": "end_turn", "stop_hook_active": false}),
            ),
            (
                "PreToolUse",
                "PreToolUse",
                json!({"hook_event_name": "PreToolUse", "session_id": "s1", "timestamp": "*", "tool_name": "Bash",
                    "tool_input": {"command": "ls"}}),
            ),
            (
                "PostToolUse",
                "PostToolUse",
                json!({"tool_result": {"result_type": "success", "text_result_for_llm": "out"}}),
            ),
            (
                "PermissionRequest",
                "PermissionRequest",
                json!({"hookName": "permissionRequest", "sessionId": "s1", "toolName": "bash"}),
            ),
        ],
    );
    let write = json!(["Write", {"file_path": "a", "content": "b"}]);
    let keys = json!({"path": "a", "file_text": "b"});
    assert_tools("copilot", "preToolUse", ["toolName", "toolArgs"], &[(write.clone(), json!(["create", keys]))]);
    assert_tools("copilot", "PreToolUse", ["tool_name", "tool_input"], &[(write, json!(["Write", keys]))]);
}

#[test]
fn a_matcher_is_for_the_whole_name() {
    let cases = [
        ("bash", "Bash", true),
        ("bas", "Bash", false),
        ("bash|create", "Write", true),
        ("ba.*", "Bash", true),
        ("a.*", "Bash", false),
        ("Bash", "Bash", false),
    ];
    assert_matchers("copilot", "preToolUse", "matcher", &cases);
    let cases = [("Bash", "Bash", true), ("bash", "Bash", true), ("**", "Bash", true), ("Edit|Write", "Bash", false)];
    assert_matchers("copilot", "PreToolUse", "matcher", &cases);
}

#[test]
fn every_file_of_the_directories_is_read_by_name_and_can_be_off() {
    let file = |name: &str| json!({"version": 1, "hooks": {"preToolUse": [{"bash": format!("echo {name} >> log")}]}});
    let mut off = file("off");
    off["disableAllHooks"] = true.into();
    let sandbox = CliSandbox::new()
        .file(".github/hooks/b.json", &file("b").to_string())
        .file(".github/hooks/a.json", &file("a").to_string())
        .file(".github/hooks/off.json", &off.to_string())
        .file(".github/hooks/README.md", "no hook file")
        .home_file(".copilot/hooks/user.json", &file("user").to_string());
    let ran = fire_event(&sandbox, "PreToolUse", json!({}));
    assert_eq!(sandbox.read("log"), "user\na\nb\n");
    assert_eq!(ran.statuses(), ["ok", "ok", "ok", "skipped"]);
    assert_eq!(ran.warnings(), [""; 0]);
}

#[test]
fn a_hook_has_its_own_directory_and_variables() {
    let sandbox = create_project("copilot", "preToolUse", json!({"cwd": "sub", "env": {"MODE": "strict"}}))
        .file("sub/does", "echo \"$MODE $COPILOT_PROJECT_DIR\" > seen");
    fire_event(&sandbox, "PreToolUse", json!({}));
    let project = sandbox.project().canonicalize().unwrap();
    assert_eq!(sandbox.read("sub/seen"), format!("strict {}\n", project.display()));
}
