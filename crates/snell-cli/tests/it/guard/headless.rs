//! Questions in sessions in which no user can answer: `[guard] headless` decides.

use std::fs;

use serde_json::{Value, json};
use snell_test_support::database::query_texts;
use snell_test_support::files::find_repository_root;
use snell_test_support::payload::merge_fields;
use snell_test_support::process::run_with_stdin;

use super::{create_configured_sandbox, list_stored_verdicts};
use crate::hook::render_answering_hook;
use crate::support::CliSandbox;

/// Claude Code in print mode.
const UNATTENDED: (&str, &str) = ("CLAUDE_CODE_SESSION_ATTENDED", "0");

/// The part of the answer that Claude Code reads about a tool call.
fn answer_call(sandbox: &CliSandbox, command: &str) -> Value {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    let ran = sandbox.send_hook_event("10:00:00", "PreToolUse", call);
    assert_eq!(ran.code, 0, "{ran:?}");
    if ran.stdout.is_empty() { json!({}) } else { ran.json()["hookSpecificOutput"].clone() }
}

fn create_unattended_sandbox(settings: &str) -> CliSandbox {
    create_configured_sandbox(settings).env(UNATTENDED.0, UNATTENDED.1)
}

fn read_event_decision(sandbox: &CliSandbox) -> Vec<String> {
    query_texts(&sandbox.database(), "SELECT coalesce(decision, '') || ' ' || coalesce(reason, '') FROM events")
}

#[test]
fn a_question_that_no_user_can_answer_is_a_denial_that_names_the_setting() {
    for (settings, origin) in [
        ("", "(headless = \"deny\", the default)."),
        ("[guard]\nheadless = 'deny'\n", "(headless = \"deny\" in [guard] of snell.toml)."),
    ] {
        let sandbox = create_unattended_sandbox(settings);
        let answer = answer_call(&sandbox, "sudo ls");
        assert_eq!(answer["permissionDecision"], "deny", "{answer}");
        let reason = answer["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.starts_with("sudo would run `ls` as another user"), "{reason}");
        assert!(reason.contains("No user can answer in this session") && reason.ends_with(origin), "{reason}");
        assert_eq!(list_stored_verdicts(&sandbox), ["deny privilege.raise privilege"]);
    }
}

#[test]
fn the_user_may_allow_questions_that_no_user_can_answer() {
    let sandbox = create_unattended_sandbox("[guard]\nheadless = 'allow'\n");
    let answer = answer_call(&sandbox, "sudo ls");
    assert_eq!(answer["permissionDecision"], Value::Null, "{answer}");
    let context = answer["additionalContext"].as_str().unwrap();
    assert!(context.contains("headless = \"allow\"") && context.contains("as another user"), "{context}");
    assert_eq!(list_stored_verdicts(&sandbox), ["allow privilege.raise privilege"]);
    // Denials, and questions about Snell itself, stay.
    for (command, rule) in
        [("rm -rf /", "everything on this machine"), ("snell wake 3 --force", "another agent's terminal")]
    {
        let answer = answer_call(&sandbox, command);
        assert_eq!(answer["permissionDecision"], "deny", "{command}: {answer}");
        assert!(answer["permissionDecisionReason"].as_str().unwrap().contains(rule), "{command}: {answer}");
    }
    assert!(
        read_event_decision(&sandbox)
            .iter()
            .any(|row| row.starts_with("allow ask, allowed because no user can answer")),
        "{:?}",
        read_event_decision(&sandbox)
    );
}

#[test]
fn a_hooks_question_is_settled_by_the_same_setting() {
    let hook = render_answering_hook("PreToolUse", &json!({"decision": "ask", "reason": "is it time?"}));
    for (headless, expected) in [("deny", json!("deny")), ("allow", Value::Null)] {
        let sandbox = create_unattended_sandbox(&format!("[guard]\nheadless = '{headless}'\n{hook}"));
        let answer = answer_call(&sandbox, "ls");
        assert_eq!(answer["permissionDecision"], expected, "{answer}");
        assert!(answer.to_string().contains("is it time?"), "{answer}");
    }
}

#[test]
fn with_a_user_the_setting_has_no_effect() {
    let sandbox = create_configured_sandbox("[guard]\nheadless = 'allow'\n").env(UNATTENDED.0, "1");
    assert_eq!(answer_call(&sandbox, "sudo ls")["permissionDecision"], "ask");
    // The setting of a project is ignored.
    let sandbox =
        CliSandbox::with_frozen_clock().file("snell.toml", "[guard]\nheadless = 'allow'\n").env(UNATTENDED.0, "0");
    assert_eq!(answer_call(&sandbox, "sudo ls")["permissionDecision"], "deny");
}

#[test]
fn the_command_line_of_an_agent_shows_that_no_user_can_answer() {
    let recorded = find_repository_root().join("fixtures/agents/codex/PreToolUse.json");
    let recorded: Value = serde_json::from_str(&fs::read_to_string(recorded).unwrap()).unwrap();
    let call = json!({"tool_input": {"command": "sudo ls"}});
    for (settings, subcommand, expected) in [
        ("", "exec", Some("(headless = \"deny\", the default)")),
        ("[guard]\nheadless = 'allow'\n", "exec", None),
        ("[guard]\nheadless = 'allow'\n", "resume", Some("as another user")),
    ] {
        let sandbox = create_configured_sandbox(settings);
        let codex = sandbox.home().join("codex");
        fs::copy("/bin/sh", &codex).unwrap();
        let mut command = sandbox.program(&codex);
        command.args(["-c", "\"$SNELL\" hook; exit", subcommand]).env("SNELL", env!("CARGO_BIN_EXE_snell"));
        let payload = merge_fields(recorded["payload"].clone(), &call);
        let payload = merge_fields(payload, &json!({"cwd": sandbox.project()}));
        let ran = run_with_stdin(&mut command, payload.to_string());
        let is_denied = ran.stdout.contains("\"permissionDecision\":\"deny\"");
        assert_eq!(is_denied, expected.is_some(), "{subcommand}: {ran:?}");
        assert!(expected.is_none_or(|text| ran.stdout.replace('\\', "").contains(text)), "{subcommand}: {ran:?}");
    }
}
