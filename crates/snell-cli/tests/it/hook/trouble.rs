//! Snell's own trouble, which must not become the agent's.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{Mode, Watched, in_both_modes, saying, texts};
use crate::support::{Ran, Sandbox, start, wait_until};

fn ran(command: &mut Command, payload: &Value) -> Ran {
    start(command, &payload.to_string()).wait_with_output().unwrap().into()
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_aside(watched: &Watched) -> Vec<String> {
    let entries = fs::read_dir(watched.sandbox.data()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    let is_log = |name: &String| name.ends_with("-wal") || name.ends_with("-shm");
    names
        .filter(|name| name.starts_with("snell.db.damaged-") && !is_log(name))
        .collect()
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
    in_both_modes(|watched| {
        for payload in payloads {
            let text = String::from_utf8_lossy(payload);
            let ran = watched.sandbox.snell(&["hook"], &text);
            assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{text:.40}");
            assert_eq!(ran.stderr.lines().count(), 1, "{text:.40}: {ran:?}");
        }
        watched.prompt("s1", "And now a good one.");
        assert_eq!(watched.count("events"), 1);
    });
}

#[test]
fn odd_payloads_are_recorded_as_they_are() {
    in_both_modes(|watched| {
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
            watched.event("s1", "Notification", fields.clone());
        }
        assert_eq!(usize::try_from(watched.count("events")).unwrap(), odd.len());
    });
}

#[test]
fn while_the_database_is_locked_events_wait_and_verdicts_are_told() {
    let text = saying("PreToolUse", &json!({"decision": "block", "reason": "no"}));
    for mode in [Mode::Alone, Mode::WithScribe] {
        let watched = Watched::with_hooks(mode, &text);
        watched.prompt("s1", "Go.");
        watched.wait_for_scribe();
        let holder = Connection::open(watched.database()).unwrap();
        holder.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let stop = watched.payload("s1", "Stop", json!({"last_assistant_message": "Done."}));
        let put_off = watched.hook(&stop);
        assert_eq!((put_off.code, put_off.stdout.as_str()), (0, ""), "{put_off:?}");
        is_said_to_be_locked(mode, &put_off);
        let denied = watched.hook(&watched.payload("s1", "PreToolUse", json!({"tool_name": "Glob"})));
        assert_eq!(denied.json()["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(denied.code, 0, "{denied:?}");
        is_said_to_be_locked(mode, &denied);
        // Whoever was not answered in time by the scribe may have written down the same.
        assert!(watched.pending() >= 2, "{mode:?}");
        watched.settle();
        holder.execute_batch("ROLLBACK").unwrap();
        let prompt = watched.payload("s1", "UserPromptSubmit", json!({"prompt": "Go on."}));
        assert_eq!(watched.hook(&prompt).code, 0, "{mode:?}");
        is_kept_at_last(
            &watched,
            &["UserPromptSubmit", "Stop", "PreToolUse", "UserPromptSubmit"],
        );
        assert_eq!(watched.states(), ["processing"], "{mode:?}");
    }
}

/// Whoever records alone says that the database is locked. A scribe waits for the database in a hook's place, and on a crowded
/// machine the hook may have to leave before it hears of that.
#[track_caller]
fn is_said_to_be_locked(mode: Mode, ran: &Ran) {
    let is_unheard = ran.stderr.is_empty() || ran.stderr.contains("the scribe does not answer");
    let is_said = ran.stderr.contains("locked") || (mode == Mode::WithScribe && is_unheard);
    assert!(is_said && ran.stderr.lines().count() <= 1, "{mode:?}: {ran:?}");
}

/// These events are stored in this order, and nothing waits any more; at once, or when the scribe comes to it.
fn is_kept_at_last(watched: &Watched, names: &[&str]) {
    wait_until(|| {
        let kept = texts(&watched.rows("SELECT name FROM events ORDER BY id"));
        assert!(
            kept.len() <= names.len() && names.starts_with(&as_texts(&kept)),
            "{kept:?}"
        );
        (kept.len() == names.len() && watched.pending() == 0).then_some(())
    });
}

fn as_texts(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

#[test]
fn whoever_holds_the_lock_of_the_file_itself_holds_nobody_up() {
    in_both_modes(|watched| {
        let lock = fs::File::create(watched.sandbox.data().join("snell.db.lock")).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        // It comes back although the lock is held.
        let trouble = watched.hook(&watched.payload("s1", "UserPromptSubmit", json!({"prompt": "Go."})));
        assert!(trouble.is_trouble().contains("waits on disk"), "{trouble:?}");
        assert_eq!(watched.pending(), 1);
        drop(lock);
        let stop = watched.payload("s1", "Stop", json!({}));
        assert_eq!(watched.hook(&stop).code, 0);
        is_kept_at_last(watched, &["UserPromptSubmit", "Stop"]);
    });
}

#[test]
fn a_file_of_the_user_that_cannot_be_read_is_told_once_in_each_session() {
    for text in ["[[hook]\n", "keep = 5\n", "[[hook]]\nevent = \"PreToolUse\"\n"] {
        let watched = Watched::with_hooks(Mode::Alone, text);
        let tool = |session: &str| watched.hook(&watched.payload(session, "PreToolUse", json!({"tool_name": "Glob"})));
        for session in ["s1", "s2"] {
            let told = tool(session);
            let message = told.json()["systemMessage"].as_str().unwrap().to_owned();
            assert!(
                message.starts_with("Snell: ") && message.contains("snell.toml:"),
                "{text}: {message}"
            );
            assert_eq!(told.json().as_object().unwrap().len(), 1, "{text}: {told:?}");
            // Once is enough; who looks at standard error sees it every time.
            assert!(tool(session).is_trouble().contains("snell.toml:"), "{text}");
        }
        assert_eq!(watched.count("events"), 4, "{text}");
    }
}

#[test]
fn a_damaged_database_is_moved_aside_and_the_next_call_works() {
    type Damage = fn(&Path);
    let ways: [(&str, Damage); 2] = [
        ("garbage", |path| fs::write(path, "garbage ".repeat(2000)).unwrap()),
        ("half of it", |path| {
            let content = fs::read(path).unwrap();
            fs::write(path, &content[..content.len() / 2]).unwrap();
        }),
    ];
    for mode in [Mode::Alone, Mode::WithScribe] {
        for (what, damage) in ways {
            let watched = Watched::new(mode);
            watched.prompt("s1", "Go.");
            watched.wait_for_scribe();
            // The log is folded in, as it is after a while: else it would mend the file.
            Connection::open(watched.database())
                .unwrap()
                .pragma_update(None, "wal_checkpoint", "TRUNCATE")
                .unwrap();
            damage(&watched.database());
            let trouble = watched.hook(&watched.payload("s1", "Stop", json!({})));
            assert_eq!(trouble.stderr.lines().count(), 1, "{mode:?} {what}: {trouble:?}");
            assert!(
                trouble.is_trouble().contains("snell.db.damaged-"),
                "{mode:?} {what}: {trouble:?}"
            );
            assert_eq!(set_aside(&watched).len(), 1, "{mode:?} {what}");
            watched.prompt("s1", "Go on.");
            assert_eq!((watched.count("events"), watched.pending()), (2, 0), "{mode:?} {what}");
            assert_eq!(watched.value("PRAGMA integrity_check"), "ok", "{mode:?} {what}");
        }
    }
}

#[test]
fn many_who_find_the_database_damaged_move_it_aside_once_and_lose_nothing() {
    in_both_modes(|watched| {
        fs::write(watched.database(), "garbage ".repeat(2000)).unwrap();
        std::thread::scope(|scope| {
            for number in 0..12 {
                scope.spawn(move || {
                    let ran = watched.hook(&watched.payload(&format!("s{number}"), "Stop", json!({})));
                    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
                    assert!(ran.stderr.lines().count() <= 1, "{ran:?}");
                });
            }
        });
        watched.prompt("s1", "Go on.");
        assert_eq!((set_aside(watched).len(), watched.count("events")), (1, 13));
    });
}

#[test]
fn a_database_that_is_gone_is_begun_anew() {
    in_both_modes(|watched| {
        for what in ["snell.db", "snell.db and its log", "everything"] {
            watched.prompt("s1", "Go.");
            watched.wait_for_scribe();
            let data = watched.sandbox.data();
            match what {
                "snell.db" => fs::remove_file(watched.database()).unwrap(),
                "everything" => fs::remove_dir_all(&data).unwrap(),
                _ => ["snell.db", "snell.db-wal", "snell.db-shm"]
                    .iter()
                    .for_each(|name| fs::remove_file(data.join(name)).unwrap()),
            }
            let ran = watched.hook(&watched.payload("s1", "Stop", json!({})));
            // A scribe had it open, unless it is gone with the directory.
            let is_said = ran
                .stderr
                .contains("snell.db was removed or replaced while it was in use");
            let is_silent = ran.stderr.is_empty() && (watched.mode == Mode::Alone || what == "everything");
            assert!(
                ran.code == 0 && ran.stdout.is_empty() && (is_said || is_silent),
                "{what}: {ran:?}"
            );
            watched.prompt("s1", "Go on.");
            assert_eq!(watched.count("events"), 2, "{what}");
            assert_eq!(watched.value("PRAGMA integrity_check"), "ok", "{what}");
        }
    });
}

#[test]
fn a_directory_that_cannot_be_used_costs_one_line_and_the_next_call_works() {
    type Spoil = fn(&Path);
    let ways: [(&str, Spoil); 4] = [
        ("a file is in its place", |data| {
            fs::remove_dir(data).unwrap();
            fs::write(data, "").unwrap();
        }),
        ("it leads nowhere", |data| {
            fs::remove_dir(data).unwrap();
            symlink("/proc/nowhere/at/all", data).unwrap();
        }),
        ("the database is a directory", |data| {
            fs::create_dir(data.join("snell.db")).unwrap()
        }),
        ("it leads to a device", |data| {
            symlink("/dev/full", data.join("snell.db")).unwrap()
        }),
    ];
    for (what, spoil) in ways {
        in_both_modes(|watched| {
            let data = watched.sandbox.data();
            spoil(&data);
            watched.hook(&watched.payload("s1", "Stop", json!({}))).is_trouble();
            if data.is_dir() {
                let database = data.join("snell.db");
                fs::remove_dir(&database)
                    .or_else(|_| fs::remove_file(&database))
                    .unwrap();
            } else {
                fs::remove_file(&data).unwrap();
            }
            watched.prompt("s1", "Go on.");
            assert!(watched.count("events") >= 1, "{what}");
            assert_eq!(watched.pending(), 0, "{what}");
        });
    }
}

#[test]
fn what_can_be_neither_stored_nor_written_down_is_said_to_be_lost() {
    in_both_modes(|watched| {
        watched.prompt("s1", "Go.");
        watched.wait_for_scribe();
        fs::write(watched.sandbox.data().join("pending"), "").unwrap();
        let holder = Connection::open(watched.database()).unwrap();
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let trouble = watched.hook(&watched.payload("s1", "Stop", json!({})));
        assert!(trouble.is_trouble().contains("it is lost"), "{trouble:?}");
        // A scribe that is still trying would store it after all.
        watched.settle();
        holder.execute_batch("ROLLBACK").unwrap();
        watched.prompt("s1", "Go on.");
        assert_eq!(watched.count("events"), 2);
    });
}

#[test]
fn a_database_of_a_later_version_is_left_alone_and_what_happens_meanwhile_waits() {
    in_both_modes(|watched| {
        watched.prompt("s1", "Go.");
        // Whoever had it open before the update goes on with it; a new one does not touch it.
        let database = Connection::open(watched.database()).unwrap();
        let version: i64 = database
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap();
        database.pragma_update(None, "user_version", 999).unwrap();
        let alone = [("SNELL_SCRIBE", "off")];
        let trouble = watched.hook_from(&alone, &watched.payload("s1", "Stop", json!({})));
        assert!(trouble.is_trouble().contains("newer"), "{trouble:?}");
        assert_eq!((set_aside(watched).len(), watched.pending()), (0, 1));
        database.pragma_update(None, "user_version", version).unwrap();
        watched.prompt("s1", "Go on.");
        assert_eq!((watched.count("events"), watched.pending()), (3, 0));
    });
}

/// Runs hooks as somebody for whom permissions count, also if the tests run as root.
fn as_a_mere_user(watched: &Watched, payload: &Value) -> Option<Ran> {
    const NOBODY: u32 = 65_534;
    let mut command = watched.command();
    if rustix::process::geteuid().is_root() {
        let root = watched.sandbox.data().parent().unwrap().to_owned();
        fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
        let data = watched.sandbox.data();
        for path in fs::read_dir(&data)
            .unwrap()
            .flatten()
            .map(|entry| entry.path())
            .chain([data])
        {
            chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        command.uid(NOBODY).gid(NOBODY);
    }
    // A program in a directory that others may not enter cannot be tried this way.
    let probe = Command::new(env!("CARGO_BIN_EXE_snell"))
        .arg("--version")
        .uid(NOBODY)
        .output();
    if rustix::process::geteuid().is_root() && probe.is_err() {
        return None;
    }
    Some(ran(&mut command, payload))
}

#[test]
fn a_database_that_may_only_be_read_costs_one_line_and_the_next_call_works() {
    for closed in ["snell.db", "everything"] {
        let watched = Watched::new(Mode::Alone);
        let data = watched.sandbox.data();
        let Some(first) = as_a_mere_user(&watched, &watched.payload("s1", "SessionStart", json!({}))) else {
            return;
        };
        first.is_silent();
        let set = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        set(&watched.database(), 0o400);
        if closed == "everything" {
            set(&data.join("snell.db-wal"), 0o400);
            set(&data.join("snell.db-shm"), 0o400);
            set(&data, 0o500);
        }
        let trouble = as_a_mere_user(&watched, &watched.payload("s1", "Stop", json!({}))).unwrap();
        trouble.is_trouble();
        set(&data, 0o700);
        for name in ["snell.db", "snell.db-wal", "snell.db-shm"] {
            set(&data.join(name), 0o600);
        }
        as_a_mere_user(&watched, &watched.payload("s1", "Stop", json!({})))
            .unwrap()
            .is_silent();
        // Where notes can be written, nothing is lost.
        assert_eq!(
            watched.count("events"),
            if closed == "snell.db" { 3 } else { 2 },
            "{closed}: {trouble:?}"
        );
    }
}

#[test]
fn a_disk_on_which_nothing_more_fits_costs_one_line_and_the_next_call_works() {
    // What a file may hold at most, in blocks; without the signal a write beyond it fails as on a full disk.
    for (blocks, lost) in [(0, true), (8, false)] {
        for there_already in [false, true] {
            let watched = Watched::new(Mode::Alone);
            if there_already {
                watched.prompt("s1", "Go.");
            }
            let line = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
            let payload = watched.payload("s1", "Stop", json!({}));
            ran(&mut watched.sandbox.shell(&line, &["hook"]), &payload).is_trouble();
            watched.prompt("s1", "Go on.");
            let expected = 1 + i64::from(there_already) + i64::from(!lost);
            assert_eq!(watched.count("events"), expected, "{blocks} {there_already}");
            assert_eq!(
                (watched.pending(), watched.value("PRAGMA integrity_check")),
                (0, json!("ok"))
            );
        }
    }
}

#[test]
fn a_disk_that_is_really_full_costs_one_line_and_the_next_call_works() {
    let watched = Watched::new(Mode::Alone);
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
    command
        .env("SCRIPT", script)
        .env("PAYLOAD", watched.payload("s1", "Stop", json!({})).to_string());
    let output = start(&mut command, "").wait_with_output().unwrap();
    if !watched.sandbox.exists("copy") {
        // Not everybody may mount a disk.
        return;
    }
    assert!(output.status.success(), "{output:?}");
    let said = |name: &str| Ran {
        code: watched.sandbox.read(&format!("{name}.code")).trim().parse().unwrap(),
        stdout: watched.sandbox.read(&format!("{name}.out")),
        stderr: watched.sandbox.read(&format!("{name}.err")),
    };
    said("first").is_silent();
    said("full").is_trouble();
    said("next").is_silent();
    fs::remove_dir_all(&data).unwrap();
    fs::rename(watched.sandbox.project().join("copy"), &data).unwrap();
    assert!(watched.count("events") >= 2);
    assert_eq!(watched.value("PRAGMA integrity_check"), "ok");
}

fn is_for_its_owner_only(watched: &Watched) {
    let data = watched.sandbox.data();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let tool = watched.payload("s1", "PreToolUse", json!({"tool_name": "Glob"}));
    for _ in 0..3 {
        assert_eq!(watched.hook(&tool).code, 0);
    }
    watched.wait_for_scribe();
    assert_eq!(mode_of(&data), 0o700, "{:?}", watched.mode);
    for path in fs::read_dir(&data).unwrap().flatten().map(|entry| entry.path()) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode_of(&path), expected, "{:?}: {}", watched.mode, path.display());
    }
}

#[test]
fn what_is_kept_is_for_its_owner_only() {
    in_both_modes(is_for_its_owner_only);
}

#[test]
fn a_directory_with_what_was_told_is_for_its_owner_only() {
    let untrusted = saying("PreToolUse", &json!({}));
    for mode in [Mode::Alone, Mode::WithScribe] {
        is_for_its_owner_only(&Watched::with(mode, Sandbox::new().file("snell.toml", &untrusted)));
    }
}

#[test]
fn nobody_to_hear_the_trouble_is_no_trouble_either() {
    let watched = Watched::new(Mode::Alone);
    let mut command = watched.sandbox.shell("exec \"$0\" \"$@\" 2>/dev/full", &["hook"]);
    assert_eq!(ran(&mut command, &json!([])).code, 0);
    let mut command = watched.sandbox.shell("exec \"$0\" \"$@\" 2>&- >&-", &["hook"]);
    assert_eq!(ran(&mut command, &watched.payload("s1", "Stop", json!({}))).code, 0);
    assert_eq!(watched.count("events"), 1);
}
