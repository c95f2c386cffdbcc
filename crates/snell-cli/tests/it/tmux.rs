//! A tmux server of a test's own.

use std::path::{Path, PathBuf};

use crate::support::Sandbox;

/// A tmux server of the test's own, which ends with the test.
pub struct Tmux<'a> {
    sandbox: &'a Sandbox,
    socket: PathBuf,
}

impl<'a> Tmux<'a> {
    /// Nothing where there is no tmux.
    pub fn start(sandbox: &'a Sandbox) -> Option<Self> {
        Self::at(sandbox, "tmux.sock")
    }

    /// As [`Tmux::start`], with a socket of this name.
    pub fn at(sandbox: &'a Sandbox, socket: &str) -> Option<Self> {
        let is_there = sandbox.program("tmux").arg("-V").output().is_ok();
        let socket = sandbox.home().join(socket);
        is_there.then_some(Self { sandbox, socket })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What tmux puts into `TMUX` in its panes.
    pub fn variable(&self) -> String {
        format!("{},1,0", self.socket.display())
    }

    pub fn run(&self, args: &[&str]) -> String {
        let mut command = self.sandbox.program("tmux");
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// A pane in a session of its own in which this line of shell runs; answers its id.
    pub fn pane(&self, line: &str) -> String {
        self.run(&["new-session", "-d", "-P", "-F", "#{pane_id}", line])
    }

    /// What tmux says of a pane.
    pub fn of_pane(&self, pane: &str, format: &str) -> String {
        self.run(&["display-message", "-p", "-t", pane, format])
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let mut command = self.sandbox.program("tmux");
        let _ = command.arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}
