//! No variable that an agent's settings can set makes the guard milder.

use serde_json::json;
use snell_test_support::process::{CommandOutput, spawn_with_stdin};

use super::{HookSandbox, RecordingMode};
use crate::support::CliSandbox;

/// A file of settings that switches the guard off.
const OFF: &str = "[handlers]\nguard = false\n";

fn read_permission_decision(ran: &CommandOutput) -> String {
    if ran.stdout.is_empty() {
        return String::new();
    }
    let decision = &ran.json()["hookSpecificOutput"]["permissionDecision"];
    decision.as_str().unwrap_or_default().to_owned()
}

fn judge_bash(watched: &HookSandbox, variables: &[(&str, &str)], command: &str) -> CommandOutput {
    let input = json!({"tool_name": "Bash", "tool_input": {"command": command}, "transcript_path": "/t.jsonl"});
    watched.run_hook_with_env(variables, &watched.build_payload("s1", "PreToolUse", input))
}

#[test]
fn a_project_does_not_replace_its_users_settings_by_a_variable() {
    let sandbox = CliSandbox::new().file("evil/snell/snell.toml", OFF).file("evil/.config/snell/snell.toml", OFF);
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, sandbox);
    let in_full = watched.sandbox.project().join("evil").display().to_string();
    let elsewhere = watched.sandbox.home().join("link");
    std::os::unix::fs::symlink(watched.sandbox.project(), &elsewhere).unwrap();
    let by_link = elsewhere.join("evil").display().to_string();
    let places = [
        in_full.as_str(),
        by_link.as_str(),
        "/proc/self/cwd/evil",
        "/proc/thread-self/cwd/evil",
        "/dev/fd/../cwd/evil",
    ];
    for variable in ["HOME", "XDG_CONFIG_HOME"] {
        for place in places {
            let ran = judge_bash(&watched, &[(variable, place)], "rm -rf /");
            assert_eq!(read_permission_decision(&ran), "deny", "{variable}={place}: {ran:?}");
            assert!(ran.stderr.contains("is inside the project"), "{variable}={place}: {ran:?}");
        }
    }
    // Elsewhere it counts, because it can be the user's.
    let own = CliSandbox::new().home_file("elsewhere/snell/snell.toml", OFF);
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, own);
    let place = watched.sandbox.home().join("elsewhere").display().to_string();
    judge_bash(&watched, &[("XDG_CONFIG_HOME", &place)], "rm -rf /").assert_silent();
}

#[test]
fn settings_that_vanish_leave_the_standard_guard() {
    let own = "[guard.rules]\n\"git.push-force\" = \"allow\"\n";
    let watched =
        HookSandbox::with_sandbox(RecordingMode::Alone, CliSandbox::new().home_file(".config/snell/snell.toml", own));
    judge_bash(&watched, &[], "git push --force").assert_silent();
    for variables in [("HOME", ""), ("HOME", "/does/not/exist"), ("XDG_CONFIG_HOME", "/does/not/exist")] {
        let ran = judge_bash(&watched, &[variables], "git push --force");
        assert_eq!(read_permission_decision(&ran), "deny", "{variables:?}: {ran:?}");
    }
}

#[test]
fn a_project_does_not_bring_the_pins_that_trust_it() {
    let wish = "[guard.rules]\n\"git.push-force\" = \"allow\"\n";
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, CliSandbox::new().file("snell.toml", wish));
    let trust_and_push = |data: &str| {
        let mut trust = watched.sandbox.command(&["trust"]);
        trust.env("SNELL_HOME", data);
        let trusted = spawn_with_stdin(&mut trust, "").wait_with_output().unwrap();
        assert!(trusted.status.success(), "{trusted:?}");
        judge_bash(&watched, &[("SNELL_HOME", data)], "git push --force")
    };
    let own = watched.sandbox.home().join("data").display().to_string();
    trust_and_push(&own).assert_silent();
    let brought = watched.sandbox.project().join("data").display().to_string();
    for data in [brought.as_str(), "/proc/self/cwd/data"] {
        let ran = trust_and_push(data);
        assert_eq!(read_permission_decision(&ran), "deny", "{data}: {ran:?}");
        assert!(ran.stderr.contains("the trust file there is ignored"), "{data}: {ran:?}");
    }
}

#[test]
fn no_variable_frees_what_is_the_users() {
    let home = ("HOME", "/home/me");
    // The variable, the command, and what the guard says to it.
    let cases = [
        (("TMPDIR", "/tmp"), "rm -rf ~/Documents", "deny"),
        (("TMPDIR", "/home/me"), "rm -rf ~/Documents", "deny"),
        (("TMPDIR", "/home"), "rm -rf ~/Documents", "deny"),
        (("TMPDIR", "/home/me/Documents"), "rm -rf ~/Documents/a", "deny"),
        (("TMPDIR", "/home/me/templates"), "rm -rf ~/templates/a", "deny"),
        (("TMPDIR", "/home/me/tmp"), "rm -rf ~/tmp/a", ""),
        (("TMPDIR", "/scratch/me.1"), "rm -rf /scratch/me.1/a", ""),
        (("CLAUDE_PROJECT_DIR", "/home"), "rm -rf ~/Documents", "deny"),
        (("CLAUDE_PROJECT_DIR", "/"), "rm -rf ~/Documents", "deny"),
        (("CLAUDE_PROJECT_DIR", "/home/me"), "rm -rf ~/Documents", "deny"),
        (("CLAUDE_PROJECT_DIR", "/home/me/docs"), "rm -rf ~/docs/thesis", "deny"),
        (("CLAUDE_CONFIG_DIR", "/elsewhere"), "rm ~/.claude/settings.json", "deny"),
        (("XDG_CONFIG_HOME", "/elsewhere"), "rm ~/.config/snell/snell.toml", "deny"),
        (("XDG_DATA_HOME", "/elsewhere"), "rm ~/.local/share/snell/trust.json", "deny"),
    ];
    for (variable, command, expected) in cases {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let ran = judge_bash(&watched, &[home, variable], command);
        assert_eq!(read_permission_decision(&ran), expected, "{variable:?} {command}: {ran:?}");
    }
    // Snell's own files stay protected wherever variables lead.
    for (variable, file) in [
        (("CLAUDE_CONFIG_DIR", "/elsewhere"), ".claude/settings.json"),
        (("XDG_CONFIG_HOME", "/elsewhere"), ".config/snell/snell.toml"),
        // The sandbox sets it to a directory of its own.
        (("LANG", "C"), ".local/share/snell/trust.json"),
    ] {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let ran = judge_bash(&watched, &[home, variable], &format!("echo > ~/{file}"));
        assert!(ran.stdout.contains("rule self.change;"), "{variable:?} {file}: {ran:?}");
    }
}

#[test]
fn the_project_that_a_variable_names_is_the_one_in_which_the_agent_works() {
    // The directory that the variable names, where the agent works, the command, and what the guard says to it.
    let cases = [
        ("/home/me/proj", "/home/me/proj", "rm -rf build", ""),
        ("/home/me/proj", "/home/me/proj/sub", "rm -rf ../build", ""),
        ("/home/me/proj/", "/home/me/proj/sub", "rm -rf /home/me/proj/build", ""),
        ("/home/me/docs", "/home/me/proj", "rm -rf /home/me/docs/thesis", "deny"),
        ("/home/me/docs", "/home/me/proj", "rm -rf build", ""),
        ("/home/me", "/home/me/proj", "rm -rf ~/.ssh", "deny"),
        ("/home/me/proj/..", "/home/me/proj", "rm -rf ~/.ssh", "deny"),
        ("/home", "/home/me/proj", "rm -rf ~/.ssh", "deny"),
        ("/", "/home/me/proj", "rm -rf ~/.ssh", "deny"),
    ];
    let watched = HookSandbox::new(RecordingMode::Alone);
    for (named, cwd, command, expected) in cases {
        let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}, "cwd": cwd});
        let variables = [("HOME", "/home/me"), ("CLAUDE_PROJECT_DIR", named)];
        let ran = watched.run_hook_with_env(&variables, &watched.build_payload("s1", "PreToolUse", fields));
        assert_eq!(read_permission_decision(&ran), expected, "{named} {cwd} {command}: {ran:?}");
    }
}

#[test]
fn a_depth_that_keeps_hooks_from_running_leaves_a_question() {
    let hook = "[[hook]]\nevent = 'PreToolUse'\nrun = 'echo no >&2; exit 2'\n";
    let watched =
        HookSandbox::with_sandbox(RecordingMode::Alone, CliSandbox::new().home_file(".config/snell/snell.toml", hook));
    for (depth, expected) in [("1", "deny"), ("x", "deny"), ("8", "ask"), ("99999999999999999999", "ask")] {
        let ran = judge_bash(&watched, &[("SNELL_DEPTH", depth)], "ls");
        assert_eq!(read_permission_decision(&ran), expected, "{depth}: {ran:?}");
    }
}

#[test]
fn a_clock_that_is_turned_back_revives_no_allowed_command() {
    let over = "[[guard.allow]]\ncommand = \"sudo reboot\"\nreason = \"once\"\nuntil = \"2026-01-31\"\n";
    let watched =
        HookSandbox::with_sandbox(RecordingMode::Alone, CliSandbox::new().home_file(".config/snell/snell.toml", over));
    let ran = judge_bash(&watched, &[("SNELL_NOW", "2026-01-01T00:00:00Z")], "sudo reboot");
    assert_eq!(read_permission_decision(&ran), "deny", "{ran:?}");
}
