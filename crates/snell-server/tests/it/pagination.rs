//! Pages of the API.

use serde_json::{Value, json};

use crate::support::TestApp;

/// All items of a list, page by page.
fn read_all_pages(app: &TestApp, path: &str, limit: usize) -> Vec<Value> {
    let mut items = Vec::new();
    let mut before = String::new();
    loop {
        let page = app.get_json(&format!("{path}limit={limit}{before}"));
        let found = page["items"].as_array().unwrap().clone();
        assert!(found.len() <= limit);
        items.extend(found);
        let Some(next) = page["next"].as_str() else {
            return items;
        };
        before = format!("&before={next}");
    }
}

fn list_numbers(items: &[Value], name: &str) -> Vec<i64> {
    items.iter().map(|item| item[name].as_i64().unwrap()).collect()
}

#[test]
fn lists_are_read_page_by_page_without_loss_or_repetition() {
    let app = TestApp::start();
    for session in 1..=7 {
        app.begin_session(&format!("s{session}"));
    }
    for number in 0..10 {
        app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("prompt {number}")}));
    }
    for limit in [1, 2, 3, 7, 50] {
        let agents = read_all_pages(&app, "/api/agents?", limit);
        assert_eq!(list_numbers(&agents, "agent_id"), [1, 7, 6, 5, 4, 3, 2], "{limit}");
        let events = read_all_pages(&app, "/api/events?", limit);
        assert_eq!(list_numbers(&events, "id"), (1..=17).rev().collect::<Vec<_>>(), "{limit}");
        let turns = read_all_pages(&app, "/api/agents/1/turns?", limit);
        assert_eq!(list_numbers(&turns, "turn_id"), (1..=10).rev().collect::<Vec<_>>(), "{limit}");
    }
}

#[test]
fn a_page_of_long_items_has_fewer_of_them() {
    let app = TestApp::start();
    // One long text is cut, but not many texts.
    let long = vec!["x".repeat(10_000); 90];
    for number in 0..10 {
        app.send_event("user-prompt-submit", &json!({"session_id": "s1", "prompt": format!("{number}"), "more": long}));
    }
    let page = app.get("/api/events?limit=500");
    assert!(page.body.len() <= 4 * 1024 * 1024 + 100, "{}", page.body.len());
    assert_eq!(page.json()["items"].as_array().unwrap().len(), 4);
    let events = read_all_pages(&app, "/api/events?", 500);
    assert_eq!(list_numbers(&events, "id"), (1..=10).rev().collect::<Vec<_>>());
}

#[test]
fn lists_can_be_filtered() {
    let app = TestApp::with_settings(|settings| settings.now = Some("2026-03-01T12:00:00Z".parse().unwrap()));
    app.begin_session("s1");
    app.begin_session("s2");
    app.send_event(
        "user-prompt-submit",
        &json!({"session_id": "s2", "prompt": "go", "timestamp": "2026-03-01T11:00:00Z"}),
    );
    app.send_event("pre-tool-use", &json!({"session_id": "s1", "tool_name": "Bash"}));
    app.send_event("session-end", &json!({"session_id": "s2", "reason": "logout"}));
    let cases = [
        ("/api/agents?", "agent_id", vec![1]),
        ("/api/agents?ended=true&", "agent_id", vec![2, 1]),
        ("/api/agents?state=ended&", "agent_id", vec![2]),
        ("/api/agents?state=processing&", "agent_id", vec![1]),
        ("/api/agents?project_id=2&ended=true&", "agent_id", vec![2]),
        ("/api/agents?project_id=99&", "agent_id", vec![]),
        ("/api/events?agent_id=1&", "id", vec![4, 1]),
        ("/api/events?project_id=2&", "id", vec![5, 3, 2]),
        ("/api/events?session_id=s2&", "id", vec![5, 3, 2]),
        ("/api/events?event=SessionStart&", "id", vec![2, 1]),
        ("/api/events?event=session-start&", "id", vec![2, 1]),
        ("/api/events?tool=Bash&", "id", vec![4]),
        ("/api/events?decision=block&", "id", vec![]),
        ("/api/events?until=2026-03-01T11:30:00Z&", "id", vec![3]),
        ("/api/events?since=30m&agent_id=2&", "id", vec![5, 2]),
    ];
    for (path, name, expected) in cases {
        let mut found = list_numbers(&read_all_pages(&app, path, 50), name);
        let mut expected = expected;
        // Of two events at the same time, either may come first.
        if name == "agent_id" {
            found.sort_unstable();
            expected.sort_unstable();
        }
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn an_agent_is_shown_by_its_number() {
    let app = TestApp::start();
    app.begin_session("s1");
    let agent = app.get_json("/api/agents/1");
    assert_eq!(agent, app.get_json("/api/agents")["items"][0]);
    let fields = [
        "agent_id",
        "project_id",
        "project",
        "session_id",
        "state",
        "state_since",
        "state_source",
        "confidence",
        "why",
        "current_tool",
        "tmux_session",
        "tmux_pane",
        "role",
        "mode",
        "context_percent",
        "started_at",
        "last_seen_at",
        "ended_at",
        "end_reason",
    ];
    for field in fields {
        assert!(agent.get(field).is_some(), "{field}");
    }
}

#[test]
fn without_anything_lists_are_empty() {
    let app = TestApp::start();
    for path in ["/api/agents", "/api/events", "/api/hooks", "/api/guard"] {
        assert_eq!(app.get_json(path), json!({"items": [], "next": null}), "{path}");
    }
}

#[test]
fn hooks_are_counted_within_the_requested_period() {
    let app = TestApp::with_settings(|settings| settings.now = Some("2026-03-02T12:00:00Z".parse().unwrap()));
    let run = |status: &str, us: i64| json!({"contract": "snell", "source": "snell.toml", "line": 1, "command": "x", "status": status, "duration_us": us});
    let tell = |at: &str, runs: Value| {
        let judgement = json!({"took_us": 1, "runs": runs});
        app.send_event("stop", &json!({"session_id": "s1", "timestamp": at, "snell": {"judgement": judgement}}));
    };
    tell("2026-03-02T11:00:00Z", json!([run("ok", 1000), run("failed", 2000), run("timed_out", 10_000)]));
    tell("2026-02-01T11:00:00Z", json!([run("ok", 1000)]));
    let hook = &app.get_json("/api/hooks")["items"][0];
    assert_eq!((&hook["runs"], &hook["failures"], &hook["timeouts"]), (&json!(3), &json!(1), &json!(1)));
    assert_eq!((&hook["p50_ms"], &hook["max_ms"], &hook["total_ms"]), (&json!(2.0), &json!(10.0), &json!(13.0)));
    assert_eq!(app.get_json("/api/hooks?since=90d")["items"][0]["runs"], 4);
    assert_eq!(app.get_json("/api/hooks?since=1m")["items"], json!([]));
}

#[test]
fn metrics_have_only_known_labels() {
    let app = TestApp::start();
    app.begin_session("s1");
    app.send_event("event", &json!({"session_id": "s1", "hook_event_name": "MadeUp"}));
    app.post_hook("stop", &json!({}));
    app.get("/api/agents/12345");
    app.get("/made/up");
    app.request("BREW", "/").send();
    let metrics = app.get("/metrics");
    let kind = metrics.header("content-type").unwrap();
    assert!(kind.starts_with("application/openmetrics-text"), "{kind}");
    for line in [
        "snell_events_total{event=\"SessionStart\",outcome=\"stored\"} 1",
        "snell_events_total{event=\"other\",outcome=\"stored\"} 1",
        "snell_events_total{event=\"Stop\",outcome=\"invalid\"} 1",
        "snell_http_requests_total{route=\"/api/agents/{id}\",method=\"GET\",status=\"404\"} 1",
        "snell_http_requests_total{route=\"other\",method=\"GET\",status=\"404\"} 1",
        "snell_http_requests_total{route=\"/\",method=\"other\",status=\"405\"} 1",
        "snell_commit_batch_size_count 2",
        "snell_commit_duration_seconds_count 2",
        "snell_queue_depth 0",
        "snell_stream_clients 0",
        "snell_build_info{version=",
        "snell_mode{mode=\"polling_fallback\"}",
        "snell_reconciler_runs_total",
        "# EOF",
    ] {
        assert!(metrics.body.contains(line), "{line} in {}", metrics.body);
    }
    assert!(!metrics.body.contains("MadeUp") && !metrics.body.contains("12345") && !metrics.body.contains("BREW"));
}

#[test]
fn there_is_a_liveness_check() {
    let app = TestApp::start();
    assert_eq!(app.get("/healthz").body, "ok\n");
}
