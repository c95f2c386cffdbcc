//! The writer: many events per transaction, and a database that cannot be written.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use snell::{Event, Timestamp};
use snell_store::{EventRecord, PendingClaim, PendingQueue};
use snell_test_support::wait::wait_until;

use crate::support::TestApp;

/// A number from the metrics.
fn read_metric(app: &TestApp, name: &str) -> f64 {
    let metrics = app.get("/metrics").body;
    let line = metrics.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.unwrap_or_else(|| panic!("{name} in {metrics}")).parse().unwrap()
}

#[test]
fn simultaneous_events_are_stored_in_one_transaction() {
    let app = TestApp::start();
    app.begin_session("s0");
    let connection = rusqlite::Connection::open(app.database_path()).unwrap();
    let taken = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // While another process holds the lock, events wait in the queue.
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        for client in 0..24 {
            let (app, taken) = (&app, &taken);
            scope.spawn(move || {
                let body = json!({"session_id": format!("s{client}"), "event_id": format!("e{client}")});
                // The lock may last longer than a request waits; then the client tries again.
                wait_until(|| (app.post_hook("stop", &body).status == 200).then_some(()));
                taken.fetch_add(1, Ordering::Relaxed);
            });
        }
        wait_until(|| (read_metric(&app, "snell_queue_depth") >= 20.0).then_some(()));
        connection.execute_batch("COMMIT").unwrap();
    });
    assert_eq!(taken.into_inner(), 24);
    assert_eq!(app.get_json("/api/events?event=Stop&limit=500")["items"].as_array().unwrap().len(), 24);
    let (batches, events) =
        (read_metric(&app, "snell_commit_batch_size_count"), read_metric(&app, "snell_commit_batch_size_sum"));
    assert!(batches < events, "{batches} transactions for {events} events");
}

#[test]
fn a_locked_database_is_reported_and_loses_nothing() {
    let app = TestApp::start();
    app.begin_session("s1");
    let connection = rusqlite::Connection::open(app.database_path()).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let body = json!({"session_id": "s1", "event_id": "once"});
    let answer = app.post_hook("stop", &body);
    assert_eq!(answer.status, 503);
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.message(), "the database is locked (hint: try again in a moment)");
    connection.execute_batch("ROLLBACK").unwrap();
    assert_eq!(app.send_event("stop", &body)["duplicate"], false);
    assert_eq!(app.get_json("/api/events?event=Stop")["items"].as_array().unwrap().len(), 1);
}

#[test]
fn pending_events_of_other_processes_are_stored() {
    let app = TestApp::start();
    app.begin_session("s1");
    let (event, _) = Event::from_json(Some("Stop"), br#"{"session_id":"s1"}"#).unwrap();
    let observation = EventRecord::new(&event, Timestamp::now());
    PendingQueue::in_data_dir(app.data_dir()).push(&observation.into(), PendingClaim::Anyone).unwrap();
    wait_until(|| {
        let events = app.get_json("/api/events?event=Stop");
        (events["items"].as_array().unwrap().len() == 1).then_some(())
    });
}

#[test]
fn a_log_that_is_removed_under_the_server_loses_no_event() {
    for names in [&["snell.db-wal"][..], &["snell.db-wal", "snell.db-shm"]] {
        let app = TestApp::start();
        app.begin_session("s1");
        for round in 0..24 {
            for event in 0..2 {
                let body = json!({"session_id": "s1", "event_id": format!("e{round}-{event}")});
                assert_eq!(app.send_event("stop", &body)["duplicate"], false, "{names:?}");
            }
            for name in names {
                // A connection that holds the removed index prevents a new one.
                let _ = std::fs::remove_file(app.data_dir().join(name));
            }
        }
        // A read may come before the log is reopened.
        let events = wait_until(|| {
            let answer = app.get("/api/events?event=Stop&limit=500");
            (answer.status == 200).then(|| answer.json()["items"].as_array().unwrap().len())
        });
        assert_eq!(events, 48, "{names:?}");
    }
}

#[test]
fn a_damaged_database_is_replaced_and_the_server_continues() {
    let mut app = TestApp::start();
    app.begin_session("s1");
    app.stop();
    std::fs::write(app.database_path(), vec![b'x'; 8192]).unwrap();
    let app = app.restart();
    app.begin_session("s2");
    assert_eq!(app.get_json("/api/agents")["items"].as_array().unwrap().len(), 1);
    let names = std::fs::read_dir(app.data_dir()).unwrap().flatten().map(|entry| entry.file_name());
    let aside = names.filter(|name| name.to_string_lossy().starts_with("snell.db.damaged-"));
    assert!(aside.count() > 0);
}
