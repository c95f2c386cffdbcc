//! The view of the receiver, and the log with its filters, search, pages and details.

use serde_json::json;
use snell_server::PollSchedule;
use snell_test_support::wait::wait_until;

use super::{create_waiting_agent, get_page, slice_between, start_with_stopped_clock, stop_clock};
use crate::support::TestApp;

/// The numbers of the events on a page of the log.
fn list_event_ids(body: &str) -> Vec<i64> {
    let rows = body.split("<tr id=\"event-").skip(1);
    rows.map(|row| row.split('"').next().unwrap().parse().unwrap()).collect()
}

/// The address of the link with this text.
fn find_link(body: &str, name: &str) -> Option<String> {
    let before = body.split(&format!("\">{name}</a>")).next().filter(|before| before.len() < body.len())?;
    let address = before.rsplit("href=\"").next().unwrap();
    Some(address.replace("&amp;", "&"))
}

/// Sends calls; every tenth contains "needle".
fn send_many_calls(app: &TestApp, calls: usize) {
    for number in 1..=calls {
        let word = if number % 10 == 0 { "Needle" } else { "hay" };
        app.send_event(
            "pre-tool-use",
            &json!({"session_id": "s1", "cwd": app.data_dir(), "tool_name": if number % 2 == 0 { "Bash" } else { "Edit" },
                "tool_input": {"command": format!("grep {word} {number}")}}),
        );
    }
}

#[test]
fn the_panel_shows_whether_events_are_accepted_the_last_event_and_the_mode() {
    let app = start_with_stopped_clock();
    let before = get_page(&app, "/logging").body;
    for part in
        ["● enabled", "polling_fallback", "no hook event yet", "none yet", "<dt>Polling interval</dt><dd>2 s</dd>"]
    {
        assert!(before.contains(part), "{part} in {before}");
    }
    app.begin_session("s1");
    let after = get_page(&app, "/logging").body;
    for part in [
        "hooks_active",
        "hook events arrive",
        "<code>SessionStart</code>",
        "<dt>Polling interval</dt><dd>60 s</dd>",
        "<dt>Events received</dt><dd>1<",
        "data-form=\"ago\"",
        "silent_after</code> 300 s",
    ] {
        assert!(after.contains(part), "{part} in {after}");
    }
    let status = app.get_json("/hook/status");
    assert_eq!((&status["mode"], &status["events_received"]), (&json!("hooks_active"), &json!(1)));
}

#[test]
fn a_disabled_receiver_is_shown_as_such() {
    let app = TestApp::with_settings(|settings| settings.enabled = false);
    let body = get_page(&app, "/logging").body;
    assert!(body.contains("✕ disabled"), "{body}");
    let mode = slice_between(&body, "<p class=\"mode\">", "</p>");
    assert!(mode.contains("accepts no events") && !mode.contains("good"), "{mode}");
}

#[test]
fn the_panel_changes_when_hooks_become_silent() {
    let app = TestApp::with_settings(|settings| {
        settings.poll_schedule =
            PollSchedule { silent_after: std::time::Duration::from_millis(300), ..PollSchedule::default() };
    });
    app.begin_session("s1");
    wait_until(|| {
        let panel = get_page(&app, "/fragments/receiver").body;
        panel.contains("no hook event for 0.3 s").then_some(())
    });
}

#[test]
fn each_fragment_equals_its_part_of_the_page() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall I?");
    for path in
        ["/logging", "/hooks", "/guard", "/logging?tool=Bash&q=I%3F", "/hooks?sort=p95", "/guard?rule=some-rule"]
    {
        let view = get_page(&app, path).body;
        let mut regions = 0;
        for named in view.split(" data-src=\"").skip(1) {
            let address = named.split('"').next().unwrap().replace("&amp;", "&");
            let fragment = get_page(&app, &address).body;
            let whole = match address.starts_with("/fragments/receiver") {
                // It has two separate parts.
                true => fragment.split("<dl ").next().unwrap(),
                false => &fragment,
            };
            assert!(view.contains(whole), "{path}: {address}: {fragment}");
            regions += 1;
        }
        assert!(regions >= 2, "{path} is live");
    }
}

#[test]
fn the_log_shows_the_newest_event_first() {
    let app = start_with_stopped_clock();
    let id = create_waiting_agent(&app, "s1", "Shall I?");
    let body = get_page(&app, "/logging").body;
    assert_eq!(list_event_ids(&body), [5, 4, 3, 2, 1]);
    let row = slice_between(&body, "<tr id=\"event-3\"", "</tr>");
    for part in [
        &format!("<a href=\"/agents/{id}\">#{id} <code>s1</code></a>") as &str,
        "<bdi>s1</bdi>",
        "<code>PreToolUse</code>",
        "<code>Bash</code>",
        "<strong class=\"bad\">blocked</strong>",
        "▶ working",
        "<span class=\"unit\">1 hook</span>",
        "0.0 ms",
        "href=\"/logging/3\"",
    ] {
        assert!(row.contains(part), "{part} in {row}");
    }
    assert!(
        slice_between(&body, "<tr id=\"event-2\"", "</tr>").contains("Shall I?"),
        "a prompt is told in its own words"
    );
}

#[test]
fn filters_narrow_the_log_and_stay_in_the_form() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "one");
    create_waiting_agent(&app, "s2", "two");
    let cases: [(&str, &[i64]); 18] = [
        ("agent_id=%232", &[10, 9, 8, 7, 6]),
        ("agent_id=2", &[10, 9, 8, 7, 6]),
        ("session_id=s1", &[5, 4, 3, 2, 1]),
        ("project_id=2", &[10, 9, 8, 7, 6]),
        ("event=Stop", &[]),
        ("event=notification", &[10, 5]),
        ("tool=Bash&agent_id=1", &[4, 3]),
        ("decision=block", &[8, 3]),
        ("decision=blocked", &[8, 3]),
        ("decision=deny", &[8, 3]),
        ("decision=allowed", &[]),
        ("since=2026-03-02T12:00:00Z&agent_id=1", &[5, 4, 3, 2]),
        ("until=2026-03-02T12:00:00Z", &[6, 1]),
        ("since=1h&tool=&decision=", &[10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
        ("q=TWO", &[10, 9, 8, 7, 6]),
        ("q=two&event=Notification", &[10]),
        ("q=no+such+text", &[]),
        ("before=4", &[3, 2, 1]),
    ];
    for (query, expected) in cases {
        let body = get_page(&app, &format!("/logging?{query}")).body;
        assert_eq!(list_event_ids(&body), expected, "{query}");
    }
    let body = get_page(&app, "/logging?q=a%22b&tool=Bash&decision=ask&since=2h").body;
    for part in [
        "name=\"q\" value=\"a&quot;b\"",
        "name=\"tool\" value=\"Bash\"",
        "<option value=\"ask\" selected>asked</option>",
        "name=\"since\" value=\"2h\"",
        "No matching events.",
    ] {
        assert!(body.contains(part), "{part} in {body}");
    }
    for (query, message) in [
        ("decision=maybe", "must be one of allowed, asked, blocked"),
        ("since=then", "must be a time such as"),
        ("agent_id=x", "must be an agent's number"),
        ("x=1", "Unknown parameter"),
    ] {
        let answer = app.get(&format!("/logging?{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.body.contains(message), "{query}: {}", answer.body);
    }
}

#[test]
fn pages_reach_every_event_once() {
    let app = TestApp::start();
    send_many_calls(&app, 230);
    let (mut path, mut all) = ("/logging?tool=Bash&q=grep".to_owned(), Vec::new());
    loop {
        let body = get_page(&app, &path).body;
        all.extend(list_event_ids(&body));
        match find_link(&body, "Older") {
            Some(older) => path = older,
            None => break,
        }
        assert!(path.contains("tool=Bash") && path.contains("q=grep"), "{path}");
        // Older pages do not change.
        assert!(!get_page(&app, &path).body.contains("data-src=\"/fragments/log"), "{path}");
    }
    let expected: Vec<_> = (1..=230).rev().filter(|number| number % 2 == 0).collect();
    assert_eq!(all, expected);
}

#[test]
fn a_limited_search_links_to_older_events() {
    let app = TestApp::start();
    send_many_calls(&app, 30);
    // One search reads 8 MiB, so these events hide the older ones.
    for _ in 0..150 {
        app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": "x".repeat(60_000)}));
    }
    let first = get_page(&app, "/logging?q=needle").body;
    assert_eq!(list_event_ids(&first), [0; 0]);
    assert!(first.contains("Searched back to event"), "{first}");
    let further = find_link(&first, "Search older events").unwrap();
    let second = get_page(&app, &further).body;
    assert_eq!(list_event_ids(&second), [30, 20, 10]);
    assert_eq!(find_link(&second, "Search older events"), None);
}

#[test]
fn new_events_are_counted_with_the_filters_of_the_log() {
    let app = TestApp::start();
    send_many_calls(&app, 130);
    let cases = [
        ("after=130", "hidden", "0 new"),
        ("after=120", "", "10 new"),
        ("after=120&tool=Bash", "", "5 new"),
        ("after=100&q=needle", "", "3 new"),
        ("after=0", "", "more than 100 new"),
    ];
    for (query, hidden, told) in cases {
        let news = get_page(&app, &format!("/fragments/log/new?{query}")).body;
        assert!(news.contains(told), "{query}: {news}");
        assert_eq!(news.contains(" hidden>"), !hidden.is_empty(), "{query}: {news}");
    }
    assert_eq!(app.get("/fragments/log/new?after=x").status, 400);
}

#[test]
fn one_event_is_shown_in_full() {
    let app = start_with_stopped_clock();
    create_waiting_agent(&app, "s1", "Shall <b>I</b>?");
    let body = get_page(&app, "/logging/3").body;
    for part in [
        "<h1>Event 3: <code>PreToolUse</code></h1>",
        "✕ blocked",
        "<code>some-rule</code>",
        "snell.toml:4 (snell)",
        "exit 1",
        "&quot;command&quot;: &quot;Shall &lt;b&gt;I&lt;/b&gt;?&quot;",
        "/api/events?limit=1&amp;before=4",
        ">Agent found by</dt>",
    ] {
        assert!(body.contains(part), "{part} in {body}");
    }
    assert!(!body.contains("<b>I"), "{body}");
    assert_eq!(app.get_json("/api/events?limit=1&before=4")["items"][0]["id"], 3);
    for (path, status, message) in [
        ("/logging/99", 404, "There is no event 99."),
        ("/logging/x", 400, "The path has no valid event number"),
        ("/logging/1?x=1", 400, "Unknown parameter"),
    ] {
        let answer = app.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert!(answer.body.contains(message), "{path}: {}", answer.body);
    }
}

#[test]
fn hostile_text_is_shown_and_never_run() {
    let app = TestApp::with_settings(stop_clock);
    let text = "\"><script>alert(1)</script><img src=x onerror=alert(1)>";
    create_waiting_agent(&app, "s1", text);
    let query = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    let paths = [
        "/logging".to_owned(),
        "/logging/3".to_owned(),
        "/hooks".to_owned(),
        "/guard".to_owned(),
        format!("/logging?q={query}&tool={query}&event={query}&session_id={query}"),
        format!("/guard?rule={query}&tier={query}"),
    ];
    for path in paths {
        let body = get_page(&app, &path).body;
        assert!(!body.contains("<script>") && !body.contains("<img"), "{path}: {body}");
        assert!(body.contains("&lt;script&gt;"), "{path} shows it");
    }
}
