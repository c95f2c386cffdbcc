//! A filtered timeline: old matches are found, and an empty result has a message.

use serde_json::json;

use super::timeline::parse_timeline_rows;
use super::{get_page, slice_between};
use crate::support::TestApp;

/// An agent with a prompt, a call and a hook run, followed by many notifications.
fn create_old_agent(notifications: i64) -> TestApp {
    let app = TestApp::start();
    app.begin_session("s1");
    let run = json!({"contract": "snell", "source": "snell.toml", "line": 4, "command": "check", "status": "ok",
        "duration_us": 1500});
    app.send_event(
        "pre-tool-use",
        &json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": "t1", "tool_input": {"command": "make"},
            "snell": {"judgement": {"took_us": 1, "runs": [run]}}}),
    );
    // Written to the database, because sending so many would take too long.
    let database = rusqlite::Connection::open(app.database_path()).unwrap();
    let fill = format!(
        "WITH RECURSIVE up (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM up WHERE value < {notifications}) \
         INSERT INTO events (event_id, agent_id, conversation_id, name, state, correlation, at) \
         SELECT 'n' || value, 1, 1, 'Notification', 'processing', 'session_id', \
           (SELECT max(at) FROM events) + value FROM up"
    );
    database.execute_batch(&fill).unwrap();
    app
}

fn list_row_texts(body: &str) -> Vec<String> {
    parse_timeline_rows(body).into_iter().map(|(_, text)| text).collect()
}

#[test]
fn matches_before_the_first_page_are_found() {
    let app = create_old_agent(3000);
    for (kind, expected) in [("tools", "tool Bash make"), ("hooks", "hook ok check 1.5 ms snell.toml:4 (snell)")] {
        assert_eq!(list_row_texts(&get_page(&app, &format!("/agents/1?{kind}=1")).body), [expected]);
    }
    let states = list_row_texts(&get_page(&app, "/agents/1?states=1").body);
    assert_eq!(states, ["state ○ idle", "state ○ idle → ▶ working"]);
}

#[test]
fn a_limited_search_shows_its_range_and_continues() {
    let app = create_old_agent(25_000);
    let mut path = "/agents/1?tools=1&prompts=1".to_owned();
    for said in ["No matching events among the newest 10 000.", "No matching events among the previous 10 000."] {
        let body = get_page(&app, &path).body;
        let none = slice_between(&body, "<li class=\"quiet\" id=\"timeline-none\"", "</li>");
        assert!(none.contains(said), "{said} in {none}");
        assert!(none.contains(">Search older events</a>"), "{none}");
        path = slice_between(none, "href=\"", "\">").trim_start_matches("href=\"").replace("&amp;", "&");
    }
    let body = get_page(&app, &path).body;
    assert_eq!(list_row_texts(&body), ["tool Bash make"]);
    assert!(slice_between(&body, "<a id=\"older\"", "</a>").contains(" hidden"), "{body}");
}

#[test]
fn an_empty_result_has_a_message() {
    let app = create_old_agent(5);
    let body = get_page(&app, "/agents/1?guard=1").body;
    assert!(body.contains("No matching events."), "{body}");
    let body = get_page(&app, "/agents/1?tools=1&before=e1t1").body;
    assert!(body.contains("No older matching events."), "{body}");
}

#[test]
fn a_form_without_kinds_shows_nothing_and_the_reason() {
    let app = create_old_agent(5);
    let everything = get_page(&app, "/agents/1").body;
    let form = slice_between(&everything, "<form class=\"filter\" method=\"get\"", "</form>");
    assert_eq!(form.matches(" checked").count(), 7, "{form}");
    assert!(form.contains("type=\"hidden\" name=\"only\" value=\"1\""), "{form}");
    let nothing = get_page(&app, "/agents/1?only=1").body;
    let form = slice_between(&nothing, "<form class=\"filter\" method=\"get\"", "</form>");
    assert_eq!(form.matches(" checked").count(), 0, "{form}");
    assert!(nothing.contains("No kinds are selected. <a href=\"/agents/1\">Show all kinds</a>"), "{nothing}");
    // The fragment is empty, too.
    assert!(nothing.contains("data-src=\"/fragments/agents/1/timeline?only=1\""), "{nothing}");
    assert_eq!(list_row_texts(&get_page(&app, "/agents/1?only=1&tools=1").body), ["tool Bash make"]);
}
