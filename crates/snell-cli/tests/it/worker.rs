//! `snell worker`: what a session has others do, where no event tells of it.

use serde_json::{Value, json};
use snell_test_support::process::{CommandOutput, run_with_stdin};

use crate::support::CliSandbox;

const TRIGGER: &str = "[CLAUDE OS SYS: NOTIFICATION]: Workers complete";

fn begin_session() -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock();
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"source": "startup"}));
    sandbox
}

/// `snell worker` with these arguments at this time.
fn run_worker(sandbox: &CliSandbox, time: &str, args: &[&str], stdin: &str) -> CommandOutput {
    let mut command = sandbox.command(&["worker"]);
    command.args(args).env("SNELL_NOW", format!("2026-03-01T{time}Z"));
    run_with_stdin(&mut command, stdin)
}

fn list_workers(sandbox: &CliSandbox) -> Vec<Value> {
    let ran = sandbox.run_snell(&["worker", "list", "--json"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.json().as_array().unwrap().clone()
}

/// A worker's name, status, label and summary.
fn summarize_worker(worker: &Value) -> String {
    let text = |key: &str| worker[key].as_str().unwrap_or("-").to_owned();
    ["name", "status", "label", "summary"].map(text).join(" | ")
}

fn summarize_workers(sandbox: &CliSandbox) -> Vec<String> {
    list_workers(sandbox).iter().map(summarize_worker).collect()
}

#[test]
fn a_worker_begins_and_finishes_and_is_listed_with_its_time() {
    let sandbox = begin_session();
    assert_eq!(sandbox.run_snell(&["worker", "list"], "").stdout, "session-one has no workers.\n");
    let ran = run_worker(&sandbox, "11:10:00", &["start", "build", "--label", "the whole suite"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Recorded: build runs for session-one.\n"));
    let ran = run_worker(&sandbox, "11:15:00", &["done", " build\n", "--summary", "412 passed\nin 5 minutes"], "");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "Recorded: build is done.\nSnell reports it to session-one at the next wake-up.\n")
    );
    run_worker(&sandbox, "11:16:00", &["done", "lint", "--failed"], "");
    run_worker(&sandbox, "11:58:00", &["start", "deploy"], "");
    insta::assert_snapshot!(sandbox.run_snell(&["worker", "list"], "").stdout, @"
    WORKER  KIND   STATUS   TIME  REPORTED  ABOUT
    build   other  done     5m    -         the whole suite: 412 passed in 5 minutes
    lint    other  failed   -     -
    deploy  other  running  2m    -
    ");
    let build = &list_workers(&sandbox)[0];
    assert_eq!(
        (&build["kind"], &build["started_at"], &build["finished_at"], &build["reported_at"]),
        (&json!("other"), &json!("2026-03-01T11:10:00Z"), &json!("2026-03-01T11:15:00Z"), &Value::Null)
    );
    assert_eq!(build["summary"], "412 passed\nin 5 minutes");
}

#[test]
fn what_is_not_told_yet_is_updated_and_what_was_told_is_over() {
    let sandbox = begin_session();
    let done = |args: &[&str]| assert_eq!(run_worker(&sandbox, "11:10:00", args, "").code, 0, "{args:?}");
    done(&["done", "build", "--label", "suite", "--summary", "first"]);
    done(&["done", "build", "--failed"]);
    assert_eq!(summarize_workers(&sandbox), ["build | failed | suite | first"]);
    done(&["done", "build", "--summary", "second", "--label", "all"]);
    assert_eq!(summarize_workers(&sandbox), ["build | done | all | second"]);
    sandbox.open_database_with("UPDATE workers SET reported_at = 1");
    done(&["done", "build"]);
    assert_eq!(summarize_workers(&sandbox), ["build | done | all | second", "build | done | - | -"]);
    // One that begins anew does not take away what is to be told of the last one.
    done(&["start", "build"]);
    assert_eq!(summarize_workers(&sandbox)[1..], ["build | done | - | -", "build | running | - | -"]);
    done(&["done", "build", "--summary", "third"]);
    assert_eq!(summarize_workers(&sandbox)[1..], ["build | done | - | -", "build | done | - | third"]);
    assert_eq!(list_workers(&sandbox)[2]["started_at"], "2026-03-01T11:10:00Z");
}

#[test]
fn a_summary_comes_from_a_file_or_from_standard_input_and_is_fit_to_be_kept() {
    let sandbox = begin_session().file("out.txt", "from a file\n");
    let rows = [
        ("-", "from a pipe\n".to_owned(), "from a pipe"),
        ("out.txt", String::new(), "from a file"),
        ("-", "token ghp_abcdefghijklmnopqrstuvwxyz0123456789".into(), "token [masked:"),
        ("-", "x".repeat(3_000_000), "xxx"),
        ("/dev/zero", String::new(), ""),
    ];
    for (number, (file, stdin, expected)) in rows.iter().enumerate() {
        let name = format!("worker {number}");
        let ran = run_worker(&sandbox, "11:10:00", &["done", &name, "--summary-file", file], stdin);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{file} {number}");
        let listed = list_workers(&sandbox);
        let summary = listed[number]["summary"].as_str().unwrap();
        assert!(summary.starts_with(expected) && summary.len() <= 2048, "{file}: {summary:?}");
        assert!(!summary.contains("ghp_abc"), "{summary}");
    }
    let nothing = run_worker(&sandbox, "11:10:00", &["done", "quiet", "--summary-file", "-"], " \n");
    assert_eq!(nothing.code, 0);
    assert_eq!(list_workers(&sandbox)[rows.len()]["summary"], Value::Null);
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_noted() {
    let sandbox = begin_session();
    let rows: [(&[&str], &str); 6] = [
        (&["done", " \t"], "error: the name of the worker is empty\nhint: write"),
        (&["start", ""], "error: the name of the worker is empty\nhint: write"),
        (&["done"], "error: "),
        (&["done", "build", "--summary", "x", "--summary-file", "-"], "error: "),
        (&["done", "build", "--summary-file", "nowhere.txt"], "error: cannot read the summary from nowhere.txt"),
        (&["done", "build", "--session", "zz"], "error: no session id starts with \"zz\""),
    ];
    for (args, expected) in rows {
        let ran = run_worker(&sandbox, "11:10:00", args, "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{args:?}");
        assert!(ran.stderr.starts_with(expected), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(list_workers(&sandbox).len(), 0);
}

#[test]
fn a_long_name_is_cut_and_still_means_the_same_worker() {
    let sandbox = begin_session();
    let name = "ä".repeat(300);
    for command in ["start", "done"] {
        assert_eq!(run_worker(&sandbox, "11:10:00", &[command, &name], "").code, 0);
    }
    let listed = list_workers(&sandbox);
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0]["name"], &listed[0]["status"]), (&json!(format!("{}…", "ä".repeat(199))), &json!("done")));
}

#[test]
fn workers_belong_to_their_session_and_whoever_watches_is_told() {
    let sandbox = begin_session();
    let other = json!({"session_id": "other", "cwd": sandbox.home(), "source": "startup"});
    sandbox.send_hook_event("11:01:00", "SessionStart", other);
    let args = ["done", "build", "--session", "other"];
    assert_eq!(run_worker(&sandbox, "11:10:00", &args, "").code, 0);
    let of = |session: &str| {
        let ran = sandbox.run_snell(&["worker", "list", "--json", "--session", session], "");
        ran.json().as_array().unwrap().len()
    };
    assert_eq!((of("session-one"), of("other")), (0, 1));
    let told: String = sandbox
        .open_database_with("")
        .query_row("SELECT data FROM changes ORDER BY change_id DESC LIMIT 1", [], |row| row.get(0))
        .unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((&told["reason"], &told["agent_id"]), (&json!("Worker"), &json!(2)), "{told}");
}

#[test]
fn a_worker_is_noted_even_if_its_agent_cannot_be_woken_up() {
    let sandbox = begin_session();
    let ran = run_worker(&sandbox, "11:10:00", &["done", "build", "--wake"], "");
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert_eq!(
        ran.stderr,
        "error: the worker is recorded, but its agent was not woken up: agent 1 is not in a tmux pane\n"
    );
    assert_eq!(summarize_workers(&sandbox), ["build | done | - | -"]);
}

/// What the agent of a session is told when it is woken up.
fn send_wake_prompt(sandbox: &CliSandbox, session: &str) -> String {
    let ran =
        sandbox.send_hook_event("11:30:00", "UserPromptSubmit", json!({"session_id": session, "prompt": TRIGGER}));
    ran.stdout
}

#[test]
fn of_a_long_summary_the_beginning_and_the_end_are_kept_and_told() {
    for length in [3000, 700_000, 1_100_000, 3_000_000] {
        let summary = format!("the beginning\n{}\nthe end\n", "x".repeat(length));
        let sandbox = begin_session().file("out.txt", &summary);
        for (name, file, stdin) in [("file", "out.txt", ""), ("pipe", "-", summary.as_str())] {
            let ran = run_worker(&sandbox, "11:10:00", &["done", name, "--summary-file", file], stdin);
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{name} {length}");
        }
        for worker in list_workers(&sandbox) {
            let kept = worker["summary"].as_str().unwrap();
            let is_whole = kept.starts_with("the beginning\n") && kept.ends_with("\nthe end");
            assert!(is_whole && (2000..=2048).contains(&kept.len()), "{length}: {kept}");
        }
        let told = send_wake_prompt(&sandbox, "session-one");
        for part in ["the beginning", "…", "the end"] {
            assert_eq!(told.matches(part).count(), 2, "{length}: {told}");
        }
    }
}

#[test]
fn done_prints_whether_the_agent_will_be_informed() {
    let nothing: fn(&CliSandbox) = |_| {};
    let rows = [
        ("", "", nothing, "Snell reports it to session-one at the next wake-up"),
        ("mission", "", nothing, "Snell reports it to session-one at the next wake-up"),
        ("background", "", nothing, "Snell will not report it to session-one: the session works in the background"),
        (
            "",
            "[handlers]\nremind = false\n",
            nothing,
            "Snell will not report it to session-one: `remind` or `track` is off in [handlers] of snell.toml",
        ),
        (
            "",
            "",
            |sandbox| drop(sandbox.send_hook_event("11:05:00", "SessionEnd", json!({"reason": "logout"}))),
            "Snell will not report it to session-one unless it is resumed: it ended (logout)",
        ),
        (
            "",
            "",
            |sandbox| {
                let next = json!({"session_id": "session-two", "source": "clear"});
                sandbox.send_hook_event("11:05:00", "SessionStart", next);
            },
            "Snell will not report it to session-one unless it is resumed: another session replaced it (replaced)",
        ),
    ];
    for (mode, settings, happens, expected) in rows {
        let sandbox = CliSandbox::with_frozen_clock()
            .env("CLAUDE_SESSION_MODE", mode)
            .home_file(".config/snell/snell.toml", settings);
        sandbox.send_hook_event("11:00:00", "SessionStart", json!({"source": "startup"}));
        happens(&sandbox);
        let args = ["done", "build", "--session", "session-one"];
        let ran = run_worker(&sandbox, "11:10:00", &args, "");
        assert_eq!(
            (ran.code, ran.stdout, ran.stderr.as_str()),
            (0, format!("Recorded: build is done.\n{expected}.\n"), "")
        );
        let is_told = send_wake_prompt(&sandbox, "session-one").contains("build: done");
        let is_taken_up = expected.contains("unless");
        assert_eq!(is_told, is_taken_up || expected.contains("Snell reports"), "{expected}");
    }
}

#[test]
fn workers_stay_with_a_conversation_that_is_compacted_and_not_with_one_that_is_cleared() {
    for (source, stays) in [("compact", true), ("clear", false)] {
        let sandbox = begin_session();
        run_worker(&sandbox, "11:01:00", &["start", "build"], "");
        run_worker(&sandbox, "11:02:00", &["done", "lint"], "");
        let next = json!({"session_id": "session-two", "source": source});
        sandbox.send_hook_event("11:05:00", "SessionStart", next);
        // They know the session by the id that it had when they began, or by the one that it has now.
        for (name, session) in [("build", "session-one"), ("deploy", "session-one"), ("docs", "session-two")] {
            let ran = run_worker(&sandbox, "11:10:00", &["done", name, "--session", session], "");
            assert_eq!(ran.code, 0, "{ran:?}");
            let is_told = ran.stdout.ends_with(" at the next wake-up.\n");
            let expected = (stays && name == "build") || name == "docs";
            assert_eq!(is_told, expected, "{source} {name}: {}", ran.stdout);
        }
        let told = send_wake_prompt(&sandbox, "session-two");
        for name in ["build", "lint", "deploy", "docs"] {
            let is_told = told.contains(&format!("{name}: done"));
            // Of what nobody had started, nobody knows that it was handed on.
            let expected = (stays && name != "deploy") || name == "docs";
            assert_eq!(is_told, expected, "{source} {name}: {told}");
        }
        let again = send_wake_prompt(&sandbox, "session-two");
        assert!(!again.contains(": done"), "{source}: {again}");
    }
}
