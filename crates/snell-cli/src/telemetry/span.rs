//! Spans: their ids, and their JSON form in OTLP.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use snell::Timestamp;

use super::attributes::AttributeList;

/// The kind of all spans: `SPAN_KIND_INTERNAL`.
const INTERNAL_KIND: u8 = 1;
/// The status of a span that failed: `STATUS_CODE_ERROR`.
const ERROR_STATUS: u8 = 2;

/// A span that has begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenSpan {
    pub(super) trace_id: String,
    pub(super) span_id: String,
    parent_id: Option<String>,
    name: String,
    pub(super) began: Timestamp,
    pub(super) attributes: AttributeList,
}

impl OpenSpan {
    /// A span that is the root of a new trace. The same parts always give the same ids.
    pub(super) fn new_root(parts: &[&str], name: &str, began: Timestamp) -> Self {
        let trace_id = derive_trace_id(parts);
        Self::in_trace(trace_id, parts, name, began)
    }

    /// A span without a parent in a trace.
    pub(super) fn in_trace(trace_id: String, parts: &[&str], name: &str, began: Timestamp) -> Self {
        let span_id = derive_id::<8>("span", parts);
        let attributes = AttributeList::default();
        Self { trace_id, span_id, parent_id: None, name: name.to_owned(), began, attributes }
    }

    /// The place of events of a session that are outside of its turns. It is not sent: spans below it have no parent.
    pub(super) fn outside_of_turns(trace_id: String, at: Timestamp) -> Self {
        let attributes = AttributeList::default();
        Self { trace_id, span_id: String::new(), parent_id: None, name: String::new(), began: at, attributes }
    }

    pub(super) fn is_outside_of_turns(&self) -> bool {
        self.span_id.is_empty()
    }

    /// A span below this one.
    pub(super) fn new_child(&self, parts: &[&str], name: &str, began: Timestamp) -> Self {
        let child = Self::in_trace(self.trace_id.clone(), parts, name, began);
        Self { parent_id: (!self.is_outside_of_turns()).then(|| self.span_id.clone()), ..child }
    }

    /// The span in OTLP, once it has ended; with an error if it failed.
    pub(super) fn to_otlp(&self, ended: Timestamp, error: Option<&str>) -> Value {
        let mut attributes = self.attributes.clone();
        attributes.text("error.type", error);
        let mut span = json!({
            "traceId": self.trace_id,
            "spanId": self.span_id,
            "name": self.name,
            "kind": INTERNAL_KIND,
            "startTimeUnixNano": format_nanos(self.began),
            "endTimeUnixNano": format_nanos(ended.max(self.began)),
            "attributes": attributes.to_json(),
            "status": if error.is_some() { json!({"code": ERROR_STATUS}) } else { json!({}) },
        });
        if let Some(parent) = &self.parent_id {
            span["parentSpanId"] = Value::from(parent.as_str());
        }
        span
    }
}

/// A time as OTLP has it.
pub(super) fn format_nanos(time: Timestamp) -> String {
    time.as_nanosecond().max(0).to_string()
}

/// The id of a trace that these parts identify.
pub(super) fn derive_trace_id(parts: &[&str]) -> String {
    derive_id::<16>("trace", parts)
}

/// An id that these parts always have, so that a repetition can be recognised.
pub(super) fn derive_id<const BYTES: usize>(kind: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new().chain_update(kind);
    for part in parts {
        // The length keeps parts apart.
        hash.update(part.len().to_le_bytes());
        hash.update(part);
    }
    hash.finalize().iter().take(BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_parts_have_the_same_ids_and_others_do_not() {
        assert_eq!(derive_id::<8>("span", &["a", "b"]), derive_id::<8>("span", &["a", "b"]));
        assert_ne!(derive_id::<8>("span", &["a", "b"]), derive_id::<8>("span", &["ab", ""]));
        assert_ne!(derive_id::<8>("span", &["a"]), derive_id::<8>("log", &["a"]));
        assert_eq!(derive_trace_id(&["a"]).len(), 32);
    }
}
