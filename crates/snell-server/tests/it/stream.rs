//! The stream: order, numbers, coming back, choosing, falling behind.

use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use rustix::net::sockopt::set_socket_recv_buffer_size;
use serde_json::{Value, json};
use snell::{Event, Timestamp};
use snell_store::{Observation, Store};

use crate::support::{Heard, Stream, TestApp, wait_until};

/// The state that a listener is told of last.
fn is_state(state: &str) -> impl Fn(&Heard) -> bool {
    move |heard| heard.event == "card_refresh" && heard.data["state"] == state
}

fn numbers(heard: &[Heard]) -> Vec<i64> {
    heard.iter().map(|one| one.id).collect()
}

/// Stores an event as a hook does, without the server.
fn record(app: &TestApp, name: &str, fields: Value) {
    let (event, _) = Event::from_json(Some(name), fields.to_string().as_bytes()).unwrap();
    let mut store = Store::open(&app.database()).unwrap().store;
    store.ingest(Observation::new(&event, Timestamp::now())).unwrap();
}

#[test]
fn a_listener_is_told_what_happens_in_order() {
    let app = TestApp::start();
    app.begin("before");
    let mut stream = app.listen("");
    assert_eq!(stream.head.status, 200);
    assert_eq!(stream.head.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.head.header("x-accel-buffering"), Some("no"));
    assert_eq!(stream.greeted(), Some(3));
    app.begin("s1");
    app.tell("user-prompt-submit", &json!({"session_id": "s1", "prompt": "Do it"}));
    let heard = stream.until(is_state("processing"));
    let names: Vec<_> = heard.iter().map(|one| one.event.as_str()).collect();
    assert_eq!(
        names,
        [
            "session_created",
            "state_changed",
            "card_refresh",
            "turn_created",
            "state_changed",
            "card_refresh"
        ],
        "only what came after it began to listen"
    );
    let first = heard[0].id;
    assert_eq!(numbers(&heard), (first..first + 6).collect::<Vec<_>>());
    let turn = &heard[3].data;
    for field in [
        "agent_id",
        "project_id",
        "text",
        "actor",
        "intent",
        "command_id",
        "turn_id",
        "timestamp",
    ] {
        assert!(!turn[field].is_null(), "{field} of {turn}");
    }
    assert_eq!((&turn["text"], &turn["actor"]), (&json!("Do it"), &json!("USER")));
    assert_eq!(
        app.json("/api/agents/2/turns")["items"][0]["timestamp"],
        turn["timestamp"]
    );
}

#[test]
fn what_a_hook_beside_the_server_writes_is_told_as_well() {
    let app = TestApp::start();
    let mut stream = app.listen("");
    record(
        &app,
        "UserPromptSubmit",
        json!({"session_id": "s1", "cwd": app.path(), "prompt": "hello"}),
    );
    let heard = stream.until(is_state("processing"));
    assert!(heard.iter().any(|one| one.data["text"] == "hello"), "{heard:?}");
}

#[test]
fn who_comes_back_gets_what_it_has_missed_once_and_then_what_comes() {
    let app = TestApp::start();
    let mut stream = app.listen("");
    app.begin("s1");
    let first = stream.until(is_state("idle"));
    drop(stream);
    let seen = first.last().unwrap().id;
    for number in 0..300 {
        app.tell(
            "user-prompt-submit",
            &json!({"session_id": "s1", "prompt": format!("{number}")}),
        );
    }
    let mut again = app.listen_after("", Some(&seen.to_string()));
    let mut in_query = app.listen(&format!("?last_event_id={seen}"));
    app.tell("session-end", &json!({"session_id": "s1", "reason": "logout"}));
    for stream in [&mut again, &mut in_query] {
        let heard = stream.until(is_state("ended"));
        let last = heard.last().unwrap().id;
        assert_eq!(
            numbers(&heard),
            (seen + 1..=last).collect::<Vec<_>>(),
            "nothing lost, nothing twice"
        );
        assert!(heard.len() > 600, "{}", heard.len());
    }
}

#[test]
fn who_comes_while_much_happens_gets_everything_once() {
    let app = TestApp::start();
    app.begin("s1");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..300 {
                app.tell(
                    "user-prompt-submit",
                    &json!({"session_id": "s1", "prompt": format!("{number}")}),
                );
            }
            app.tell("session-end", &json!({"session_id": "s1", "reason": "logout"}));
        });
        for _ in 0..20 {
            let mut stream = app.listen_after("", Some("0"));
            scope.spawn(move || {
                let heard = stream.until(is_state("ended"));
                assert_eq!(numbers(&heard), (1..=heard.last().unwrap().id).collect::<Vec<_>>());
            });
        }
    });
}

#[test]
fn numbers_go_on_after_a_restart() {
    let app = TestApp::start();
    let mut stream = app.listen("");
    app.begin("s1");
    let seen = stream.until(is_state("idle")).last().unwrap().id;
    app.tell("user-prompt-submit", &json!({"session_id": "s1", "prompt": "go"}));
    let mut app = app.restart();
    let mut stream = app.listen_after("", Some(&seen.to_string()));
    app.tell("stop", &json!({"session_id": "s1", "last_assistant_message": "Done."}));
    let heard = stream.until(is_state("idle"));
    let last = heard.last().unwrap().id;
    assert_eq!(numbers(&heard), (seen + 1..=last).collect::<Vec<_>>());
    app.stop();
    assert_eq!(stream.heard(), None, "the stream ends with its server");
}

#[test]
fn a_listener_chooses_what_it_hears() {
    let app = TestApp::start();
    let agent = app.begin("s1")["agent_id"].clone();
    let other = app.begin("s2");
    let project = other["project_id"].clone();
    let mut streams = [
        app.listen("?types=turn_created,session_ended"),
        app.listen(&format!("?agent_id={agent}&types=turn_created,session_ended")),
        app.listen(&format!("?project_id={project}&types=turn_created,%20session_ended")),
        app.listen("?types=&agent_id=&project_id="),
    ];
    for session in ["s1", "s2"] {
        app.tell("user-prompt-submit", &json!({"session_id": session, "prompt": session}));
    }
    for session in ["s1", "s2"] {
        app.tell("session-end", &json!({"session_id": session, "reason": "logout"}));
    }
    let mut hear = |index: usize, count: usize| {
        let stream = &mut streams[index];
        let heard: Vec<_> = (0..count).map(|_| stream.next()).collect();
        let name = |one: &Heard| match one.event.as_str() {
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
    let mut resumed = app.listen_after(&format!("?types=turn_created&agent_id={agent}"), Some("0"));
    assert_eq!(resumed.next().data["text"], "s1");
}

#[test]
fn a_listener_is_told_now_and_then_that_the_stream_is_there() {
    let app = TestApp::with(|settings| settings.heartbeat = Duration::from_millis(20));
    let mut stream = app.listen("");
    stream.greeted();
    for _ in 0..3 {
        assert_eq!(stream.block().unwrap(), [": heartbeat"]);
    }
}

#[test]
fn who_has_seen_what_is_not_there_is_told_of_a_gap() {
    let app = TestApp::start();
    app.begin("s1");
    let connection = rusqlite::Connection::open(app.database()).unwrap();
    connection
        .execute("UPDATE changes SET change_id = change_id + 1000", [])
        .unwrap();
    let newest: i64 = connection
        .query_row("SELECT max(change_id) FROM changes", [], |row| row.get(0))
        .unwrap();
    let cases = [
        ("5", json!({"from": 5, "to": 1000, "missed": 995}), Some(1001)),
        ("1000", json!(null), Some(1001)),
        ("999999", json!({"from": 999_999, "to": newest, "missed": null}), None),
    ];
    for (seen, gap, next) in cases {
        let mut stream = app.listen_after("", Some(seen));
        assert_eq!(
            stream.greeted(),
            None,
            "whoever is cut off now has not heard of the gap"
        );
        if !gap.is_null() {
            let heard = stream.next();
            assert_eq!((heard.event.as_str(), &heard.data), ("gap", &gap), "{seen}");
            assert_eq!(heard.id, gap["to"].as_i64().unwrap(), "{seen}");
        }
        if let Some(next) = next {
            assert_eq!(stream.next().id, next, "{seen}");
        }
    }
}

#[test]
fn a_slow_listener_gets_one_gap_and_holds_up_nobody() {
    let app = TestApp::with(|settings| {
        settings.stream_queue = 50;
        // Who listens may take longer than who only asks.
        settings.write_timeout = Duration::from_millis(50);
    });
    app.begin("s1");
    let slow = TcpStream::connect(app.address).unwrap();
    set_socket_recv_buffer_size(&slow, 64 * 1024).unwrap();
    let request = app.request("GET", "/api/events/stream").bytes();
    (&slow)
        .write_all(
            &String::from_utf8(request)
                .unwrap()
                .replace("HTTP/1.1", "HTTP/1.0")
                .into_bytes(),
        )
        .unwrap();
    let mut slow = Stream::on(slow);
    let mut fast = app.listen("");
    slow.block();
    // Texts that fill every buffer between the server and somebody who does not read.
    let text = "x".repeat(30_000);
    for number in 0..200 {
        app.tell(
            "user-prompt-submit",
            &json!({"session_id": "s1", "prompt": format!("{number} {text}")}),
        );
        fast.until(|heard| heard.event == "turn_created");
    }
    let newest = fast.until(is_state("processing")).last().unwrap().id;
    let heard = slow.until(|heard| heard.id >= newest);
    let gaps: Vec<_> = heard.iter().filter(|one| one.event == "gap").collect();
    assert_eq!(gaps.len(), 1, "{:?}", numbers(&heard));
    let gap = &gaps[0].data;
    let (from, to) = (gap["from"].as_i64().unwrap(), gap["to"].as_i64().unwrap());
    assert_eq!(gap["missed"], to - from);
    // Everything before and after the gap came, once.
    let mut expected: Vec<i64> = (heard[0].id..=from).collect();
    expected.extend(to..=newest);
    assert_eq!(numbers(&heard), expected);
    let metrics = app.get("/metrics").body;
    assert!(metrics.contains("snell_stream_gaps_total 1"), "{metrics}");
}

#[test]
fn there_is_room_for_so_many_listeners() {
    let app = TestApp::with(|settings| settings.max_stream_clients = 2);
    let first = app.listen("");
    let _second = app.listen("");
    let third = app.get("/api/events/stream");
    assert_eq!(third.status, 503);
    assert_eq!(third.header("retry-after"), Some("5"));
    assert_eq!(third.message(), "too many listen to the stream; try again shortly");
    assert!(app.get("/metrics").body.contains("snell_stream_clients 2"));
    drop(first);
    wait_until(|| Some(app.listen("")).filter(|stream| stream.head.status == 200));
}

#[test]
fn who_has_heard_nothing_yet_can_come_back_as_well() {
    let app = TestApp::start();
    app.begin("s1");
    let seen = app.listen("").greeted().unwrap();
    app.begin("s2");
    let mut again = app.listen_after("", Some(&seen.to_string()));
    assert_eq!(again.greeted(), None);
    let heard = again.next();
    assert_eq!((heard.id, heard.event.as_str()), (seen + 1, "session_created"));
}

/// A database in which much has happened already.
fn another_database(path: &Path) {
    let mut store = Store::open(path).unwrap().store;
    for number in 0..100 {
        let prompt = json!({"session_id": "other", "cwd": "/tmp", "prompt": format!("{number}")});
        let (event, _) = Event::from_json(Some("UserPromptSubmit"), prompt.to_string().as_bytes()).unwrap();
        store.ingest(Observation::new(&event, Timestamp::now())).unwrap();
    }
    store.close().unwrap();
}

/// Does something to every file of the database.
fn each_file(app: &TestApp, what: impl Fn(&Path)) {
    for name in ["snell.db", "snell.db-wal", "snell.db-shm"] {
        what(&app.path().join(name));
    }
}

fn remove(path: &Path) {
    std::fs::remove_file(path).unwrap();
}

#[test]
fn who_listens_while_the_database_is_replaced_is_told_of_one_gap_and_hears_on() {
    type Replace = fn(&TestApp);
    let cases: [(&str, Replace); 4] = [
        ("moved away", |app| {
            each_file(app, |path| {
                let name = path.file_name().unwrap().to_string_lossy();
                std::fs::rename(path, path.with_file_name(format!("old.{name}"))).unwrap();
            });
        }),
        ("deleted", |app| each_file(app, remove)),
        ("replaced by one with higher numbers", |app| {
            let other = app.path().join("other.db");
            another_database(&other);
            each_file(app, remove);
            std::fs::rename(other, app.database()).unwrap();
        }),
        ("filled with something else", |app| {
            let connection = rusqlite::Connection::open(app.database()).unwrap();
            connection.execute("DELETE FROM changes", []).unwrap();
        }),
    ];
    for (how, replace) in cases {
        // Whoever hears nothing but heartbeats would wait for ever.
        let app = TestApp::with(|settings| settings.heartbeat = Duration::from_secs(600));
        let mut stream = app.listen("");
        app.begin("s1");
        let seen = stream.until(is_state("idle")).last().unwrap().id;
        replace(&app);
        // Nobody writes, and yet it is noticed.
        let gap = stream.next();
        assert_eq!(gap.event, "gap", "{how}");
        assert_eq!(
            (&gap.data["from"], &gap.data["missed"]),
            (&json!(seen), &json!(null)),
            "{how}"
        );
        app.begin("s2");
        let heard = stream.until(is_state("idle"));
        assert!(heard.iter().all(|one| one.event != "gap"), "{how}: {heard:?}");
        assert_eq!(heard[0].data["session_id"], "s2", "{how}");
        assert_eq!(heard[0].id, gap.id + 1, "{how}");
    }
}
