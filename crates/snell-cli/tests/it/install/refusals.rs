//! What cannot be done is said, with its place and a remedy, and changes nothing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use snell_test_support::files::{list_tree, set_file_mode, snapshot_file};
use snell_test_support::process::run_with_stdin;

use super::InstallHome;

/// It fails, says this, and leaves everything as it was.
fn assert_refused_unchanged(home: &InstallHome, command: &mut Command, message: &str) {
    let before = list_tree(&home.sandbox.home());
    let looked = home.settings_path().is_file().then(|| snapshot_file(&home.settings_path()));
    let ran = run_with_stdin(command, "");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{message}: {ran:?}");
    let said = ran.stderr.replace(home.sandbox.home().to_str().unwrap(), "~");
    assert!(said.starts_with("error: ") && said.contains(message), "expected {message}: {said}");
    assert!(said.lines().skip(1).all(|line| line.starts_with("hint: ")), "{said}");
    assert_eq!(list_tree(&home.sandbox.home()), before, "{message}");
    assert_eq!(home.settings_path().is_file().then(|| snapshot_file(&home.settings_path())), looked, "{message}");
}

#[test]
fn a_file_that_cannot_take_entries_is_left_alone() {
    let cases = [
        ("{\n  \"model\": \"opus\",,\n}", "~/.claude/settings.json:2:19: is not valid JSON"),
        ("{\n  \"a\": 1\n", "~/.claude/settings.json:1:1: is not valid JSON"),
        ("nonsense", "~/.claude/settings.json:1:1: is not valid JSON"),
        ("{'a': 1}", "~/.claude/settings.json:1:2: is not valid JSON"),
        ("{} {}", "settings.json:1:4: is not valid JSON"),
        ("[]", "settings.json:1:1: the file must be an object, not an array"),
        ("\u{feff}[]", "settings.json:1:1: the file must be an object, not an array"),
        ("{\"hooks\": []}", "settings.json:1:11: \"hooks\" must be an object, not an array"),
        ("{\"ü\": 1,\n \"hooks\": \"no\"}", "settings.json:2:11: \"hooks\" must be an object, not a string"),
        ("{\"hooks\": {\r\n\"Stop\": {}}}", "settings.json:2:9: \"Stop\" must be an array, not an object"),
    ];
    for (text, message) in cases {
        let home = InstallHome::with_settings(text);
        for args in
            [&["install", "claude"][..], &["install", "claude", "--notify"], &["install", "claude", "--dry-run"]]
        {
            assert_refused_unchanged(&home, &mut home.snell_command(args), message);
        }
    }
    let deep = format!("{{\"a\": {}}}", "[".repeat(100_000));
    let home = InstallHome::with_settings(&deep);
    assert_refused_unchanged(&home, &mut home.snell_command(&["install", "claude"]), "is not valid JSON");
    assert_refused_unchanged(&home, &mut home.snell_command(&["uninstall", "claude"]), "is not valid JSON");
}

#[test]
fn what_is_no_text_file_is_left_alone() {
    type SettingsFileObstacle = fn(&Path);
    let cases: [(SettingsFileObstacle, &str); 6] = [
        (|path| fs::write(path, b"{\"a\":\n\"\xff\"}").unwrap(), "settings.json:2:2: not UTF-8 text"),
        (
            |path| fs::create_dir(path).unwrap(),
            "cannot use ~/.claude/settings.json: it is a directory, not a regular file",
        ),
        (|path| symlink("nowhere.json", path).unwrap(), "is a symlink to nowhere.json, which does not exist"),
        (|path| symlink("settings.json", path).unwrap(), "cannot use ~/.claude/settings.json"),
        (|path| symlink("/dev/full", path).unwrap(), "it is a character device, not a regular file"),
        (|path| fs::write(path, vec![b' '; 5 * 1024 * 1024]).unwrap(), "is too large to be a settings file"),
    ];
    for (prepare, message) in cases {
        let home = InstallHome::new();
        fs::create_dir(home.settings_path().parent().unwrap()).unwrap();
        prepare(&home.settings_path());
        assert_refused_unchanged(&home, &mut home.snell_command(&["install", "claude"]), message);
        assert_refused_unchanged(&home, &mut home.snell_command(&["uninstall", "claude"]), message);
    }
    let home = InstallHome::new();
    fs::write(home.sandbox.home().join(".claude"), "a file").unwrap();
    assert_refused_unchanged(
        &home,
        &mut home.snell_command(&["install", "claude"]),
        "cannot use ~/.claude/settings.json",
    );
}

#[test]
fn a_file_that_may_not_be_written_is_left_alone() {
    let home = InstallHome::with_settings("{}");
    set_file_mode(home.settings_path(), 0o444);
    assert_refused_unchanged(
        &home,
        &mut home.snell_command(&["install", "claude"]),
        "is read-only\nhint: if that is not intended, run: chmod u+w",
    );
}

#[test]
fn a_directory_that_may_not_be_written_is_left_alone() {
    const NOBODY: u32 = 65_534;
    for closed in [".claude", "data"] {
        let home = InstallHome::with_settings("{}");
        let mut command = home.snell_command(&["install", "claude"]);
        if rustix::process::geteuid().is_root() {
            let probe = Command::new(env!("CARGO_BIN_EXE_snell")).arg("--version").uid(NOBODY).output();
            if probe.is_err() {
                // A program in a directory that others may not enter cannot be tried this way.
                return;
            }
            let root = home.sandbox.home().parent().unwrap().to_owned();
            set_file_mode(&root, 0o755);
            for (path, _) in list_tree(&root) {
                std::os::unix::fs::lchown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
            command.uid(NOBODY).gid(NOBODY);
        }
        let directory = match closed {
            "data" => home.sandbox.data(),
            _ => home.sandbox.home().join(closed),
        };
        set_file_mode(&directory, 0o500);
        assert_refused_unchanged(&home, &mut command, "Permission denied");
        set_file_mode(&directory, 0o700);
        let left = list_tree(&home.sandbox.data()).into_iter().filter(|(path, _)| path.extension().is_some());
        assert_eq!(left.count(), 0, "what was not installed is not remembered");
    }
}

#[test]
fn a_full_disk_changes_nothing() {
    // Without the signal a write beyond the limit fails as on a full disk.
    let line = "trap '' XFSZ; ulimit -f 0; exec \"$@\"";
    for args in [&["install", "claude"][..], &["install", "claude", "--notify"]] {
        let home = InstallHome::with_settings("{\"model\": \"opus\"}");
        let mut command = home.sandbox.program("/bin/sh");
        command.args(["-c", line, "sh"]).arg(home.program_path()).args(args);
        assert_refused_unchanged(&home, &mut command, "File too large");
    }
    let home = InstallHome::with_settings("{\"model\": \"opus\"}");
    home.run_successfully(&["install", "claude"]);
    let mut command = home.sandbox.program("/bin/sh");
    command.args(["-c", line, "sh"]).arg(home.program_path()).args(["uninstall", "claude"]);
    assert_refused_unchanged(&home, &mut command, "File too large");
    home.run_successfully(&["uninstall", "claude"]);
    assert_eq!(home.read_settings(), "{\"model\": \"opus\"}");
}

#[test]
fn mistakes_on_the_command_line_are_said() {
    let mut home = InstallHome::new();
    home.sandbox = home.sandbox.env("PATH", "/nowhere");
    let cases = [
        (&["install"][..], "no known agent was found on this machine\nhint: name one of: amp,"),
        (
            &["install", "emacs"][..],
            "Snell knows no agent \"emacs\"\nhint: use one of: amp, augment, claude, cline, codex, copilot, crush,",
        ),
        (&["install", "claude", "codex", "emacs"], "Snell knows no agent \"emacs\""),
        (&["install", "cluade"], "error: Snell knows no agent \"cluade\"\nhint: did you mean \"claude\"?"),
        (&["uninstall", "cluade"], "error: Snell knows no agent \"cluade\"\nhint: did you mean \"claude\"?"),
        (&["uninstall", "emacs"], "use one of: amp,"),
        (&["uninstall"], "no agent is named\nhint: name an agent, or pass --all"),
        (&["install", "kimi", "--project"], "Kimi Code reads no project hooks\nhint: for Kimi Code, use no option"),
        (&["install", "codex", "--local"], "Codex reads no local hooks\nhint: for Codex, use no option or --project"),
        (&["install", "codex", "--notify"], "Snell cannot forward events of Codex with --notify"),
        (
            &["install", "claude", "--notify", "--url", "tower"],
            "--url must start with http:// or https://\nhint: use http://HOST:PORT",
        ),
        (
            &["install", "claude", "--notify", "--url", "http://me:secret@tower"],
            "--url must not contain a user name or password",
        ),
        (&["install", "claude", "--notify", "--url", "http://tower?x=1"], "--url must not have a query or fragment"),
        (&["install", "claude", "--notify", "--url", "http://"], "--url has no valid host"),
        (&["install", "claude", "--project", "/nowhere"], "the project /nowhere is not a directory"),
    ];
    for (args, message) in cases {
        assert_refused_unchanged(&home, &mut home.snell_command(args), message);
    }
    let ran = home.run_snell(&["install", "claude", "--url", "http://x"]);
    assert!(ran.code == 1 && ran.stderr.contains("--notify"), "{ran:?}");
    let mut homeless = home.snell_command(&["install", "claude"]);
    homeless.env_remove("HOME");
    assert_refused_unchanged(&home, &mut homeless, "HOME is not set");
    for args in [&["install", "claude"][..], &["uninstall", "claude"]] {
        let mut relative = home.snell_command(args);
        relative.env("CLAUDE_CONFIG_DIR", "somewhere/here");
        assert_refused_unchanged(
            &home,
            &mut relative,
            "CLAUDE_CONFIG_DIR is relative (\"somewhere/here\")\nhint: use an absolute path, or unset it",
        );
    }
}

#[test]
fn a_program_whose_path_is_no_text_is_not_registered() {
    let home = InstallHome::with_settings("{}");
    let directory = home.sandbox.home().join(OsStr::from_bytes(b"b\xffn"));
    fs::create_dir(&directory).unwrap();
    let program = directory.join("snell");
    fs::hard_link(env!("CARGO_BIN_EXE_snell"), &program)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_snell"), &program).map(drop))
        .unwrap();
    let mut command = home.sandbox.program(OsStr::new(&program));
    command.args(["install", "claude"]);
    let ran = run_with_stdin(&mut command, "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("is not UTF-8, and settings files must be UTF-8"), "{ran:?}");
    assert_eq!(home.read_settings(), "{}");
}

#[test]
fn a_file_of_somebody_else_stays_his() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = InstallHome::with_settings("{}");
    chown(home.settings_path(), Some(65_534), Some(65_534)).unwrap();
    home.run_successfully(&["install", "claude"]);
    let metadata = fs::metadata(home.settings_path()).unwrap();
    use std::os::unix::fs::MetadataExt;
    assert_eq!((metadata.uid(), metadata.gid()), (65_534, 65_534));
}
