//! The process that keeps the database open for hooks: nobody depends on it, and it does not outstay its welcome.

use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::Connection;
use serde_json::json;
use snell::{Event, Timestamp};
use snell_store::scribe::{self, Delivery, HandOver, Request, Response};
use snell_store::{Facts, Inquiry, Judgement, Observation, Reminded};

use super::{Mode, Watched};
use crate::support::wait_until;

fn is_running(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')')
        .is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// Sends a signal to a scribe that this test had started.
fn signal(name: &str, pid: u32) {
    let sent = Command::new("kill").args([name, &pid.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Whether a process has something to do before a signal ends it.
fn catches(pid: u32, signal: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// A project with a scribe, which has recorded one event.
fn served() -> (Watched, u32) {
    let watched = Watched::new(Mode::WithScribe);
    watched.prompt("s1", "Go.");
    watched.wait_for_scribe();
    let pid = wait_until(|| watched.scribe());
    (watched, pid)
}

/// What it answers, however slow the machine is.
fn answer(watched: &Watched, inquiry: &Inquiry) -> Response {
    wait_until(|| match scribe::look(&watched.sandbox.data(), inquiry) {
        Delivery::Done(response) => Some(response),
        Delivery::NobodyThere | Delivery::NoAnswer => None,
    })
}

#[test]
fn the_first_hook_hires_one_and_the_next_ones_use_it() {
    let (watched, pid) = served();
    for number in 0..20 {
        watched.prompt("s1", &format!("Number {number}"));
    }
    assert_eq!(watched.scribe(), Some(pid));
    let found = watched.rows("SELECT correlation FROM events WHERE id > 2");
    assert!(found.iter().all(|row| row["correlation"] == "session_id"), "{found:?}");
}

#[test]
fn many_first_hooks_hire_only_one() {
    let watched = Watched::new(Mode::WithScribe);
    std::thread::scope(|scope| {
        for number in 0..16 {
            let watched = &watched;
            scope.spawn(move || watched.prompt(&format!("s{number}"), "Go."));
        }
    });
    watched.wait_for_scribe();
    let pid = wait_until(|| watched.scribe());
    watched.prompt("s1", "Once more.");
    assert_eq!(watched.scribe(), Some(pid));
    assert_eq!(watched.count("events"), 17);
}

#[test]
fn it_ends_soon_after_its_directory_is_removed() {
    let (watched, pid) = served();
    let data = watched.sandbox.data();
    let removed = Instant::now();
    // It may be writing while its files are being removed.
    wait_until(|| fs::remove_dir_all(&data).is_ok().then_some(()));
    wait_until(|| (!is_running(pid)).then_some(()));
    assert!(removed.elapsed() < Duration::from_secs(4), "{:?}", removed.elapsed());
}

#[test]
fn it_does_not_bring_back_a_directory_that_was_removed() {
    let (watched, pid) = served();
    watched.event("s1", "Stop", json!({"last_assistant_message": "Done."}));
    fs::remove_dir_all(watched.sandbox.data()).unwrap();
    wait_until(|| (!is_running(pid)).then_some(()));
    assert!(
        !watched.sandbox.data().exists(),
        "{:?}",
        fs::read_dir(watched.sandbox.data()).unwrap().collect::<Vec<_>>()
    );
}

#[test]
fn it_ends_when_its_socket_is_removed_and_the_next_hook_hires_another() {
    let (watched, pid) = served();
    fs::remove_file(watched.sandbox.data().join("scribe.sock")).unwrap();
    wait_until(|| (!is_running(pid)).then_some(()));
    watched.prompt("s1", "Again.");
    watched.wait_for_scribe();
    assert_ne!(wait_until(|| watched.scribe()), pid);
    watched.prompt("s1", "And again.");
    assert_eq!(watched.count("events"), 3);
}

#[test]
fn its_death_is_nobodys_trouble() {
    let (watched, pid) = served();
    signal("-KILL", pid);
    wait_until(|| (!is_running(pid)).then_some(()));
    watched.prompt("s1", "Are you there?");
    watched.wait_for_scribe();
    watched.prompt("s1", "Now?");
    assert_eq!(watched.count("events"), 3);
    assert_eq!(watched.value("PRAGMA integrity_check"), "ok");
}

#[test]
fn one_that_does_not_answer_costs_time_and_nothing_else() {
    let (watched, pid) = served();
    signal("-STOP", pid);
    let prompt = |text: &str| watched.hook(&watched.payload("s1", "UserPromptSubmit", json!({"prompt": text})));
    prompt("Wake up.").is_silent();
    // It has not answered for long.
    let pending = fs::read_dir(watched.sandbox.data().join("pending")).unwrap();
    let an_hour_ago = SystemTime::now() - Duration::from_secs(3600);
    for note in pending.flatten() {
        File::options()
            .write(true)
            .open(note.path())
            .unwrap()
            .set_modified(an_hour_ago)
            .unwrap();
    }
    assert_eq!(
        prompt("Wake up!").is_trouble(),
        "snell: the scribe does not answer; events wait on disk\n"
    );
    signal("-CONT", pid);
    watched.prompt("s1", "Good morning.");
    // It was told while it slept, and found notes of it: each is one event.
    assert_eq!(watched.count("events"), 4);
    assert_eq!(watched.count("turns"), 4);
}

#[test]
fn nonsense_at_its_door_does_not_disturb_it() {
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    let (watched, pid) = served();
    let socket = watched.sandbox.data().join("scribe.sock");
    for nonsense in ["", "x", "{\"record\": 7}", "{\"record\": {}}", "[1, 2"] {
        let mut stream = UnixStream::connect(&socket).unwrap();
        stream.write_all(nonsense.as_bytes()).unwrap();
    }
    let _silent = UnixStream::connect(&socket).unwrap();
    watched.prompt("s1", "Still here?");
    assert_eq!((watched.scribe(), watched.count("events")), (Some(pid), 2));
}

#[test]
fn it_answers_what_is_known_once_everything_is_stored_that_came_before() {
    let (watched, pid) = served();
    let data = watched.sandbox.data();
    let inquiry = Inquiry {
        own_session_id: Some("s1".into()),
        workers: true,
        ..Inquiry::default()
    };
    let known = |inquiry: &Inquiry| {
        let response = answer(&watched, inquiry);
        (response.facts.unwrap(), response.remarks)
    };
    assert!(known(&inquiry).0.started_at.is_some());
    assert_eq!(known(&Inquiry::default()), (Facts::default(), vec![]));
    // Both have come when it wakes up.
    signal("-STOP", pid);
    let payload = watched.payload("s1", "SubagentStop", json!({"agent_id": "a1"}));
    let (event, _) = Event::from_json(None, payload.to_string().as_bytes()).unwrap();
    let mut observation = Observation::new(&event, Timestamp::now());
    observation.judgement = Some(Judgement {
        reminded: Reminded {
            stop_level: Some(60),
            ..Reminded::default()
        },
        ..Judgement::default()
    });
    let request = Request::Record {
        observation: Box::new(observation),
        note: None,
        is_spooled: false,
    };
    assert_eq!(scribe::hand_over(&data, &request), HandOver::Taken);
    let (facts, remarks) = std::thread::scope(|scope| {
        let asked = scope.spawn(|| known(&inquiry));
        signal("-CONT", pid);
        asked.join().unwrap()
    });
    assert_eq!((facts.stop_level, facts.workers.len(), remarks), (60, 1, vec![]));
    // One that is at work elsewhere does not answer, and nobody waits for it for long.
    signal("-STOP", pid);
    assert!(matches!(scribe::look(&data, &inquiry), Delivery::NoAnswer));
    signal("-CONT", pid);
}

#[test]
fn it_says_so_if_it_cannot_look() {
    let (watched, _) = served();
    let database = Connection::open(watched.database()).unwrap();
    database.execute_batch("DROP TABLE session_ids").unwrap();
    let inquiry = Inquiry {
        own_session_id: Some("s1".into()),
        ..Inquiry::default()
    };
    let response = answer(&watched, &inquiry);
    assert_eq!(response.facts, None);
    assert_eq!(
        response.remarks,
        [
            "cannot look up what is known of the session (the database said: no such table: session_ids); no reminders are given"
        ]
    );
}

#[test]
fn it_holds_nothing_of_the_agent_that_hired_it() {
    // Were its output still the agent's, an agent that reads to the end would wait for it.
    let (watched, pid) = served();
    for (descriptor, target) in [(1, "/dev/null"), (2, "/dev/null")] {
        let path = fs::read_link(format!("/proc/{pid}/fd/{descriptor}")).unwrap();
        assert_eq!(path.to_str(), Some(target));
    }
    let input = fs::read_link(format!("/proc/{pid}/fd/0")).unwrap();
    assert_eq!(
        input,
        watched.sandbox.data().canonicalize().unwrap().join("scribe.lock")
    );
    let directory = fs::read_link(format!("/proc/{pid}/cwd")).unwrap();
    assert_eq!(directory.to_str(), Some("/"));
}

#[test]
fn it_is_in_a_session_of_its_own() {
    let (_watched, pid) = served();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let session = rest.split_ascii_whitespace().nth(3).unwrap();
    assert_eq!(session, pid.to_string());
}

#[test]
fn one_that_is_told_to_end_stores_first_what_it_was_handed() {
    const EVENTS: i64 = 40;
    for (name, number) in [("-TERM", 15), ("-INT", 2), ("-HUP", 1)] {
        let (watched, pid) = served();
        // It is ready for hooks a moment before it is ready to be ended.
        wait_until(|| catches(pid, number).then_some(()));
        // While it sleeps, it is handed more than it can have looked at when it is told to end.
        signal("-STOP", pid);
        for number in 0..EVENTS {
            let payload = watched.payload("s1", "UserPromptSubmit", json!({"prompt": format!("Number {number}")}));
            let (event, _) = Event::from_json(None, payload.to_string().as_bytes()).unwrap();
            let request = Request::Record {
                observation: Box::new(Observation::new(&event, Timestamp::now())),
                note: None,
                is_spooled: false,
            };
            let handed = scribe::hand_over(&watched.sandbox.data(), &request);
            assert_eq!(handed, HandOver::Taken, "{name} {number}");
        }
        signal(name, pid);
        signal("-CONT", pid);
        wait_until(|| (!is_running(pid)).then_some(()));
        assert_eq!(watched.count("events"), 1 + EVENTS, "{name}");
        assert_eq!(watched.value("PRAGMA integrity_check"), "ok", "{name}");
    }
}
