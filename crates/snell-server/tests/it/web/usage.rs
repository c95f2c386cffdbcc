//! Tokens and their cost: what agents export, the API and the view.

use serde_json::{Value, json};
use snell_test_support::http::HttpResponse;

use super::{get_page, slice_between, start_with_stopped_clock};
use crate::support::TestApp;

/// OTLP/JSON with a request of Claude Code.
fn build_logs(session: &str, number: u32, time: &str, model: &str) -> String {
    let texts = [
        ("event.timestamp", time.to_owned()),
        ("session.id", session.to_owned()),
        ("model", model.to_owned()),
        ("request_id", format!("req_{number}")),
        ("input_tokens", "1000".into()),
        ("output_tokens", "2000".into()),
        ("cache_read_tokens", "1500000".into()),
    ];
    let attributes: Vec<Value> =
        texts.iter().map(|(key, text)| json!({"key": key, "value": {"stringValue": text}})).collect();
    let record = json!({"body": {"stringValue": "claude_code.api_request"}, "attributes": attributes});
    json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]}).to_string()
}

fn send_logs(app: &TestApp, body: &str) -> HttpResponse {
    app.request("POST", "/v1/logs").json(body).send()
}

/// Requests of two days; the agent of one of the sessions is known.
fn create_costly_app() -> TestApp {
    let app = start_with_stopped_clock();
    app.send_event("session-start", &json!({"session_id": "s1", "cwd": app.data_dir()}));
    for (session, number, time, model) in [
        ("s1", 1, "2026-03-02T10:00:00Z", "claude-sonnet-4-6"),
        ("s1", 2, "2026-03-02T11:00:00Z", "claude-sonnet-4-6"),
        ("s2", 3, "2026-02-28T11:00:00Z", "claude-haiku-4-5"),
        ("s2", 4, "2026-02-28T12:00:00Z", "nobody-knows"),
        ("s3", 5, "2025-12-01T12:00:00Z", "claude-haiku-4-5"),
    ] {
        assert_eq!(send_logs(&app, &build_logs(session, number, time, model)).status, 200);
    }
    app
}

#[test]
fn the_api_has_every_breakdown_and_counts_a_request_once() {
    let app = create_costly_app();
    send_logs(&app, &build_logs("s1", 1, "2026-03-02T10:00:00Z", "claude-sonnet-4-6"));
    let days = app.get_json("/api/usage");
    let shown: Vec<_> = days["parts"].as_array().unwrap().iter().map(|day| (&day["day"], &day["requests"])).collect();
    let expected = [("2025-12-01", 1), ("2026-02-28", 2), ("2026-03-02", 2)];
    assert_eq!(shown, expected.map(|(day, requests)| (json!(day), json!(requests))).each_ref().map(|(a, b)| (a, b)));
    // 1000 input, 1.5 M from the cache, 2000 output, by the price of each model.
    assert_eq!(days["parts"][2]["cost_usd"], json!(0.966));
    assert_eq!(
        (&days["total"]["is_partial"], &days["total"]["unpriced_models"]),
        (&json!(true), &json!(["nobody-knows"]))
    );
    let unknown = &app.get_json("/api/usage?by=model")["parts"][2];
    assert_eq!((&unknown["model"], &unknown["cost_usd"]), (&json!("nobody-knows"), &json!(null)));
    for (query, requests) in [
        ("by=agent&agent_id=1", 2),
        ("by=session&session_id=s2", 2),
        ("product=claude&since=2026-03-01", 2),
        ("until=2026-01-01", 1),
        ("by=product", 5),
    ] {
        assert_eq!(app.get_json(&format!("/api/usage?{query}"))["total"]["requests"], requests, "{query}");
    }
    assert_eq!(app.get_json("/api/usage?product=codex")["total"], json!(null));
    assert_eq!(app.get("/api/usage?by=moon").status, 400);
}

#[test]
fn protobuf_and_compression_are_refused_with_the_remedy() {
    let app = TestApp::start();
    for path in ["/v1/logs", "/v1/metrics"] {
        let protobuf = app.request("POST", path).header("Content-Type: application/x-protobuf").send();
        assert_eq!(protobuf.status, 415, "{protobuf:?}");
        assert!(protobuf.message().contains("OTEL_EXPORTER_OTLP_PROTOCOL=http/json"), "{protobuf:?}");
        let zipped = app.request("POST", path).header("Content-Encoding: gzip").json("{}").send();
        assert_eq!(zipped.status, 415, "{zipped:?}");
        for body in ["", "{}", "[1]", "{\"resourceLogs\": 5, \"resourceMetrics\": 5}"] {
            assert_eq!(app.request("POST", path).json(body).send().status, 400, "{path} {body}");
        }
        let empty = "{\"resourceLogs\": [], \"resourceMetrics\": []}";
        assert_eq!(app.request("POST", path).json(empty).send().status, 200);
        let foreign = app.request("POST", path).header("Origin: http://evil.example").json(empty).send();
        assert_eq!(foreign.status, 403);
    }
}

#[test]
fn the_view_has_a_chart_and_a_table_that_can_be_sorted() {
    let app = create_costly_app();
    let body = get_page(&app, "/usage?by=model").body;
    assert!(body.contains("<svg class=\"chart\"") && body.contains("Cost per day"), "{body}");
    let rows: Vec<_> =
        body.split("<th role=\"rowheader\"").skip(1).map(|row| row.split("</th>").next().unwrap()).collect();
    assert_eq!(rows.len(), 4, "three models and the total: {rows:?}");
    assert!(rows[0].contains("claude-sonnet-4-6") && rows[2].contains("nobody-knows"), "{rows:?}");
    let row = slice_between(&body, "<bdi>nobody-knows", "</tr>");
    for part in ["data-label=\"Requests\">1<", "data-label=\"Cache read\">1.5 M<", "data-label=\"Cost\">unknown<"] {
        assert!(row.contains(part), "{part} in {row}");
    }
    assert!(body.contains("The price of these models is unknown"), "{body}");
    assert!(body.contains("href=\"/usage?by=model&amp;sort=output\""), "{body}");
    let sorted = get_page(&app, "/usage?by=model&sort=requests").body;
    assert!(sorted.contains("aria-sort=\"descending\"><a href=\"/usage?by=model&amp;sort=requests\""), "{sorted}");
    let fragment = get_page(&app, "/fragments/usage?by=model").body;
    assert!(body.contains(&fragment), "the fragment is the same part of the page");
    for by in ["project", "agent", "product", "session", "turn", "day"] {
        assert_eq!(get_page(&app, &format!("/usage?by={by}&period=week")).status, 200, "{by}");
    }
    assert!(get_page(&app, "/usage?by=agent").body.contains("href=\"/agents/1\">#1<"));
}

#[test]
fn without_data_there_is_no_chart_but_a_command() {
    let app = start_with_stopped_clock();
    let body = get_page(&app, "/usage").body;
    assert!(!body.contains("<svg") && body.contains("<code>snell usage</code>"), "{body}");
}

#[test]
fn an_agent_shows_what_it_cost() {
    let app = create_costly_app();
    let card = get_page(&app, "/fragments/agents/1").body;
    assert!(card.contains("cost </span>$0.97"), "{card}");
    assert!(get_page(&app, "/").body.contains("cost </span>$0.97"));
    let head = get_page(&app, "/fragments/agents/1/head").body;
    assert!(head.contains("<dt>Cost</dt><dd>$0.97 (3.0 M tokens)</dd>"), "{head}");
}
