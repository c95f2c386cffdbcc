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

/// The lines of a text that would change, with those around them.
pub(super) fn render_text_diff(before: &str, after: &str) -> Markup {
    let diff = LineDiff::compare(before, after);
    html! {
        pre.diff tabindex="0" {
            @for line in diff.same_before { span.same { "  " (line) "\n" } }
            @for line in diff.removed { del { "- " (line) "\n" } }
            @for line in diff.added { ins { "+ " (line) "\n" } }
            @for line in diff.same_after { span.same { "  " (line) "\n" } }
        }
        @if diff.hidden > 0 { p.warn { "… " (diff.hidden) " more lines are not shown. You cannot see all of it here." } }
    }
}

/// The maximum number of lines of a change, their maximum length, and the number of unchanged lines around them.
const MAX_DIFF_LINES: usize = 400;
const MAX_LINE_CHARS: usize = 1000;
const CONTEXT_LINES: usize = 3;

/// The one place where two texts differ.
#[derive(Debug, PartialEq, Eq)]
struct LineDiff {
    same_before: Vec<String>,
    removed: Vec<String>,
    added: Vec<String>,
    same_after: Vec<String>,
    /// The number of changed lines that are left out, or are cut.
    hidden: usize,
}

impl LineDiff {
    fn compare(before: &str, after: &str) -> Self {
        let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
        let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - start;
        let end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
        let mut hidden = 0;
        let mut shorten = |lines: &[&str]| -> Vec<String> {
            hidden += lines.len().saturating_sub(MAX_DIFF_LINES);
            let shown = lines.iter().take(MAX_DIFF_LINES);
            let shown = shown.map(|line| {
                line.char_indices().nth(MAX_LINE_CHARS).map_or((*line, false), |(at, _)| (&line[..at], true))
            });
            shown
                .map(|(line, is_cut)| {
                    hidden += usize::from(is_cut);
                    line.to_owned()
                })
                .collect()
        };
        Self {
            same_before: shorten(&old[start.saturating_sub(CONTEXT_LINES)..start]),
            removed: shorten(&old[start..old.len() - end]),
            added: shorten(&new[start..new.len() - end]),
            same_after: shorten(&old[old.len() - end..(old.len() - end + CONTEXT_LINES).min(old.len())]),
            hidden,
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
    fn a_text_diff_has_the_changed_lines_and_those_around_them() {
        let show = |before: &str, after: &str| {
            let diff = LineDiff::compare(before, after);
            let parts = [diff.same_before, diff.removed, diff.added, diff.same_after];
            (parts.map(|lines| lines.join("|")).join(" / "), diff.hidden)
        };
        let many = "x\n".repeat(500);
        let cases = [
            ("a\nb\nc", "a\nB\nc", "a / b / B / c", 0),
            ("1\n2\n3\n4\n5", "1\n2\n3\n4\nfive", "2|3|4 / 5 / five / ", 0),
            ("", "new\nfile", " /  / new|file / ", 0),
            ("gone", "", " / gone /  / ", 0),
            ("a\na", "a", "a / a /  / ", 0),
            ("same", "same", "same /  /  / ", 0),
        ];
        for (before, after, expected, hidden) in cases {
            assert_eq!(show(before, after), (expected.to_owned(), hidden), "{before} {after}");
        }
        assert_eq!(show("", &many).1, 100);
        assert_eq!(show("", &"x".repeat(2000)).1, 1);
    }

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
