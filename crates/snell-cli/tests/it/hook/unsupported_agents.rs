//! Agents that Snell cannot answer in their own words: what they are about to do is judged, and a "no" is told by exit code.

use serde_json::{Value, json};
use snell_test_support::process::{CommandOutput, run_with_stdin};

use super::{HookSandbox, RecordingMode};

/// Variables by which other agents are known.
const VARIABLES: &[&str] =
    &["CRUSH", "GEMINI_SESSION_ID", "QWEN_PROJECT_DIR", "FACTORY_PROJECT_DIR", "CURSOR_VERSION", "GROK_SESSION_ID"];

/// An agent, a variable that it sets, and its payload before a shell command.
type UnsupportedAgentCase = (&'static str, &'static [(&'static str, &'static str)], fn(&str) -> Value);

const STRANGERS: &[UnsupportedAgentCase] = &[
    (
        "Cursor",
        &[],
        |command| json!({"cursor_version": "3.9", "hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": command}}),
    ),
    (
        "Cursor",
        &[],
        |command| json!({"cursor_version": "3.9", "hook_event_name": "beforeShellExecution", "command": command, "cwd": "/w"}),
    ),
    (
        "Windsurf",
        &[],
        |command| json!({"agent_action_name": "pre_run_command", "tool_info": {"command_line": command, "cwd": "/w"}}),
    ),
    ("Codex", &[], |command| {
        json!({"session_id": "s", "turn_id": "t", "model": "m", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}})
    }),
    ("Qwen Code", &[("QWEN_PROJECT_DIR", "/w")], |command| {
        json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "run_shell_command",
            "tool_input": {"command": command}})
    }),
    ("Grok Build", &[("GROK_SESSION_ID", "s")], |command| {
        json!({"hookEventName": "pre_tool_use", "sessionId": "s", "workspaceRoot": "/w", "toolName": "bash",
            "toolInput": {"command": command}})
    }),
    (
        "Copilot",
        &[],
        |command| json!({"sessionId": "s", "cwd": "/w", "toolName": "bash", "toolArgs": json!({"command": command}).to_string()}),
    ),
    ("Goose", &[], |command| {
        json!({"event": "PreToolUse", "session_id": "s", "matcher_context": "shell", "tool_name": "shell",
            "tool_input": {"command": command}, "working_dir": "/w"})
    }),
    (
        "Crush",
        &[("CRUSH", "1")],
        |command| json!({"event": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "bash", "tool_input": {"command": command}}),
    ),
    (
        "Factory droid",
        &[("FACTORY_PROJECT_DIR", "/w")],
        |command| json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Execute", "tool_input": {"command": command}}),
    ),
    ("Cline", &[], |command| {
        json!({"clineVersion": "4", "hookName": "PreToolUse", "taskId": "t",
            "preToolUse": {"toolName": "execute_command", "parameters": {"command": command}}})
    }),
    ("Antigravity", &[], |command| {
        json!({"conversationId": "c", "workspacePaths": ["/w"],
            "toolCall": {"name": "run_command", "args": {"commandLine": command}}})
    }),
    (
        "an unknown agent",
        &[],
        |command| json!({"event": "pre_tool_use", "tool_name": "bash", "tool_input": {"command": command}}),
    ),
];

fn run_snell_with_env(
    watched: &HookSandbox,
    args: &[&str],
    variables: &[(&str, &str)],
    payload: &Value,
) -> CommandOutput {
    let mut command = watched.sandbox.command(args);
    command.envs(variables.iter().copied());
    run_with_stdin(&mut command, payload.to_string())
}

#[test]
fn what_a_stranger_is_about_to_do_is_judged_and_a_no_is_an_exit_code() {
    for (who, variables, payload) in STRANGERS {
        // Who is registered in a file that others read as well is not thereby the one who calls.
        let registered: &[&[&str]] = &[&["hook"], &["hook", "--agent", "claude"]];
        let ways = registered.iter().filter(|way| way.len() == 1 || variables.is_empty());
        for way in ways.filter(|way| way.len() == 1 || !who.starts_with("an agent")) {
            let watched = HookSandbox::new(RecordingMode::Alone);
            let told = |command: &str| run_snell_with_env(&watched, way, variables, &payload(command));
            let denied = told("rm -rf ~");
            assert_eq!((denied.code, denied.stdout.as_str()), (2, ""), "{who} {denied:?}");
            assert!(denied.stderr.contains("home"), "{who} {denied:?}");
            // Nobody can be asked.
            let asked = told("history -c");
            assert_eq!((asked.code, asked.stdout.as_str()), (2, ""), "{who} {asked:?}");
            assert!(asked.stderr.contains(&format!("Snell cannot ask the user in {who}.")), "{asked:?}");
            let fine = told("ls");
            assert_eq!((fine.code, fine.stdout.as_str()), (0, ""), "{who} {fine:?}");
            assert!(fine.stderr.contains(who), "{who} {fine:?}");
            let kept = watched.query_rows("SELECT decision FROM events ORDER BY rowid");
            let kept: Vec<_> = kept.iter().map(|row| row["decision"].as_str().unwrap_or_default()).collect();
            // What is kept is what happened to it, and that it would have been asked about.
            assert_eq!(kept, ["block", "block", ""], "{who}");
            let reason = &watched.query_rows("SELECT reason FROM events ORDER BY rowid")[1]["reason"];
            let asked = format!("Snell cannot ask the user in {who}.");
            assert!(reason.as_str().unwrap().contains(&asked), "{who}: {reason}");
            let said = watched.query_rows("SELECT decision, would FROM guard_verdicts ORDER BY guard_verdict_id");
            assert_eq!(
                said,
                [json!({"decision": "deny", "would": null}), json!({"decision": "deny", "would": "ask"})],
                "{who}"
            );
        }
    }
}

#[test]
fn a_finished_call_of_an_unsupported_agent_is_only_recorded() {
    for payload in [
        json!({"cursor_version": "3.9", "hook_event_name": "postToolUse", "tool_name": "Shell",
            "tool_input": {"command": "rm -rf ~"}, "tool_output": ""}),
        json!({"sessionId": "s", "toolName": "bash", "toolArgs": {"command": "rm -rf ~"}, "toolResult": {}, "event": "postToolUse"}),
        json!({"cursor_version": "3.9", "hook_event_name": "preToolUse"}),
        json!({"agent_action_name": "post_run_command", "tool_info": {"command_line": "rm -rf ~"}}),
    ] {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let ran = run_snell_with_env(&watched, &["hook"], &[], &payload);
        assert!(ran.expect_single_warning().contains("event recorded"), "{payload} {ran:?}");
        assert_eq!(watched.count_rows("events"), 1);
    }
}

#[test]
fn no_variable_of_another_agent_hides_claude_code() {
    for variable in VARIABLES {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let input = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}, "transcript_path": "/t.jsonl"});
        let payload = watched.build_payload("s1", "PreToolUse", input);
        let told = |args: &[&str], variables: &[(&str, &str)]| {
            let ran = run_snell_with_env(&watched, args, variables, &payload);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{variable} {ran:?}");
            assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "deny", "{variable}");
        };
        told(&["hook"], &[(variable, "1"), ("CLAUDECODE", "1")]);
        told(&["hook", "--agent", "claude"], &[(variable, "1")]);
        // Where nothing else shows who calls, the variable counts, and the call is judged all the same.
        assert_eq!(run_snell_with_env(&watched, &["hook"], &[(variable, "1")], &payload).code, 2, "{variable}");
    }
}
