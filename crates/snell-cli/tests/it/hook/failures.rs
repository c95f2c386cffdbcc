//! Snell's own trouble, which must not become the agent's.

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};
use snell_test_support::database::{extract_first_column, list_damaged_databases};
use snell_test_support::files::{read_file_mode, set_file_mode};
use snell_test_support::process::{CommandOutput, is_open_in_a_process, run_with_stdin, spawn_with_stdin};
use snell_test_support::wait::wait_until;

use super::{HookSandbox, RecordingMode, render_answering_hook, run_in_both_modes};
use crate::support::CliSandbox;

fn run_with_payload(command: &mut Command, payload: &Value) -> CommandOutput {
    run_with_stdin(command, payload.to_string())
}

#[test]
fn a_payload_that_is_no_event_costs_one_line() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let payloads: [&[u8]; 12] = [
        b"",
        b" \n",
        b"{",
        b"null",
        b"[]",
        b"7",
        b"\"PreToolUse\"",
        b"{}",
        b"{\"hook_event_name\": \" \"}",
        b"{\"hook_event_name\": [\"Stop\"]}",
        b"\xff\xfe\x00{",
        deep.as_bytes(),
    ];
    run_in_both_modes(|watched| {
        for payload in payloads {
            let text = String::from_utf8_lossy(payload);
            let ran = watched.sandbox.run_snell(&["hook"], &text);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{text:.40}");
            assert_eq!(ran.stderr.lines().count(), 1, "{text:.40}: {ran:?}");
        }
        watched.send_prompt("s1", "And now a good one.");
        assert_eq!(watched.count_rows("events"), 1);
    });
}

#[test]
fn odd_payloads_are_recorded_as_they_are() {
    run_in_both_modes(|watched| {
        let odd = [
            json!({"session_id": null}),
            json!({"session_id": ""}),
            json!({"session_id": 7}),
            json!({"session_id": ["s"]}),
            json!({"cwd": "/nowhere"}),
            json!({"cwd": 5, "tool_input": "text", "tool_name": null}),
            json!({"transcript_path": "/dev/zero"}),
            json!({"message": "\u{0} and \u{1b}[31m and \u{fffd}"}),
            json!({"message": "x".repeat(300_000)}),
            json!({"tool_input": (0..200).fold(json!("deep"), |inner, _| json!([inner]))}),
        ];
        for fields in &odd {
            watched.send_silent_event("s1", "Notification", fields.clone());
        }
        assert_eq!(usize::try_from(watched.count_rows("events")).unwrap(), odd.len());
    });
}

#[test]
fn while_the_database_is_locked_events_wait_and_verdicts_are_told() {
    let text = render_answering_hook("PreToolUse", &json!({"decision": "block", "reason": "no"}));
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        let watched = HookSandbox::with_user_config(mode, &text);
        watched.send_prompt("s1", "Go.");
        watched.wait_for_daemon();
        let holder = Connection::open(watched.database_path()).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let stop = watched.build_payload("s1", "Stop", json!({"last_assistant_message": "Done."}));
        let put_off = watched.run_hook(&stop);
        assert_eq!((put_off.code, put_off.stdout.as_str()), (0, ""), "{put_off:?}");
        assert_lock_reported(mode, &put_off);
        let denied = watched.run_hook(&watched.build_payload("s1", "PreToolUse", json!({"tool_name": "Glob"})));
        assert_eq!(denied.json()["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(denied.code, 0, "{denied:?}");
        assert_lock_reported(mode, &denied);
        // Whoever was not answered in time by the scribe may have written down the same.
        assert!(watched.count_pending() >= 2, "{mode:?}");
        watched.wait_until_stored();
        holder.execute_batch("ROLLBACK").unwrap();
        let prompt = watched.build_payload("s1", "UserPromptSubmit", json!({"prompt": "Go on."}));
        assert_eq!(watched.run_hook(&prompt).code, 0, "{mode:?}");
        wait_until_events_stored(&watched, &["UserPromptSubmit", "Stop", "PreToolUse", "UserPromptSubmit"]);
        assert_eq!(watched.list_agent_states(), ["processing"], "{mode:?}");
    }
}

/// Whoever records alone says that the database is locked. A scribe waits for the database in a hook's place, and on a crowded
/// machine the hook may have to leave before it hears of that.
#[track_caller]
fn assert_lock_reported(mode: RecordingMode, ran: &CommandOutput) {
    let is_unheard = ran.stderr.is_empty() || ran.stderr.contains("the scribe does not answer");
    let is_said = ran.stderr.contains("locked") || (mode == RecordingMode::WithDaemon && is_unheard);
    assert!(is_said && ran.stderr.lines().count() <= 1, "{mode:?}: {ran:?}");
}

/// These events are stored in this order, and nothing waits any more; at once, or when the scribe comes to it.
fn wait_until_events_stored(watched: &HookSandbox, names: &[&str]) {
    wait_until(|| {
        let kept = extract_first_column(&watched.query_rows("SELECT name FROM events ORDER BY id"));
        assert!(kept.len() <= names.len() && names.starts_with(&borrow_texts(&kept)), "{kept:?}");
        (kept.len() == names.len() && watched.count_pending() == 0).then_some(())
    });
}

fn borrow_texts(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

#[test]
fn whoever_holds_the_lock_of_the_file_itself_holds_nobody_up() {
    run_in_both_modes(|watched| {
        let lock = fs::File::create(watched.sandbox.data().join("snell.db.lock")).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        // It comes back although the lock is held.
        let trouble = watched.run_hook(&watched.build_payload("s1", "UserPromptSubmit", json!({"prompt": "Go."})));
        assert!(trouble.expect_single_warning().contains("waits on disk"), "{trouble:?}");
        assert_eq!(watched.count_pending(), 1);
        drop(lock);
        let stop = watched.build_payload("s1", "Stop", json!({}));
        assert_eq!(watched.run_hook(&stop).code, 0);
        wait_until_events_stored(watched, &["UserPromptSubmit", "Stop"]);
    });
}

#[test]
fn a_file_of_the_user_that_cannot_be_read_is_told_once_in_each_session() {
    for text in ["[[hook]\n", "keep = 5\n", "[[hook]]\nevent = \"PreToolUse\"\n"] {
        let watched = HookSandbox::with_user_config(RecordingMode::Alone, text);
        let tool = |session: &str| {
            watched.run_hook(&watched.build_payload(session, "PreToolUse", json!({"tool_name": "Glob"})))
        };
        for session in ["s1", "s2"] {
            let told = tool(session);
            let message = told.json()["systemMessage"].as_str().unwrap().to_owned();
            assert!(message.starts_with("Snell: ") && message.contains("snell.toml:"), "{text}: {message}");
            assert_eq!(told.json().as_object().unwrap().len(), 1, "{text}: {told:?}");
            // Once is enough; who looks at standard error sees it every time.
            assert!(tool(session).expect_single_warning().contains("snell.toml:"), "{text}");
        }
        assert_eq!(watched.count_rows("events"), 4, "{text}");
    }
}

#[test]
fn a_damaged_database_is_moved_aside_and_the_next_call_works() {
    type DatabaseDamage = fn(&Path);
    let ways: [(&str, DatabaseDamage); 2] = [
        ("garbage", |path| fs::write(path, "garbage ".repeat(2000)).unwrap()),
        ("half of it", |path| {
            let content = fs::read(path).unwrap();
            fs::write(path, &content[..content.len() / 2]).unwrap();
        }),
    ];
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        for (what, damage) in ways {
            let watched = HookSandbox::new(mode);
            watched.send_prompt("s1", "Go.");
            watched.wait_for_daemon();
            // The log is folded in, as it is after a while: else it would mend the file.
            Connection::open(watched.database_path())
                .unwrap()
                .pragma_update(None, "wal_checkpoint", "TRUNCATE")
                .unwrap();
            damage(&watched.database_path());
            let trouble = watched.run_hook(&watched.build_payload("s1", "Stop", json!({})));
            assert_eq!(trouble.stderr.lines().count(), 1, "{mode:?} {what}: {trouble:?}");
            assert!(trouble.expect_single_warning().contains("snell.db.damaged-"), "{mode:?} {what}: {trouble:?}");
            assert_eq!(list_damaged_databases(&watched.sandbox.data()).len(), 1, "{mode:?} {what}");
            watched.send_prompt("s1", "Go on.");
            assert_eq!((watched.count_rows("events"), watched.count_pending()), (2, 0), "{mode:?} {what}");
            assert_eq!(watched.query_value("PRAGMA integrity_check"), "ok", "{mode:?} {what}");
        }
    }
}

#[test]
fn many_who_find_the_database_damaged_move_it_aside_once_and_lose_nothing() {
    run_in_both_modes(|watched| {
        fs::write(watched.database_path(), "garbage ".repeat(2000)).unwrap();
        std::thread::scope(|scope| {
            for number in 0..12 {
                scope.spawn(move || {
                    let ran = watched.run_hook(&watched.build_payload(&format!("s{number}"), "Stop", json!({})));
                    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
                    assert!(ran.stderr.lines().count() <= 1, "{ran:?}");
                });
            }
        });
        watched.send_prompt("s1", "Go on.");
        assert_eq!((list_damaged_databases(&watched.sandbox.data()).len(), watched.count_rows("events")), (1, 13));
    });
}

#[test]
fn a_database_that_is_gone_is_begun_anew() {
    run_in_both_modes(|watched| {
        for what in ["snell.db", "snell.db and its log", "everything"] {
            watched.send_prompt("s1", "Go.");
            watched.wait_for_daemon();
            // The daemon listens before it opens the database.
            if watched.mode != RecordingMode::Alone {
                wait_until(|| is_open_in_a_process(&watched.database_path()).then_some(()));
            }
            let data = watched.sandbox.data();
            match what {
                "snell.db" => fs::remove_file(watched.database_path()).unwrap(),
                "everything" => fs::remove_dir_all(&data).unwrap(),
                _ => ["snell.db", "snell.db-wal", "snell.db-shm"]
                    .iter()
                    .for_each(|name| fs::remove_file(data.join(name)).unwrap()),
            }
            let ran = watched.run_hook(&watched.build_payload("s1", "Stop", json!({})));
            // A scribe had it open, unless it is gone with the directory.
            let is_said = ran.stderr.contains("snell.db was removed or replaced while Snell used it");
            let is_silent = ran.stderr.is_empty() && (watched.mode == RecordingMode::Alone || what == "everything");
            assert!(ran.code == 0 && ran.stdout.is_empty() && (is_said || is_silent), "{what}: {ran:?}");
            watched.send_prompt("s1", "Go on.");
            assert_eq!(watched.count_rows("events"), 2, "{what}");
            assert_eq!(watched.query_value("PRAGMA integrity_check"), "ok", "{what}");
        }
    });
}

#[test]
fn a_directory_that_cannot_be_used_costs_one_line_and_the_next_call_works() {
    type DataDirFault = fn(&Path);
    let ways: [(&str, DataDirFault); 4] = [
        ("a file is in its place", |data| {
            fs::remove_dir(data).unwrap();
            fs::write(data, "").unwrap();
        }),
        ("it leads nowhere", |data| {
            fs::remove_dir(data).unwrap();
            symlink("/proc/nowhere/at/all", data).unwrap();
        }),
        ("the database is a directory", |data| fs::create_dir(data.join("snell.db")).unwrap()),
        ("it leads to a device", |data| symlink("/dev/full", data.join("snell.db")).unwrap()),
    ];
    for (what, spoil) in ways {
        run_in_both_modes(|watched| {
            let data = watched.sandbox.data();
            spoil(&data);
            watched.run_hook(&watched.build_payload("s1", "Stop", json!({}))).expect_single_warning();
            if data.is_dir() {
                let database = data.join("snell.db");
                fs::remove_dir(&database).or_else(|_| fs::remove_file(&database)).unwrap();
            } else {
                fs::remove_file(&data).unwrap();
            }
            watched.send_prompt("s1", "Go on.");
            assert!(watched.count_rows("events") >= 1, "{what}");
            assert_eq!(watched.count_pending(), 0, "{what}");
        });
    }
}

#[test]
fn what_can_be_neither_stored_nor_written_down_is_said_to_be_lost() {
    run_in_both_modes(|watched| {
        watched.send_prompt("s1", "Go.");
        watched.wait_for_daemon();
        fs::write(watched.sandbox.data().join("pending"), "").unwrap();
        let holder = Connection::open(watched.database_path()).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let trouble = watched.run_hook(&watched.build_payload("s1", "Stop", json!({})));
        assert!(trouble.expect_single_warning().contains("is lost"), "{trouble:?}");
        // A scribe that is still trying would store it after all.
        watched.wait_until_stored();
        holder.execute_batch("ROLLBACK").unwrap();
        watched.send_prompt("s1", "Go on.");
        assert_eq!(watched.count_rows("events"), 2);
    });
}

#[test]
fn a_database_of_a_later_version_is_left_alone_and_what_happens_meanwhile_waits() {
    run_in_both_modes(|watched| {
        watched.send_prompt("s1", "Go.");
        // Whoever had it open before the update goes on with it; a new one does not touch it.
        let database = Connection::open(watched.database_path()).unwrap();
        let version: i64 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        database.pragma_update(None, "user_version", 999).unwrap();
        let alone = [("SNELL_SCRIBE", "off")];
        let trouble = watched.run_hook_with_env(&alone, &watched.build_payload("s1", "Stop", json!({})));
        assert!(trouble.expect_single_warning().contains("supports versions up to"), "{trouble:?}");
        assert_eq!((list_damaged_databases(&watched.sandbox.data()).len(), watched.count_pending()), (0, 1));
        database.pragma_update(None, "user_version", version).unwrap();
        watched.send_prompt("s1", "Go on.");
        assert_eq!((watched.count_rows("events"), watched.count_pending()), (3, 0));
    });
}

/// Runs hooks as somebody for whom permissions count, also if the tests run as root.
fn run_hook_unprivileged(watched: &HookSandbox, payload: &Value) -> Option<CommandOutput> {
    const NOBODY: u32 = 65_534;
    let mut command = watched.hook_command();
    if rustix::process::geteuid().is_root() {
        let root = watched.sandbox.data().parent().unwrap().to_owned();
        set_file_mode(root, 0o755);
        let data = watched.sandbox.data();
        for path in fs::read_dir(&data).unwrap().flatten().map(|entry| entry.path()).chain([data]) {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    // A program in a directory that others may not enter cannot be tried this way.
    let probe = Command::new(env!("CARGO_BIN_EXE_snell")).arg("--version").uid(NOBODY).output();
    if rustix::process::geteuid().is_root() && probe.is_err() {
        return None;
    }
    Some(run_with_payload(&mut command, payload))
}

#[test]
fn a_database_that_may_only_be_read_costs_one_line_and_the_next_call_works() {
    for closed in ["snell.db", "everything"] {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let data = watched.sandbox.data();
        let Some(first) = run_hook_unprivileged(&watched, &watched.build_payload("s1", "SessionStart", json!({})))
        else {
            return;
        };
        first.assert_silent();
        let set = |path: &Path, mode: u32| set_file_mode(path, mode);
        set(&watched.database_path(), 0o400);
        if closed == "everything" {
            set(&data.join("snell.db-wal"), 0o400);
            set(&data.join("snell.db-shm"), 0o400);
            set(&data, 0o500);
        }
        let trouble = run_hook_unprivileged(&watched, &watched.build_payload("s1", "Stop", json!({}))).unwrap();
        trouble.expect_single_warning();
        set(&data, 0o700);
        for name in ["snell.db", "snell.db-wal", "snell.db-shm"] {
            set(&data.join(name), 0o600);
        }
        run_hook_unprivileged(&watched, &watched.build_payload("s1", "Stop", json!({}))).unwrap().assert_silent();
        // Where notes can be written, nothing is lost.
        assert_eq!(watched.count_rows("events"), if closed == "snell.db" { 3 } else { 2 }, "{closed}: {trouble:?}");
    }
}

#[test]
fn a_disk_on_which_nothing_more_fits_costs_one_line_and_the_next_call_works() {
    // What a file may hold at most, in blocks; without the signal a write beyond it fails as on a full disk.
    for (blocks, lost) in [(0, true), (8, false)] {
        for there_already in [false, true] {
            let watched = HookSandbox::new(RecordingMode::Alone);
            if there_already {
                watched.send_prompt("s1", "Go.");
            }
            let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let payload = watched.build_payload("s1", "Stop", json!({}));
            run_with_payload(&mut watched.sandbox.shell(&line, &["hook"]), &payload).expect_single_warning();
            watched.send_prompt("s1", "Go on.");
            let expected = 1 + i64::from(there_already) + i64::from(!lost);
            assert_eq!(watched.count_rows("events"), expected, "{blocks} {there_already}");
            assert_eq!((watched.count_pending(), watched.query_value("PRAGMA integrity_check")), (0, json!("ok")));
        }
    }
}

#[test]
fn a_disk_that_is_really_full_costs_one_line_and_the_next_call_works() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    let data = watched.sandbox.data();
    let script = r#"
        mount -t tmpfs -o size=1m none "$SNELL_HOME" || exit 77
        hook() { printf '%s' "$PAYLOAD" | "$0" hook >"$1.out" 2>"$1.err"; echo $? >"$1.code"; }
        hook first
        head -c 9000000 /dev/zero >"$SNELL_HOME/filler" 2>/dev/null
        hook full
        rm "$SNELL_HOME/filler"
        hook next
        cp -r "$SNELL_HOME" copy"#;
    let mut command = watched.sandbox.shell("exec unshare -m sh -c \"$SCRIPT\" \"$0\"", &[]);
    command.env("SCRIPT", script).env("PAYLOAD", watched.build_payload("s1", "Stop", json!({})).to_string());
    let output = spawn_with_stdin(&mut command, "").wait_with_output().unwrap();
    if !watched.sandbox.exists("copy") {
        // Not everybody may mount a disk.
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let said = |name: &str| CommandOutput {
        code: watched.sandbox.read(&format!("{name}.code")).trim().parse().unwrap(),
        stdout: watched.sandbox.read(&format!("{name}.out")),
        stderr: watched.sandbox.read(&format!("{name}.err")),
    };
    said("first").assert_silent();
    said("full").expect_single_warning();
    said("next").assert_silent();
    fs::remove_dir_all(&data).unwrap();
    fs::rename(watched.sandbox.project().join("copy"), &data).unwrap();
    assert!(watched.count_rows("events") >= 2);
    assert_eq!(watched.query_value("PRAGMA integrity_check"), "ok");
}

fn assert_private_files(watched: &HookSandbox) {
    let data = watched.sandbox.data();
    set_file_mode(&data, 0o755);
    let tool = watched.build_payload("s1", "PreToolUse", json!({"tool_name": "Glob"}));
    for _ in 0..3 {
        assert_eq!(watched.run_hook(&tool).code, 0);
    }
    watched.wait_for_daemon();
    assert_eq!(read_file_mode(&data), 0o700, "{:?}", watched.mode);
    for path in fs::read_dir(&data).unwrap().flatten().map(|entry| entry.path()) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(read_file_mode(&path), expected, "{:?}: {}", watched.mode, path.display());
    }
}

#[test]
fn what_is_kept_is_for_its_owner_only() {
    run_in_both_modes(assert_private_files);
}

#[test]
fn a_directory_with_what_was_told_is_for_its_owner_only() {
    let untrusted = render_answering_hook("PreToolUse", &json!({}));
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        assert_private_files(&HookSandbox::with_sandbox(mode, CliSandbox::new().file("snell.toml", &untrusted)));
    }
}

#[test]
fn nobody_to_hear_the_trouble_is_no_trouble_either() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    let mut command = watched.sandbox.shell("exec \"$0\" \"$@\" 2>/dev/full", &["hook"]);
    assert_eq!(run_with_payload(&mut command, &json!([])).code, 0);
    let mut command = watched.sandbox.shell("exec \"$0\" \"$@\" 2>&- >&-", &["hook"]);
    assert_eq!(run_with_payload(&mut command, &watched.build_payload("s1", "Stop", json!({}))).code, 0);
    assert_eq!(watched.count_rows("events"), 1);
}
