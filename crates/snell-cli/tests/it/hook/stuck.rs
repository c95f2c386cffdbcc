//! What no hook tells: an interruption, an error, a crash.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use super::{Living, Mode, Watched};
use crate::support::wait_until;

fn append(path: &std::path::Path, line: &Value) {
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    writeln!(file, "{line}").unwrap();
}

fn working(watched: &Watched, pid: &str) -> std::path::PathBuf {
    let transcript = watched.sandbox.project().join("s1.jsonl");
    append(&transcript, &json!({"type": "summary", "summary": "Work"}));
    let steps = [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "Work."})),
        (
            "PreToolUse",
            json!({"tool_name": "Bash", "tool_use_id": "toolu_01", "tool_input": {"command": "make"}}),
        ),
    ];
    for (event, fields) in steps {
        let mut payload = watched.payload("s1", event, fields);
        payload["transcript_path"] = transcript.to_str().unwrap().into();
        watched.hook_from(&[("CLAUDE_PID", pid)], &payload).is_silent();
    }
    assert_eq!(watched.states(), ["processing Bash"]);
    transcript
}

#[test]
fn nobody_seems_to_work_for_long_whose_turn_has_ended() {
    let said = |fields: Value| {
        let mut line = json!({"sessionId": "s1", "timestamp": "2026-01-05T10:00:00Z", "isSidechain": false});
        line.as_object_mut().unwrap().extend(super::object(fields));
        line
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
        (None, "ended", "process", "is gone"),
    ];
    // All at once, because the scribe looks after them only every few seconds.
    std::thread::scope(|scope| {
        for (line, state, source, why) in cases {
            scope.spawn(move || {
                let watched = Watched::new(Mode::WithScribe);
                let agent = Living::new();
                let transcript = working(&watched, &agent.pid());
                let _agent = match &line {
                    Some(line) => {
                        append(&transcript, line);
                        Some(agent)
                    }
                    None => {
                        drop(agent);
                        None
                    }
                };
                watched.wait_for_scribe();
                wait_until(|| (watched.states() == [state]).then_some(()));
                let agent = &watched.rows("SELECT state_source, confidence, why FROM agents")[0];
                assert_eq!(
                    (&agent["state_source"], &agent["confidence"]),
                    (&json!(source), &json!("medium"))
                );
                assert!(agent["why"].as_str().unwrap().contains(why), "{agent}");
            });
        }
    });
}

#[test]
fn words_that_are_written_after_the_turn_has_ended_are_filled_in() {
    let watched = Watched::new(Mode::WithScribe);
    let agent = Living::new();
    let transcript = working(&watched, &agent.pid());
    watched.wait_for_scribe();
    let mut stop = watched.payload("s1", "Stop", json!({"stop_hook_active": false}));
    stop["transcript_path"] = transcript.to_str().unwrap().into();
    watched.hook_from(&[("CLAUDE_PID", &agent.pid())], &stop).is_silent();
    assert_eq!(watched.states(), ["idle"]);
    append(
        &transcript,
        &json!({
            "type": "assistant", "sessionId": "s1", "timestamp": "2026-01-05T10:00:00Z", "isSidechain": false,
            "message": {"role": "assistant", "model": "claude-opus-4-5", "content": [{"type": "text", "text": "Shall I push?"}]},
        }),
    );
    wait_until(|| (watched.states() == ["awaiting_input"]).then_some(()));
    let turn = &watched.rows("SELECT actor, intent, text, timestamp_source FROM turns WHERE actor = 'AGENT'")[0];
    assert_eq!(
        *turn,
        json!({"actor": "AGENT", "intent": "question", "text": "Shall I push?", "timestamp_source": "jsonl"})
    );
}
