//! What is said about a session: what it works on, and that it is still there.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use snell_test_support::process::spawn_with_stdin;

use super::{query_text, read_last_change, run_snell_with_env};
use crate::support::CliSandbox;

fn create_working_session() -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"source": "startup"}));
    sandbox.send_hook_event("11:50:00", "UserPromptSubmit", json!({"prompt": "Build it."}));
    sandbox.send_hook_event("11:51:00", "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "make"}}));
    sandbox
}

fn read_status_text(sandbox: &CliSandbox) -> Option<String> {
    query_text(sandbox, "SELECT status_text FROM sessions")
}

#[test]
fn a_status_is_set_shown_and_cleared() {
    let sandbox = create_working_session();
    let said = |args: &[&str]| {
        let ran = sandbox.run_snell(&[&["session", "status"], args].concat(), "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        ran.stdout
    };
    assert_eq!(said(&[]), "session-one has no status.\n");
    assert_eq!(said(&["fixing the login"]), "The status of session-one is now: fixing the login\n");
    assert_eq!(query_text(&sandbox, "SELECT status_set_at FROM sessions").unwrap(), "2026-03-01T12:00:00.000Z");
    let later = run_snell_with_env(&sandbox, &[("SNELL_NOW", "2026-03-01T12:03:00Z")], &["session", "status"]);
    assert_eq!(later.stdout, "fixing the login (set 3m ago)\n");
    assert_eq!(said(&["without", "quotes"]), "The status of session-one is now: without quotes\n");
    assert_eq!(said(&["--clear"]), "Removed the status of session-one.\n");
    assert_eq!(query_text(&sandbox, "SELECT coalesce(status_text, status_set_at) FROM sessions"), None);
}

#[test]
fn a_status_is_one_line_without_secrets_and_not_too_long() {
    let sandbox = create_working_session();
    let long = "ä".repeat(4000);
    let rows = [
        ("  one\nline\r\n\tand another ", "one line and another"),
        ("token ghp_abcdefghijklmnopqrstuvwxyz0123456789", "token [masked:"),
        ("\u{1b}[2Jclear", "\\u{1b}[2Jclear"),
        (&long, "ääää"),
    ];
    for (text, expected) in rows {
        assert_eq!(sandbox.run_snell(&["session", "status", text], "").code, 0, "{text:?}");
        let kept = read_status_text(&sandbox).unwrap();
        assert!(kept.starts_with(expected) && kept.len() <= 1024, "{text:?}: {kept:?}");
        assert!(!kept.contains("ghp_abc") && !kept.chars().any(char::is_control), "{kept:?}");
    }
    for text in ["", " \n\t "] {
        let ran = sandbox.run_snell(&["session", "status", text], "");
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.starts_with("error: the status is empty\nhint: write"), "{}", ran.stderr);
    }
    assert!(read_status_text(&sandbox).unwrap().starts_with("ääää"), "it stays as it was");
    assert_eq!(sandbox.run_snell(&["session", "status", "text", "--clear"], "").code, 1);
}

#[test]
fn what_is_said_is_in_the_log_and_told_to_those_who_watch_and_changes_nothing_else() {
    let sandbox = create_working_session();
    let agents = || sandbox.run_snell(&["agents", "--json"], "").stdout;
    let before = agents();
    sandbox.run_snell(&["session", "status", "fixing the login"], "");
    let told = read_last_change(&sandbox);
    assert_eq!(
        (&told["kind"], &told["reason"], &told["status_text"]),
        (&json!("card_refresh"), &json!("Status"), &json!("fixing the login")),
        "{told}"
    );
    let message = "half of it is done; password=hunter2hunter2";
    let ran = sandbox.run_snell(&["session", "ping", message], "");
    assert_eq!(ran.stdout, "Recorded a sign of life of session-one.\n");
    let told = read_last_change(&sandbox);
    assert_eq!((&told["kind"], &told["reason"]), (&json!("card_refresh"), &json!("Ping")), "{told}");
    assert!(told["message"].as_str().unwrap().starts_with("half of it is done; "), "{told}");
    assert_eq!(told["status_text"], "fixing the login");
    let with_status = before.replace(r#""status_text":null"#, r#""status_text":"fixing the login""#);
    assert_eq!(agents(), with_status);
    let log = sandbox.run_snell(&["log", "--limit", "2", "--json"], "").stdout;
    let log: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shown: Vec<_> = log.iter().map(|entry| (&entry["event"], &entry["state"], &entry["session_id"])).collect();
    let (working, session) = (json!("processing"), json!("session-one"));
    assert_eq!(shown, [(&json!("Ping"), &working, &session), (&json!("Status"), &working, &session)]);
    assert_eq!(log[1]["payload"]["message"], "fixing the login");
    assert!(!format!("{log:?} {told}").contains("hunter2"), "{log:?} {told}");
}

#[test]
fn a_ping_needs_no_message_and_counts_at_its_time() {
    let sandbox = create_working_session();
    let pinged = || query_text(&sandbox, "SELECT pinged_at FROM sessions");
    assert_eq!(pinged(), None);
    for (message, time) in [(None, "12:01:00"), (Some(" "), "12:02:00"), (Some("here"), "12:03:00")] {
        let args: Vec<_> = ["session", "ping"].into_iter().chain(message).collect();
        let now = format!("2026-03-01T{time}Z");
        assert_eq!(run_snell_with_env(&sandbox, &[("SNELL_NOW", &now)], &args).code, 0);
        assert_eq!(pinged().unwrap(), format!("2026-03-01T{time}.000Z"));
    }
    let payloads = query_text(
        &sandbox,
        "SELECT group_concat(coalesce(json_extract(payload, '$.message'), '-')) FROM events JOIN payloads USING (id) \
         WHERE name = 'Ping'",
    );
    assert_eq!(payloads.unwrap(), "-,-,here");
}

#[test]
fn an_agent_that_has_ended_is_not_revived_by_what_is_said_about_its_session() {
    let sandbox = create_working_session();
    sandbox.send_hook_event("11:55:00", "SessionEnd", json!({"reason": "logout"}));
    for args in [["session", "status", "over"], ["session", "ping", "over"]] {
        let ran = sandbox.run_snell(&[&args[..], &["--session", "session-one"]].concat(), "");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    }
    let state = query_text(&sandbox, "SELECT state || ' ' || current_state FROM sessions JOIN agents USING (agent_id)");
    assert_eq!(state.unwrap(), "ended ended");
    let ran = sandbox.run_snell(&["session", "ping"], "");
    assert_eq!(ran.code, 1, "one that has ended is meant only if it is named");
    assert!(ran.stderr.contains("no session is open"), "{}", ran.stderr);
}

#[test]
fn it_waits_for_its_turn_while_somebody_else_writes() {
    let sandbox = create_working_session();
    let held = sandbox.open_database_with("BEGIN IMMEDIATE");
    let waiting = spawn_with_stdin(&mut sandbox.command(&["session", "status", "patient"]), "");
    let started = Instant::now();
    // Longer than one wait for the lock, and far shorter than all of them.
    while started.elapsed() < Duration::from_millis(1000) {
        std::thread::yield_now();
    }
    drop(held);
    let output = waiting.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(read_status_text(&sandbox).unwrap(), "patient");
}

#[test]
fn where_others_do_not_let_go_nothing_is_noted_and_that_is_said_soon() {
    let sandbox = create_working_session();
    let held = sandbox.open_database_with("BEGIN IMMEDIATE");
    // What waits on disk is tried to be taken in, too.
    sandbox.send_hook_event("11:52:00", "Stop", json!({}));
    let rows: [&[&str]; 5] = [
        &["session", "status", "here"],
        &["session", "status", "--clear"],
        &["session", "ping"],
        &["worker", "start", "build"],
        &["worker", "done", "build", "--wake"],
    ];
    for args in rows {
        let started = Instant::now();
        let ran = sandbox.run_snell(args, "");
        assert!(started.elapsed() < Duration::from_secs(8), "{args:?}");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
        let database = sandbox.database();
        let expected = format!(
            "error: nothing was saved, because another process uses {}: the database is locked\nhint: try again\n",
            database.display()
        );
        assert!(ran.stderr.ends_with(&expected), "{args:?}: {}", ran.stderr);
    }
    drop(held);
    assert_eq!(read_status_text(&sandbox), None);
    assert_eq!(sandbox.run_snell(&["worker", "list"], "").stdout, "session-one has no workers.\n");
}

#[test]
fn many_say_something_at_once_while_hooks_and_the_scribe_record() {
    for scribe in ["off", "wait"] {
        let sandbox = CliSandbox::new().env("SNELL_NOW", "2026-03-01T12:00:00Z").env("SNELL_SCRIBE", scribe);
        sandbox.send_hook_event("11:00:00", "SessionStart", json!({"source": "startup"}));
        let say = |text: &str| {
            for what in ["ping", "status"] {
                let ran = sandbox.run_snell(&["session", what, text], "");
                assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{scribe} {what} {text}");
            }
            let tool = json!({"tool_name": "Bash", "tool_use_id": text, "tool_input": {"command": text}});
            sandbox.send_hook_event("11:52:00", "PostToolUse", tool);
        };
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let say = &say;
                scope.spawn(move || (0..3).for_each(|turn| say(&format!("{thread}-{turn}"))));
            }
        });
        // What found the lock taken waits on disk, and whoever asks takes it in.
        let log = sandbox.run_snell(&["log", "--limit", "100"], "").stdout;
        for event in ["Ping", "Status", "PostToolUse"] {
            let count = log.lines().filter(|line| line.contains(&format!(" {event} "))).count();
            assert_eq!(count, 12, "{scribe} {event}: {log}");
        }
        assert!(
            read_status_text(&sandbox).is_some() && query_text(&sandbox, "SELECT pinged_at FROM sessions").is_some()
        );
    }
}
