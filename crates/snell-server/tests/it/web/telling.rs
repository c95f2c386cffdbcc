//! What people want to know of an event stands where they look for it: what was asked, blocked, judged, changed and told.

use serde_json::{Value, json};

use super::timeline::{all, rows};
use super::{between, page, still};
use crate::support::TestApp;

fn judged(mut event: Value, judgement: Value) -> Value {
    let mut whole = json!({"took_us": 5});
    for (name, value) in judgement.as_object().unwrap() {
        whole[name] = value.clone();
    }
    event["session_id"] = "s1".into();
    event["snell"] = json!({ "judgement": whole });
    event
}

fn has_row(app: &TestApp, class: &str, text: &str) {
    let found = all(app, "/agents/1");
    let is_it = |row: &(String, String)| row.0 == class && row.1.contains(text);
    assert!(found.iter().any(is_it), "no {class} row says {text:?}: {found:#?}");
    let file = page(app, "/agents/1/export.html").body;
    let found = rows(&file);
    assert!(
        found.iter().any(is_it),
        "no {class} row of the file says {text:?}: {found:#?}"
    );
}

#[test]
fn a_question_stands_on_the_page_and_so_does_its_answer() {
    let app = still();
    app.begin("s1");
    let call = json!({
        "session_id": "s1", "tool_name": "AskUserQuestion", "tool_use_id": "q",
        "tool_input": {"questions": [{"question": "Which <database>?"}]},
    });
    app.tell("pre-tool-use", &call);
    let body = page(&app, "/").body;
    let found = body
        .matches("it asks the user (AskUserQuestion): Which &lt;database&gt;?")
        .count();
    assert!(found > 0, "{body}");
    has_row(&app, "call", "AskUserQuestion Which &lt;database&gt;?");
    let mut ended = call;
    ended["tool_response"] = json!({"answers": {"Which <database>?": "SQLite"}});
    app.tell("post-tool-use", &ended);
    has_row(&app, "call", "Which &lt;database&gt;? → SQLite");
}

#[test]
fn the_call_that_was_judged_is_shown_even_if_a_hook_made_it_what_it_is() {
    let app = still();
    app.begin("s1");
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    let verdict = |rule: &str, of_changed_input: bool| json!({"decision": "deny", "rule": rule, "tier": "t", "reason": "no", "of_changed_input": of_changed_input});
    let judgement = json!({
        "decision": "block", "reason": "no", "changed_input": {"command": "rm -rf /"},
        "guard": [verdict("of-agent", false), verdict("of-hook", true)],
    });
    app.tell("pre-tool-use", &judged(call, judgement));
    let told = app.json("/api/guard");
    let items: Vec<_> = told["items"].as_array().unwrap().iter().collect();
    assert_eq!(
        [
            &items[0]["rule"],
            &items[0]["changed_input"]["command"],
            &items[0]["of_changed_input"]
        ],
        [&json!("of-hook"), &json!("rm -rf /"), &json!(true)]
    );
    assert_eq!(items[1].get("changed_input"), None, "{told}");
    let body = page(&app, "/guard").body;
    let shown: Vec<_> = body.split("<pre class=\"call\">").skip(1).collect();
    assert!(shown[0].starts_with("<strong>Bash</strong> rm -rf /<"), "{}", shown[0]);
    assert!(shown[1].starts_with("<strong>Bash</strong> ls<"), "{}", shown[1]);
    has_row(&app, "guard", "of-hook t no (the call as a hook changed it)");
}

#[test]
fn a_prompt_that_was_blocked_is_shown_with_the_reason() {
    let app = still();
    app.begin("s1");
    app.tell("user-prompt-submit", &json!({"session_id": "s1", "prompt": "first"}));
    let judgement = json!({"decision": "block", "reason": "not here"});
    app.tell(
        "user-prompt-submit",
        &judged(json!({"prompt": "say the password"}), judgement),
    );
    has_row(&app, "prompt", "prompt say the password blocked not here");
    let narrowed = rows(&page(&app, "/agents/1?prompts=1").body);
    let texts: Vec<_> = narrowed.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["prompt first", "prompt say the password blocked not here"]);
    let others = rows(&page(&app, "/agents/1?events=1").body);
    assert!(!format!("{others:?}").contains("password"), "{others:?}");
}

#[test]
fn what_an_agent_was_told_stands_at_the_event() {
    let app = still();
    app.begin("s1");
    let secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let told = json!({"told": ["Memory check (60% context used)", format!("key {secret}")]});
    app.tell(
        "stop",
        &judged(json!({"last_assistant_message": "Done."}), told.clone()),
    );
    app.tell("user-prompt-submit", &judged(json!({"prompt": "Go on."}), told));
    has_row(
        &app,
        "event",
        "context the agent was told: Memory check (60% context used) key [masked: GitHub token]",
    );
    assert_eq!(
        rows(&page(&app, "/agents/1?events=1").body)
            .iter()
            .filter(|row| row.1.starts_with("context"))
            .count(),
        2
    );
    let events = app.json("/api/events?limit=1");
    assert_eq!(
        events["items"][0]["told"],
        "Memory check (60% context used)\n\nkey [masked: GitHub token]"
    );
    let body = page(&app, &format!("/logging/{}", events["items"][0]["id"])).body;
    let section = between(&body, "id=\"told-title\"", "</section>");
    assert!(section.contains("Memory check (60% context used)"), "{section}");
}

#[test]
fn a_changed_output_and_a_call_without_an_end_are_marked() {
    let app = still();
    app.begin("s1");
    let call =
        |id: &str| json!({"session_id": "s1", "tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": id}});
    app.tell("pre-tool-use", &call("a"));
    let changed = json!({"changed_output": "[left out]"});
    app.tell("post-tool-use", &judged(call("a"), changed));
    app.tell("pre-tool-use", &call("b"));
    has_row(&app, "call", "Read a");
    has_row(&app, "call", "output changed[left out]");
    let unended = |app: &TestApp| page(app, "/agents/1").body.matches("no end was told").count();
    assert_eq!(unended(&app), 0, "it may still run");
    app.tell("stop", &json!({"session_id": "s1", "last_assistant_message": "Done."}));
    assert_eq!(unended(&app), 1);
    has_row(&app, "call", "Read b no end was told");
    let body = page(&app, "/logging").body;
    assert_eq!(body.matches("output changed").count(), 1, "{body}");
}

#[test]
fn of_two_calls_with_one_id_the_nearest_has_the_end() {
    let app = still();
    app.begin("s1");
    let call = |command: &str| json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": "x", "tool_input": {"command": command}});
    app.tell("pre-tool-use", &call("first"));
    app.tell("pre-tool-use", &call("second"));
    let mut ended = call("second");
    ended["duration_ms"] = json!(1234);
    app.tell("post-tool-use", &ended);
    let found = rows(&page(&app, "/agents/1?tools=1").body);
    let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["tool Bash first", "tool Bash second 1.2 s"]);
}

#[test]
fn what_comes_late_is_marked() {
    let app = still();
    let tell = |minute: u32, message: &str| {
        let at = format!("2026-03-02T11:{minute}:00Z");
        app.tell(
            "notification",
            &json!({"session_id": "s1", "message": message, "timestamp": at}),
        )
    };
    tell(10, "first");
    tell(20, "second");
    tell(15, "late");
    tell(16, "later");
    tell(30, "last");
    let found = rows(&page(&app, "/agents/1?events=1").body);
    let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
    let expected = ["first", "second", "late", "later", "last"].map(|message| {
        let late = if message.starts_with("late") { "came late " } else { "" };
        format!("event {late}Notification {message}")
    });
    assert_eq!(texts, expected);
}
