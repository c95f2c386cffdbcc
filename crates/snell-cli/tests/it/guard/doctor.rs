//! `snell doctor`: proves that the guard denies, and reports faults of its settings.

use std::fs;

use serde_json::Value;
use snell_test_support::files::set_file_mode;

use crate::install::InstallHome;

/// The findings of the doctor about the guard.
fn list_guard_findings(home: &InstallHome) -> Vec<String> {
    let json = home.run_snell(&["doctor", "--json"]).json();
    let found = json["findings"].as_array().unwrap().iter();
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let words = found.map(|one| {
        let [check, level, what, remedy] = ["check", "level", "what", "remedy"].map(|key| text(one, key));
        format!("{check} {level} {what} | {remedy}")
    });
    words.filter(|one| one.starts_with("Guard ") || one.contains("PreToolUse")).collect()
}

fn create_installed_home() -> InstallHome {
    let home = InstallHome::with_settings("{}").with_program_in_path();
    home.run_successfully(&["install", "claude"]);
    home
}

fn write_user_config(home: &InstallHome, text: &str) {
    let directory = home.sandbox.home().join(".config/snell");
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("snell.toml"), text).unwrap();
}

#[test]
fn the_doctor_proves_that_what_is_registered_says_no() {
    let found = list_guard_findings(&create_installed_home());
    let proof = found.iter().find(|one| one.starts_with("Proof ")).unwrap();
    assert!(
        proof.starts_with("Proof ok PreToolUse by ")
            && proof.contains("\"permissionDecision\":\"deny\"")
            && proof.contains("`rm -rf /` is denied by files.delete-root, and that is recorded"),
        "{found:#?}"
    );
    let guard = found.iter().find(|one| one.starts_with("Guard ")).unwrap();
    assert!(guard.starts_with("Guard ok the guard judges every tool call with the preset standard; "), "{guard}");
}

#[test]
fn with_the_preset_audit_the_proof_says_that_calls_are_not_denied() {
    let home = create_installed_home();
    write_user_config(&home, "[guard]\npreset = 'audit'\n");
    let found = list_guard_findings(&home);
    let proof = found.iter().find(|one| one.starts_with("Proof ok PreToolUse ")).unwrap();
    assert!(proof.contains("`rm -rf /` would be denied by files.delete-root (preset audit)"), "{proof}");
    assert!(!proof.contains("is denied"), "{proof}");
}

#[test]
fn what_the_milder_default_means_for_older_settings_is_reported_once() {
    let find = |home: &InstallHome| {
        let found = list_guard_findings(home).into_iter();
        found.filter(|one| one.contains("now asks about")).collect::<Vec<_>>()
    };
    // A setup that begins with this version has no settings from before.
    for first in [&["install", "claude"][..], &["init", "--yes", "--agents", "claude"]] {
        let new = InstallHome::with_settings("{}").with_program_in_path();
        new.run_successfully(first);
        assert_eq!(find(&new), Vec::<String>::new(), "{first:?}");
        write_user_config(&new, "[guard]\nprotect = ['~/notes']\n");
        assert_eq!(find(&new), Vec::<String>::new(), "{first:?}");
    }
    let home = InstallHome::with_settings("{}").with_program_in_path();
    write_user_config(&home, "keep = '9d'\n[guard]\npreset = 'strict'\n");
    home.run_successfully(&["install", "claude"]);
    for settings in ["[guard]\npreset = 'claude-os'\n", "[guard]\npreset = 'strict'\n", "[handlers]\nguard = false\n"] {
        write_user_config(&home, settings);
        assert_eq!(find(&home), Vec::<String>::new(), "{settings}");
    }
    write_user_config(&home, "[guard]\nprotect = ['~/notes']\n");
    let found = find(&home);
    let [note] = found.as_slice() else { panic!("{found:?}") };
    assert!(note.starts_with("Guard note the preset standard now asks about "), "{note}");
    assert!(note.contains("privilege.raise") && note.contains("git.reset-hard"), "{note}");
    assert!(!note.contains("git.push-force,") && note.contains("preset = \"claude-os\""), "{note}");
    assert_eq!(find(&home), Vec::<String>::new());
}

#[test]
fn a_guard_that_is_off_is_not_reported_as_judging() {
    let of_the_guard =
        |home: &InstallHome| list_guard_findings(home).into_iter().find(|one| one.starts_with("Guard ")).unwrap();
    let home = InstallHome::new();
    let none = "Guard note the guard judges no tool calls, because no agent calls Snell;";
    assert!(of_the_guard(&home).starts_with(none), "{}", of_the_guard(&home));
    let ran = home.run_snell(&["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let last = ran.stdout.lines().last().unwrap();
    assert!(
        last.starts_with("No problems, but no agent calls Snell yet.") && last.ends_with("snell install"),
        "{last}"
    );
    let home = InstallHome::with_settings("{}").with_program_in_path();
    home.run_successfully(&["install", "claude", "--notify"]);
    let told = "Guard note the guard judges no tool calls, because Snell only forwards events;";
    assert!(of_the_guard(&home).starts_with(told), "{}", of_the_guard(&home));
}

#[test]
fn a_program_that_lets_everything_pass_is_found() {
    let home = create_installed_home();
    let other = home.sandbox.home().join("other");
    fs::create_dir(&other).unwrap();
    let program = other.join("snell");
    fs::write(&program, "#!/bin/sh\ncat > /dev/null\n").unwrap();
    set_file_mode(&program, 0o755);
    let settings = home.read_settings().replace(home.program_path().to_str().unwrap(), program.to_str().unwrap());
    fs::write(home.settings_path(), settings).unwrap();
    let found = list_guard_findings(&home);
    assert!(
        found
            .iter()
            .any(|one| one.starts_with("Proof problem PreToolUse by ") && one.contains("`rm -rf /` is not denied")),
        "{found:#?}"
    );
}

#[test]
fn hooks_of_the_project_do_not_hear_of_the_proof() {
    let home = create_installed_home();
    let mark = home.sandbox.home().join("called");
    let hook = format!("[[hook]]\nevent = 'PreToolUse'\nrun = 'touch {}'\n", mark.display());
    fs::write(home.sandbox.project().join("snell.toml"), &hook).unwrap();
    write_user_config(&home, &hook);
    home.run_successfully(&["trust"]);
    let found = list_guard_findings(&home);
    assert!(found.iter().any(|one| one.starts_with("Proof ok PreToolUse by ")), "{found:#?}");
    assert!(!mark.exists());
}

#[test]
fn faults_of_the_settings_are_reported() {
    let cases = [
        (
            "[handlers]\nguard = false\n",
            "Guard warning the guard is disabled, so it judges no tool calls | remove `guard = false` from [handlers] in your \
             own snell.toml",
        ),
        (
            "[guard]\npreset = 'audit'\n",
            "Guard note ~/.config/snell/snell.toml:2:10: the guard only watches: it judges and records every tool \
             call, and stops none | ",
        ),
        (
            "[guard]\non_failure = 'allow'\n",
            "Guard warning ~/.config/snell/snell.toml:2:14: calls that the guard fails to judge are allowed | remove \
             `on_failure = \"allow\"`, or set it to \"ask\"",
        ),
        (
            "[guard.rules]\n'git.force-push' = 'ask'\n",
            "Guard warning ~/.config/snell/snell.toml:2:1: unknown rule \"git.force-push\", so this setting has no \
             effect | did you mean \"git.push-force\"?",
        ),
        (
            "[[guard.allow]]\ncommand = 'make deploy'\nreason = 'spring'\nuntil = '2026-02-28'\n",
            "Guard warning ~/.config/snell/snell.toml:2:11: \"make deploy\" was allowed only until 2026-02-28 | remove the \
             entry, or set a later date",
        ),
    ];
    let home = create_installed_home();
    for (text, expected) in cases {
        write_user_config(&home, text);
        let found = list_guard_findings(&home);
        assert!(found.iter().any(|one| one == expected), "{text}: {found:#?}");
    }
}
