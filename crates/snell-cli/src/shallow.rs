//! JSON that is nested too deeply to be read, with its depths left out.

/// So many levels stay, which is more than any receiver asks for.
const MAX_LEVELS: usize = 200;

/// What stands in the place of what was left out.
const REMARK: &[u8] = b"\"[left out: nested too deeply]\"";

/// The text of a JSON document without what is nested too deeply. What is no JSON becomes none by this.
pub(crate) fn shallow(json: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(json.len());
    let mut level = 0_usize;
    let (mut in_string, mut escaped) = (false, false);
    for byte in json {
        let is_kept = level <= MAX_LEVELS;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                level += 1;
                if level == MAX_LEVELS + 1 {
                    kept.extend_from_slice(REMARK);
                    continue;
                }
            }
            b']' | b'}' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
        if is_kept {
            kept.push(*byte);
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
}
