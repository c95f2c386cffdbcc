//! Which file is written: the user's, a project's, and what happens if there are several.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::json;
use snell_test_support::files::{list_tree, snapshot_file};

use super::{InstallHome, list_handlers};

#[test]
fn what_is_not_there_is_made_and_taken_away_again() {
    let cases = [(&["--notify"][..], ".claude/settings.json"), (&[], ".claude/settings.json")];
    for (options, file) in cases {
        let home = InstallHome::new();
        let before = list_tree(&home.sandbox.home());
        home.run_successfully(&[&["install", "claude"], options].concat());
        let settings = home.sandbox.home().join(file);
        assert_eq!(snapshot_file(&settings).mode, 0o600);
        let mode = fs::metadata(settings.parent().unwrap()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700);
        assert!(!settings.with_file_name("settings.json.before-snell").exists());
        let ran = home.run_successfully(&["uninstall", "claude"]);
        assert!(ran.stdout.contains("it did not exist before Snell"), "{ran:?}");
        assert_eq!(list_tree(&home.sandbox.home()), before, "{options:?}");
    }
}

#[test]
fn what_was_made_stays_if_its_user_has_put_something_into_it() {
    let home = InstallHome::new();
    home.run_successfully(&["install", "claude"]);
    fs::write(home.settings_path(), home.read_settings().replacen('{', "{\n  \"model\": \"opus\",", 1)).unwrap();
    home.run_successfully(&["uninstall", "claude"]);
    assert_eq!(home.read_settings(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn a_project_has_files_of_its_own() {
    let home = InstallHome::new();
    let project = home.sandbox.project();
    let elsewhere = home.sandbox.home().join("other project");
    fs::create_dir(&elsewhere).unwrap();
    let cases = [
        (vec!["--project"], project.join(".claude/settings.json")),
        (vec!["--project", "--local"], project.join(".claude/settings.local.json")),
        (vec!["--local"], project.join(".claude/settings.local.json")),
        (vec!["--project", elsewhere.to_str().unwrap()], elsewhere.join(".claude/settings.json")),
    ];
    for (options, file) in cases {
        home.run_successfully(&[&["install", "claude"][..], &options].concat());
        assert!(file.exists() && !home.settings_path().exists(), "{options:?}");
        home.run_successfully(&[&["uninstall", "claude"][..], &options].concat());
        assert!(!file.parent().unwrap().exists(), "{options:?}");
    }
    // The script is the user's wherever it is called from.
    home.run_successfully(&["install", "claude", "--notify", "--project"]);
    assert!(home.notify_script_path().exists() && !project.join(".claude/hooks").exists());
    home.run_successfully(&["uninstall", "claude", "--project"]);
    assert!(!home.notify_script_path().exists() && !home.settings_path().parent().unwrap().exists());
}

#[test]
fn a_project_that_is_shared_is_readable_for_others_and_one_s_own_settings_are_not() {
    for (options, mode) in [(&["--project"][..], 0o644), (&["--local"], 0o600)] {
        let home = InstallHome::new();
        let mut command = home.sandbox.program("/bin/sh");
        command
            .args(["-c", "umask 022; exec \"$@\"", "sh"])
            .arg(home.program_path())
            .args(["install", "claude"])
            .args(options);
        assert!(command.output().unwrap().status.success());
        let directory = home.sandbox.project().join(".claude");
        let file = fs::read_dir(&directory).unwrap().flatten().next().unwrap().path();
        assert_eq!(snapshot_file(&file).mode, mode, "{options:?}");
    }
}

#[test]
fn the_agents_own_variable_says_where_its_directory_is() {
    let home = InstallHome::new();
    let directory = home.sandbox.home().join("elsewhere");
    let mut command = home.snell_command(&["install", "claude", "--notify"]);
    command.env("CLAUDE_CONFIG_DIR", &directory);
    let output = command.output().unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).unwrap();
    let undo = format!("To undo    CLAUDE_CONFIG_DIR='{}' snell uninstall claude\n", directory.display());
    assert!(said.contains(&undo), "{said}");
    assert!(directory.join("settings.json").exists() && directory.join("hooks/notify-headspace.sh").exists());
    assert!(!home.settings_path().exists());
}

#[test]
fn in_two_files_at_once_it_is_refused_unless_that_is_wanted() {
    let home = InstallHome::with_settings("{}");
    home.run_successfully(&["install", "claude"]);
    let ran = home.run_snell(&["install", "claude", "--project"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains(
            "calls snell hook too, so events may be recorded twice\nhint: remove it there (snell uninstall claude), or pass --force"
        ),
        "{ran:?}"
    );
    assert!(!home.sandbox.exists(".claude"));
    let ran = home.run_successfully(&["install", "claude", "--project", "--notify", "--force"]);
    assert!(ran.stderr.contains("events may be recorded twice"), "{ran:?}");
    let ran = home.run_snell(&["install", "claude", "--notify"]);
    assert!(ran.code == 1 && ran.stderr.contains("calls notify-headspace.sh too"), "{ran:?}");
    // What is installed already stays installed, and is said to be.
    let ran = home.run_successfully(&["install", "claude"]);
    assert!(ran.stdout.starts_with("Nothing to do") && ran.stderr.contains("recorded twice"), "{ran:?}");
    // The script is needed until nobody calls it.
    home.run_successfully(&["install", "claude", "--notify", "--force"]);
    let ran = home.run_successfully(&["uninstall", "claude"]);
    assert!(ran.stderr.contains("stays, because"), "{ran:?}");
    assert!(home.notify_script_path().exists());
    home.run_successfully(&["uninstall", "claude", "--project"]);
    assert!(!home.notify_script_path().exists());
}

#[test]
fn in_the_home_directory_the_users_file_is_the_projects_too() {
    let home = InstallHome::new();
    let mut command = home.snell_command(&["install", "claude"]);
    command.current_dir(home.sandbox.home());
    for _ in 0..2 {
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn a_file_of_another_project_counts_if_it_is_read_together_with_this_one() {
    let home = InstallHome::new();
    let elsewhere = home.sandbox.home().join("it's another");
    fs::create_dir(&elsewhere).unwrap();
    let other = elsewhere.to_str().unwrap();
    home.run_successfully(&["install", "claude", "--project", other]);
    let ran = home.run_snell(&["install", "claude", "--notify"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let undo = format!("snell uninstall claude --project '{}'", other.replace('\'', "'\\''"));
    assert!(
        ran.stderr.contains("another/.claude/settings.json calls snell hook too") && ran.stderr.contains(&undo),
        "{ran:?}"
    );
    // Two projects are never read together.
    home.run_successfully(&["install", "claude", "--notify", "--project"]);
    home.run_successfully(&["uninstall", "claude", "--project"]);
    let doctor = home.run_snell(&["doctor"]);
    assert!(!doctor.stdout.contains("recorded twice"), "{doctor:?}");
    let ran = home.run_successfully(&["install", "claude", "--notify", "--force"]);
    assert!(ran.stderr.contains("recorded twice"), "{ran:?}");
    let doctor = home.run_snell(&["doctor"]);
    assert!(
        doctor.stdout.contains("another/.claude/settings.json both call Snell, so events may be recorded twice"),
        "{doctor:?}"
    );
    home.run_successfully(&["uninstall", "claude"]);
    // One that is gone does not count.
    fs::remove_dir_all(&elsewhere).unwrap();
    home.run_successfully(&["install", "claude", "--notify"]);
    // Nor does the user's file of another directory, but for projects.
    let mut command = home.snell_command(&["install", "claude"]);
    command.env("CLAUDE_CONFIG_DIR", home.sandbox.home().join("second"));
    assert!(command.output().unwrap().status.success());
    home.run_successfully(&["uninstall", "claude"]);
    let ran = home.run_snell(&["install", "claude", "--project"]);
    assert!(
        ran.code == 1
            && ran.stderr.contains("remove it there (CLAUDE_CONFIG_DIR='")
            && ran.stderr.contains("second' snell"),
        "{ran:?}"
    );
}

#[test]
fn a_program_is_registered_by_the_path_that_stays_whatever_is_in_it() {
    for name in ["plain", "with blanks", "it's \"quoted\"", "größe-\u{1f980}", "back\\slash", "$HOME `x`"] {
        let home = InstallHome::with_settings("{}");
        let directory = home.sandbox.home().join(name);
        fs::create_dir(&directory).unwrap();
        let program = directory.join("snell");
        symlink(env!("CARGO_BIN_EXE_snell"), &program).unwrap();
        let mut command = home.sandbox.program(&program);
        command.args(["install", "claude"]);
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let found = list_handlers(&home.read_settings());
        assert!(found.iter().all(|(_, command, _)| command == program.to_str().unwrap()), "{found:?}");
    }
    // Called by its name alone it is the link in PATH that stays, and not what it leads to.
    let home = InstallHome::with_settings("{}");
    let mut command = home.sandbox.program("/bin/sh");
    command.args(["-c", "cd \"$HOME\" && PATH=\"$HOME/bin:$PATH\" && snell install claude"]);
    let output = command.output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(
        list_handlers(&home.read_settings())
            .iter()
            .all(|(_, command, _)| *command == home.program_path().to_str().unwrap())
    );
}

#[test]
fn a_build_that_may_go_away_is_registered_with_a_warning() {
    let home = InstallHome::with_settings("{}");
    let build = home.sandbox.home().join("target/debug");
    fs::create_dir_all(&build).unwrap();
    symlink(env!("CARGO_BIN_EXE_snell"), build.join("snell")).unwrap();
    let mut command = home.sandbox.program(build.join("snell"));
    command.args(["install", "claude"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cargo clean"), "{output:?}");
}

#[test]
fn a_file_with_another_name_is_replaced_under_this_one_and_that_is_said() {
    let home = InstallHome::with_settings("{}");
    let other = home.sandbox.home().join("other.json");
    fs::hard_link(home.settings_path(), &other).unwrap();
    let ran = home.run_successfully(&["install", "claude"]);
    assert!(ran.stderr.contains("has other hard links"), "{ran:?}");
    assert_eq!(fs::read_to_string(other).unwrap(), "{}");
}

#[test]
fn where_nothing_is_installed_nothing_is_removed_and_nothing_is_made() {
    for text in [None, Some("{}"), Some("{\"hooks\": 1}"), Some("{\"hooks\": {\"Stop\": [1, \"x\", {\"hooks\": 2}]}}")]
    {
        let home = text.map_or_else(InstallHome::new, InstallHome::with_settings);
        let before = list_tree(home.sandbox.home().parent().unwrap());
        let ran = home.run_successfully(&["uninstall", "claude"]);
        assert!(ran.stdout.starts_with("Nothing to do: Snell is not installed in"), "{ran:?}");
        assert_eq!(list_tree(home.sandbox.home().parent().unwrap()), before);
    }
    let home = InstallHome::new();
    home.run_successfully(&["install", "claude", "--project"]);
    let ran = home.run_successfully(&["uninstall", "claude"]);
    assert!(ran.stderr.contains("to remove it there: snell uninstall claude --project"), "{ran:?}");
}

#[test]
fn people_are_told_what_was_done_and_programs_too() {
    let home = InstallHome::with_settings("{}");
    let ran = home.run_successfully(&["install", "claude"]);
    let shown = ran.stdout.replace(home.sandbox.home().to_str().unwrap(), "~");
    insta::assert_snapshot!(shown, @"
    Claude Code now calls Snell on 29 events: ~/bin/snell hook
      Settings   ~/.claude/settings.json
      Backup     ~/.claude/settings.json.before-snell
      To undo    snell uninstall claude
    The guard judges every tool call from now on (preset standard).
      Denies     81 rules: rm -rf /, snell trust, cat .env, psql -c 'DROP DATABASE app', git push -f origin main, …
      Asks       77 rules: sudo ls, pkill node, terraform destroy, git reset --hard, …
      All rules  snell guard rules
      To watch   snell config set guard.preset audit (judge and record only)
      Ask less   snell config set guard.approve read (agents need not ask about calls that change nothing)
      To check   snell doctor
    ");
    let ran = home.run_successfully(&["install", "claude", "--notify"]);
    let shown = ran.stdout.replace(home.sandbox.home().to_str().unwrap(), "~");
    insta::assert_snapshot!(shown, @"
    Claude Code now calls Snell on 8 events: ~/.claude/hooks/notify-headspace.sh
      Settings   ~/.claude/settings.json
      Script     ~/.claude/hooks/notify-headspace.sh
      To undo    snell uninstall claude
      To check   snell doctor
    ");
    let json = home.run_successfully(&["install", "claude", "--json"]).json();
    assert_eq!(json["way"], "hook");
    assert_eq!(json["events"].as_array().unwrap().len(), 29);
    assert_eq!(json["removed_script"], json!(home.notify_script_path()));
    assert_eq!((&json["changed"], &json["created"], &json["dry_run"]), (&json!(true), &json!(false), &json!(false)));
    let json = home.run_successfully(&["uninstall", "claude", "--json"]).json();
    assert_eq!((&json["changed"], &json["restored"], &json["removed"]), (&json!(true), &json!(true), &json!(false)));
    assert_eq!(home.read_settings(), "{}");
}

#[test]
fn audit_is_written_to_the_users_settings_and_taken_away_again() {
    let home = InstallHome::with_settings("{}");
    let settings = home.sandbox.home().join(".config/snell/snell.toml");
    let ran = home.run_successfully(&["install", "claude", "--audit", "--dry-run"]);
    assert!(ran.stdout.contains("+preset = \"audit\"") && !settings.exists(), "{ran:?}");
    let ran = home.run_successfully(&["install", "claude", "--audit"]);
    assert!(ran.stdout.starts_with("Created ") && ran.stdout.contains("stops none (preset audit)"), "{ran:?}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), "[guard]\npreset = \"audit\" # by snell install --audit\n");
    // Another agent still calls Snell.
    home.run_successfully(&["install", "codex"]);
    home.run_successfully(&["uninstall", "codex"]);
    assert!(settings.exists());
    home.run_successfully(&["uninstall", "claude"]);
    assert!(!settings.exists());
    // A preset that its user wrote or changed stays, and so does the rest of the file.
    for before in [
        "[guard]\npreset = \"audit\"\n",
        "# mine\n",
        // The default is replaced, and restored byte for byte.
        "[guard]\npreset = \"standard\"\nprotect = [\"a\"]\n",
        "[guard]\n  preset  =  'standard'  # mine\n",
        "guard.preset = \"standard\"",
    ] {
        fs::create_dir_all(settings.parent().unwrap()).unwrap();
        fs::write(&settings, before).unwrap();
        let ran = home.run_successfully(&["install", "claude", "--audit"]);
        assert!(ran.stdout.contains("stops none (preset audit)"), "{before}: {ran:?}");
        home.run_successfully(&["uninstall", "claude"]);
        let after = fs::read_to_string(&settings).unwrap();
        assert!(after == before || (before == "# mine\n" && after.trim_end() == "# mine"), "{before}: {after}");
    }
    // Another preset stays, and the default stays where no comment can mark the change.
    for (before, chosen) in
        [("[guard]\npreset = \"strict\"\n", "\"strict\""), ("guard = { preset = \"standard\" }\n", "\"standard\"")]
    {
        fs::write(&settings, before).unwrap();
        let ran = home.run_snell(&["install", "claude", "--audit"]);
        assert!(ran.code != 0 && ran.stderr.contains(&format!("already has preset = {chosen}\nhint: ")), "{ran:?}");
        assert!(ran.stderr.contains("`snell config set guard.preset audit`"), "{ran:?}");
        assert_eq!(fs::read_to_string(&settings).unwrap(), before);
        assert_eq!(home.read_settings(), "{}");
    }
}
