//! What is shown of sessions.

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;

use super::{begin_session, query_text, run_snell_with_env};
use crate::support::CliSandbox;

/// A session in every mode and state.
fn record_several_sessions() -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock();
    let of = |session: &str| json!({"session_id": session, "cwd": sandbox.home().join(session)});
    let with = |session: &str, more: Value| merge_fields(of(session), &more);
    let chief = [
        ("CLAUDE_SESSION_ROLE", "chief"),
        ("CLAUDE_SESSION_MODE", "mission"),
        ("MISSION_EXECUTION_ID", "m-1"),
        ("SNELL_NOW", "2026-03-01T11:00:00Z"),
    ];
    begin_session(&sandbox, "led", "led", &chief);
    begin_session(&sandbox, "gone", "gone", &[("SNELL_NOW", "2026-03-01T11:01:00Z")]);
    begin_session(&sandbox, "plain", "plain", &[("SNELL_NOW", "2026-03-01T11:02:00Z")]);
    sandbox.send_hook_event("11:30:00", "SessionEnd", with("gone", json!({"reason": "logout"})));
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    sandbox.send_hook_event("11:58:00", "PreToolUse", with("led", bash));
    sandbox.send_hook_event("11:59:00", "UserPromptSubmit", with("plain", json!({"prompt": "Go"})));
    sandbox.run_snell(&["session", "status", "building\nall of it", "--session", "led"], "");
    sandbox.open_database_with("UPDATE agents SET context_percent = 41.6 WHERE agent_id = 1");
    sandbox
}

#[test]
fn open_sessions_are_listed_and_ended_ones_are_asked_for() {
    let sandbox = record_several_sessions();
    let ran = sandbox.run_snell(&["session", "list"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    insta::assert_snapshot!(ran.stdout, @"
    SESSION  PROJECT  ROLE   MODE     STATE             STATUS              CONTEXT  LAST SEEN
    plain    plain    -      -        active            -                   -        1m ago
    led      led      chief  mission  tool_active Bash  building all of it  42 %     2m ago
    ");
    let ids = |args: &[&str]| {
        let ran = sandbox.run_snell(&[&["session", "list", "--json"], args].concat(), "");
        let ids: Vec<_> = ran.json().as_array().unwrap().iter().map(|row| row["session_id"].clone()).collect();
        json!(ids)
    };
    assert_eq!(ids(&[]), json!(["plain", "led"]));
    assert_eq!(ids(&["--all"]), json!(["plain", "led", "gone"]));
    assert_eq!(ids(&["--all", "--limit", "1"]), json!(["plain"]));
    assert_eq!(sandbox.run_snell(&["session", "list", "--limit", "0"], "").code, 1);
}

#[test]
fn a_narrow_terminal_shows_less_of_each_session_and_no_line_that_is_too_wide() {
    let sandbox = record_several_sessions();
    for columns in [40, 60, 80] {
        let Some(shown) = sandbox.run_in_terminal(columns, "session list") else {
            return;
        };
        for line in shown.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
        assert!(shown.contains("LAST SEEN") && shown.contains("2m ago"), "{columns}: {shown}");
        assert!(shown.contains("plain") && shown.contains("STATUS"), "{columns}: {shown}");
    }
}

#[test]
fn as_json_a_session_has_the_columns_of_the_view() {
    let sandbox = record_several_sessions();
    let rows = sandbox.run_snell(&["session", "list", "--json"], "").json();
    let columns = query_text(&sandbox, "SELECT group_concat(name) FROM pragma_table_info('sessions')").unwrap();
    for row in rows.as_array().unwrap() {
        let keys: Vec<_> = row.as_object().unwrap().keys().cloned().collect();
        let (mut keys, mut columns) = (keys, columns.split(',').map(str::to_owned).collect::<Vec<_>>());
        keys.sort();
        columns.sort();
        assert_eq!(keys, columns);
    }
    let led = &rows[1];
    let shown =
        ["role", "mode", "current_state", "current_tool", "mission_execution_id", "status_text", "last_seen_at"];
    let shown: Vec<_> = shown.iter().map(|key| led[*key].as_str().unwrap()).collect();
    assert_eq!(shown, ["chief", "mission", "tool_active", "Bash", "m-1", "building all of it", "2026-03-01T11:58:00Z"]);
}

#[test]
fn one_session_is_shown_with_its_mission_and_its_workers() {
    let sandbox = record_several_sessions();
    let led = ["--session", "led"];
    sandbox.run_snell(&[&["worker", "start", "build", "--label", "the whole suite"], &led[..]].concat(), "");
    sandbox.run_snell(&[&["worker", "done", "lint", "--failed", "--summary", "3 errors"], &led[..]].concat(), "");
    sandbox.open_database_with(
        "INSERT INTO workers (conversation_id, kind, name, status, finished_at, reported_at) VALUES (1, 'task', 'old', 'done', 1, 2)",
    );
    let ran = sandbox.run_snell(&["session", "show", "le"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let home = sandbox.home().canonicalize().unwrap().display().to_string();
    insta::assert_snapshot!(ran.stdout.replace(&home, "HOME"), @"
    session      led
    project      HOME/led
    agent        1
    state        tool_active Bash
    status       building all of it (set 0s ago)
    role         chief
    mode         mission
    mission      m-1 (since 2026-03-01 11:00:00 UTC)
    context      42 %
    began        2026-03-01 11:00:00 UTC (1h ago)
    last seen    2026-03-01 11:58:00 UTC (2m ago)

    WORKER  KIND   STATUS   TIME  REPORTED  ABOUT
    build   other  running  0s    -         the whole suite
    lint    other  failed   -     -         3 errors
    old     task   done     -     yes
    ");
    let shown = sandbox.run_snell(&["session", "show", "--session", "led", "--json"], "").json();
    assert_eq!(shown["mission"], json!({"mission_execution_id": "m-1", "linked_at": "2026-03-01T11:00:00Z"}));
    let workers: Vec<_> = shown["workers"].as_array().unwrap().iter().map(|worker| &worker["name"]).collect();
    assert_eq!(workers, ["build", "lint", "old"]);
    let row = &sandbox.run_snell(&["session", "list", "--json"], "").json()[1];
    for (key, value) in row.as_object().unwrap() {
        assert_eq!(&shown[key], value, "{key}");
    }
    assert_eq!(sandbox.run_snell(&["session", "show", "led", "--session", "led"], "").code, 1);
}

#[test]
fn where_there_is_nothing_it_says_why() {
    let sandbox = CliSandbox::with_frozen_clock();
    let list = |args: &[&str]| sandbox.run_snell(&[&["session", "list"], args].concat(), "");
    assert!(list(&[]).stdout.starts_with("No sessions yet."));
    assert_eq!((list(&["--json"]).stdout.as_str(), list(&[]).code), ("[]\n", 0));
    assert_eq!(std::fs::read_dir(sandbox.data()).unwrap().count(), 0);
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"source": "startup"}));
    sandbox.send_hook_event("11:01:00", "SessionEnd", json!({"reason": "logout"}));
    assert!(list(&[]).stdout.starts_with("No open sessions. `snell session list --all`"));
    assert!(list(&["--all"]).stdout.contains("session-one"));
}

#[test]
fn what_a_session_says_of_itself_cannot_steer_the_terminal() {
    let sandbox = CliSandbox::with_frozen_clock();
    let role = ("CLAUDE_SESSION_ROLE", "ch\u{1b}[31mief\n");
    begin_session(&sandbox, "s\u{1b}[2J1", "p", &[role]);
    for args in [["session", "list"], ["session", "show"]] {
        let shown = run_snell_with_env(&sandbox, &[], &args).stdout;
        assert!(shown.contains("\\u{1b}[31m") && !shown.contains('\u{1b}'), "{shown:?}");
    }
}
