//! Hybrid mode in `/hook/status`.

use std::time::Duration;

use serde_json::{Value, json};
use snell::{Event, Timestamp};
use snell_store::{EventRecord, Store};
use snell_test_support::payload::merge_fields;
use snell_test_support::wait::wait_until;

use crate::support::TestApp;

fn set_quick_polling(app: &mut snell_server::ServeSettings) {
    app.poll_schedule.poll_active = Duration::from_secs(3600);
    app.poll_schedule.poll_silent = Duration::from_millis(5);
    app.poll_schedule.silent_after = Duration::from_millis(300);
}

/// The number of checks of all agents.
fn count_reconciler_runs(app: &TestApp) -> u64 {
    let metrics = app.get("/metrics").body;
    let line = metrics.lines().find_map(|line| line.strip_prefix("snell_reconciler_runs_total{outcome=\"done\"} "));
    line.map_or(0, |count| count.parse().unwrap())
}

#[test]
fn without_hooks_the_server_polls() {
    let app = TestApp::start();
    assert_eq!(
        app.get_json("/hook/status"),
        json!({
            "enabled": true, "mode": "polling_fallback", "last_event_at": null, "last_event_ago": null,
            "last_event_type": null, "events_received": 0, "polling_interval": 2,
            "config": {"poll_active": 60, "poll_silent": 2, "silent_after": 300, "heartbeat": 30,
                "max_stream_clients": 1000, "access": "this_user"},
        })
    );
}

#[test]
fn a_hook_makes_the_server_rely_on_hooks() {
    let app = TestApp::start();
    app.begin_session("s1");
    let status = app.get_json("/hook/status");
    assert_eq!((&status["mode"], &status["polling_interval"]), (&json!("hooks_active"), &json!(60)));
    assert_eq!((&status["last_event_type"], &status["events_received"]), (&json!("SessionStart"), &json!(1)));
    let at: Timestamp = status["last_event_at"].as_str().unwrap().parse().unwrap();
    // The event did not arrive before the last refresh.
    let event = app.get_json("/api/events")["items"][0]["at"].clone();
    let event: Timestamp = event.as_str().unwrap().parse().unwrap();
    assert!(event <= at && at <= Timestamp::now(), "{event} {status}");
    assert!(status["last_event_ago"].as_f64().unwrap() >= 0.0);
}

#[test]
fn hook_events_in_the_database_count_as_well() {
    let app = TestApp::start();
    let text = json!({"session_id": "s1", "cwd": app.data_dir()}).to_string();
    let (event, _) = Event::from_json(Some("Stop"), text.as_bytes()).unwrap();
    let mut store = Store::open(&app.database_path()).unwrap().store;
    store.ingest(EventRecord::new(&event, Timestamp::now())).unwrap();
    let status = app.get_json("/hook/status");
    assert_eq!((&status["mode"], &status["events_received"]), (&json!("hooks_active"), &json!(1)));
    // Events before the start are known, but do not count as received.
    let app = app.restart();
    let status = app.get_json("/hook/status");
    assert_eq!((&status["last_event_type"], &status["events_received"]), (&json!("Stop"), &json!(0)));
    assert_eq!(status["mode"], "hooks_active");
}

#[test]
fn a_late_event_counts_as_current_activity() {
    let app = TestApp::start();
    app.get_json("/hook/status");
    app.send_event("stop", &json!({"session_id": "s1", "timestamp": "2020-01-01T00:00:00Z"}));
    let status = app.get_json("/hook/status");
    assert_eq!(status["mode"], "hooks_active");
    assert!(status["last_event_ago"].as_f64().unwrap() < 3600.0, "{status}");
}

#[test]
fn a_duplicate_event_counts_as_activity() {
    let app = TestApp::with_settings(set_quick_polling);
    let event = json!({"session_id": "s1", "event_id": "once"});
    app.send_event("stop", &event);
    wait_until(|| (app.get_json("/hook/status")["mode"] == "polling_fallback").then_some(()));
    let status = wait_until(|| {
        assert_eq!(app.send_event("stop", &event)["duplicate"], true);
        Some(app.get_json("/hook/status")).filter(|status| status["mode"] == "hooks_active")
    });
    assert_eq!((&status["last_event_type"], &status["events_received"]), (&json!("Stop"), &json!(1)));
}

#[test]
fn silence_makes_the_server_poll_more_often_until_hook_events_arrive() {
    let app = TestApp::with_settings(set_quick_polling);
    let told = |mode: &str| {
        let status: Value = app.get_json("/hook/status");
        (status["mode"] == mode).then(|| status["polling_interval"].as_f64().unwrap())
    };
    let before = count_reconciler_runs(&app);
    wait_until(|| (count_reconciler_runs(&app) > before + 3).then_some(()));
    assert_eq!(told("polling_fallback"), Some(0.005));
    // While hook events arrive, the server checks agents at most once an hour.
    let calm = wait_until(|| {
        app.begin_session("s1");
        let calm = count_reconciler_runs(&app);
        // Long enough for many checks, if there were any.
        for _ in 0..20 {
            app.begin_session("s1");
        }
        (told("hooks_active") == Some(3600.0) && count_reconciler_runs(&app) == calm).then_some(calm)
    });
    wait_until(|| told("polling_fallback"));
    wait_until(|| (count_reconciler_runs(&app) > calm + 3).then_some(()));
}

#[test]
fn text_in_the_transcript_after_the_end_of_a_turn_is_found() {
    let app = TestApp::with_settings(|settings| settings.poll_schedule.poll_silent = Duration::from_secs(3600));
    let transcript = app.data_dir().join("transcript.jsonl");
    std::fs::write(&transcript, "").unwrap();
    let tell = |route: &str, more: Value| {
        let body =
            merge_fields(json!({"session_id": "s1", "cwd": app.data_dir(), "transcript_path": transcript}), &more);
        app.send_event(route, &body)
    };
    tell("session-start", json!({}));
    tell("user-prompt-submit", json!({"prompt": "say it"}));
    tell("stop", json!({}));
    let entry = json!({
        "type": "assistant", "sessionId": "s1", "uuid": "u1", "timestamp": Timestamp::now().to_string(),
        "message": {"role": "assistant", "content": [{"type": "text", "text": "It is said."}]},
    });
    std::fs::write(&transcript, format!("{entry}\n")).unwrap();
    wait_until(|| {
        let turns = app.get_json("/api/agents/1/turns");
        let said = turns["items"].as_array().unwrap().iter().any(|turn| turn["text"] == "It is said.");
        said.then_some(())
    });
}
