//! `snell config`: reads and changes single settings.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};
use snell_test_support::files::{list_tree, set_file_mode, write_script};
use snell_test_support::process::run_with_stdin;
use snell_test_support::skip::require_util_linux_script;

use super::{OWN_FILE, read_own_file};
use crate::support::CliSandbox;

/// A file with comments, odd spacing and every form of table.
const LAYOUT: &str = "# My settings.   \n\nkeep   =  \"10d\"   # ten days\n\n[guard]  # strict?\npreset = \"standard\"\n\n\n\
                      rules = { \"git.clean\" = \"ask\" }\n[handlers]\ncomms=false\n\n# the end";

#[test]
fn set_changes_one_value_and_no_other_byte() {
    for (key, value, old, new) in [
        ("keep", "forever", "\"10d\"", "\"forever\""),
        ("keep", "\"2w\"", "\"10d\"", "\"2w\""),
        ("guard.preset", "strict", "preset = \"standard\"", "preset = \"strict\""),
        ("guard.rules.git.clean", "deny", "\"ask\"", "\"deny\""),
        ("handlers.comms", "true", "comms=false", "comms=true"),
    ] {
        let sandbox = CliSandbox::new().home_file(OWN_FILE, LAYOUT);
        let ran = sandbox.run_snell(&["config", "set", key, value], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Changed ~/.config/snell/snell.toml\n"), "{key}: {ran:?}");
        assert_eq!(read_own_file(&sandbox), LAYOUT.replace(old, new), "{key}");
        let again = sandbox.run_snell(&["config", "set", key, value], "");
        assert!(again.code == 0 && again.stdout.starts_with("Nothing to do: "), "{key}: {again:?}");
    }
}

#[test]
fn set_adds_a_key_and_unset_removes_it() {
    let sandbox = CliSandbox::new();
    for (key, value, shown) in [
        ("server.addr", "127.0.0.1:9000", "127.0.0.1:9000"),
        ("guard.protect", "['a', \"b c\"]", "[\"a\", \"b c\"]"),
        ("guard.rules.git.push-force", "deny", "deny"),
        ("context_window", "1000", "1000"),
        ("handlers.remind", "false", "false"),
    ] {
        let ran = sandbox.run_snell(&["config", "set", key, value], "");
        assert_eq!(ran.code, 0, "{key}: {ran:?}");
        assert_eq!(sandbox.run_snell(&["config", "get", key], "").stdout, format!("{shown}\n"), "{key}");
        let ran = sandbox.run_snell(&["config", "unset", key], "");
        assert_eq!(ran.code, 0, "{key}: {ran:?}");
        let again = sandbox.run_snell(&["config", "unset", key], "");
        assert!(again.code == 0 && again.stdout.starts_with("Nothing to do: "), "{key}: {again:?}");
    }
    let linted = sandbox.run_snell(&["config", "list", "--set", "--json"], "");
    assert_eq!(linted.json(), json!([]));
}

#[test]
fn a_wrong_key_or_value_is_an_error_with_a_hint_and_changes_nothing() {
    let sandbox = CliSandbox::new().home_file(OWN_FILE, LAYOUT);
    let before = list_tree(&sandbox.home());
    for (args, expected) in [
        (
            &["guard.presett", "strict"][..],
            "error: unknown key \"guard.presett\"\nhint: did you mean \"guard.preset\"?",
        ),
        (&["preset", "strict"], "error: unknown key \"preset\"\nhint: did you mean \"guard.preset\"?"),
        (&["zzz.qqq", "1"], "error: unknown key \"zzz.qqq\"\nhint: `snell config list` shows all keys"),
        (&["guard", "x"], "error: \"guard\" is a table\nhint: name a key in it: guard.preset, "),
        (&["hook", "[]"], "is a list of hooks, not a setting\nhint: edit it: snell config edit"),
        (&["keep", "soon"], "~/.config/snell/snell.toml:3:11: \"keep\" must be a duration with a unit"),
        (&["keep", "soon"], "\nhint: write \"30d\", \"2w\" or \"forever\""),
        (&["guard.preset", "lax"], "snell.toml:6:10: "),
        (
            &["handlers.comms", "maybe"],
            "error: \"maybe\" is not a value for \"handlers.comms\"\nhint: use true or false",
        ),
        (&["handlers.comms", "true\nkeep = '1d'"], "hint: use true or false"),
        (&["guard.protect", "a"], "hint: use a list, such as "),
        (&["guard.rules.no.such-rule", "deny"], "no.such-rule"),
        (
            &["--project", "keep", "1d"],
            "\"keep\" has no effect in a project's file; nothing was changed\nhint: move it",
        ),
        (&["--project", "guard.preset", "audit"], "snell.toml:2:10: "),
    ] {
        let ran = sandbox.run_snell(&[&["config", "set"], args].concat(), "");
        assert!(ran.code == 1 && ran.stderr.contains(expected) && ran.stdout.is_empty(), "{args:?}: {ran:?}");
    }
    assert_eq!(list_tree(&sandbox.home()), before);
    assert!(!sandbox.exists("snell.toml"));
}

/// `set` must be able to repair a file, one fault at a time.
#[test]
fn a_file_with_other_faults_can_be_changed() {
    let sandbox = CliSandbox::new().home_file(OWN_FILE, "keep = \"soon\"\n\n[guard]\npreset = \"lax\"\n");
    for (key, value) in [("keep", "3d"), ("guard.preset", "strict")] {
        let ran = sandbox.run_snell(&["config", "set", key, value], "");
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    assert_eq!(sandbox.run_snell(&["lint"], "").code, 0);
    let broken = CliSandbox::new().home_file(OWN_FILE, "keep = \n");
    let ran = broken.run_snell(&["config", "set", "keep", "3d"], "");
    assert!(ran.code == 1 && ran.stderr.contains("snell.toml:1:"), "{ran:?}");
    assert_eq!(read_own_file(&broken), "keep = \n");
}

#[test]
fn symlinks_and_modes_are_kept() {
    let sandbox = CliSandbox::new().home_file("dotfiles/snell.toml", "keep = \"1d\"\n");
    let (link, target) = (sandbox.home().join(OWN_FILE), sandbox.home().join("dotfiles/snell.toml"));
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&target, &link).unwrap();
    set_file_mode(&target, 0o640);
    let ran = sandbox.run_snell(&["config", "set", "keep", "2d"], "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(fs::read_to_string(&target).unwrap(), "keep = \"2d\"\n");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn a_dry_run_shows_the_change_and_writes_nothing() {
    let sandbox = CliSandbox::new().home_file(OWN_FILE, LAYOUT);
    let ran = sandbox.run_snell(&["config", "set", "guard.preset", "strict", "--dry-run"], "");
    assert!(ran.code == 0 && ran.stdout.contains("\n-preset = \"standard\"\n+preset = \"strict\"\n"), "{ran:?}");
    let ran = sandbox.run_snell(&["config", "unset", "keep", "--dry-run"], "");
    assert!(ran.code == 0 && ran.stdout.contains("\n-keep   =  \"10d\"   # ten days\n"), "{ran:?}");
    assert_eq!(read_own_file(&sandbox), LAYOUT);
}

fn find_row<'r>(rows: &'r Value, key: &str) -> Vec<&'r Value> {
    rows.as_array().unwrap().iter().filter(|row| row["key"] == key).collect()
}

#[test]
fn list_shows_every_key_with_its_value_and_its_origin() {
    let project = "borrow = [\"wave\"]\nkeep = \"1d\"\n\n[guard]\npreset = \"strict\"\nprotect = [\"infra\"]\n";
    let own = "[guard]\nprotect = [\n  \"work\", # mine\n]\n[guard.rules]\n\"git.clean\" = \"deny\"\n";
    let sandbox = CliSandbox::new().home_file(OWN_FILE, own).file("snell.toml", project);
    let rows = sandbox.run_snell(&["config", "list", "--json"], "").json();
    assert!(rows.as_array().unwrap().len() > 40);
    let shared = sandbox.project().join("snell.toml").display().to_string();
    let own_path = "~/.config/snell/snell.toml";
    for (key, expected) in [
        ("keep", vec![json!({"key": "keep", "value": "\"30d\"", "origin": "default"})]),
        (
            "guard.preset",
            vec![
                json!({"key": "guard.preset", "value": "\"strict\"", "origin": "file", "path": shared, "line": 5, "applies": true}),
            ],
        ),
        (
            "guard.protect",
            vec![
                json!({"key": "guard.protect", "value": "[\"work\"]", "origin": "file", "path": own_path, "line": 2, "applies": true}),
                json!({"key": "guard.protect", "value": "[\"infra\"]", "origin": "file", "path": shared, "line": 6, "applies": true}),
            ],
        ),
        (
            "guard.rules.git.clean",
            vec![
                json!({"key": "guard.rules.git.clean", "value": "\"deny\"", "origin": "file", "path": own_path, "line": 6, "applies": true}),
            ],
        ),
        (
            "borrow",
            vec![
                json!({"key": "borrow", "value": "[]", "origin": "default"}),
                json!({"key": "borrow", "value": "[\"wave\"]", "origin": "file", "path": shared, "line": 1, "applies": false}),
            ],
        ),
    ] {
        assert_eq!(find_row(&rows, key), expected.iter().collect::<Vec<_>>(), "{key}");
    }
    let get = |key: &str| sandbox.run_snell(&["config", "get", key], "").stdout;
    assert_eq!([get("borrow"), get("guard.protect"), get("keep")], ["[]\n", "[\"work\", \"infra\"]\n", "30d\n"]);
    assert_eq!(sandbox.run_snell(&["trust"], "").code, 0);
    assert_eq!(get("borrow"), "[\"wave\"]\n");
    let below = sandbox.run_snell(&["config", "list", "handlers"], "").stdout;
    assert!(below.lines().count() > 3 && below.lines().skip(1).all(|line| line.starts_with("handlers.")), "{below}");
    assert!(below.contains("handlers.guard    true   default\n"), "{below}");
    let unknown = sandbox.run_snell(&["config", "list", "handlrs"], "");
    assert!(unknown.code == 1 && unknown.stderr.contains("unknown key \"handlrs\""), "{unknown:?}");
}

#[test]
fn get_says_if_a_key_has_no_value() {
    let ran = CliSandbox::new().run_snell(&["config", "get", "server.url"], "");
    assert!(ran.code == 1 && ran.stderr.contains("\"server.url\" is not set") && ran.stdout.is_empty(), "{ran:?}");
}

#[test]
fn path_names_the_file_even_if_it_is_missing() {
    let sandbox = CliSandbox::new();
    for (args, path) in [
        (&["config", "path"][..], sandbox.home().join(OWN_FILE)),
        (&["config", "path", "--project"], sandbox.project().join("snell.toml")),
    ] {
        assert_eq!(sandbox.run_snell(args, "").stdout, format!("{}\n", path.display()));
    }
    let elsewhere = CliSandbox::new().env("XDG_CONFIG_HOME", "/nowhere/config");
    assert_eq!(elsewhere.run_snell(&["config", "path"], "").stdout, "/nowhere/config/snell/snell.toml\n");
}

#[test]
fn edit_runs_the_editor_with_its_options_and_checks_the_file() {
    let sandbox = CliSandbox::new().home_file(OWN_FILE, "keep = \"1d\"\n");
    let program = sandbox.home().join("my editor");
    write_script(&program, "printf '%s\\n' \"$@\" > \"$HOME/arguments\"; echo \"keep = $NEW\" > \"$3\"");
    let edit = |variables: &[(&str, &str)]| {
        let mut command = sandbox.command(&["config", "edit"]);
        run_with_stdin(command.envs(variables.iter().copied()), "")
    };
    let line = format!("'{}' --wait --name=\"a b\"", program.display());
    let ran = edit(&[("VISUAL", &line), ("EDITOR", "false"), ("NEW", "\"2d\"")]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "~/.config/snell/snell.toml is valid.\n"), "{ran:?}");
    let arguments = fs::read_to_string(sandbox.home().join("arguments")).unwrap();
    assert_eq!(arguments, format!("--wait\n--name=a b\n{}\n", sandbox.home().join(OWN_FILE).display()));
    let ran = edit(&[("EDITOR", &line), ("NEW", "3")]);
    assert!(ran.code == 1 && ran.stdout.contains("snell.toml:1:8: error: \"keep\" must be"), "{ran:?}");
    for (variables, expected) in [
        (&[("EDITOR", "false")][..], "error: the editor `false` failed: exit status: 1"),
        (&[("EDITOR", "/nowhere/editor")], "hint: set VISUAL or EDITOR to an editor"),
        (&[("EDITOR", "ed; rm -rf $HOME")], "EDITOR is not a command with arguments"),
        (&[], "no editor is named, and there is no terminal"),
    ] {
        let ran = edit(variables);
        assert!(ran.code == 1 && ran.stderr.contains(expected), "{variables:?}: {ran:?}");
    }
    let missing = CliSandbox::new().env("EDITOR", "true").run_snell(&["config", "edit"], "");
    assert!(missing.code == 1 && missing.stderr.contains("hint: create it: snell init"), "{missing:?}");
}

#[test]
fn at_a_terminal_a_faulty_file_can_be_edited_again() {
    let Some(script) = require_util_linux_script() else {
        return;
    };
    let sandbox = CliSandbox::new().home_file(OWN_FILE, "keep = \"1d\"\n");
    let program = sandbox.home().join("editor");
    write_script(
        &program,
        "[ -f \"$HOME/once\" ] && echo 'keep = \"2d\"' > \"$1\" || { touch \"$HOME/once\"; echo 'keep = 1' > \"$1\"; }",
    );
    let mut command = sandbox.program(script);
    command.args(["--quiet", "--return", "--command"]).arg(format!("{} config edit", env!("CARGO_BIN_EXE_snell")));
    command.arg("/dev/null").env("SHELL", "/bin/sh").env("TERM", "xterm").env("NO_COLOR", "1").env("EDITOR", program);
    let ran = run_with_stdin(&mut command, "y\n");
    assert!(ran.stdout.contains("Edit it again? [y/N]") && ran.stdout.contains("is valid."), "{ran:?}");
    assert_eq!((ran.code, read_own_file(&sandbox).as_str()), (0, "keep = \"2d\"\n"));
}
