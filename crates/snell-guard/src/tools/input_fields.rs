//! Checks the fields of a call. A field that cannot be read cannot be judged, so it is reported.

use serde_json::Value as Json;

use crate::judge::CallAnalysis;

/// Reports unreadable fields, and reports the first key if none of them is present.
pub(super) fn check_required_fields(input: &Json, keys: &[&'static str], analysis: &mut CallAnalysis) {
    let is_named = keys.iter().any(|key| input.get(key).is_some_and(|value| !value.is_null()));
    let missing = keys.first().copied().filter(|_| !is_named);
    missing.into_iter().for_each(|field| analysis.mark_field_unreadable(field));
    check_text_fields(input, keys, analysis);
}

/// Reports unreadable fields.
pub(super) fn check_text_fields(input: &Json, keys: &[&'static str], analysis: &mut CallAnalysis) {
    keys.iter()
        .filter(|key| input.get(key).is_some_and(|value| !is_readable_text(value, keys)))
        .for_each(|field| analysis.mark_field_unreadable(field));
}

/// Whether it is a string, a list of strings, or a list of objects with such fields.
fn is_readable_text(value: &Json, keys: &[&str]) -> bool {
    let is_text = |value: &Json| value.is_string() || value.is_null();
    let are_texts = |item: &Json| keys.iter().filter_map(|key| item.get(key)).all(is_text);
    match value {
        Json::Array(list) => list.iter().all(|item| is_text(item) || item.is_object() && are_texts(item)),
        value => is_text(value),
    }
}
