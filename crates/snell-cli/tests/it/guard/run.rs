//! `snell run --guard`: the guard for hosts that bring their own hooks.

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

fn run_bash_call(sandbox: &CliSandbox, args: &[&str], command: &str) -> CommandOutput {
    let payload = json!({"tool_name": "Bash", "tool_input": {"command": command}});
    sandbox.run_snell(&[&["run", "PreToolUse"], args].concat(), &payload.to_string())
}

#[test]
fn the_report_says_what_the_guard_said() {
    let sandbox = CliSandbox::with_frozen_clock();
    let cases = [
        ("ls", 0, "allow", "allow", Value::Null),
        ("git push --force-with-lease", 0, "ask", "ask", json!("git.push-with-lease")),
        ("rm -rf /", 2, "block", "deny", json!("files.delete-root")),
    ];
    for (command, code, decision, said, rule) in cases {
        let ran = run_bash_call(&sandbox, &["--guard"], command);
        let json = ran.json();
        let guard = &json["guard"];
        assert_eq!(
            (ran.code, &json["decision"], &guard["decision"], &guard["rule"]),
            (code, &json!(decision), &json!(said), &rule),
            "{command}: {ran:?}"
        );
        let keys: Vec<_> = guard.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["decision", "would", "rule", "tier", "reason", "advice"], "{command}");
        assert_eq!(guard["reason"].is_string(), !rule.is_null(), "{command}");
        if !rule.is_null() {
            let whole = format!("{} {}", guard["reason"].as_str().unwrap(), guard["advice"].as_str().unwrap());
            assert_eq!(ran.reason(), whole, "{command}");
        }
    }
}

#[test]
fn where_the_guard_only_watches_the_report_says_what_it_would_have_said() {
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", "[guard]\npreset = 'audit'\n");
    for (command, would) in
        [("ls", Value::Null), ("git push --force-with-lease", json!("ask")), ("rm -rf /", json!("deny"))]
    {
        let ran = run_bash_call(&sandbox, &["--guard"], command);
        assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"), "{command}: {ran:?}");
        let guard = &ran.json()["guard"];
        assert_eq!((&guard["decision"], &guard["would"]), (&json!("allow"), &would), "{command}");
    }
    let ran = run_bash_call(&CliSandbox::with_frozen_clock(), &["--guard"], "rm -rf /");
    assert_eq!(ran.json()["guard"]["would"], Value::Null, "it was denied, and not only watched");
}

#[test]
fn without_the_flag_nothing_is_judged() {
    let ran = run_bash_call(&CliSandbox::with_frozen_clock(), &[], "rm -rf /");
    assert_eq!((ran.code, ran.decision().as_str()), (0, "allow"));
    assert!(ran.json().get("guard").is_none(), "{ran:?}");
}

#[test]
fn an_event_that_is_about_no_call_to_come_is_not_judged() {
    let ran =
        CliSandbox::with_frozen_clock().run_snell(&["run", "PostToolUse", "--guard"], "{\"tool_name\": \"Bash\"}");
    assert_eq!(ran.code, 0);
    assert!(ran.json().get("guard").is_none(), "{ran:?}");
}

#[test]
fn hooks_run_as_well_and_what_they_change_is_judged_again() {
    let sandbox = CliSandbox::with_frozen_clock().file(
        "snell.toml",
        "[[hook]]\nevent = 'PreToolUse'\nmodify = true\nrun = '''echo ran > ran; \
         echo '{\"tool_input\": {\"command\": \"rm -rf /\"}}' '''\n",
    );
    let ran = run_bash_call(&sandbox, &["--guard"], "ls");
    assert_eq!((ran.code, ran.decision().as_str()), (2, "block"), "{ran:?}");
    assert_eq!(ran.json()["guard"]["rule"], "files.delete-root");
    assert_eq!(ran.statuses(), ["ok"]);
    assert_eq!(sandbox.read("ran"), "ran\n");
}

#[test]
fn settings_count_and_so_does_being_asked_for_it() {
    let strict = CliSandbox::with_frozen_clock().file("snell.toml", "[guard]\npreset = 'strict'\n");
    assert_eq!(run_bash_call(&strict, &["--guard"], "git push --force-with-lease").code, 2);
    // The flag on the command line applies even if `[handlers]` turns the guard off.
    let off = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", "[handlers]\nguard = false\n");
    assert_eq!(run_bash_call(&off, &["--guard"], "rm -rf /").code, 2);
    // An untrusted project cannot make anything milder.
    let project = CliSandbox::with_frozen_clock().file("snell.toml", "[guard.rules]\n'git.push-force' = 'allow'\n");
    assert_eq!(run_bash_call(&project, &["--guard"], "git push --force").code, 0);
    assert_eq!(run_bash_call(&project, &["--guard", "--require-trust"], "git push --force").code, 2);
}
