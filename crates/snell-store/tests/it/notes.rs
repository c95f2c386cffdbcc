//! What waits on disk to be stored.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use snell_store::{Judgement, LogFilter, Notes, Observation, Recorder, Spool, WaitsFor};

use crate::support::{Living, prompt, sent};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

/// All events of a store, the oldest first.
fn stored(recorder: &mut Recorder) -> Vec<snell_store::LogEntry> {
    let all = LogFilter {
        after_id: Some(0),
        limit: u32::MAX,
        ..LogFilter::default()
    };
    recorder.store().unwrap().log(&all).unwrap()
}

fn names(directory: &std::path::Path) -> Vec<String> {
    let entries = fs::read_dir(directory.join("pending")).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

#[test]
fn a_note_is_private_masked_marked_as_late_and_read_in_order() {
    let root = tempfile::tempdir().unwrap();
    let notes = Notes::beside(root.path());
    assert!(notes.is_empty() && notes.all().is_empty() && notes.has_room());
    for second in [3, 1, 2] {
        let observation = sent("PreToolUse", &format!("s{second}"))
            .with("tool_input", format!("curl -H 'Authorization: token {SECRET}'"))
            .at(second)
            .observed_in(root.path());
        notes.write(&observation, WaitsFor::Anybody).unwrap();
    }
    assert_eq!((notes.is_empty(), notes.count()), (false, 3));
    let all = notes.all();
    let sessions: Vec<_> = all
        .iter()
        .map(|note| note.observation.payload["session_id"].as_str().unwrap())
        .collect();
    assert_eq!(sessions, ["s1", "s2", "s3"]);
    assert!(all.iter().all(|note| note.observation.delayed));
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&root.path().join("pending")), 0o700);
    for name in names(root.path()) {
        let path = root.path().join("pending").join(name);
        assert_eq!(mode(&path), 0o600);
        assert!(!fs::read_to_string(path).unwrap().contains(SECRET));
    }
    for note in all {
        note.remove();
    }
    assert!(notes.is_empty());
}

#[test]
fn a_note_of_a_living_process_is_its_own_to_record() {
    let root = tempfile::tempdir().unwrap();
    let notes = Notes::beside(root.path());
    let observation = sent("Stop", "s").observed_in(root.path());
    notes.write(&observation, WaitsFor::ItsProcess).unwrap();
    assert_eq!((notes.count(), notes.all().len()), (1, 0));
    // The same note of a process that is gone is anybody's.
    let mut gone = Living::new();
    gone.dies();
    let pid = gone.process.pid;
    let name = names(root.path()).remove(0);
    let own = std::process::id().to_string();
    let pending = root.path().join("pending");
    fs::rename(pending.join(&name), pending.join(name.replace(&own, &pid.to_string()))).unwrap();
    assert_eq!(notes.all().len(), 1);
}

#[test]
fn a_note_that_cannot_be_read_is_put_aside_and_the_others_are_read() {
    let root = tempfile::tempdir().unwrap();
    let notes = Notes::beside(root.path());
    notes
        .write(&sent("Stop", "s").observed_in(root.path()), WaitsFor::Anybody)
        .unwrap();
    fs::write(root.path().join("pending/0-0-0-0.json"), "nonsense").unwrap();
    assert_eq!(notes.all().len(), 1);
    assert_eq!(names(root.path()).len(), 1);
    assert!(root.path().join("unreadable/0-0-0-0.json").exists());
}

#[test]
fn what_a_killed_process_left_half_written_is_cleared_away() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("pending")).unwrap();
    fs::write(
        root.path().join("pending/01767607200000000000-4194000-4194000-0.json"),
        "{\"ev",
    )
    .unwrap();
    let mut recorder = Recorder::new(root.path());
    recorder.record(vec![sent("Stop", "s").observed_in(root.path())]);
    assert_eq!(names(root.path()), Vec::<String>::new());
}

#[test]
fn a_payload_as_deep_as_one_may_be_survives_whatever_way_it_goes() {
    let deep = (0..200).fold(json!("the innermost"), |inner, _| json!([inner]));
    type Way = fn(&Observation, &mut Recorder);
    let ways: [(&str, Way); 3] = [
        ("at once", |observation, recorder| {
            recorder.record(vec![observation.clone()]);
        }),
        ("a note", |observation, recorder| {
            recorder.notes().write(observation, WaitsFor::Anybody).unwrap();
        }),
        ("handed over", |observation, recorder| {
            recorder.spool().append(observation).unwrap();
        }),
    ];
    for (what, way) in ways {
        let root = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::new(root.path());
        let input = json!({"a": deep});
        let observation = sent("PreToolUse", "s")
            .with("tool_input", input.clone())
            .observed_in(root.path());
        way(&observation, &mut recorder);
        recorder.take_in_all().unwrap();
        let events = stored(&mut recorder);
        assert_eq!(events.len(), 1, "{what}");
        assert_eq!(events[0].payload["tool_input"], input, "{what}");
        assert!(!root.path().join("unreadable").exists(), "{what}");
    }
}

/// Three observations, of which the database refuses the second.
fn one_is_refused(directory: &std::path::Path) -> [Observation; 3] {
    [1, 2, 3].map(|second| {
        let mut observation = sent("Stop", &format!("s{second}")).at(second).observed_in(directory);
        if second == 2 {
            observation.judgement = Some(Judgement {
                decision: Some("deny".into()),
                ..Judgement::default()
            });
        }
        observation
    })
}

#[test]
fn a_note_that_the_database_refuses_is_put_aside_and_the_others_are_stored() {
    let root = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::new(root.path());
    for observation in one_is_refused(root.path()) {
        recorder.notes().write(&observation, WaitsFor::Anybody).unwrap();
    }
    recorder.record(vec![sent("Stop", "s4").at(4).observed_in(root.path())]);
    assert_eq!(recorder.take_remarks(), Vec::<String>::new());
    let sessions: Vec<_> = stored(&mut recorder)
        .into_iter()
        .filter_map(|event| event.session_id)
        .collect();
    assert_eq!(sessions, ["s1", "s3", "s4"]);
    assert!(recorder.notes().is_empty());
    assert_eq!(fs::read_dir(root.path().join("unreadable")).unwrap().count(), 1);
}

#[test]
fn one_that_was_handed_over_and_that_the_database_refuses_does_not_stop_the_others() {
    let root = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::new(root.path());
    let spool = Spool::beside(root.path());
    for observation in one_is_refused(root.path()) {
        spool.append(&observation).unwrap();
    }
    recorder.take_in_all().unwrap();
    assert_eq!((stored(&mut recorder).len(), spool.is_empty()), (2, true));
}

#[test]
fn whoever_has_something_else_to_do_takes_in_only_some_of_what_waits() {
    const NOTES: usize = 300;
    let root = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::new(root.path());
    for second in 0..NOTES {
        let observation = prompt("s", &format!("Number {second}")).at(second.try_into().unwrap());
        recorder
            .notes()
            .write(&observation.observed_in(root.path()), WaitsFor::Anybody)
            .unwrap();
    }
    recorder.store().unwrap();
    let waiting = recorder.notes().count();
    assert!((NOTES / 2..=NOTES).contains(&waiting), "{waiting}");
    recorder.take_in_all().unwrap();
    assert!(recorder.notes().is_empty());
    let numbers: Vec<_> = stored(&mut recorder)
        .iter()
        .map(|event| event.payload["prompt"].clone())
        .collect();
    let expected: Vec<_> = (0..NOTES)
        .map(|second| Value::from(format!("Number {second}")))
        .collect();
    assert_eq!(numbers, expected);
}
