//! `[guard] approve`: the guard permits calls that are harmless for certain, in each agent's own words.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use snell_test_support::database::query_texts;
use snell_test_support::process::run_with_stdin;

use super::{create_configured_sandbox, judge_bash, judge_call};
use crate::hook::render_answering_hook;
use crate::support::CliSandbox;

const READ: &str = "[guard]\napprove = 'read'\n";
const PROJECT: &str = "[guard]\napprove = 'project'\n";

/// A project with a file that git has.
fn create_repository(settings: &str) -> CliSandbox {
    let sandbox = create_configured_sandbox(settings).file("src/main.rs", "fn main() {}\n").file("notes.txt", "mine\n");
    let git = "git init -q . && git add src && touch -d '2 hours ago' src/main.rs && git add src && git -c user.name=a -c user.email=a@b commit -qm x";
    let made = sandbox.shell(git, &[]).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    sandbox
}

#[track_caller]
fn assert_approved(sandbox: &CliSandbox, command: &str, reason: &str) {
    let told = judge_bash(sandbox, command);
    assert_eq!(told.decision.as_deref(), Some("allow"), "{command}: {told:?}");
    assert_eq!(told.reason, format!("Snell approved it: {reason}"), "{command}");
}

#[track_caller]
fn assert_unapproved(sandbox: &CliSandbox, commands: &[&str]) {
    for command in commands {
        let told = judge_bash(sandbox, command);
        assert_ne!(told.decision.as_deref(), Some("allow"), "{command}: {told:?}");
    }
}

#[test]
fn without_the_setting_nothing_is_approved() {
    for settings in ["", "[guard]\napprove = 'off'\n"] {
        let sandbox = create_configured_sandbox(settings);
        for command in ["ls", "git status", "cargo test"] {
            let call = json!({"tool_name": "Bash", "tool_input": {"command": command}});
            let ran = sandbox.send_hook_event("12:00:00", "PreToolUse", call);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{command}");
        }
    }
}

#[test]
fn a_call_that_changes_nothing_is_approved_with_the_reason() {
    let sandbox = create_repository(READ);
    assert_approved(&sandbox, "ls -la src | head -5", "reads only: ls, head");
    assert_approved(&sandbox, "cd src && cat main.rs", "reads only: cat");
    assert_unapproved(
        &sandbox,
        &["touch src/new.rs", "cargo test", "rm -rf /", "curl https://example.com", "novel-tool"],
    );
    let told = judge_call(&sandbox, "Read", json!({"file_path": sandbox.project().join("src/main.rs")}));
    assert_eq!(told.decision.as_deref(), Some("allow"), "{told:?}");
    let told = judge_call(&sandbox, "Read", json!({"file_path": "/etc/passwd"}));
    assert_eq!(told.decision, None, "{told:?}");
}

#[test]
fn only_what_can_be_had_back_is_changed() {
    let sandbox = create_repository(PROJECT);
    for command in
        ["echo x > src/main.rs", "echo x > src/new.rs", "sed -i s/a/b/ src/main.rs", "rm src/main.rs", "mkdir -p src/a"]
    {
        assert_eq!(judge_bash(&sandbox, command).decision.as_deref(), Some("allow"), "{command}");
    }
    assert_unapproved(
        &sandbox,
        &[
            "echo x > notes.txt",
            "rm notes.txt",
            "mv notes.txt src/x.rs",
            "cp src/main.rs notes.txt",
            "echo x > package.json",
            "echo x > .envrc",
        ],
    );
    let edit = |path: &str| json!({"file_path": sandbox.project().join(path), "old_string": "a", "new_string": "b"});
    assert_eq!(judge_call(&sandbox, "Edit", edit("src/main.rs")).decision.as_deref(), Some("allow"));
    for path in ["notes.txt", "Makefile", ".git/config", ".vscode/tasks.json"] {
        assert_ne!(judge_call(&sandbox, "Edit", edit(path)).decision.as_deref(), Some("allow"), "{path}");
    }
    // Once it differs from what git has, its content would be lost.
    fs::write(sandbox.project().join("src/main.rs"), "fn main() { changed() }\n").unwrap();
    assert_unapproved(&sandbox, &["echo x > src/main.rs", "rm src/main.rs"]);
}

#[test]
fn a_symlink_out_of_the_project_is_not_approved() {
    let sandbox = create_repository(READ);
    symlink("/etc", sandbox.project().join("out")).unwrap();
    symlink("/etc/passwd", sandbox.project().join("src/users.rs")).unwrap();
    assert_unapproved(&sandbox, &["cat src/users.rs", "cat src/*.rs", "ls out/", "cd out && ls", "wc -l src/*"]);
    assert_approved(&sandbox, "cat src/main.rs", "reads only: cat");
}

#[test]
fn the_projects_own_code_runs_only_if_it_is_trusted_or_listed() {
    let sandbox = create_repository(PROJECT);
    assert_unapproved(&sandbox, &["cargo test", "make test", "npm run build"]);
    let trusted = sandbox.run_snell(&["trust"], "");
    assert_eq!(trusted.code, 0, "{trusted:?}");
    assert_approved(
        &sandbox,
        "cargo test | tail -5",
        "runs the project's code: cargo test, tail (the project is trusted)",
    );
    let listed = create_repository("[guard]\napprove = 'project'\napprove_commands = ['npm test', 'make *']\n");
    assert_approved(&listed, "make anything", "runs the project's code: make anything (listed in approve_commands)");
    assert_unapproved(&listed, &["cargo test", "npm test -- --watch", "make a b"]);
}

#[test]
fn a_project_cannot_raise_what_is_approved() {
    let sandbox = CliSandbox::with_frozen_clock()
        .file("snell.toml", "[guard]\napprove = 'project'\napprove_commands = ['make **']\n");
    assert_unapproved(&sandbox, &["ls", "make test"]);
    sandbox.run_snell(&["trust"], "");
    assert_unapproved(&sandbox, &["ls", "make test"]);
    let lint = sandbox.run_snell(&["lint"], "");
    assert!(lint.stdout.contains("\"approve\" has no effect in a project's file"), "{lint:?}");
}

#[test]
fn hooks_win_over_an_approval() {
    for (answer, expected) in [
        (json!({"decision": "deny", "reason": "no"}), Some("deny")),
        (json!({"decision": "ask", "reason": "sure?"}), Some("ask")),
        (json!({"tool_input": {"command": "cat /etc/passwd"}}), None),
        (json!({"tool_input": {"command": "ls src"}}), Some("allow")),
        (json!({}), Some("allow")),
    ] {
        let text = format!("{READ}{}", render_answering_hook("PreToolUse", &answer));
        let told = judge_bash(&create_repository(&text), "ls");
        assert_eq!(told.decision.as_deref(), expected, "{answer}: {told:?}");
    }
    // An answer in the words of Claude Code is not one of `snell.toml`, so its veto is not understood.
    let veto = json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}});
    let foreign = create_repository(&format!("{READ}{}", render_answering_hook("PreToolUse", &veto)));
    assert_unapproved(&foreign, &["git status"]);
    let failing = create_repository(&format!("{READ}[[hook]]\nevent = 'PreToolUse'\nrun = 'exit 1'\n"));
    assert_eq!(judge_bash(&failing, "ls").decision, None);
}

#[test]
fn an_agent_that_plans_gets_no_approval_of_a_change() {
    let sandbox = create_repository(PROJECT);
    for (command, expected) in [("ls", true), ("touch src/new.rs", false)] {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "permission_mode": "plan"});
        let ran = sandbox.send_hook_event("12:00:00", "PreToolUse", call);
        assert_eq!(ran.stdout.contains("\"allow\""), expected, "{command}: {ran:?}");
    }
}

#[test]
fn an_approval_is_recorded_with_its_reason() {
    let sandbox = create_repository(READ);
    judge_bash(&sandbox, "ls");
    let sql = "SELECT coalesce(decision, '') || ': ' || coalesce(reason, '') FROM events";
    assert_eq!(query_texts(&sandbox.database(), sql), ["allow: Snell approved it: reads only: ls"]);
    let log = sandbox.run_snell(&["log", "--json"], "");
    assert!(log.stdout.contains("Snell approved it: reads only: ls"), "{log:?}");
}

#[test]
fn an_agent_whose_request_is_approved_is_not_shown_as_waiting() {
    let sandbox = create_repository(READ);
    let call = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    sandbox.send_hook_event("12:00:00", "SessionStart", json!({}));
    for (time, command, expected) in [("12:00:01", "novel-tool", "awaiting_input"), ("12:00:02", "ls", "processing")] {
        sandbox.send_hook_event(time, "PermissionRequest", call(command));
        assert_eq!(query_texts(&sandbox.database(), "SELECT state FROM agents"), [expected], "{command}");
    }
}

#[test]
fn every_agent_that_takes_an_approval_gets_it_in_its_own_words() {
    let claude = json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash"});
    let codex = json!({"hook_event_name": "PermissionRequest", "session_id": "s", "turn_id": "t", "model": "m", "tool_name": "Bash"});
    let cases: &[(&str, Value, &str, &str, &str)] = &[
        ("claude", claude.clone(), "/tool_input/command", "/hookSpecificOutput/permissionDecision", "allow"),
        (
            "claude",
            json!({"hook_event_name": "PermissionRequest", "session_id": "s", "tool_name": "Bash"}),
            "/tool_input/command",
            "/hookSpecificOutput/decision/behavior",
            "allow",
        ),
        ("codex", codex, "/tool_input/command", "/hookSpecificOutput/decision/behavior", "allow"),
        (
            "gemini",
            json!({"hook_event_name": "BeforeTool", "session_id": "s", "tool_name": "run_shell_command"}),
            "/tool_input/command",
            "/decision",
            "allow",
        ),
        ("qwen", claude.clone(), "/tool_input/command", "/hookSpecificOutput/permissionDecision", "allow"),
        ("droid", claude.clone(), "/tool_input/command", "/hookSpecificOutput/permissionDecision", "allow"),
        ("copilot", claude, "/tool_input/command", "/permissionDecision", "allow"),
        (
            "cursor",
            json!({"conversation_id": "c", "cursor_version": "3.9", "hook_event_name": "preToolUse", "tool_name": "Shell"}),
            "/tool_input/command",
            "/permission",
            "allow",
        ),
    ];
    let sandbox = create_repository(PROJECT);
    for (agent, payload, command, field, word) in cases {
        let send = |text: &str| {
            let mut payload = payload.clone();
            payload["tool_input"] = json!({"command": text});
            assert_eq!(payload.pointer(command).and_then(Value::as_str), Some(text));
            payload["cwd"] = json!(sandbox.project());
            let mut hook = sandbox.command(&["hook", "--agent", *agent]);
            run_with_stdin(&mut hook, payload.to_string())
        };
        let approved = send("ls src");
        assert_eq!(approved.code, 0, "{agent}: {approved:?}");
        assert_eq!(approved.json().pointer(field).and_then(Value::as_str), Some(*word), "{agent}: {approved:?}");
        let plain = send("novel-tool x");
        assert!(!plain.stdout.contains("\"allow\""), "{agent}: {plain:?}");
        // A request of Codex may be about leaving its sandbox.
        let changes = send("touch src/new.rs");
        assert_eq!(changes.stdout.contains("\"allow\""), *agent != "codex", "{agent}: {changes:?}");
    }
}

#[test]
fn the_command_explains_an_approval() {
    let sandbox = create_repository(READ);
    let checked = sandbox.run_snell(&["guard", "check", "ls | head -3"], "");
    assert!(checked.stdout.contains("Approved  reads only: ls, head\n"), "{checked:?}");
    let json = sandbox.run_snell(&["guard", "check", "--json", "ls"], "");
    assert_eq!(json.json()["approved"], "reads only: ls");
    let explained = sandbox.run_snell(&["guard", "explain", "ls"], "");
    assert!(explained.stdout.contains("Approved  reads only: ls\n"), "{explained:?}");
    let set = sandbox.run_snell(&["config", "set", "guard.approve", "project"], "");
    assert_eq!(set.code, 0, "{set:?}");
    let checked = sandbox.run_snell(&["guard", "check", "touch src/a.rs"], "");
    assert!(checked.stdout.contains("Approved  changes only files"), "{checked:?}");
}

#[test]
fn a_host_is_told_why_a_call_is_approved() {
    let sandbox = create_repository(READ);
    for (command, approved) in
        [("ls -la", json!("reads only: ls")), ("touch x", Value::Null), ("rm -rf /", Value::Null)]
    {
        let payload = json!({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": command}});
        let ran = sandbox.run_snell(&["run", "PreToolUse", "--guard", "--record"], &payload.to_string());
        assert_eq!(ran.json()["guard"]["approved"], approved, "{command}: {ran:?}");
    }
    let told = sandbox.run_snell(&["log", "--json"], "").stdout;
    assert!(told.contains("Snell approved it: reads only: ls"), "{told}");
}

#[test]
fn no_detour_shows_secrets_that_the_text_does_not_name() {
    let sandbox = create_repository(READ)
        .file(".env", "KEY=hidden\n")
        .file("src/nested/.env", "KEY=nested\n")
        .file("src/nested/a.rs", "// KEY\n")
        .file("docs/page.md", "KEY\n");
    assert_unapproved(
        &sandbox,
        &[
            "cat $(find . -type f)",
            "cat $(find . -type f -name '*env*')",
            "for f in $(find . -type f); do cat \"$f\"; done",
            "find . -type f | while read f; do cat \"$f\"; done",
            "find . -type f | xargs cat",
            "cat .*",
            "for f in .*; do cat $f; done",
            "diff -r . docs",
            "diff src/nested docs",
            "grep -rn KEY .",
            "grep -rn KEY src",
            "grep -r -A 9999 KEY docs",
            "rg -A 9999 KEY",
            "python3 -c \"from pathlib import Path; [print(p.read_text()) for p in Path('src').rglob('*')]\"",
            "python3 -c \"import glob; [print(open(f).read()) for f in glob.glob('.*')]\"",
        ],
    );
    for command in [
        "grep -rn KEY docs",
        "cat $(find src -type f -name '*.rs')",
        "find . -name '*.rs' -exec grep -n KEY {} +",
        "diff docs/page.md src/main.rs",
        "python3 -c \"from pathlib import Path; [print(p.read_text()) for p in Path('src').rglob('*.rs')]\"",
    ] {
        assert_eq!(judge_bash(&sandbox, command).decision.as_deref(), Some("allow"), "{command}");
    }
    let search = |input: Value| judge_call(&sandbox, "Grep", input).decision;
    let docs = sandbox.project().join("docs");
    assert_eq!(search(json!({"pattern": "KEY", "path": docs, "output_mode": "content"})).as_deref(), Some("allow"));
    for input in [
        json!({"pattern": ".", "path": docs, "output_mode": "content"}),
        json!({"pattern": "KEY", "path": docs, "output_mode": "content", "-A": 9999}),
        json!({"pattern": "KEY[^]*", "path": docs, "output_mode": "content", "multiline": true}),
        json!({"pattern": "KEY", "output_mode": "content"}),
    ] {
        assert_eq!(search(input.clone()), None, "{input}");
    }
}

#[test]
fn a_module_of_the_project_does_not_stand_for_pythons_own() {
    let sandbox = create_repository(READ);
    assert_approved(&sandbox, "python3 -c 'import json; print(json.dumps(1))'", "reads only: python3");
    let planted = sandbox.file("json.py", "import os\n");
    assert_unapproved(&planted, &["python3 -c 'import json; print(json.dumps(1))'"]);
    assert_approved(&planted, "cd src && python3 -c 'print(1)'", "reads only: python3");
}

#[test]
fn a_symlink_that_a_search_finds_is_not_followed() {
    let sandbox = create_repository(READ);
    fs::create_dir_all(sandbox.project().join(".hidden")).unwrap();
    symlink("/etc/passwd", sandbox.project().join(".hidden/users.rs")).unwrap();
    assert_unapproved(&sandbox, &["find . -name '*.rs' -exec cat {} +", "cat $(find . -name '*.rs')"]);
    assert_approved(&sandbox, "find . -type f -name '*.rs' -exec cat {} +", "reads only: find, cat");
}
