//! Requests that agents export with OpenTelemetry.

use serde_json::{Value, json};
use snell_store::usage::{ExportedUsage, TokenCounts};

use super::{UsageSandbox, answer, lines};

/// Attributes as exporters write them: texts, and numbers in every form.
fn attributes(pairs: &[(&str, Value)]) -> Value {
    let value = |value: &Value| match value {
        Value::String(text) => json!({"stringValue": text}),
        Value::Number(number) if number.is_i64() => json!({"intValue": number.to_string()}),
        other => json!({"doubleValue": other}),
    };
    pairs.iter().map(|(key, of_key)| json!({"key": key, "value": value(of_key)})).collect()
}

fn logs(service: &str, records: &[Value]) -> String {
    let resource = json!({"attributes": attributes(&[("service.name", json!(service))])});
    json!({"resourceLogs": [{"resource": resource, "scopeLogs": [{"scope": {}, "logRecords": records}]}]}).to_string()
}

fn record(body: &str, minute: u32, pairs: &[(&str, Value)]) -> Value {
    let nanoseconds = 1_772_359_200_000_000_000_i64 + i64::from(minute) * 60_000_000_000;
    json!({"timeUnixNano": nanoseconds.to_string(), "body": {"stringValue": body}, "attributes": attributes(pairs)})
}

/// The record of a request that [`answer`] writes to a file.
fn claude_record(session: &str, number: u32, with_id: Option<&str>) -> Value {
    let mut pairs = vec![
        ("session.id", json!(session)),
        ("event.name", json!("api_request")),
        ("model", json!("claude-sonnet-4-6")),
        ("input_tokens", json!("10")),
        ("output_tokens", json!(5)),
        ("cache_read_tokens", json!(100)),
        ("cache_creation_tokens", json!(50)),
        ("cost_usd", json!(0.5)),
        ("prompt", json!("secret")),
    ];
    if let Some(id) = with_id {
        pairs.push(("request_id", json!(id)));
    }
    record("claude_code.api_request", number, &pairs)
}

impl UsageSandbox {
    fn take_logs(&mut self, body: &str) {
        self.store.save_exported_usage(ExportedUsage::from_logs(body.as_bytes()).unwrap()).unwrap();
    }

    fn take_metrics(&mut self, body: &str) {
        self.store.save_exported_usage(ExportedUsage::from_metrics(body.as_bytes()).unwrap()).unwrap();
    }
}

#[test]
fn a_request_in_a_file_and_in_an_export_counts_once_in_any_order() {
    for export_first in [true, false] {
        let mut kept = UsageSandbox::new("claude");
        kept.write("p/s.jsonl", lines(&[answer("s", 1, 5)]));
        // The second request is in no file: a title, for example.
        let body = logs("claude-code", &[claude_record("s", 1, Some("req_1")), claude_record("s", 2, Some("req_2"))]);
        if export_first {
            kept.take_logs(&body);
            kept.count();
        } else {
            kept.count();
            kept.take_logs(&body);
        }
        kept.take_logs(&body);
        let (requests, tokens) = kept.total();
        assert_eq!((requests, tokens.output), (2, 10), "export first: {export_first}");
        assert_eq!(tokens.cache_write_1h, 30, "the file knows more");
    }
}

#[test]
fn records_without_an_id_count_only_for_sessions_without_a_file() {
    let mut kept = UsageSandbox::new("claude");
    let body = logs("claude-code", &[claude_record("s", 1, None), claude_record("remote", 2, None)]);
    kept.take_logs(&body);
    kept.take_logs(&body);
    assert_eq!(kept.total().0, 2);
    kept.write("p/s.jsonl", lines(&[answer("s", 1, 5)]));
    kept.count();
    assert_eq!(kept.total().0, 2);
    assert_eq!(kept.total().1.cache_write_1h, 30);
}

#[test]
fn the_exported_cost_counts_for_a_model_without_a_price() {
    let mut kept = UsageSandbox::new("claude");
    let mut line = answer("s", 1, 5);
    line["message"]["model"] = json!("claude-next");
    kept.write("p/s.jsonl", lines(&[line]));
    kept.count();
    kept.take_logs(&logs("claude-code", &[claude_record("s", 1, Some("req_1"))]));
    let total = kept.summarize(snell_store::usage::UsageBreakdown::Model).total.unwrap();
    assert_eq!((total.cost.usd(), total.requests), (Some(0.5), 1));
}

#[test]
fn every_agents_records_are_read() {
    let google = [
        ("session.id", json!("g")),
        ("model", json!("gemini-2.5-pro")),
        ("input_token_count", json!(100)),
        ("output_token_count", json!(7)),
        ("cached_content_token_count", json!(40)),
        ("thoughts_token_count", json!(3)),
    ];
    let codex = |kind: &str| {
        record(
            "",
            1,
            &[
                ("event.name", json!("codex.sse_event")),
                ("event.kind", json!(kind)),
                ("conversation.id", json!("c")),
                ("model", json!("gpt-5.4")),
                ("input_token_count", json!("100")),
                ("cached_token_count", json!("40")),
                ("output_token_count", json!("10")),
            ],
        )
    };
    let expected = TokenCounts { input: 60, output: 10, cache_read: 40, ..TokenCounts::default() };
    let cases = [
        ("codex_cli_rs", vec![codex("response.completed"), codex("response.created")]),
        ("gemini-cli", vec![record("gemini_cli.api_response", 1, &google), record("gemini_cli.tool_call", 1, &google)]),
        ("qwen-code", vec![record("qwen-code.api_response", 1, &google)]),
    ];
    for (service, records) in cases {
        let mut kept = UsageSandbox::new("claude");
        kept.take_logs(&logs(service, &records));
        assert_eq!(kept.total(), (1, expected), "{service}");
    }
}

fn metrics(temporality: u32, points: &[(&str, i64, u64)]) -> String {
    let point = |(kind, tokens, time): &(&str, i64, u64)| {
        let pairs = [("session.id", json!("s")), ("model", json!("claude-sonnet-4-6")), ("type", json!(kind))];
        let time = 1_772_359_200_000_000_000 + time * 1_000_000_000;
        json!({"attributes": attributes(&pairs), "startTimeUnixNano": "1772359200000000000",
            "timeUnixNano": time.to_string(), "asDouble": tokens})
    };
    let points: Vec<_> = points.iter().map(point).collect();
    let sum = json!({"dataPoints": points, "aggregationTemporality": temporality, "isMonotonic": true});
    let metrics = json!([{"name": "claude_code.token.usage", "sum": sum}, {"name": "claude_code.session.count"}]);
    json!({"resourceMetrics": [{"scopeMetrics": [{"metrics": metrics}]}]}).to_string()
}

#[test]
fn metrics_count_only_for_sessions_that_nothing_else_has() {
    const DELTA: u32 = 1;
    const CUMULATIVE: u32 = 2;
    let mut kept = UsageSandbox::new("claude");
    for body in [
        metrics(DELTA, &[("input", 5, 60), ("output", 3, 60), ("cacheRead", 2, 60), ("cacheCreation", 1, 60)]),
        metrics(DELTA, &[("input", 7, 120)]),
        metrics(DELTA, &[("input", 7, 120)]),
    ] {
        kept.take_metrics(&body);
    }
    let expected = TokenCounts { input: 12, output: 3, cache_read: 2, cache_write: 1, cache_write_1h: 0 };
    assert_eq!(kept.total().1, expected);
    kept.take_logs(&logs("claude-code", &[claude_record("s", 1, None)]));
    assert_eq!(kept.total().1.output, 5, "a record of the session replaces its metrics");

    let mut totals = UsageSandbox::new("claude");
    for body in [metrics(CUMULATIVE, &[("output", 3, 60)]), metrics(CUMULATIVE, &[("output", 8, 120)])] {
        totals.take_metrics(&body);
    }
    assert_eq!(totals.total().1.output, 8);
}

#[test]
fn hostile_exports_are_refused_or_ignored() {
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    for body in ["", "{}", "null", "[]", "{\"resourceLogs\": 5}", &deep] {
        assert!(ExportedUsage::from_logs(body.as_bytes()).is_err(), "{body:.20}");
        assert!(ExportedUsage::from_metrics(body.as_bytes()).is_err(), "{body:.20}");
    }
    let mut kept = UsageSandbox::new("claude");
    for hostile in [json!(-5), json!(1.5), json!("1e9"), json!("NaN"), json!(i64::MAX), json!("12 tokens")] {
        let mut record = claude_record("s", 1, Some("req_1"));
        record["attributes"][3] = attributes(&[("input_tokens", hostile)])[0].clone();
        kept.take_logs(&logs("claude-code", &[record]));
    }
    let mut late = claude_record("s", 2, Some("req_2"));
    late["timeUnixNano"] = json!("-1");
    kept.take_logs(&logs("claude-code", &[late, json!({"attributes": [{"key": "session.id"}]})]));
    assert_eq!(kept.total().0, 0);
    let mut dear = claude_record("s", 3, Some("req_3"));
    dear["attributes"][7] = attributes(&[("cost_usd", json!("inf"))])[0].clone();
    kept.take_logs(&logs("claude-code", &[dear]));
    assert_eq!(kept.total().0, 1);
}
