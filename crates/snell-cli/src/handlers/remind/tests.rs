use serde_json::json;
use snell::{Engine, Event, SnellSettings, Timestamp, WorkProfile};
use snell_store::EventSender;

use super::*;
use crate::handlers::ContextTrust;

const START: &str = "2026-03-01T10:00:00Z";

fn remind_with(
    event: &str,
    mode: Option<&str>,
    fields: serde_json::Value,
    snapshot: Option<SessionSnapshot>,
    minutes: i64,
) -> AgentReminder {
    let (event, _) = Event::from_json(Some(event), fields.to_string().as_bytes()).unwrap();
    let sender = EventSender { mode: mode.map(str::to_owned), ..EventSender::default() };
    let start: Timestamp = START.parse().unwrap();
    let occasion = HandlerContext {
        decode_problem: None,
        event: &event,
        sender: &sender,
        project: std::path::Path::new("/"),
        launcher_project_path: None,
        settings: &profile_settings(),
        context_trust: ContextTrust::Sufficient,
        session_file: None,
        now: start + SignedDuration::from_mins(minutes),
    };
    build_reminder(&occasion, snapshot.as_ref())
}

/// The settings of a session with the profile.
fn profile_settings() -> SnellSettings {
    let builder = Engine::builder().project("/").files([]).launcher_profile(WorkProfile::ClaudeOs);
    builder.load().0.settings()
}

fn sample_snapshot(percent: f64) -> SessionSnapshot {
    SessionSnapshot {
        started_at: Some(START.parse().unwrap()),
        context_percent: Some(percent),
        ..SessionSnapshot::default()
    }
}

#[test]
fn without_knowing_the_session_nothing_is_told_but_to_whom_was_woken() {
    let wake = json!({"prompt": "[CLAUDE OS SYS: NOTIFICATION]: Workers complete"});
    let prompt = json!({"prompt": "hello"});
    let cases = [
        ("UserPromptSubmit", None, &prompt, 0),
        ("Stop", Some("background"), &prompt, 0),
        ("UserPromptSubmit", Some("background"), &wake, 0),
        ("UserPromptSubmit", Some("mission"), &wake, 1),
        ("UserPromptSubmit", None, &wake, 1),
    ];
    for (event, mode, fields, expected) in cases {
        let reminder = remind_with(event, mode, fields.clone(), None, 60);
        assert_eq!(reminder.texts.len(), expected, "{event} {mode:?}");
        assert!(reminder.record.is_empty());
    }
}

#[test]
fn a_prompt_and_a_stop_have_levels_of_their_own() {
    let prompt = remind_with("UserPromptSubmit", None, json!({"prompt": "hello"}), Some(sample_snapshot(97.0)), 0);
    assert_eq!(prompt.record.prompt_level, Some(80));
    assert_eq!(prompt.record.stop_level, None);
    let known = SessionSnapshot { prompt_level: 80, ..sample_snapshot(97.0) };
    let stop = remind_with("Stop", None, json!({}), Some(known), 0);
    assert_eq!(stop.texts, ["[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL"]);
    assert_eq!(stop.record.stop_level, Some(95));
}

#[test]
fn who_goes_on_because_of_a_hook_is_not_asked_about() {
    let cases = [
        ("Stop", json!({"session_id": "s"}), true),
        ("Stop", json!({"session_id": "s", "stop_hook_active": false}), true),
        ("Stop", json!({"session_id": "s", "stop_hook_active": true}), false),
        ("SubagentStop", json!({"session_id": "s"}), false),
        ("PreToolUse", json!({"session_id": "s", "tool_name": "Bash"}), false),
        ("UserPromptSubmit", json!({"session_id": "s", "prompt": "hello"}), true),
    ];
    for (name, fields, expected) in cases {
        let (event, _) = Event::from_json(Some(name), fields.to_string().as_bytes()).unwrap();
        // Without the profile, the database is not asked.
        for (settings, expected) in [(profile_settings(), expected), (SnellSettings::default(), false)] {
            let occasion = HandlerContext {
                decode_problem: None,
                event: &event,
                sender: &EventSender::default(),
                project: std::path::Path::new("/"),
                launcher_project_path: None,
                settings: &settings,
                context_trust: ContextTrust::Sufficient,
                session_file: None,
                now: START.parse().unwrap(),
            };
            assert_eq!(build_snapshot_query(&occasion).is_some(), expected, "{name} {fields}");
        }
    }
}
