//! `snell install` and `snell uninstall`: what they do to settings files, and what they leave alone.

mod alive;
mod host;
mod killed;
mod layouts;
mod ours;
mod places;
mod refusals;
pub mod script;
mod script_on_disk;
mod traces;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Ran, Sandbox, start};

/// A home directory with `snell` in a place that stays.
pub struct Home {
    pub sandbox: Sandbox,
}

impl Home {
    pub fn new() -> Self {
        Self::of(Sandbox::recording())
    }

    /// As [`Home::new`], with a sandbox that was prepared.
    pub fn of(sandbox: Sandbox) -> Self {
        let home = Self { sandbox };
        fs::create_dir(home.program().parent().unwrap()).unwrap();
        symlink(env!("CARGO_BIN_EXE_snell"), home.program()).unwrap();
        home
    }

    /// With these settings of the user.
    pub fn with(settings: &str) -> Self {
        let home = Self::new();
        fs::create_dir(home.settings().parent().unwrap()).unwrap();
        fs::write(home.settings(), settings).unwrap();
        home
    }

    /// With the program in `PATH`, behind a directory that is empty yet.
    pub fn with_program_in_path(mut self) -> Self {
        let first = self.first_in_path();
        fs::create_dir(first.parent().unwrap()).unwrap();
        let (first, own) = (first.parent().unwrap().display(), self.program());
        let path = format!("{first}:{}:/usr/bin:/bin", own.parent().unwrap().display());
        self.sandbox = self.sandbox.env("PATH", &path);
        self
    }

    /// Where a program of the same name comes first in `PATH`.
    pub fn first_in_path(&self) -> PathBuf {
        self.sandbox.home().join("path/snell")
    }

    /// The program, as it is called here.
    pub fn program(&self) -> PathBuf {
        self.sandbox.home().join("bin/snell")
    }

    pub fn settings(&self) -> PathBuf {
        self.sandbox.home().join(".claude/settings.json")
    }

    pub fn script(&self) -> PathBuf {
        self.sandbox.home().join(".claude/hooks/notify-headspace.sh")
    }

    /// What the settings of the user say.
    pub fn text(&self) -> String {
        fs::read_to_string(self.settings()).unwrap()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.program(self.program().to_str().unwrap());
        command.args(args);
        command
    }

    pub fn snell(&self, args: &[&str]) -> Ran {
        start(&mut self.command(args), "").wait_with_output().unwrap().into()
    }

    /// Runs it, and it must work.
    pub fn done(&self, args: &[&str]) -> Ran {
        let ran = self.snell(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran
    }
}

/// What can be seen of a file from outside.
#[derive(Debug, PartialEq, Eq)]
pub struct Look {
    pub bytes: Vec<u8>,
    pub mode: u32,
    pub modified: (i64, i64),
}

pub fn look(path: &Path) -> Look {
    let metadata = fs::metadata(path).unwrap();
    Look {
        bytes: fs::read(path).unwrap(),
        mode: metadata.permissions().mode() & 0o7777,
        modified: (metadata.mtime(), metadata.mtime_nsec()),
    }
}

/// Everything below a directory: what each file says, and where each link leads.
pub fn tree(directory: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        if metadata.is_dir() {
            found.push((path.clone(), "directory".into()));
            found.extend(tree(&path));
        } else if metadata.is_symlink() {
            found.push((path.clone(), format!("{:?}", fs::read_link(&path).unwrap())));
        } else if metadata.is_file() {
            found.push((
                path.clone(),
                String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned(),
            ));
        } else {
            found.push((path, "something else".into()));
        }
    }
    found.sort();
    found
}

/// The handlers in a settings file that has no comments: event, command, arguments.
pub fn handlers(settings: &str) -> Vec<(String, String, Vec<String>)> {
    let settings: Value = serde_json::from_str(settings.trim_start_matches('\u{feff}')).unwrap();
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for handler in groups
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|group| group["hooks"].as_array().unwrap())
        {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let args = handler["args"].as_array().into_iter().flatten().map(text).collect();
            found.push((event.clone(), text(&handler["command"]), args));
        }
    }
    found
}
