//! The JSON form of OTLP: names in lowerCamelCase, ids in hexadecimal, 64-bit integers as strings, enums as numbers.

use serde_json::{Value, json};

use super::TelemetrySandbox;

/// The form of a field.
#[derive(Clone, Copy)]
enum FieldForm {
    Text,
    /// An id of so many bytes.
    Hex(usize),
    /// A 64-bit integer.
    Int64,
    /// A 32-bit integer, or an enum.
    Int32,
    Double,
    Bool,
    Message(&'static str),
    List(&'static FieldForm),
}

use FieldForm::{Bool, Double, Hex, Int32, Int64, List, Message, Text};

/// All messages that Snell sends, with their fields as the protocol defines them.
const MESSAGES: &[(&str, &[(&str, FieldForm)])] = &[
    ("ExportTraceServiceRequest", &[("resourceSpans", List(&Message("ResourceSpans")))]),
    ("ExportLogsServiceRequest", &[("resourceLogs", List(&Message("ResourceLogs")))]),
    ("ExportMetricsServiceRequest", &[("resourceMetrics", List(&Message("ResourceMetrics")))]),
    (
        "ResourceSpans",
        &[("resource", Message("Resource")), ("scopeSpans", List(&Message("ScopeSpans"))), ("schemaUrl", Text)],
    ),
    (
        "ResourceLogs",
        &[("resource", Message("Resource")), ("scopeLogs", List(&Message("ScopeLogs"))), ("schemaUrl", Text)],
    ),
    (
        "ResourceMetrics",
        &[("resource", Message("Resource")), ("scopeMetrics", List(&Message("ScopeMetrics"))), ("schemaUrl", Text)],
    ),
    ("Resource", &[("attributes", List(&Message("KeyValue"))), ("droppedAttributesCount", Int32)]),
    ("ScopeSpans", &[("scope", Message("InstrumentationScope")), ("spans", List(&Message("Span")))]),
    ("ScopeLogs", &[("scope", Message("InstrumentationScope")), ("logRecords", List(&Message("LogRecord")))]),
    ("ScopeMetrics", &[("scope", Message("InstrumentationScope")), ("metrics", List(&Message("Metric")))]),
    ("InstrumentationScope", &[("name", Text), ("version", Text), ("attributes", List(&Message("KeyValue")))]),
    ("KeyValue", &[("key", Text), ("value", Message("AnyValue"))]),
    ("AnyValue", &[("stringValue", Text), ("boolValue", Bool), ("intValue", Int64), ("doubleValue", Double)]),
    (
        "Span",
        &[
            ("traceId", Hex(16)),
            ("spanId", Hex(8)),
            ("parentSpanId", Hex(8)),
            ("traceState", Text),
            ("flags", Int32),
            ("name", Text),
            ("kind", Int32),
            ("startTimeUnixNano", Int64),
            ("endTimeUnixNano", Int64),
            ("attributes", List(&Message("KeyValue"))),
            ("status", Message("Status")),
        ],
    ),
    ("Status", &[("message", Text), ("code", Int32)]),
    (
        "LogRecord",
        &[
            ("timeUnixNano", Int64),
            ("observedTimeUnixNano", Int64),
            ("severityNumber", Int32),
            ("severityText", Text),
            ("body", Message("AnyValue")),
            ("attributes", List(&Message("KeyValue"))),
            ("flags", Int32),
            ("traceId", Hex(16)),
            ("spanId", Hex(8)),
            ("eventName", Text),
        ],
    ),
    (
        "Metric",
        &[
            ("name", Text),
            ("description", Text),
            ("unit", Text),
            ("gauge", Message("Gauge")),
            ("sum", Message("Sum")),
            ("histogram", Message("Histogram")),
        ],
    ),
    ("Gauge", &[("dataPoints", List(&Message("NumberDataPoint")))]),
    (
        "Sum",
        &[("dataPoints", List(&Message("NumberDataPoint"))), ("aggregationTemporality", Int32), ("isMonotonic", Bool)],
    ),
    ("Histogram", &[("dataPoints", List(&Message("HistogramDataPoint"))), ("aggregationTemporality", Int32)]),
    (
        "NumberDataPoint",
        &[
            ("attributes", List(&Message("KeyValue"))),
            ("startTimeUnixNano", Int64),
            ("timeUnixNano", Int64),
            ("asInt", Int64),
            ("asDouble", Double),
        ],
    ),
    (
        "HistogramDataPoint",
        &[
            ("attributes", List(&Message("KeyValue"))),
            ("startTimeUnixNano", Int64),
            ("timeUnixNano", Int64),
            ("count", Int64),
            ("sum", Double),
            ("bucketCounts", List(&Int64)),
            ("explicitBounds", List(&Double)),
        ],
    ),
];

/// The faults of a value, each with its path.
fn check_form(value: &Value, form: FieldForm, path: &str) -> Vec<String> {
    let is_valid = match (form, value) {
        (Text, Value::String(_)) | (Bool, Value::Bool(_)) | (Double, Value::Number(_)) => true,
        (Int32, Value::Number(number)) => number.as_i64().is_some_and(|number| i32::try_from(number).is_ok()),
        (Int64, Value::String(text)) => text.parse::<i64>().is_ok(),
        (Hex(bytes), Value::String(text)) => {
            let is_zero = text.bytes().all(|byte| byte == b'0');
            text.len() == bytes * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) && !is_zero
        }
        (List(form), Value::Array(items)) => {
            let check = |(index, item)| check_form(item, *form, &format!("{path}[{index}]"));
            return items.iter().enumerate().flat_map(check).collect();
        }
        (Message(name), Value::Object(fields)) => {
            let (_, known) = MESSAGES.iter().find(|(known, _)| *known == name).unwrap();
            let check = |(key, value): (&String, &Value)| {
                let path = format!("{path}.{key}");
                match known.iter().find(|(name, _)| name == key) {
                    Some((_, form)) => check_form(value, *form, &path),
                    None => vec![format!("{path}: {name} has no such field")],
                }
            };
            return fields.iter().flat_map(check).collect();
        }
        _ => false,
    };
    if is_valid { Vec::new() } else { vec![format!("{path}: {value}")] }
}

/// The faults of a request.
pub(super) fn check_request(path: &str, body: &Value) -> Vec<String> {
    let message = match path {
        "/v1/traces" => "ExportTraceServiceRequest",
        "/v1/logs" => "ExportLogsServiceRequest",
        "/v1/metrics" => "ExportMetricsServiceRequest",
        other => return vec![format!("unknown path {other}")],
    };
    check_form(body, Message(message), "")
}

#[test]
fn the_check_accepts_the_published_form_and_finds_each_fault() {
    let span = |field: &str, value: Value| {
        let mut span = json!({
            "traceId": "5B8EFFF798038103D269B633813FC60C", "spanId": "EEE19B7EC3C1B174",
            "parentSpanId": "EEE19B7EC3C1B173", "name": "I'm a server span", "startTimeUnixNano": "1544712660000000000",
            "endTimeUnixNano": "1544712661000000000", "kind": 2,
            "attributes": [{"key": "my.span.attr", "value": {"stringValue": "some value"}}],
        });
        span[field] = value;
        let scope = json!({"name": "my.library", "version": "1.0.0"});
        json!({"resourceSpans": [{"scopeSpans": [{"scope": scope, "spans": [span]}]}]})
    };
    assert_eq!(check_request("/v1/traces", &span("kind", json!(2))), Vec::<String>::new());
    let faults = [
        ("traceId", json!("W47/95gDgQPSabYzgT/GDA==")),
        ("spanId", json!("0000000000000000")),
        ("startTimeUnixNano", json!(1_544_712_660_000_000_000_u64)),
        ("kind", json!("SPAN_KIND_SERVER")),
        ("trace_id", json!("5B8EFFF798038103D269B633813FC60C")),
        ("attributes", json!({"my.span.attr": "some value"})),
    ];
    for (field, value) in faults {
        assert_eq!(check_request("/v1/traces", &span(field, value)).len(), 1, "{field}");
    }
}

#[test]
fn every_request_has_the_form_of_the_protocol() {
    let agents =
        TelemetrySandbox::new("interval = \"50ms\"\nresource = { \"deployment.environment.name\" = \"test\" }");
    agents.make_turn("s1");
    agents.send_event("s1", "PreToolUse", json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf ~"}}));
    agents.send_event("s1", "SessionEnd", json!({"reason": "logout"}));
    let _server = agents.start_server();
    agents.wait_for_spans(2);
    agents.wait_for_logs(1);
    let paths = || agents.collector.requests().iter().map(|request| request.path().to_owned()).collect::<Vec<_>>();
    snell_test_support::wait::wait_until(|| paths().contains(&"/v1/metrics".to_owned()).then_some(()));
    for request in agents.collector.requests() {
        assert!(request.line.starts_with("POST "), "{request:?}");
        assert_eq!(request.headers["content-type"], "application/json");
        let faults = check_request(request.path(), &request.json());
        assert!(faults.is_empty(), "{faults:#?}");
        assert!(request.body.contains(r#"{"key":"service.name","value":{"stringValue":"snell"}}"#), "{request:?}");
        assert!(request.body.contains(r#"{"key":"deployment.environment.name","value":{"stringValue":"test"}}"#));
    }
}
