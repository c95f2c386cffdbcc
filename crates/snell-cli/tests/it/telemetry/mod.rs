//! Telemetry for OpenTelemetry: what a collector really receives, in which form, and how often.

mod collector;
mod content;
mod metrics;
mod once;
mod otlp_json;
mod traces;
mod trouble;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::run_with_stdin;
use snell_test_support::serve_process::ServeProcess;
use snell_test_support::stub_server::{StubReply, StubRequest, StubServer};
use snell_test_support::wait::wait_until;

use crate::serve::{ANYWHERE, start_server};
use crate::support::CliSandbox;

/// A project whose user sends telemetry to a collector.
struct TelemetrySandbox {
    sandbox: CliSandbox,
    collector: StubServer,
}

impl TelemetrySandbox {
    /// With more lines for `[telemetry]`, and tables after it.
    fn new(more: &str) -> Self {
        Self::with_collector(start_collector(), more)
    }

    fn with_collector(collector: StubServer, more: &str) -> Self {
        let config = format!("[telemetry]\nendpoint = \"{}\"\n{more}\n", collector.url());
        let sandbox = CliSandbox::new().env("SNELL_DAEMON", "off").env("SNELL_SCRIBE", "wait").env("HEADER", "k");
        let sandbox =
            sandbox.file(".git/HEAD", "ref: refs/heads/main\n").home_file(".config/snell/snell.toml", &config);
        Self { sandbox, collector }
    }

    /// With the daemon that hooks start.
    fn with_daemon(self) -> Self {
        Self { sandbox: self.sandbox.env("SNELL_DAEMON", "on"), ..self }
    }

    fn config_file(&self) -> PathBuf {
        self.sandbox.home().join(".config/snell/snell.toml")
    }

    fn start_server(&self) -> ServeProcess {
        start_server(&self.sandbox, &[ANYWHERE, &["--log", "off"]].concat())
    }

    /// An event of Claude Code.
    fn send_event(&self, session: &str, event: &str, fields: Value) {
        let payload = json!({"session_id": session, "cwd": self.sandbox.project(), "hook_event_name": event});
        let mut command = self.sandbox.command(&["hook", "--agent", "claude"]);
        let ran = run_with_stdin(&mut command, merge_fields(payload, &fields).to_string());
        assert_eq!(ran.code, 0, "{ran:?}");
    }

    /// A turn with one call of a tool.
    fn make_turn(&self, session: &str) {
        self.send_event(session, "UserPromptSubmit", json!({"prompt": "Go"}));
        let call = json!({"tool_name": "Bash", "tool_use_id": format!("t-{session}"), "tool_input": {"command": "ls"}});
        self.send_event(session, "PreToolUse", call.clone());
        self.send_event(session, "PostToolUse", merge_fields(call, &json!({"tool_response": {"stdout": ""}})));
        self.send_event(session, "Stop", json!({"last_assistant_message": "All done."}));
    }

    /// All spans so far, in the order in which they arrived.
    fn spans(&self) -> Vec<ReceivedSpan> {
        list_items(&self.collector.requests(), ["resourceSpans", "scopeSpans", "spans"])
            .into_iter()
            .map(ReceivedSpan::from_json)
            .collect()
    }

    /// The spans once so many have arrived.
    #[track_caller]
    fn wait_for_spans(&self, count: usize) -> Vec<ReceivedSpan> {
        wait_until(|| Some(self.spans()).filter(|spans| spans.len() >= count))
    }

    /// The log records once so many have arrived.
    #[track_caller]
    fn wait_for_logs(&self, count: usize) -> Vec<Value> {
        let list = || list_items(&self.collector.requests(), ["resourceLogs", "scopeLogs", "logRecords"]);
        wait_until(|| Some(list()).filter(|records| records.len() >= count))
    }
}

/// A collector that accepts everything.
fn start_collector() -> StubServer {
    StubServer::with_reply(StubReply::answer(200, "{}"))
}

/// The items in requests, below the names of these lists.
fn list_items(requests: &[StubRequest], [resources, scopes, items]: [&str; 3]) -> Vec<Value> {
    let mut found = Vec::new();
    for request in requests {
        for resource in request.json()[resources].as_array().into_iter().flatten() {
            for scope in resource[scopes].as_array().into_iter().flatten() {
                found.extend(scope[items].as_array().into_iter().flatten().cloned());
            }
        }
    }
    found
}

/// A span as it arrived.
#[derive(Clone, Debug)]
struct ReceivedSpan {
    name: String,
    trace_id: String,
    span_id: String,
    parent_id: Option<String>,
    attributes: BTreeMap<String, String>,
    is_error: bool,
}

impl ReceivedSpan {
    fn from_json(span: Value) -> Self {
        let text = |key: &str| span[key].as_str().unwrap_or_default().to_owned();
        Self {
            name: text("name"),
            trace_id: text("traceId"),
            span_id: text("spanId"),
            parent_id: span["parentSpanId"].as_str().map(str::to_owned),
            attributes: read_attributes(&span["attributes"]),
            is_error: span["status"]["code"] == 2,
        }
    }
}

/// Attributes by name; every value as text.
fn read_attributes(list: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| match value.as_object().and_then(|object| object.values().next()) {
        Some(Value::String(text)) => text.clone(),
        other => other.map(Value::to_string).unwrap_or_default(),
    };
    let entries = list.as_array().into_iter().flatten();
    entries.map(|entry| (entry["key"].as_str().unwrap_or_default().to_owned(), text(&entry["value"]))).collect()
}

/// The path from the root of a span's trace to the span.
fn format_path(spans: &[ReceivedSpan], span: &ReceivedSpan) -> String {
    let parent = span
        .parent_id
        .as_ref()
        .and_then(|parent| spans.iter().find(|other| other.span_id == *parent && other.trace_id == span.trace_id));
    assert_eq!(parent.is_some(), span.parent_id.is_some(), "{span:?} has a parent that never arrived");
    match parent {
        Some(parent) => format!("{} > {}", format_path(spans, parent), span.name),
        None => span.name.clone(),
    }
}
