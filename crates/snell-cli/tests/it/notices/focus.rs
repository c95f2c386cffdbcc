//! No notice while the agent's terminal is in front.

use serde_json::json;
use snell_test_support::process::ChildGuard;
use snell_test_support::skip::require_util_linux_script;
use snell_test_support::wait::wait_until;

use super::{NoticeSandbox, start_target};
use crate::tmux::TestTmuxServer;

#[test]
fn a_pane_in_front_gets_no_notice_and_a_hidden_one_does() {
    let webhook = start_target();
    let agents = NoticeSandbox::with_webhook(&webhook, "");
    let (Some(tmux), Some(())) = (TestTmuxServer::start(&agents.sandbox), require_util_linux_script().map(drop)) else {
        return;
    };
    let pane = tmux.open_pane("cat");
    tmux.run_tmux(&["set-option", "-g", "focus-events", "on"]);
    let mut command = agents.sandbox.program("script");
    let attach = format!("tmux -S {} attach", tmux.socket().display());
    command.args(["--quiet", "--return", "--command", &attach, "/dev/null"]).env("TERM", "xterm");
    command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
    let _client = ChildGuard::spawn(&mut command);
    wait_until(|| tmux.run_tmux(&["list-clients", "-F", "#{client_flags}"]).contains("focused").then_some(()));
    let ask = |session: &str, pane: &str| {
        let fields = json!({"message": "permission", "notification_type": "permission_prompt"});
        let variables = [("TMUX", tmux.tmux_variable()), ("TMUX_PANE", pane.to_owned())];
        let variables = variables.each_ref().map(|(name, value)| (*name, value.as_str()));
        agents.send_event_with_env(session, "Notification", fields, &variables);
    };
    ask("seen", &pane);
    agents.wait_for_deliveries(&["needs_user webhook skipped"]);
    let detail = agents.query("SELECT detail FROM deliveries");
    assert_eq!(detail[0]["detail"], "the agent's terminal is in front");
    let hidden = tmux.run_tmux(&["split-window", "-d", "-P", "-F", "#{pane_id}", "cat"]);
    ask("hidden", &hidden);
    agents.wait_for_deliveries(&["needs_user webhook skipped", "needs_user webhook sent"]);
}
