//! Making an event fit to what a receiver takes: long texts are cut before anything is left out.

use serde_json::{Map, Value, json};

use crate::observation::cut;

/// A receiver takes 1 MiB; this leaves a little room.
const MAX_BODY_BYTES: usize = 1_000_000;

/// A receiver need not read what is nested more deeply than this.
const MAX_LEVELS: usize = 100;

/// To so many bytes texts are cut, one after the other, until the whole fits.
const TEXT_LIMITS: &[usize] = &[16 * 1024, 4 * 1024, 1024, 256, 64];

/// A remark on what was left out is not longer than this.
const REMARK_BYTES: usize = 64;

/// What a receiver cannot do without, and what is too small to be worth leaving out.
const ESSENTIAL: &[&str] = &[
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

/// Beyond this, nothing is essential.
const MAX_ESSENTIAL_BYTES: usize = 4 * 1024;

/// The body as a receiver takes it.
pub(super) fn to_receiver(mut body: Map<String, Value>) -> Map<String, Value> {
    // The body is a level itself.
    body.values_mut().for_each(|value| cut_levels(value, MAX_LEVELS - 1));
    if size(&body) <= MAX_BODY_BYTES {
        return body;
    }
    for most in TEXT_LIMITS {
        body.values_mut().for_each(|value| cut_texts(value, *most));
        if size(&body) <= MAX_BODY_BYTES {
            return body;
        }
    }
    leave_out(body)
}

fn size(value: &impl serde::Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}

/// Leaves out what is nested more deeply than so many levels.
fn cut_levels(value: &mut Value, levels: usize) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => *value = "[left out: nested too deeply]".into(),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_levels(item, levels - 1)),
        Value::Object(fields) => fields.values_mut().for_each(|field| cut_levels(field, levels - 1)),
        _ => {}
    }
}

fn cut_texts(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => *text = cut(text, most).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| cut_texts(item, most)),
        Value::Object(fields) => fields.values_mut().for_each(|field| cut_texts(field, most)),
        _ => {}
    }
}

/// Leaves out members, the largest first, until the rest fits.
fn leave_out(mut body: Map<String, Value>) -> Map<String, Value> {
    let mut left = size(&body);
    let member = |(name, value): (&String, &Value)| (size(value), name.clone());
    let mut members: Vec<_> = body.iter().map(member).collect();
    members.retain(|(bytes, name)| !ESSENTIAL.contains(&name.as_str()) || *bytes > MAX_ESSENTIAL_BYTES);
    members.sort_by(|one, other| other.cmp(one));
    for (bytes, name) in members {
        if left <= MAX_BODY_BYTES {
            break;
        }
        if bytes > REMARK_BYTES && name.len() < MAX_ESSENTIAL_BYTES {
            left -= bytes - REMARK_BYTES;
            if let Some(value) = body.get_mut(&name) {
                *value = remark(value, bytes);
            }
        } else {
            left = left.saturating_sub(bytes + size(&name) + 2);
            body.shift_remove(&name);
        }
    }
    body
}

/// What stands in the place of something that was left out. It is of the same kind, because receivers ask for that.
fn remark(value: &Value, bytes: usize) -> Value {
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

    fn fitted(body: Value) -> Map<String, Value> {
        let Value::Object(body) = body else {
            panic!("a body is an object");
        };
        to_receiver(body)
    }

    #[test]
    fn what_fits_is_left_alone() {
        let body = json!({"session_id": "one", "prompt": "x".repeat(MAX_BODY_BYTES - 100)});
        assert_eq!(Value::Object(fitted(body.clone())), body);
    }

    #[test]
    fn long_texts_are_cut_before_anything_is_left_out() {
        let many: Vec<_> = (0..40).map(|_| "x".repeat(60_000)).collect();
        let body = fitted(json!({"session_id": "one", "tool_input": {"files": many}}));
        let files = body["tool_input"]["files"].as_array().unwrap();
        assert_eq!(files.len(), 40);
        assert!(files.iter().all(|file| file.as_str().unwrap().contains("left out")));
    }

    #[test]
    fn what_is_nested_too_deeply_is_left_out_and_nothing_else() {
        let nested = |levels: usize| (0..levels).fold(json!("core"), |inner, _| json!([inner, {"beside": 1}]));
        for (levels, is_whole) in [(98, true), (99, false), (250, false)] {
            let body = json!({"session_id": "one", "tool_input": nested(levels)});
            let fitted = Value::Object(fitted(body.clone()));
            assert_eq!(fitted == body, is_whole, "{levels}");
            let text = fitted.to_string();
            assert_eq!(text.contains("nested too deeply"), !is_whole, "{levels}");
            assert!(text.contains("\"one\"") && text.contains("beside"), "{levels}");
        }
    }

    #[test]
    fn of_what_cannot_be_cut_the_largest_goes_first() {
        let numbers: Vec<_> = (0..400_000).collect();
        for (large, place) in [(json!(numbers), "/0"), (json!({"numbers": numbers}), "/left_out")] {
            let body = fitted(json!({"session_id": "one", "tool_input": large, "prompt": "Go on."}));
            assert_eq!(body["session_id"], "one");
            assert_eq!(body["prompt"], "Go on.");
            let remark = body["tool_input"].pointer(place).unwrap().as_str().unwrap();
            assert!(remark.ends_with("bytes left out]"), "{remark}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn whatever_it_is_it_fits_and_keeps_its_session(
            texts in proptest::collection::vec((1_usize..400_000, "[a-z]{1,8}"), 0..8),
            fields in 0_usize..60_000,
        ) {
            let mut body: Map<String, Value> = (0..fields).map(|n| (format!("field-{n}"), n.into())).collect();
            for (length, name) in texts {
                body.insert(name, "ä\"".repeat(length / 3 + 1).into());
            }
            body.insert("session_id".into(), "one".into());
            let body = to_receiver(body);
            prop_assert!(size(&body) <= MAX_BODY_BYTES, "{} bytes", size(&body));
            prop_assert_eq!(&body["session_id"], "one");
        }
    }
}
