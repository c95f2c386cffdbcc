//! `snell init`: the questions, the file, the agents.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use snell_test_support::files::list_tree;
use snell_test_support::process::run_with_stdin;
use snell_test_support::skip::require_util_linux_script;

use super::{OWN_FILE, read_own_file, sandbox_without_agents};
use crate::support::CliSandbox;

fn sandbox_with_codex() -> CliSandbox {
    sandbox_without_agents().home_file(".codex/config.toml", "")
}

/// The file with the `#` of every example removed.
fn uncomment_examples(text: &str) -> String {
    let is_example =
        |line: &&str| line.strip_prefix('#').is_some_and(|rest| !rest.is_empty() && !rest.starts_with(' '));
    let lines = text.lines().map(|line| if is_example(&line) { &line[1..] } else { line });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn the_defaults_write_a_file_without_problems_and_install_in_the_agents_found() {
    for args in [&["init", "--yes"][..], &["init"]] {
        let sandbox = sandbox_with_codex();
        let ran = sandbox.run_snell(args, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.starts_with("Wrote ~/.config/snell/snell.toml\nCodex now calls Snell on "), "{ran:?}");
        assert!(sandbox.home().join(".codex/hooks.json").is_file());
        assert_eq!(ran.stdout.matches("snell doctor").count(), 1, "{ran:?}");
        for expected in [
            "(preset standard), except in Codex until you trust its hooks there with /hooks.\n",
            "  In Codex   questions are denied, because Codex cannot ask\n",
            "  To watch   snell config set guard.preset audit (judge and record only)\n",
        ] {
            assert!(ran.stdout.contains(expected), "{expected}: {ran:?}");
        }
        let text = read_own_file(&sandbox);
        assert!(text.contains("\npreset = \"standard\"\n"), "{text}");
        let mode = fs::metadata(sandbox.home().join(OWN_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let linted = sandbox.run_snell(&["lint"], "");
        assert!(linted.code == 0 && linted.stdout.starts_with("No problems in "), "{linted:?}");
    }
}

#[test]
fn every_example_in_the_files_is_valid() {
    let sandbox = sandbox_without_agents();
    for (args, path) in [
        (&["init", "--yes"][..], sandbox.home().join(OWN_FILE)),
        (&["init", "--yes", "--project"], sandbox.project().join("snell.toml")),
    ] {
        let ran = sandbox.run_snell(args, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        let text = fs::read_to_string(&path).unwrap();
        let all = uncomment_examples(&text);
        assert!(all.contains("\n[[hook]]\n") && all.lines().count() == text.lines().count(), "{all}");
        fs::write(&path, &all).unwrap();
        let linted = sandbox.run_snell(&["lint"], "");
        assert!(linted.code == 0 && linted.stdout.starts_with("No problems in "), "{linted:?}\n{all}");
        fs::remove_file(&path).unwrap();
    }
}

#[test]
fn audit_can_follow_init_and_the_file_is_restored_by_uninstall() {
    for args in [&["install", "--audit"][..], &["install", "codex", "--audit"]] {
        let sandbox = sandbox_with_codex();
        assert_eq!(sandbox.run_snell(&["init", "--yes"], "").code, 0);
        let before = read_own_file(&sandbox);
        let ran = sandbox.run_snell(args, "");
        assert!(
            ran.code == 0 && ran.stdout.contains("preset = \"audit\" under [guard], so the guard stops no calls."),
            "{ran:?}"
        );
        assert!(read_own_file(&sandbox).contains("\npreset = \"audit\" # by snell install --audit"), "{ran:?}");
        let again = sandbox.run_snell(args, "");
        assert!(again.code == 0 && again.stdout.contains("already has preset = \"audit\"."), "{again:?}");
        let removed = sandbox.run_snell(&["uninstall", "codex"], "");
        assert_eq!(removed.code, 0, "{removed:?}");
        assert_eq!(read_own_file(&sandbox), before);
        let own = sandbox.home().join(OWN_FILE);
        let kept = format!("  Kept       {} (your settings)\n", own.display());
        assert!(removed.stdout.contains(&kept) && removed.stdout.contains("  To remove  rm -r "), "{removed:?}");
    }
}

#[test]
fn options_answer_the_questions() {
    let sandbox = sandbox_with_codex();
    let ran = sandbox.run_snell(&["init", "--agents", "claude,opencode", "--guard", "strict"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(read_own_file(&sandbox).contains("\npreset = \"strict\"\n"));
    assert!(sandbox.home().join(".claude/settings.json").is_file());
    assert!(!sandbox.home().join(".codex/hooks.json").exists());
    let none = sandbox_with_codex();
    let ran = none.run_snell(&["init", "--agents", "none"], "");
    assert!(ran.code == 0 && ran.stdout.contains("No agent was changed."), "{ran:?}");
    assert!(!none.home().join(".codex/hooks.json").exists());
}

#[test]
fn a_wrong_answer_is_an_error_with_a_hint_and_changes_nothing() {
    let sandbox = sandbox_with_codex();
    let before = list_tree(&sandbox.home());
    for (args, expected) in [
        (&["--agents", "codx"][..], "error: Snell knows no agent \"codx\"\nhint: did you mean \"codex\"?"),
        (&["--guard", "stict"], "error: --guard cannot be \"stict\"\nhint: did you mean \"strict\"?"),
        (&["--approve", "all"], "error: --approve cannot be \"all\"\nhint: use off, read or project"),
        (&["--guard", "x"], "error: --guard cannot be \"x\"\nhint: use standard, strict or audit"),
        (&["--project", "--guard", "audit"], "; nothing was changed\n"),
        (&["--project", "/nowhere"], "the project /nowhere is not a directory"),
    ] {
        let ran = sandbox.run_snell(&[&["init"], args].concat(), "");
        assert!(ran.code == 1 && ran.stderr.contains(expected), "{args:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    assert_eq!(list_tree(&sandbox.home()), before);
    assert!(!sandbox.exists("snell.toml"));
}

#[test]
fn an_existing_file_is_replaced_only_by_force_and_kept_as_a_backup() {
    let own = "keep = \"1d\" # mine\n";
    let sandbox = sandbox_with_codex().home_file(OWN_FILE, own);
    let kept = sandbox.run_snell(&["init", "--yes"], "");
    assert!(kept.code == 0 && kept.stdout.starts_with("Nothing to do: ~/.config/snell/snell.toml exists"), "{kept:?}");
    assert_eq!(read_own_file(&sandbox), own);
    let refused = sandbox.run_snell(&["init", "--guard", "strict"], "");
    let expected = "error: ~/.config/snell/snell.toml exists already, so nothing was changed\n\
                    hint: change it with `snell config edit` or `snell config set KEY VALUE`, or pass --force to replace it\n";
    assert_eq!((refused.code, refused.stderr.as_str()), (1, expected));
    assert_eq!(read_own_file(&sandbox), own);
    assert!(!sandbox.home().join(".codex/hooks.json").exists());
    let forced = sandbox.run_snell(&["init", "--force", "--agents", "none"], "");
    assert_eq!(forced.code, 0, "{forced:?}");
    assert!(read_own_file(&sandbox).contains("preset"));
    assert_eq!(fs::read_to_string(sandbox.home().join(".config/snell/snell.toml.before-snell")).unwrap(), own);
    fs::write(sandbox.home().join(OWN_FILE), own.replace("1d", "2d")).unwrap();
    let again = sandbox.run_snell(&["init", "--force", "--agents", "none"], "");
    assert!(again.code == 1 && again.stderr.contains("is a backup of an earlier file"), "{again:?}");
    assert_eq!(read_own_file(&sandbox), own.replace("1d", "2d"));
}

#[test]
fn a_dry_run_shows_everything_and_writes_nothing() {
    let sandbox = sandbox_with_codex();
    let before = list_tree(&sandbox.home());
    let ran = sandbox.run_snell(&["init", "--yes", "--dry-run", "--guard", "audit"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("Would write ~/.config/snell/snell.toml:\n\n# Snell's settings"), "{ran:?}");
    assert!(ran.stdout.contains("\npreset = \"audit\"\n") && ran.stdout.contains(".codex/hooks.json\n"), "{ran:?}");
    assert_eq!(list_tree(&sandbox.home()), before);
}

#[test]
fn a_project_gets_a_file_of_its_own_and_its_agents_only_on_request() {
    let sandbox = sandbox_with_codex();
    fs::create_dir_all(sandbox.project().join(".git")).unwrap();
    fs::create_dir(sandbox.project().join("src")).unwrap();
    let mut command = sandbox.command(&["init", "--project", "--guard", "strict"]);
    let ran = run_with_stdin(command.current_dir(sandbox.project().join("src")), "");
    assert!(ran.code == 0 && ran.stdout.contains("  To use it  snell trust\n"), "{ran:?}");
    let text = sandbox.read("snell.toml");
    assert!(text.contains("\npreset = \"strict\"\n"), "{text}");
    assert!(!sandbox.home().join(".codex/hooks.json").exists() && !sandbox.home().join(OWN_FILE).exists());
    let other = sandbox_with_codex();
    let ran = other.run_snell(&["init", "--project", "--agents", "claude"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(other.exists(".claude/settings.json") && other.read("snell.toml").contains("\n#preset = \"strict\"\n"));
    let refused = other.run_snell(&["init", "--project", "--notify", "desktop"], "");
    assert!(refused.code == 1 && refused.stderr.contains("cannot be used with"), "{refused:?}");
}

/// A version whose schema has no `[notify]` refuses.
#[test]
fn notices_are_chosen_by_name_or_url() {
    let schema = sandbox_without_agents().run_snell(&["docs", "schema-config"], "").json();
    let can_notify = schema["properties"]["notify"].is_object();
    for (how, line) in [
        ("none", "\n#desktop = true\n#ntfy = "),
        ("desktop", "\ndesktop = true\n#ntfy = "),
        ("https://ntfy.example/a?b=\"c\"", "\n#desktop = true\nntfy = \"https://ntfy.example/a?b=\\\"c\\\"\"\n"),
    ] {
        let sandbox = sandbox_without_agents();
        let ran = sandbox.run_snell(&["init", "--yes", "--notify", how], "");
        if can_notify {
            assert!(ran.code == 0 && read_own_file(&sandbox).contains(line), "{ran:?}");
            assert_eq!(sandbox.run_snell(&["lint"], "").code, 0, "{how}");
        } else if how != "none" {
            assert!(ran.code == 1 && ran.stderr.contains("this version cannot notify you"), "{ran:?}");
        }
    }
    let wrong = sandbox_without_agents().run_snell(&["init", "--yes", "--notify", "pigeon"], "");
    assert!(wrong.code == 1 && wrong.stderr.contains("hint: "), "{wrong:?}");
}

#[test]
fn at_a_terminal_it_asks_until_each_answer_is_valid() {
    let Some(script) = require_util_linux_script() else {
        return;
    };
    let sandbox = sandbox_with_codex();
    let ask = |options: &str, answers: &str| {
        let mut command = sandbox.program(&script);
        command
            .args(["--quiet", "--return", "--command"])
            .arg(format!("{} init {options}", env!("CARGO_BIN_EXE_snell")));
        command.arg("/dev/null").env("SHELL", "/bin/sh").env("TERM", "xterm").env("NO_COLOR", "1");
        run_with_stdin(&mut command, answers).stdout.replace('\r', "")
    };
    let shown = ask("--notify none", "codx\nnone\nvery\nstrict\nall\nread\n");
    for expected in [
        "Agents on this machine: codex\n",
        "Install Snell in which of them? all, none, or names [all]: ",
        "Snell knows no agent \"codx\"",
        "How strict is the guard?\n  standard   denies disasters, asks about risks\n  strict     denies instead of asking\n  \
         audit      only judges and records, stops nothing\nstandard, strict or audit [standard]: ",
        "the guard cannot be \"very\"",
        "Which harmless calls does the guard approve, so that agents ask less?\n  off        agents ask as they do now\n",
        "off, read or project [off]: ",
        "the guard's approval cannot be \"all\"",
        "Wrote ~/.config/snell/snell.toml\nNo agent was changed.",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert!(read_own_file(&sandbox).contains("\npreset = \"strict\"\n"));
    assert!(read_own_file(&sandbox).contains("\napprove = \"read\"\n"));
    fs::remove_file(sandbox.home().join(OWN_FILE)).unwrap();
    let shown = ask("--yes", "");
    assert!(!shown.contains('?') && shown.contains("Codex now calls Snell on "), "{shown}");
    assert!(read_own_file(&sandbox).contains("\npreset = \"standard\"\n"));
}
