//! What is known of a session before its agent is answered, and what the agent was told then.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use serde_json::json;
use snell_store::{Facts, Inquiry, Judgement, Recorder, Reminded, Store, StoreError, Which};

use crate::support::{Kept, Living, Sent, at, counted_line, prompt, sent, stop};

fn asked(session: &str, transcript: Option<&str>) -> Inquiry {
    Inquiry {
        session_ids: vec![session.into()],
        own_session_id: Some(session.into()),
        transcript_path: transcript.map(Into::into),
        ..Inquiry::default()
    }
}

fn facts(kept: &mut Kept, session: &str) -> Facts {
    let transcript = kept.path("transcript.jsonl");
    kept.store.facts(&asked(session, transcript.to_str())).unwrap()
}

fn percent(kept: &mut Kept) -> Option<f64> {
    facts(kept, "s").context_percent
}

/// With the transcript that all sessions of a test share.
fn following(kept: &Kept, sent: Sent) -> Sent {
    sent.with("transcript_path", kept.path("transcript.jsonl").to_str().unwrap())
}

fn take(kept: &mut Kept, sent: Sent) {
    let sent = following(kept, sent);
    kept.take(sent);
}

fn told(kept: &mut Kept, sent: Sent, reminded: Reminded) {
    let mut observation = sent.observed_in(&kept.project());
    observation.judgement = Some(Judgement {
        reminded,
        ..Judgement::default()
    });
    kept.store.ingest(observation.clone()).unwrap();
    // What comes twice counts once.
    assert!(kept.store.ingest(observation).unwrap().duplicate);
}

fn levels(stop: u8, prompt: u8) -> Reminded {
    Reminded {
        stop_level: Some(stop),
        prompt_level: Some(prompt),
        ..Reminded::default()
    }
}

#[test]
fn of_a_session_that_nobody_has_heard_of_the_transcript_speaks_alone() {
    let mut kept = Kept::new();
    kept.write_transcript(&[counted_line("s", 1, 50_000), counted_line("another", 2, 180_000)]);
    let expected = Facts {
        context_percent: Some(25.0),
        ..Facts::default()
    };
    assert_eq!(facts(&mut kept, "s"), expected);
    let mut inquiry = asked("s", kept.path("transcript.jsonl").to_str());
    inquiry.context_window = Some(100_000);
    assert_eq!(kept.store.facts(&inquiry).unwrap().context_percent, Some(50.0));
    assert_eq!(kept.agents(), [], "nothing was written");
}

#[test]
fn a_transcript_that_cannot_be_read_says_nothing() {
    let mut kept = Kept::new();
    let file = |name: &str| kept.path(name).to_str().unwrap().to_owned();
    fs::write(file("nonsense"), b"\xff\xfe{[\0\n").unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        file("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RWXU,
        0,
    )
    .unwrap();
    let cases = [
        file("missing"),
        file("project"),
        file("nonsense"),
        file("pipe"),
        String::new(),
    ];
    for path in cases {
        let unknown = kept.store.facts(&asked("s", Some(&path))).unwrap();
        assert_eq!(unknown, Facts::default(), "{path}");
    }
    kept.take(sent("SessionStart", "s"));
    kept.store.set_context("s", 12.5, None).unwrap();
    let known = kept.store.facts(&asked("s", Some("/proc/self/mem"))).unwrap();
    assert_eq!((known.context_percent, known.started_at), (Some(12.5), Some(at(0))));
}

#[test]
fn the_newest_figure_counts_and_asking_changes_nothing() {
    let mut kept = Kept::new();
    kept.write_transcript(&[counted_line("s", 1, 20_000)]);
    take(&mut kept, prompt("s", "Go."));
    assert_eq!(
        (percent(&mut kept), kept.agent().context_percent),
        (Some(10.0), Some(10.0))
    );
    kept.write_transcript(&[counted_line("s", 2, 120_000)]);
    for _ in 0..2 {
        assert_eq!(
            (percent(&mut kept), kept.agent().context_percent),
            (Some(60.0), Some(10.0))
        );
    }
    take(&mut kept, stop("s", "Done."));
    assert_eq!(
        (percent(&mut kept), kept.agent().context_percent),
        (Some(60.0), Some(60.0))
    );
    // The agent itself knows best.
    kept.store.set_context("s", 33.0, None).unwrap();
    kept.write_transcript(&[counted_line("s", 3, 160_000)]);
    assert_eq!(percent(&mut kept), Some(33.0));
}

#[test]
fn the_users_window_counts_for_events_and_for_whoever_looks_after_agents() {
    let mut kept = Kept::new();
    kept.write_transcript(&[counted_line("s", 1, 20_000)]);
    let mut event = prompt("s", "Go.");
    event.sender.context_window = Some(50_000);
    take(&mut kept, event);
    assert_eq!(kept.agent().context_percent, Some(40.0));
    kept.write_transcript(&[counted_line("s", 2, 30_000)]);
    assert_eq!(percent(&mut kept), Some(60.0));
    let mut kept = kept.reopened();
    kept.store.reconcile(Which::All, at(3)).unwrap();
    assert_eq!(kept.agent().context_percent, Some(60.0));
    // An event that does not say it takes nothing back.
    kept.write_transcript(&[counted_line("s", 4, 40_000)]);
    take(&mut kept, stop("s", "Done.").at(4));
    assert_eq!(kept.agent().context_percent, Some(80.0));
}

#[test]
fn a_context_that_begins_anew_is_unknown_and_its_agent_may_be_told_again() {
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
            let mut kept = Kept::new();
            kept.write_transcript(&[counted_line("s", 1, 100_000)]);
            take(&mut kept, prompt("s", "Go."));
            told(&mut kept, stop("s", "Done.").at(2), levels(80, 60));
            // The last figure is there, and nobody has read it.
            kept.write_transcript(&[counted_line("s", 3, 160_000)]);
            if by_status_line {
                kept.store.set_context("s", 80.0, None).unwrap();
            }
            let mut start = sent("SessionStart", "s").at(4);
            if let Some(source) = source {
                start = start.with("source", source);
            }
            take(&mut kept, start);
            let shown = format!("{source:?} {by_status_line}");
            let found = facts(&mut kept, "s");
            assert_eq!(found.context_percent, expected, "{shown}");
            assert_eq!((found.stop_level, found.prompt_level), levels_expected, "{shown}");
            // Nor does it come back.
            take(&mut kept, prompt("s", "Go on.").at(5));
            kept.store.reconcile(Which::All, at(6)).unwrap();
            assert_eq!(
                (percent(&mut kept), kept.agent().context_percent),
                (expected, expected),
                "{shown}"
            );
            if expected.is_none() {
                kept.write_transcript(&[counted_line("s", 7, 10_000)]);
                assert_eq!(percent(&mut kept), Some(5.0), "{shown}");
                take(&mut kept, stop("s", "Done.").at(8));
                assert_eq!(kept.agent().context_percent, Some(5.0), "{shown}");
            }
        }
    }
}

#[test]
fn what_an_agent_was_told_is_kept_for_its_session() {
    let mut kept = Kept::new();
    kept.take(sent("SessionStart", "s"));
    assert_eq!(facts(&mut kept, "s").started_at, Some(at(0)));
    told(&mut kept, stop("s", "Done.").at(1), levels(60, 0));
    let other = Reminded {
        status: true,
        ping: true,
        ..Reminded::default()
    };
    told(&mut kept, prompt("s", "Go.").at(2), other);
    let mut kept = kept.reopened();
    let found = facts(&mut kept, "s");
    assert_eq!((found.stop_level, found.prompt_level), (60, 0));
    assert!(found.status_reminded && found.ping_reminded && !found.pinged);
    assert_eq!(kept.texts("SELECT context_warning_level || '' FROM sessions"), ["60"]);
    // It may sink, if the context has become emptier.
    told(&mut kept, stop("s", "Done.").at(3), levels(0, 60));
    let found = facts(&mut kept, "s");
    assert_eq!((found.stop_level, found.prompt_level), (0, 60));
}

#[test]
fn what_comes_late_is_added_and_takes_nothing_back() {
    let mut kept = Kept::new();
    kept.take(sent("SessionStart", "s"));
    told(&mut kept, stop("s", "Done.").at(9), levels(80, 0));
    told(&mut kept, stop("s", "Not yet.").at(5).delayed(), levels(60, 60));
    let found = facts(&mut kept, "s");
    assert_eq!((found.stop_level, found.prompt_level), (80, 60));
    kept.take(sent("SessionEnd", "s").at(10));
    let reminded = Reminded {
        ping: true,
        ..Reminded::default()
    };
    told(&mut kept, stop("s", "Late.").at(8).delayed(), reminded);
    assert!(facts(&mut kept, "s").ping_reminded);
    assert_eq!(kept.agent().state.as_str(), "ended");
}

#[test]
fn a_session_that_its_agent_has_left_is_as_full_as_its_transcript_says() {
    let mut kept = Kept::new();
    kept.write_transcript(&[counted_line("s", 1, 20_000)]);
    take(&mut kept, prompt("s", "Go.").pane("%1"));
    kept.take(sent("SessionStart", "next").pane("%1").at(2));
    kept.store.set_context("next", 90.0, None).unwrap();
    assert_eq!(percent(&mut kept), Some(10.0));
    assert_eq!(facts(&mut kept, "next").context_percent, Some(90.0));
    assert_eq!(kept.store.facts(&asked("s", None)).unwrap().context_percent, None);
}

#[test]
fn the_launchers_id_leads_to_the_session_unless_it_was_inherited() {
    let mut kept = Kept::new();
    let agent = Living::new();
    let from_it = |sent: Sent| sent.launcher("launched").process(&agent);
    kept.take(from_it(sent("SessionStart", "own")));
    told(&mut kept, from_it(stop("own", "Done.").at(1)), levels(60, 0));
    let asked = |own: Option<&str>| Inquiry {
        session_ids: vec!["launched".into()],
        own_session_id: own.map(str::to_owned),
        ..Inquiry::default()
    };
    let level = |kept: &mut Kept, own: Option<&str>| kept.store.facts(&asked(own)).unwrap().stop_level;
    let whoever = [None, Some("own"), Some("after a clear")];
    assert_eq!(whoever.map(|own| level(&mut kept, own)), [60, 60, 60]);
    // Whoever comes with its id while it is at work was started by it.
    kept.take(from_it(prompt("own", "Go.").at(2)));
    assert_eq!(whoever.map(|own| level(&mut kept, own)), [60, 60, 0]);
}

/// Puts a database of the named kind at this path.
fn spoil(database: &Path, how: &str) {
    match how {
        "damaged" => fs::write(database, "no database at all, but long enough to be looked at as one").unwrap(),
        "too new" => Connection::open(database)
            .unwrap()
            .pragma_update(None, "user_version", 999)
            .unwrap(),
        _ => {}
    }
}

#[test]
fn a_recorder_answers_from_whatever_it_finds() {
    for (how, is_answered) in [("missing", true), ("damaged", true), ("too new", false)] {
        let root = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(root.path());
        spoil(&recorder.path(), how);
        let found = recorder.facts(&asked("s", None));
        if is_answered {
            assert_eq!(found.unwrap(), Facts::default(), "{how}");
        } else {
            assert!(matches!(found, Err(StoreError::TooNew { .. })), "{how}: {found:?}");
        }
        let set_aside = recorder.take_remarks().join("; ").contains("was moved to");
        assert_eq!(set_aside, how == "damaged", "{how}");
    }
}

#[test]
fn whoever_has_the_database_locked_keeps_nobody_from_asking_unless_something_waits() {
    let root = tempfile::tempdir().unwrap();
    let database = root.path().join("snell.db");
    let mut store = Store::open(&database).unwrap().store;
    store
        .ingest(sent("SessionStart", "s").observed_in(root.path()))
        .unwrap();
    let mut other = Connection::open(&database).unwrap();
    let lock = other
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .unwrap();
    let mut recorder = Recorder::new(root.path());
    assert_eq!(recorder.facts(&asked("s", None)).unwrap().started_at, Some(at(0)));
    // What waits and cannot be stored now may say that the agent was told already.
    recorder.record(vec![stop("s", "Done.").observed_in(root.path())]);
    assert_eq!(recorder.notes().count(), 1);
    assert!(matches!(recorder.facts(&asked("s", None)), Err(StoreError::Locked)));
    drop(lock);
    let mut observation = stop("s", "Again.").at(1).observed_in(root.path());
    observation.judgement = Some(Judgement {
        reminded: levels(60, 0),
        ..Judgement::default()
    });
    recorder
        .notes()
        .write(&observation, snell_store::WaitsFor::Anybody)
        .unwrap();
    // What waits is taken in first.
    assert_eq!(recorder.facts(&asked("s", None)).unwrap().stop_level, 60);
    assert_eq!(recorder.notes().count(), 0);
}

#[test]
fn what_was_told_waits_on_disk_and_travels_without_numbers_of_others() {
    let mut observation = stop("s", "Done.").observed_in(Path::new("/"));
    let reminded = Reminded {
        workers: vec![1, 2],
        ..levels(60, 0)
    };
    observation.judgement = Some(Judgement {
        reminded,
        ..Judgement::default()
    });
    observation.sender.context_window = Some(9);
    let written = serde_json::to_value(&observation).unwrap();
    assert_eq!(
        written["judgement"]["reminded"],
        json!({"stop_level": 60, "prompt_level": 0, "workers": [1, 2]})
    );
    let read: snell_store::Observation = serde_json::from_value(written).unwrap();
    assert_eq!(read, observation);
    let receiver = snell_store::outbox::Receiver {
        url: "http://box.example".into(),
        token_file: None,
    };
    let letter = snell_store::outbox::Letter::in_full(observation, &receiver);
    let known = &letter.body["snell"];
    assert_eq!(
        known["judgement"]["reminded"],
        json!({"stop_level": 60, "prompt_level": 0})
    );
    assert_eq!(known["sender"]["context_window"], 9);
}

#[test]
fn a_transcript_that_was_there_before_its_session_began_counts() {
    for (source, expected) in [
        ("startup", Some(85.0)),
        ("resume", Some(85.0)),
        ("clear", None),
        ("compact", None),
    ] {
        let mut kept = Kept::new();
        kept.write_transcript(&[counted_line("s", 1, 170_000)]);
        take(&mut kept, sent("SessionStart", "s").with("source", source));
        assert_eq!(percent(&mut kept), expected, "{source}");
    }
}

#[test]
fn a_transcript_that_is_rewritten_in_place_is_read_again() {
    let mut kept = Kept::new();
    kept.write_transcript(&[counted_line("s", 1, 130_000)]);
    take(&mut kept, sent("SessionStart", "s").with("source", "startup"));
    assert_eq!(percent(&mut kept), Some(65.0));
    // It is as long as before.
    fs::write(kept.path("transcript.jsonl"), "").unwrap();
    kept.write_transcript(&[counted_line("s", 1, 170_000)]);
    assert_eq!(percent(&mut kept), Some(85.0));
    take(&mut kept, prompt("s", "Go on."));
    assert_eq!(percent(&mut kept), Some(85.0));
}
