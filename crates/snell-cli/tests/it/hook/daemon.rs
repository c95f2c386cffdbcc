//! The process that keeps the database open for hooks: nobody depends on it, and it does not outstay its welcome.

use std::fs::{self, File};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;
use serde_json::json;
use snell::{Event, Timestamp};
use snell_store::daemon::{self, DaemonRequest, DaemonResponse, DeliveryOutcome, HandoffOutcome};
use snell_store::{DecisionRecord, EventRecord, ReminderRecord, SessionSnapshot, SnapshotQuery};
use snell_test_support::process::{Signal, is_process_running, send_signal};
use snell_test_support::wait::wait_until;

use super::{HookSandbox, RecordingMode};

/// Whether a process has something to do before a signal ends it.
fn is_signal_caught(pid: u32, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// A project with a scribe, which has recorded one event.
fn start_with_daemon() -> (HookSandbox, u32) {
    let watched = HookSandbox::new(RecordingMode::WithDaemon);
    watched.send_prompt("s1", "Go.");
    watched.wait_for_daemon();
    let pid = wait_until(|| watched.find_daemon_pid());
    (watched, pid)
}

/// What it answers, however slow the machine is.
fn query_daemon(watched: &HookSandbox, inquiry: &SnapshotQuery) -> DaemonResponse {
    wait_until(|| match daemon::query_session(&watched.sandbox.data(), inquiry) {
        DeliveryOutcome::Done(response) => Some(response),
        DeliveryOutcome::NotRunning | DeliveryOutcome::NoAnswer => None,
    })
}

#[test]
fn the_first_hook_hires_one_and_the_next_ones_use_it() {
    let (watched, pid) = start_with_daemon();
    for number in 0..20 {
        watched.send_prompt("s1", &format!("Number {number}"));
    }
    assert_eq!(watched.find_daemon_pid(), Some(pid));
    let found = watched.query_rows("SELECT correlation FROM events WHERE id > 2");
    assert!(found.iter().all(|row| row["correlation"] == "session_id"), "{found:?}");
}

#[test]
fn many_first_hooks_hire_only_one() {
    let watched = HookSandbox::new(RecordingMode::WithDaemon);
    std::thread::scope(|scope| {
        for number in 0..16 {
            let watched = &watched;
            // On a busy machine, an event may wait on disk until the daemon runs.
            scope.spawn(move || {
                let prompt = watched.build_payload(&format!("s{number}"), "UserPromptSubmit", json!({"prompt": "Go."}));
                let said = watched.run_hook(&prompt);
                assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{said:?}");
            });
        }
    });
    watched.wait_for_daemon();
    let pid = wait_until(|| watched.find_daemon_pid());
    watched.send_prompt("s1", "Once more.");
    assert_eq!(watched.find_daemon_pid(), Some(pid));
    wait_until(|| (watched.count_rows("events") == 17).then_some(()));
}

#[test]
fn it_ends_soon_after_its_directory_is_removed() {
    let (watched, pid) = start_with_daemon();
    let data = watched.sandbox.data();
    let removed = Instant::now();
    // It may be writing while its files are being removed.
    wait_until(|| fs::remove_dir_all(&data).is_ok().then_some(()));
    wait_until(|| (!is_process_running(pid)).then_some(()));
    assert!(removed.elapsed() < Duration::from_secs(4), "{:?}", removed.elapsed());
}

#[test]
fn it_does_not_bring_back_a_directory_that_was_removed() {
    let (watched, pid) = start_with_daemon();
    watched.send_silent_event("s1", "Stop", json!({"last_assistant_message": "Done."}));
    fs::remove_dir_all(watched.sandbox.data()).unwrap();
    wait_until(|| (!is_process_running(pid)).then_some(()));
    assert!(
        !watched.sandbox.data().exists(),
        "{:?}",
        fs::read_dir(watched.sandbox.data()).unwrap().collect::<Vec<_>>()
    );
}

#[test]
fn it_ends_when_its_socket_is_removed_and_the_next_hook_hires_another() {
    let (watched, pid) = start_with_daemon();
    fs::remove_file(watched.sandbox.data().join("scribe.sock")).unwrap();
    wait_until(|| (!is_process_running(pid)).then_some(()));
    watched.send_prompt("s1", "Again.");
    watched.wait_for_daemon();
    assert_ne!(wait_until(|| watched.find_daemon_pid()), pid);
    watched.send_prompt("s1", "And again.");
    assert_eq!(watched.count_rows("events"), 3);
}

#[test]
fn its_death_is_nobodys_trouble() {
    let (watched, pid) = start_with_daemon();
    send_signal(pid, Signal::KILL);
    wait_until(|| (!is_process_running(pid)).then_some(()));
    watched.send_prompt("s1", "Are you there?");
    watched.wait_for_daemon();
    watched.send_prompt("s1", "Now?");
    assert_eq!(watched.count_rows("events"), 3);
    assert_eq!(watched.query_value("PRAGMA integrity_check"), "ok");
}

#[test]
fn one_that_does_not_answer_costs_time_and_nothing_else() {
    let (watched, pid) = start_with_daemon();
    send_signal(pid, Signal::STOP);
    let prompt =
        |text: &str| watched.run_hook(&watched.build_payload("s1", "UserPromptSubmit", json!({"prompt": text})));
    prompt("Wake up.").assert_silent();
    // It has not answered for long.
    let pending = fs::read_dir(watched.sandbox.data().join("pending")).unwrap();
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    for note in pending.flatten() {
        File::options().write(true).open(note.path()).unwrap().set_modified(an_hour_ago).unwrap();
    }
    assert_eq!(
        prompt("Wake up!").expect_single_warning(),
        "snell: warning: the daemon does not answer, so events wait on disk\n"
    );
    send_signal(pid, Signal::CONT);
    watched.send_prompt("s1", "Good morning.");
    // It was told while it slept, and found notes of it: each is one event.
    assert_eq!(watched.count_rows("events"), 4);
    assert_eq!(watched.count_rows("turns"), 4);
}

#[test]
fn nonsense_at_its_door_does_not_disturb_it() {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    let (watched, pid) = start_with_daemon();
    let socket = watched.sandbox.data().join("scribe.sock");
    for nonsense in ["", "x", "{\"record\": 7}", "{\"record\": {}}", "[1, 2"] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(nonsense.as_bytes()).unwrap();
    }
    let _silent = UnixStream::connect(&socket).unwrap();
    watched.send_prompt("s1", "Still here?");
    assert_eq!((watched.find_daemon_pid(), watched.count_rows("events")), (Some(pid), 2));
}

#[test]
fn it_answers_what_is_known_once_everything_is_stored_that_came_before() {
    let (watched, pid) = start_with_daemon();
    let data = watched.sandbox.data();
    let inquiry = SnapshotQuery { own_session_id: Some("s1".into()), workers: true, ..SnapshotQuery::default() };
    let known = |inquiry: &SnapshotQuery| {
        let response = query_daemon(&watched, inquiry);
        (response.facts.unwrap(), response.remarks)
    };
    assert!(known(&inquiry).0.started_at.is_some());
    assert_eq!(known(&SnapshotQuery::default()), (SessionSnapshot::default(), vec![]));
    // Both have come when it wakes up.
    send_signal(pid, Signal::STOP);
    let payload = watched.build_payload("s1", "SubagentStop", json!({"agent_id": "a1"}));
    let (event, _) = Event::from_json(None, payload.to_string().as_bytes()).unwrap();
    let mut observation = EventRecord::new(&event, Timestamp::now());
    observation.judgement = Some(DecisionRecord {
        reminded: ReminderRecord { stop_level: Some(60), ..ReminderRecord::default() },
        ..DecisionRecord::default()
    });
    let request = DaemonRequest::Record { record: Box::new(observation.into()), pending: None, is_spooled: false };
    assert_eq!(daemon::send_nowait(&data, &request), HandoffOutcome::Accepted);
    let (facts, remarks) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| known(&inquiry));
        send_signal(pid, Signal::CONT);
        asked.join().unwrap()
    });
    assert_eq!((facts.stop_level, facts.workers.len(), remarks), (60, 1, vec![]));
    // One that is at work elsewhere does not answer, and nobody waits for it for long.
    send_signal(pid, Signal::STOP);
    assert!(matches!(daemon::query_session(&data, &inquiry), DeliveryOutcome::NoAnswer));
    send_signal(pid, Signal::CONT);
}

#[test]
fn it_says_so_if_it_cannot_look() {
    let (watched, _) = start_with_daemon();
    let database = Connection::open(watched.database_path()).unwrap();
    database.execute_batch("DROP TABLE session_ids").unwrap();
    let inquiry = SnapshotQuery { own_session_id: Some("s1".into()), ..SnapshotQuery::default() };
    let response = query_daemon(&watched, &inquiry);
    assert_eq!(response.facts, None);
    assert_eq!(
        response.remarks,
        ["cannot read the session (database error: no such table: session_ids), so Snell gives no reminders"]
    );
}

#[test]
fn it_holds_nothing_of_the_agent_that_hired_it() {
    // Were its output still the agent's, an agent that reads to the end would wait for it.
    let (watched, pid) = start_with_daemon();
    for (descriptor, target) in [(1, "/dev/null"), (2, "/dev/null")] {
        let path = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).unwrap();
        assert_eq!(path.to_str(), Some(target));
    }
    let input = fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
    assert_eq!(input, watched.sandbox.data().canonicalize().unwrap().join("scribe.lock"));
    let directory = fs::read_link(format!("/proc/{pid}/cwd")).unwrap();
    assert_eq!(directory.to_str(), Some("/"));
}

#[test]
fn it_is_in_a_session_of_its_own() {
    let (_watched, pid) = start_with_daemon();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let session = rest.split_ascii_whitespace().nth(3).unwrap();
    assert_eq!(session, pid.to_string());
}

#[test]
fn one_that_is_told_to_end_stores_first_what_it_was_handed() {
    const EVENTS: i64 = 40;
    for (signal, number) in [(Signal::TERM, 15), (Signal::INT, 2), (Signal::HUP, 1)] {
        let (watched, pid) = start_with_daemon();
        // It is ready for hooks a moment before it is ready to be ended.
        wait_until(|| is_signal_caught(pid, number).then_some(()));
        // While it sleeps, it is handed more than it can have looked at when it is told to end.
        send_signal(pid, Signal::STOP);
        for number in 0..EVENTS {
            let payload =
                watched.build_payload("s1", "UserPromptSubmit", json!({"prompt": format!("Number {number}")}));
            let (event, _) = Event::from_json(None, payload.to_string().as_bytes()).unwrap();
            let request = DaemonRequest::Record {
                record: Box::new(EventRecord::new(&event, Timestamp::now()).into()),
                pending: None,
                is_spooled: false,
            };
            let handed = daemon::send_nowait(&watched.sandbox.data(), &request);
            assert_eq!(handed, HandoffOutcome::Accepted, "{signal:?} {number}");
        }
        send_signal(pid, signal);
        send_signal(pid, Signal::CONT);
        wait_until(|| (!is_process_running(pid)).then_some(()));
        assert_eq!(watched.count_rows("events"), 1 + EVENTS, "{signal:?}");
        assert_eq!(watched.query_value("PRAGMA integrity_check"), "ok", "{signal:?}");
    }
}

/// Hooks and daemons of version 0.1 share a data directory with this one while it is upgraded.
#[test]
fn a_hook_of_an_older_version_can_hand_it_events_and_they_are_masked() {
    use std::io::{Read, Write};
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;
    let (watched, _) = start_with_daemon();
    let secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
    let payload = watched.build_payload("s1", "UserPromptSubmit", json!({"prompt": format!("use {secret}")}));
    let pending = watched.sandbox.data().join("pending");
    fs::create_dir_all(&pending).unwrap();
    fs::write(pending.join("01772366400000000000-1-1-0.json"), "{}").unwrap();
    let request = json!({"record": {
        "observation": {
            "event_id": "old-1", "at": Timestamp::now(), "event": "UserPromptSubmit", "payload": payload,
            "sender": {"product": "claude"}, "judgement": {"decision": "allow", "took_us": 3},
        },
        "note": {"Unix": "01772366400000000000-1-1-0.json".as_bytes()},
    }});
    let mut stream = UnixStream::connect(watched.sandbox.data().join("scribe.sock")).unwrap();
    stream.write_all(request.to_string().as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert_eq!(response, "{}");
    assert_eq!((watched.count_rows("events"), watched.count_pending()), (2, 0));
    let payload = watched.query_value("SELECT payload FROM payloads ORDER BY id DESC LIMIT 1");
    assert!(!payload.to_string().contains(secret), "{payload}");
}

#[test]
fn older_names_start_it_too() {
    for (arguments, socket) in [(["scribe"].as_slice(), true), (&["forward", "--url=http://127.0.0.1:1"], false)] {
        let sandbox = crate::support::CliSandbox::new();
        fs::create_dir_all(sandbox.data().join("outbox")).unwrap();
        let data = sandbox.data();
        let mut words = arguments.to_vec();
        words.push(data.to_str().unwrap());
        let mut child = sandbox.command(&words).stdin(std::process::Stdio::null()).spawn().unwrap();
        let path = if socket { "scribe.sock" } else { "outbox/lock" };
        wait_until(|| data.join(path).exists().then_some(()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn the_newer_variable_counts_before_the_older_one() {
    for (variables, starts) in [
        ([("SNELL_DAEMON", "off"), ("SNELL_SCRIBE", "wait")], false),
        ([("SNELL_DAEMON", "wait"), ("SNELL_SCRIBE", "off")], true),
        ([("SNELL_DAEMON", ""), ("SNELL_SCRIBE", "off")], false),
    ] {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let payload = watched.build_payload("s1", "UserPromptSubmit", json!({"prompt": "Go."}));
        watched.run_hook_with_env(&variables, &payload).assert_silent();
        assert_eq!(watched.sandbox.data().join("scribe.lock").exists(), starts, "{variables:?}");
    }
}
