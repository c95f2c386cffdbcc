//! An agent at its prompt, in a terminal of tmux.

use std::path::Path;
use std::time::Duration;

use snell_test_support::process::run_with_stdin;
use snell_test_support::wait::wait_until_within;

use crate::bench::AgentBench;

/// Longer than a terminal takes to show what it got.
const SCREEN_LIMIT: Duration = Duration::from_secs(30);

/// How long a key may take to have an effect.
const KEY_LIMIT: Duration = Duration::from_secs(1);

/// A terminal in which an agent runs. It ends with the test.
pub struct AgentTerminal<'a> {
    bench: &'a AgentBench,
}

impl<'a> AgentTerminal<'a> {
    /// Starts the agent in a terminal with these arguments.
    pub fn open(bench: &'a AgentBench, arguments: &str) -> Self {
        let terminal = Self { bench };
        let line = format!("exec '{}' {arguments}", bench.program().display());
        terminal.run_tmux(&["new-session", "-d", "-x", "150", "-y", "45", &line]);
        terminal
    }

    /// Types a line, and sends it once it is on the screen.
    pub fn submit_line(&self, line: &str) {
        self.run_tmux(&["send-keys", "-l", line]);
        self.wait_for_text(line);
        self.press_key("Enter");
    }

    /// Presses a key, by tmux's name for it.
    pub fn press_key(&self, key: &str) {
        self.run_tmux(&["send-keys", key]);
    }

    /// Presses a key until a text is gone: a dialog ignores keys for a moment after it appears.
    #[track_caller]
    pub fn press_key_until_gone(&self, key: &str, text: &str) {
        let is_gone = || (!self.read_screen().contains(text)).then_some(());
        let gone = wait_until_within(SCREEN_LIMIT, || {
            self.press_key(key);
            wait_until_within(KEY_LIMIT, is_gone)
        });
        assert!(gone.is_some(), "{text:?} stays on the screen:\n{}", self.read_screen());
    }

    /// Waits until the screen shows a text.
    #[track_caller]
    pub fn wait_for_text(&self, text: &str) {
        let shown = wait_until_within(SCREEN_LIMIT, || self.read_screen().contains(text).then_some(()));
        assert!(shown.is_some(), "no {text:?} on the screen:\n{}", self.read_screen());
    }

    /// Closes the terminal, as a person closes a window.
    pub fn close(&self) {
        self.run_tmux(&["kill-session"]);
    }

    pub fn read_screen(&self) -> String {
        self.run_tmux(&["capture-pane", "-p"])
    }

    /// The output of tmux; empty if its server has ended.
    fn run_tmux(&self, arguments: &[&str]) -> String {
        let mut command = self.bench.command(Path::new("tmux"));
        command.args(["-S", &self.bench.path("tmux.sock"), "-f", "/dev/null"]).args(arguments);
        run_with_stdin(&mut command, "").stdout
    }
}

impl Drop for AgentTerminal<'_> {
    fn drop(&mut self) {
        self.run_tmux(&["kill-server"]);
    }
}
