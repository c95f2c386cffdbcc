//! Nothing is lost or doubled over restarts, and by several processes.

use std::collections::BTreeSet;

use serde_json::json;
use snell_test_support::process::Signal;
use snell_test_support::stub_server::{StubReply, StubServer};
use snell_test_support::wait::wait_until;

use super::{NoticeSandbox, start_target, webhook_config};
use crate::support::CliSandbox;

#[test]
fn a_process_that_is_killed_during_a_delivery_is_followed_by_another_one() {
    let (webhook, ntfy) = (StubServer::with_reply(StubReply::Silent), start_target());
    let config = webhook_config(&webhook, &format!("ntfy = \"{}/topic\"", ntfy.url()));
    let agents = NoticeSandbox::with_sandbox(CliSandbox::new().env("KEY", "k"), &config);
    agents.ask_permission("s1");
    let first = webhook.next_request();
    agents.wait_for_deliveries(&["needs_user ntfy sent", "needs_user webhook pending"]);
    agents.end_daemon(Signal::KILL);
    webhook.set_reply(StubReply::answer(200, ""));
    // The claim of the killed process expires.
    let _server = agents.start_server();
    agents.wait_for_deliveries(&["needs_user ntfy sent", "needs_user webhook sent"]);
    let requests = webhook.requests();
    assert_eq!(requests.len(), 2, "{requests:?}");
    assert_eq!(requests[1].headers["x-snell-id"], first.headers["x-snell-id"]);
    // A target that was reached is not repeated.
    assert_eq!(ntfy.requests().len(), 1);
}

#[test]
fn changes_that_were_recorded_without_a_dispatcher_are_delivered_by_the_next_one() {
    let webhook = start_target();
    let sandbox = CliSandbox::new().env("KEY", "k").env("SNELL_DAEMON", "off");
    let agents = NoticeSandbox::with_sandbox(sandbox, &webhook_config(&webhook, ""));
    agents.ask_permission("s1");
    agents.make_blocked_call("s2");
    assert_eq!(agents.list_deliveries(), Vec::<String>::new());
    let server = agents.start_server();
    agents.wait_for_deliveries(&["needs_user webhook sent", "blocked webhook sent"]);
    let (code, _) = server.stop_with_signal(Signal::TERM);
    assert_eq!(code, Some(0));
    let _server = agents.start_server();
    agents.make_blocked_call("s3");
    wait_until(|| (webhook.requests().len() >= 3).then_some(()));
    assert_eq!(webhook.requests().len(), 3);
}

#[test]
fn changes_from_before_a_hook_or_a_target_was_configured_are_never_delivered() {
    const HOOK: &str = "[[hook]]\nevent = [\"NeedsUser\", \"AgentEnded\"]\nrun = \"cat >> payloads\"\n";
    // Columns: whether a daemon runs, whether it is killed before the settings change.
    for (daemon, is_killed) in [("on", true), ("on", false), ("off", false)] {
        let webhook = start_target();
        let sandbox = CliSandbox::new().env("KEY", "k").env("SNELL_DAEMON", daemon);
        let agents = NoticeSandbox::with_sandbox(sandbox, "");
        for session in ["s1", "s2"] {
            agents.ask_permission(session);
        }
        agents.make_blocked_call("s2");
        agents.send_event("s1", "SessionEnd", json!({"reason": "logout"}));
        wait_until(|| (agents.query("SELECT 1 FROM dispatches").len() == 4).then_some(()));
        if is_killed {
            agents.end_daemon(Signal::KILL);
        }
        let config = agents.sandbox.home().join(".config/snell/snell.toml");
        std::fs::write(config, format!("{}{HOOK}", webhook_config(&webhook, ""))).unwrap();
        let _server = agents.start_server();
        agents.ask_permission("s3");
        agents.wait_for_deliveries(&["needs_user hooks sent", "needs_user webhook sent"]);
        assert_eq!(webhook.requests().len(), 1, "daemon {daemon}, killed: {is_killed}");
        assert_eq!(agents.sandbox.read("payloads").lines().count(), 1);
    }
}

#[test]
fn a_hook_gets_changes_from_before_a_restart_with_the_same_settings() {
    let hook = "[[hook]]\nevent = \"NeedsUser\"\nrun = \"cat >> payloads\"\n";
    let agents = NoticeSandbox::with_sandbox(CliSandbox::new().env("SNELL_DAEMON", "off"), hook);
    let server = agents.start_server();
    server.stop_with_signal(Signal::KILL);
    agents.ask_permission("s1");
    let _server = agents.start_server();
    agents.wait_for_deliveries(&["needs_user hooks sent"]);
}

#[test]
fn a_project_that_is_trusted_later_gets_no_earlier_changes() {
    let project = "[[hook]]\nevent = \"NeedsUser\"\nrun = \"cat >> payloads\"\n";
    let agents = NoticeSandbox::with_sandbox(CliSandbox::new().file("snell.toml", project), "");
    agents.ask_permission("s1");
    // The daemon marks it as unwanted.
    wait_until(|| agents.query("SELECT 1 FROM dispatches WHERE is_planned").first().map(drop));
    assert_eq!(agents.sandbox.run_snell(&["trust"], "").code, 0);
    let _server = agents.start_server();
    agents.ask_permission("s2");
    agents.wait_for_deliveries(&["needs_user hooks sent"]);
}

#[test]
fn a_daemon_and_a_server_send_each_notice_once() {
    const AGENTS: usize = 12;
    let webhook = start_target();
    let agents = NoticeSandbox::with_webhook(&webhook, "");
    let _server = agents.start_server();
    for number in 0..AGENTS {
        agents.ask_permission(&format!("s{number}"));
    }
    agents.wait_for_deliveries(&["needs_user webhook sent"; AGENTS]);
    let requests = webhook.requests();
    let ids: BTreeSet<_> = requests.iter().map(|request| request.headers["x-snell-id"].clone()).collect();
    assert_eq!((requests.len(), ids.len()), (AGENTS, AGENTS));
}

#[test]
fn a_failure_that_may_go_away_is_tried_again_and_another_one_is_reported() {
    let webhook = StubServer::with_reply(StubReply::answer(503, "zzbodyzz"));
    let agents = NoticeSandbox::with_webhook(&webhook, "");
    agents.ask_permission("s1");
    webhook.next_request();
    wait_until(|| {
        let rows = agents.query("SELECT attempts, detail FROM deliveries");
        rows.first().filter(|row| row["attempts"] == 1 && row["detail"] == "it answered with status 503").map(drop)
    });
    webhook.set_reply(StubReply::answer(200, ""));
    agents.wait_for_deliveries(&["needs_user webhook sent"]);
    webhook.set_reply(StubReply::answer(403, ""));
    agents.make_blocked_call("s2");
    agents.wait_for_deliveries(&["needs_user webhook sent", "blocked webhook failed"]);
    let doctor = agents.sandbox.run_snell(&["doctor"], "").stdout;
    let expected = "1 notice did not arrive in the last day; the newest, to webhook: it answered with status 403";
    assert!(doctor.contains(expected), "{doctor}");
    let list = agents.sandbox.run_snell(&["notices", "list"], "").stdout;
    assert!(list.contains("failed (it answered with status 403)"), "{list}");
}

#[test]
fn settings_that_change_while_the_daemon_runs_apply_to_the_next_change() {
    let (webhook, ntfy) = (start_target(), start_target());
    let agents = NoticeSandbox::with_webhook(&webhook, "");
    agents.make_blocked_call("s1");
    agents.wait_for_deliveries(&["blocked webhook sent"]);
    let daemon = agents.find_daemon();
    let config = agents.sandbox.home().join(".config/snell/snell.toml");
    std::fs::write(config, format!("[notify]\nntfy = \"{}/topic\"\n", ntfy.url())).unwrap();
    agents.make_blocked_call("s2");
    agents.wait_for_deliveries(&["blocked webhook sent", "blocked ntfy sent"]);
    assert_eq!(agents.find_daemon(), daemon);
    let project = agents.sandbox.project().join("snell.toml");
    std::fs::write(project, "[notify]\ndesktop = true\n").unwrap();
    let lint = agents.sandbox.run_snell(&["lint"], "").stdout;
    assert!(lint.contains("\"notify\" has no effect in a project's file"), "{lint}");
    assert_eq!(json!(ntfy.requests().len()), 1);
}
