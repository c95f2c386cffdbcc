//! Gemini CLI.

use serde_json::json;

use super::{assert_answers, assert_matchers, assert_payloads, assert_tools, create_project, fire_event};
use crate::support::CliSandbox;

#[test]
fn answers_count_at_every_exit_code() {
    let deny = json!({"decision": "block", "reason": "no"});
    let open = json!({"decision": "allow", "status": "failed"});
    assert_answers(
        "gemini",
        &[
            ("BeforeTool", "PreToolUse", r#"echo '{"decision": "deny", "reason": "no"}'"#, deny.clone()),
            ("BeforeTool", "PreToolUse", r#"echo '{"decision": "block", "reason": "no"}'; exit 7"#, deny.clone()),
            ("BeforeTool", "PreToolUse", r#"echo '{"decision": "deny", "reason": "no"}' >&2"#, deny.clone()),
            ("BeforeTool", "PreToolUse", r#"echo '"{\"decision\": \"deny\", \"reason\": \"no\"}"'"#, deny.clone()),
            ("BeforeTool", "PreToolUse", "echo no >&2; exit 2", deny.clone()),
            ("BeforeTool", "PreToolUse", "echo no; exit 3", deny.clone()),
            ("BeforeTool", "PreToolUse", "exit 2", open.clone()),
            ("BeforeTool", "PreToolUse", "echo no >&2; exit 1", open.clone()),
            ("BeforeTool", "PreToolUse", "echo no; kill -9 $$", open.clone()),
            (
                "BeforeTool",
                "PreToolUse",
                "echo hello",
                json!({"decision": "allow", "messages": ["hello"], "context": []}),
            ),
            (
                "BeforeTool",
                "PreToolUse",
                r#"echo '{"decision": "ask", "reason": "sure?"}'"#,
                json!({"decision": "ask"}),
            ),
            // It does not skip the question to the user.
            (
                "BeforeTool",
                "PreToolUse",
                r#"echo '{"decision": "allow"}'"#,
                json!({"decision": "allow", "reason": null}),
            ),
            (
                "BeforeTool",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"tool_input": {"timeout": 5}, "additionalContext": "c"}}'"#,
                json!({"tool_input": {"command": "ls", "timeout": 5}, "context": []}),
            ),
            (
                "AfterTool",
                "PostToolUse",
                r#"echo '{"hookSpecificOutput": {"additionalContext": "c"}}'"#,
                json!({"context": ["c"]}),
            ),
            (
                "AfterTool",
                "PostToolUseFailure",
                r#"echo '{"decision": "deny", "reason": "look"}'"#,
                json!({"context": ["look"]}),
            ),
            (
                "BeforeAgent",
                "UserPromptSubmit",
                r#"echo '{"hookSpecificOutput": {"additionalContext": "c"}}'"#,
                json!({"context": ["c"]}),
            ),
            ("AfterAgent", "Stop", r#"echo '{"decision": "deny", "reason": "no"}'"#, deny),
            ("BeforeTool", "PreToolUse", r#"echo '{"continue": false, "stopReason": "end"}'"#, json!({"stop": "end"})),
            ("SessionStart", "SessionStart", r#"echo '{"systemMessage": "m"}'"#, json!({"messages": ["m"]})),
        ],
    );
}

#[test]
fn payloads_have_the_names_of_gemini() {
    assert_payloads(
        "gemini",
        &[
            (
                "BeforeTool",
                "PreToolUse",
                json!({"session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "*", "hook_event_name": "BeforeTool",
                    "timestamp": "*", "tool_name": "run_shell_command", "tool_input": {"command": "ls"}}),
            ),
            (
                "AfterTool",
                "PostToolUse",
                json!({"tool_response": {"llmContent": "out", "returnDisplay": "out", "error": null}}),
            ),
            (
                "AfterTool",
                "PostToolUseFailure",
                json!({"hook_event_name": "AfterTool", "tool_response": {"error": "broken"}}),
            ),
            ("BeforeAgent", "UserPromptSubmit", json!({"hook_event_name": "BeforeAgent", "prompt": "Go."})),
            ("AfterAgent", "Stop", json!({"prompt_response": "Done.", "stop_hook_active": false})),
        ],
    );
    let tools = [
        (
            json!(["Write", {"file_path": "a", "content": "b"}]),
            json!(["write_file", {"file_path": "a", "content": "b"}]),
        ),
        (json!(["Grep", {"pattern": "a", "path": "b"}]), json!(["grep_search", {"pattern": "a", "dir_path": "b"}])),
        (json!(["mcp__github__list", {}]), json!(["mcp_github_list", {}])),
    ];
    assert_tools("gemini", "BeforeTool", ["tool_name", "tool_input"], &tools);
}

#[test]
fn a_matcher_is_an_expression_for_a_part_of_the_name() {
    let cases = [
        ("run_shell", "Bash", true),
        ("^run_shell$", "Bash", false),
        ("write_file|replace", "Edit", true),
        ("Bash", "Bash", false),
        ("(", "Bash", false),
    ];
    assert_matchers("gemini", "BeforeTool", "matcher", &cases);
    for (matcher, expected) in [("startup", 1), ("start", 0)] {
        let sandbox = create_project("gemini", "SessionStart", json!({"matcher": matcher})).file("does", "true");
        assert_eq!(fire_event(&sandbox, "SessionStart", json!({})).hooks().len(), expected, "{matcher}");
    }
}

/// A settings file with these hooks, each a name and a command.
fn render_settings(first: serde_json::Value, hooks: &[(Option<&str>, &str)]) -> String {
    let hook = |(name, command): &(Option<&str>, &str)| match name {
        Some(name) => json!({"type": "command", "command": command, "name": name}),
        None => json!({"type": "command", "command": command}),
    };
    let mut settings = first;
    let sequential = settings.as_object_mut().unwrap().remove("sequential").unwrap_or(false.into());
    let hooks: Vec<_> = hooks.iter().map(hook).collect();
    settings["hooks"] = json!({"BeforeTool": [{"sequential": sequential, "hooks": hooks}]});
    settings.to_string()
}

#[test]
fn one_sequential_group_makes_all_hooks_wait_for_each_other() {
    let hooks =
        [(None, r#"echo '{"hookSpecificOutput": {"tool_input": {"command": "second"}}}'"#), (None, "cat > seen")];
    for (sequential, expected) in [(true, "second"), (false, "ls")] {
        let text = render_settings(json!({"sequential": sequential}), &hooks);
        let sandbox = CliSandbox::new().file(".gemini/settings.json", &text);
        fire_event(&sandbox, "PreToolUse", json!({}));
        assert_eq!(sandbox.read_json("seen")["tool_input"]["command"], expected, "{sequential}");
    }
}

#[test]
fn a_hook_runs_once_per_name_and_command_in_any_order() {
    let hooks =
        [(None, "echo a >> log"), (None, "echo a >> log"), (Some("b"), "echo a >> log"), (Some("b"), "echo a >> log")];
    for sequential in [true, false] {
        let text = render_settings(json!({"sequential": sequential}), &hooks);
        let sandbox = CliSandbox::new().file(".gemini/settings.json", &text);
        let ran = fire_event(&sandbox, "PreToolUse", json!({}));
        assert_eq!(sandbox.read("log"), "a\na\n", "{sequential}");
        assert_eq!(ran.statuses(), ["ok", "skipped", "ok", "skipped"], "{sequential}");
    }
}

#[test]
fn settings_switch_hooks_off() {
    let hooks = [(Some("a"), "true"), (Some("b"), "true")];
    for (switch, expected) in [
        (json!({"hooksConfig": {"enabled": false}}), ["skipped", "skipped"]),
        (json!({"hooksConfig": {"disabled": ["b"]}}), ["ok", "skipped"]),
        (json!({}), ["ok", "ok"]),
    ] {
        let sandbox = CliSandbox::new().file(".gemini/settings.json", &render_settings(switch.clone(), &hooks));
        assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).statuses(), expected, "{switch}");
    }
}

#[test]
fn hooks_have_variables_of_the_agent_and_of_their_own() {
    let script = "echo \"$GEMINI_PROJECT_DIR $GEMINI_SESSION_ID $CLAUDE_PROJECT_DIR $MODE\" > seen";
    let sandbox = create_project("gemini", "BeforeTool", json!({"env": {"MODE": "strict"}})).file("does", script);
    fire_event(&sandbox, "PreToolUse", json!({}));
    let project = sandbox.project().canonicalize().unwrap().display().to_string();
    assert_eq!(sandbox.read("seen"), format!("{project} s1 {project} strict\n"));
}

#[test]
fn a_time_limit_is_in_milliseconds() {
    let sandbox = create_project("gemini", "BeforeTool", json!({"timeout": 200})).file("does", "sleep 30");
    assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).statuses(), ["timed_out"]);
}
