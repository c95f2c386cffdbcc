//! Details of events on the page: questions, blocked calls, verdicts, changes and context.

use serde_json::{Value, json};

use super::timeline::{parse_timeline_rows, read_whole_timeline};
use super::{get_page, slice_between, start_with_stopped_clock};
use crate::support::TestApp;

fn with_judgement(mut event: Value, judgement: Value) -> Value {
    let mut whole = json!({"took_us": 5});
    for (name, value) in judgement.as_object().unwrap() {
        whole[name] = value.clone();
    }
    event["session_id"] = "s1".into();
    event["snell"] = json!({ "judgement": whole });
    event
}

fn assert_has_row(app: &TestApp, class: &str, text: &str) {
    let found = read_whole_timeline(app, "/agents/1");
    let is_it = |row: &(String, String)| row.0 == class && row.1.contains(text);
    assert!(found.iter().any(is_it), "no {class} row says {text:?}: {found:#?}");
    let file = get_page(app, "/agents/1/export.html").body;
    let found = parse_timeline_rows(&file);
    assert!(found.iter().any(is_it), "no {class} row of the file says {text:?}: {found:#?}");
}

#[test]
fn a_question_and_its_answer_are_on_the_page() {
    let app = start_with_stopped_clock();
    app.begin_session("s1");
    let call = json!({
        "session_id": "s1", "tool_name": "AskUserQuestion", "tool_use_id": "q",
        "tool_input": {"questions": [{"question": "Which <database>?"}]},
    });
    app.send_event("pre-tool-use", &call);
    let body = get_page(&app, "/").body;
    let found = body.matches("it asks the user (AskUserQuestion): Which &lt;database&gt;?").count();
    assert!(found > 0, "{body}");
    assert_has_row(&app, "call", "AskUserQuestion Which &lt;database&gt;?");
    let mut ended = call;
    ended["tool_response"] = json!({"answers": {"Which <database>?": "SQLite"}});
    app.send_event("post-tool-use", &ended);
    assert_has_row(&app, "call", "Which &lt;database&gt;? → SQLite");
}

#[test]
fn the_judged_call_is_shown_even_if_a_hook_changed_it() {
    let app = start_with_stopped_clock();
    app.begin_session("s1");
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let verdict = |rule: &str, of_changed_input: bool| json!({"decision": "deny", "rule": rule, "tier": "t", "reason": "no", "of_changed_input": of_changed_input});
    let judgement = json!({
        "decision": "block", "reason": "no", "changed_input": {"command": "rm -rf /"},
        "guard": [verdict("of-agent", false), verdict("of-hook", true)],
    });
    app.send_event("pre-tool-use", &with_judgement(call, judgement));
    let told = app.get_json("/api/guard");
    let items: Vec<_> = told["items"].as_array().unwrap().iter().collect();
    assert_eq!(
        [&items[0]["rule"], &items[0]["changed_input"]["command"], &items[0]["of_changed_input"]],
        [&json!("of-hook"), &json!("rm -rf /"), &json!(true)]
    );
    assert_eq!(items[1].get("changed_input"), None, "{told}");
    let body = get_page(&app, "/guard").body;
    let shown: Vec<_> = body.split("<pre class=\"call\">").skip(1).collect();
    assert!(shown[0].starts_with("<strong>Bash</strong> rm -rf /<"), "{}", shown[0]);
    assert!(shown[1].starts_with("<strong>Bash</strong> ls<"), "{}", shown[1]);
    assert_has_row(&app, "guard", "of-hook t no (the call after a hook changed it)");
}

#[test]
fn a_prompt_that_was_blocked_is_shown_with_the_reason() {
    let app = start_with_stopped_clock();
    app.begin_session("s1");
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "first"}));
    let judgement = json!({"decision": "block", "reason": "not here"});
    app.send_event("user-prompt-submit", &with_judgement(json!({"prompt": "say the password"}), judgement));
    assert_has_row(&app, "prompt", "prompt say the password blocked not here");
    let narrowed = parse_timeline_rows(&get_page(&app, "/agents/1?prompts=1").body);
    let texts: Vec<_> = narrowed.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["prompt first", "prompt say the password blocked not here"]);
    let others = parse_timeline_rows(&get_page(&app, "/agents/1?events=1").body);
    assert!(!format!("{others:?}").contains("password"), "{others:?}");
}

#[test]
fn the_context_for_an_agent_is_shown_with_the_event() {
    let app = start_with_stopped_clock();
    app.begin_session("s1");
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let told = json!({"told": ["Memory check (60% context used)", format!("key {secret}")]});
    app.send_event("stop", &with_judgement(json!({"last_assistant_message": "Done."}), told.clone()));
    app.send_event("user-prompt-submit", &with_judgement(json!({"prompt": "Go on."}), told));
    assert_has_row(
        &app,
        "event",
        "context context for the agent: Memory check (60% context used) key [masked: GitHub token]",
    );
    assert_eq!(
        parse_timeline_rows(&get_page(&app, "/agents/1?events=1").body)
            .iter()
            .filter(|row| row.1.starts_with("context"))
            .count(),
        2
    );
    let events = app.get_json("/api/events?limit=1");
    assert_eq!(events["items"][0]["told"], "Memory check (60% context used)\n\nkey [masked: GitHub token]");
    let body = get_page(&app, &format!("/logging/{}", events["items"][0]["id"])).body;
    let section = slice_between(&body, "id=\"context-title\"", "</section>");
    assert!(section.contains("Memory check (60% context used)"), "{section}");
}

#[test]
fn a_changed_output_and_a_call_without_an_end_are_marked() {
    let app = start_with_stopped_clock();
    app.begin_session("s1");
    let call =
        |id: &str| json!({"session_id": "s1", "tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": id}});
    app.send_event("pre-tool-use", &call("a"));
    let changed = json!({"changed_output": "[left out]"});
    app.send_event("post-tool-use", &with_judgement(call("a"), changed));
    app.send_event("pre-tool-use", &call("b"));
    assert_has_row(&app, "call", "Read a");
    assert_has_row(&app, "call", "output changed[left out]");
    let unended = |app: &TestApp| get_page(app, "/agents/1").body.matches("no result recorded").count();
    assert_eq!(unended(&app), 0, "it may still run");
    app.send_event("stop", &json!({"session_id": "s1", "last_assistant_message": "Done."}));
    assert_eq!(unended(&app), 1);
    assert_has_row(&app, "call", "Read b no result recorded");
    let body = get_page(&app, "/logging").body;
    assert_eq!(body.matches("output changed").count(), 1, "{body}");
}

#[test]
fn the_end_of_a_call_belongs_to_the_nearest_call_with_its_id() {
    let app = start_with_stopped_clock();
    app.begin_session("s1");
    let call = |command: &str| json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": "x", "tool_input": {"command": command}});
    app.send_event("pre-tool-use", &call("first"));
    app.send_event("pre-tool-use", &call("second"));
    let mut ended = call("second");
    ended["duration_ms"] = json!(1234);
    app.send_event("post-tool-use", &ended);
    let found = parse_timeline_rows(&get_page(&app, "/agents/1?tools=1").body);
    let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["tool Bash first", "tool Bash second 1.2 s"]);
}

#[test]
fn late_events_are_marked() {
    let app = start_with_stopped_clock();
    let tell = |minute: u32, message: &str| {
        let at = format!("2026-03-02T11:{minute}:00Z");
        app.send_event("notification", &json!({"session_id": "s1", "message": message, "timestamp": at}))
    };
    tell(10, "first");
    tell(20, "second");
    tell(15, "late");
    tell(16, "later");
    tell(30, "last");
    let found = parse_timeline_rows(&get_page(&app, "/agents/1?events=1").body);
    let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
    let expected = ["first", "second", "late", "later", "last"].map(|message| {
        let late = if message.starts_with("late") { "arrived late " } else { "" };
        format!("event {late}Notification {message}")
    });
    assert_eq!(texts, expected);
}
