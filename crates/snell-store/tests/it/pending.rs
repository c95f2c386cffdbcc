//! Pending events.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;
use serde_json::{Value, json};
use snell_store::{DecisionRecord, EventRecord, EventRecorder, EventSpool, LogFilter, PendingClaim, PendingQueue};

use crate::support::{LiveProcess, build_event, build_prompt};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// All events of a store, the oldest first.
fn list_stored_events(recorder: &mut EventRecorder) -> Vec<snell_store::LogEntry> {
    let all = LogFilter { after_id: Some(0), limit: u32::MAX, ..LogFilter::default() };
    recorder.open_store().unwrap().query_log(&all).unwrap()
}

fn list_pending_names(directory: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(directory.join("pending")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_pending_event_is_private_masked_marked_as_late_and_read_in_order() {
    let root = tempfile::tempdir().unwrap();
    let notes = PendingQueue::in_data_dir(root.path());
    assert!(notes.is_empty() && notes.load_all().is_empty() && notes.has_room());
    for second in [3, 1, 2] {
        let observation = build_event("PreToolUse", &format!("s{second}"))
            .with_field("tool_input", format!("curl -H 'Authorization: token {SECRET}'"))
            .at_second(second)
            .into_record_in(root.path());
        notes.push(&observation.into(), PendingClaim::Anyone).unwrap();
    }
    assert_eq!((notes.is_empty(), notes.count()), (false, 3));
    let all = notes.load_all();
    let sessions: Vec<_> = all.iter().map(|(_, record)| record.payload["session_id"].as_str().unwrap()).collect();
    assert_eq!(sessions, ["s1", "s2", "s3"]);
    assert!(all.iter().all(|(_, record)| record.delayed));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&root.path().join("pending")), 0o700);
    for name in list_pending_names(root.path()) {
        let path = root.path().join("pending").join(name);
        assert_eq!(mode(&path), 0o600);
        assert!(!fs::read_to_string(path).unwrap().contains(SECRET));
    }
    for (file, _) in all {
        file.remove();
    }
    assert!(notes.is_empty());
}

#[test]
fn a_pending_event_of_a_live_process_is_left_to_it() {
    let root = tempfile::tempdir().unwrap();
    let notes = PendingQueue::in_data_dir(root.path());
    let observation = build_event("Stop", "s").into_record_in(root.path());
    notes.push(&observation.into(), PendingClaim::Owner).unwrap();
    assert_eq!((notes.count(), notes.load_all().len()), (1, 0));
    // The file of a process that is gone may be stored by any process.
    let mut gone = LiveProcess::new();
    gone.terminate();
    let pid = gone.process.pid;
    let name = list_pending_names(root.path()).remove(0);
    let own = std::process::id().to_string();
    let pending = root.path().join("pending");
    fs::rename(pending.join(&name), pending.join(name.replace(&own, &pid.to_string()))).unwrap();
    assert_eq!(notes.load_all().len(), 1);
}

#[test]
fn an_unreadable_pending_event_is_set_aside_and_the_others_are_read() {
    let root = tempfile::tempdir().unwrap();
    let notes = PendingQueue::in_data_dir(root.path());
    notes.push(&build_event("Stop", "s").into_record_in(root.path()).into(), PendingClaim::Anyone).unwrap();
    fs::write(root.path().join("pending/0-0-0-0.json"), "nonsense").unwrap();
    assert_eq!(notes.load_all().len(), 1);
    assert_eq!(list_pending_names(root.path()).len(), 1);
    assert!(root.path().join("unreadable/0-0-0-0.json").exists());
}

#[test]
fn an_incomplete_file_of_a_killed_process_is_removed() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("pending")).unwrap();
    fs::write(root.path().join("pending/01767607200000000000-4194000-4194000-0.json"), "{\"ev").unwrap();
    let mut recorder = EventRecorder::new(root.path());
    recorder.record_events(vec![build_event("Stop", "s").into_record_in(root.path())]);
    assert_eq!(list_pending_names(root.path()), Vec::<String>::new());
}

#[test]
fn the_deepest_payload_survives_every_queue() {
    let deep = (0..200).fold(json!("the innermost"), |inner, _| json!([inner]));
    type RecordingRoute = fn(&EventRecord, &mut EventRecorder);
    let ways: [(&str, RecordingRoute); 3] = [
        ("at once", |observation, recorder| {
            recorder.record_events(vec![observation.clone()]);
        }),
        ("a note", |observation, recorder| {
            recorder.pending().push(&observation.clone().into(), PendingClaim::Anyone).unwrap();
        }),
        ("handed over", |observation, recorder| {
            recorder.spool().append(&observation.clone().into()).unwrap();
        }),
    ];
    for (what, way) in ways {
        let root = tempfile::tempdir().unwrap();
        let mut recorder = EventRecorder::new(root.path());
        let input = json!({"a": deep});
        let observation =
            build_event("PreToolUse", "s").with_field("tool_input", input.clone()).into_record_in(root.path());
        way(&observation, &mut recorder);
        recorder.drain_all().unwrap();
        let events = list_stored_events(&mut recorder);
        assert_eq!(events.len(), 1, "{what}");
        assert_eq!(events[0].payload["tool_input"], input, "{what}");
        assert!(!root.path().join("unreadable").exists(), "{what}");
    }
}

/// Three events; the database rejects the second.
fn build_partly_refused(recorder: &mut EventRecorder) -> [EventRecord; 3] {
    recorder.open_store().unwrap();
    let rule = "CREATE TRIGGER refusal BEFORE INSERT ON events WHEN NEW.reason = 'refuse this' \
        BEGIN SELECT RAISE(ABORT, 'refused'); END";
    Connection::open(recorder.path()).unwrap().execute_batch(rule).unwrap();
    [1, 2, 3].map(|second| {
        let event = build_event("Stop", &format!("s{second}")).at_second(second);
        let mut observation = event.into_record_in(recorder.directory());
        if second == 2 {
            observation.judgement =
                Some(DecisionRecord { reason: Some("refuse this".into()), ..DecisionRecord::default() });
        }
        observation
    })
}

#[test]
fn a_rejected_pending_event_is_set_aside_and_the_others_are_stored() {
    let root = tempfile::tempdir().unwrap();
    let mut recorder = EventRecorder::new(root.path());
    for observation in build_partly_refused(&mut recorder) {
        recorder.pending().push(&observation.into(), PendingClaim::Anyone).unwrap();
    }
    recorder.record_events(vec![build_event("Stop", "s4").at_second(4).into_record_in(root.path())]);
    assert_eq!(recorder.take_warnings(), Vec::<String>::new());
    let sessions: Vec<_> = list_stored_events(&mut recorder).into_iter().filter_map(|event| event.session_id).collect();
    assert_eq!(sessions, ["s1", "s3", "s4"]);
    assert!(recorder.pending().is_empty());
    assert_eq!(fs::read_dir(root.path().join("unreadable")).unwrap().count(), 1);
}

#[test]
fn a_rejected_event_of_the_spool_does_not_block_the_others() {
    let root = tempfile::tempdir().unwrap();
    let mut recorder = EventRecorder::new(root.path());
    let spool = EventSpool::in_data_dir(root.path());
    for observation in build_partly_refused(&mut recorder) {
        spool.append(&observation.into()).unwrap();
    }
    recorder.drain_all().unwrap();
    assert_eq!((list_stored_events(&mut recorder).len(), spool.is_empty()), (2, true));
}

#[test]
fn a_limited_drain_stores_only_some_pending_events() {
    const NOTES: usize = 300;
    let root = tempfile::tempdir().unwrap();
    let mut recorder = EventRecorder::new(root.path());
    for second in 0..NOTES {
        let observation = build_prompt("s", &format!("Number {second}")).at_second(second.try_into().unwrap());
        recorder.pending().push(&observation.into_record_in(root.path()).into(), PendingClaim::Anyone).unwrap();
    }
    recorder.open_store().unwrap();
    let waiting = recorder.pending().count();
    assert!((NOTES / 2..=NOTES).contains(&waiting), "{waiting}");
    recorder.drain_all().unwrap();
    assert!(recorder.pending().is_empty());
    let numbers: Vec<_> =
        list_stored_events(&mut recorder).iter().map(|event| event.payload["prompt"].clone()).collect();
    let expected: Vec<_> = (0..NOTES).map(|second| Value::from(format!("Number {second}"))).collect();
    assert_eq!(numbers, expected);
}

/// Files as version 0.1 wrote them.
mod of_an_older_version {
    use super::*;

    /// An event without the masked mark, and with words that this version does not know.
    fn old_record(event_id: &str, session: &str) -> Value {
        json!({
            "event_id": event_id, "at": "2026-03-01T12:00:00Z", "delayed": true, "event": "PreToolUse",
            "payload": {"session_id": session, "tool_name": "Bash", "tool_input": {"command": format!("echo {SECRET}")}},
            "sender": {"product": "claude"},
            "judgement": {
                "decision": "block", "reason": "no", "took_us": 5,
                "runs": [{"contract": "snell", "source": "snell.toml", "line": 1, "command": "x", "matcher": null,
                    "status": "vanished", "exit_code": 2, "signal": null, "duration_us": 7, "stdout": "", "stderr": "",
                    "why": null}],
                "guard": [{"decision": "deny", "rule": "r", "tier": "t", "reason": "no", "advice": null}],
            },
        })
    }

    #[test]
    fn pending_events_are_stored_masked_and_once() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("pending")).unwrap();
        for name in ["01772366400000000000-0-4194000-0.json", "01772366400000000001-4194000-4194000-0.json"] {
            fs::write(root.path().join("pending").join(name), old_record("one", "s1").to_string()).unwrap();
        }
        check_stored(root.path(), &["one"]);
    }

    #[test]
    fn spooled_events_are_stored_masked_and_once() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("handed")).unwrap();
        let line = |id: &str| format!("\n{}\n", old_record(id, "s1"));
        fs::write(root.path().join("handed/3.jsonl"), line("one") + &line("two") + &line("one")).unwrap();
        check_stored(root.path(), &["one", "two"]);
    }

    fn check_stored(directory: &std::path::Path, ids: &[&str]) {
        let mut recorder = EventRecorder::new(directory);
        recorder.drain_all().unwrap();
        assert!(recorder.pending().is_empty() && recorder.spool().is_empty());
        assert_eq!(recorder.take_warnings(), Vec::<String>::new());
        let stored = list_stored_events(&mut recorder);
        assert_eq!(stored.len(), ids.len());
        for entry in stored {
            assert_eq!(entry.decision.as_deref(), Some("block"));
            assert!(!entry.payload.to_string().contains(SECRET), "{}", entry.payload);
        }
    }
}
