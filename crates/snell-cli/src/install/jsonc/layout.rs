//! The layout of a file, so that additions look like the rest.

use serde_json::Value;
use snell::SpannedNode;

use super::SettingsDocument;
use super::trivia::{is_line_start, line_indentation};

/// The layout of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JsonLayout {
    pub(super) newline: &'static str,
    /// The indentation of one level.
    pub(super) indentation: String,
    /// Whether the whole file is on one line.
    pub(super) is_one_line: bool,
    /// Whether a blank follows colons and commas.
    is_spaced: bool,
}

impl JsonLayout {
    pub(super) fn detect(document: &SettingsDocument) -> Self {
        let text = &document.text;
        let members = document.root().and_then(SpannedNode::members).unwrap_or_default();
        let is_windows = text.find('\n').is_some_and(|at| text[..at].ends_with('\r'));
        let indented = members.iter().find(|member| is_line_start(text, member.key_offset));
        let indentation = indented.map(|member| line_indentation(text, member.key_offset));
        let inside = document.root().map_or("", |root| &text[root.span()]);
        Self {
            newline: if is_windows { "\r\n" } else { "\n" },
            indentation: indentation.filter(|blanks| !blanks.is_empty()).unwrap_or("  ").to_owned(),
            is_one_line: !members.is_empty() && !inside.contains('\n'),
            is_spaced: members.first().is_none_or(|member| text[..member.node.offset].ends_with(char::is_whitespace)),
        }
    }

    /// The text after colons and commas.
    pub(super) fn separator_blank(&self) -> &'static str {
        if self.is_spaced { " " } else { "" }
    }

    /// A member of an object, or an item of an array, which has no key.
    pub(super) fn render_item(&self, key: Option<&str>, value: &Value) -> String {
        let blank = self.separator_blank();
        let key = key.map_or_else(String::new, |key| format!("{}:{blank}", Value::from(key)));
        format!("{key}{}", render_value(value, blank))
    }
}

/// A value on one line: thirty events are easier to read on thirty lines than on three hundred.
pub(in crate::install) fn render_value(value: &Value, blank: &str) -> String {
    let between = format!(",{blank}");
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| render_value(item, blank)).collect();
            format!("[{}]", items.join(&between))
        }
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| format!("{}:{blank}{}", Value::from(key.as_str()), render_value(value, blank)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(&between))
        }
        scalar => scalar.to_string(),
    }
}
