//! The view of hooks: statistics, order and chart.

use serde_json::{Value, json};

use super::{get_page, slice_between, start_with_stopped_clock};
use crate::support::TestApp;

fn build_hook_run(command: &str, status: &str, us: i64) -> Value {
    json!({"contract": "claude", "source": ".claude/settings.json", "line": 7, "command": command, "status": status,
        "duration_us": us})
}

fn send_hook_runs(app: &TestApp, at: &str, runs: &[Value]) {
    let judgement = json!({"took_us": 1, "runs": runs});
    let body = json!({"session_id": "s1", "cwd": app.data_dir(), "timestamp": at, "snell": {"judgement": judgement}});
    app.send_event("stop", &body);
}

/// Two hooks, one slow and one that often fails, with runs at noon, in the night, yesterday and long ago.
fn create_busy_app() -> TestApp {
    let app = start_with_stopped_clock();
    send_hook_runs(
        &app,
        "2026-03-02T11:30:00Z",
        &[build_hook_run("slow.sh", "ok", 900_000), build_hook_run("lint.sh", "failed", 1000)],
    );
    send_hook_runs(
        &app,
        "2026-03-02T02:30:00Z",
        &[build_hook_run("lint.sh", "timed_out", 3000), build_hook_run("lint.sh", "blocked", 2000)],
    );
    send_hook_runs(&app, "2026-03-01T13:30:00Z", &[build_hook_run("lint.sh", "ok", 1_500_000)]);
    send_hook_runs(&app, "2026-02-20T12:00:00Z", &[build_hook_run("old.sh", "ok", 5000)]);
    app
}

/// The commands in the order of the table.
fn list_commands(body: &str) -> Vec<&str> {
    let rows = body.split("scope=\"row\"><code>").skip(1);
    rows.map(|row| row.split('<').next().unwrap()).collect()
}

#[test]
fn each_hook_is_shown_with_its_statistics() {
    let app = create_busy_app();
    let body = get_page(&app, "/hooks").body;
    assert_eq!(list_commands(&body), ["lint.sh", "slow.sh"]);
    let row = slice_between(&body, "scope=\"row\"><code>lint.sh", "</tr>");
    for part in [
        ".claude/settings.json:7 (claude)",
        "data-label=\"Runs\">4<",
        "data-label=\"Failed\"><strong class=\"bad\">1<",
        "data-label=\"Timed out\"><strong class=\"bad\">1<",
        "data-label=\"Blocked\"><strong class=\"warn\">1<",
        "data-label=\"p50\">2.0 ms<",
        "data-label=\"p95\">1.5 s<",
        "data-label=\"Longest\">1.5 s<",
        "data-label=\"Time\">1.5 s<",
        "data-label=\"Today\">6.0 ms<",
        "30 min ago",
    ] {
        assert!(row.contains(part), "{part} in {row}");
    }
}

#[test]
fn percentiles_of_few_runs_are_exact() {
    let app = start_with_stopped_clock();
    for (number, us) in [4100, 4200, 4300, 4400, 4900].into_iter().enumerate() {
        let at = format!("2026-03-02T{:02}:30:00Z", 7 + number);
        send_hook_runs(&app, &at, &[build_hook_run("lint.sh", "ok", us)]);
    }
    let body = get_page(&app, "/hooks").body;
    let row = slice_between(&body, "scope=\"row\"><code>lint.sh", "</tr>");
    for part in ["data-label=\"p50\">4.3 ms<", "data-label=\"p95\">4.9 ms<"] {
        assert!(row.contains(part), "{part} in {row}");
    }
    let hook = app.get_json("/api/hooks")["items"][0].clone();
    assert_eq!((&hook["p50_ms"], &hook["p95_ms"]), (&json!(4.3), &json!(4.9)), "{hook}");
    // Twenty runs are few, in one hour or in several.
    for number in 0..15 {
        send_hook_runs(&app, "2026-03-02T11:45:00Z", &[build_hook_run("lint.sh", "ok", 4000 + number)]);
    }
    let hook = app.get_json("/api/hooks")["items"][0].clone();
    assert_eq!((&hook["runs"], &hook["p50_ms"], &hook["p95_ms"]), (&json!(20), &json!(4.009), &json!(4.4)), "{hook}");
}

#[test]
fn the_table_can_be_sorted_and_has_other_periods() {
    let app = create_busy_app();
    let cases: [(&str, &[&str]); 6] = [
        ("sort=total", &["lint.sh", "slow.sh"]),
        ("sort=p50", &["slow.sh", "lint.sh"]),
        ("sort=today", &["slow.sh", "lint.sh"]),
        ("sort=runs", &["lint.sh", "slow.sh"]),
        ("period=month", &["lint.sh", "slow.sh", "old.sh"]),
        ("period=month&sort=hook", &["lint.sh", "old.sh", "slow.sh"]),
    ];
    for (query, expected) in cases {
        assert_eq!(list_commands(&get_page(&app, &format!("/hooks?{query}")).body), expected, "{query}");
    }
    let body = get_page(&app, "/hooks?sort=p50&period=week").body;
    assert!(body.contains("aria-sort=\"descending\"><a href=\"/hooks?sort=p50&amp;period=week\""), "{body}");
    assert!(body.contains("href=\"/hooks?sort=runs&amp;period=week\""), "{body}");
    for (query, message) in
        [("sort=x", "one of hook, runs"), ("period=x", "one of day, week, month"), ("hook=x", "number")]
    {
        let answer = app.get(&format!("/hooks?{query}"));
        assert_eq!(answer.status, 400, "{query}");
        assert!(answer.body.contains(message), "{query}: {}", answer.body);
    }
}

#[test]
fn the_chart_has_a_summary_and_a_table() {
    let app = create_busy_app();
    let body = get_page(&app, "/hooks").body;
    let svg = slice_between(&body, "<svg", "</svg>");
    for part in [
        "role=\"img\" aria-labelledby=\"latency-title latency-desc\"",
        "5 runs in the last 24 hours. The slowest hour was 13:00 UTC: 1 run, p50 1.5 s, p95 1.5 s.",
        "<polyline class=\"p50\"",
        "<polyline class=\"p95\"",
        "11:00 UTC: 2 runs",
    ] {
        assert!(svg.contains(part), "{part} in {svg}");
    }
    let table = slice_between(&body, "<details id=\"latency-table\"", "</details>");
    assert_eq!(table.matches("<tr>").count(), 1 + 3, "{table}");
    // A single hook.
    let chosen = slice_between(&body, "<code>slow.sh", "\">chart</a>").rsplit("href=\"").next().unwrap();
    let one = get_page(&app, &chosen.replace("&amp;", "&")).body;
    assert!(slice_between(&one, "<svg", "</svg>").contains("1 run in the last 24 hours"), "{one}");
    assert!(one.contains("Time per run: <code>slow.sh</code>"), "{one}");
}

#[test]
fn a_view_without_hooks_has_a_message() {
    let app = start_with_stopped_clock();
    let body = get_page(&app, "/hooks").body;
    assert!(
        body.contains("No hooks ran in the last 24 hours.") && body.contains("No hooks ran in the last 24 hours."),
        "{body}"
    );
}

#[test]
fn a_hook_that_never_ran_is_not_found() {
    let app = create_busy_app();
    for path in ["/hooks?hook=999", "/fragments/hooks?hook=999"] {
        let answer = app.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.body.contains("here is no hook 999"), "{path}: {}", answer.body);
    }
    // A hook that ran long ago has an empty chart.
    get_page(&app, "/hooks?hook=3");
}
