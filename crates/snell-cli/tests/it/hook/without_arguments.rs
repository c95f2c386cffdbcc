//! `snell` without arguments: agents that drop the arguments of Claude Code's hooks are answered, and people get the help.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use snell_test_support::process::{CommandOutput, run_with_stdin, wait_for_output};

use super::{HookSandbox, RecordingMode};
use crate::support::CliSandbox;

/// Variables that an agent sets, and its payload before a shell command.
type ArgDroppingAgent = (&'static str, &'static [(&'static str, &'static str)], fn(&str) -> Value);

/// Agents that read Claude Code's settings, and drop `args`.
const NEIGHBOURS: &[ArgDroppingAgent] = &[
    ("Copilot CLI, camelCase", &[("COPILOT_CLI", "1")], |command| {
        json!({"sessionId": "c1", "timestamp": 1, "cwd": "/w", "toolName": "bash",
            "toolArgs": {"command": command, "description": "a test", "mode": "sync"}})
    }),
    ("Copilot CLI, PascalCase", &[("COPILOT_CLI", "1")], |command| {
        json!({"hook_event_name": "PreToolUse", "session_id": "c1", "timestamp": "2026-11-01T00:00:00.000Z", "cwd": "/w",
            "tool_name": "Bash", "tool_input": {"command": command, "mode": "sync"}})
    }),
    ("Grok Build", &[("GROK_SESSION_ID", "g1")], |command| {
        json!({"hookEventName": "pre_tool_use", "sessionId": "g1", "cwd": "/w", "workspaceRoot": "/w/",
            "permissionMode": "bypassPermissions", "toolName": "run_terminal_command",
            "toolInput": {"command": command}, "hook_event_name": "PreToolUse", "session_id": "g1",
            "tool_name": "run_terminal_command", "tool_input": {"command": command}, "tool_use_id": "call_0"})
    }),
];

/// Events of theirs in which no tool is called.
const OTHER_EVENTS: &[fn() -> Value] = &[
    || json!({"sessionId": "c1", "timestamp": 1, "cwd": "/w", "source": "new", "initialPrompt": "Do it"}),
    || json!({"sessionId": "c1", "timestamp": 1, "cwd": "/w", "prompt": "Do it"}),
    || json!({"sessionId": "c1", "cwd": "/w", "stopReason": "end_turn", "stop_hook_active": false}),
    || {
        json!({"hookName": "permissionRequest", "sessionId": "c1", "cwd": "/w", "toolName": "bash",
        "toolInput": {"command": "ls"}, "permissionSuggestions": []})
    },
    || {
        json!({"sessionId": "c1", "cwd": "/w", "toolName": "bash", "toolArgs": {"command": "ls"},
        "toolResult": {"resultType": "success", "textResultForLlm": "one"}})
    },
    || json!({"hook_event_name": "SessionEnd", "session_id": "c1", "cwd": "/w", "reason": "complete"}),
    || {
        json!({"hookEventName": "session_start", "sessionId": "g1", "cwd": "/w", "workspaceRoot": "/w/",
        "hook_event_name": "SessionStart", "session_id": "g1", "source": "new"})
    },
    || {
        json!({"hookEventName": "stop", "sessionId": "g1", "cwd": "/w", "workspaceRoot": "/w/",
        "hook_event_name": "Stop", "session_id": "g1"})
    },
];

/// The command that `snell install` wrote, without its `args`.
fn build_bare_command(watched: &HookSandbox) -> Command {
    let installed = watched.sandbox.run_snell(&["install", "claude", "--project"], "");
    assert_eq!(installed.code, 0, "{installed:?}");
    let settings = watched.sandbox.read_json(".claude/settings.json");
    let handler = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    watched.sandbox.program(handler["command"].as_str().unwrap())
}

fn run_with_payload(command: &mut Command, payload: &str) -> CommandOutput {
    run_with_stdin(command, payload)
}

#[test]
fn agents_that_drop_arguments_are_answered_as_by_snell_hook() {
    for (who, variables, payload) in NEIGHBOURS {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let mut bare = build_bare_command(&watched);
        bare.envs(variables.iter().copied());
        let fine = run_with_payload(&mut bare, &payload("ls").to_string());
        assert_eq!((fine.code, fine.stdout.as_str()), (0, ""), "{who}: {fine:?}");
        let denied = run_with_payload(&mut bare, &payload("rm -rf ~").to_string());
        let is_said = !denied.stdout.is_empty()
            && denied.json()["hookSpecificOutput"]["permissionDecision"] == "deny"
            && denied.code == 0;
        assert!(denied.code == 2 || is_said, "{who}: {denied:?}");
        assert_eq!(watched.count_rows("events"), 2, "{who}");
        // Blanks and the like before it make it no other call.
        for padding in [" \n\t", "\u{feff}", "\u{b}", "\u{c}", "\0", "\u{feff}\0 "] {
            let padded = run_with_payload(&mut bare, &format!("{padding}{}", payload("rm -rf ~")));
            assert_eq!(
                (padded.code, padded.stdout == denied.stdout),
                (denied.code, true),
                "{who} {padding:?}: {padded:?}"
            );
        }
    }
}

#[test]
fn other_events_of_such_agents_are_never_refused() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    let mut bare = build_bare_command(&watched);
    for payload in OTHER_EVENTS {
        let payload = payload().to_string();
        let ran = run_with_payload(&mut bare, &payload);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{payload}: {ran:?}");
    }
}

#[test]
fn without_a_payload_there_is_help() {
    let sandbox = CliSandbox::new();
    for input in ["", "\n", "{}", "[1]", "hello", "\"text\""] {
        let ran = sandbox.run_snell(&[], input);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{input}: {ran:?}");
        assert!(ran.stderr.contains("Usage: snell [OPTIONS] <COMMAND>"), "{input}: {ran:?}");
    }
    for line in ["exec \"$0\" </dev/null", "exec \"$0\" <&-", "exec \"$0\" </"] {
        let ran = CommandOutput::from(sandbox.shell(line, &[]).output().unwrap());
        assert_eq!(ran.code, 1, "{line}: {ran:?}");
        assert!(ran.stderr.contains("Usage: snell [OPTIONS] <COMMAND>"), "{line}: {ran:?}");
    }
}

#[test]
fn a_standard_input_that_stays_open_and_silent_does_not_hold_up_the_help() {
    let sandbox = CliSandbox::new();
    let mut command = sandbox.command(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let held_open = child.stdin.take();
    let ran = wait_for_output(child);
    drop(held_open);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("Usage: snell [OPTIONS] <COMMAND>"), "{ran:?}");
}

#[test]
fn a_person_at_a_terminal_gets_the_help() {
    if let Some((shown, is_success)) = CliSandbox::new().try_run_in_terminal(100, "") {
        assert!(shown.contains("Usage: snell [OPTIONS] <COMMAND>") && !is_success, "{shown}");
    }
}
