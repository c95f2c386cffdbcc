//! JSON that is nested too deeply or holds too many values to be read, with those parts left out.

use snell::{JsonStringScanner, MAX_JSON_VALUES};

/// So many levels stay, which is more than any receiver asks for.
const MAX_LEVELS: usize = 200;

/// What stands in the place of what was left out.
const REMARK: &[u8] = b"\"[left out: nested too deeply]\"";

/// The text of a JSON document without what is nested too deeply. What is no JSON becomes none by this.
pub(crate) fn shallow(json: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(json.len());
    let mut level = 0_usize;
    let mut strings = JsonStringScanner::default();
    for byte in json {
        let is_kept = level <= MAX_LEVELS;
        let is_outside = strings.is_outside(*byte);
        match byte {
            b'[' | b'{' if is_outside => {
                level += 1;
                if level == MAX_LEVELS + 1 {
                    kept.extend_from_slice(REMARK);
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

/// A member of the document with more values than this is left out by [`thin`]. So a long list costs only itself: what stands
/// beside it can be read.
const MAX_MEMBER_VALUES: usize = MAX_JSON_VALUES / 8;

/// What stands in the place of a member that was left out.
const LONG_REMARK: &[u8] = b"\"[left out: too many values]\"";

/// The text of a JSON document without those of its members that hold too many values.
pub(crate) fn thin(json: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(json.len());
    let (mut level, mut begin, mut values) = (0_usize, 0, 0_usize);
    let mut strings = JsonStringScanner::default();
    for byte in json {
        let is_kept = level < 2 || values <= MAX_MEMBER_VALUES;
        if is_kept {
            kept.push(*byte);
        }
        let is_outside = strings.is_outside(*byte);
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
                    kept.extend_from_slice(LONG_REMARK);
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

    fn nested(levels: usize, core: &str) -> String {
        format!("{}{core}{}", "[".repeat(levels), "]".repeat(levels))
    }

    #[test]
    fn what_is_nested_too_deeply_is_left_out_and_nothing_else() {
        let remark = std::str::from_utf8(REMARK).unwrap();
        let whole = nested(MAX_LEVELS, "1, \"]}\\\"[\", 2");
        let rows = [
            (whole.clone(), whole),
            (nested(MAX_LEVELS + 1, "1"), nested(MAX_LEVELS, remark)),
            (
                nested(MAX_LEVELS, "[[\"]\\\"\", {\"ä\": []}], 1], {}, 2"),
                nested(MAX_LEVELS, &format!("{remark}, {remark}, 2")),
            ),
            (nested(100_000, ""), nested(MAX_LEVELS, remark)),
            ("]]]".into(), "]]]".into()),
        ];
        for (text, expected) in rows {
            assert_eq!(String::from_utf8(shallow(text.as_bytes())).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn members_with_too_many_values_are_left_out_and_nothing_else() {
        let list = |values: usize| format!("[{}0]", "0,".repeat(values));
        let remark = std::str::from_utf8(LONG_REMARK).unwrap();
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
            assert!(thin(text.as_bytes()) == expected.as_bytes(), "{text:.60}");
        }
    }
}
