//! Cuts JSON that is nested too deeply or holds too many values.

use snell::{JsonStringScanner, MAX_JSON_VALUES};

/// Deeper levels are removed. Receivers need far fewer.
const MAX_DEPTH: usize = 200;

/// Replaces a value that was removed.
const DEPTH_REMARK: &[u8] = b"\"[left out: nested too deeply]\"";

/// The JSON text without values that are nested too deeply. Invalid JSON stays invalid.
pub(crate) fn drop_deep_values(json: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(json.len());
    let mut level = 0_usize;
    let mut strings = JsonStringScanner::default();
    for byte in json {
        let is_kept = level <= MAX_DEPTH;
        let is_outside = strings.is_outside_string(*byte);
        match byte {
            b'[' | b'{' if is_outside => {
                level += 1;
                if level == MAX_DEPTH + 1 {
                    kept.extend_from_slice(DEPTH_REMARK);
                    continue;
                }
            }
            b']' | b'}' if is_outside => level = level.saturating_sub(1),
            _ => {}
        }
        if is_kept {
            kept.push(*byte);
        }
    }
    kept
}

/// [`drop_long_members`] removes a member of the document with more values than this, so that the other members can be read.
const MAX_MEMBER_VALUES: usize = MAX_JSON_VALUES / 8;

/// Replaces a member that was removed.
const VALUE_COUNT_REMARK: &[u8] = b"\"[left out: too many values]\"";

/// The JSON text without members that hold too many values.
pub(crate) fn drop_long_members(json: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(json.len());
    let (mut level, mut begin, mut values) = (0_usize, 0, 0_usize);
    let mut strings = JsonStringScanner::default();
    for byte in json {
        let is_kept = level < 2 || values <= MAX_MEMBER_VALUES;
        if is_kept {
            kept.push(*byte);
        }
        let is_outside = strings.is_outside_string(*byte);
        match byte {
            b'[' | b'{' if is_outside => {
                level += 1;
                values += 1;
                if level == 2 {
                    (begin, values) = (kept.len() - 1, 0);
                }
            }
            b',' if is_outside => values += 1,
            b']' | b'}' if is_outside => {
                level = level.saturating_sub(1);
                if level == 1 && values > MAX_MEMBER_VALUES {
                    kept.truncate(begin);
                    kept.extend_from_slice(VALUE_COUNT_REMARK);
                }
            }
            _ => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest_arrays(levels: usize, core: &str) -> String {
        format!("{}{core}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn what_is_nested_too_deeply_is_left_out_and_nothing_else() {
        let remark = std::str::from_utf8(DEPTH_REMARK).unwrap();
        let whole = nest_arrays(MAX_DEPTH, "1, \"]}\\\"[\", 2");
        let rows = [
            (whole.clone(), whole),
            (nest_arrays(MAX_DEPTH + 1, "1"), nest_arrays(MAX_DEPTH, remark)),
            (
                nest_arrays(MAX_DEPTH, "[[\"]\\\"\", {\"ä\": []}], 1], {}, 2"),
                nest_arrays(MAX_DEPTH, &format!("{remark}, {remark}, 2")),
            ),
            (nest_arrays(100_000, ""), nest_arrays(MAX_DEPTH, remark)),
            ("]]]".into(), "]]]".into()),
        ];
        for (text, expected) in rows {
            assert_eq!(String::from_utf8(drop_deep_values(text.as_bytes())).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn members_with_too_many_values_are_left_out_and_nothing_else() {
        let list = |values: usize| format!("[{}0]", "0,".repeat(values));
        let remark = std::str::from_utf8(VALUE_COUNT_REMARK).unwrap();
        let object = |first: &str, second: &str| format!("{{\"a\": {first}, \"b\": {second}, \"c\": 1}}");
        let (short, long) = (list(MAX_MEMBER_VALUES), list(MAX_MEMBER_VALUES + 1));
        let text = format!("\"{}\"", ",[{\\\"".repeat(MAX_MEMBER_VALUES));
        let rows = [
            (object(&short, &text), object(&short, &text)),
            (object(&long, "{\"d\": [1]}"), object(remark, "{\"d\": [1]}")),
            (object("[1, {}]", &long), object("[1, {}]", remark)),
            (object(&long, &long), object(remark, remark)),
            (object(&format!("{{\"d\": {long}}}"), "[]"), object(remark, "[]")),
            (long.clone(), long),
            ("]]]".into(), "]]]".into()),
        ];
        for (text, expected) in rows {
            assert!(drop_long_members(text.as_bytes()) == expected.as_bytes(), "{text:.60}");
        }
    }
}
