//! `snell run --record`: what a host wants to be kept is kept as it is of a guest, and never at the price of an answer.

use std::fs;

use serde_json::{Value, json};
use snell_test_support::database::extract_first_column;
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{CommandOutput, LiveProcess, Signal, send_signal, spawn_with_stdin};
use snell_test_support::wait::wait_until;

use crate::hook::slow_hooks::SLOW;
use crate::hook::{HookSandbox, RecordingMode};
use crate::support::CliSandbox;

/// A hook that refuses what has this word in it, and one that nobody waits for.
fn create_project() -> CliSandbox {
    CliSandbox::new()
        .file(
            "snell.toml",
            "[[hook]]\nevent = 'PreToolUse'\ntool = 'shell'\n\
             run = 'case \"$SNELL_COMMAND\" in *deploy*) echo not today >&2; exit 2;; esac'\n",
        )
        .file(".microai/settings.json", r#"{"hooks": {"PostToolUse": [{"matcher": "Bash", "command": "echo seen"}]}}"#)
}

fn run_event(sandbox: &CliSandbox, event: &str, fields: Value) -> CommandOutput {
    run_event_with(sandbox, event, &["--record", "--guard"], fields)
}

fn run_event_with(sandbox: &CliSandbox, event: &str, args: &[&str], fields: Value) -> CommandOutput {
    let payload = merge_fields(json!({"session_id": "s1", "agent_name": "lantern"}), &fields);
    sandbox.run_snell(&[&["run", event], args].concat(), &payload.to_string())
}

fn build_bash_call(command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_use_id": command, "tool_input": {"command": command}})
}

#[test]
fn a_session_of_a_host_is_kept_as_that_of_a_guest() {
    for mode in [RecordingMode::Alone, RecordingMode::WithDaemon] {
        let watched = HookSandbox::with_sandbox(mode, create_project());
        let sandbox = &watched.sandbox;
        let mut done = build_bash_call("make");
        done["tool_response"] = json!({"stdout": "ok"});
        let story = [
            ("SessionStart", json!({"source": "startup"}), 0, "idle"),
            ("UserPromptSubmit", json!({"prompt": "Go."}), 0, "processing"),
            ("PreToolUse", build_bash_call("make"), 0, "processing Bash"),
            ("PostToolUse", done, 0, "processing"),
            ("PreToolUse", build_bash_call("make deploy"), 2, "processing"),
            ("PreToolUse", build_bash_call("rm -rf /"), 2, "processing"),
            ("Stop", json!({"last_assistant_message": "All done."}), 0, "idle"),
        ];
        for (event, fields, code, state) in story {
            let ran = run_event(sandbox, event, fields);
            assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{mode:?} {event}: {ran:?}");
            assert_eq!(ran.json()["event"], event, "{mode:?}");
            assert_eq!(watched.list_agent_states(), [state], "{mode:?} {event}");
        }
        let events = "SELECT name || coalesce(' ' || decision || ': ' || reason, '') AS said FROM events ORDER BY id";
        let events = extract_first_column(&watched.query_rows(events));
        assert_eq!(events.len(), 7, "{mode:?}: {events:?}");
        assert_eq!(events[4], "PreToolUse block: not today", "{mode:?}");
        assert!(events[5].starts_with("PreToolUse block: rm would"), "{mode:?}: {events:?}");
        let guard =
            extract_first_column(&watched.query_rows("SELECT decision || ' ' || rule AS said FROM guard_verdicts"));
        assert_eq!(guard, ["deny files.delete-root"], "{mode:?}");
        let agents =
            extract_first_column(&watched.query_rows("SELECT product || ' ' || project_id AS agent FROM agents"));
        assert_eq!(agents, ["lantern 1"], "{mode:?}");
        let project = extract_first_column(&watched.query_rows("SELECT path FROM projects"));
        assert_eq!(project, [sandbox.project().to_str().unwrap()], "{mode:?}");
        // The one that nobody waited for has ended by itself.
        let runs = "SELECT contract || ' ' || status AS run FROM hook_runs ORDER BY hook_run_id";
        let expected = ["snell ok", "microai ok", "snell blocked", "snell ok"];
        wait_until(|| (extract_first_column(&watched.query_rows(runs)) == expected).then_some(()));
    }
}

/// The hook may end before its event is stored, and then nothing is known yet of its session, or at all.
#[test]
fn how_a_hook_ended_that_nobody_waited_for_is_known_of_the_first_event_too() {
    let watched: Vec<_> = (0..12).map(|_| HookSandbox::with_sandbox(RecordingMode::Alone, create_project())).collect();
    for watched in &watched {
        let mut done = build_bash_call("make");
        done["tool_response"] = json!({});
        assert_eq!(run_event(&watched.sandbox, "PostToolUse", done).code, 0);
    }
    for watched in &watched {
        let ended = || extract_first_column(&watched.query_rows("SELECT status FROM hook_runs")) == ["ok"];
        wait_until(|| ended().then_some(()));
    }
}

#[test]
fn only_who_asks_for_it_is_recorded() {
    let sandbox = create_project().env("SNELL_SCRIBE", "off");
    assert_eq!(run_event_with(&sandbox, "PreToolUse", &["--guard"], build_bash_call("make")).code, 0);
    assert!(!sandbox.database().exists());
    // Nor is one whose user wants no records.
    let sandbox = create_project()
        .env("SNELL_SCRIBE", "off")
        .home_file(".config/snell/snell.toml", "[handlers]\ntrack = false\n");
    let ran = run_event(&sandbox, "PreToolUse", build_bash_call("make deploy"));
    assert_eq!((ran.code, ran.stderr.as_str()), (2, ""), "{ran:?}");
    assert!(!sandbox.database().exists());
}

#[test]
fn an_event_of_nobody_is_refused_before_anything_is_run() {
    let sandbox = CliSandbox::with_frozen_clock().file("snell.toml", "[[hook]]\nevent = 'Stop'\nrun = 'touch ran'\n");
    for payload in ["", "{}", r#"{"session_id": ""}"#, r#"{"session_id": " "}"#] {
        let ran = sandbox.run_snell(&["run", "Stop", "--record"], payload);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{payload}: {ran:?}");
        assert!(
            ran.stderr.starts_with("error: --record needs an event with \"session_id\"")
                && ran.stderr.contains("session_id"),
            "{payload}: {ran:?}"
        );
    }
    assert!(!sandbox.exists("ran") && !sandbox.database().exists());
}

#[test]
fn what_cannot_be_recorded_is_answered_all_the_same() {
    let sandbox = create_project().env("SNELL_SCRIBE", "off");
    fs::remove_dir(sandbox.data()).unwrap();
    fs::write(sandbox.data(), "in the way").unwrap();
    for (command, code, decision) in [("make", 0, "allow"), ("make deploy", 2, "block"), ("rm -rf /", 2, "block")] {
        let ran = run_event(&sandbox, "PreToolUse", build_bash_call(command));
        assert_eq!((ran.code, ran.decision().as_str()), (code, decision), "{ran:?}");
        assert!(ran.stderr.starts_with("warning: ") && ran.stderr.lines().count() == 1, "{command}: {ran:?}");
    }
}

#[test]
fn a_host_that_loses_its_patience_loses_no_event() {
    for signal in [Signal::TERM, Signal::KILL] {
        let hook = format!("[[hook]]\nevent = 'PreToolUse'\nrun = '{SLOW}'\n");
        let watched = HookSandbox::with_sandbox(RecordingMode::Alone, CliSandbox::new().file("snell.toml", &hook));
        let mut command = watched.sandbox.command(&["run", "PreToolUse", "--record"]);
        let mut payload = build_bash_call("make");
        payload["session_id"] = "s1".into();
        let run = spawn_with_stdin(&mut command, payload.to_string());
        watched.sandbox.wait_for_content("begun");
        send_signal(run.id(), signal);
        run.wait_with_output().unwrap();
        fs::write(watched.sandbox.project().join("go"), "").unwrap();
        if signal == Signal::KILL {
            watched.sandbox.wait_for_content("ended");
        }
        run_event(&watched.sandbox, "Stop", json!({}));
        let events = extract_first_column(&watched.query_rows("SELECT name FROM events ORDER BY id"));
        assert_eq!(events, ["PreToolUse", "Stop"], "{signal:?}");
    }
}

#[test]
fn who_was_started_by_claude_code_is_not_taken_for_it() {
    let claude = LiveProcess::new();
    let sandbox = create_project().env("CLAUDE_PID", &claude.pid().to_string());
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, sandbox);
    for event in ["SessionStart", "Stop"] {
        run_event(&watched.sandbox, event, json!({}));
    }
    let own = watched.query_rows("SELECT pid FROM agents");
    assert_eq!(own, [json!({"pid": std::process::id()})]);
}
