//! Facts about an agent that no event reports: observed states, and an unknown project.

use serde_json::{Value, json};
use snell_store::{ReconcileScope, Store};
use snell_test_support::process::spawn_dead_pid;

use super::timeline::parse_timeline_rows;
use super::{get_page, start_with_stopped_clock};
use crate::support::TestApp;

fn list_state_changes(app: &TestApp, query: &str) -> Vec<String> {
    let rows = parse_timeline_rows(&get_page(app, &format!("/agents/1{query}")).body);
    let changes = rows.into_iter().filter(|(class, _)| class == "change");
    changes.map(|(_, text)| text).collect()
}

fn run_reconciler(app: &TestApp) {
    let mut store = Store::open(&app.database_path()).unwrap().store;
    store.reconcile_agents(ReconcileScope::All, "2026-03-02T12:30:00Z".parse().unwrap()).unwrap();
}

#[test]
fn an_agent_whose_process_is_gone_ends_on_its_timeline() {
    let app = start_with_stopped_clock();
    let pid = spawn_dead_pid();
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "Go.", "pid": pid}));
    run_reconciler(&app);
    let expected = [
        "state ▶ working".to_owned(),
        format!(
            "state ▶ working → ■ ended its process ({pid}) exited without a SessionEnd event (likely, from its process)"
        ),
    ];
    for query in ["", "?states=1"] {
        assert_eq!(list_state_changes(&app, query), expected, "{query}");
    }
    let body = get_page(&app, "/agents/1?states=1").body;
    assert!(body.contains("id=\"n1\""), "{body}");
    let file = app.request("GET", "/agents/1/export.html").without_chunking().send().body;
    assert!(file.contains("exited without a SessionEnd event"), "{file}");
    // An agent that continues does so from that state.
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "Again."}));
    assert_eq!(list_state_changes(&app, "?states=1")[2], "state ■ ended → ▶ working");
}

#[test]
fn an_interruption_in_the_transcript_is_on_the_timeline() {
    let app = start_with_stopped_clock();
    let path = app.data_dir().join("s1.jsonl");
    let line = |text: &str, second: u32| {
        json!({"type": "user", "sessionId": "s1", "uuid": format!("u{second}"),
            "timestamp": format!("2026-03-02T12:00:{second:02}Z"),
            "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
    };
    let write = |lines: &[Value]| {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, text).unwrap();
    };
    write(&[line("Go.", 0)]);
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "Go.", "transcript_path": path}));
    write(&[line("Go.", 0), line("[Request interrupted by user]", 9)]);
    run_reconciler(&app);
    assert_eq!(
        list_state_changes(&app, "?states=1"),
        ["state ▶ working", "state ▶ working → ○ idle the user interrupted it (likely, from its transcript)"]
    );
}

#[test]
fn an_interruption_that_is_seen_with_an_event_appears_once() {
    let app = start_with_stopped_clock();
    let path = app.data_dir().join("s1.jsonl");
    let line = |text: &str, second: u32| {
        json!({"type": "user", "sessionId": "s1", "uuid": format!("u{second}"),
            "timestamp": format!("2026-03-02T12:00:{second:02}Z"),
            "message": {"role": "user", "content": [{"type": "text", "text": text}]}})
    };
    std::fs::write(&path, format!("{}\n", line("Go.", 0))).unwrap();
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "Go.", "transcript_path": path}));
    let both = format!("{}\n{}\n", line("Go.", 0), line("[Request interrupted by user]", 9));
    std::fs::write(&path, both).unwrap();
    app.send_event(
        "notification",
        &json!({"session_id": "s1", "notification_type": "auth_success", "transcript_path": path}),
    );
    assert_eq!(
        list_state_changes(&app, "")[1..],
        ["state ▶ working → ○ idle the user interrupted it (likely, from its transcript)"]
    );
}

#[test]
fn an_agent_without_hook_events_has_a_timeline_of_several_pages() {
    let app = start_with_stopped_clock();
    app.begin_session("s1");
    // As if its transcript had been read for a long time.
    let fill = "DELETE FROM events; DELETE FROM sightings; \
        INSERT INTO commands (command_id, agent_id, opened_at) VALUES (99, 1, 0); \
        WITH RECURSIVE up (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM up WHERE value < 249) \
        INSERT INTO sightings (agent_id, after_event, at, previous_state, state, source, confidence, why) \
          SELECT 1, 0, value * 1000000, 'idle', 'processing', 'transcript', 'low', 'seen ' || value FROM up; \
        WITH RECURSIVE up (value) AS (SELECT 0 UNION ALL SELECT value + 1 FROM up WHERE value < 249) \
        INSERT INTO turns (agent_id, command_id, actor, intent, text, timestamp, timestamp_source, content_hash) \
          SELECT 1, 99, 'AGENT', 'progress', 'said ' || value, value * 1000000 + 500000, 'jsonl', value FROM up";
    rusqlite::Connection::open(app.database_path()).unwrap().execute_batch(fill).unwrap();
    for (query, expected) in [("", 500), ("?states=1", 250), ("?words=1", 250)] {
        let found = super::timeline::read_whole_timeline(&app, &format!("/agents/1{query}"));
        let told: Vec<_> = found
            .iter()
            .map(|(_, text)| {
                let words: Vec<_> = text.split(' ').collect();
                let place = words.iter().position(|word| ["seen", "said"].contains(word)).unwrap();
                let half = if words[place] == "said" { 0.5 } else { 0.0 };
                words[place + 1].parse::<f64>().unwrap() + half
            })
            .collect();
        assert_eq!(told.len(), expected, "{query}: without loss or repetition");
        assert!(told.is_sorted(), "{query}: in their order: {told:?}");
    }
    let file = app.request("GET", "/agents/1/export.html").without_chunking().send().body;
    assert_eq!(file.matches("class=\"change\"").count(), 250);
}

#[test]
fn an_agent_whose_first_event_is_a_blocked_call_is_working() {
    let app = start_with_stopped_clock();
    let blocked = json!({"session_id": "s1", "tool_name": "Bash", "tool_input": {"command": "rm -rf /"},
        "snell": {"judgement": {"took_us": 1, "decision": "block", "reason": "no"}}});
    let told = app.send_event("pre-tool-use", &blocked);
    assert_eq!(told["state"], "processing");
    let agent = app.get_json("/api/agents/1");
    assert_eq!(agent["why"], "its call to Bash was blocked");
    assert_eq!(agent["current_tool"], Value::Null);
    assert_eq!(list_state_changes(&app, ""), ["state ▶ working"]);
    // A known project stays.
    app.send_event("stop", &json!({"session_id": "s1"}));
    assert_eq!(app.send_event("pre-tool-use", &blocked)["state"], "idle");
    // A blocked prompt never reached its agent.
    let mut prompt = blocked;
    prompt["session_id"] = json!("s2");
    prompt["prompt"] = json!("Go.");
    assert_eq!(app.send_event("user-prompt-submit", &prompt)["state"], "idle");
}

#[test]
fn an_agent_without_a_directory_has_an_unknown_project() {
    let app = start_with_stopped_clock();
    for (session, cwd) in [
        ("s1", json!("some/where")),
        ("s2", json!("")),
        ("s3", json!("~")),
        ("s4", Value::Null),
        ("s5", json!("C:\\work")),
    ] {
        app.send_event("session-start", &json!({"session_id": session, "cwd": cwd}));
    }
    let agents = app.get_json("/api/agents");
    let agents = agents["items"].as_array().unwrap();
    assert_eq!(agents.len(), 5, "who does not say where it is shares no directory");
    for agent in agents {
        assert_eq!((&agent["project"], &agent["project_path"]), (&json!("unknown project"), &json!("")), "{agent}");
    }
    assert!(get_page(&app, "/").body.contains("<bdi>unknown project</bdi>"));
    // An event with a directory sets the project.
    let project = app.data_dir().join("till");
    app.send_event("user-prompt-submit", &json!({"session_id": "s2", "prompt": "Go.", "cwd": project}));
    let agent = app.get_json("/api/agents/2");
    assert_eq!((&agent["project"], &agent["project_path"]), (&json!("till"), &json!(project)));
}
