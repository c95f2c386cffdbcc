//! Making an event fit to what a receiver takes: long texts are cut before anything is left out.

use serde_json::{Map, Value, json};

use super::size::{JsonSizes, TEXT_LIMITS, count_bracket_bytes, count_text_bytes};
use crate::record::event_record::truncate_with_notice;

/// A receiver takes 1 MiB; this leaves a little room.
const MAX_BODY_BYTES: usize = 1_000_000;

/// A receiver need not read what is nested more deeply than this.
const MAX_LEVELS: usize = 100;

/// A remark on what was left out is not longer than this.
const PLACEHOLDER_BYTES: usize = 64;

/// What a receiver cannot do without, and what is too small to be worth leaving out.
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

/// Beyond this, nothing is essential.
const MAX_ESSENTIAL_BYTES: usize = 4 * 1024;

/// A member of the body, measured.
struct MeasuredField {
    /// With the colon and comma beside it.
    name_bytes: usize,
    sizes: JsonSizes,
}

/// The body as a receiver takes it. It is measured once for all ways to cut it, and then cut in one of them, because it may
/// have very many members.
pub(super) fn truncate_body(mut body: Map<String, Value>) -> Map<String, Value> {
    // The body is a level itself.
    body.values_mut().for_each(|value| truncate_depth(value, MAX_LEVELS - 1));
    let members: Vec<_> = body.iter().map(MeasuredField::measure).collect();
    let mut whole = JsonSizes::default();
    whole.add_bytes(count_bracket_bytes(0));
    for member in &members {
        whole.add_bytes(member.name_bytes);
        whole.add_sizes(&member.sizes);
    }
    if whole.whole <= MAX_BODY_BYTES {
        return body;
    }
    let enough = whole.truncated.iter().position(|bytes| *bytes <= MAX_BODY_BYTES);
    let way = enough.unwrap_or(TEXT_LIMITS.len() - 1);
    body.values_mut().for_each(|value| truncate_strings(value, TEXT_LIMITS[way]));
    if enough.is_some() {
        return body;
    }
    drop_largest_fields(body, &members, way, whole.truncated[way])
}

impl MeasuredField {
    fn measure((name, value): (&String, &Value)) -> Self {
        Self { name_bytes: count_text_bytes(name) + 2, sizes: JsonSizes::from_value(value) }
    }
}

/// Leaves out what is nested more deeply than so many levels.
fn truncate_depth(value: &mut Value, levels: usize) {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => *value = "[left out: nested too deeply]".into(),
        Value::Array(items) => items.iter_mut().for_each(|item| truncate_depth(item, levels - 1)),
        Value::Object(fields) => fields.values_mut().for_each(|field| truncate_depth(field, levels - 1)),
        _ => {}
    }
}

fn truncate_strings(value: &mut Value, most: usize) {
    match value {
        Value::String(text) if text.len() > most => *text = truncate_with_notice(text, most).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| truncate_strings(item, most)),
        Value::Object(fields) => fields.values_mut().for_each(|field| truncate_strings(field, most)),
        _ => {}
    }
}

/// What becomes of a member.
#[derive(Clone, Copy)]
enum FieldFate {
    Kept,
    /// A remark stands in its place, which says how many bytes it had.
    Replaced(usize),
    /// It is gone with its name.
    Removed,
}

/// Leaves out members, the largest first, until the rest fits. They were measured, and their texts cut in this way, after which
/// so many bytes are left.
fn drop_largest_fields(
    body: Map<String, Value>,
    members: &[MeasuredField],
    way: usize,
    mut left: usize,
) -> Map<String, Value> {
    let bytes_of = |member: &MeasuredField| member.sizes.truncated[way];
    let may_go = |(_, (name, member)): &(usize, (&String, &MeasuredField))| {
        !ESSENTIAL_FIELDS.contains(&name.as_str()) || bytes_of(member) > MAX_ESSENTIAL_BYTES
    };
    let named = body.keys().zip(members).enumerate().filter(may_go);
    let mut order: Vec<_> = named.map(|(place, (_, member))| (bytes_of(member), place)).collect();
    order.sort_unstable_by(|one, other| other.cmp(one));
    let mut fates = vec![FieldFate::Kept; members.len()];
    for (bytes, place) in order {
        if left <= MAX_BODY_BYTES {
            break;
        }
        let name_bytes = members[place].name_bytes;
        if bytes > PLACEHOLDER_BYTES && name_bytes < MAX_ESSENTIAL_BYTES {
            fates[place] = FieldFate::Replaced(bytes);
            left -= bytes - PLACEHOLDER_BYTES;
        } else {
            fates[place] = FieldFate::Removed;
            left -= bytes + name_bytes;
        }
    }
    let fated = |((name, value), fate)| match fate {
        FieldFate::Kept => Some((name, value)),
        FieldFate::Replaced(bytes) => Some((name, build_placeholder(&value, bytes))),
        FieldFate::Removed => None,
    };
    body.into_iter().zip(fates).filter_map(fated).collect()
}

/// What stands in the place of something that was left out. It is of the same kind, because receivers ask for that.
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
    fn what_fits_is_left_alone() {
        let body = json!({"session_id": "one", "prompt": "x".repeat(MAX_BODY_BYTES - 100)});
        assert_eq!(Value::Object(truncate_value(body.clone())), body);
    }

    #[test]
    fn long_texts_are_cut_before_anything_is_left_out() {
        let many: Vec<_> = (0..40).map(|_| "x".repeat(60_000)).collect();
        let body = truncate_value(json!({"session_id": "one", "tool_input": {"files": many}}));
        let files = body["tool_input"]["files"].as_array().unwrap();
        assert_eq!(files.len(), 40);
        assert!(files.iter().all(|file| file.as_str().unwrap().contains("left out")));
    }

    #[test]
    fn what_is_nested_too_deeply_is_left_out_and_nothing_else() {
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
    fn of_what_cannot_be_cut_the_largest_goes_first() {
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
    fn very_many_fields_take_no_longer_than_a_few_for_their_size() {
        // If each that goes had to be looked for among all others, this would take minutes.
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
        fn whatever_it_is_it_fits_and_keeps_its_session(
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
