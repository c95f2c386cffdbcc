//! Codex.

use serde_json::json;

use super::{assert_answers, assert_matchers, assert_payloads, assert_tools, create_project, fire_event, print_answer};
use crate::support::CliSandbox;

fn specific(fields: serde_json::Value) -> String {
    print_answer(&json!({"hookSpecificOutput": fields}))
}

#[test]
fn answers_count_only_with_the_keys_that_codex_knows() {
    let reason = json!({"permissionDecision": "deny", "permissionDecisionReason": "no"});
    let open = json!({"decision": "allow", "status": "failed", "tool_input": null});
    assert_answers(
        "codex",
        &[
            ("PreToolUse", "PreToolUse", &specific(reason), json!({"decision": "block", "reason": "no"})),
            ("PreToolUse", "PreToolUse", "echo no >&2; exit 2", json!({"decision": "block", "reason": "no"})),
            ("PreToolUse", "PreToolUse", "exit 2", open.clone()),
            ("PreToolUse", "PreToolUse", "echo no >&2; exit 1", open.clone()),
            ("PreToolUse", "PreToolUse", "kill -9 $$", open.clone()),
            ("PreToolUse", "PreToolUse", "echo '{'", open.clone()),
            ("PreToolUse", "PreToolUse", "echo hello", json!({"decision": "allow", "status": "ok", "context": []})),
            ("PreToolUse", "PreToolUse", &specific(json!({"permissionDecision": "deny"})), open.clone()),
            ("PreToolUse", "PreToolUse", &specific(json!({"permissionDecision": "ask"})), open.clone()),
            ("PreToolUse", "PreToolUse", &specific(json!({"permissionDecision": "allow"})), open.clone()),
            ("PreToolUse", "PreToolUse", &specific(json!({"updatedInput": {"command": "x"}})), open.clone()),
            ("PreToolUse", "PreToolUse", r#"echo '{"continue": false}'"#, open.clone()),
            ("PreToolUse", "PreToolUse", r#"echo '{"decision": "block", "reason": "no", "extra": 1}'"#, open),
            (
                "PreToolUse",
                "PreToolUse",
                &specific(
                    json!({"permissionDecision": "allow", "updatedInput": {"command": "ls -l"}, "additionalContext": "c"}),
                ),
                json!({"decision": "allow", "tool_input": {"command": "ls -l"}, "context": ["c"]}),
            ),
            (
                "PermissionRequest",
                "PermissionRequest",
                &specific(json!({"decision": {"behavior": "deny", "message": "no"}})),
                json!({"decision": "block", "reason": "no"}),
            ),
            (
                "PermissionRequest",
                "PermissionRequest",
                &specific(json!({"decision": {"behavior": "deny", "interrupt": true}})),
                json!({"decision": "allow", "status": "failed"}),
            ),
            ("SessionStart", "SessionStart", "echo note", json!({"context": ["note"]})),
            ("UserPromptSubmit", "UserPromptSubmit", "echo note", json!({"context": ["note"]})),
            ("Stop", "Stop", "echo note", json!({"status": "failed", "context": []})),
            (
                "Stop",
                "Stop",
                r#"echo '{"decision": "block", "reason": "go on"}'"#,
                json!({"decision": "block", "reason": "go on"}),
            ),
            (
                "PreCompact",
                "PreCompact",
                r#"echo '{"continue": false, "stopReason": "keep"}'"#,
                json!({"stop": "keep"}),
            ),
            (
                "PostToolUse",
                "PostToolUseFailure",
                r#"echo '{"decision": "block", "reason": "look"}'"#,
                json!({"context": ["look"]}),
            ),
        ],
    );
}

#[test]
fn payloads_have_the_fields_of_codex() {
    assert_payloads(
        "codex",
        &[
            (
                "PreToolUse",
                "PreToolUse",
                json!({"session_id": "s1", "transcript_path": "/t.jsonl", "hook_event_name": "PreToolUse", "cwd": "*",
                    "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}),
            ),
            ("PostToolUse", "PostToolUse", json!({"tool_response": {"stdout": "out"}})),
            ("PostToolUse", "PostToolUseFailure", json!({"hook_event_name": "PostToolUse", "tool_response": "broken"})),
            ("Stop", "Stop", json!({"stop_hook_active": false, "last_assistant_message": "Done."})),
        ],
    );
    let tools = [
        (json!(["Agent", {"prompt": "x"}]), json!(["spawn_agent", {"message": "x"}])),
        (
            json!(["Write", {"file_path": "a", "content": "x"}]),
            json!(["apply_patch", {"command": "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n"}]),
        ),
    ];
    assert_tools("codex", "PreToolUse", ["tool_name", "tool_input"], &tools);
}

#[test]
fn a_matcher_is_a_list_of_names_or_an_expression() {
    let cases = [
        ("", "Bash", true),
        ("*", "Bash", true),
        ("Bash", "Bash", true),
        ("Bash", "BashOutput", false),
        ("Edit|Write", "Edit", true),
        ("Edit|Write", "apply_patch", true),
        ("^Edit$", "apply_patch", true),
        ("^apply_patch$", "apply_patch", true),
        ("Agent", "Agent", true),
        ("spawn_agent", "Agent", true),
        ("mcp__.*", "mcp__a__b", true),
        ("^(?!Bash).*$", "Bash", false),
    ];
    assert_matchers("codex", "PreToolUse", "matcher", &cases);
}

#[test]
fn hooks_also_stand_in_config_toml_unless_a_feature_is_off() {
    let hook = "[[hooks.PreToolUse]]\nmatcher = 'Bash'\n[[hooks.PreToolUse.hooks]]\ntype = 'command'\ncommand = 'echo no >&2; exit 2'\n";
    for (start, expected) in [("model = 'x'\n", "blocked"), ("[features]\nhooks = false\n", "skipped")] {
        let sandbox = CliSandbox::new().file(".codex/config.toml", &format!("{start}{hook}"));
        let ran = fire_event(&sandbox, "PreToolUse", json!({}));
        assert_eq!((ran.statuses(), ran.warnings()), (vec![expected.to_owned()], vec![]), "{start}");
    }
}

#[test]
fn hooks_run_together_and_duplicates_each() {
    let sandbox = create_project("codex", "PreToolUse", json!({})).file("does", "echo ran >> log");
    let text = sandbox.read(".codex/hooks.json");
    let sandbox = sandbox.home_file(".codex/hooks.json", &text);
    fire_event(&sandbox, "PreToolUse", json!({}));
    assert_eq!(sandbox.read("log"), "ran\nran\n");
}
