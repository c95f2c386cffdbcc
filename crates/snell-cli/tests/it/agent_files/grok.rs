//! Grok Build.

use serde_json::json;

use super::{assert_answers, assert_matchers, assert_payloads, create_project, fire_event};

#[test]
fn json_counts_at_every_exit_code() {
    let deny = json!({"decision": "block", "reason": "no"});
    let specific = r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'"#;
    assert_answers(
        "grok",
        &[
            ("PreToolUse", "PreToolUse", specific, deny.clone()),
            ("PreToolUse", "PreToolUse", &format!("{specific}; exit 5"), deny.clone()),
            ("PreToolUse", "PreToolUse", r#"echo '{"decision": "deny", "reason": "no"}'"#, deny.clone()),
            ("preToolUse", "PreToolUse", "echo no >&2; exit 2", deny.clone()),
            ("PreToolUse", "PreToolUse", "exit 1", json!({"decision": "allow", "status": "failed"})),
            (
                "PreToolUse",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"updatedInput": {"command": "x"}, "additionalContext": "c"}}'"#,
                json!({"tool_input": {"command": "x"}, "context": ["c"]}),
            ),
            ("UserPromptSubmit", "UserPromptSubmit", r#"echo '{"decision": "block", "reason": "no"}'"#, deny.clone()),
            ("Stop", "Stop", r#"echo '{"decision": "block", "reason": "no"}'"#, deny),
        ],
    );
}

#[test]
fn payloads_have_keys_in_both_cases() {
    assert_payloads(
        "grok",
        &[(
            "PreToolUse",
            "PreToolUse",
            json!({"hookEventName": "pre_tool_use", "hook_event_name": "PreToolUse", "sessionId": "s1", "session_id": "s1",
                "workspaceRoot": "*", "timestamp": "*", "toolName": "run_terminal_command", "tool_name": "run_terminal_command",
                "toolInput": {"command": "ls"}, "toolUseId": "t1", "toolInputTruncated": false}),
        )],
    );
}

#[test]
fn a_matcher_compares_the_name_of_grok_and_that_of_claude_code() {
    let cases = [
        ("Bash", "Bash", true),
        ("run_terminal_command", "Bash", true),
        ("Edit|Write", "Bash", false),
        ("run_.*", "Bash", true),
    ];
    assert_matchers("grok", "PreToolUse", "matcher", &cases);
}

#[test]
fn after_a_denial_later_hooks_do_not_run() {
    let sandbox = create_project("grok", "PreToolUse", json!({})).file("does", "exit 2");
    let second = sandbox.read(".grok/hooks/one.json");
    let sandbox = sandbox.file(".grok/hooks/two.json", &second);
    assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).statuses(), ["blocked", "skipped"]);
}

#[test]
fn hooks_have_variables_of_the_agent() {
    let sandbox =
        create_project("grok", "PreToolUse", json!({})).file("does", "echo $GROK_HOOK_EVENT $GROK_SESSION_ID > seen");
    fire_event(&sandbox, "PreToolUse", json!({}));
    assert_eq!(sandbox.read("seen"), "pre_tool_use s1\n");
}
