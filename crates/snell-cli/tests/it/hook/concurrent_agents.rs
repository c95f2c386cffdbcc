//! Many agents at once.

use std::fs;

use serde_json::json;
use snell_test_support::process::run_with_stdin;

use super::{HookSandbox, RecordingMode};

const SESSIONS: usize = 8;

/// The last event of each session, and what it leaves its agent in.
const ENDS: [(&str, &str, &str); 4] = [
    ("Stop", r#"{"last_assistant_message": "Done."}"#, "idle"),
    ("PreToolUse", r#"{"tool_name": "Grep", "tool_use_id": "last"}"#, "processing Grep"),
    ("PermissionRequest", r#"{"tool_name": "Write"}"#, "awaiting_input Write"),
    ("SessionEnd", r#"{"reason": "other"}"#, "ended"),
];

/// So many processes with so many events each, of eight new sessions in eight projects.
fn run_many_agents(mode: RecordingMode, processes: usize, events: usize) {
    let watched = HookSandbox::new(mode);
    let project = |session: usize| watched.sandbox.project().join(format!("p{session}"));
    for session in 0..SESSIONS {
        fs::create_dir_all(project(session).join(".git")).unwrap();
    }
    let call = |session: usize, event: &str, fields: &str| {
        let mut payload =
            watched.build_payload(&format!("session-{session}"), event, serde_json::from_str(fields).unwrap());
        payload["cwd"] = project(session).to_str().unwrap().into();
        let ran = run_with_stdin(&mut watched.hook_command(), payload.to_string());
        ran.assert_silent();
    };
    std::thread::scope(|scope| {
        for process in 0..processes {
            let call = &call;
            scope.spawn(move || {
                let (session, is_last) = (process % SESSIONS, process < SESSIONS);
                for number in 0..events - usize::from(is_last) {
                    let event = ["PreToolUse", "PostToolUse"][number % 2];
                    let tool = json!({
                        "tool_name": "Bash",
                        "tool_input": {"command": "make"},
                        "tool_use_id": format!("{process}-{}", number / 2),
                    });
                    call(session, event, &tool.to_string());
                }
            });
        }
    });
    for session in 0..SESSIONS {
        let (event, fields, _) = ENDS[session % ENDS.len()];
        call(session, event, fields);
    }
    assert_eq!(
        (watched.count_rows("agents"), watched.count_rows("projects"), watched.count_rows("sessions")),
        (8, 8, 8)
    );
    assert_eq!(usize::try_from(watched.count_rows("events")).unwrap(), processes * events);
    assert_eq!(watched.count_rows("payloads"), watched.count_rows("events"));
    let each = watched.query_rows(
        "SELECT agent_id, count(*) AS events, sum(correlation = 'created') AS created FROM events GROUP BY 1",
    );
    for agent in each {
        assert_eq!(
            (agent["events"].as_u64(), agent["created"].as_i64()),
            (Some((processes / SESSIONS * events) as u64), Some(1)),
            "{agent}"
        );
    }
    let sql = "SELECT session_id, state || coalesce(' ' || current_tool, '') AS state FROM agents";
    for agent in watched.query_rows(sql) {
        let number: usize = agent["session_id"].as_str().unwrap().strip_prefix("session-").unwrap().parse().unwrap();
        let (_, _, state) = ENDS[number % ENDS.len()];
        assert_eq!(agent["state"], state, "{agent}");
    }
    assert_eq!((watched.count_pending(), watched.query_value("PRAGMA integrity_check")), (0, json!("ok")));
}

#[test]
fn thirty_two_processes_with_two_hundred_events_each_lose_and_disturb_nothing() {
    run_many_agents(RecordingMode::Hurried, 32, 200);
}

#[test]
fn eight_processes_without_a_scribe_lose_and_disturb_nothing() {
    run_many_agents(RecordingMode::Alone, 8, 100);
}
