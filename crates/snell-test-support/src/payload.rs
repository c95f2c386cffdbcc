//! Payloads as agents send them: JSON objects.

use serde_json::Value;

/// An object with the fields of both; those of `more` win.
#[track_caller]
pub fn merge_fields(mut base: Value, more: &Value) -> Value {
    let more = more.as_object().unwrap_or_else(|| panic!("{more} is no object"));
    base.as_object_mut().unwrap().extend(more.clone());
    base
}
