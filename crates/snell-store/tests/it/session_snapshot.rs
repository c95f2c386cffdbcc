//! The data of a session before its agent gets an answer, and the reminders in that answer.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;
use snell_store::{
    ContextReport, DecisionRecord, EventRecorder, ReconcileScope, ReminderRecord, SessionSnapshot, SnapshotQuery,
    Store, StoreError,
};

use crate::support::{
    LiveProcess, SentEvent, TestStore, build_event, build_prompt, build_stop, build_usage_line, make_timestamp,
};

fn build_snapshot_query(session: &str, transcript: Option<&str>) -> SnapshotQuery {
    SnapshotQuery {
        session_ids: vec![session.into()],
        own_session_id: Some(session.into()),
        transcript_path: transcript.map(Into::into),
        ..SnapshotQuery::default()
    }
}

fn read_snapshot(kept: &mut TestStore, session: &str) -> SessionSnapshot {
    let transcript = kept.path_of("transcript.jsonl");
    kept.store.load_session_snapshot(&build_snapshot_query(session, transcript.to_str())).unwrap()
}

fn read_context_percent(kept: &mut TestStore) -> Option<f64> {
    read_snapshot(kept, "s").context_percent
}

/// With the transcript that all sessions of a test share.
fn with_shared_transcript(kept: &TestStore, sent: SentEvent) -> SentEvent {
    sent.with_field("transcript_path", kept.path_of("transcript.jsonl").to_str().unwrap())
}

fn take_with_transcript(kept: &mut TestStore, sent: SentEvent) {
    let sent = with_shared_transcript(kept, sent);
    kept.ingest_event(sent);
}

fn take_reminded(kept: &mut TestStore, sent: SentEvent, reminded: ReminderRecord) {
    let mut observation = sent.into_record_in(&kept.project_dir());
    observation.judgement = Some(DecisionRecord { reminded, ..DecisionRecord::default() });
    kept.store.ingest(observation.clone()).unwrap();
    // A repeated event counts once.
    assert!(kept.store.ingest(observation).unwrap().duplicate);
}

fn build_reminder_levels(stop: u8, prompt: u8) -> ReminderRecord {
    ReminderRecord { stop_level: Some(stop), prompt_level: Some(prompt), ..ReminderRecord::default() }
}

/// The status line of a session reports its usage.
fn report_percent(kept: &mut TestStore, session: &str, percent: f64) {
    let report = ContextReport { percent: Some(percent), ..ContextReport::default() };
    kept.store.set_context_usage(session, &report).unwrap();
}

#[test]
fn an_unknown_session_has_only_the_transcripts_data() {
    let mut kept = TestStore::new();
    kept.write_transcript(&[build_usage_line("s", 1, 50_000), build_usage_line("another", 2, 180_000)]);
    let expected = SessionSnapshot { context_percent: Some(25.0), ..SessionSnapshot::default() };
    assert_eq!(read_snapshot(&mut kept, "s"), expected);
    let mut inquiry = build_snapshot_query("s", kept.path_of("transcript.jsonl").to_str());
    inquiry.context_window = Some(100_000);
    assert_eq!(kept.store.load_session_snapshot(&inquiry).unwrap().context_percent, Some(50.0));
    assert_eq!(kept.list_agents(), [], "nothing was written");
}

#[test]
fn an_unreadable_transcript_is_ignored() {
    let mut kept = TestStore::new();
    let file = |name: &str| kept.path_of(name).to_str().unwrap().to_owned();
    fs::write(file("nonsense"), b"\xff\xfe{[\0\n").unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, file("pipe"), rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
    let cases = [file("missing"), file("project"), file("nonsense"), file("pipe"), String::new()];
    for path in cases {
        let unknown = kept.store.load_session_snapshot(&build_snapshot_query("s", Some(&path))).unwrap();
        assert_eq!(unknown, SessionSnapshot::default(), "{path}");
    }
    kept.ingest_event(build_event("SessionStart", "s"));
    report_percent(&mut kept, "s", 12.5);
    let known = kept.store.load_session_snapshot(&build_snapshot_query("s", Some("/proc/self/mem"))).unwrap();
    assert_eq!((known.context_percent, known.started_at), (Some(12.5), Some(make_timestamp(0))));
}

#[test]
fn the_newest_percentage_is_used_and_queries_change_nothing() {
    let mut kept = TestStore::new();
    kept.write_transcript(&[build_usage_line("s", 1, 20_000)]);
    take_with_transcript(&mut kept, build_prompt("s", "Go."));
    assert_eq!((read_context_percent(&mut kept), kept.expect_single_agent().context_percent), (Some(10.0), Some(10.0)));
    kept.write_transcript(&[build_usage_line("s", 2, 120_000)]);
    for _ in 0..2 {
        assert_eq!(
            (read_context_percent(&mut kept), kept.expect_single_agent().context_percent),
            (Some(60.0), Some(10.0))
        );
    }
    take_with_transcript(&mut kept, build_stop("s", "Done."));
    assert_eq!((read_context_percent(&mut kept), kept.expect_single_agent().context_percent), (Some(60.0), Some(60.0)));
    // The agent's own figure takes precedence.
    report_percent(&mut kept, "s", 33.0);
    kept.write_transcript(&[build_usage_line("s", 3, 160_000)]);
    assert_eq!(read_context_percent(&mut kept), Some(33.0));
}

#[test]
fn the_users_window_applies_to_events_and_to_the_reconciler() {
    let mut kept = TestStore::new();
    kept.write_transcript(&[build_usage_line("s", 1, 20_000)]);
    let mut event = build_prompt("s", "Go.");
    event.sender.context_window = Some(50_000);
    take_with_transcript(&mut kept, event);
    assert_eq!(kept.expect_single_agent().context_percent, Some(40.0));
    kept.write_transcript(&[build_usage_line("s", 2, 30_000)]);
    assert_eq!(read_context_percent(&mut kept), Some(60.0));
    let mut kept = kept.reopen();
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(3)).unwrap();
    assert_eq!(kept.expect_single_agent().context_percent, Some(60.0));
    // An event without it resets nothing.
    kept.write_transcript(&[build_usage_line("s", 4, 40_000)]);
    take_with_transcript(&mut kept, build_stop("s", "Done.").at_second(4));
    assert_eq!(kept.expect_single_agent().context_percent, Some(80.0));
}

#[test]
fn the_window_of_the_status_line_is_remembered_for_the_session() {
    let mut kept = TestStore::new();
    take_with_transcript(&mut kept, build_event("SessionStart", "s").with_field("source", "startup"));
    // Before the first answer, the status line has a size and no percentage.
    let report = ContextReport { window: Some(1_000_000), ..ContextReport::default() };
    kept.store.set_context_usage("s", &report).unwrap();
    assert_eq!(kept.expect_single_agent().context_percent, None);
    kept.write_transcript(&[build_usage_line("s", 1, 130_000)]);
    assert_eq!(read_context_percent(&mut kept), Some(13.0));
    let mut kept = kept.reopen();
    take_with_transcript(&mut kept, build_stop("s", "Done.").at_second(2));
    assert_eq!(kept.expect_single_agent().context_percent, Some(13.0));
    // It stays when the context is emptied.
    report_percent(&mut kept, "s", 13.0);
    take_with_transcript(&mut kept, build_event("SessionStart", "s").with_field("source", "clear").at_second(3));
    kept.write_transcript(&[build_usage_line("s", 4, 50_000)]);
    kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(5)).unwrap();
    assert_eq!(kept.expect_single_agent().context_percent, Some(5.0));
}

#[test]
fn a_mark_of_a_larger_window_in_the_sessions_model_counts() {
    let of_transcript = || {
        let identity = json!({"type": "model", "identity": {"modelId": "claude-opus-4-5[1m]"}});
        json!({"type": "attachment", "sessionId": "s", "isSidechain": false, "attachment": identity})
    };
    let start = build_event("SessionStart", "s");
    let cases = [
        (start.clone(), vec![], 25.0),
        (start.clone().with_field("model", "claude-opus-4-5[1m]"), vec![], 5.0),
        (start.clone().with_field("model", "claude-opus-4-5"), vec![of_transcript()], 5.0),
        (start, vec![of_transcript()], 5.0),
    ];
    for (start, mut lines, expected) in cases {
        let mut kept = TestStore::new();
        take_with_transcript(&mut kept, start);
        lines.push(build_usage_line("s", 1, 50_000));
        kept.write_transcript(&lines);
        take_with_transcript(&mut kept, build_stop("s", "Done.").at_second(2));
        assert_eq!(kept.expect_single_agent().context_percent, Some(expected));
        // The next count comes without the model.
        kept.write_transcript(&[build_usage_line("s", 3, 100_000)]);
        kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(4)).unwrap();
        assert_eq!(kept.expect_single_agent().context_percent, Some(expected * 2.0));
    }
}

#[test]
fn a_new_context_is_unknown_and_allows_new_reminders() {
    let cases = [
        (Some("compact"), None, (0, 0)),
        (Some("clear"), None, (0, 0)),
        (Some("startup"), Some(80.0), (0, 0)),
        (Some("resume"), Some(80.0), (80, 60)),
        (Some("of a later version"), Some(80.0), (80, 60)),
        (None, Some(80.0), (80, 60)),
    ];
    for (source, expected, levels_expected) in cases {
        for by_status_line in [false, true] {
            let mut kept = TestStore::new();
            kept.write_transcript(&[build_usage_line("s", 1, 100_000)]);
            take_with_transcript(&mut kept, build_prompt("s", "Go."));
            take_reminded(&mut kept, build_stop("s", "Done.").at_second(2), build_reminder_levels(80, 60));
            // The last count is in the file, and has not been read.
            kept.write_transcript(&[build_usage_line("s", 3, 160_000)]);
            if by_status_line {
                report_percent(&mut kept, "s", 80.0);
            }
            let mut start = build_event("SessionStart", "s").at_second(4);
            if let Some(source) = source {
                start = start.with_field("source", source);
            }
            take_with_transcript(&mut kept, start);
            let shown = format!("{source:?} {by_status_line}");
            let found = read_snapshot(&mut kept, "s");
            assert_eq!(found.context_percent, expected, "{shown}");
            assert_eq!((found.stop_level, found.prompt_level), levels_expected, "{shown}");
            // It does not come back either.
            take_with_transcript(&mut kept, build_prompt("s", "Go on.").at_second(5));
            kept.store.reconcile_agents(ReconcileScope::All, make_timestamp(6)).unwrap();
            assert_eq!(
                (read_context_percent(&mut kept), kept.expect_single_agent().context_percent),
                (expected, expected),
                "{shown}"
            );
            if expected.is_none() {
                kept.write_transcript(&[build_usage_line("s", 7, 10_000)]);
                assert_eq!(read_context_percent(&mut kept), Some(5.0), "{shown}");
                take_with_transcript(&mut kept, build_stop("s", "Done.").at_second(8));
                assert_eq!(kept.expect_single_agent().context_percent, Some(5.0), "{shown}");
            }
        }
    }
}

#[test]
fn the_reminders_of_an_agent_are_stored_for_its_session() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_event("SessionStart", "s"));
    assert_eq!(read_snapshot(&mut kept, "s").started_at, Some(make_timestamp(0)));
    take_reminded(&mut kept, build_stop("s", "Done.").at_second(1), build_reminder_levels(60, 0));
    let other = ReminderRecord { status: true, ping: true, ..ReminderRecord::default() };
    take_reminded(&mut kept, build_prompt("s", "Go.").at_second(2), other);
    let mut kept = kept.reopen();
    let found = read_snapshot(&mut kept, "s");
    assert_eq!((found.stop_level, found.prompt_level), (60, 0));
    assert!(found.status_reminded && found.ping_reminded && !found.pinged);
    assert_eq!(kept.query_texts("SELECT context_warning_level || '' FROM sessions"), ["60"]);
    // The level may decrease, if the context has become emptier.
    take_reminded(&mut kept, build_stop("s", "Done.").at_second(3), build_reminder_levels(0, 60));
    let found = read_snapshot(&mut kept, "s");
    assert_eq!((found.stop_level, found.prompt_level), (0, 60));
}

#[test]
fn late_reminders_are_added_and_reset_nothing() {
    let mut kept = TestStore::new();
    kept.ingest_event(build_event("SessionStart", "s"));
    take_reminded(&mut kept, build_stop("s", "Done.").at_second(9), build_reminder_levels(80, 0));
    take_reminded(&mut kept, build_stop("s", "Not yet.").at_second(5).with_delay(), build_reminder_levels(60, 60));
    let found = read_snapshot(&mut kept, "s");
    assert_eq!((found.stop_level, found.prompt_level), (80, 60));
    kept.ingest_event(build_event("SessionEnd", "s").at_second(10));
    let reminded = ReminderRecord { ping: true, ..ReminderRecord::default() };
    take_reminded(&mut kept, build_stop("s", "Late.").at_second(8).with_delay(), reminded);
    assert!(read_snapshot(&mut kept, "s").ping_reminded);
    assert_eq!(kept.expect_single_agent().state.as_str(), "ended");
}

#[test]
fn a_replaced_session_has_the_context_usage_of_its_transcript() {
    let mut kept = TestStore::new();
    kept.write_transcript(&[build_usage_line("s", 1, 20_000)]);
    take_with_transcript(&mut kept, build_prompt("s", "Go.").with_pane("%1"));
    kept.ingest_event(build_event("SessionStart", "next").with_pane("%1").at_second(2));
    report_percent(&mut kept, "next", 90.0);
    assert_eq!(read_context_percent(&mut kept), Some(10.0));
    assert_eq!(read_snapshot(&mut kept, "next").context_percent, Some(90.0));
    assert_eq!(kept.store.load_session_snapshot(&build_snapshot_query("s", None)).unwrap().context_percent, None);
}

#[test]
fn the_launchers_id_leads_to_the_session_unless_it_was_inherited() {
    let mut kept = TestStore::new();
    let agent = LiveProcess::new();
    let from_it = |sent: SentEvent| sent.with_launcher("launched").with_process(&agent);
    kept.ingest_event(from_it(build_event("SessionStart", "own")));
    take_reminded(&mut kept, from_it(build_stop("own", "Done.").at_second(1)), build_reminder_levels(60, 0));
    let asked = |own: Option<&str>| SnapshotQuery {
        session_ids: vec!["launched".into()],
        own_session_id: own.map(str::to_owned),
        ..SnapshotQuery::default()
    };
    let level =
        |kept: &mut TestStore, own: Option<&str>| kept.store.load_session_snapshot(&asked(own)).unwrap().stop_level;
    let own_ids = [None, Some("own"), Some("after a clear")];
    assert_eq!(own_ids.map(|own| level(&mut kept, own)), [60, 60, 60]);
    // A process with the id of a working agent was started by it.
    kept.ingest_event(from_it(build_prompt("own", "Go.").at_second(2)));
    assert_eq!(own_ids.map(|own| level(&mut kept, own)), [60, 60, 0]);
}

/// Puts a database of the named kind at this path.
fn place_faulty_database(database: &Path, how: &str) {
    match how {
        "damaged" => fs::write(database, "no database at all, but long enough to be looked at as one").unwrap(),
        "too new" => Connection::open(database).unwrap().pragma_update(None, "user_version", 999).unwrap(),
        _ => {}
    }
}

#[test]
fn a_recorder_answers_with_every_kind_of_database() {
    for (how, is_answered) in [("missing", true), ("damaged", true), ("too new", false)] {
        let root = tempfile::tempdir().unwrap();
        let mut recorder = EventRecorder::new(root.path());
        place_faulty_database(&recorder.path(), how);
        let found = recorder.load_session_snapshot(&build_snapshot_query("s", None));
        if is_answered {
            assert_eq!(found.unwrap(), SessionSnapshot::default(), "{how}");
        } else {
            assert!(matches!(found, Err(StoreError::TooNew { .. })), "{how}: {found:?}");
        }
        let set_aside = recorder.take_warnings().join("; ").contains("was moved to");
        assert_eq!(set_aside, how == "damaged", "{how}");
    }
}

#[test]
fn a_locked_database_can_be_read_unless_events_are_pending() {
    let root = tempfile::tempdir().unwrap();
    let database = root.path().join("snell.db");
    let mut store = Store::open(&database).unwrap().store;
    store.ingest(build_event("SessionStart", "s").into_record_in(root.path())).unwrap();
    let mut other = Connection::open(&database).unwrap();
    let lock = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    let mut recorder = EventRecorder::new(root.path());
    assert_eq!(
        recorder.load_session_snapshot(&build_snapshot_query("s", None)).unwrap().started_at,
        Some(make_timestamp(0))
    );
    // A pending event that cannot be stored now may contain the reminder.
    recorder.record_events(vec![build_stop("s", "Done.").into_record_in(root.path())]);
    assert_eq!(recorder.pending().count(), 1);
    assert!(matches!(recorder.load_session_snapshot(&build_snapshot_query("s", None)), Err(StoreError::Locked)));
    drop(lock);
    let mut observation = build_stop("s", "Again.").at_second(1).into_record_in(root.path());
    observation.judgement =
        Some(DecisionRecord { reminded: build_reminder_levels(60, 0), ..DecisionRecord::default() });
    recorder.pending().push(&observation.into(), snell_store::PendingClaim::Anyone).unwrap();
    // Pending events are stored first.
    assert_eq!(recorder.load_session_snapshot(&build_snapshot_query("s", None)).unwrap().stop_level, 60);
    assert_eq!(recorder.pending().count(), 0);
}

#[test]
fn reminders_wait_on_disk_and_are_sent_without_worker_ids() {
    let mut observation = build_stop("s", "Done.").into_record_in(Path::new("/"));
    let reminded = ReminderRecord { workers: vec![1, 2], ..build_reminder_levels(60, 0) };
    observation.judgement = Some(DecisionRecord { reminded, ..DecisionRecord::default() });
    observation.sender.context_window = Some(9);
    let written = serde_json::to_value(&observation).unwrap();
    assert_eq!(written["judgement"]["reminded"], json!({"stop_level": 60, "prompt_level": 0, "workers": [1, 2]}));
    let read: snell_store::EventRecord = serde_json::from_value(written).unwrap();
    assert_eq!(read, observation);
    let receiver = snell_store::queue::outbox::OutboxReceiver { url: "http://box.example".into(), token_file: None };
    let letter = snell_store::queue::outbox::OutboxMessage::from_record_with_decision(observation.into(), &receiver);
    let known = &letter.body["snell"];
    assert_eq!(known["judgement"]["reminded"], json!({"stop_level": 60, "prompt_level": 0}));
    assert_eq!(known["sender"]["context_window"], 9);
}

#[test]
fn a_transcript_from_before_its_session_is_read() {
    for (source, expected) in [("startup", Some(85.0)), ("resume", Some(85.0)), ("clear", None), ("compact", None)] {
        let mut kept = TestStore::new();
        kept.write_transcript(&[build_usage_line("s", 1, 170_000)]);
        take_with_transcript(&mut kept, build_event("SessionStart", "s").with_field("source", source));
        assert_eq!(read_context_percent(&mut kept), expected, "{source}");
    }
}

#[test]
fn a_transcript_that_is_rewritten_in_place_is_read_again() {
    let mut kept = TestStore::new();
    kept.write_transcript(&[build_usage_line("s", 1, 130_000)]);
    take_with_transcript(&mut kept, build_event("SessionStart", "s").with_field("source", "startup"));
    assert_eq!(read_context_percent(&mut kept), Some(65.0));
    // It has the same length as before.
    fs::write(kept.path_of("transcript.jsonl"), "").unwrap();
    kept.write_transcript(&[build_usage_line("s", 1, 170_000)]);
    assert_eq!(read_context_percent(&mut kept), Some(85.0));
    take_with_transcript(&mut kept, build_prompt("s", "Go on."));
    assert_eq!(read_context_percent(&mut kept), Some(85.0));
}
