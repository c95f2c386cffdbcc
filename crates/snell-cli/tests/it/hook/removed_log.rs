//! Files of the database that are removed or shortened while the scribe has them open.

use std::fs::{self, OpenOptions};

use rusqlite::Connection;
use serde_json::json;
use snell_test_support::process::spawn_with_stdin;

use super::{HookSandbox, RecordingMode};

/// How often files are removed, with so many events before each time.
const ROUNDS: usize = 24;
const EVENTS: usize = 3;

/// What is removed, how the next event comes (through the scribe, or past it), and how many events may be lost each time.
/// Without the index the processes know nothing of each other, so the scribe saves its own events only.
const WAYS: &[(&[&str], Option<&str>, usize)] = &[
    (&["snell.db-wal"], None, 0),
    (&["snell.db-wal", "snell.db-shm"], None, 0),
    (&["snell.db-shm"], None, 0),
    (&["snell.db-shm"], Some("off"), 0),
    (&["snell.db-wal"], Some("off"), 0),
    (&["snell.db-wal", "snell.db-shm"], Some("off"), 1),
];

#[test]
fn a_log_that_is_removed_under_the_scribe_loses_no_event_and_is_reported() {
    for (removed, past, lost) in WAYS {
        let watched = HookSandbox::new(RecordingMode::WithDaemon);
        let about = format!("{removed:?} {past:?}");
        watched.send_prompt("s0", "first");
        watched.wait_for_daemon();
        let mut sent = 1;
        let mut said = String::new();
        for round in 0..ROUNDS {
            for event in 0..EVENTS {
                let payload =
                    watched.build_payload("s0", "UserPromptSubmit", json!({"prompt": format!("{round} {event}")}));
                let mut command = watched.hook_command();
                if let (Some(way), 0) = (past, event) {
                    command.env("SNELL_SCRIBE", way);
                }
                let output = spawn_with_stdin(&mut command, payload.to_string()).wait_with_output().unwrap();
                assert!(output.status.success(), "{about}: {output:?}");
                said.push_str(&String::from_utf8_lossy(&output.stderr));
                sent += 1;
            }
            for name in *removed {
                // Another process may not have made it again yet.
                let _ = fs::remove_file(watched.sandbox.data().join(name));
            }
        }
        watched.wait_until_stored();
        // What had to wait on disk is taken in by whoever looks.
        watched.sandbox.run_snell(&["log"], "");
        let stored = usize::try_from(watched.count_rows("events")).unwrap();
        assert!(stored <= sent && stored + lost * ROUNDS >= sent, "{about}: {stored} of {sent}: {said}");
        assert!(said.contains("while it was in use"), "{about}: {said}");
        let aside = fs::read_dir(watched.sandbox.data()).unwrap().flatten();
        let aside = aside.filter(|entry| entry.file_name().to_string_lossy().contains("damaged"));
        assert_eq!(aside.count(), 0, "{about}: {said}");
    }
}

/// The file that is shortened, to which length, and whether another process folds the log in before, which empties it. Then
/// the words that report it.
const SHORTENINGS: &[(&str, u64, bool, &str)] = &[
    ("snell.db", 0, false, "nothing is lost"),
    ("snell.db-wal", 0, false, "stored again"),
    ("snell.db-wal", 20_000, false, "stored again"),
    ("snell.db", 0, true, "stored again"),
    ("snell.db", 8192, true, "stored again"),
];

#[test]
fn a_file_that_is_shortened_under_the_scribe_loses_no_event_and_is_reported() {
    for (name, length, is_folded_in, report) in SHORTENINGS {
        let watched = HookSandbox::new(RecordingMode::WithDaemon);
        let about = format!("{name} {length} {is_folded_in}");
        // The first hook records by itself, so the scribe has no copy of its event.
        watched.send_prompt("first", "first");
        watched.wait_for_daemon();
        for event in 0..EVENTS {
            watched.send_prompt("s0", &format!("before {event}"));
        }
        if *is_folded_in {
            let other = Connection::open(watched.database_path()).unwrap();
            let fold = "PRAGMA wal_checkpoint(TRUNCATE)";
            let busy: i64 = other.query_row(fold, [], |row| row.get(0)).unwrap();
            assert_eq!(busy, 0, "{about}");
        }
        // A log that was emptied is no damage.
        watched.send_prompt("s0", "folded in or not");
        let file = OpenOptions::new().write(true).open(watched.sandbox.data().join(name));
        file.unwrap().set_len(*length).unwrap();
        let mut said = String::new();
        for event in 0..EVENTS {
            let payload = watched.build_payload("s0", "UserPromptSubmit", json!({"prompt": format!("after {event}")}));
            let ran = watched.run_hook(&payload);
            assert_eq!(ran.code, 0, "{about}: {ran:?}");
            said.push_str(&ran.stderr);
        }
        let is_reported = said.contains("was truncated while it was in use") && said.contains(report);
        assert!(is_reported && said.lines().count() == 1, "{about}: {said}");
        let stored = usize::try_from(watched.count_rows("events")).unwrap();
        assert!(stored > 2 * EVENTS, "{about}: {stored}: {said}");
        assert_eq!(watched.query_value("PRAGMA integrity_check"), "ok", "{about}");
    }
}
