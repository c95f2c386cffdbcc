//! The stream: order, numbers, resuming, filters and gaps.

use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size;
use serde_json::{Value, json};
use snell::{Event, Timestamp};
use snell_store::{EventRecord, Store};
use snell_test_support::sse::{SseClient, SseEvent};
use snell_test_support::wait::wait_until;

use crate::support::TestApp;

/// The last state that a client gets.
fn is_state(state: &str) -> impl Fn(&SseEvent) -> bool {
    move |heard| heard.event == "card_refresh" && heard.data["state"] == state
}

fn list_event_ids(heard: &[SseEvent]) -> Vec<i64> {
    heard.iter().map(|one| one.id).collect()
}

/// Stores an event as a hook does, without the server.
fn store_event(app: &TestApp, name: &str, fields: Value) {
    let (event, _) = Event::from_json(Some(name), fields.to_string().as_bytes()).unwrap();
    let mut store = Store::open(&app.database_path()).unwrap().store;
    store.ingest(EventRecord::new(&event, Timestamp::now())).unwrap();
}

#[test]
fn a_client_gets_changes_in_order() {
    let app = TestApp::start();
    app.begin_session("before");
    let mut stream = app.open_stream("");
    assert_eq!(stream.head.status, 200);
    assert_eq!(stream.head.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.head.header("x-accel-buffering"), Some("no"));
    assert_eq!(stream.read_greeting(), Some(3));
    app.begin_session("s1");
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "Do it"}));
    let heard = stream.read_until(is_state("processing"));
    let names: Vec<_> = heard.iter().map(|one| one.event.as_str()).collect();
    assert_eq!(
        names,
        ["session_created", "state_changed", "card_refresh", "turn_created", "state_changed", "card_refresh"],
        "only what came after it began to listen"
    );
    let first = heard[0].id;
    assert_eq!(list_event_ids(&heard), (first..first + 6).collect::<Vec<_>>());
    let turn = &heard[3].data;
    for field in ["agent_id", "project_id", "text", "actor", "intent", "command_id", "turn_id", "timestamp"] {
        assert!(!turn[field].is_null(), "{field} of {turn}");
    }
    assert_eq!((&turn["text"], &turn["actor"]), (&json!("Do it"), &json!("USER")));
    assert_eq!(app.get_json("/api/agents/2/turns")["items"][0]["timestamp"], turn["timestamp"]);
}

#[test]
fn a_client_gets_changes_that_a_hook_writes() {
    let app = TestApp::start();
    let mut stream = app.open_stream("");
    store_event(&app, "UserPromptSubmit", json!({"session_id": "s1", "cwd": app.data_dir(), "prompt": "hello"}));
    let heard = stream.read_until(is_state("processing"));
    assert!(heard.iter().any(|one| one.data["text"] == "hello"), "{heard:?}");
}

#[test]
fn a_returning_client_gets_missed_changes_once_and_then_live_ones() {
    let app = TestApp::start();
    let mut stream = app.open_stream("");
    app.begin_session("s1");
    let first = stream.read_until(is_state("idle"));
    drop(stream);
    let seen = first.last().unwrap().id;
    for number in 0..300 {
        app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("{number}")}));
    }
    let mut again = app.open_stream_after("", Some(&seen.to_string()));
    let mut in_query = app.open_stream(&format!("?last_event_id={seen}"));
    app.send_event("session-end", &json!({"session_id": "s1", "reason": "logout"}));
    for stream in [&mut again, &mut in_query] {
        let heard = stream.read_until(is_state("ended"));
        let last = heard.last().unwrap().id;
        assert_eq!(list_event_ids(&heard), (seen + 1..=last).collect::<Vec<_>>(), "nothing lost, nothing twice");
        assert!(heard.len() > 600, "{}", heard.len());
    }
}

#[test]
fn a_client_that_connects_during_a_burst_gets_everything_once() {
    let app = TestApp::start();
    app.begin_session("s1");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..300 {
                app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("{number}")}));
            }
            app.send_event("session-end", &json!({"session_id": "s1", "reason": "logout"}));
        });
        for _ in 0..20 {
            let mut stream = app.open_stream_after("", Some("0"));
            scope.spawn(move || {
                let heard = stream.read_until(is_state("ended"));
                assert_eq!(list_event_ids(&heard), (1..=heard.last().unwrap().id).collect::<Vec<_>>());
            });
        }
    });
}

#[test]
fn numbers_continue_after_a_restart() {
    let app = TestApp::start();
    let mut stream = app.open_stream("");
    app.begin_session("s1");
    let seen = stream.read_until(is_state("idle")).last().unwrap().id;
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "go"}));
    let mut app = app.restart();
    let mut stream = app.open_stream_after("", Some(&seen.to_string()));
    app.send_event("stop", &json!({"session_id": "s1", "last_assistant_message": "Done."}));
    let heard = stream.read_until(is_state("idle"));
    let last = heard.last().unwrap().id;
    assert_eq!(list_event_ids(&heard), (seen + 1..=last).collect::<Vec<_>>());
    app.stop();
    assert_eq!(stream.read_event(), None, "the stream ends with its server");
}

#[test]
fn a_client_can_filter_changes() {
    let app = TestApp::start();
    let agent = app.begin_session("s1")["agent_id"].clone();
    let other = app.begin_session("s2");
    let project = other["project_id"].clone();
    let mut streams = [
        app.open_stream("?types=turn_created,session_ended"),
        app.open_stream(&format!("?agent_id={agent}&types=turn_created,session_ended")),
        app.open_stream(&format!("?project_id={project}&types=turn_created,%20session_ended")),
        app.open_stream("?types=&agent_id=&project_id="),
    ];
    for session in ["s1", "s2"] {
        app.send_event("user-prompt-submit", &json!({"session_id": session, "prompt": session}));
    }
    for session in ["s1", "s2"] {
        app.send_event("session-end", &json!({"session_id": session, "reason": "logout"}));
    }
    let mut hear = |index: usize, count: usize| {
        let stream = &mut streams[index];
        let heard: Vec<_> = (0..count).map(|_| stream.next_event()).collect();
        let name = |one: &SseEvent| match one.event.as_str() {
            "turn_created" => one.data["text"].as_str().unwrap().to_owned(),
            other => format!("{other} {}", one.data["session_id"].as_str().unwrap_or_default()),
        };
        heard.iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(hear(0, 4), ["s1", "s2", "session_ended s1", "session_ended s2"]);
    assert_eq!(hear(1, 2), ["s1", "session_ended s1"]);
    assert_eq!(hear(2, 2), ["s2", "session_ended s2"]);
    assert!(hear(3, 6).len() == 6, "without a choice everything comes");
    drop(streams);
    let mut resumed = app.open_stream_after(&format!("?types=turn_created&agent_id={agent}"), Some("0"));
    assert_eq!(resumed.next_event().data["text"], "s1");
}

#[test]
fn a_client_gets_heartbeats() {
    let app = TestApp::with_settings(|settings| settings.heartbeat = Duration::from_millis(20));
    let mut stream = app.open_stream("");
    stream.read_greeting();
    for _ in 0..3 {
        assert_eq!(stream.read_block().unwrap(), [": heartbeat"]);
    }
}

#[test]
fn a_client_that_is_ahead_of_the_database_gets_a_gap() {
    let app = TestApp::start();
    app.begin_session("s1");
    let connection = rusqlite::Connection::open(app.database_path()).unwrap();
    connection.execute("UPDATE changes SET change_id = change_id + 1000", []).unwrap();
    let newest: i64 = connection.query_row("SELECT max(change_id) FROM changes", [], |row| row.get(0)).unwrap();
    let cases = [
        ("5", json!({"from": 5, "to": 1000, "missed": 995}), Some(1001)),
        ("1000", json!(null), Some(1001)),
        ("999999", json!({"from": 999_999, "to": newest, "missed": null}), None),
    ];
    for (seen, gap, next) in cases {
        let mut stream = app.open_stream_after("", Some(seen));
        assert_eq!(stream.read_greeting(), None, "whoever is cut off now has not heard of the gap");
        if !gap.is_null() {
            let heard = stream.next_event();
            assert_eq!((heard.event.as_str(), &heard.data), ("gap", &gap), "{seen}");
            assert_eq!(heard.id, gap["to"].as_i64().unwrap(), "{seen}");
        }
        if let Some(next) = next {
            assert_eq!(stream.next_event().id, next, "{seen}");
        }
    }
}

#[test]
fn a_slow_client_gets_one_gap_and_delays_no_others() {
    let app = TestApp::with_settings(|settings| {
        settings.stream_queue = 50;
        // A stream client may take longer than a normal one.
        settings.write_timeout = Duration::from_millis(50);
    });
    app.begin_session("s1");
    let slow = TcpStream::connect(app.address).unwrap();
    set_socket_recv_buffer_size(&slow, 64 * 1024).unwrap();
    let request = app.request("GET", "/api/events/stream").bytes();
    (&slow).write_all(&String::from_utf8(request).unwrap().replace("HTTP/1.1", "HTTP/1.0").into_bytes()).unwrap();
    let mut slow = SseClient::from_connection(slow).unwrap();
    let mut fast = app.open_stream("");
    slow.read_block();
    // Texts that fill every buffer between the server and a client that does not read.
    let text = "x".repeat(30_000);
    for number in 0..200 {
        app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("{number} {text}")}));
        fast.read_until(|heard| heard.event == "turn_created");
    }
    let newest = fast.read_until(is_state("processing")).last().unwrap().id;
    let heard = slow.read_until(|heard| heard.id >= newest);
    let gaps: Vec<_> = heard.iter().filter(|one| one.event == "gap").collect();
    assert_eq!(gaps.len(), 1, "{:?}", list_event_ids(&heard));
    let gap = &gaps[0].data;
    let (from, to) = (gap["from"].as_i64().unwrap(), gap["to"].as_i64().unwrap());
    assert_eq!(gap["missed"], to - from);
    // Everything before and after the gap arrived once.
    let mut expected: Vec<i64> = (heard[0].id..=from).collect();
    expected.extend(to..=newest);
    assert_eq!(list_event_ids(&heard), expected);
    let metrics = app.get("/metrics").body;
    assert!(metrics.contains("snell_stream_gaps_total 1"), "{metrics}");
}

#[test]
fn the_number_of_clients_is_limited() {
    let app = TestApp::with_settings(|settings| settings.max_stream_clients = 2);
    let first = app.open_stream("");
    let _second = app.open_stream("");
    let third = app.get("/api/events/stream");
    assert_eq!(third.status, 503);
    assert_eq!(third.header("retry-after"), Some("5"));
    assert_eq!(third.message(), "too many stream clients (hint: try again in a moment)");
    assert!(app.get("/metrics").body.contains("snell_stream_clients 2"));
    drop(first);
    wait_until(|| Some(app.open_stream("")).filter(|stream| stream.head.status == 200));
}

#[test]
fn a_client_without_changes_can_resume() {
    let app = TestApp::start();
    app.begin_session("s1");
    let seen = app.open_stream("").read_greeting().unwrap();
    app.begin_session("s2");
    let mut again = app.open_stream_after("", Some(&seen.to_string()));
    assert_eq!(again.read_greeting(), None);
    let heard = again.next_event();
    assert_eq!((heard.id, heard.event.as_str()), (seen + 1, "session_created"));
}

/// A database with many changes.
fn create_other_database(path: &Path) {
    let mut store = Store::open(path).unwrap().store;
    for number in 0..100 {
        let prompt = json!({"session_id": "other", "cwd": "/tmp", "prompt": format!("{number}")});
        let (event, _) = Event::from_json(Some("UserPromptSubmit"), prompt.to_string().as_bytes()).unwrap();
        store.ingest(EventRecord::new(&event, Timestamp::now())).unwrap();
    }
    store.close().unwrap();
}

/// Calls a function for every file of the database.
fn for_each_database_file(app: &TestApp, what: impl Fn(&Path)) {
    for name in ["snell.db", "snell.db-wal", "snell.db-shm"] {
        what(&app.data_dir().join(name));
    }
}

fn remove_file(path: &Path) {
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_client_gets_one_gap_if_the_database_is_replaced() {
    type DatabaseReplacement = fn(&TestApp);
    let cases: [(&str, DatabaseReplacement); 4] = [
        ("moved away", |app| {
            for_each_database_file(app, |path| {
                let name = path.file_name().unwrap().to_string_lossy();
                std::fs::rename(path, path.with_file_name(format!("old.{name}"))).unwrap();
            });
        }),
        ("deleted", |app| for_each_database_file(app, remove_file)),
        ("replaced by one with higher numbers", |app| {
            let other = app.data_dir().join("other.db");
            create_other_database(&other);
            for_each_database_file(app, remove_file);
            std::fs::rename(other, app.database_path()).unwrap();
        }),
        ("filled with something else", |app| {
            let connection = rusqlite::Connection::open(app.database_path()).unwrap();
            connection.execute("DELETE FROM changes", []).unwrap();
        }),
    ];
    for (how, replace) in cases {
        // A client that gets only heartbeats would wait forever.
        let app = TestApp::with_settings(|settings| settings.heartbeat = Duration::from_secs(600));
        let mut stream = app.open_stream("");
        app.begin_session("s1");
        let seen = stream.read_until(is_state("idle")).last().unwrap().id;
        replace(&app);
        // The replacement is noticed without a write.
        let gap = stream.next_event();
        assert_eq!(gap.event, "gap", "{how}");
        assert_eq!((&gap.data["from"], &gap.data["missed"]), (&json!(seen), &json!(null)), "{how}");
        app.begin_session("s2");
        let heard = stream.read_until(is_state("idle"));
        assert!(heard.iter().all(|one| one.event != "gap"), "{how}: {heard:?}");
        assert_eq!(heard[0].data["session_id"], "s2", "{how}");
        assert_eq!(heard[0].id, gap.id + 1, "{how}");
    }
}
