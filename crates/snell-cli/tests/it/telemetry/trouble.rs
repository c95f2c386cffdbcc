//! Collectors that fail, refuse or are slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use snell_test_support::database::query_rows;
use snell_test_support::stub_server::{StubReply, StubServer};
use snell_test_support::wait::wait_until;

use super::TelemetrySandbox;

const ONLY_TRACES: &str = "signals = [\"traces\"]";

/// What is stored about the traces, once this is true.
fn wait_for_signal(agents: &TelemetrySandbox, is_reached: impl Fn(&Value) -> bool) -> Value {
    let sql = "SELECT *, (SELECT count(*) FROM telemetry_items) AS waiting FROM telemetry_signals";
    wait_until(|| query_rows(&agents.sandbox.database(), sql).into_iter().next().filter(|row| is_reached(row)))
}

#[test]
fn items_wait_while_the_collector_cannot_take_them() {
    for reply in [
        StubReply::answer(503, ""),
        StubReply::answer(429, ""),
        StubReply::answer(401, ""),
        StubReply::answer(302, ""),
        StubReply::HangUp,
        StubReply::Garbage,
    ] {
        let agents = TelemetrySandbox::with_collector(StubServer::with_reply(reply.clone()), ONLY_TRACES);
        let _server = agents.start_server();
        agents.make_turn("s1");
        let row = wait_for_signal(&agents, |row| row["failures"] != 0);
        assert_eq!((row["sent"].as_i64(), row["refused"].as_i64()), (Some(0), Some(0)), "{reply:?}: {row}");
        let failed = agents.collector.requests().len();
        agents.collector.set_reply(StubReply::answer(200, "{}"));
        wait_for_signal(&agents, |row| row["sent"] == 2 && row["problem"].is_null());
        assert!(agents.collector.requests().len() > failed, "{reply:?}");
    }
}

#[test]
fn items_that_can_never_be_taken_are_counted_and_given_up() {
    let collector = StubServer::with_reply(StubReply::answer(400, r#"{"message": "bad\u001b[2J data"}"#));
    let agents = TelemetrySandbox::with_collector(collector, ONLY_TRACES);
    let _server = agents.start_server();
    agents.make_turn("s1");
    let row = wait_for_signal(&agents, |row| row["refused"] == 2);
    assert_eq!((row["sent"].as_i64(), row["waiting"].as_i64()), (Some(0), Some(0)));
    let problem = row["problem"].as_str().unwrap();
    assert!(problem.starts_with("it answered with status 400 (bad") && !problem.contains('\u{1b}'), "{problem}");
    agents.collector.set_reply(StubReply::answer(200, "{}"));
    agents.make_turn("s2");
    wait_for_signal(&agents, |row| row["sent"] == 2);
}

#[test]
fn what_a_collector_refuses_of_a_request_is_counted() {
    let partial = r#"{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "one is too old"}}"#;
    let agents = TelemetrySandbox::with_collector(StubServer::with_reply(StubReply::answer(200, partial)), ONLY_TRACES);
    agents.make_turn("s1");
    let _server = agents.start_server();
    let row = wait_for_signal(&agents, |row| row["sent"] == 1);
    assert_eq!((row["refused"].as_i64(), row["problem"].as_str()), (Some(1), Some("one is too old")));
}

#[test]
fn a_request_that_is_too_large_is_made_smaller() {
    let most = Arc::new(AtomicUsize::new(0));
    let seen = most.clone();
    let collector = StubServer::with_handler(move |request| {
        let spans = request.json()["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().map_or(0, Vec::len);
        if spans > 3 {
            return StubReply::answer(413, "");
        }
        seen.fetch_max(spans, Ordering::Relaxed);
        StubReply::answer(200, "{}")
    });
    let agents = TelemetrySandbox::with_collector(collector, ONLY_TRACES);
    for session in ["s1", "s2", "s3", "s4", "s5"] {
        agents.make_turn(session);
    }
    let _server = agents.start_server();
    let row = wait_for_signal(&agents, |row| row["sent"] == 10);
    assert_eq!(row["refused"], 0);
    assert!((1..=3).contains(&most.load(Ordering::Relaxed)));
}

#[test]
fn headers_come_from_variables_and_files() {
    let headers = "headers = { authorization = { value_file = \"secret\" }, x-tenant = { value_env = \"HEADER\" } }";
    let agents = TelemetrySandbox::new(&format!("{ONLY_TRACES}\n{headers}"));
    let agents = TelemetrySandbox { sandbox: agents.sandbox.secret_home_file("secret", "Bearer abc\n"), ..agents };
    agents.make_turn("s1");
    let _server = agents.start_server();
    let row = wait_for_signal(&agents, |row| row["failures"] != 0 || row["sent"] == 2);
    assert_eq!(row["problem"], Value::Null);
    let request = agents.collector.next_request();
    assert_eq!(request.headers["authorization"], "Bearer abc");
    assert_eq!(request.headers["x-tenant"], "k");
}

#[test]
fn status_and_doctor_say_how_telemetry_is_doing() {
    let agents = TelemetrySandbox::with_collector(StubServer::with_reply(StubReply::answer(401, "")), ONLY_TRACES);
    let _server = agents.start_server();
    agents.make_turn("s1");
    wait_for_signal(&agents, |row| row["failures"] != 0);
    let status = agents.sandbox.run_snell(&["status"], "");
    assert_eq!(status.code, 1, "{status:?}");
    assert!(status.stdout.contains("traces: 0 sent, 2 waiting"), "{status:?}");
    assert!(status.stdout.contains("cannot send traces to the collector: it answered with status 401"), "{status:?}");
    let doctor = agents.sandbox.run_snell(&["doctor"], "").stdout;
    let url = agents.collector.url();
    assert!(doctor.contains(&format!("traces do not reach {url}: it answered with status 401")), "{doctor}");
    agents.collector.set_reply(StubReply::answer(200, "{}"));
    wait_for_signal(&agents, |row| row["sent"] == 2);
    let status = agents.sandbox.run_snell(&["status"], "").stdout;
    assert!(status.contains("traces: 2 sent, last "), "{status}");
    let doctor = agents.sandbox.run_snell(&["doctor"], "").stdout;
    assert!(doctor.contains(&format!("traces go to {url}")) && !doctor.contains("logs go to"), "{doctor}");
}
