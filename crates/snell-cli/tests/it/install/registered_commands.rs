//! What is registered is what the agent runs, and it works.

use std::process::Command;

use serde_json::{Value, json};
use snell_test_support::process::{CommandOutput, run_with_stdin};

use super::{InstallHome, list_handlers};

/// Runs a handler as Claude Code does: program and arguments, no shell in between.
fn run_handler(home: &InstallHome, command: &str, args: &[String], payload: &Value) -> CommandOutput {
    let mut child: Command = home.sandbox.program(command);
    child.args(args).env("CLAUDECODE", "1").env("CLAUDE_PROJECT_DIR", home.sandbox.project());
    run_with_stdin(&mut child, payload.to_string())
}

fn build_payload(home: &InstallHome, event: &str) -> Value {
    json!({"session_id": "s1", "hook_event_name": event, "cwd": home.sandbox.project(), "prompt": "Go on.",
           "transcript_path": "/nowhere.jsonl", "tool_name": "Bash", "tool_input": {"command": "make"}})
}

#[test]
fn every_registered_command_line_is_recorded_and_none_is_answered() {
    let home = InstallHome::with_settings("{\n  \"model\": \"opus\"\n}\n");
    home.run_successfully(&["install", "claude"]);
    let found = list_handlers(&home.read_settings());
    assert_eq!(found.len(), 29);
    for (event, command, args) in &found {
        let ran = run_handler(&home, command, args, &build_payload(&home, event));
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{event}");
    }
    let log = home.run_successfully(&["log", "--json", "--limit", "100"]);
    let mut recorded: Vec<_> = log
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    let mut told: Vec<_> = found.into_iter().map(|(event, _, _)| event).collect();
    recorded.sort();
    told.sort();
    assert_eq!(recorded, told);
}

#[test]
fn the_engine_reads_what_was_registered_and_has_nothing_to_say_against_it() {
    for way in [&[][..], &["--notify"]] {
        let home = InstallHome::with_settings(
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}}",
        );
        home.run_successfully(&[&["install", "claude"], way].concat());
        let listed = home.run_successfully(&["list", "--json"]).json();
        let of_snell: Vec<_> = listed
            .as_array()
            .unwrap()
            .iter()
            .filter(|hook| hook["contract"] == "claude" && hook["command"] != "true")
            .collect();
        assert_eq!(of_snell.len(), if way.is_empty() { 29 } else { 8 });
        for hook in of_snell {
            let command = hook["command"].as_str().unwrap();
            assert!(
                command.contains(if way.is_empty() { "/bin/snell hook" } else { "notify-headspace.sh " }),
                "{hook}"
            );
            assert_eq!(hook["matcher"], Value::Null);
            // A host does not run it: the agent does.
            assert!(hook["disabled"].as_str().unwrap().starts_with("it calls Snell itself"), "{hook}");
        }
        let linted = home.run_successfully(&["lint", "--json"]).json();
        assert_eq!(linted["diagnostics"], json!([]));
    }
}

#[test]
fn every_event_is_registered_but_the_two_that_an_onlooker_would_harm() {
    let home = InstallHome::new();
    home.run_successfully(&["install", "claude"]);
    let found: Vec<_> = list_handlers(&home.read_settings()).into_iter().map(|(event, _, _)| event).collect();
    for event in ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd", "Notification"]
    {
        assert!(found.iter().any(|name| name == event), "{event}");
    }
    for event in ["WorktreeCreate", "MessageDisplay"] {
        assert!(!found.iter().any(|name| name == event), "{event}");
    }
    let settings: Value = serde_json::from_str(&home.read_settings()).unwrap();
    assert_eq!(settings["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 10);
    assert_eq!(settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["timeout"], 600);
}
