//! `snell log`: what happened, found again by every mark; followed while it happens; and forgotten when it is old.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use snell_store::{DecisionRecord, EventRecord, HookRunRecord, Store};
use snell_test_support::files::parse_json_lines;
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{CommandOutput, Signal, send_signal, spawn_with_stdin};
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

/// A session in which a hook forbids one command.
fn record_session() -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock().home_file(
        ".config/snell/snell.toml",
        "[[hook]]\nevent = 'PreToolUse'\nrun = 'grep -q push || exit 0; printf \"not\\n  today\" >&2; exit 2'\n",
    );
    let bash = |command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}});
    sandbox.send_hook_event("09:00:00", "SessionStart", json!({"source": "startup"}));
    sandbox.send_hook_event("10:00:00", "UserPromptSubmit", json!({"prompt": "Publish\nit,  please."}));
    sandbox.send_hook_event("10:00:01", "PreToolUse", bash("make"));
    sandbox.send_hook_event("10:00:02", "PreToolUse", bash("git push origin"));
    sandbox.send_hook_event("11:30:00", "Stop", json!({"last_assistant_message": "I may not."}));
    sandbox
}

/// The events that were found, the first one first.
fn list_event_names(ran: &CommandOutput) -> Vec<String> {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let entries = parse_json_lines(&ran.stdout);
    entries.iter().map(|entry| entry["event"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn before_anything_happened_it_says_so() {
    let ran = CliSandbox::with_frozen_clock().run_snell(&["log"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.stderr, "note: no event has been recorded yet\n");
}

#[test]
fn people_see_a_line_for_every_event() {
    let ran = record_session().run_snell(&["log"], "");
    insta::assert_snapshot!(ran.stdout, @"
    11:30:00    1  claude    project       Stop               I may not.
    10:00:02    1  claude    project       PreToolUse         Bash git push origin  -> block: not today  [hook ~/.config/snell/snell.toml:1]  (1 hook)
    10:00:01    1  claude    project       PreToolUse         Bash make  (1 hook)
    10:00:00    1  claude    project       UserPromptSubmit   Publish it, please.
    09:00:00    1  claude    project       SessionStart       startup
    ");
    let mut later = record_session();
    later = later.env("SNELL_NOW", "2026-03-02T12:00:00Z");
    let ran = later.run_snell(&["log", "--limit", "1"], "");
    assert!(ran.stdout.starts_with("2026-03-01 11:30:00    1"), "{}", ran.stdout);
}

#[test]
fn what_a_guard_that_only_watches_would_have_decided_is_told() {
    let settings = "[guard]\npreset = 'audit'\n[[hook]]\nevent = 'PreToolUse'\n\
        run = 'grep -q lease || exit 0; echo no >&2; exit 2'\n";
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", settings);
    for (time, command) in [
        ("09:00:00", "ls"),
        ("09:00:01", "rm -rf /"),
        ("09:00:02", "history -c"),
        ("09:00:03", "git push --force-with-lease"),
    ] {
        let bash = json!({"tool_name": "Bash", "tool_input": {"command": command}});
        sandbox.send_hook_event(time, "PreToolUse", bash);
    }
    insta::assert_snapshot!(sandbox.run_snell(&["log"], "").stdout, @"
    09:00:03    1  claude    project       PreToolUse         Bash git push --force-with-lease  -> block: no  -> would be asked  [hook ~/.config/snell/snell.toml:3, guard git.push-with-lease]  (1 hook)
    09:00:02    1  claude    project       PreToolUse         Bash history -c  -> would be asked  [guard self.cover-tracks]  (1 hook)
    09:00:01    1  claude    project       PreToolUse         Bash rm -rf /  -> would be blocked  [guard files.delete-root]  (1 hook)
    09:00:00    1  claude    project       PreToolUse         Bash ls  (1 hook)
    ");
    let ran = sandbox.run_snell(&["log", "--json"], "");
    let would = ran.stdout.lines().map(|line| {
        let entry: Value = serde_json::from_str(line).unwrap();
        entry.get("would").cloned()
    });
    assert_eq!(would.collect::<Vec<_>>(), [Some(json!("ask")), Some(json!("ask")), Some(json!("deny")), None]);
}

#[test]
fn the_rule_and_the_author_of_a_decision_are_named() {
    let settings = "[[hook]]\nevent = 'PreToolUse'\ntool = 'Read'\nrun = 'echo no >&2; exit 2'\n\
        [[hook]]\nevent = 'PreToolUse'\ntool = 'Grep'\nrun = 'false'\non_failure = 'block'\n";
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", settings);
    let calls = [
        ("09:00:00", json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}})),
        ("09:00:01", json!({"tool_name": "Bash", "tool_input": {"command": "history -c"}})),
        ("09:00:02", json!({"tool_name": "Read", "tool_input": {"file_path": "a.txt"}})),
        ("09:00:03", json!({"tool_name": "Grep", "tool_input": {"pattern": "a"}})),
        ("09:00:04", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})),
    ];
    for (time, call) in calls {
        sandbox.send_hook_event(time, "PreToolUse", call);
    }
    let hook =
        |line: u32| json!([{"by": "hook", "contract": "snell", "source": "~/.config/snell/snell.toml", "line": line}]);
    let rule = |rule: &str| json!([{"by": "guard", "rule": rule}]);
    let entries = parse_json_lines(&sandbox.run_snell(&["log", "--json"], "").stdout);
    let authors: Vec<_> = entries.iter().map(|entry| entry.get("authors").cloned()).collect();
    let expected =
        [None, Some(hook(5)), Some(hook(1)), Some(rule("self.cover-tracks")), Some(rule("files.delete-root"))];
    assert_eq!(authors, expected);
    let ran = sandbox.run_snell(&["log", "--rule", "files.delete-root"], "");
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    assert!(ran.stdout.contains("[guard files.delete-root]"), "{ran:?}");
    let ran = sandbox.run_snell(&["log", "--rule", "files.delete-rot"], "");
    assert!(ran.stderr.starts_with("note: unknown rule \"files.delete-rot\"\nhint: `snell guard rules`"), "{ran:?}");
}

#[test]
fn where_there_is_no_terminal_nothing_is_cut() {
    let why = "because ".repeat(40);
    let settings = format!("[[hook]]\nevent = 'PreToolUse'\nrun = 'echo {why} >&2; exit 2'\n");
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", &settings);
    let words = (0..300).map(|number| format!("w{number}")).collect::<Vec<_>>().join(" ");
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": format!("echo {words}")}});
    sandbox.send_hook_event("09:00:00", "UserPromptSubmit", json!({"prompt": words}));
    sandbox.send_hook_event("09:00:01", "PreToolUse", bash);
    let ran = sandbox.run_snell(&["log"], "");
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert!(lines[0].contains(&format!("Bash echo {words}  -> block: {}", why.trim())), "{lines:?}");
    assert!(lines[1].ends_with(&words), "{lines:?}");
}

#[test]
fn at_a_terminal_a_reason_is_read_and_no_line_is_too_wide() {
    let why = "generated files are written by the build, change their templates";
    let settings = format!("[[hook]]\nevent = 'PreToolUse'\nrun = 'echo {why} >&2; exit 2'\n");
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", &settings);
    let bash = json!({"tool_name": "Bash", "tool_input": {"command": format!("sed -i {}", "s/a/b/ ".repeat(20))}});
    sandbox.send_hook_event("09:00:00", "UserPromptSubmit", json!({"prompt": "long ".repeat(60)}));
    sandbox.send_hook_event("09:00:01", "PreToolUse", bash);
    for columns in [40, 60, 80, 100, 120, 300] {
        let Some(shown) = sandbox.run_in_terminal(columns, "log") else {
            return;
        };
        for line in shown.lines() {
            assert!(line.chars().count() <= columns, "{columns}: {line}");
        }
        let words: Vec<_> = shown.split_whitespace().collect();
        assert!(words.join(" ").contains(why), "{columns}: {shown}");
        let first = shown.lines().next().unwrap();
        assert!(first.contains("-> block"), "{columns}: {shown}");
        assert!(shown.contains("[hook ~/.config/snell/snell"), "{columns}: {shown}");
        // Where there is room for everything it stands on one line.
        assert_eq!(first.contains(why), columns == 300, "{columns}: {shown}");
    }
}

#[test]
fn every_filter_finds_what_it_names() {
    let sandbox = record_session();
    let elsewhere = json!({"session_id": "another", "cwd": sandbox.home(), "prompt": "Hello."});
    let mut command = sandbox.command(&["hook"]);
    command.env("CLAUDE_PID", "1").env("SNELL_NOW", "2026-03-01T11:45:00Z");
    let payload = merge_fields(json!({"hook_event_name": "UserPromptSubmit"}), &elsewhere);
    spawn_with_stdin(&mut command, payload.to_string()).wait_with_output().unwrap();
    let cases: &[(&[&str], &[&str])] = &[
        (&["--agent", "2"], &["UserPromptSubmit"]),
        (&["--agent", "7"], &[]),
        (&["--agent", "claude", "--event", "Stop"], &["Stop"]),
        (&["--agent", "codex"], &[]),
        (&["-n", "1"], &["UserPromptSubmit"]),
        (&["--session", "session-o", "--tool", "Bash"], &["PreToolUse", "PreToolUse"]),
        (&["--session", "another"], &["UserPromptSubmit"]),
        (&["--session", "%"], &[]),
        (&["--event", "AfterAgent"], &["Stop"]),
        (&["--event", "stop"], &["Stop"]),
        (&["--tool", "Bash"], &["PreToolUse", "PreToolUse"]),
        (&["--verdict", "block"], &["PreToolUse"]),
        (&["--verdict", "deny"], &["PreToolUse"]),
        (&["--verdict", "ask"], &[]),
        (&["--rule", "git.force-push"], &[]),
        (&["--since", "1h"], &["UserPromptSubmit", "Stop"]),
        (&["--since", "2026-03-01T10:00:02Z", "--until", "30m"], &["PreToolUse"]),
        (&["--until", "2026-03-01T09:30"], &["SessionStart"]),
        (&["--until", "2026-03-01"], &[]),
        (&["--limit", "2"], &["UserPromptSubmit", "Stop"]),
        (&["--before", "2"], &["SessionStart"]),
    ];
    for (args, expected) in cases {
        let ran = sandbox.run_snell(&[&["log", "--json"], *args].concat(), "");
        assert_eq!(list_event_names(&ran), *expected, "{args:?}");
    }
}

#[test]
fn an_unknown_agent_is_an_error_that_lists_the_products() {
    let ran = record_session().run_snell(&["log", "--agent", "cloude"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran:?}");
    let expected = "error: --agent is neither the number of an agent nor a product: \"cloude\"\n\
        hint: `snell agents` shows the numbers; the products are ";
    assert!(ran.stderr.starts_with(expected), "{ran:?}");
}

#[test]
fn a_hook_that_failed_is_seen_in_the_log_the_status_and_by_the_doctor() {
    let settings = "[[hook]]\nevent = 'PreToolUse'\nrun = 'exit 3'\n[[hook]]\nevent = 'PreToolUse'\nrun = 'true'\n";
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", settings);
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "make"}});
    sandbox.send_hook_event("11:00:00", "PreToolUse", call.clone());
    sandbox.send_hook_event("11:55:00", "PreToolUse", call);
    let log = sandbox.run_snell(&["log"], "").stdout;
    assert_eq!(log.matches("Bash make  (2 hooks, 1 failed)").count(), 2, "{log}");
    let entries = parse_json_lines(&sandbox.run_snell(&["log", "--json"], "").stdout);
    assert_eq!((&entries[0]["hooks"], &entries[0]["hooks_failed"]), (&json!(2), &json!(1)));
    assert_eq!(entries[0]["product"], "claude");
    let expected = "2 hook runs failed in the last day: ~/.config/snell/snell.toml:1 (last: 5m ago, ";
    for command in ["status", "doctor"] {
        let ran = sandbox.run_snell(&[command], "");
        assert!(ran.stdout.contains(expected), "{ran:?}");
    }
    let status = sandbox.run_snell(&["status", "--json"], "");
    assert_eq!((status.code, &status.json()["failed_hooks"][0]["runs"]), (0, &json!(2)));
    let later = sandbox.env("SNELL_NOW", "2026-03-02T12:00:00Z").run_snell(&["status"], "").stdout;
    assert!(!later.contains("failed in the last day"), "{later}");
}

#[test]
fn advice_for_the_model_is_only_in_the_json() {
    let sandbox = CliSandbox::with_frozen_clock();
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}});
    sandbox.send_hook_event("11:00:00", "PreToolUse", call);
    let entries = parse_json_lines(&sandbox.run_snell(&["log", "--json"], "").stdout);
    let verdicts = "SELECT reason || '|' || advice FROM guard_verdicts";
    let verdict = snell_test_support::database::query_texts(&sandbox.database(), verdicts).remove(0);
    let (reason, advice) = verdict.split_once('|').unwrap();
    assert_eq!(entries[0]["reason"], format!("{reason} {advice}"));
    let log = sandbox.run_snell(&["log"], "").stdout;
    assert!(log.contains(&format!("-> block: {reason}  [guard files.delete-root]")), "{log}");
}

#[test]
fn an_event_that_nobody_knows_is_found_and_a_slip_of_the_pen_is_named() {
    let sandbox = record_session();
    sandbox.send_hook_event("11:40:00", "TeammateIdle", json!({}));
    let ran = sandbox.run_snell(&["log", "--json", "--event", "TeammateIdle"], "");
    assert_eq!((list_event_names(&ran), ran.stderr.as_str()), (vec!["TeammateIdle".to_owned()], ""));
    let ran = sandbox.run_snell(&["log", "--event", "PreToolUze"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("did you mean \"PreToolUse\"?"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("note: no matching events\n"), "{}", ran.stderr);
}

#[test]
fn a_page_names_the_next_one() {
    let sandbox = record_session();
    let ran = sandbox.run_snell(&["log", "--limit", "2"], "");
    assert_eq!(ran.stdout.lines().count(), 2);
    assert_eq!(ran.stderr, "note: there are older events\nhint: to see them, add --before 4\n");
    let ran = sandbox.run_snell(&["log", "--limit", "3", "--before", "4"], "");
    assert_eq!((ran.stdout.lines().count(), ran.stderr.as_str()), (3, ""));
}

#[test]
fn as_json_an_entry_has_its_payload() {
    let ran = record_session().run_snell(&["log", "--json", "--verdict", "block"], "");
    let entry = ran.json();
    assert_eq!(entry["payload"]["tool_input"]["command"], "git push origin");
    assert_eq!((&entry["hooks"], &entry["decision"]), (&json!(1), &json!("block")));
    assert_eq!(entry["session_id"], "session-one");
}

#[test]
fn what_waits_on_disk_is_in_the_log() {
    let sandbox = record_session();
    let held = sandbox.open_database_with("BEGIN IMMEDIATE");
    sandbox.send_hook_event("11:50:00", "SessionEnd", json!({"reason": "other"}));
    drop(held);
    let ran = sandbox.run_snell(&["log", "--json", "--limit", "1"], "");
    assert_eq!(list_event_names(&ran), ["SessionEnd"]);
}

#[test]
fn following_begins_with_the_last_few_and_goes_on_with_what_others_write() {
    let sandbox = record_session();
    let args = ["log", "--follow", "--limit", "1", "--json"];
    let mut child = spawn_with_stdin(&mut sandbox.command(&args), "");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || {
        let entry: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        entry["event"].as_str().unwrap().to_owned()
    };
    assert_eq!(next(), "Stop");
    sandbox.send_hook_event("11:40:00", "UserPromptSubmit", json!({"prompt": "Go on."}));
    assert_eq!(next(), "UserPromptSubmit");
    sandbox.send_hook_event("11:41:00", "Stop", json!({}));
    sandbox.send_hook_event("11:42:00", "SessionEnd", json!({"reason": "other"}));
    assert_eq!((next(), next()), ("Stop".to_owned(), "SessionEnd".to_owned()));
    // Numbers begin anew in a new database.
    for part in ["", "-wal", "-shm"] {
        fs::remove_file(sandbox.data().join(format!("snell.db{part}"))).unwrap();
    }
    sandbox.send_hook_event("11:43:00", "SessionStart", json!({}));
    assert_eq!(next(), "SessionStart");
    send_signal(child.id(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn following_can_begin_before_anything_happened_and_filters() {
    let sandbox = CliSandbox::with_frozen_clock();
    let args = ["log", "--follow", "--event", "Stop"];
    let mut child = spawn_with_stdin(&mut sandbox.command(&args), "");
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    sandbox.send_hook_event("11:40:00", "SessionStart", json!({}));
    sandbox.send_hook_event("11:41:00", "Stop", json!({}));
    let line = lines.next().unwrap().unwrap();
    assert!(line.starts_with("11:41:00    1  claude    project       Stop"), "{line}");
    drop(lines);
    let status = wait_until(|| child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0), "it ends when nobody reads any more");
}

/// Fills the store: every event a minute after the one before, the last one half a minute before noon of the day on which the tests are.
/// Every hundredth begins a session of its own, which ends with the ninety-ninth after it.
fn fill_store(sandbox: &CliSandbox, number: i64) {
    let noon: snell::Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
    let mut store = Store::open(&sandbox.database()).unwrap().store;
    let numbers: Vec<_> = (0..number).collect();
    for some in numbers.chunks(1000) {
        let observations = some.iter().map(|index| {
            let session = format!("session-{}", index / 100);
            let at = noon - Duration::from_secs(30 + 60 * u64::try_from(number - 1 - index).unwrap());
            let (name, mut payload) = match index % 100 {
                0 => ("SessionStart", json!({"source": "startup"})),
                1 => ("UserPromptSubmit", json!({"prompt": format!("Do number {index}.")})),
                98 => ("Stop", json!({"last_assistant_message": format!("Did number {index}.")})),
                99 => ("SessionEnd", json!({"reason": "other"})),
                _ => ("PreToolUse", json!({"tool_name": "Read", "tool_input": {"file_path": "x".repeat(600)}})),
            };
            let fields = payload.as_object_mut().unwrap();
            fields.insert("session_id".into(), json!(session));
            fields.insert("hook_event_name".into(), json!(name));
            fields.insert("cwd".into(), json!(format!("/project-{}", index / 1000)));
            let (event, _) = snell::Event::from_json(None, payload.to_string().as_bytes()).unwrap();
            let mut observation = EventRecord::new(&event, at);
            observation.sender.mission_execution_id = Some(format!("mission of {session}"));
            observation.judgement = Some(DecisionRecord {
                runs: vec![HookRunRecord { status: Some(snell::HookRunStatus::Ok), ..HookRunRecord::default() }],
                ..DecisionRecord::default()
            });
            observation
        });
        store.ingest_all(observations.collect()).unwrap();
    }
    store.close().unwrap();
}

/// How many rows each table has.
fn count_table_rows(sandbox: &CliSandbox) -> Vec<(&'static str, i64)> {
    let connection = sandbox.open_database_with("");
    let count = |table: &&'static str| {
        let sql = format!("SELECT count(*) FROM {table}");
        (*table, connection.query_row(&sql, [], |row| row.get(0)).unwrap())
    };
    let tables = [
        "events",
        "payloads",
        "hook_runs",
        "turns",
        "commands",
        "session_ids",
        "conversations",
        "agents",
        "missions",
        "projects",
    ];
    tables.iter().map(count).collect()
}

fn measure_database(sandbox: &CliSandbox) -> u64 {
    fs::metadata(sandbox.database()).unwrap().len()
}

#[test]
fn pruning_removes_everything_that_is_old_and_nothing_else() {
    let sandbox = CliSandbox::with_frozen_clock();
    fill_store(&sandbox, 10_000);
    let (before, full) = (count_table_rows(&sandbox), measure_database(&sandbox));
    assert_eq!((before[0].1, before[6].1), (10_000, 100));
    let newest = sandbox.run_snell(&["log", "--json", "--limit", "2000"], "").stdout;
    let ran = sandbox.run_snell(&["log", "--prune", "--keep", "2000m", "--dry-run"], "");
    let expected = "8000 events, 160 turns, 0 replaced sessions and 80 agents older than 2000m \
                    (before 2026-02-28 02:40:00 UTC).\n";
    assert_eq!(ran.stdout, format!("Would remove {expected}"));
    assert_eq!(count_table_rows(&sandbox), before, "a dry run removes nothing");
    let ran = sandbox.run_snell(&["log", "--prune", "--keep", "2000m"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(ran.stdout, format!("Removed {expected}"));
    let after = count_table_rows(&sandbox);
    for ((table, before), (_, after)) in before.iter().zip(&after) {
        assert_eq!(*after, before / 5, "{table}");
    }
    assert_eq!(sandbox.run_snell(&["log", "--json", "--limit", "2001"], "").stdout, newest);
    assert!(measure_database(&sandbox) < full / 3, "{} of {full} bytes are left", measure_database(&sandbox));
    let ran = sandbox.run_snell(&["log", "--prune", "--keep", "2000m"], "");
    assert!(ran.stdout.starts_with("Nothing to remove: no records are older than 2000m"), "{}", ran.stdout);
    let integrity: String =
        sandbox.open_database_with("").query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(integrity, "ok");
}

#[test]
fn the_file_does_not_grow_when_as_much_goes_as_comes() {
    let sandbox = CliSandbox::with_frozen_clock();
    let mut sizes = Vec::new();
    for _ in 0..4 {
        fill_store(&sandbox, 1000);
        let ran = sandbox.run_snell(&["log", "--prune", "--keep", "1s", "--json"], "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        sizes.push(measure_database(&sandbox));
    }
    assert!(sizes[3] <= sizes[0], "{sizes:?}");
}

#[test]
fn an_agent_that_only_waits_stays() {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("09:00:00", "UserPromptSubmit", json!({"prompt": "Go on."}));
    let ran = sandbox.run_snell(&["log", "--prune", "--keep", "1h", "--json"], "");
    assert_eq!((&ran.json()["events"], &ran.json()["agents"]), (&json!(1), &json!(0)));
    sandbox.send_hook_event("11:59:00", "Stop", json!({"last_assistant_message": "Done."}));
    let agents = sandbox.run_snell(&["agents", "--json"], "").json();
    assert_eq!((&agents[0]["agent_id"], &agents[0]["last_words"]), (&json!(1), &json!("Done.")));
}

#[test]
fn what_is_kept_is_what_the_users_file_says() {
    let sandbox = CliSandbox::with_frozen_clock().home_file(".config/snell/snell.toml", "keep = '2h'\n");
    sandbox.send_hook_event("09:00:00", "SessionStart", json!({}));
    sandbox.send_hook_event("11:00:00", "SessionEnd", json!({"reason": "other"}));
    let ran = sandbox.run_snell(&["log", "--prune", "--keep", "forever"], "");
    assert_eq!(ran.stdout, "Nothing to remove: records are kept forever.\n");
    let ran = sandbox.run_snell(&["log", "--prune"], "");
    assert!(ran.stdout.starts_with("Removed 1 event, 0 turns,"), "{}", ran.stdout);
    assert_eq!(list_event_names(&sandbox.run_snell(&["log", "--json"], "")), ["SessionEnd"]);
}

#[test]
fn nothing_is_removed_while_it_is_not_certain_how_long_it_is_kept() {
    for text in ["keep = \"forever\"\n[[hook]\n", "keep = \"90 dayz\"\n", "keep = 5\n"] {
        let sandbox = record_session().env("SNELL_NOW", "2027-03-01T12:00:00Z");
        let file = ".config/snell/snell.toml";
        let sandbox = sandbox.home_file(file, text);
        for args in [&["log", "--prune"][..], &["log", "--prune", "--json"]] {
            let ran = sandbox.run_snell(args, "");
            assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{text}: {ran:?}");
            assert!(ran.stderr.contains("snell.toml:") && ran.stderr.contains("--keep"), "{text}: {ran:?}");
        }
        assert_eq!(list_event_names(&sandbox.run_snell(&["log", "--json"], "")).len(), 5, "{text}");
        let ran = sandbox.run_snell(&["log", "--prune", "--keep", "1d"], "");
        assert!(ran.stdout.starts_with("Removed 5 events"), "{text}: {ran:?}");
    }
}

#[test]
fn pruning_where_nothing_was_recorded_makes_nothing() {
    let sandbox = CliSandbox::with_frozen_clock();
    let ran = sandbox.run_snell(&["log", "--prune"], "");
    assert!(ran.stdout.starts_with("Nothing to remove: no records are older than 30d"), "{}", ran.stdout);
    assert_eq!(fs::read_dir(sandbox.data()).unwrap().count(), 0);
}

#[test]
fn pruning_forgets_what_was_told_long_ago() {
    let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", "[[hook]]\nevent = 'Stop'\nrun = 'true'\n");
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"session_id": "long ago"}));
    let told = || fs::read_dir(sandbox.data().join("told")).unwrap().count();
    let mark = fs::read_dir(sandbox.data().join("told")).unwrap().next().unwrap().unwrap().path();
    let long_ago = SystemTime::now() - Duration::from_secs(31 * 24 * 60 * 60);
    File::options().write(true).open(mark).unwrap().set_modified(long_ago).unwrap();
    sandbox.send_hook_event("11:01:00", "SessionStart", json!({"session_id": "today"}));
    assert_eq!(told(), 2);
    sandbox.run_snell(&["log", "--prune", "--dry-run"], "");
    assert_eq!(told(), 2);
    sandbox.run_snell(&["log", "--prune"], "");
    assert_eq!(told(), 1);
}

#[test]
fn pruning_goes_on_beside_hooks_that_record() {
    let sandbox = CliSandbox::with_frozen_clock();
    fill_store(&sandbox, 4000);
    let pruning = spawn_with_stdin(&mut sandbox.command(&["log", "--prune", "--keep", "1s"]), "");
    for _ in 0..10 {
        let ran =
            sandbox.send_hook_event("12:00:01", "UserPromptSubmit", json!({"prompt": "Go on.", "session_id": "new"}));
        assert_eq!(ran.stderr, "", "nobody is held up");
    }
    assert!(pruning.wait_with_output().unwrap().status.success());
    assert_eq!(list_event_names(&sandbox.run_snell(&["log", "--json", "--session", "new"], "")).len(), 10);
}

#[test]
fn a_session_that_was_replaced_long_ago_goes_and_its_agent_stays() {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("08:00:00", "SessionStart", json!({"session_id": "old"}));
    sandbox.send_hook_event("08:01:00", "UserPromptSubmit", json!({"session_id": "old", "prompt": "Go on."}));
    sandbox.send_hook_event("08:02:00", "Stop", json!({"session_id": "old"}));
    sandbox.send_hook_event("11:59:00", "SessionStart", json!({"session_id": "new"}));
    let would = sandbox.run_snell(&["log", "--prune", "--keep", "1h", "--dry-run", "--json"], "").json();
    let done = sandbox.run_snell(&["log", "--prune", "--keep", "1h", "--json"], "").json();
    for field in ["events", "turns", "sessions", "agents"] {
        assert_eq!(would[field], done[field], "{field}");
    }
    assert_eq!((&done["sessions"], &done["agents"]), (&json!(1), &json!(0)));
    let left: std::collections::BTreeMap<_, _> = count_table_rows(&sandbox).into_iter().collect();
    assert_eq!((left["session_ids"], left["conversations"], left["agents"]), (1, 1, 1));
}

/// A scribe remembers where sessions led to. What was removed meanwhile must not lead to somebody else.
#[test]
fn a_session_that_was_removed_and_comes_back_is_not_taken_for_another_one() {
    let sandbox = CliSandbox::new().env("SNELL_NOW", "2026-03-01T12:00:00Z");
    let of = |session: &str| json!({"session_id": session, "cwd": sandbox.home().join(session), "reason": "other"});
    sandbox.send_hook_event("09:00:00", "SessionStart", of("first"));
    let socket = sandbox.data().join("scribe.sock");
    wait_until(|| socket.exists().then_some(()));
    sandbox.send_hook_event("09:01:00", "SessionEnd", of("first"));
    let removed = sandbox.run_snell(&["log", "--prune", "--keep", "1h", "--json"], "").json();
    assert_eq!((&removed["events"], &removed["agents"]), (&json!(2), &json!(1)));
    sandbox.send_hook_event("11:58:00", "SessionStart", of("second"));
    sandbox.send_hook_event("11:59:00", "UserPromptSubmit", of("first"));
    let of_second = sandbox.run_snell(&["log", "--json", "--session", "second"], "");
    assert_eq!(list_event_names(&of_second), ["SessionStart"]);
    let of_first = sandbox.run_snell(&["log", "--json", "--session", "first"], "");
    assert_eq!(list_event_names(&of_first), ["UserPromptSubmit"]);
    fs::remove_file(socket).unwrap();
}
