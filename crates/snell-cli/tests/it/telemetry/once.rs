//! Nothing is lost over restarts, and doubled only if a process is killed at the moment when the collector accepts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use snell_test_support::process::Signal;
use snell_test_support::wait::wait_until;

use super::{ReceivedSpan, TelemetrySandbox};

/// How often each span arrived.
fn count_arrivals(spans: &[ReceivedSpan]) -> BTreeMap<&str, usize> {
    let mut arrivals = BTreeMap::new();
    for span in spans {
        *arrivals.entry(span.span_id.as_str()).or_default() += 1;
    }
    arrivals
}

#[test]
fn no_span_is_lost_however_often_the_exporter_is_killed() {
    const ROUNDS: usize = 20;
    let agents = TelemetrySandbox::new("signals = [\"traces\"]");
    let mut kills_after_acceptance = 0;
    for round in 0..ROUNDS {
        let server = agents.start_server();
        agents.make_turn(&format!("s{round}"));
        let before = agents.collector.requests().len();
        if round % 2 == 0 {
            // As close to the moment of acceptance as a test can be.
            wait_until(|| (agents.collector.requests().len() > before).then_some(()));
            kills_after_acceptance += 1;
        }
        server.stop_with_signal(Signal::KILL);
    }
    let _server = agents.start_server();
    let spans = wait_until(|| Some(agents.spans()).filter(|spans| count_arrivals(spans).len() >= ROUNDS * 2));
    let arrivals = count_arrivals(&spans);
    assert_eq!(arrivals.len(), ROUNDS * 2);
    let repeated = arrivals.values().filter(|count| **count > 1).count();
    assert!(repeated <= kills_after_acceptance * 2, "{repeated} spans were repeated");
    // A repetition is the same span.
    let distinct: BTreeSet<_> = spans.iter().map(|span| format!("{span:?}")).collect();
    assert_eq!(distinct.len(), ROUNDS * 2);
}

#[test]
fn an_orderly_restart_repeats_nothing() {
    const ROUNDS: usize = 6;
    let agents = TelemetrySandbox::new("signals = [\"traces\"]");
    for round in 0..ROUNDS {
        let server = agents.start_server();
        agents.make_turn(&format!("s{round}"));
        let (code, _) = server.stop_with_signal(Signal::TERM);
        assert_eq!(code, Some(0));
    }
    let _server = agents.start_server();
    let spans = wait_until(|| Some(agents.spans()).filter(|spans| count_arrivals(spans).len() >= ROUNDS * 2));
    assert_eq!(spans.len(), ROUNDS * 2);
}

#[test]
fn a_daemon_and_a_server_send_each_span_once() {
    const SESSIONS: usize = 15;
    let agents = TelemetrySandbox::new("signals = [\"traces\"]").with_daemon();
    let _server = agents.start_server();
    for session in 0..SESSIONS {
        agents.make_turn(&format!("s{session}"));
    }
    let spans = agents.wait_for_spans(SESSIONS * 2);
    assert_eq!((spans.len(), count_arrivals(&spans).len()), (SESSIONS * 2, SESSIONS * 2));
}

#[test]
fn the_daemon_of_hooks_sends_without_a_server() {
    let agents = TelemetrySandbox::new("signals = [\"traces\"]").with_daemon();
    agents.make_turn("s1");
    assert_eq!(agents.wait_for_spans(2).len(), 2);
}

#[test]
fn what_happened_before_the_endpoint_was_set_is_sent_only_on_request() {
    for (since, expected) in [("", vec!["new"]), ("since = \"1h\"", vec!["new", "old"])] {
        let agents = TelemetrySandbox::new("");
        let config = std::fs::read_to_string(agents.config_file()).unwrap();
        std::fs::write(agents.config_file(), "").unwrap();
        agents.send_event("old", "UserPromptSubmit", json!({"prompt": "Go"}));
        agents.send_event("old", "Stop", json!({"last_assistant_message": "All done."}));
        std::fs::write(agents.config_file(), format!("{config}{since}\n")).unwrap();
        agents.send_event("new", "UserPromptSubmit", json!({"prompt": "Go"}));
        agents.send_event("new", "Stop", json!({"last_assistant_message": "All done."}));
        let _server = agents.start_server();
        let is_new = |span: &ReceivedSpan| span.attributes["gen_ai.conversation.id"] == "new";
        wait_until(|| agents.spans().iter().any(is_new).then_some(()));
        let mut sessions: Vec<_> =
            agents.spans().iter().map(|span| span.attributes["gen_ai.conversation.id"].clone()).collect();
        sessions.sort();
        assert_eq!(sessions, expected, "{since}");
    }
}
