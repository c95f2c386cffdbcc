//! `snell status`: what is recorded where, and what needs attention.

use std::fs;

use serde_json::{Value, json};
use snell_test_support::files::set_file_mode;
use snell_test_support::process::CommandOutput;
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

fn record_some_events() -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"source": "startup"}));
    sandbox.send_hook_event("11:01:00", "UserPromptSubmit", json!({"prompt": "Go on."}));
    sandbox
}

/// What needs attention, as `what | remedy`.
fn list_attention(ran: &CommandOutput) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let json = ran.json();
    let found = json["attention"].as_array().unwrap();
    let found: Vec<_> = found.iter().map(|one| format!("{} | {}", text(&one["what"]), text(&one["remedy"]))).collect();
    assert_eq!(ran.code, i32::from(!found.is_empty()), "{found:?}");
    found
}

#[test]
fn before_anything_is_recorded_all_is_well_and_nothing_is_made() {
    let sandbox = CliSandbox::with_frozen_clock();
    let ran = sandbox.run_snell(&["status"], "");
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("no event has been recorded yet"), "{}", ran.stdout);
    let json = sandbox.run_snell(&["status", "--json"], "").json();
    assert_eq!((&json["database"]["state"], &json["totals"]), (&json!("none"), &Value::Null));
    assert_eq!(fs::read_dir(sandbox.data()).unwrap().count(), 0);
}

#[test]
fn people_see_where_how_much_and_who_waits() {
    let sandbox = record_some_events();
    let asks = json!({"notification_type": "permission_prompt", "message": "May I use Bash?"});
    sandbox.send_hook_event("11:58:00", "Notification", asks);
    let ran = sandbox.run_snell(&["status"], "");
    assert_eq!(ran.code, 0, "an agent that waits is no fault: {}", ran.stdout);
    let root = sandbox.data().parent().unwrap().display().to_string();
    let size = ran.stdout.lines().next().unwrap().rsplit(", ").next().unwrap();
    let shown = ran.stdout.replace(&root, "~").replace(size, "SIZE");
    insta::assert_snapshot!(shown, @"
    Database       ~/data/snell.db, SIZE
    Recorded       3 events (0 blocked), 1 turn, 0 hook runs, 1 project
    Events         from 2026-03-01 11:00:00 UTC to 2026-03-01 11:58:00 UTC (2m ago)
    Agents         1 awaiting_input
    Kept for       30d
    Daemon         off (SNELL_SCRIBE=off)
    Waiting        0 events to be stored
    Project        ~/project: no file needs trust
    Configuration  0 errors
    Waits for you  agent 1 in project, since 2m: May I use Bash?
    ");
}

#[test]
fn as_json_it_counts_everything() {
    let sandbox = CliSandbox::with_frozen_clock().home_file(
        ".config/snell/snell.toml",
        "keep = '2w'\n[[hook]]\nevent = 'PreToolUse'\nrun = 'echo no >&2; exit 2'\n",
    );
    sandbox.send_hook_event("11:01:00", "UserPromptSubmit", json!({"prompt": "Go on."}));
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    assert!(sandbox.send_hook_event("11:02:00", "PreToolUse", call).stdout.contains("deny"));
    let ran = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!(list_attention(&ran), [""; 0]);
    let json = ran.json();
    assert_eq!(json["keep"], "14d");
    insta::assert_snapshot!(json["totals"].to_string(), @r#"{"events":2,"blocked":1,"turns":1,"hook_runs":1,"projects":1,"agents":{"awaiting_input":0,"processing":1,"background":0,"idle":0,"ended":0},"first_event_at":"2026-03-01T11:01:00Z","last_event_at":"2026-03-01T11:02:00Z"}"#);
}

#[test]
fn a_damaged_database_is_set_aside_and_said_to_be() {
    let sandbox = record_some_events();
    fs::remove_file(sandbox.data().join("snell.db-wal")).unwrap();
    fs::write(sandbox.database(), "this is no database, and is long enough to be looked at").unwrap();
    for _ in 0..2 {
        // It is told for as long as it lies there.
        let ran = sandbox.run_snell(&["status", "--json"], "");
        let found = list_attention(&ran);
        assert!(
            found.iter().any(|one| one.contains("damaged database was moved to") && one.contains(".recover")),
            "{found:?}"
        );
        let json = ran.json();
        assert_eq!(json["database"]["state"], "ok");
        let aside = json["set_aside"][0]["path"].as_str().unwrap();
        assert!(aside.contains("snell.db.damaged-"), "{aside}");
        assert_eq!(json["set_aside"].as_array().unwrap().len(), 1);
    }
    let aside = sandbox.run_snell(&["status", "--json"], "").json()["set_aside"][0]["path"].clone();
    fs::remove_file(aside.as_str().unwrap()).unwrap();
    assert_eq!(sandbox.run_snell(&["status"], "").code, 0);
}

#[test]
fn a_database_that_is_locked_is_said_to_be() {
    let sandbox = record_some_events();
    let held = sandbox.open_database_with("PRAGMA locking_mode = exclusive; BEGIN EXCLUSIVE");
    let ran = sandbox.run_snell(&["status", "--json"], "");
    drop(held);
    let json = ran.json();
    let found = list_attention(&ran);
    assert_eq!(json["database"]["state"], "locked", "{found:?}");
    assert!(found.iter().any(|one| one.contains("is locked")), "{found:?}");
    assert_eq!(list_attention(&sandbox.run_snell(&["status", "--json"], "")), [""; 0]);
}

#[test]
fn while_somebody_else_writes_all_can_be_told() {
    let sandbox = record_some_events();
    let held = sandbox.open_database_with("BEGIN IMMEDIATE");
    let ran = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!((ran.code, &ran.json()["totals"]["events"]), (0, &json!(2)), "{}", ran.stdout);
    // What comes meanwhile waits, and that is told.
    sandbox.send_hook_event("11:02:00", "Stop", json!({}));
    let ran = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!(ran.json()["pending"], 1);
    let found = list_attention(&ran);
    assert!(found[0].contains("cannot store the pending events now"), "{found:?}");
    drop(held);
    let ran = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!((&ran.json()["pending"], &ran.json()["totals"]["events"]), (&json!(0), &json!(3)));
    assert_eq!(list_attention(&ran), [""; 0]);
}

#[test]
fn a_database_that_cannot_be_used_is_said_to_be() {
    let sandbox = CliSandbox::with_frozen_clock();
    fs::create_dir(sandbox.database()).unwrap();
    let ran = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!(ran.json()["database"]["state"], "unusable");
    let found = list_attention(&ran);
    let is_told = |text: &String| text.contains("it is a directory, not a regular file");
    assert_eq!(found.iter().filter(|text| is_told(text)).count(), 1, "{found:?}");
    let ran = sandbox.run_snell(&["agents"], "");
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("hint: run `snell status`"), "{}", ran.stderr);
}

#[test]
fn a_directory_that_cannot_be_there_is_not_taken_for_an_empty_one() {
    let sandbox = CliSandbox::with_frozen_clock().env("SNELL_HOME", "/dev/null/snell");
    let ran = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!(ran.json()["database"]["state"], "unusable");
    assert!(list_attention(&ran)[0].contains("Not a directory"), "{}", ran.stdout);
    for args in [&["agents"][..], &["log"], &["export", "x"], &["log", "--prune"]] {
        let ran = sandbox.run_snell(args, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
    }
}

#[test]
fn a_database_of_which_a_part_is_damaged_is_said_to_be() {
    let sandbox = record_some_events();
    let connection = sandbox.open_database_with("PRAGMA wal_checkpoint(truncate)");
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'agents'";
    let page: u16 = connection.query_row(sql, [], |row| row.get(0)).unwrap();
    let page = usize::from(page);
    drop(connection);
    let mut content = fs::read(sandbox.database()).unwrap();
    content[(page - 1) * 4096..page * 4096].fill(0xa5);
    fs::write(sandbox.database(), content).unwrap();
    let ran = sandbox.run_snell(&["status", "--json"], "");
    let found = list_attention(&ran);
    assert_eq!(ran.json()["database"]["state"], "damaged", "{found:?}");
    assert!(found[0].contains("moves the damaged database aside"), "{found:?}");
    // The next event does what was said.
    let ran = sandbox.send_hook_event("11:59:00", "Stop", json!({}));
    assert!(ran.stderr.contains("damaged database was moved"), "{}", ran.stderr);
    let json = sandbox.run_snell(&["status", "--json"], "").json();
    assert_eq!((&json["database"]["state"], &json["totals"]["events"]), (&json!("ok"), &json!(1)));
    assert_eq!(json["set_aside"].as_array().unwrap().len(), 1);
}

#[test]
fn a_database_of_a_later_version_is_left_alone() {
    let sandbox = record_some_events();
    drop(sandbox.open_database_with("PRAGMA user_version = 99"));
    let ran = sandbox.run_snell(&["status", "--json"], "");
    let found = list_attention(&ran);
    assert!(found[0].contains("version 99") && found[0].contains("newer version"), "{found:?}");
}

#[test]
fn what_others_can_read_is_told() {
    let sandbox = record_some_events();
    let open = |path: &std::path::Path, mode: u32| set_file_mode(path, mode);
    open(&sandbox.data(), 0o755);
    fs::write(sandbox.data().join("background.jsonl"), "").unwrap();
    open(&sandbox.data().join("background.jsonl"), 0o644);
    let ran = sandbox.run_snell(&["status", "--json"], "");
    let found = list_attention(&ran);
    assert!(found[0].contains("and 1 file in it | run: chmod -R go="), "{found:?}");
    open(&sandbox.data(), 0o700);
    assert_eq!(list_attention(&sandbox.run_snell(&["status", "--json"], "")), [""; 0]);
}

#[test]
fn notes_that_cannot_be_understood_are_told() {
    let sandbox = record_some_events();
    fs::create_dir_all(sandbox.data().join("pending")).unwrap();
    fs::write(sandbox.data().join("pending/1-0-0-1.json"), "nonsense").unwrap();
    let ran = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!(ran.json()["unreadable_notes"].as_array().unwrap().len(), 1);
    let found = list_attention(&ran);
    assert!(found[0].starts_with("1 event in ") && found[0].contains("cannot be parsed"), "{found:?}");
}

#[test]
fn hooks_that_are_withheld_and_errors_need_attention() {
    let sandbox = record_some_events().file("snell.toml", "[[hook]]\nevent = 'Stop'\nrun = 'true'\n");
    let ran = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!(
        list_attention(&ran),
        ["snell.toml is not trusted, so its hook does not run in agents | review the file, then run `snell trust`"]
    );
    assert_eq!(ran.json()["project"]["files"][0]["state"], "untrusted");
    sandbox.run_snell(&["trust"], "");
    assert_eq!(list_attention(&sandbox.run_snell(&["status", "--json"], "")), [""; 0]);
    let sandbox = sandbox.file("snell.toml", "[[hook]]\nevent = 'Stop'\nrun = 'false'\n[[hook]]\nrun = 'true'\n");
    let found = list_attention(&sandbox.run_snell(&["status", "--json"], ""));
    assert!(found.iter().any(|one| one.contains("has changed since")), "{found:?}");
    assert!(found.iter().any(|one| one.ends_with("run `snell lint`")), "{found:?}");
}

#[test]
fn a_scribe_at_work_is_seen() {
    let sandbox = CliSandbox::new();
    let payload = json!({"session_id": "s", "hook_event_name": "Stop", "cwd": sandbox.project()});
    sandbox.run_snell(&["hook"], &payload.to_string());
    let running = || sandbox.run_snell(&["status", "--json"], "").json()["scribe_running"] == json!(true);
    wait_until(|| running().then_some(()));
    // Without its socket it is not wanted, and leaves.
    wait_until(|| fs::remove_file(sandbox.data().join("scribe.sock")).ok());
    wait_until(|| (!running()).then_some(()));
}
