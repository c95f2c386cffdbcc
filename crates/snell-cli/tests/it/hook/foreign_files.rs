//! Agents that read the hook files of others: each event is answered once, by the agent's own file if it has one.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use snell_test_support::process::run_with_stdin;

use crate::install::InstallHome;

/// A reader of another agent's file: its payload before a shell command, and the arguments with which the file calls Snell there.
struct ForeignReader {
    agent: &'static str,
    owner: &'static str,
    args: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
    payload: fn() -> Value,
}

const READERS: &[ForeignReader] = &[
    // Grok Build and Copilot drop the arguments of Claude Code's handlers.
    ForeignReader {
        agent: "grok",
        owner: "claude",
        args: &[],
        variables: &[("GROK_SESSION_ID", "s"), ("CLAUDE_PROJECT_DIR", "/")],
        payload: grok_payload,
    },
    ForeignReader {
        agent: "grok",
        owner: "cursor",
        args: &["hook", "--agent", "cursor"],
        variables: &[("GROK_SESSION_ID", "s")],
        payload: grok_payload,
    },
    ForeignReader {
        agent: "copilot",
        owner: "claude",
        args: &[],
        variables: &[("COPILOT_CLI", "1"), ("CLAUDE_PROJECT_DIR", "/")],
        payload: copilot_payload,
    },
    ForeignReader {
        agent: "cursor",
        owner: "claude",
        args: &["hook", "--agent", "claude"],
        variables: &[("CURSOR_VERSION", "3.9.16")],
        payload: cursor_payload,
    },
];

const COMMAND: &str = "rm -rf /";

fn grok_payload() -> Value {
    json!({
        "hookEventName": "pre_tool_use", "sessionId": "s", "cwd": "/", "workspaceRoot": "/",
        "toolName": "run_terminal_command", "toolUseId": "u", "toolInput": {"command": COMMAND},
        "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "run_terminal_command",
        "tool_input": {"command": COMMAND}, "tool_use_id": "u",
    })
}

fn copilot_payload() -> Value {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-11-16T09:54:50.194Z", "cwd": "/",
        "tool_name": "Bash", "tool_input": {"command": COMMAND, "mode": "sync"},
    })
}

fn cursor_payload() -> Value {
    json!({
        "hook_event_name": "preToolUse", "conversation_id": "s", "generation_id": "g", "cursor_version": "3.9.16",
        "workspace_roots": ["/"], "session_id": "s", "tool_name": "Shell", "tool_input": {"command": COMMAND},
    })
}

/// Calls Snell as the reader does, through the owner's file or its own.
fn call_snell(home: &InstallHome, reader: &ForeignReader, args: &[&str]) -> (i32, String) {
    let mut command: Command = home.snell_command(args);
    command.envs(reader.variables.iter().copied()).env("SNELL_SCRIBE", "off");
    let ran = run_with_stdin(&mut command, (reader.payload)().to_string());
    (ran.code, format!("{}{}", ran.stdout, ran.stderr))
}

fn is_denied((code, said): &(i32, String)) -> bool {
    said.contains("rm would delete everything") && (*code == 0 || *code == 2)
}

#[test]
fn an_event_is_answered_once_by_the_agents_own_file() {
    for reader in READERS {
        let name = format!("{} reads the file of {}", reader.agent, reader.owner);
        let home = InstallHome::new();
        home.run_successfully(&["install", reader.owner]);
        // Only the other's file calls Snell: it answers, in the reader's words.
        let alone = call_snell(&home, reader, reader.args);
        assert!(is_denied(&alone), "{name}: {alone:?}");
        let own_args = ["hook", "--agent", reader.agent];
        let own = call_snell(&home, reader, &own_args);
        assert_eq!(alone, own, "{name}");
        // Both call it: the other's stays silent and records nothing.
        home.run_successfully(&["install", reader.agent]);
        let data = home.sandbox.data();
        fs::remove_file(home.sandbox.database()).unwrap();
        assert_eq!(call_snell(&home, reader, reader.args), (0, String::new()), "{name}");
        assert!(!home.sandbox.database().exists(), "{name}: {}", data.display());
        assert!(is_denied(&call_snell(&home, reader, &own_args)), "{name}");
        assert!(home.sandbox.database().exists(), "{name}");
        // Its own file is gone: the other's answers again.
        home.run_successfully(&["uninstall", reader.agent]);
        assert!(is_denied(&call_snell(&home, reader, reader.args)), "{name}");
    }
}

#[test]
fn an_own_file_that_does_not_call_snell_on_the_event_silences_nothing() {
    for reader in READERS {
        let home = InstallHome::new();
        home.run_successfully(&["install", reader.owner, reader.agent]);
        let report = home.run_successfully(&["install", reader.agent, "--json"]).stdout;
        let report: Value = serde_json::from_str(&report).unwrap();
        let path = report["file"].as_str().unwrap();
        let text = fs::read_to_string(path).unwrap();
        let is_call = |line: &&str| line.to_lowercase().contains("\"pretooluse\"");
        assert!(text.lines().any(|line| is_call(&line)), "{text}");
        let kept: Vec<_> = text.lines().filter(|line| !is_call(line)).collect();
        fs::write(path, kept.join("\n")).unwrap();
        assert!(is_denied(&call_snell(&home, reader, reader.args)), "{} {}", reader.agent, reader.owner);
    }
}

#[test]
fn an_own_file_whose_program_is_gone_silences_nothing() {
    for reader in READERS {
        let home = InstallHome::new();
        home.run_successfully(&["install", reader.owner, reader.agent]);
        let report = home.run_successfully(&["install", reader.agent, "--json"]).stdout;
        let report: Value = serde_json::from_str(&report).unwrap();
        let path = report["file"].as_str().unwrap();
        let text = fs::read_to_string(path).unwrap();
        let program = home.program_path().display().to_string();
        assert!(text.contains(&program), "{text}");
        fs::write(path, text.replace(&program, "/gone/snell")).unwrap();
        assert!(is_denied(&call_snell(&home, reader, reader.args)), "{} {}", reader.agent, reader.owner);
    }
}

#[test]
fn an_agent_that_reads_no_other_files_is_always_answered() {
    // A payload that looks like Codex's, in a call that Claude Code's file registered.
    let home = InstallHome::new();
    home.run_successfully(&["install", "claude", "codex"]);
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "turn_id": "t", "model": "m", "cwd": "/",
        "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "u", "tool_input": {"command": COMMAND},
    });
    for args in [&["hook", "--agent", "claude"][..], &["hook"], &[]] {
        let ran = run_with_stdin(&mut home.snell_command(args), payload.to_string());
        assert!(ran.stdout.contains("deny") || ran.code == 2, "{args:?}: {ran:?}");
    }
}
