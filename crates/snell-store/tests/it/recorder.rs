//! Recording that loses nothing.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use snell_store::{AgentFilter, LogFilter, Recorder, Store, StoreError};

use crate::support::{Kept, prompt, sent, stop};

fn record(recorder: &mut Recorder, directory: &Path, session: &str) -> Vec<String> {
    recorder.record(vec![prompt(session, "Go.").observed_in(directory)]);
    recorder.take_remarks()
}

fn events(directory: &Path) -> usize {
    let mut store = Store::open(&directory.join("snell.db")).unwrap().store;
    let all = LogFilter {
        limit: u32::MAX,
        ..LogFilter::default()
    };
    store.log(&all).unwrap().len()
}

fn set_aside(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_log = |name: &String| name.ends_with("-wal") || name.ends_with("-shm");
    names
        .filter(|name| name.starts_with("snell.db.damaged-") && !is_log(name))
        .collect()
}

#[test]
fn a_damaged_database_is_moved_aside_and_a_new_one_is_begun() {
    type Damage = fn(&Path);
    let ways: [(&str, Damage); 3] = [
        ("something else", |path| {
            fs::write(path, "this is no database at all".repeat(400)).unwrap()
        }),
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
        let mut recorder = Recorder::new(directory);
        assert_eq!(record(&mut recorder, directory, "s1"), Vec::<String>::new(), "{what}");
        recorder.close();
        damage(&directory.join("snell.db"));
        let damaged = fs::read(directory.join("snell.db")).unwrap();

        let mut recorder = Recorder::new(directory);
        let remarks = record(&mut recorder, directory, "s2");
        assert_eq!(remarks.len(), 1, "{what}: {remarks:?}");
        assert!(
            remarks[0].starts_with("the database was damaged; it was moved to "),
            "{what}: {remarks:?}"
        );
        let aside = set_aside(directory);
        assert_eq!(aside.len(), 1, "{what}: {aside:?}");
        assert_eq!(fs::read(directory.join(&aside[0])).unwrap(), damaged, "{what}");
        assert_eq!(record(&mut recorder, directory, "s3"), Vec::<String>::new(), "{what}");
        assert_eq!(events(directory), 2, "{what}");
    }
}

#[test]
fn a_page_that_is_damaged_is_found_when_it_is_used() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    let mut recorder = Recorder::new(directory);
    for number in 0..200 {
        record(&mut recorder, directory, &format!("s{number}"));
    }
    recorder.close();
    let path = directory.join("snell.db");
    let length = fs::metadata(&path).unwrap().len();
    let mut file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // Everything but the first page, on which the schema stands.
    file.seek(SeekFrom::Start(4096)).unwrap();
    file.write_all(&vec![0xA5; usize::try_from(length - 4096).unwrap()])
        .unwrap();
    drop(file);
    let mut recorder = Recorder::new(directory);
    let remarks = record(&mut recorder, directory, "new");
    assert_eq!(
        (remarks.len(), set_aside(directory).len(), events(directory)),
        (1, 1, 1),
        "{remarks:?}"
    );
}

#[test]
fn a_database_that_is_taken_away_is_begun_anew_by_those_who_had_it_open() {
    for leave_log in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path();
        let mut recorder = Recorder::new(directory);
        record(&mut recorder, directory, "s1");
        fs::remove_file(directory.join("snell.db")).unwrap();
        if !leave_log {
            fs::remove_file(directory.join("snell.db-wal")).unwrap();
            fs::remove_file(directory.join("snell.db-shm")).unwrap();
        }
        let remarks = record(&mut recorder, directory, "s2");
        assert!(
            remarks.len() == 1 && remarks[0].contains("snell.db was removed or replaced while it was in use"),
            "{leave_log}: {remarks:?}"
        );
        assert_eq!(
            record(&mut recorder, directory, "s2"),
            Vec::<String>::new(),
            "{leave_log}"
        );
        drop(recorder);
        assert_eq!(events(directory), 2, "{leave_log}");
        assert_eq!(set_aside(directory).len(), 0);
    }
}

#[test]
fn what_cannot_be_stored_waits_and_is_taken_in_by_the_next() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    let mut first = Recorder::new(directory);
    record(&mut first, directory, "s0");
    let holder = rusqlite::Connection::open(directory.join("snell.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    for session in ["s1", "s2"] {
        let remarks = record(&mut Recorder::new(directory), directory, session);
        assert_eq!(
            remarks,
            ["cannot record UserPromptSubmit now (the database is locked); it waits on disk for the next call"]
        );
    }
    assert_eq!(first.notes().count(), 2);
    holder.execute_batch("ROLLBACK").unwrap();
    assert_eq!(
        record(&mut Recorder::new(directory), directory, "s3"),
        Vec::<String>::new()
    );
    assert!(first.notes().is_empty());
    assert_eq!(events(directory), 4);
}

#[test]
fn one_that_is_no_event_does_not_hold_up_the_others() {
    let root = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::new(root.path());
    let good = sent("Stop", "s").observed_in(root.path());
    let mut bad = good.clone();
    bad.event = String::new();
    bad.event_id = "bad".into();
    let results: Vec<_> = recorder.record(vec![bad, good]).iter().map(Result::is_ok).collect();
    assert_eq!(results, [false, true]);
    assert_eq!(events(root.path()), 1);
}

#[test]
fn a_database_of_a_later_version_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    record(&mut Recorder::new(directory), directory, "s1");
    let database = rusqlite::Connection::open(directory.join("snell.db")).unwrap();
    database.pragma_update(None, "user_version", 999).unwrap();
    drop(database);
    assert!(matches!(
        Store::open(&directory.join("snell.db")),
        Err(StoreError::TooNew { found: 999, .. })
    ));
    let remarks = record(&mut Recorder::new(directory), directory, "s2");
    assert!(
        remarks[0].contains("use a newer one") && remarks[0].contains("waits on disk"),
        "{remarks:?}"
    );
    assert_eq!(set_aside(directory).len(), 0);
}

#[test]
fn what_is_kept_is_for_its_owner_only() {
    for already_there in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("data");
        if already_there {
            fs::create_dir(&directory).unwrap();
            fs::set_permissions(&directory, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let mut recorder = Recorder::new(&directory);
        record(&mut recorder, &directory, "s1");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&directory), 0o700, "{already_there}");
        for entry in fs::read_dir(&directory).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
        // One that somebody opened to others is closed again.
        fs::set_permissions(directory.join("snell.db"), fs::Permissions::from_mode(0o644)).unwrap();
        record(&mut Recorder::new(&directory), &directory, "s2");
        assert_eq!(mode(&directory.join("snell.db")), 0o600);
    }
}

#[test]
fn many_recorders_of_one_directory_agree_on_who_is_who() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path();
    fs::create_dir(directory.join(".git")).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let mut recorder = Recorder::new(directory);
                    let tool = sent("PreToolUse", "s").with("tool_name", "Bash").observed_in(directory);
                    recorder.record(vec![tool]);
                    assert_eq!(recorder.take_remarks(), Vec::<String>::new());
                }
            });
        }
    });
    assert_eq!(events(directory), 200);
    let mut store = Store::open(&directory.join("snell.db")).unwrap().store;
    assert_eq!(store.agents(&AgentFilter::default()).unwrap().len(), 1);
}

#[test]
fn a_clock_that_is_wrong_for_a_moment_does_not_make_everything_old() {
    const DAY: i64 = 24 * 60 * 60;
    let keep = std::time::Duration::from_secs(30 * 24 * 60 * 60);
    for at_last in [None, Some(3650 * DAY), Some(-3650 * DAY)] {
        let mut kept = Kept::new();
        kept.take(prompt("long ago", "Go.").at(-40 * DAY));
        kept.take(stop("long ago", "Done.").at(-40 * DAY));
        for second in 0..200 {
            kept.take(sent("PreToolUse", "s").with("tool_name", "Bash").at(second));
        }
        if let Some(at_last) = at_last {
            kept.take(sent("PostToolUse", "s").with("tool_name", "Bash").at(at_last));
        }
        kept.store.forget_older_than(keep).unwrap();
        let of_today = kept.events().iter().filter(|event| event.event == "PreToolUse").count();
        assert_eq!(of_today, 200, "{at_last:?}");
        let old = kept.events().iter().any(|event| event.event == "UserPromptSubmit");
        // Where the clock went back nothing is certainly old.
        assert_eq!(old, at_last == Some(-3650 * DAY), "{at_last:?}");
    }
}

#[test]
fn a_file_that_somebody_named_and_that_is_something_else_is_not_touched() {
    let root = tempfile::tempdir().unwrap();
    let foreign = root.path().join("app.sqlite");
    let other = rusqlite::Connection::open(&foreign).unwrap();
    other.execute_batch("CREATE TABLE people (name TEXT)").unwrap();
    drop(other);
    let text = root.path().join("notes.txt");
    std::fs::write(&text, "Buy milk.").unwrap();
    let fifo = root.path().join("fifo");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .unwrap()
            .success()
    );
    for path in [foreign, text, fifo] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let before = std::fs::read_dir(root.path()).unwrap().count();
        let error = Recorder::at(&path).store().unwrap_err().to_string();
        assert!(error.contains("no database of Snell"), "{error}");
        let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(
            (mode, std::fs::read_dir(root.path()).unwrap().count()),
            (0o644, before),
            "{path:?}"
        );
    }
    // An empty file, a new one, and one of ours can be used.
    let empty = root.path().join("empty.db");
    std::fs::write(&empty, "").unwrap();
    for path in [empty, root.path().join("new.db")] {
        assert!(Recorder::at(&path).store().is_ok(), "{path:?}");
        assert!(Recorder::at(&path).store().is_ok(), "{path:?}, again");
    }
}
