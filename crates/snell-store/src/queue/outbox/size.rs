//! How many bytes JSON takes, as it is and with its long texts cut: all of it known after one look.

use serde_json::Value;

use crate::record::event_record::truncate_with_notice;

/// To so many bytes texts may be cut.
pub(super) const TEXT_LIMITS: [usize; 5] = [16 * 1024, 4 * 1024, 1024, 256, 64];

/// The size of a value when it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct JsonSizes {
    /// As it is.
    pub(super) whole: usize,
    /// With its texts cut, for each of the limits.
    pub(super) truncated: [usize; TEXT_LIMITS.len()],
}

impl JsonSizes {
    /// The sizes of a value.
    pub(super) fn from_value(value: &Value) -> Self {
        let mut sizes = Self::default();
        sizes.add_value(value);
        sizes
    }

    /// The same with so many more bytes.
    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.whole += bytes;
        self.truncated.iter_mut().for_each(|cut| *cut += bytes);
    }

    /// Adds what something else takes.
    pub(super) fn add_sizes(&mut self, other: &Self) {
        self.whole += other.whole;
        for (cut, more) in self.truncated.iter_mut().zip(other.truncated) {
            *cut += more;
        }
    }

    fn add_value(&mut self, value: &Value) {
        match value {
            Value::Null | Value::Bool(true) => self.add_bytes(4),
            Value::Bool(false) => self.add_bytes(5),
            Value::Number(number) => self.add_bytes(number.to_string().len()),
            Value::String(text) => self.add_text(text),
            Value::Array(items) => {
                self.add_bytes(count_bracket_bytes(items.len()));
                items.iter().for_each(|item| self.add_value(item));
            }
            Value::Object(fields) => {
                self.add_bytes(count_bracket_bytes(fields.len()));
                for (name, field) in fields {
                    self.add_bytes(count_text_bytes(name) + 1);
                    self.add_value(field);
                }
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        let whole = count_text_bytes(text);
        self.whole += whole;
        for (size, most) in self.truncated.iter_mut().zip(TEXT_LIMITS) {
            *size += if text.len() <= most { whole } else { count_text_bytes(&truncate_with_notice(text, most)) };
        }
    }
}

/// The brackets around so many members, and the commas between them.
pub(super) fn count_bracket_bytes(members: usize) -> usize {
    2 + members.saturating_sub(1)
}

/// A text with its quotes, and with what must be escaped in it.
pub(super) fn count_text_bytes(text: &str) -> usize {
    let more = |byte: &u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0x00..=0x1f => 5,
        _ => 0,
    };
    2 + text.len() + text.as_bytes().iter().map(more).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_text_is_measured_as_it_would_be_cut() {
        let text = "ä\n\u{1}\"".repeat(9_000);
        let sizes = JsonSizes::from_value(&json!([text, text]));
        assert_eq!(sizes.whole, json!([text, text]).to_string().len());
        for (size, most) in sizes.truncated.into_iter().zip(TEXT_LIMITS) {
            let short = truncate_with_notice(&text, most);
            assert_eq!(size, json!([short, short]).to_string().len(), "{most}");
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            "[\\x00-\\x7f]{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::vec((any::<String>(), inner), 0..6).prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_it_is_its_size_is_that_of_what_is_written(value in any_json()) {
            prop_assert_eq!(JsonSizes::from_value(&value).whole, value.to_string().len());
        }
    }
}
