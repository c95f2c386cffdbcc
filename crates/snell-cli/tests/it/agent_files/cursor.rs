//! Cursor.

use serde_json::{Value, json};

use super::{assert_answers, assert_matchers, assert_payloads, create_project, fire_event};

#[test]
fn answers_are_flat() {
    let deny = json!({"decision": "block", "reason": "no"});
    assert_answers(
        "cursor",
        &[
            ("preToolUse", "PreToolUse", r#"echo '{"permission": "deny", "user_message": "no"}'"#, deny.clone()),
            (
                "beforeShellExecution",
                "PreToolUse",
                r#"echo '{"permission": "deny", "agent_message": "no"}'"#,
                deny.clone(),
            ),
            ("preToolUse", "PreToolUse", "echo no >&2; exit 2", deny.clone()),
            ("preToolUse", "PreToolUse", "exit 1", json!({"decision": "allow", "status": "failed"})),
            ("preToolUse", "PreToolUse", r#"echo '{"permission": "ask"}'"#, json!({"decision": "ask"})),
            (
                "preToolUse",
                "PreToolUse",
                r#"echo '{"permission": "allow"}'"#,
                json!({"decision": "allow", "status": "ok"}),
            ),
            (
                "preToolUse",
                "PreToolUse",
                r#"echo '{"updated_input": {"command": "x"}}'"#,
                json!({"tool_input": {"command": "x"}}),
            ),
            (
                "beforeShellExecution",
                "PreToolUse",
                r#"echo '{"updated_input": {"command": "x"}}'"#,
                json!({"tool_input": null}),
            ),
            (
                "beforeSubmitPrompt",
                "UserPromptSubmit",
                r#"echo '{"continue": false, "user_message": "no"}'"#,
                deny.clone(),
            ),
            ("postToolUse", "PostToolUse", r#"echo '{"additional_context": "c"}'"#, json!({"context": ["c"]})),
            ("sessionStart", "SessionStart", r#"echo '{"additional_context": "c"}'"#, json!({"context": ["c"]})),
            ("stop", "Stop", r#"echo '{"followup_message": "no"}'"#, deny),
        ],
    );
}

#[test]
fn fail_closed_blocks_on_a_failure_and_on_silence() {
    for (script, expected) in [("exit 1", "block"), ("true", "block"), (r#"echo '{"permission": "allow"}'"#, "allow")] {
        let sandbox = create_project("cursor", "preToolUse", json!({"failClosed": true})).file("does", script);
        assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).decision(), expected, "{script}");
    }
}

#[test]
fn payloads_have_the_names_of_cursor() {
    assert_payloads(
        "cursor",
        &[
            (
                "preToolUse",
                "PreToolUse",
                json!({"conversation_id": "s1", "session_id": "s1", "hook_event_name": "preToolUse", "cursor_version": "",
                    "transcript_path": "/t.jsonl", "tool_name": "Shell", "tool_input": {"command": "ls"}, "cwd": "*"}),
            ),
            (
                "beforeShellExecution",
                "PreToolUse",
                json!({"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": "*"}),
            ),
            ("postToolUse", "PostToolUse", json!({"tool_output": "{\"stdout\":\"out\"}"})),
            ("afterShellExecution", "PostToolUse", json!({"command": "ls", "output": "out"})),
            ("beforeSubmitPrompt", "UserPromptSubmit", json!({"prompt": "Go."})),
            ("stop", "Stop", json!({"status": "completed"})),
        ],
    );
}

#[test]
fn an_event_for_one_kind_of_tool_runs_for_no_other() {
    let edit = json!({"file_path": "a", "old_string": "b", "new_string": "c"});
    let cases = [
        ("beforeShellExecution", "PreToolUse", "Bash", json!({"command": "ls"}), Some(json!({"command": "ls"}))),
        ("beforeShellExecution", "PreToolUse", "Read", json!({}), None),
        ("beforeReadFile", "PreToolUse", "Read", json!({"file_path": "a"}), Some(json!({"file_path": "a"}))),
        ("beforeTabFileRead", "PreToolUse", "Read", json!({"file_path": "a"}), None),
        (
            "beforeMCPExecution",
            "PreToolUse",
            "mcp__s__t",
            json!({"a": 1}),
            Some(json!({"tool_name": "t", "tool_input": "{\"a\":1}"})),
        ),
        ("beforeMCPExecution", "PreToolUse", "Bash", json!({}), None),
        (
            "afterFileEdit",
            "PostToolUse",
            "Edit",
            edit,
            Some(json!({"file_path": "a", "edits": [{"old_string": "b", "new_string": "c"}]})),
        ),
    ];
    for (native, event, tool, input, expected) in cases {
        let sandbox = create_project("cursor", native, json!({})).file("does", "cat > payload");
        fire_event(&sandbox, event, json!({"tool_name": tool, "tool_input": input}));
        let seen: Option<Value> = sandbox.exists("payload").then(|| sandbox.read_json("payload"));
        match (&seen, &expected) {
            (Some(seen), Some(expected)) => super::assert_part(seen, expected, native),
            _ => assert_eq!(seen.is_some(), expected.is_some(), "{native} on {tool}"),
        }
    }
}

#[test]
fn a_matcher_is_an_expression_for_the_tool_or_the_command() {
    assert_matchers("cursor", "preToolUse", "matcher", &[("Shell|Write", "Bash", true), ("Read", "Bash", false)]);
    for (matcher, expected) in [("curl|wget", 0), ("^ls", 1)] {
        let sandbox =
            create_project("cursor", "beforeShellExecution", json!({"matcher": matcher})).file("does", "true");
        assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).hooks().len(), expected, "{matcher}");
    }
}
