//! Qwen Code.

use serde_json::json;

use super::{assert_answers, assert_matchers, assert_payloads, print_answer};

#[test]
fn answers_count_at_every_exit_code_and_cannot_change_input() {
    let deny = json!({"decision": "block", "reason": "no"});
    let specific = |fields| print_answer(&json!({"hookSpecificOutput": fields}));
    let denial = specific(json!({"permissionDecision": "deny", "permissionDecisionReason": "no"}));
    assert_answers(
        "qwen",
        &[
            ("PreToolUse", "PreToolUse", &denial, deny.clone()),
            ("PreToolUse", "PreToolUse", &format!("{denial}\nexit 1"), deny.clone()),
            ("PreToolUse", "PreToolUse", r#"echo '{"decision": "block", "reason": "no"}'"#, deny.clone()),
            ("PreToolUse", "PreToolUse", r#"echo '{"continue": false, "stopReason": "no"}'"#, deny.clone()),
            ("PreToolUse", "PreToolUse", "echo no >&2; exit 2", deny.clone()),
            ("PreToolUse", "PreToolUse", "exit 2", json!({"decision": "allow", "status": "failed"})),
            ("PreToolUse", "PreToolUse", "echo no >&2; exit 1", json!({"decision": "allow", "status": "failed"})),
            ("PreToolUse", "PreToolUse", &specific(json!({"permissionDecision": "ask"})), json!({"decision": "ask"})),
            (
                "PreToolUse",
                "PreToolUse",
                &specific(json!({"updatedInput": {"command": "x"}, "additionalContext": "c"})),
                json!({"tool_input": null, "context": []}),
            ),
            (
                "PermissionRequest",
                "PermissionRequest",
                &specific(json!({"decision": {"behavior": "allow", "updatedInput": {"command": "x"}}})),
                json!({"tool_input": {"command": "x"}}),
            ),
            ("PostToolUse", "PostToolUse", &specific(json!({"additionalContext": "c"})), json!({"context": ["c"]})),
            (
                "PostToolUseFailure",
                "PostToolUseFailure",
                &specific(json!({"additionalContext": "c"})),
                json!({"context": ["c"]}),
            ),
            ("Stop", "Stop", "echo no >&2; exit 2", deny),
        ],
    );
}

#[test]
fn payloads_have_the_tools_of_qwen() {
    assert_payloads(
        "qwen",
        &[
            (
                "PreToolUse",
                "PreToolUse",
                json!({"hook_event_name": "PreToolUse", "timestamp": "*", "permission_mode": "default", "prompt_id": "p1",
                    "tool_name": "run_shell_command", "tool_input": {"command": "ls"}, "tool_use_id": "t1", "tool_call_id": "t1"}),
            ),
            ("UserPromptSubmit", "UserPromptSubmit", json!({"prompt": "Go.", "submitted_prompt": "Go."})),
        ],
    );
}

#[test]
fn a_matcher_compares_the_name_of_qwen_and_that_of_claude_code() {
    let cases = [
        ("run_shell", "Bash", true),
        ("Bash", "Bash", true),
        ("Edit|Write", "Write", true),
        ("^edit$", "Write", false),
    ];
    assert_matchers("qwen", "PreToolUse", "matcher", &cases);
}
