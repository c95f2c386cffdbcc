//! What no hook tells: an interruption, an error, a crash.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::LiveProcess;
use snell_test_support::wait::wait_until;

use super::{HookSandbox, RecordingMode};

fn append_json_line(path: &std::path::Path, line: &Value) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

fn start_working_agent(watched: &HookSandbox, pid: &str) -> std::path::PathBuf {
    let transcript = watched.sandbox.project().join("s1.jsonl");
    append_json_line(&transcript, &json!({"type": "summary", "summary": "Work"}));
    let steps = [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Work."})),
        ("PreToolUse", json!({"tool_name": "Bash", "tool_use_id": "toolu_01", "tool_input": {"command": "make"}})),
    ];
    for (event, fields) in steps {
        let mut payload = watched.build_payload("s1", event, fields);
        payload["transcript_path"] = transcript.to_str().unwrap().into();
        watched.run_hook_with_env(&[("CLAUDE_PID", pid)], &payload).assert_silent();
    }
    assert_eq!(watched.list_agent_states(), ["processing Bash"]);
    transcript
}

#[test]
fn nobody_seems_to_work_for_long_whose_turn_has_ended() {
    let said = |fields: Value| {
        merge_fields(json!({"sessionId": "s1", "timestamp": "2026-01-05T10:00:00Z", "isSidechain": false}), &fields)
    };
    let interrupted = said(json!({
        "type": "user",
        "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user for tool use]"}]},
    }));
    let failed = said(json!({
        "type": "assistant", "isApiErrorMessage": true,
        "message": {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: 500"}]},
    }));
    let cases = [
        (Some(interrupted), "idle", "transcript", "the user interrupted it"),
        (Some(failed), "idle", "transcript", "API Error: 500"),
        (None, "ended", "process", "exited without a SessionEnd event"),
    ];
    // All at once, because the scribe looks after them only every few seconds.
    std::thread::scope(|scope| {
        for (line, state, source, why) in cases {
            scope.spawn(move || {
                let watched = HookSandbox::new(RecordingMode::WithDaemon);
                let agent = LiveProcess::new();
                let transcript = start_working_agent(&watched, &agent.pid().to_string());
                let _agent = match &line {
                    Some(line) => {
                        append_json_line(&transcript, line);
                        Some(agent)
                    }
                    None => {
                        drop(agent);
                        None
                    }
                };
                watched.wait_for_daemon();
                wait_until(|| (watched.list_agent_states() == [state]).then_some(()));
                let agent = &watched.query_rows("SELECT state_source, confidence, why FROM agents")[0];
                assert_eq!((&agent["state_source"], &agent["confidence"]), (&json!(source), &json!("medium")));
                assert!(agent["why"].as_str().unwrap().contains(why), "{agent}");
            });
        }
    });
}

#[test]
fn words_that_are_written_after_the_turn_has_ended_are_filled_in() {
    let watched = HookSandbox::new(RecordingMode::WithDaemon);
    let agent = LiveProcess::new();
    let transcript = start_working_agent(&watched, &agent.pid().to_string());
    watched.wait_for_daemon();
    let mut stop = watched.build_payload("s1", "Stop", json!({"stop_hook_active": false}));
    stop["transcript_path"] = transcript.to_str().unwrap().into();
    watched.run_hook_with_env(&[("CLAUDE_PID", &agent.pid().to_string())], &stop).assert_silent();
    assert_eq!(watched.list_agent_states(), ["idle"]);
    append_json_line(
        &transcript,
        &json!({
            "type": "assistant", "sessionId": "s1", "timestamp": "2026-01-05T10:00:00Z", "isSidechain": false,
            "message": {"role": "assistant", "model": "claude-opus-4-5", "content": [{"type": "text", "text": "Shall I push?"}]},
        }),
    );
    wait_until(|| (watched.list_agent_states() == ["awaiting_input"]).then_some(()));
    let turn = &watched.query_rows("SELECT actor, intent, text, timestamp_source FROM turns WHERE actor = 'AGENT'")[0];
    assert_eq!(
        *turn,
        json!({"actor": "AGENT", "intent": "question", "text": "Shall I push?", "timestamp_source": "jsonl"})
    );
}
