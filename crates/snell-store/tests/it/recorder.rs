//! Recording without loss.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use snell_store::{AgentFilter, EventRecorder, LogFilter, Store, StoreError};
use snell_test_support::database::list_damaged_databases;
use snell_test_support::files::set_file_mode;

use crate::support::{TestStore, build_event, build_prompt, build_stop};

fn record_prompt(recorder: &mut EventRecorder, directory: &Path, session: &str) -> Vec<String> {
    recorder.record_events(vec![build_prompt(session, "Go.").into_record_in(directory)]);
    recorder.take_warnings()
}

fn count_stored_events(directory: &Path) -> usize {
    let mut store = Store::open(&directory.join("snell.db")).unwrap().store;
    let all = LogFilter { limit: u32::MAX, ..LogFilter::default() };
    store.query_log(&all).unwrap().len()
}

#[test]
fn a_damaged_database_is_moved_aside_and_a_new_one_is_created() {
    type DatabaseCorruption = fn(&Path);
    let ways: [(&str, DatabaseCorruption); 3] = [
        ("something else", |path| fs::write(path, "this is no database at all".repeat(400)).unwrap()),
        ("a broken header", |path| {
            let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.write_all(&[0xA5; 64]).unwrap();
        }),
        ("a broken schema", |path| {
            let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
            file.seek(SeekFrom::Start(100)).unwrap();
            file.write_all(&[0xA5; 3000]).unwrap();
        }),
    ];
    for (what, damage) in ways {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let mut recorder = EventRecorder::new(directory);
        assert_eq!(record_prompt(&mut recorder, directory, "s1"), Vec::<String>::new(), "{what}");
        recorder.close();
        damage(&directory.join("snell.db"));
        let damaged = fs::read(directory.join("snell.db")).unwrap();

        let mut recorder = EventRecorder::new(directory);
        let remarks = record_prompt(&mut recorder, directory, "s2");
        assert_eq!(remarks.len(), 1, "{what}: {remarks:?}");
        assert!(remarks[0].starts_with("the damaged database was moved to "), "{what}: {remarks:?}");
        let aside = list_damaged_databases(directory);
        assert_eq!(aside.len(), 1, "{what}: {aside:?}");
        assert_eq!(fs::read(directory.join(&aside[0])).unwrap(), damaged, "{what}");
        assert_eq!(record_prompt(&mut recorder, directory, "s3"), Vec::<String>::new(), "{what}");
        assert_eq!(count_stored_events(directory), 2, "{what}");
    }
}

#[test]
fn a_damaged_page_is_found_when_it_is_used() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    let mut recorder = EventRecorder::new(directory);
    for number in 0..200 {
        record_prompt(&mut recorder, directory, &format!("s{number}"));
    }
    recorder.close();
    let path = directory.join("snell.db");
    let length = fs::metadata(&path).unwrap().len();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // Everything but the first page, which has the schema.
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&vec![0xA5; usize::try_from(length - 4096).unwrap()]).unwrap();
    drop(file);
    let mut recorder = EventRecorder::new(directory);
    let remarks = record_prompt(&mut recorder, directory, "new");
    assert_eq!(
        (remarks.len(), list_damaged_databases(directory).len(), count_stored_events(directory)),
        (1, 1, 1),
        "{remarks:?}"
    );
}

#[test]
fn a_removed_database_is_created_again_by_processes_that_had_it_open() {
    for leave_log in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let mut recorder = EventRecorder::new(directory);
        record_prompt(&mut recorder, directory, "s1");
        fs::remove_file(directory.join("snell.db")).unwrap();
        if !leave_log {
            fs::remove_file(directory.join("snell.db-wal")).unwrap();
            fs::remove_file(directory.join("snell.db-shm")).unwrap();
        }
        let remarks = record_prompt(&mut recorder, directory, "s2");
        assert!(
            remarks.len() == 1 && remarks[0].contains("snell.db was removed or replaced while Snell used it"),
            "{leave_log}: {remarks:?}"
        );
        assert_eq!(record_prompt(&mut recorder, directory, "s2"), Vec::<String>::new(), "{leave_log}");
        drop(recorder);
        assert_eq!(count_stored_events(directory), 2, "{leave_log}");
        assert_eq!(list_damaged_databases(directory).len(), 0);
    }
}

#[test]
fn an_event_that_cannot_be_stored_waits_for_the_next_process() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    let mut first = EventRecorder::new(directory);
    record_prompt(&mut first, directory, "s0");
    let holder = rusqlite::Connection::open(directory.join("snell.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for session in ["s1", "s2"] {
        let remarks = record_prompt(&mut EventRecorder::new(directory), directory, session);
        assert_eq!(
            remarks,
            ["cannot record UserPromptSubmit now (the database is locked), so it waits on disk for the next call"]
        );
    }
    assert_eq!(first.pending().count(), 2);
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(record_prompt(&mut EventRecorder::new(directory), directory, "s3"), Vec::<String>::new());
    assert!(first.pending().is_empty());
    assert_eq!(count_stored_events(directory), 4);
}

#[test]
fn a_record_that_is_not_an_event_does_not_block_the_others() {
    let root = tempfile::tempdir().unwrap();
    let mut recorder = EventRecorder::new(root.path());
    let good = build_event("Stop", "s").into_record_in(root.path());
    let mut bad = good.clone();
    bad.event = String::new();
    bad.event_id = "bad".into();
    let results: Vec<_> = recorder.record_events(vec![bad, good]).iter().map(Result::is_ok).collect();
    assert_eq!(results, [false, true]);
    assert_eq!(count_stored_events(root.path()), 1);
}

#[test]
fn a_database_of_a_later_version_is_not_changed() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    record_prompt(&mut EventRecorder::new(directory), directory, "s1");
    let database = rusqlite::Connection::open(directory.join("snell.db")).unwrap();
    database.pragma_update(None, "user_version", 999).unwrap();
    drop(database);
    assert!(matches!(Store::open(&directory.join("snell.db")), Err(StoreError::TooNew { found: 999, .. })));
    let remarks = record_prompt(&mut EventRecorder::new(directory), directory, "s2");
    assert!(remarks[0].contains("supports versions up to") && remarks[0].contains("waits on disk"), "{remarks:?}");
    assert_eq!(list_damaged_databases(directory).len(), 0);
}

#[test]
fn only_the_owner_can_read_the_files() {
    for already_there in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("data");
        if already_there {
            fs::create_dir(&directory).unwrap();
            set_file_mode(&directory, 0o755);
        }
        let mut recorder = EventRecorder::new(&directory);
        record_prompt(&mut recorder, &directory, "s1");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&directory), 0o700, "{already_there}");
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
        // A file that became readable for others is made private again.
        set_file_mode(directory.join("snell.db"), 0o644);
        record_prompt(&mut EventRecorder::new(&directory), &directory, "s2");
        assert_eq!(mode(&directory.join("snell.db")), 0o600);
    }
}

#[test]
fn many_recorders_of_one_directory_find_the_same_agents() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    fs::create_dir(directory.join(".git")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let mut recorder = EventRecorder::new(directory);
                    let tool = build_event("PreToolUse", "s").with_field("tool_name", "Bash").into_record_in(directory);
                    recorder.record_events(vec![tool]);
                    assert_eq!(recorder.take_warnings(), Vec::<String>::new());
                }
            });
        }
    });
    assert_eq!(count_stored_events(directory), 200);
    let mut store = Store::open(&directory.join("snell.db")).unwrap().store;
    assert_eq!(store.list_agents(&AgentFilter::default()).unwrap().len(), 1);
}

#[test]
fn a_clock_that_is_wrong_for_a_moment_does_not_make_everything_old() {
    const DAY: i64 = 24 * 60 * 60;
    let keep = std::time::Duration::from_secs(30 * 24 * 60 * 60);
    for at_last in [None, Some(3650 * DAY), Some(-3650 * DAY)] {
        let mut kept = TestStore::new();
        kept.ingest_event(build_prompt("long ago", "Go.").at_second(-40 * DAY));
        kept.ingest_event(build_stop("long ago", "Done.").at_second(-40 * DAY));
        for second in 0..200 {
            kept.ingest_event(build_event("PreToolUse", "s").with_field("tool_name", "Bash").at_second(second));
        }
        if let Some(at_last) = at_last {
            kept.ingest_event(build_event("PostToolUse", "s").with_field("tool_name", "Bash").at_second(at_last));
        }
        kept.store.prune_older_than(keep).unwrap();
        let of_today = kept.list_events().iter().filter(|event| event.event == "PreToolUse").count();
        assert_eq!(of_today, 200, "{at_last:?}");
        let old = kept.list_events().iter().any(|event| event.event == "UserPromptSubmit");
        // If the clock was set back, nothing is certainly old.
        assert_eq!(old, at_last == Some(-3650 * DAY), "{at_last:?}");
    }
}

#[test]
fn a_named_file_that_is_not_a_database_is_not_changed() {
    let root = tempfile::tempdir().unwrap();
    let foreign = root.path().join("app.sqlite");
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other.execute_batch("CREATE TABLE people (name TEXT)").unwrap();
    drop(other);
    let text = root.path().join("notes.txt");
    std::fs::write(&text, "Buy milk.").unwrap();
    let fifo = root.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for path in [foreign, text, fifo] {
        set_file_mode(&path, 0o644);
        let before = std::fs::read_dir(root.path()).unwrap().count();
        let error = EventRecorder::with_database(&path).open_store().unwrap_err().to_string();
        assert!(error.contains("is not a Snell database"), "{error}");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode, std::fs::read_dir(root.path()).unwrap().count()), (0o644, before), "{path:?}");
    }
    // An empty file, a new one, and a Snell database can be used.
    let empty = root.path().join("empty.db");
    std::fs::write(&empty, "").unwrap();
    for path in [empty, root.path().join("new.db")] {
        assert!(EventRecorder::with_database(&path).open_store().is_ok(), "{path:?}");
        assert!(EventRecorder::with_database(&path).open_store().is_ok(), "{path:?}, again");
    }
}
