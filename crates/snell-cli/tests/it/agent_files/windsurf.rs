//! Windsurf.

use serde_json::json;

use super::{assert_answers, assert_part, create_project, fire_event};

#[test]
fn exit_code_2_is_the_only_answer() {
    let deny = json!({"decision": "block", "reason": "no"});
    assert_answers(
        "windsurf",
        &[
            ("pre_run_command", "PreToolUse", "echo no >&2; exit 2", deny.clone()),
            ("pre_user_prompt", "UserPromptSubmit", "echo no >&2; exit 2", deny),
            ("post_run_command", "PostToolUse", "exit 2", json!({"decision": "allow", "status": "failed"})),
            ("pre_run_command", "PreToolUse", "exit 1", json!({"decision": "allow", "status": "failed"})),
            (
                "pre_run_command",
                "PreToolUse",
                r#"echo '{"decision": "deny", "permission": "deny", "cancel": true}'"#,
                json!({"decision": "allow", "status": "ok", "context": []}),
            ),
        ],
    );
}

#[test]
fn each_event_is_about_one_kind_of_tool() {
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "a"}});
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "a", "content": "b"}});
    let mcp = json!({"tool_name": "mcp__s__t", "tool_input": {"x": 1}});
    let cases = [
        ("pre_run_command", &bash, Some(json!({"command_line": "ls", "cwd": "*"}))),
        ("pre_read_code", &read, Some(json!({"file_path": "a"}))),
        ("pre_write_code", &write, Some(json!({"file_path": "a", "edits": [{"old_string": "", "new_string": "b"}]}))),
        (
            "pre_mcp_tool_use",
            &mcp,
            Some(json!({"mcp_server_name": "s", "mcp_tool_name": "t", "mcp_tool_arguments": {"x": 1}})),
        ),
        ("pre_run_command", &read, None),
        ("pre_mcp_tool_use", &bash, None),
    ];
    for (native, call, expected) in cases {
        let sandbox = create_project("windsurf", native, json!({})).file("does", "cat > payload");
        fire_event(&sandbox, "PreToolUse", call.clone());
        assert_eq!(sandbox.exists("payload"), expected.is_some(), "{native} on {call}");
        if let Some(expected) = expected {
            let whole = json!({"agent_action_name": native, "trajectory_id": "s1", "tool_info": expected});
            assert_part(&sandbox.read_json("payload"), &whole, native);
        }
    }
}

#[test]
fn a_hook_has_its_own_directory() {
    let sandbox = create_project("windsurf", "pre_run_command", json!({"working_directory": "sub"}))
        .file("sub/does", "echo ran > seen");
    fire_event(&sandbox, "PreToolUse", json!({}));
    assert_eq!(sandbox.read("sub/seen"), "ran\n");
}
