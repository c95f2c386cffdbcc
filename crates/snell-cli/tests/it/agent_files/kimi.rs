//! Kimi Code.

use serde_json::json;

use super::{assert_answers, assert_matchers, assert_payloads, assert_tools, create_project, fire_event};
use crate::support::CliSandbox;

#[test]
fn only_three_events_can_be_blocked_and_only_calls_by_json() {
    let deny = json!({"decision": "block", "reason": "no"});
    let open = json!({"decision": "allow"});
    let json_deny =
        r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'"#;
    assert_answers(
        "kimi",
        &[
            ("PreToolUse", "PreToolUse", json_deny, deny.clone()),
            (
                "PreToolUse",
                "PreToolUse",
                &format!("{json_deny}; exit 1"),
                json!({"decision": "allow", "status": "failed"}),
            ),
            ("PreToolUse", "PreToolUse", "echo no >&2; exit 2", deny.clone()),
            ("Stop", "Stop", "echo no >&2; exit 2", deny.clone()),
            ("UserPromptSubmit", "UserPromptSubmit", "echo no >&2; exit 2", deny),
            ("Stop", "Stop", json_deny, open.clone()),
            ("PostToolUse", "PostToolUse", "echo no >&2; exit 2", json!({"decision": "allow", "status": "failed"})),
            (
                "PreToolUse",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"updatedInput": {"command": "x"}}}'"#,
                json!({"tool_input": null}),
            ),
            ("UserPromptSubmit", "UserPromptSubmit", "echo note", json!({"context": ["note"]})),
            ("UserPromptSubmit", "UserPromptSubmit", "echo '{\"a\": 1}'", json!({"context": ["{\"a\": 1}"]})),
            ("SessionStart", "SessionStart", "echo note", json!({"context": []})),
        ],
    );
}

#[test]
fn payloads_have_the_fields_of_kimi() {
    assert_payloads(
        "kimi",
        &[
            (
                "PreToolUse",
                "PreToolUse",
                json!({"hook_event_name": "PreToolUse", "session_id": "s1", "client_type": "kimi_code_cli", "tool_name": "Bash",
                    "tool_input": {"command": "ls"}, "tool_call_id": "t1"}),
            ),
            ("PostToolUse", "PostToolUse", json!({"tool_output": "out"})),
            ("PostToolUseFailure", "PostToolUseFailure", json!({"error": {"message": "broken"}})),
            ("UserPromptSubmit", "UserPromptSubmit", json!({"prompt": [{"type": "text", "text": "Go."}]})),
        ],
    );
    let tools = [(json!(["Read", {"file_path": "a"}]), json!(["Read", {"path": "a"}]))];
    assert_tools("kimi", "PreToolUse", ["tool_name", "tool_input"], &tools);
}

#[test]
fn a_matcher_is_an_expression() {
    assert_matchers(
        "kimi",
        "PreToolUse",
        "matcher",
        &[("Ba", "Bash", true), ("^Read$", "Bash", false), ("FetchURL", "WebFetch", true)],
    );
}

#[test]
fn the_same_command_runs_once_and_a_project_has_no_file() {
    let sandbox = create_project("kimi", "PreToolUse", json!({})).file("does", "echo ran >> log");
    let text = std::fs::read_to_string(sandbox.home().join(".kimi-code/config.toml")).unwrap();
    let sandbox = sandbox.home_file(".kimi-code/config.toml", &text.repeat(2)).file(".kimi-code/config.toml", &text);
    assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).statuses(), ["ok", "skipped"]);
    assert_eq!(sandbox.read("log"), "ran\n");
    let other = CliSandbox::new().file(".kimi-code/config.toml", &text);
    assert_eq!(fire_event(&other, "PreToolUse", json!({})).hooks().len(), 0);
}
