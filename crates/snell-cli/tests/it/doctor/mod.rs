//! `snell doctor`: what it finds, what it proves, and that it leaves nothing behind.

mod every_agent;
mod read_only;
mod receiver;

use std::fs;

use serde_json::Value;
use snell_test_support::files::{set_file_mode, write_file, write_file_with_mode};
use snell_test_support::process::{CommandOutput, run_with_stdin};

use crate::install::InstallHome;

/// The findings, as `check level what | remedy`.
fn list_findings(ran: &CommandOutput) -> Vec<String> {
    let json = ran.json();
    let found: Vec<_> = json["findings"].as_array().unwrap().iter().map(format_finding).collect();
    let is_faulty = |one: &String| one.contains(" warning ") || one.contains(" problem ");
    assert_eq!(json["healthy"] == true, !found.iter().any(is_faulty), "{found:#?}");
    assert_eq!(ran.code, i32::from(json["healthy"] == false), "{found:#?}");
    found
}

fn format_finding(finding: &Value) -> String {
    let text = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    format!("{} {} {} | {}", text("check"), text("level"), text("what"), text("remedy"))
}

/// Asks the doctor, and answers what was found.
fn run_doctor(home: &InstallHome) -> Vec<String> {
    list_findings(&home.run_snell(&["doctor", "--json"]))
}

/// Everything that needs attention.
fn list_faults(home: &InstallHome) -> Vec<String> {
    let mut found = run_doctor(home);
    found.retain(|one| one.contains(" warning ") || one.contains(" problem "));
    found
}

/// A home in which it is installed, and `snell` is in PATH.
fn create_healthy_home() -> InstallHome {
    let home = InstallHome::with_settings("{\n  \"model\": \"opus\"\n}\n").with_program_in_path();
    home.run_successfully(&["install", "claude"]);
    home
}

#[test]
fn people_see_that_all_is_well() {
    let home = create_healthy_home();
    let ran = home.run_successfully(&["doctor"]);
    let root = home.sandbox.home().parent().unwrap().display().to_string();
    let shown = ran.stdout.replace(&root, "~");
    // Whether a receiver runs here is not up to the test.
    let lines = shown.lines().filter(|line| !line.starts_with("Receiver"));
    let shown: Vec<_> = lines.map(mask_duration).collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    Program        ok       ~/home/bin/snell, version 0.1.0
    Settings       ok       ~/home/.claude/settings.json (user): snell hook on 29 events
    Records        ok       database: ~/data/snell.db: no event has been recorded yet
                   ok       waiting: 0 events to be stored
                   ok       project: ~/project: no file needs trust
    Configuration  ok       0 hooks (without Snell's own) in 1 file, without problems: ~/home/.claude/settings.json
    Guard          ok       the guard judges every tool call with the preset standard; your settings change 0 rules and allow 0 commands
    Proof          ok       Notification by ~/home/bin/snell hook --agent claude: exit code 0, no answer, MANY ms; recorded
                   ok       PreToolUse by ~/home/bin/snell hook --agent claude: exit code 0, answers {"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"rm would delete everything on this machine (/). Name the one directory of the project to de…, MANY ms; `rm -rf /` is denied by files.delete-root, and that is recorded
                   note     these tests ran in a temporary home directory: nothing was added to your records or sent to your receiver

    No problems.
    "#);
}

#[test]
fn entries_of_snell_itself_do_not_count_as_hooks() {
    let other = "{\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"true\"}]}]}\n}\n";
    let home = InstallHome::with_settings(other).with_program_in_path();
    let counted = |home: &InstallHome| {
        let found = run_doctor(home);
        let line = found.into_iter().find(|one| one.starts_with("Configuration ok "));
        line.unwrap().split_once(", without problems: /").unwrap().0.to_owned()
    };
    assert_eq!(counted(&home), "Configuration ok 1 hook in 1 file");
    home.run_successfully(&["install", "claude"]);
    assert_eq!(counted(&home), "Configuration ok 1 hook (without Snell's own) in 1 file");
}

/// A line without how long its proof took.
fn mask_duration(line: &str) -> String {
    let Some((before, after)) = line.split_once(" ms;") else {
        return line.to_owned();
    };
    let before = before.trim_end_matches(|c: char| c.is_ascii_digit());
    format!("{before}MANY ms;{after}")
}

#[test]
fn what_is_wrong_is_found_and_what_to_do_is_said() {
    type InstallationFault = fn(&InstallHome);
    let cases: [(&str, InstallationFault, &str); 18] = [
        (
            "an event is missing",
            |home| {
                let text = home.read_settings();
                let kept = text.lines().filter(|line| !line.contains("\"PreCompact\""));
                fs::write(home.settings_path(), kept.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
            },
            "Settings warning ~/.claude/settings.json (user): snell hook on 28 events, but not on: PreCompact | run: snell install claude",
        ),
        (
            "the program is gone",
            |home| replace_in_settings(home, "/bin/snell\"", "/gone/snell\""),
            "Settings problem ~/.claude/settings.json:4: ~/gone/snell does not exist, so Snell is not called | run: snell install claude",
        ),
        (
            "the program cannot be run",
            |home| {
                let other = write_other_program(home, "exit 0", 0o644);
                replace_in_settings(
                    home,
                    &format!("{}/bin/snell\"", home.sandbox.home().display()),
                    &format!("{other}\""),
                );
            },
            "~/other/snell cannot be run, so Snell is not called | run: snell install claude",
        ),
        (
            "another program is registered",
            |home| {
                let other = write_other_program(home, "exit 0", 0o755);
                replace_in_settings(
                    home,
                    &format!("{}/bin/snell\"", home.sandbox.home().display()),
                    &format!("{other}\""),
                );
            },
            "Settings warning ~/.claude/settings.json:4: another program is called: ~/other/snell | to use this program, run: snell install claude",
        ),
        (
            "what is registered fails",
            |home| {
                let other = write_other_program(home, "echo broken >&2; exit 3", 0o755);
                replace_in_settings(
                    home,
                    &format!("{}/bin/snell\"", home.sandbox.home().display()),
                    &format!("{other}\""),
                );
            },
            "Proof problem Notification by ~/other/snell hook --agent claude: exit code 3, no answer,",
        ),
        (
            "what is registered records nothing",
            |home| {
                let other = write_other_program(home, "exit 0", 0o755);
                replace_in_settings(
                    home,
                    &format!("{}/bin/snell\"", home.sandbox.home().display()),
                    &format!("{other}\""),
                );
            },
            "nothing was recorded | if no line above explains this",
        ),
        (
            "hooks are switched off",
            |home| replace_in_settings(home, "\"opus\"", "\"opus\", \"disableAllHooks\": true"),
            "Switches problem ~/.claude/settings.json:2: \"disableAllHooks\" disables all hooks, including Snell's | remove it, or set it to false",
        ),
        (
            "the settings lead Snell elsewhere",
            |home| replace_in_settings(home, "\"opus\"", "\"opus\", \"env\": {\"XDG_CONFIG_HOME\": \"/elsewhere\"}"),
            "Environment problem ~/.claude/settings.json:2 (user): \"env\" sets XDG_CONFIG_HOME to \"/elsewhere\": Snell reads your snell.toml there | remove it, unless you set it yourself",
        ),
        (
            "a project sets variables of shells",
            |home| {
                write_file(
                    &home.sandbox.project().join(".claude/settings.json"),
                    "{\n  \"env\": {\n    \"BASH_ENV\": \"./x.sh\"\n  }\n}\n",
                );
            },
            "Environment warning ~project/.claude/settings.json:3 (project): \"env\" sets BASH_ENV to \"./x.sh\": shells run that file",
        ),
        (
            "a file means nothing",
            |home| write_file(&home.sandbox.project().join(".claude/settings.json"), "{\n  oops"),
            "Settings problem ~project/.claude/settings.json:2:3: is not valid JSON",
        ),
        (
            "two files call it",
            |home| drop(home.run_successfully(&["install", "claude", "--project", "--force"])),
            "Settings warning ~/.claude/settings.json and ~project/.claude/settings.json both call Snell, so events may be recorded twice | keep one, and remove the other: snell uninstall claude; or snell uninstall claude --project",
        ),
        (
            "one file calls it both ways",
            |home| {
                let handler = "{\"type\": \"command\", \"command\": \"~/.claude/hooks/notify-headspace.sh stop\"}";
                replace_in_settings(home, "\"Stop\": [", &format!("\"Stop\": [{{\"hooks\": [{handler}]}}, "));
            },
            "Settings warning ~/.claude/settings.json calls both `snell hook` and notify-headspace.sh, so events are recorded twice | run: snell install claude",
        ),
        (
            "an event is told only sometimes",
            |home| {
                replace_in_settings(
                    home,
                    "\"PreToolUse\": [{\"hooks\": [{",
                    "\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [{\"if\": \"Bash(git *)\", \"async\": true, ",
                )
            },
            "Settings warning ~/.claude/settings.json calls Snell on PreToolUse only for \"Bash\", PreToolUse only if \"Bash(git *)\", PreToolUse without waiting for the answer (async) | run: snell install claude",
        ),
        (
            "PATH has another one",
            |home| {
                fs::write(home.shadowing_program_path(), "#!/bin/sh\n").unwrap();
                set_file_mode(home.shadowing_program_path(), 0o755);
            },
            "Program warning `snell` in PATH is another program: ~/path/snell | remove one of them",
        ),
        (
            "the project is not trusted",
            |home| write_file(&home.sandbox.project().join("snell.toml"), "[[hook]]\nevent = 'Stop'\nrun = 'true'\n"),
            "Records warning snell.toml is not trusted, so its hook does not run in agents | review the file, then run `snell trust`",
        ),
        (
            "the configuration is wrong",
            |home| {
                write_file(
                    &home.sandbox.home().join(".config/snell/snell.toml"),
                    "[[hook]]\nevent = 'Stopp'\nrun = 'true'\n",
                )
            },
            "Configuration problem 1 error and 0 warnings in 2 files | run: snell lint",
        ),
        (
            "a page of the database is damaged",
            |home| {
                home.sandbox.send_hook_event("11:00:00", "SessionStart", serde_json::json!({}));
                let database = home.sandbox.open_database_with("PRAGMA wal_checkpoint(TRUNCATE)");
                let page = "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'hook_runs' LIMIT 1";
                let page: u32 = database.query_row(page, [], |row| row.get(0)).unwrap();
                let size: u32 = database.query_row("PRAGMA page_size", [], |row| row.get(0)).unwrap();
                drop(database);
                let mut bytes = fs::read(home.sandbox.database()).unwrap();
                let (start, end) = ((page - 1) * size, page * size);
                bytes[start as usize..end as usize].fill(0xff);
                fs::write(home.sandbox.database(), bytes).unwrap();
            },
            "Records problem ~data/snell.db is damaged:",
        ),
        (
            "a damaged database lies about",
            |home| {
                home.sandbox.send_hook_event("11:00:00", "SessionStart", serde_json::json!({}));
                fs::write(home.sandbox.data().join("snell.db.damaged-20260301T120000"), "x").unwrap();
            },
            "Records warning a damaged database was moved to ",
        ),
    ];
    for (name, harm, expected) in cases {
        let home = create_healthy_home();
        assert_eq!(list_faults(&home), [""; 0], "{name}");
        harm(&home);
        let found = list_faults(&home);
        let (project, own) = (home.sandbox.project(), home.sandbox.home());
        let shown: Vec<_> = found
            .iter()
            .map(|one| {
                one.replace(own.to_str().unwrap(), "~")
                    .replace(project.to_str().unwrap(), "~project")
                    .replace(home.sandbox.data().to_str().unwrap(), "~data")
            })
            .collect();
        assert!(shown.iter().any(|one| one.contains(expected)), "{name}: expected {expected}\n{shown:#?}");
    }
}

fn replace_in_settings(home: &InstallHome, from: &str, to: &str) {
    assert!(home.read_settings().contains(from), "{from} is not in {}", home.read_settings());
    fs::write(home.settings_path(), home.read_settings().replace(from, to)).unwrap();
}

/// Another program that is called `snell`.
fn write_other_program(home: &InstallHome, body: &str, mode: u32) -> String {
    let path = home.sandbox.home().join("other/snell");
    write_file_with_mode(&path, format!("#!/bin/sh\n{body}\n"), mode);
    path.to_str().unwrap().to_owned()
}

#[test]
fn what_is_worth_knowing_is_said_and_is_no_fault() {
    type NoteworthyChange = fn(&InstallHome);
    let cases: [(&str, NoteworthyChange, &str); 3] = [
        (
            "other tools",
            |home| {
                replace_in_settings(
                    home,
                    "\"Stop\": [",
                    "\"Stop\": [\n\"/my/script.sh\", {\"hooks\": [{\"type\": \"http\", \"url\": \"http://x\"}]}, ",
                )
            },
            "Neighbours note ~/.claude/settings.json:22: Stop also calls: http http://x",
        ),
        (
            "another agent",
            |home| fs::create_dir(home.sandbox.home().join(".cursor")).unwrap(),
            "Neighbours note Cursor may read the files of Claude Code too and call Snell; Snell answers it, but only on the events of Claude Code; to register it, run: snell install cursor",
        ),
        (
            "a shell in between",
            |home| {
                let exec =
                    format!("\"{}\", \"args\": [\"hook\", \"--agent\", \"claude\"]", home.program_path().display());
                replace_in_settings(home, &exec, &format!("\"{} hook --agent claude\"", home.program_path().display()));
            },
            "Snell is called through a shell, which takes twice as long",
        ),
    ];
    for (name, change, expected) in cases {
        let home = create_healthy_home();
        change(&home);
        assert_eq!(list_faults(&home), [""; 0], "{name}");
        let own = home.sandbox.home();
        let shown: Vec<_> = run_doctor(&home).iter().map(|one| one.replace(own.to_str().unwrap(), "~")).collect();
        assert!(shown.iter().any(|one| one.contains(expected)), "{name}: expected {expected}\n{shown:#?}");
    }
}

#[test]
fn a_program_that_is_not_in_path_works_all_the_same() {
    let home = create_healthy_home();
    let mut command = home.snell_command(&["doctor", "--json"]);
    command.env("PATH", "/usr/bin:/bin");
    let ran = run_with_stdin(&mut command, "");
    let found = list_findings(&ran);
    assert_eq!(ran.code, 0, "{found:#?}");
    assert!(found.iter().any(|one| one.contains("Program note PATH has no `snell`")), "{found:#?}");
}

#[test]
fn where_the_agent_is_and_snell_is_not_that_is_said() {
    let home = InstallHome::new();
    assert_eq!(list_faults(&home), [""; 0]);
    assert!(run_doctor(&home).iter().any(|one| one.contains("no known agent has been used here")));
    let home = InstallHome::with_settings("{}");
    assert_eq!(
        list_faults(&home),
        ["Settings warning Snell is not installed in Claude Code | run: snell install claude"]
    );
}

#[test]
fn a_directory_that_the_agent_does_not_trust_is_told_of() {
    let home = create_healthy_home();
    let project = home.sandbox.project();
    let held_back = |home: &InstallHome| {
        run_doctor(home).iter().any(|one| one.starts_with("Switches note Claude Code runs no hooks in"))
    };
    assert!(!held_back(&home));
    let parent = project.parent().unwrap();
    let cases = [
        (serde_json::json!({"projects": {}}), true),
        (serde_json::json!({"projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": false}}}), true),
        (serde_json::json!({"projects": {project.to_str().unwrap(): {"hasTrustDialogAccepted": true}}}), false),
        (serde_json::json!({"projects": {parent.to_str().unwrap(): {"hasTrustDialogAccepted": true}}}), false),
        (serde_json::json!([]), false),
    ];
    for (noted, expected) in cases {
        write_file(&home.sandbox.home().join(".claude.json"), noted.to_string());
        assert_eq!(held_back(&home), expected, "{noted}");
        assert_eq!(list_faults(&home), [""; 0]);
    }
}
