//! `snell export`: one session, whole, in order, and only if it is clear which.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};
use snell_test_support::files::parse_json_lines;
use snell_test_support::process::CommandOutput;
use snell_test_support::wait::wait_until;

use crate::support::CliSandbox;

fn record_two_sessions() -> CliSandbox {
    let sandbox = CliSandbox::with_frozen_clock()
        .home_file(".config/snell/snell.toml", "[[hook]]\nevent = 'PreToolUse'\nrun = 'echo no >&2; exit 2'\n");
    let of = |session: &str, mut payload: Value| {
        payload["session_id"] = json!(session);
        payload
    };
    for session in ["abc-1", "abd-2"] {
        sandbox.send_hook_event("10:00:00", "SessionStart", of(session, json!({"source": "startup"})));
        sandbox.send_hook_event("10:01:00", "UserPromptSubmit", of(session, json!({"prompt": "Go on."})));
        let call = json!({"tool_name": "Bash", "tool_input": {"command": "make", "depth": [1.5, {"a": null}]}});
        sandbox.send_hook_event("10:02:00", "PreToolUse", of(session, call));
        sandbox.send_hook_event("10:03:00", "Stop", of(session, json!({"last_assistant_message": "I may not."})));
        sandbox.send_hook_event("10:04:00", "SessionEnd", of(session, json!({"reason": "other"})));
    }
    sandbox
}

#[test]
fn a_session_is_told_in_the_order_in_which_it_happened() {
    let ran = record_two_sessions().run_snell(&["export", "abc"], "");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let lines = parse_json_lines(&ran.stdout);
    let brief: Vec<_> = lines
        .iter()
        .map(|line| {
            let what = ["event", "text", "session_id"].into_iter().find_map(|field| line[field].as_str());
            format!("{} {}", line["type"].as_str().unwrap(), what.unwrap())
        })
        .collect();
    assert_eq!(
        brief,
        [
            "session abc-1",
            "event SessionStart",
            "event UserPromptSubmit",
            "turn Go on.",
            "event PreToolUse",
            "event Stop",
            "turn I may not.",
            "event SessionEnd",
        ]
    );
    let call = &lines[4];
    assert_eq!(call["payload"]["tool_input"]["depth"].to_string(), r#"[1.5,{"a":null}]"#);
    assert_eq!(call["hook_runs"][0]["status"], "blocked");
    assert_eq!(lines[3]["actor"], "USER");
}

#[test]
fn a_beginning_must_be_clear_and_an_unknown_one_is_told_what_there_is() {
    let sandbox = record_two_sessions();
    let refused = |id: &str| {
        let ran = sandbox.run_snell(&["export", id], "");
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{id}");
        assert!(ran.stderr.lines().count() <= 2, "{}", ran.stderr);
        ran.stderr
    };
    let error = refused("ab");
    assert!(error.starts_with("error: 2 session ids start with \"ab\""), "{error}");
    assert!(error.contains("abc-1 (project, 1h ago)") && error.contains("abd-2"), "{error}");
    let error = refused("x");
    assert!(error.contains("no session id starts with \"x\"\nhint: latest sessions: ab"), "{error}");
    assert!(refused("%").contains("no session id starts"));
    refused("");
    let nowhere = CliSandbox::with_frozen_clock();
    assert!(nowhere.run_snell(&["export", "x"], "").stderr.contains("no session has been recorded yet"));
}

#[test]
fn a_whole_id_is_clear_even_if_it_begins_another_one() {
    let sandbox = record_two_sessions();
    sandbox.send_hook_event("11:00:00", "SessionStart", json!({"session_id": "abc"}));
    let ran = sandbox.run_snell(&["export", "abc"], "");
    assert_eq!(parse_json_lines(&ran.stdout)[0]["session_id"], "abc");
}

#[test]
fn a_file_is_its_owners_alone_and_whole_or_not_there() {
    let sandbox = record_two_sessions();
    fs::create_dir(sandbox.project().join("out")).unwrap();
    let export = |path: &str| -> CommandOutput { sandbox.run_snell(&["export", "abc", "--output", path], "") };
    let ran = export("out/session.jsonl");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "Wrote 8 lines to out/session.jsonl.\n"));
    let path = sandbox.project().join("out/session.jsonl");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(sandbox.read("out/session.jsonl"), sandbox.run_snell(&["export", "abc-1"], "").stdout);
    // What is there is replaced.
    fs::write(&path, "before").unwrap();
    assert_eq!(export("out/session.jsonl").code, 0);
    assert_eq!(parse_json_lines(&sandbox.read("out/session.jsonl")).len(), 8);
    for path in ["out", "nowhere/session.jsonl", "out/.."] {
        let ran = export(path);
        assert_eq!(ran.code, 1, "{path}");
        assert!(ran.stderr.starts_with("error: cannot write "), "{path}: {}", ran.stderr);
    }
    assert_eq!(fs::read_dir(sandbox.project().join("out")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(sandbox.project()).unwrap().count(), 1);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error_and_a_full_disk_is_one() {
    let sandbox = record_two_sessions();
    let big = "x".repeat(60_000);
    for minute in 10..40 {
        let prompt = json!({"session_id": "abc-1", "prompt": format!("{minute} {big}")});
        sandbox.send_hook_event(&format!("10:{minute}:00"), "UserPromptSubmit", prompt);
    }
    let mut child = sandbox
        .command(&["export", "abc"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    wait_until(|| child.try_wait().unwrap());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = sandbox.command(&["export", "abc"]).stdin(Stdio::null()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("error: cannot write the session"));
}
