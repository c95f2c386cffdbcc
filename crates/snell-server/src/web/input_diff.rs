//! Changes by hooks: a tool's input before and after, and a tool's output.

use maud::{Markup, html};
use serde_json::Value;

use super::format::truncate_text;

/// The maximum length of a value.
const MAX_VALUE_CHARS: usize = 2000;

/// The changed fields, folded.
pub(super) fn render_input_diff(before: &Value, after: &Value) -> Markup {
    html! {
        details.changed {
            summary { strong.warn { "input changed" } }
            dl {
                @for FieldDiff { name, before, after } in diff_fields(before, after) {
                    @if !name.is_empty() { dt { code { (truncate_text(&name, 100)) } } }
                    dd { del { (truncate_text(&before, MAX_VALUE_CHARS)) } span.arrow { " → " } ins { (truncate_text(&after, MAX_VALUE_CHARS)) } }
                }
            }
        }
    }
}

/// The output that the agent got instead, folded.
pub(super) fn render_changed_output(replacement: &Value) -> Markup {
    html! {
        details.changed {
            summary { strong.warn { "output changed" } }
            pre { (truncate_text(&format_value(Some(replacement)), MAX_VALUE_CHARS)) }
        }
    }
}

/// A changed field; the whole value, if it has no fields.
#[derive(Debug, PartialEq, Eq)]
struct FieldDiff {
    name: String,
    before: String,
    after: String,
}

fn diff_fields(before: &Value, after: &Value) -> Vec<FieldDiff> {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return vec![FieldDiff {
            name: String::new(),
            before: format_value(Some(before)),
            after: format_value(Some(after)),
        }];
    };
    let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
    names
        .filter(|name| old.get(*name) != new.get(*name))
        .map(|name| FieldDiff {
            name: name.clone(),
            before: format_value(old.get(name)),
            after: format_value(new.get(name)),
        })
        .collect()
}

/// A value as text.
fn format_value(value: Option<&Value>) -> String {
    match value {
        None => "none".to_owned(),
        Some(Value::Null) => "not stored".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_differences_are_listed() {
        let cases = [
            (
                json!({"command": "rm x", "description": "d"}),
                json!({"command": "rm -i x", "description": "d"}),
                vec![("command", "rm x", "rm -i x")],
            ),
            (
                json!({"a": 1, "gone": true}),
                json!({"a": [1], "new": "n"}),
                vec![("a", "1", "[1]"), ("gone", "true", "none"), ("new", "none", "n")],
            ),
            (Value::Null, json!({"a": 1}), vec![("", "not stored", "{\"a\":1}")]),
            (json!("text"), json!("other"), vec![("", "text", "other")]),
            (json!({"a": 1}), json!({"a": 1}), vec![]),
        ];
        for (before, after, expected) in cases {
            let found = diff_fields(&before, &after);
            let found: Vec<_> =
                found.iter().map(|one| (one.name.as_str(), one.before.as_str(), one.after.as_str())).collect();
            assert_eq!(found, expected, "{before} {after}");
        }
    }
}
