//! `[[guard.deny]]`, `[[guard.ask]]` and `[[guard.allow]]`: rules of the user's own.

use serde_json::{Value, json};
use snell_test_support::process::run_with_stdin;

use super::{create_configured_sandbox, judge_bash, judge_call, list_stored_verdicts};
use crate::support::CliSandbox;

/// The rules of most tests here.
const RULES: &str = r#"
[[guard.deny]]
command = "git push **"
reason = "Only the release manager pushes."

[[guard.ask]]
command = "just release --tag *"

[[guard.deny]]
command = "sudo **"

[[guard.deny]]
path = "~/private/**"

[[guard.deny]]
host = "*.evil.example"

[[guard.ask]]
tool = "mcp__tracker__.*"

[[guard.deny]]
command = "cp **"
path = "/srv/data"

[[guard.deny]]
command = "make deploy"
agent = ["codex", "gemini"]
"#;

/// The decision and the id of the rule, as `snell guard check --json` tells them.
fn check_call(sandbox: &CliSandbox, args: &[&str]) -> (String, Value) {
    let ran = sandbox.run_snell(&[&["guard", "check", "--json"], args].concat(), "");
    let answer = ran.json();
    (answer["decision"].as_str().unwrap().to_owned(), answer["rule"].clone())
}

#[test]
fn an_entry_meets_commands_after_unwrapping() {
    let sandbox = create_configured_sandbox(RULES);
    for (command, line) in [
        ("git push", Some(3)),
        ("git push origin main", Some(3)),
        ("sh -c 'git push origin main'", Some(3)),
        ("cd /tmp && env A=1 git push", Some(3)),
        ("echo origin | xargs git push", Some(3)),
        ("git -C /tmp/x push origin", Some(3)),
        ("/usr/bin/git push", Some(3)),
        ("x=push; git $x", Some(3)),
        ("python3 -c 'import os; os.system(\"git push\")'", Some(3)),
        ("python3 -c 'import subprocess; subprocess.run([\"git\", \"push\"])'", Some(3)),
        ("python3 -c 'print(\"git push\")'", None),
        ("git pull", None),
        ("echo git push", None),
        ("sudo ls", Some(10)),
        ("cat ~/private/key", Some(13)),
        ("tool --input=$HOME/private/a", Some(13)),
        ("echo x > ~/private/a", Some(13)),
        ("rm -r ~/private", Some(13)),
        ("cat ~/public/key", None),
        ("curl https://a.evil.example/x", Some(16)),
        ("curl a.evil.example", Some(16)),
        ("ssh me@b.evil.example uptime", Some(16)),
        ("curl https://evil.example.org", None),
        ("cp /srv/data/a /tmp/b", Some(22)),
        ("cat /srv/data/a", None),
        ("cp /srv/other/a /tmp/b", None),
        ("make deploy", None),
    ] {
        let expected = match line {
            Some(line) => ("deny".to_owned(), json!(format!("~/.config/snell/snell.toml:{line}"))),
            None => ("allow".to_owned(), Value::Null),
        };
        assert_eq!(check_call(&sandbox, &[command]), expected, "{command}");
    }
    assert_eq!(
        check_call(&sandbox, &["just release x --tag next"]).0,
        "allow",
        "a pattern without ** has no more words"
    );
    let id = json!("~/.config/snell/snell.toml:7");
    assert_eq!(check_call(&sandbox, &["just release --tag next"]), ("ask".to_owned(), id.clone()));
    assert_eq!(check_call(&sandbox, &["just release next --tag"]), ("ask".to_owned(), id));
    let id = json!("~/.config/snell/snell.toml:26");
    assert_eq!(check_call(&sandbox, &["--agent", "codex", "make deploy"]), ("deny".to_owned(), id));
    assert_eq!(check_call(&sandbox, &["--agent", "claude", "make deploy"]).0, "allow");
}

#[test]
fn an_entry_meets_the_calls_of_other_tools() {
    let sandbox = create_configured_sandbox(RULES);
    for (tool, input, expected) in [
        ("mcp__tracker__create", json!({"title": "x"}), ("ask", Some(19))),
        ("mcp__other__create", json!({"title": "x"}), ("allow", None)),
        ("mcp__web__get", json!({"to": ["https://a.evil.example/"]}), ("deny", Some(16))),
        ("WebFetch", json!({"url": "https://a.evil.example/x", "prompt": "p"}), ("deny", Some(16))),
        ("WebFetch", json!({"url": "https://fine.example/?q=a.evil.example", "prompt": "p"}), ("allow", None)),
        ("Read", json!({"file_path": sandbox.home().join("private/a")}), ("deny", Some(13))),
        ("Write", json!({"file_path": sandbox.home().join("private/a"), "content": ""}), ("deny", Some(13))),
        ("Read", json!({"file_path": "README.md"}), ("allow", None)),
    ] {
        let found = check_call(&sandbox, &["--tool", tool, "--input", &input.to_string()]);
        let id = expected.1.map_or(Value::Null, |line| json!(format!("~/.config/snell/snell.toml:{line}")));
        assert_eq!(found, (expected.0.to_owned(), id), "{tool} {input}");
    }
}

#[test]
fn the_agent_and_the_user_read_the_reason_and_the_position() {
    let sandbox = create_configured_sandbox(RULES);
    let told = judge_bash(&sandbox, "sh -c 'git push'");
    assert_eq!(told.decision.as_deref(), Some("deny"));
    assert_eq!(told.reason, "Only the release manager pushes.");
    assert!(
        told.message.starts_with("Snell: blocked by the entry at ~/.config/snell/snell.toml:3; details: snell guard "),
        "{told:?}"
    );
    let told = judge_bash(&sandbox, "just release --tag next");
    assert_eq!(told.decision.as_deref(), Some("ask"));
    assert_eq!(told.reason, "Snell asks: [[guard.ask]] in ~/.config/snell/snell.toml:7 asks about this call.");
    let told = judge_call(&sandbox, "mcp__tracker__create", json!({}));
    assert_eq!(told.decision.as_deref(), Some("ask"));
    let stored = list_stored_verdicts(&sandbox);
    let expected = [("deny", 3), ("ask", 7), ("ask", 19)];
    let expected = expected.map(|(decision, line)| format!("{decision} ~/.config/snell/snell.toml:{line} entry"));
    assert_eq!(stored, expected);
    let ran = sandbox.run_snell(&["guard", "explain", "sh -c 'git push'"], "");
    assert!(ran.stdout.starts_with("deny  ~/.config/snell/snell.toml:3 (entry)\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("allow  Remove [[guard.deny]] in ~/.config/snell/snell.toml:3."), "{}", ran.stdout);
}

#[test]
fn deny_precedes_ask_precedes_allow_and_locked_rules_precede_all() {
    let rules = r#"
[[guard.allow]]
command = "git push --force"
reason = "mine"
[[guard.ask]]
command = "git push --force"
[[guard.allow]]
command = "rm -rf /"
reason = "no"
[[guard.ask]]
command = "rm **"
[[guard.allow]]
path = "~/.aws/credentials"
reason = "a test account"
[[guard.allow]]
tool = "mcp__postgres__.*"
reason = "a test database"
"#;
    let sandbox = create_configured_sandbox(rules);
    let entry = |line: usize| json!(format!("~/.config/snell/snell.toml:{line}"));
    // Without the entry that asks, the one above it would allow the command.
    assert_eq!(check_call(&sandbox, &["git push --force"]), ("ask".to_owned(), entry(6)));
    assert_eq!(check_call(&sandbox, &["rm -rf /"]), ("deny".to_owned(), json!("files.delete-root")));
    assert_eq!(check_call(&sandbox, &["cat ~/.aws/credentials"]).0, "allow");
    assert_ne!(check_call(&sandbox, &["cat ~/.ssh/id_rsa"]).0, "allow");
    let drop = json!({"query": "DROP TABLE users"}).to_string();
    assert_eq!(check_call(&sandbox, &["--tool", "mcp__postgres__query", "--input", &drop]).0, "allow");
    assert_ne!(check_call(&sandbox, &["--tool", "mcp__sqlite__query", "--input", &drop]).0, "allow");
}

#[test]
fn an_untrusted_project_can_deny_but_not_allow() {
    let text = "[[guard.deny]]\ncommand = 'cargo publish **'\n[[guard.allow]]\ncommand = 'git push --force'\nreason = 'so'\n\
        [[guard.ask]]\npath = 'infra/**'\n";
    let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", text);
    let decision = |command: &str| judge_bash(&sandbox, command).decision;
    assert_eq!(decision("cargo publish").as_deref(), Some("deny"));
    assert_eq!(decision("touch infra/a").as_deref(), Some("ask"));
    assert_eq!(decision("touch src/a"), None);
    assert_eq!(decision("git push --force").as_deref(), Some("deny"));
    sandbox.run_snell(&["trust"], "");
    assert_eq!(decision("git push --force"), None);
    assert_eq!(decision("cargo publish").as_deref(), Some("deny"));
}

#[test]
fn audit_records_entries_and_enforces_none_and_expired_ones_are_over() {
    let sandbox = create_configured_sandbox("[guard]\npreset = 'audit'\n[[guard.deny]]\ncommand = 'ls **'\n");
    assert_eq!(judge_bash(&sandbox, "ls -l").decision, None);
    assert_eq!(list_stored_verdicts(&sandbox), ["allow ~/.config/snell/snell.toml:4 entry"]);
    let sandbox = create_configured_sandbox("[[guard.deny]]\ncommand = 'ls **'\nuntil = '2026-02-28'\n");
    assert_eq!(judge_bash(&sandbox, "ls -l").decision, None);
    let sandbox = create_configured_sandbox("[[guard.deny]]\ncommand = 'ls **'\nuntil = '2099-03-01'\n");
    assert_eq!(judge_bash(&sandbox, "ls -l").decision.as_deref(), Some("deny"));
}

#[test]
fn a_symlink_does_not_lead_around_an_entry() {
    let sandbox = create_configured_sandbox("[[guard.deny]]\npath = '~/private'\n");
    std::fs::create_dir_all(sandbox.home().join("private")).unwrap();
    std::os::unix::fs::symlink(sandbox.home().join("private"), sandbox.project().join("link")).unwrap();
    assert_eq!(judge_bash(&sandbox, "cat link/key").decision.as_deref(), Some("deny"));
    let read = json!({"file_path": sandbox.project().join("link/key")});
    assert_eq!(judge_call(&sandbox, "Read", read).decision.as_deref(), Some("deny"));
}

#[test]
fn an_entry_for_an_agent_is_for_its_calls_alone() {
    let sandbox = create_configured_sandbox("[[guard.deny]]\ncommand = 'make deploy'\nagent = 'codex'\n");
    assert_eq!(judge_bash(&sandbox, "make deploy").decision, None);
    let payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "turn_id": "t", "cwd": sandbox.project(),
        "tool_name": "Bash", "tool_input": {"command": "make deploy"}});
    let ran = run_with_stdin(&mut sandbox.command(&["hook", "--agent", "codex"]), payload.to_string());
    assert!(ran.stdout.contains("\"deny\""), "{ran:?}");
}

#[test]
fn lint_names_the_faults_of_entries() {
    let text = "[[guard.deny]]\nreason = 'x'\n[[guard.ask]]\ncommand = 'a; b'\n[[guard.deny]]\nhost = 'https://x.org'\n\
        [[guard.deny]]\ncommand = 'ls'\nagent = 'codx'\n[[guard.ask]]\ntool = 'Edit'\nuntil = '2026-01-01'\n\
        [[guard.deny]]\ncomand = 'x'\ntool = '('\n";
    let sandbox = create_configured_sandbox(text);
    let ran = sandbox.run_snell(&["lint"], "");
    for expected in [
        "1:1: error: a [[guard.deny]] has no \"command\" or other condition (the entry is ignored)",
        "4:11: warning: \"a; b\" is more than one simple command, so it asks about nothing",
        "6:8: warning: \"https://x.org\" is not the name of a host, so the entry denies nothing",
        "9:9: error: unknown agent \"codx\" (the entry is ignored)",
        "did you mean \"codex\"?",
        "11:8: warning: \"tool Edit\" was asked about only until 2026-01-01",
        "14:1: warning: unknown key \"comand\" in a [[guard.deny]]",
        "15:8: error: \"tool\" ",
    ] {
        assert!(ran.stdout.contains(expected), "{expected}\n{}", ran.stdout);
    }
}
