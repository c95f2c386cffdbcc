//! The bodies of requests to a collector, in the JSON form of OTLP.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use snell::TelemetrySignal;

use super::attributes::AttributeList;

/// The sender of telemetry.
#[derive(Clone, Debug)]
pub(super) struct TelemetryOrigin {
    /// The host of this process, for items without one.
    pub(super) host: Option<String>,
    /// The id of the database.
    pub(super) instance: String,
    /// Attributes from the settings.
    pub(super) resource: BTreeMap<String, String>,
}

/// The names of the lists in a request, from the outermost.
fn list_names(signal: TelemetrySignal) -> (&'static str, &'static str, &'static str) {
    match signal {
        TelemetrySignal::Traces => ("resourceSpans", "scopeSpans", "spans"),
        TelemetrySignal::Logs => ("resourceLogs", "scopeLogs", "logRecords"),
        TelemetrySignal::Metrics => ("resourceMetrics", "scopeMetrics", "metrics"),
    }
}

/// The name of the count of refused items in a reply.
pub(super) fn refused_count_name(signal: TelemetrySignal) -> &'static str {
    match signal {
        TelemetrySignal::Traces => "rejectedSpans",
        TelemetrySignal::Logs => "rejectedLogRecords",
        TelemetrySignal::Metrics => "rejectedDataPoints",
    }
}

/// A request without items, which a collector accepts.
pub(crate) fn build_empty_request(signal: TelemetrySignal) -> String {
    json!({list_names(signal).0: []}).to_string()
}

/// The body of a request. Items with the same host share a resource.
pub(super) fn build_request(
    signal: TelemetrySignal,
    origin: &TelemetryOrigin,
    items: impl IntoIterator<Item = (Option<String>, Value)>,
) -> String {
    let mut by_host: BTreeMap<Option<String>, Vec<Value>> = BTreeMap::new();
    for (host, item) in items {
        by_host.entry(host.or_else(|| origin.host.clone())).or_default().push(item);
    }
    let (resources, scopes, list) = list_names(signal);
    let scope = json!({"name": "snell", "version": env!("CARGO_PKG_VERSION")});
    let entry = |(host, items): (Option<String>, Vec<Value>)| {
        let resource = build_resource(origin, host.as_deref());
        json!({"resource": resource, scopes: [{"scope": scope.clone(), list: items}]})
    };
    let entries: Vec<_> = by_host.into_iter().map(entry).collect();
    json!({resources: entries}).to_string()
}

fn build_resource(origin: &TelemetryOrigin, host: Option<&str>) -> Value {
    let own = [
        ("service.name", Some("snell")),
        ("service.version", Some(env!("CARGO_PKG_VERSION"))),
        ("service.instance.id", Some(origin.instance.as_str())),
        ("host.name", host),
    ];
    let mut attributes = AttributeList::default();
    for (key, value) in own.into_iter().filter(|(key, _)| !origin.resource.contains_key(*key)) {
        attributes.text(key, value);
    }
    for (key, value) in &origin.resource {
        attributes.text(key, value.as_str());
    }
    json!({"attributes": attributes.to_json()})
}
