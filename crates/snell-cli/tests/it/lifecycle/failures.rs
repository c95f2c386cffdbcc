//! Snell's own trouble never holds up an agent: whatever is wrong, the session goes on.

use std::any::Any;
use std::fs;
use std::ops::RangeInclusive;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use snell_test_support::cli_output::render_context_answer;
use snell_test_support::database::remove_database;
use snell_test_support::process::{Signal, run_with_stdin, send_signal};
use snell_test_support::wait::wait_until;

use super::context::{TODAY, render_loaded_context};
use super::{INFO, LifecycleSandbox, WARNING, format_time};
use crate::hook::RecordingMode;
use crate::support::CliSandbox;

const TRIGGER: &str = "[CLAUDE OS SYS: NOTIFICATION]: Workers complete";

const NO_WORKERS: &str = "[CLAUDE OS SYS: INFO]: No worker has finished since the last report";
const UNKNOWN_WORKERS: &str = "[CLAUDE OS SYS: INFO]: The finished workers cannot be read now";

/// Every event of the lifecycle, with what is said about it although the database is out of order. What is said to whom
/// was woken depends on whether it can be read; a scribe may find out too late.
fn list_events(can_be_read: Option<bool>) -> Vec<(&'static str, Value, Vec<String>)> {
    let tool = json!({"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"}});
    let nothing = || vec![String::new()];
    let woken = match can_be_read {
        Some(true) => &[NO_WORKERS][..],
        Some(false) => &[UNKNOWN_WORKERS],
        None => &[NO_WORKERS, UNKNOWN_WORKERS],
    };
    let woken = woken.iter().map(|text| render_context_answer("UserPromptSubmit", text)).collect();
    let files = render_context_answer("SessionStart", &render_loaded_context(&[TODAY]));
    vec![
        ("SessionStart", json!({"source": "resume"}), vec![files]),
        ("UserPromptSubmit", json!({"prompt": "Go."}), nothing()),
        ("UserPromptSubmit", json!({"prompt": TRIGGER}), woken),
        ("PreToolUse", tool.clone(), nothing()),
        ("PostToolUse", tool, nothing()),
        ("Stop", json!({"stop_hook_active": false}), nothing()),
        ("SessionEnd", json!({"reason": "other"}), nothing()),
    ]
}

/// A way in which the memory of Snell is out of order.
struct DatabaseOutage {
    what: &'static str,
    mode: RecordingMode,
    /// Makes it so for as long as the answer is held.
    cause: fn(&LifecycleSandbox) -> Box<dyn Any>,
    /// Not certain where a scribe is asked, who may be too slow.
    can_be_read: Option<bool>,
    /// How many lines are told of it.
    lines: RangeInclusive<usize>,
}

fn build_outage(what: &'static str, cause: fn(&LifecycleSandbox) -> Box<dyn Any>) -> DatabaseOutage {
    DatabaseOutage { what, mode: RecordingMode::Alone, cause, can_be_read: Some(false), lines: 1..=1 }
}

/// The scribe of a test, which does nothing until this is dropped.
struct SuspendedDaemon(u32);

impl SuspendedDaemon {
    fn new(pid: u32) -> Self {
        send_signal(pid, Signal::STOP);
        Self(pid)
    }
}

impl Drop for SuspendedDaemon {
    fn drop(&mut self) {
        send_signal(self.0, Signal::CONT);
    }
}

/// With a file that the next start gives.
fn with_today_file(stage: LifecycleSandbox) -> LifecycleSandbox {
    let desktop = stage.sandbox().project().join("Desktop");
    fs::create_dir(&desktop).unwrap();
    fs::write(desktop.join("TODAY.md"), "today\n").unwrap();
    stage
}

fn list_outages() -> Vec<DatabaseOutage> {
    vec![
        DatabaseOutage {
            can_be_read: Some(true),
            lines: 0..=0,
            ..build_outage("missing", |stage| {
                remove_database(&stage.sandbox().data());
                Box::new(())
            })
        },
        DatabaseOutage {
            can_be_read: Some(true),
            lines: 0..=0,
            ..build_outage("missing with all that is around it", |stage| {
                fs::remove_dir_all(stage.sandbox().data()).unwrap();
                Box::new(())
            })
        },
        DatabaseOutage {
            can_be_read: Some(true),
            ..build_outage("written to by another process", |stage| {
                Box::new(stage.sandbox().open_database_with("BEGIN EXCLUSIVE"))
            })
        },
        DatabaseOutage {
            can_be_read: None,
            mode: RecordingMode::WithDaemon,
            lines: 0..=1,
            ..build_outage("written to by another process, with a scribe", |stage| {
                stage.watched.wait_for_daemon();
                Box::new(stage.sandbox().open_database_with("BEGIN EXCLUSIVE"))
            })
        },
        build_outage("locked by another process", |stage| {
            let sql = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE mine (it); COMMIT";
            Box::new(stage.sandbox().open_database_with(sql))
        }),
        // It is moved aside, and another one begun.
        DatabaseOutage {
            can_be_read: Some(true),
            ..build_outage("garbage", |stage| {
                remove_database(&stage.sandbox().data());
                fs::write(stage.watched.database_path(), "garbage ".repeat(2000)).unwrap();
                Box::new(())
            })
        },
        DatabaseOutage {
            can_be_read: None,
            mode: RecordingMode::WithDaemon,
            lines: 0..=1,
            ..build_outage("turned into garbage before the eyes of the scribe", |stage| {
                stage.watched.wait_for_daemon();
                // The log is folded in, as it is after a while: else it would mend the file.
                drop(stage.sandbox().open_database_with("PRAGMA wal_checkpoint = TRUNCATE"));
                fs::write(stage.watched.database_path(), "garbage ".repeat(2000)).unwrap();
                Box::new(())
            })
        },
        build_outage("a directory in its place", |stage| {
            remove_database(&stage.sandbox().data());
            fs::create_dir(stage.watched.database_path()).unwrap();
            Box::new(())
        }),
        build_outage("a device in its place", |stage| {
            remove_database(&stage.sandbox().data());
            symlink("/dev/full", stage.watched.database_path()).unwrap();
            Box::new(())
        }),
        build_outage("of a later version", |stage| {
            Box::new(stage.sandbox().open_database_with("PRAGMA user_version = 999"))
        }),
        build_outage("a file in place of its directory", |stage| {
            fs::remove_dir_all(stage.sandbox().data()).unwrap();
            fs::write(stage.sandbox().data(), "").unwrap();
            Box::new(())
        }),
        build_outage("where nothing can be made", |stage| {
            fs::remove_dir_all(stage.sandbox().data()).unwrap();
            symlink("/proc/nowhere/at/all", stage.sandbox().data()).unwrap();
            Box::new(())
        }),
        DatabaseOutage {
            can_be_read: Some(false),
            mode: RecordingMode::WithDaemon,
            lines: 0..=1,
            ..build_outage("with a scribe that does not answer", |stage| {
                stage.watched.wait_for_daemon();
                let pid = wait_until(|| stage.watched.find_daemon_pid());
                Box::new(SuspendedDaemon::new(pid))
            })
        },
    ]
}

#[test]
fn no_event_is_held_up_by_a_database_that_cannot_be_used() {
    std::thread::scope(|scope| {
        for trouble in list_outages() {
            scope.spawn(move || {
                for (event, fields, expected) in list_events(trouble.can_be_read) {
                    let what = format!("{}: {event} {fields}", trouble.what);
                    let stage = with_today_file(
                        LifecycleSandbox::with_recording_mode(trouble.mode, CliSandbox::new()).begin_session(),
                    );
                    let cause = (trouble.cause)(&stage);
                    let ran = stage.send_event("12:00:30", event, fields);
                    drop(cause);
                    assert_eq!(ran.code, 0, "{what}: {}", ran.stderr);
                    assert!(expected.contains(&ran.stdout), "{what}: {}", ran.stdout);
                    let lines = ran.stderr.lines().count();
                    assert!(trouble.lines.contains(&lines), "{what}: {}", ran.stderr);
                    assert!(ran.stderr.is_empty() || ran.stderr.starts_with("snell: "), "{what}: {}", ran.stderr);
                }
            });
        }
    });
}

#[test]
fn no_event_is_held_up_by_a_disk_on_which_nothing_fits() {
    // What a file may hold at most, in blocks; without the signal a write beyond it fails as on a full disk.
    for blocks in [0, 8] {
        for (event, fields, expected) in list_events(Some(false)) {
            let stage = with_today_file(LifecycleSandbox::new().begin_session());
            let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let mut command = stage.sandbox().shell(&line, &["hook"]);
            command.env("SNELL_NOW", format_time("12:00:30"));
            let payload = stage.watched.build_payload("s1", event, fields);
            let ran = run_with_stdin(&mut command, payload.to_string());
            assert_eq!(ran.code, 0, "{blocks}: {event}: {}", ran.stderr);
            assert!(expected.contains(&ran.stdout), "{blocks}: {event}: {}", ran.stdout);
            assert_eq!(ran.stderr.lines().count(), 1, "{blocks}: {event}: {}", ran.stderr);
        }
    }
}

#[test]
fn messages_are_judged_whatever_is_wrong_with_the_database() {
    for trouble in list_outages() {
        let stage = LifecycleSandbox::with_recording_mode(trouble.mode, CliSandbox::new()).begin_session();
        let cause = (trouble.cause)(&stage);
        let send = json!({
            "tool_name": "mcp__gmail__send_email", "tool_use_id": "t1", "tool_input": {"to": "eve@example.com"},
        });
        let ran = stage.send_event("12:00:30", "PreToolUse", send);
        drop(cause);
        let output = &ran.json()["hookSpecificOutput"];
        assert_eq!((ran.code, &output["permissionDecision"]), (0, &json!("deny")), "{}", trouble.what);
        assert!(trouble.lines.contains(&ran.stderr.lines().count()), "{}: {}", trouble.what, ran.stderr);
    }
}

#[test]
fn what_could_not_be_told_is_told_once_the_database_can_be_read_again() {
    let stage = LifecycleSandbox::new().with_launcher_env(&[("CLAUDE_SESSION_MODE", "background")]).begin_session();
    stage.fill_context("12:00:10", 85.0);
    let sql = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE mine (it); COMMIT";
    let holder = stage.sandbox().open_database_with(sql);
    stage.send_prompt("12:00:20", "Go.").expect_single_warning();
    stage.send_stop("12:00:30").expect_single_warning();
    drop(holder);
    let prompt = format!("{WARNING}Context at 80% - Write reset notes and prepare to transition");
    stage.send_prompt("12:00:40", "Go.").assert_context_answer("UserPromptSubmit", &prompt);
    let stop = format!("{WARNING}Context at 80%\n{INFO}Reminder - Ping before ending");
    stage.send_stop("12:00:50").assert_context_answer("Stop", &stop);
    assert_eq!(stage.watched.query_rows("SELECT * FROM events").len(), 5, "nothing is lost");
}

#[test]
fn what_was_told_while_nothing_could_be_written_is_not_told_again() {
    let stage = LifecycleSandbox::new().begin_session();
    assert_eq!(stage.run_snell("12:00:05", &["worker", "done", "build"], "").code, 0);
    stage.fill_context("12:00:10", 85.0);
    let holder = stage.sandbox().open_database_with("BEGIN IMMEDIATE");
    let first = [stage.send_prompt("12:00:20", TRIGGER), stage.send_stop("12:00:21")];
    let again = [stage.send_prompt("12:00:22", TRIGGER), stage.send_stop("12:00:23")];
    drop(holder);
    let later = [stage.send_prompt("12:00:30", TRIGGER), stage.send_stop("12:00:31")];
    let all: Vec<_> = [first, again, later].into_iter().flatten().collect();
    for text in ["- build: done", "80% - Write reset notes", "Context at 80%\""] {
        let told = all.iter().filter(|ran| ran.stdout.contains(text)).count();
        assert_eq!(told, 1, "{text}: {all:#?}");
    }
}
