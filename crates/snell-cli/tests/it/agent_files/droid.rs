//! Factory droid.

use serde_json::json;

use super::{assert_answers, assert_matchers, assert_payloads, create_project, fire_event};
use crate::support::CliSandbox;

#[test]
fn answers_are_those_of_claude_code_but_input_is_merged() {
    let deny = json!({"decision": "block", "reason": "no"});
    assert_answers(
        "droid",
        &[
            ("PreToolUse", "PreToolUse", "echo no >&2; exit 2", deny.clone()),
            (
                "PreToolUse",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}}'"#,
                deny.clone(),
            ),
            (
                "PreToolUse",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"permissionDecision": "ask"}}'"#,
                json!({"decision": "ask"}),
            ),
            (
                "PreToolUse",
                "PreToolUse",
                r#"echo '{"hookSpecificOutput": {"updatedInput": {"timeout": 5}}}'"#,
                json!({"tool_input": {"command": "ls", "timeout": 5}}),
            ),
            ("PreToolUse", "PreToolUse", "exit 1", json!({"decision": "allow", "status": "failed"})),
            ("Stop", "Stop", r#"echo '{"decision": "block", "reason": "no"}'"#, deny),
            ("UserPromptSubmit", "UserPromptSubmit", "echo note", json!({"context": ["note"]})),
        ],
    );
}

#[test]
fn payloads_have_the_tools_of_droid() {
    assert_payloads(
        "droid",
        &[("PreToolUse", "PreToolUse", json!({"tool_name": "Execute", "tool_input": {"command": "ls"}}))],
    );
    assert_matchers(
        "droid",
        "PreToolUse",
        "matcher",
        &[("Execute", "Bash", true), ("Bash", "Bash", true), ("Create", "Bash", false)],
    );
}

#[test]
fn an_expression_for_the_command_chooses_calls() {
    for (expression, expected) in [("^git push", 0), ("^ls", 1)] {
        let sandbox = create_project("droid", "PreToolUse", json!({"commandRegex": expression})).file("does", "true");
        assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).hooks().len(), expected, "{expression}");
    }
}

#[test]
fn events_may_stand_at_the_root_and_a_command_runs_once() {
    let groups = json!([{"hooks": [{"type": "command", "command": "echo ran >> log"}]}]);
    let sandbox = CliSandbox::new()
        .file(".factory/hooks.json", &json!({"PreToolUse": groups}).to_string())
        .home_file(".factory/hooks.json", &json!({"hooks": {"PreToolUse": groups}}).to_string());
    assert_eq!(fire_event(&sandbox, "PreToolUse", json!({})).statuses(), ["ok", "skipped"]);
    assert_eq!(sandbox.read("log"), "ran\n");
}
