//! Mistral Vibe.

use serde_json::json;

use super::{assert_answers, assert_matchers, assert_payloads, create_project, fire_event};

#[test]
fn only_json_at_exit_code_0_answers() {
    let deny = json!({"decision": "block", "reason": "no"});
    let open = json!({"decision": "allow", "status": "failed"});
    assert_answers(
        "vibe",
        &[
            ("pre_tool", "PreToolUse", r#"echo '{"decision": "deny", "reason": "no"}'"#, deny.clone()),
            ("pre_tool", "PreToolUse", "echo no >&2; exit 2", open.clone()),
            ("pre_tool", "PreToolUse", r#"echo '{"decision": "deny"}'; exit 1"#, open.clone()),
            ("pre_tool", "PreToolUse", r#"echo '{"decision": "block"}'"#, open),
            (
                "pre_tool",
                "PreToolUse",
                r#"echo '{"hook_specific_output": {"tool_input": {"command": "x"}}, "system_message": "m"}'"#,
                json!({"tool_input": {"command": "x"}, "messages": ["m"]}),
            ),
            (
                "post_tool",
                "PostToolUse",
                r#"echo '{"hook_specific_output": {"additional_context": "c"}}'"#,
                json!({"context": ["c"]}),
            ),
            ("post_agent", "Stop", r#"echo '{"decision": "deny", "reason": "no"}'"#, deny),
        ],
    );
}

#[test]
fn a_strict_hook_that_fails_denies() {
    for script in ["exit 1", "exit 2", "kill -9 $$", "echo '{'"] {
        let sandbox = create_project("vibe", "pre_tool", json!({"strict": true})).file("does", script);
        assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).decision(), "block", "{script}");
    }
}

#[test]
fn payloads_have_the_names_of_vibe() {
    assert_payloads(
        "vibe",
        &[
            (
                "pre_tool",
                "PreToolUse",
                json!({"session_id": "s1", "parent_session_id": null, "hook_event_name": "pre_tool",
                    "tool_name": "file_system.bash", "tool_call_id": "t1", "tool_input": {"command": "ls"}}),
            ),
            (
                "post_tool",
                "PostToolUse",
                json!({"tool_status": "success", "tool_output": {"stdout": "out"}, "tool_output_text": "out", "tool_error": null}),
            ),
            ("post_tool", "PostToolUseFailure", json!({"tool_status": "failure", "tool_error": "broken"})),
            ("post_agent", "Stop", json!({"hook_event_name": "post_agent"})),
        ],
    );
}

#[test]
fn a_match_is_a_wildcard_or_a_marked_expression_in_any_case() {
    let cases = [
        ("*BASH", "Bash", true),
        ("bash", "Bash", false),
        ("file_system.*", "Write", true),
        ("re:.*\\.bash", "Bash", true),
        ("re:bash", "Bash", false),
        ("re:FILE_SYSTEM\\.(bash|edit)", "Bash", true),
    ];
    assert_matchers("vibe", "pre_tool", "match", &cases);
}
