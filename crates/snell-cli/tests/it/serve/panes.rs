//! Agents in a terminal: a pane that is closed holds none.

use std::path::PathBuf;

use serde_json::json;

use super::{Receiver, hook, skipped};
use crate::support::Sandbox;

/// A tmux server of the test's own.
struct Tmux<'a> {
    sandbox: &'a Sandbox,
    socket: PathBuf,
}

impl<'a> Tmux<'a> {
    /// Nothing where there is no tmux.
    fn start(sandbox: &'a Sandbox) -> Option<Self> {
        let is_there = sandbox.program("tmux").arg("-V").output().is_ok();
        let socket = sandbox.home().join("tmux.sock");
        is_there.then_some(Self { sandbox, socket })
    }

    fn run(&self, args: &[&str]) -> String {
        let mut command = self.sandbox.program("tmux");
        command.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]).args(args);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// A pane in a session of its own in which something runs that is no shell; answers its id.
    fn pane(&self) -> String {
        self.run(&["new-session", "-d", "-P", "-F", "#{pane_id}", "exec cat"])
    }

    /// An agent in this pane begins a session.
    fn begins(&self, session: &str, pane: &str) {
        let server = format!("{},1,0", self.socket.display());
        let cwd = self.sandbox.project().join(session);
        let payload = json!({"session_id": session, "source": "startup", "cwd": cwd});
        hook(
            self.sandbox,
            &[("TMUX", &server), ("TMUX_PANE", pane)],
            "SessionStart",
            payload,
        );
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let mut command = self.sandbox.program("tmux");
        let _ = command.arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}

#[test]
fn an_agent_ends_with_its_pane_and_with_its_terminal() {
    let sandbox = Sandbox::new().env("SNELL_SCRIBE", "off");
    let Some(tmux) = Tmux::start(&sandbox) else {
        return skipped("there is no tmux");
    };
    let panes = [tmux.pane(), tmux.pane(), tmux.pane()];
    let receiver = Receiver::watchful(&sandbox);
    let mut stream = receiver.listen("?types=session_ended");
    for (session, pane) in ["s1", "s2", "s3"].iter().zip(&panes) {
        tmux.begins(session, pane);
        assert_eq!(receiver.agent_that_is(session, "idle")["tmux_pane"], **pane);
    }
    tmux.run(&["kill-pane", "-t", &panes[1]]);
    let agent = receiver.agent_that_is("s2", "ended");
    assert_eq!(
        (&agent["state_source"], &agent["end_reason"]),
        (&json!("poll"), &json!("pane_closed"))
    );
    assert_ne!(agent["confidence"], "high");
    let ended = stream.next_of("session_ended");
    assert_eq!(ended["session_id"], "s2", "{ended}");
    for session in ["s1", "s3"] {
        assert_eq!(receiver.agent(session).unwrap()["state"], "idle", "{session}");
    }
    tmux.run(&["kill-server"]);
    for session in ["s1", "s3"] {
        receiver.agent_that_is(session, "ended");
    }
}
