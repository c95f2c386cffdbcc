//! Files that agents delete or overwrite, saved by `snell hook` and restored by `snell undo`.

mod calls;
mod crashes;
mod limits;
mod lists;
mod restoring;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

/// Settings with which a test on a busy machine saves everything.
const PATIENT: &str = "[guard]\nbackup = true\nbackup_ms = 60000\n";

/// A project with a repository, in which Snell saves files.
struct UndoSandbox {
    sandbox: CliSandbox,
}

/// A file as people see it: type, mode, time of its last change, contents or target.
type FileState = (&'static str, u32, i64, Vec<u8>);

impl UndoSandbox {
    fn new() -> Self {
        Self::with_config(PATIENT)
    }

    fn with_config(config: &str) -> Self {
        let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", config);
        let undo = Self { sandbox };
        undo.run_git(&["init", "--quiet"]);
        undo
    }

    fn project(&self) -> PathBuf {
        self.sandbox.project()
    }

    fn path(&self, path: impl AsRef<Path>) -> PathBuf {
        self.project().join(path)
    }

    /// Runs git in the project, without any settings of this machine.
    fn run_git(&self, args: &[&str]) {
        let mut command = Command::new("git");
        command.current_dir(self.project()).args(["-c", "user.name=n", "-c", "user.email=e"]).args(args);
        command.env("HOME", self.sandbox.home()).env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    /// Writes a file that was last changed some time ago.
    fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_nanos(1_600_000_000_123_456_789)).unwrap();
    }

    /// Writes files and commits them.
    fn commit(&self, files: &[(&str, &str)]) {
        files.iter().for_each(|(path, text)| self.write(path, text));
        self.run_git(&["add", "--all"]);
        self.run_git(&["commit", "--quiet", "--message", "m"]);
    }

    /// Announces a call. Returns the message for the user, if any.
    fn announce(&self, tool: &str, input: &Value) -> String {
        let payload = json!({"tool_name": tool, "tool_input": input});
        let ran = self.sandbox.send_hook_event("12:00:00", "PreToolUse", payload);
        assert_eq!(ran.stderr, "");
        let answer = if ran.stdout.is_empty() { json!({}) } else { ran.json() };
        answer["systemMessage"].as_str().unwrap_or_default().to_owned()
    }

    fn announce_command(&self, command: &str) -> String {
        self.announce("Bash", &json!({"command": command}))
    }

    fn undo(&self, args: &[&str]) -> CommandOutput {
        self.sandbox.run_snell(&[&["undo"], args].concat(), "")
    }

    /// The backups, the latest first.
    fn backups(&self) -> Vec<Value> {
        self.undo(&["--json"]).json().as_array().unwrap().clone()
    }

    /// The paths of saved files and symlinks, by backup, the oldest first.
    fn saved_paths(&self) -> Vec<Vec<String>> {
        let paths = |backup: &Value| {
            let files = backup["files"].as_array().unwrap().iter().filter(|file| file["kind"] != "directory");
            files.map(|file| file["path"].as_str().unwrap().to_owned()).collect()
        };
        self.backups().iter().rev().map(paths).collect()
    }

    /// Every file of the project, except for the repository.
    fn snapshot(&self) -> BTreeMap<PathBuf, FileState> {
        let mut states = BTreeMap::new();
        add_states(&self.project(), &self.project(), &mut states);
        states
    }
}

fn add_states(root: &Path, directory: &Path, states: &mut BTreeMap<PathBuf, FileState>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name() == Some(OsStr::new(".git")) {
            continue;
        }
        let metadata = fs::symlink_metadata(&path).unwrap();
        let (kind, contents) = match metadata.file_type() {
            kind if kind.is_dir() => ("directory", Vec::new()),
            kind if kind.is_symlink() => ("symlink", fs::read_link(&path).unwrap().as_os_str().as_bytes().to_vec()),
            kind if kind.is_file() => ("file", fs::read(&path).unwrap_or_default()),
            _ => ("special", Vec::new()),
        };
        let below = path.strip_prefix(root).unwrap().to_owned();
        // The time of a directory changes with its files.
        let modified = if kind == "directory" { 0 } else { metadata.mtime() * 1_000_000_000 + metadata.mtime_nsec() };
        states.insert(below, (kind, metadata.mode() & 0o7777, modified, contents));
        if kind == "directory" {
            add_states(root, &path, states);
        }
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}
