//! A project and a home directory of a test's own, and the real binary run in them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use snell_test_support::files::{parse_json_lines, write_file, write_file_with_mode, write_script};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{CommandOutput, run_with_stdin, spawn_with_stdin};
use snell_test_support::skip::require_util_linux_script;
use snell_test_support::wait::wait_until;
use tempfile::TempDir;

/// A project and a home directory of a test's own.
pub struct CliSandbox {
    root: TempDir,
    project: OsString,
    variables: Vec<(String, String)>,
}

impl CliSandbox {
    pub fn new() -> Self {
        Self::with_project_name(OsStr::new("project"))
    }

    /// As [`CliSandbox::new`], with a project directory of this name, which need not be text.
    pub fn with_project_name(project: &OsStr) -> Self {
        let root = tempfile::tempdir().unwrap();
        for directory in [project, OsStr::new("home"), OsStr::new("data")] {
            fs::create_dir(root.path().join(directory)).unwrap();
        }
        Self { root, project: project.to_owned(), variables: Vec::new() }
    }

    pub fn project(&self) -> PathBuf {
        self.root.path().join(&self.project)
    }

    pub fn home(&self) -> PathBuf {
        self.root.path().join("home")
    }

    /// Where background outcomes are recorded.
    pub fn data(&self) -> PathBuf {
        self.root.path().join("data")
    }

    /// Sets a variable for `snell`, and so for its hooks.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Writes a file of the project.
    pub fn file(self, path: &str, text: &str) -> Self {
        write_file(&self.project().join(path), text);
        self
    }

    /// Writes a file of the home directory.
    pub fn home_file(self, path: &str, text: &str) -> Self {
        write_file(&self.home().join(path), text);
        self
    }

    /// The profile of the lifecycle document, before the rest of the user's own `snell.toml`.
    pub fn with_profile(self) -> Self {
        const CONFIG: &str = ".config/snell/snell.toml";
        let rest = std::fs::read_to_string(self.home().join(CONFIG)).unwrap_or_default();
        self.home_file(CONFIG, &format!("profile = \"claude-os\"\n{rest}"))
    }

    /// Writes a file of the home directory that only its owner can read.
    pub fn secret_home_file(self, path: &str, text: &str) -> Self {
        write_file_with_mode(&self.home().join(path), text, 0o600);
        self
    }

    /// Writes a file of the home directory that everybody can read.
    pub fn open_home_file(self, path: &str, text: &str) -> Self {
        write_file_with_mode(&self.home().join(path), text, 0o644);
        self
    }

    /// Writes an executable script of the project; the first line `#!/bin/sh` is added.
    pub fn script(self, path: &str, body: &str) -> Self {
        write_script(&self.project().join(path), body);
        self
    }

    /// Writes a `settings.json`-like file whose `hooks` are these.
    pub fn hooks(self, path: &str, hooks: &Value) -> Self {
        self.file(path, &serde_json::json!({ "hooks": hooks }).to_string())
    }

    /// Runs `snell` with these arguments in the project, with `stdin` on its standard input.
    pub fn run_snell(&self, args: &[&str], stdin: &str) -> CommandOutput {
        run_with_stdin(&mut self.command(args), stdin)
    }

    /// The command that runs `snell`, for tests that need more than [`CliSandbox::run_snell`].
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_snell"));
        command.args(args);
        command
    }

    /// The command that runs a line of shell in which `"$0" "$@"` is `snell` with these arguments.
    pub fn shell(&self, line: &str, args: &[&str]) -> Command {
        let mut command = self.program("/bin/sh");
        command.args(["-c", line, env!("CARGO_BIN_EXE_snell")]).args(args);
        command
    }

    /// What a terminal of so many columns shows of `snell` with these arguments; nothing if there is no way to get one here.
    pub fn run_in_terminal(&self, columns: usize, args: &str) -> Option<String> {
        let (shown, is_success) = self.try_run_in_terminal(columns, args)?;
        assert!(is_success, "{args}: {shown}");
        Some(shown)
    }

    /// The same, and whether it was a success.
    pub fn try_run_in_terminal(&self, columns: usize, args: &str) -> Option<(String, bool)> {
        require_util_linux_script()?;
        let line = format!("exec script --quiet --return --command \"stty cols {columns}; exec $0 {args}\" /dev/null");
        let mut command = self.shell(&line, &[]);
        command.env("TERM", "xterm").env("NO_COLOR", "1").env("PAGER", "cat");
        let output = spawn_with_stdin(&mut command, "").wait_with_output().unwrap();
        let shown = remove_spinner(&String::from_utf8(output.stdout).unwrap()).replace('\r', "");
        Some((shown, output.status.success()))
    }

    /// The command that runs this program as `snell` would be run.
    pub fn program(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", self.home())
            .env("SNELL_HOME", self.data())
            .env("TZ", "UTC")
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }

    /// `snell run EVENT` with this payload.
    pub fn run_event(&self, event: &str, payload: &Value) -> CommandOutput {
        self.run_snell(&["run", event], &payload.to_string())
    }

    /// As [`CliSandbox::new`], with a clock that stands still, and without a scribe that would outlive the test.
    pub fn with_frozen_clock() -> Self {
        Self::new().env("SNELL_SCRIBE", "off").env("SNELL_NOW", "2026-03-01T12:00:00Z")
    }

    /// Tells `snell hook` an event, as Claude Code does, at this time of the day on which [`CliSandbox::with_frozen_clock`] is.
    /// The test itself is the agent's process. Fields that are not given are filled in.
    pub fn send_hook_event(&self, time: &str, event: &str, payload: Value) -> CommandOutput {
        let fields = serde_json::json!({
            "session_id": "session-one",
            "hook_event_name": event,
            "cwd": self.project(),
        });
        let fields = merge_fields(fields, &payload);
        let mut command = self.command(&["hook"]);
        command.env("SNELL_NOW", format!("2026-03-01T{time}Z"));
        let ran = run_with_stdin(&mut command, fields.to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.data().join("snell.db")
    }

    /// Opens the database as another program, and does this to it. What it holds is let go with the connection.
    pub fn open_database_with(&self, sql: &str) -> rusqlite::Connection {
        let connection = rusqlite::Connection::open(self.database()).unwrap();
        connection.execute_batch(sql).unwrap();
        connection
    }

    /// A file that a hook wrote into the project.
    pub fn read(&self, path: &str) -> String {
        let path = self.project().join(path);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// A file that a hook wrote into the project, as JSON.
    pub fn read_json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    pub fn exists(&self, path: &str) -> bool {
        self.project().join(path).exists()
    }

    /// Waits until there is a file of this name in the project.
    pub fn wait_for_file(&self, path: &str) {
        wait_until(|| self.exists(path).then_some(()));
    }

    /// Waits until a file of the project has content, and answers it.
    pub fn wait_for_content(&self, path: &str) -> String {
        let path = self.project().join(path);
        wait_until(|| fs::read_to_string(&path).ok().filter(|text| !text.is_empty()))
    }

    /// Waits until this many background outcomes are recorded, and answers them.
    pub fn wait_for_background_outcomes(&self, count: usize) -> Vec<Value> {
        let path = self.data().join("background.jsonl");
        wait_until(|| {
            let text = fs::read_to_string(&path).ok()?;
            let complete = text.matches('\n').count() >= count;
            complete.then(|| parse_json_lines(&text))
        })
    }
}

/// What a terminal shows after the lines of spinners are erased, which slow machines see.
fn remove_spinner(shown: &str) -> String {
    let mut kept = String::new();
    let mut parts = shown.split("\r\u{1b}[K");
    kept.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let is_frame = |c: char| ('\u{2800}'..='\u{28ff}').contains(&c);
        kept.push_str(if part.starts_with(is_frame) { "" } else { part });
    }
    kept
}
