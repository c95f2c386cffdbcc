//! Agents in a terminal: a pane that is closed holds none.

use serde_json::json;
use snell_test_support::skip::report_skipped;

use super::{run_hook, start_polling_server};
use crate::support::CliSandbox;
use crate::tmux::TestTmuxServer;

/// An agent in this pane begins a session.
fn begin_session_in_pane(sandbox: &CliSandbox, tmux: &TestTmuxServer<'_>, session: &str, pane: &str) {
    let cwd = sandbox.project().join(session);
    let payload = json!({"session_id": session, "source": "startup", "cwd": cwd});
    run_hook(sandbox, &[("TMUX", &tmux.tmux_variable()), ("TMUX_PANE", pane)], "SessionStart", payload);
}

#[test]
fn an_agent_ends_with_its_pane_and_with_its_terminal() {
    let sandbox = CliSandbox::new().env("SNELL_SCRIBE", "off");
    let Some(tmux) = TestTmuxServer::start(&sandbox) else {
        return report_skipped("there is no tmux");
    };
    let panes = ["exec cat"; 3].map(|line| tmux.open_pane(line));
    let receiver = start_polling_server(&sandbox);
    let mut stream = receiver.open_stream("?types=session_ended");
    for (session, pane) in ["s1", "s2", "s3"].iter().zip(&panes) {
        begin_session_in_pane(&sandbox, &tmux, session, pane);
        assert_eq!(receiver.wait_for_agent_state(session, "idle")["tmux_pane"], **pane);
    }
    tmux.run_tmux(&["kill-pane", "-t", &panes[1]]);
    let agent = receiver.wait_for_agent_state("s2", "ended");
    assert_eq!((&agent["state_source"], &agent["end_reason"]), (&json!("poll"), &json!("pane_closed")));
    assert_ne!(agent["confidence"], "high");
    let ended = stream.next_data_of("session_ended");
    assert_eq!(ended["session_id"], "s2", "{ended}");
    for session in ["s1", "s3"] {
        assert_eq!(receiver.find_agent(session).unwrap()["state"], "idle", "{session}");
    }
    tmux.run_tmux(&["kill-server"]);
    for session in ["s1", "s3"] {
        receiver.wait_for_agent_state(session, "ended");
    }
}
