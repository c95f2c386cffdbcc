//! A test project, an engine for it, and the processes that it starts.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell::{Engine, EngineBuilder, Event, EventName, HookRun, Outcome, Verdict};
use snell_test_support::files;
use snell_test_support::process::{Signal, is_process_running, send_signal};
use tempfile::TempDir;

/// A project of a test's own.
pub struct TestProject {
    root: TempDir,
}

impl TestProject {
    pub fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    /// A project with one native hook for PreToolUse.
    pub fn with_hook(run: &str, more: &str) -> Self {
        Self::new().add_native_hook(run, more)
    }

    /// Adds a native hook for PreToolUse to `snell.toml`; `more` is further keys of it.
    pub fn add_native_hook(self, run: &str, more: &str) -> Self {
        let path = self.path().join("snell.toml");
        let before = fs::read_to_string(&path).unwrap_or_default();
        self.with_file("snell.toml", &(before + &render_native_hook(run, more)))
    }

    /// Writes Claude Code's settings with one group of these commands for PreToolUse.
    pub fn with_claude_hooks(self, commands: &[&str]) -> Self {
        let handlers: Vec<Value> =
            commands.iter().map(|command| json!({"type": "command", "command": command})).collect();
        let settings = json!({"hooks": {"PreToolUse": [{"hooks": handlers}]}});
        self.with_file(".claude/settings.json", &settings.to_string())
    }

    pub fn with_file(self, path: &str, text: &str) -> Self {
        self.write_file(path, text);
        self
    }

    pub fn write_file(&self, path: &str, text: &str) {
        files::write_file(&self.path().join(path), text);
    }

    pub fn path(&self) -> &Path {
        self.root.path()
    }

    pub fn read_file(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    pub fn has_file(&self, path: &str) -> bool {
        self.path().join(path).exists()
    }

    /// An engine for the project, in the making. It has no home directory and this process's environment.
    pub fn engine_builder(&self) -> EngineBuilder {
        Engine::builder().project(self.path()).env(build_environment(&[]))
    }

    /// An engine for the project, whose files have no problems.
    pub fn load_engine(&self) -> Engine {
        let (engine, diagnostics) = self.engine_builder().load();
        assert_eq!(diagnostics, []);
        engine
    }

    /// Fires PreToolUse and returns the result of the only hook.
    pub async fn run_only_hook(&self) -> Outcome {
        expect_single_outcome(&self.load_engine().fire(build_tool_call()).await)
    }

    /// Waits until a hook wrote its process id to this file, and returns it.
    pub async fn wait_for_pid(&self, path: &str) -> HookProcess {
        let path: PathBuf = self.path().join(path);
        let id = wait_until(|| fs::read_to_string(&path).ok().filter(|text| text.ends_with('\n'))).await;
        HookProcess(id.trim().parse().unwrap())
    }
}

/// One `[[hook]]` for PreToolUse.
pub fn render_native_hook(run: &str, more: &str) -> String {
    format!("[[hook]]\nevent = \"PreToolUse\"\nrun = '''{run}'''\n{more}\n")
}

/// This process's environment with these variables, and without the depth of a surrounding hook.
pub fn build_environment(more: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    let more = more.iter().map(|(name, value)| (name.into(), value.into()));
    std::env::vars_os().filter(|(name, _)| name != "SNELL_DEPTH").chain(more).collect()
}

pub fn build_tool_call() -> Event {
    Event::pre_tool_use("Bash", json!({"command": "ls"}))
}

/// A tool call whose payload is larger than a pipe.
pub fn build_large_tool_call() -> Event {
    Event::pre_tool_use("Bash", json!({"command": "x".repeat(1024 * 1024)}))
}

pub fn build_tool_result() -> Event {
    Event::new(EventName::PostToolUse).with_tool("Bash", json!({"command": "ls"})).with_tool_output(json!("done"))
}

/// The only hook of a verdict.
pub fn expect_single_run(verdict: &Verdict) -> &HookRun {
    assert_eq!(verdict.hooks.len(), 1, "{verdict:?}");
    &verdict.hooks[0]
}

/// The outcome of the only hook of a verdict.
pub fn expect_single_outcome(verdict: &Verdict) -> Outcome {
    expect_single_run(verdict).outcome.clone().unwrap()
}

/// A process that a hook started.
#[derive(Clone, Copy, Debug)]
pub struct HookProcess(pub u32);

impl HookProcess {
    /// Whether it still runs. One that ended and was not yet reaped does not.
    pub fn is_running(self) -> bool {
        is_process_running(self.0)
    }

    pub fn kill(self) {
        send_signal(self.0, Signal::KILL);
    }
}

/// Polls until there is an answer. Panics after a minute.
pub async fn wait_until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(60), "nothing came");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
