//! What waits on disk to be stored.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use snell_store::{Notes, Recorder, WaitsFor};

use crate::support::{Living, sent};

const SECRET: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";

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
    assert!(notes.is_empty() && notes.some(100).is_empty() && notes.has_room());
    for second in [3, 1, 2] {
        let observation = sent("PreToolUse", &format!("s{second}"))
            .with("tool_input", format!("curl -H 'Authorization: token {SECRET}'"))
            .at(second)
            .observed_in(root.path());
        notes.write(&observation, WaitsFor::Anybody).unwrap();
    }
    assert_eq!((notes.is_empty(), notes.count()), (false, 3));
    let all = notes.some(100);
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
    assert_eq!((notes.count(), notes.some(100).len()), (1, 0));
    // The same note of a process that is gone is anybody's.
    let mut gone = Living::new();
    gone.dies();
    let pid = gone.process.pid;
    let name = names(root.path()).remove(0);
    let own = std::process::id().to_string();
    let pending = root.path().join("pending");
    fs::rename(pending.join(&name), pending.join(name.replace(&own, &pid.to_string()))).unwrap();
    assert_eq!(notes.some(100).len(), 1);
}

#[test]
fn a_note_that_cannot_be_read_is_put_aside_and_the_others_are_read() {
    let root = tempfile::tempdir().unwrap();
    let notes = Notes::beside(root.path());
    notes
        .write(&sent("Stop", "s").observed_in(root.path()), WaitsFor::Anybody)
        .unwrap();
    fs::write(root.path().join("pending/0-0-0-0.json"), "nonsense").unwrap();
    assert_eq!(notes.some(100).len(), 1);
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
