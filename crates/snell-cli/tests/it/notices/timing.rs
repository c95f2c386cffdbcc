//! Waits that end early, and quiet hours.

use serde_json::json;
use snell_test_support::process::Signal;

use super::{NoticeSandbox, start_target, webhook_config};
use crate::serve::{ANYWHERE, start_server};
use crate::support::CliSandbox;
use snell_test_support::serve_process::ServeProcess;

#[test]
fn a_wait_that_is_answered_in_time_sends_nothing() {
    let webhook = start_target();
    let config = webhook_config(&webhook, "").replace("1ms", "2s");
    let agents = NoticeSandbox::with_sandbox(CliSandbox::new().env("KEY", "k"), &config);
    agents.ask_permission("s1");
    agents.send_event("s1", "PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    agents.wait_for_deliveries(&["needs_user webhook skipped"]);
    assert!(webhook.requests().is_empty());
    // The next wait of the same agent is another one.
    agents.ask_permission("s1");
    agents.wait_for_deliveries(&["needs_user webhook skipped", "needs_user webhook sent"]);
    assert_eq!(webhook.requests().len(), 1);
}

#[test]
fn quiet_hours_hold_waits_back_and_drop_the_rest() {
    let webhook = start_target();
    let sandbox = CliSandbox::new().env("KEY", "k").env("TZ", "UTC").env("SNELL_NOW", "2026-03-01T23:00:00Z");
    let agents = NoticeSandbox::with_sandbox(sandbox, &webhook_config(&webhook, "quiet = \"22:00-07:00\""));
    agents.ask_permission("open");
    agents.ask_permission("answered");
    agents.make_blocked_call("blocked");
    agents.wait_for_deliveries(&["needs_user webhook held", "needs_user webhook held", "blocked webhook skipped"]);
    agents.send_event("answered", "PostToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    agents.end_daemon(Signal::TERM);
    let start_at = |time: &str| {
        let mut command = agents.sandbox.command(&["serve", "--log", "off"]);
        command.args(ANYWHERE).env("SNELL_NOW", time);
        ServeProcess::spawn(&mut command).unwrap()
    };
    // Still quiet: a restart changes nothing.
    let night = start_at("2026-03-02T06:59:00Z");
    agents.make_blocked_call("later");
    agents.wait_for_deliveries(&[
        "needs_user webhook held",
        "needs_user webhook held",
        "blocked webhook skipped",
        "blocked webhook skipped",
    ]);
    drop(night);
    let _morning = start_at("2026-03-02T07:00:00Z");
    agents.wait_for_deliveries(&[
        "needs_user webhook sent",
        "needs_user webhook skipped",
        "blocked webhook skipped",
        "blocked webhook skipped",
    ]);
    let requests = webhook.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert_eq!(requests[0].json()["session_id"], "open");
}

#[test]
fn quiet_hours_are_in_local_time() {
    let webhook = start_target();
    // In New York it is 18:00.
    let sandbox =
        CliSandbox::new().env("KEY", "k").env("TZ", "America/New_York").env("SNELL_NOW", "2026-03-01T23:00:00Z");
    let sandbox = sandbox.env("SNELL_DAEMON", "off");
    let agents = NoticeSandbox::with_sandbox(sandbox, &webhook_config(&webhook, "quiet = \"22:00-07:00\""));
    agents.make_blocked_call("s1");
    let _server = start_server(&agents.sandbox, ANYWHERE);
    agents.wait_for_deliveries(&["blocked webhook sent"]);
}
