//! A tmux server of a test's own.

use std::path::{Path, PathBuf};

use crate::support::CliSandbox;

/// A tmux server of the test's own, which ends with the test.
pub struct TestTmuxServer<'a> {
    sandbox: &'a CliSandbox,
    socket: PathBuf,
}

impl<'a> TestTmuxServer<'a> {
    /// Nothing where there is no tmux.
    pub fn start(sandbox: &'a CliSandbox) -> Option<Self> {
        Self::with_socket_name(sandbox, "tmux.sock")
    }

    /// As [`TestTmuxServer::start`], with a socket of this name.
    pub fn with_socket_name(sandbox: &'a CliSandbox, socket: &str) -> Option<Self> {
        let is_there = sandbox.program("tmux").arg("-V").output().is_ok();
        let socket = sandbox.home().join(socket);
        is_there.then_some(Self { sandbox, socket })
    }

    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// What tmux puts into `TMUX` in its panes.
    pub fn tmux_variable(&self) -> String {
        format!("{},1,0", self.socket.display())
    }

    pub fn run_tmux(&self, args: &[&str]) -> String {
        let mut command = self.sandbox.program("tmux");
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// A pane in a session of its own in which this line of shell runs; answers its id.
    pub fn open_pane(&self, line: &str) -> String {
        self.run_tmux(&["new-session", "-d", "-P", "-F", "#{pane_id}", line])
    }

    /// What tmux says of a pane.
    pub fn query_pane(&self, pane: &str, format: &str) -> String {
        self.run_tmux(&["display-message", "-p", "-t", pane, format])
    }
}

impl Drop for TestTmuxServer<'_> {
    fn drop(&mut self) {
        let mut command = self.sandbox.program("tmux");
        let _ = command.arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}
