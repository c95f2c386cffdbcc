//! One machine on which Snell is a guest of an agent, and is asked by a host as well.

use serde_json::json;

use super::InstallHome;

const HOOK: &str = "[[hook]]\nevent = 'PreToolUse'\nrun = 'echo ran >> ran'\n";

#[test]
fn a_host_does_not_run_what_an_agent_is_told_to_call() {
    for way in [&["install", "claude"][..], &["install", "claude", "--notify"]] {
        let home = InstallHome::with_settings("{}").with_program_in_path();
        home.run_successfully(way);
        let sandbox = &home.sandbox;
        std::fs::write(sandbox.project().join("snell.toml"), HOOK).unwrap();
        let call = json!({"tool_name": "Read", "session_id": "s1"});
        let ran = sandbox.run_event("PreToolUse", &call);
        assert_eq!((ran.code, ran.hooks().len()), (0, 1), "{way:?}: {ran:?}");
        assert_eq!(sandbox.read("ran"), "ran\n", "{way:?}");
        assert!(!sandbox.database().exists(), "{way:?}");

        let listed = sandbox.run_snell(&["list"], "");
        assert_eq!(listed.stdout.lines().count(), 2, "{way:?}: {listed:?}");
        let note = "note: not listed: ";
        let notes = listed.stderr.lines().filter(|line| line.starts_with(note)).count();
        assert_eq!(notes, 1, "{way:?}: {listed:?}");

        let why = "it calls Snell itself, so only Claude Code runs it";
        let explain = ["explain", "PreToolUse", "--tool", "Read"];
        let explained = sandbox.run_snell(&explain, "");
        assert!(explained.stdout.contains(": 1 of 1 hook would run"), "{way:?}: {explained:?}");
        assert!(!explained.stdout.contains(why), "{way:?}: {explained:?}");
        let hint = "hint: to include them, add --all";
        assert!(explained.stderr.contains(note) && explained.stderr.contains(hint), "{way:?}: {explained:?}");
        let explained = sandbox.run_snell(&[&explain[..], &["--all"]].concat(), "");
        assert_eq!(explained.stdout.matches(why).count(), 1, "{way:?}: {explained:?}");
        assert!(!explained.stderr.contains(note), "{way:?}: {explained:?}");
        // Programs get all of them.
        let explained = sandbox.run_snell(&[&explain[..], &["--json"]].concat(), "").stdout;
        assert!(explained.contains(why), "{way:?}: {explained}");
    }
}

#[test]
fn somebody_elses_hook_of_a_like_name_runs() {
    let sandbox = crate::support::CliSandbox::new().script("snell-hook", "echo ran >> ran\n").hooks(
        ".claude/settings.json",
        &json!({"Stop": [{"hooks": [{"type": "command", "command": "./snell-hook hook"}]}]}),
    );
    let ran = sandbox.run_event("Stop", &json!({}));
    assert_eq!((ran.statuses(), sandbox.read("ran").as_str()), (vec!["ok".to_owned()], "ran\n"));
}
