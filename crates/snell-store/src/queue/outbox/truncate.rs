//! Makes an event fit the receiver's limits: long texts are truncated before fields are removed.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::record::text_limits::truncate_json_strings;

/// Receivers accept 1 MiB; this leaves some room.
const MAX_BODY_BYTES: usize = 1_000_000;

/// The limits for texts, each tried if the one before is not enough.
const TEXT_LIMITS: [usize; 5] = [16 * 1024, 4 * 1024, 1024, 256, 64];

/// Receivers need not read deeper nesting than this.
const MAX_LEVELS: usize = 100;

/// The longest placeholder.
const PLACEHOLDER_BYTES: usize = 64;

/// Fields that a receiver needs, or that are too small to remove.
const ESSENTIAL_FIELDS: &[&str] = &[
    "session_id",
    "hook_event_name",
    "event_id",
    "timestamp",
    "cwd",
    "working_directory",
    "transcript_path",
    "tool_name",
    "tmux_pane",
    "tmux_session",
    "headspace_session_id",
    "pid",
    "host",
];

/// A larger field is not essential.
const MAX_ESSENTIAL_BYTES: usize = 4 * 1024;

/// The body within the receiver's limits.
pub(super) fn truncate_body(mut body: Map<String, Value>) -> Map<String, Value> {
    // The body is one level itself.
    body.values_mut().for_each(|value| truncate_depth(value, MAX_LEVELS - 1));
    if count_json_bytes(&body) <= MAX_BODY_BYTES {
        return body;
    }
    let truncate_to = |most: usize| {
        // Always from the whole text, so that the notice has the right number of bytes.
        let mut truncated = body.clone();
        truncated.values_mut().for_each(|value| truncate_json_strings(value, most));
        truncated
    };
    let mut truncated = Map::new();
    for most in TEXT_LIMITS {
        truncated = truncate_to(most);
        if count_json_bytes(&truncated) <= MAX_BODY_BYTES {
            return truncated;
        }
    }
    drop_largest_fields(truncated)
}

/// Replaces values that are nested deeper than so many levels.
fn truncate_depth(value: &mut Value, levels: usize) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => *value = "[left out: nested too deeply]".into(),
        Value::Array(items) => items.iter_mut().for_each(|item| truncate_depth(item, levels - 1)),
        Value::Object(fields) => fields.values_mut().for_each(|field| truncate_depth(field, levels - 1)),
        _ => {}
    }
}

/// Removes fields, the largest first, until the rest fits. A placeholder has the number of removed bytes; a field that
/// is no larger than its placeholder is removed with its name.
fn drop_largest_fields(body: Map<String, Value>) -> Map<String, Value> {
    // A name comes with a colon and a comma.
    let mut fields: Vec<_> = body
        .into_iter()
        .map(|(name, value)| (count_json_bytes(&name) + 2, count_json_bytes(&value), Some((name, value))))
        .collect();
    let mut left: usize = 2 + fields.iter().map(|(name_bytes, bytes, _)| name_bytes + bytes).sum::<usize>();
    let may_go = |name: &str, bytes: usize| !ESSENTIAL_FIELDS.contains(&name) || bytes > MAX_ESSENTIAL_BYTES;
    let mut order: Vec<_> = (0..fields.len()).collect();
    order.sort_unstable_by_key(|place| std::cmp::Reverse((fields[*place].1, *place)));
    for place in order {
        let (name_bytes, bytes, field) = &mut fields[place];
        if left <= MAX_BODY_BYTES {
            break;
        }
        match field {
            Some((name, value)) if may_go(name, *bytes) => {
                if *bytes > PLACEHOLDER_BYTES && *name_bytes < MAX_ESSENTIAL_BYTES {
                    *value = build_placeholder(value, *bytes);
                    left -= *bytes - PLACEHOLDER_BYTES;
                } else {
                    *field = None;
                    left -= *bytes + *name_bytes;
                }
            }
            _ => {}
        }
    }
    fields.into_iter().filter_map(|(_, _, field)| field).collect()
}

/// The size of a value as JSON.
fn count_json_bytes(value: &impl Serialize) -> usize {
    struct ByteCounter(usize);
    impl Write for ByteCounter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = ByteCounter(0);
    // Snell's own JSON can always be written, and counting cannot fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// The placeholder for a removed value. It has the same type, because receivers check types.
fn build_placeholder(value: &Value, bytes: usize) -> Value {
    let remark = format!("[{bytes} bytes left out]");
    match value {
        Value::Object(_) => json!({"left_out": remark}),
        Value::Array(_) => json!([remark]),
        _ => remark.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn measure_body(body: &Map<String, Value>) -> usize {
        serde_json::to_string(body).unwrap().len()
    }

    fn truncate_value(body: Value) -> Map<String, Value> {
        let Value::Object(body) = body else {
            panic!("a body is an object");
        };
        truncate_body(body)
    }

    #[test]
    fn a_body_within_the_limits_is_not_changed() {
        let body = json!({"session_id": "one", "prompt": "x".repeat(MAX_BODY_BYTES - 100)});
        assert_eq!(Value::Object(truncate_value(body.clone())), body);
    }

    #[test]
    fn long_texts_are_truncated_before_fields_are_removed() {
        let many: Vec<_> = (0..40).map(|_| "x".repeat(60_000)).collect();
        let body = truncate_value(json!({"session_id": "one", "tool_input": {"files": many}}));
        let files = body["tool_input"]["files"].as_array().unwrap();
        assert_eq!(files.len(), 40);
        assert!(files.iter().all(|file| file.as_str().unwrap().contains("left out")));
    }

    #[test]
    fn only_values_that_are_nested_too_deeply_are_replaced() {
        let nested = |levels: usize| (0..levels).fold(json!("core"), |inner, _| json!([inner, {"beside": 1}]));
        for (levels, is_whole) in [(98, true), (99, false), (250, false)] {
            let body = json!({"session_id": "one", "tool_input": nested(levels)});
            let fitted = Value::Object(truncate_value(body.clone()));
            assert_eq!(fitted == body, is_whole, "{levels}");
            let text = fitted.to_string();
            assert_eq!(text.contains("nested too deeply"), !is_whole, "{levels}");
            assert!(text.contains("\"one\"") && text.contains("beside"), "{levels}");
        }
    }

    #[test]
    fn the_largest_field_is_removed_first() {
        let numbers: Vec<_> = (0..400_000).collect();
        for (large, place) in [(json!(numbers), "/0"), (json!({"numbers": numbers}), "/left_out")] {
            let body = truncate_value(json!({"session_id": "one", "tool_input": large, "prompt": "Go on."}));
            assert_eq!(body["session_id"], "one");
            assert_eq!(body["prompt"], "Go on.");
            let remark = body["tool_input"].pointer(place).unwrap().as_str().unwrap();
            assert!(remark.ends_with("bytes left out]"), "{remark}");
        }
    }

    #[test]
    fn the_time_for_many_fields_is_linear() {
        // A search among all fields for each removed one would take minutes.
        let mut body: Map<_, _> = (0..200_000).rev().map(|n| (format!("key-{n:016}"), n.into())).collect();
        body.insert("session_id".into(), "one".into());
        let started = std::time::Instant::now();
        let body = truncate_body(body);
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
        assert!((900_000..=MAX_BODY_BYTES).contains(&measure_body(&body)), "{} bytes", measure_body(&body));
        assert_eq!(body["session_id"], "one");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn any_body_fits_and_keeps_its_session(
            texts in proptest::collection::vec((1_usize..400_000, "[a-z]{1,8}"), 0..8),
            fields in 0_usize..60_000,
        ) {
            let mut body: Map<String, Value> = (0..fields).map(|n| (format!("field-{n}"), n.into())).collect();
            for (length, name) in texts {
                body.insert(name, "ä\"".repeat(length / 3 + 1).into());
            }
            body.insert("session_id".into(), "one".into());
            let body = truncate_body(body);
            prop_assert!(measure_body(&body) <= MAX_BODY_BYTES, "{} bytes", measure_body(&body));
            prop_assert_eq!(&body["session_id"], "one");
        }
    }
}
