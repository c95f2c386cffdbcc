use serde_json::json;
use snell::{Event, Settings, Timestamp};
use snell_store::Sender;

use super::*;

const START: &str = "2026-03-01T10:00:00Z";

fn told(event: &str, mode: Option<&str>, fields: serde_json::Value, facts: Option<Facts>, minutes: i64) -> Reminder {
    let (event, _) = Event::from_json(Some(event), fields.to_string().as_bytes()).unwrap();
    let sender = Sender {
        mode: mode.map(str::to_owned),
        ..Sender::default()
    };
    let start: Timestamp = START.parse().unwrap();
    let occasion = Occasion {
        unread: None,
        event: &event,
        sender: &sender,
        project: std::path::Path::new("/"),
        settings: &Settings::default(),
        now: start + SignedDuration::from_mins(minutes),
    };
    reminder(&occasion, facts.as_ref())
}

fn facts(percent: f64) -> Facts {
    Facts {
        started_at: Some(START.parse().unwrap()),
        context_percent: Some(percent),
        ..Facts::default()
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
        let reminder = told(event, mode, fields.clone(), None, 60);
        assert_eq!(reminder.texts.len(), expected, "{event} {mode:?}");
        assert!(reminder.reminded.is_nothing());
    }
}

#[test]
fn a_prompt_and_a_stop_have_levels_of_their_own() {
    let prompt = told(
        "UserPromptSubmit",
        None,
        json!({"prompt": "hello"}),
        Some(facts(97.0)),
        0,
    );
    assert_eq!(prompt.reminded.prompt_level, Some(80));
    assert_eq!(prompt.reminded.stop_level, None);
    let known = Facts {
        prompt_level: 80,
        ..facts(97.0)
    };
    let stop = told("Stop", None, json!({}), Some(known), 0);
    assert_eq!(stop.texts, ["[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL"]);
    assert_eq!(stop.reminded.stop_level, Some(95));
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
        let occasion = Occasion {
            unread: None,
            event: &event,
            sender: &Sender::default(),
            project: std::path::Path::new("/"),
            settings: &Settings::default(),
            now: START.parse().unwrap(),
        };
        assert_eq!(inquiry(&occasion).is_some(), expected, "{name} {fields}");
    }
}
