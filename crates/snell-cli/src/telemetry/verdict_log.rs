//! The guard's verdicts as log records in the JSON form of OTLP.

use serde_json::{Value, json};
use snell::{TelemetryContent, TelemetrySettings};
use snell_store::{GuardVerdictView, TelemetryEvent};

use super::attributes::AttributeList;
use super::span::{OpenSpan, derive_id, format_nanos};

/// The severity of each decision: `INFO`, `WARN` and `ERROR`.
const SEVERITIES: &[(&str, u8, &str)] = &[("allow", 9, "INFO"), ("ask", 13, "WARN"), ("deny", 17, "ERROR")];

/// The record of a verdict on an event, which has this place among its verdicts.
pub(super) fn build_verdict_record(
    event: &TelemetryEvent,
    owner: &OpenSpan,
    (index, verdict): (usize, &GuardVerdictView),
    settings: &TelemetrySettings,
) -> Value {
    let (_, number, severity) =
        SEVERITIES.iter().find(|(decision, ..)| *decision == verdict.decision).unwrap_or(&SEVERITIES[0]);
    let tool = event.tool.as_deref().unwrap_or("a tool");
    let body = format!("{}: {tool} ({})", verdict.decision, verdict.rule);
    let mut attributes = AttributeList::default();
    attributes
        .text("log.record.uid", derive_id::<16>("log", &[&event.event_id, &index.to_string()]).as_str())
        .text("snell.guard.decision", verdict.decision.as_str())
        .text("snell.guard.would", verdict.would.as_deref())
        .text("snell.guard.rule", verdict.rule.as_str())
        .text("snell.guard.tier", verdict.tier.as_str())
        .text("gen_ai.tool.name", event.tool.as_deref())
        .text("gen_ai.tool.call.id", event.tool_use_id.as_deref())
        .text("gen_ai.agent.name", event.agent.product.as_deref())
        .text("gen_ai.conversation.id", event.agent.session_id.as_deref());
    // Reasons quote commands and paths.
    if settings.includes(TelemetryContent::Arguments) {
        attributes
            .text("snell.guard.reason", verdict.reason.as_str())
            .text("snell.guard.advice", verdict.advice.as_deref());
    }
    let mut record = json!({
        "timeUnixNano": format_nanos(event.at),
        "observedTimeUnixNano": format_nanos(event.at),
        "severityNumber": number,
        "severityText": severity,
        "body": {"stringValue": body},
        "attributes": attributes.to_json(),
        "traceId": owner.trace_id,
        "eventName": "snell.guard.verdict",
    });
    if !owner.is_outside_of_turns() {
        record["spanId"] = Value::from(owner.span_id.as_str());
    }
    record
}
