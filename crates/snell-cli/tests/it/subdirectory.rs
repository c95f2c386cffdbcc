//! Below a project's directory: every command means the project that `snell hook` finds there, and what it says to type works
//! there.

use std::path::Path;

use serde_json::json;
use snell_test_support::process::{CommandOutput, run_with_stdin};

use crate::support::CliSandbox;

const HOOK: &str = "[[hook]]\nevent = \"PreToolUse\"\nrun = 'echo Not here. >&2; exit 2'\n";

/// A project with a hook, and a directory in it.
fn create_project(text: &str) -> CliSandbox {
    CliSandbox::with_frozen_clock().file(".git/HEAD", "").file("snell.toml", text).file("pkg/x", "")
}

/// Runs `snell` in this directory of the project.
fn run_in_directory(sandbox: &CliSandbox, directory: impl AsRef<Path>, args: &[&str], stdin: &str) -> CommandOutput {
    let mut command = sandbox.command(args);
    command.current_dir(sandbox.project().join(directory));
    run_with_stdin(&mut command, stdin)
}

/// What Claude Code sends from this directory of the project.
fn build_hook_payload(sandbox: &CliSandbox, directory: &str, session: &str) -> String {
    json!({"session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Glob", "tool_input": {},
        "cwd": sandbox.project().join(directory)})
    .to_string()
}

/// Runs in this directory the command at the end of a text, after `run: ` or in backquotes.
fn run_suggested_command(sandbox: &CliSandbox, directory: &str, text: &str) -> CommandOutput {
    let suggested = text.rsplit_once("run `snell ").or_else(|| text.rsplit_once("run: snell "));
    let (_, suggested) = suggested.expect(text);
    let words: Vec<_> = suggested.split(['\n', '`']).next().unwrap().split(' ').collect();
    run_in_directory(sandbox, directory, &words, "")
}

#[test]
fn what_a_guest_says_to_run_works_where_it_is_said() {
    let sandbox = create_project(HOOK);
    let ask = |session: &str| {
        let answer = run_in_directory(
            &sandbox,
            "pkg",
            &["hook", "--agent", "claude"],
            &build_hook_payload(&sandbox, "pkg", session),
        );
        answer.json()
    };
    let told = ask("s1")["systemMessage"].as_str().unwrap().to_owned();
    let trusted = run_suggested_command(&sandbox, "pkg", &told);
    assert!(trusted.stdout.contains("snell.toml: 1 hook"), "{trusted:?}");
    assert_eq!(ask("s2")["hookSpecificOutput"]["permissionDecisionReason"], "Not here.");
    let revoked = run_in_directory(&sandbox, "pkg", &["trust", "--revoke"], "");
    assert!(revoked.stdout.contains("snell.toml is no longer trusted"), "{revoked:?}");
    assert!(ask("s3")["systemMessage"].is_string());
}

#[test]
fn what_status_and_doctor_say_to_run_works_wherever_they_are_asked() {
    for directory in ["pkg", "../home"] {
        for command in ["status", "doctor"] {
            let sandbox = create_project(HOOK);
            let named = sandbox.project();
            let args = [command, "--project", named.to_str().unwrap()];
            let args = if directory == "pkg" { &args[..1] } else { &args };
            let said = run_in_directory(&sandbox, directory, args, "").stdout;
            let told = said.lines().find(|line| line.contains("run `snell trust")).expect(&said);
            let trusted = run_suggested_command(&sandbox, directory, told);
            assert!(trusted.stdout.contains("snell.toml: 1 hook"), "{directory} {told}: {trusted:?}");
            let said = run_in_directory(&sandbox, directory, args, "").stdout;
            assert!(!said.contains("snell trust"), "{directory} {command}: {said}");
        }
    }
}

#[test]
fn errors_of_the_project_are_found_from_below_by_all_who_tell_of_them() {
    let sandbox = create_project("[[hook]]\nevent = 1\n");
    for command in ["status", "doctor"] {
        let said = run_in_directory(&sandbox, "pkg", &[command], "").stdout;
        let told = said.lines().filter(|line| line.contains("run `snell lint") || line.contains("run: snell lint"));
        let told: Vec<_> = told.collect();
        assert!(!told.is_empty(), "{said}");
        for told in told {
            let linted = run_suggested_command(&sandbox, "pkg", told);
            assert!(linted.stdout.contains("snell.toml:2:"), "{told}: {linted:?}");
        }
        assert!(!said.contains("without problems"), "{said}");
    }
}

#[test]
fn commands_for_people_mean_the_project_and_a_host_means_its_directory() {
    let sandbox = create_project(HOOK);
    let shown = sandbox.project();
    let shown = shown.to_str().unwrap();
    let cases: [(&[&str], &str); 3] = [
        (&["list"], "Not here."),
        (&["lint"], "(1 hook)"),
        (&["explain", "PreToolUse", "--tool", "Glob"], "1 of 1 hook would run"),
    ];
    for (args, expected) in cases {
        let said = run_in_directory(&sandbox, "pkg", args, "");
        assert!(said.stdout.contains(expected), "{args:?}: {said:?}");
        assert!(said.stderr.contains(&format!("the project is {shown}\n")), "{args:?}: {said:?}");
        // In the project itself, and where it is named, there is nothing to say about that.
        let there = run_in_directory(&sandbox, ".", args, "");
        assert!(!there.stderr.contains("the project is"), "{args:?}: {there:?}");
        let named = run_in_directory(&sandbox, "pkg", &[args, &["--project", "."]].concat(), "");
        assert!(!named.stdout.contains(expected), "{args:?}: {named:?}");
        assert!(!named.stderr.contains("the project is"), "{args:?}: {named:?}");
    }
    let payload = json!({"tool_name": "Glob", "tool_input": {}}).to_string();
    for (directory, code) in [("pkg", 0), (".", 2)] {
        let ran = run_in_directory(&sandbox, directory, &["run", "PreToolUse"], &payload);
        assert_eq!(ran.code, code, "{directory}: {ran:?}");
    }
}

#[test]
fn trust_is_ended_here_before_it_is_ended_above() {
    let sandbox = create_project(HOOK).file("pkg/snell.toml", HOOK);
    for directory in [".", "pkg"] {
        assert_eq!(run_in_directory(&sandbox, directory, &["trust"], "").code, 0);
    }
    // What is gone here was trusted here.
    std::fs::remove_file(sandbox.project().join("pkg/snell.toml")).unwrap();
    for expected in ["pkg/snell.toml is no", "project/snell.toml is no", "was trusted"] {
        let revoked = run_in_directory(&sandbox, "pkg", &["trust", "--revoke"], "").stdout;
        assert!(revoked.contains(expected) && revoked.lines().count() == 1, "{expected}: {revoked}");
    }
}
