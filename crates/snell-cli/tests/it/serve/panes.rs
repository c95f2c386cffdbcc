//! Agents in a terminal: a pane that is closed holds none.

use serde_json::json;

use super::{Receiver, hook};
use crate::support::{Sandbox, skipped};
use crate::tmux::Tmux;

/// An agent in this pane begins a session.
fn begins(sandbox: &Sandbox, tmux: &Tmux<'_>, session: &str, pane: &str) {
    let cwd = sandbox.project().join(session);
    let payload = json!({"session_id": session, "source": "startup", "cwd": cwd});
    hook(
        sandbox,
        &[("TMUX", &tmux.variable()), ("TMUX_PANE", pane)],
        "SessionStart",
        payload,
    );
}

#[test]
fn an_agent_ends_with_its_pane_and_with_its_terminal() {
    let sandbox = Sandbox::new().env("SNELL_SCRIBE", "off");
    let Some(tmux) = Tmux::start(&sandbox) else {
        return skipped("there is no tmux");
    };
    let panes = ["exec cat"; 3].map(|line| tmux.pane(line));
    let receiver = Receiver::watchful(&sandbox);
    let mut stream = receiver.listen("?types=session_ended");
    for (session, pane) in ["s1", "s2", "s3"].iter().zip(&panes) {
        begins(&sandbox, &tmux, session, pane);
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
