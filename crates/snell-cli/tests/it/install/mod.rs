//! `snell install` and `snell uninstall`: what they do to settings files, and what they leave alone.

mod agents;
mod host;
mod killed;
mod layouts;
pub mod notify_script;
mod notify_script_file;
mod own_entries;
mod plugins;
mod profile;
mod refusals;
mod registered_commands;
mod settings_files;
mod uninstall;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use snell_test_support::process::{CommandOutput, run_with_stdin};

use crate::support::CliSandbox;

/// A home directory with `snell` in a place that stays.
pub struct InstallHome {
    pub sandbox: CliSandbox,
}

impl InstallHome {
    pub fn new() -> Self {
        Self::in_sandbox(CliSandbox::with_frozen_clock())
    }

    /// As [`InstallHome::new`], with a sandbox that was prepared.
    pub fn in_sandbox(sandbox: CliSandbox) -> Self {
        let home = Self { sandbox };
        fs::create_dir(home.program_path().parent().unwrap()).unwrap();
        symlink(env!("CARGO_BIN_EXE_snell"), home.program_path()).unwrap();
        home
    }

    /// With these settings of the user.
    pub fn with_settings(settings: &str) -> Self {
        let home = Self::new();
        fs::create_dir(home.settings_path().parent().unwrap()).unwrap();
        fs::write(home.settings_path(), settings).unwrap();
        home
    }

    /// With the program in `PATH`, behind a directory that is empty yet.
    pub fn with_program_in_path(mut self) -> Self {
        let first = self.shadowing_program_path();
        fs::create_dir(first.parent().unwrap()).unwrap();
        let (first, own) = (first.parent().unwrap().display(), self.program_path());
        let path = format!("{first}:{}:/usr/bin:/bin", own.parent().unwrap().display());
        self.sandbox = self.sandbox.env("PATH", &path);
        self
    }

    /// Where a program of the same name comes first in `PATH`.
    pub fn shadowing_program_path(&self) -> PathBuf {
        self.sandbox.home().join("path/snell")
    }

    /// The program, as it is called here.
    pub fn program_path(&self) -> PathBuf {
        self.sandbox.home().join("bin/snell")
    }

    pub fn settings_path(&self) -> PathBuf {
        self.sandbox.home().join(".claude/settings.json")
    }

    pub fn notify_script_path(&self) -> PathBuf {
        self.sandbox.home().join(".claude/hooks/notify-headspace.sh")
    }

    /// What the settings of the user say.
    pub fn read_settings(&self) -> String {
        fs::read_to_string(self.settings_path()).unwrap()
    }

    pub fn snell_command(&self, args: &[&str]) -> Command {
        let mut command = self.sandbox.program(self.program_path().to_str().unwrap());
        command.args(args);
        command
    }

    pub fn run_snell(&self, args: &[&str]) -> CommandOutput {
        run_with_stdin(&mut self.snell_command(args), "")
    }

    /// Runs it, and it must work.
    pub fn run_successfully(&self, args: &[&str]) -> CommandOutput {
        let ran = self.run_snell(args);
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        ran
    }
}

/// The handlers in a settings file that has no comments: event, command, arguments.
pub fn list_handlers(settings: &str) -> Vec<(String, String, Vec<String>)> {
    let settings: Value = serde_json::from_str(settings.trim_start_matches('\u{feff}')).unwrap();
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for handler in groups.as_array().unwrap().iter().flat_map(|group| group["hooks"].as_array().unwrap()) {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let args = handler["args"].as_array().into_iter().flatten().map(text).collect();
            found.push((event.clone(), text(&handler["command"]), args));
        }
    }
    found
}
