//! The page of one agent: its head and its timeline, with filters and pages.

use serde_json::json;
use snell_store::Store;

use super::{create_waiting_agent, get_page, slice_between, start_with_stopped_clock};
use crate::support::TestApp;

/// The classes and texts of the rows without their times, the oldest first.
pub(super) fn parse_timeline_rows(body: &str) -> Vec<(String, String)> {
    let timeline = slice_between(body, "<ol class=\"timeline\"", "</ol>");
    let row = |row: &str| {
        let class = row.split('"').next().unwrap().to_owned();
        let shown = row.split("</time>").nth(1).unwrap_or_default();
        let mut text = String::new();
        let mut in_tag = false;
        for letter in shown.chars() {
            match letter {
                '<' => in_tag = true,
                '>' => in_tag = false,
                letter if !in_tag => text.push(letter),
                _ => {}
            }
        }
        (class, text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    timeline.split("<li class=\"").skip(1).map(row).collect()
}

fn list_row_classes(body: &str) -> Vec<String> {
    parse_timeline_rows(body).into_iter().map(|(class, _)| class).collect()
}

#[test]
fn a_timeline_shows_everything_in_order() {
    let app = start_with_stopped_clock();
    let id = create_waiting_agent(&app, "s1", "Shall I?");
    let found = parse_timeline_rows(&get_page(&app, &format!("/agents/{id}")).body);
    let expected = [
        ("event", "event SessionStart Shall I?"),
        ("change", "state ○ idle"),
        ("prompt", "prompt Shall I?"),
        ("change", "state ○ idle → ▶ working"),
        ("call", "tool Bash Shall I? 1.2 s blocked Shall I?"),
        ("guard", "guard ✕ blocked some-rule t Shall I? Shall I?"),
        ("hook", "hook failed exit 1 Shall I? 1.5 ms snell.toml:4 (snell) Shall I?stderrShall I?"),
        ("event", "event Notification Shall I?"),
        ("change", "state ▶ working → ▲ needs you"),
    ];
    let expected = expected.map(|(class, text)| (class.to_owned(), text.to_owned()));
    assert_eq!(found, expected);
}

#[test]
fn a_timeline_is_filtered_by_kinds() {
    let app = start_with_stopped_clock();
    let id = create_waiting_agent(&app, "s1", "Shall I?");
    app.send_event("stop", &json!({"session_id": "s1", "last_assistant_message": "Done."}));
    let cases: [(&str, &[&str]); 8] = [
        ("prompts=1", &["prompt"]),
        ("words=1", &["said"]),
        ("tools=1", &["call"]),
        ("guard=1", &["guard"]),
        ("hooks=1", &["hook"]),
        ("states=1", &["change", "change", "change", "change"]),
        ("prompts=1&words=1", &["prompt", "said"]),
        ("prompts=1&guard=1&before=", &["prompt", "guard"]),
    ];
    for (query, expected) in cases {
        for path in ["/agents", "/fragments/agents"] {
            let of_part = if path == "/agents" { "" } else { "/timeline" };
            let body = app.get(&format!("{path}/{id}{of_part}?{query}")).body;
            assert!(body.contains("<ol class=\"timeline\""), "{query}: {body}");
            assert_eq!(list_row_classes(&body), expected, "{path} {query}");
        }
    }
    let body = get_page(&app, &format!("/agents/{id}?guard=1")).body;
    let form = slice_between(&body, "<form class=\"filter\" method=\"get\"", "</form>");
    assert_eq!(form.matches(" checked").count(), 1, "{form}");
    assert!(form.contains("name=\"guard\" value=\"1\" checked"), "{form}");
    // Fragments have the same filter.
    assert!(body.contains(&format!("data-src=\"/fragments/agents/{id}/timeline?guard=1\"")), "{body}");
}

/// The texts of all rows, read page by page from the newest one, as one timeline.
pub(super) fn read_whole_timeline(app: &TestApp, path: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut next = path.to_owned();
    for number in 0..100 {
        let body = get_page(app, &next).body;
        assert_eq!(number > 0, body.contains(">Newest</a>"), "{next}");
        assert_eq!(number == 0, body.contains("id=\"now\""), "{next}");
        let mut rows = parse_timeline_rows(&body);
        assert!(rows.len() <= 210, "a page has no more: {}", rows.len());
        rows.extend(found);
        found = rows;
        let older = slice_between(&body, "<a id=\"older\"", "</a>");
        if older.contains(" hidden") {
            return found;
        }
        next = slice_between(older, "href=\"", "\">").trim_start_matches("href=\"").replace("&amp;", "&");
    }
    panic!("it does not end");
}

#[test]
fn a_long_timeline_is_read_page_by_page_without_loss_or_repetition() {
    let app = TestApp::start();
    app.begin_session("s1");
    for number in 0..150 {
        app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("prompt {number}")}));
        app.send_event("notification", &json!({"session_id": "s1", "message": format!("message {number}")}));
        app.send_event("stop", &json!({"session_id": "s1", "last_assistant_message": format!("answer {number}")}));
    }
    let of = |class: &str, found: &[(String, String)]| -> Vec<String> {
        found.iter().filter(|(other, _)| other == class).map(|(_, text)| text.clone()).collect()
    };
    let numbered = |text: &str| (0..150).map(|number| format!("{text} {number}")).collect::<Vec<_>>();
    let whole = read_whole_timeline(&app, "/agents/1");
    assert_eq!(of("prompt", &whole), numbered("prompt prompt"));
    assert_eq!(of("said", &whole), numbered("agent answer"));
    let messages: Vec<_> = of("event", &whole).into_iter().filter(|text| text.contains("message")).collect();
    assert_eq!(messages, numbered("event Notification message"));
    assert_eq!(of("change", &whole).len(), 301);
    let spoken = |text: &&String| ["prompt", "message", "answer"].iter().any(|word| text.contains(word));
    let order: Vec<_> = whole.iter().map(|(_, text)| text).filter(spoken).collect();
    let expected = (0..150).flat_map(|number| {
        [
            format!("prompt prompt {number}"),
            format!("event Notification message {number}"),
            format!("agent answer {number}"),
        ]
    });
    assert!(order.into_iter().eq(expected.collect::<Vec<_>>().iter()), "in the order in which it happened: {whole:?}");
    assert_eq!(of("prompt", &read_whole_timeline(&app, "/agents/1?prompts=1")), numbered("prompt prompt"));
    assert_eq!(of("said", &read_whole_timeline(&app, "/agents/1?words=1&states=1")), numbered("agent answer"));
    assert_eq!(read_whole_timeline(&app, "/agents/1?guard=1"), [("quiet".to_owned(), String::new())]);
}

#[test]
fn the_end_of_a_call_is_shown_with_its_start() {
    let app = TestApp::start();
    app.begin_session("s1");
    let call = |route: &str, id: &str, more: &str| {
        let mut body =
            json!({"session_id": "s1", "tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": id}});
        if !more.is_empty() {
            body["duration_ms"] = json!(2500);
            body["hook_event_name"] = json!(more);
        }
        app.send_event(route, &body);
    };
    call("pre-tool-use", "one", "");
    call("pre-tool-use", "two", "");
    call("post-tool-use", "one", "PostToolUse");
    call("post-tool-use", "unannounced", "PostToolUse");
    call("pre-tool-use", "bad", "");
    call("event", "bad", "PostToolUseFailure");
    let found: Vec<_> =
        parse_timeline_rows(&get_page(&app, "/agents/1?tools=1").body).into_iter().map(|(_, text)| text).collect();
    assert_eq!(
        found,
        ["tool Bash one 2.5 s", "tool Bash two", "tool Bash unannounced 2.5 s", "tool Bash bad 2.5 s failed"]
    );
}

#[test]
fn a_long_text_is_folded_and_a_very_long_one_is_whole_in_the_file() {
    let app = TestApp::start();
    app.begin_session("s1");
    let long = |words: usize| format!("begin {}the end", "word ".repeat(words));
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": long(500)}));
    app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": long(5000)}));
    let body = get_page(&app, "/agents/1?prompts=1").body;
    let (folded, cut) = body.split_once("id=\"t2\"").unwrap();
    assert!(folded.contains("<details class=\"long\"><summary>") && folded.contains("the end</p>"), "{folded}");
    assert!(!cut.contains("the end") && cut.contains("The exported file has the full text."), "{cut}");
    let file = app.request("GET", "/agents/1/export.html").without_chunking().send().body;
    let timeline = &file[file.find("class=\"timeline\"").unwrap()..];
    assert_eq!(timeline.matches("the end</p>").count(), 2);
    assert!(!timeline.contains("The rest is"));
}

#[test]
fn the_head_shows_the_facts_of_an_agent() {
    let app = start_with_stopped_clock();
    let id = create_waiting_agent(&app, "s1", "Shall I?");
    let mut store = Store::open(&app.database_path()).unwrap().store;
    let conversation = store.find_agent_location(id).unwrap().unwrap().conversation_id.unwrap();
    store.set_status(conversation, Some("Mending the till"), "2026-03-02T12:00:00Z".parse().unwrap()).unwrap();
    app.send_event(
        "event",
        &json!({"session_id": "s1", "hook_event_name": "SubagentStart", "agent_id": "helper-1",
        "agent_type": "Explore"}),
    );
    let head = get_page(&app, &format!("/fragments/agents/{id}/head")).body;
    let project = app.data_dir().join("projects/s1");
    for part in [
        "Mending the till",
        project.to_str().unwrap(),
        "<code>s1</code>",
        "2026-03-02 12:00:00 UTC",
        "<dt>Started</dt>",
        "Running workers",
        "helper-1",
        "last active",
    ] {
        assert!(head.contains(part), "{part} in {head}");
    }
}

#[test]
fn an_older_page_is_not_updated() {
    let app = TestApp::start();
    app.begin_session("s1");
    for number in 0..150 {
        app.send_event("notification", &json!({"session_id": "s1", "message": format!("{number}")}));
    }
    let newest = get_page(&app, "/agents/1").body;
    assert!(slice_between(&newest, "<ol class=\"timeline\"", ">").contains("data-src"));
    let older = slice_between(&newest, "<a id=\"older\"", "</a>");
    let path = slice_between(older, "href=\"", "\">").trim_start_matches("href=\"");
    let older = get_page(&app, path).body;
    assert!(!slice_between(&older, "<ol class=\"timeline\"", ">").contains("data-src"), "{older}");
    assert!(!older.contains("data-before"));
}

#[test]
fn a_changed_input_is_shown_before_and_after() {
    let app = start_with_stopped_clock();
    let judgement = json!({"took_us": 5, "changed_input": {"command": "rm -i <x>", "token": "ghp_0123456789abcdefghijklmnopqrstuvwxyz"}});
    let call = json!({"session_id": "s1", "cwd": app.data_dir(), "tool_name": "Bash", "tool_use_id": "c1",
        "tool_input": {"command": "rm <x>", "timeout": 5}, "snell": {"judgement": judgement}});
    app.send_event("pre-tool-use", &call);
    let shown = "<code>command</code></dt><dd><del>rm &lt;x&gt;</del><span class=\"arrow\"> → </span><ins>rm -i &lt;x&gt;</ins>";
    for path in ["/agents/1", "/agents/1/export.html", "/logging", "/logging/1"] {
        let body = app.request("GET", path).without_chunking().send().body;
        for part in ["input changed", shown, "<del>5</del><span class=\"arrow\"> → </span><ins>none</ins>"] {
            assert!(body.contains(part), "{path}: {part} in {body}");
        }
        assert!(!body.contains("ghp_0123456789abcdef"), "{path}: secrets are masked here, too");
    }
    let event = &app.get_json("/api/events")["items"][0];
    assert_eq!(event["changed_input"]["command"], "rm -i <x>");
    assert_eq!(event["payload"]["tool_input"]["command"], "rm <x>");
}
