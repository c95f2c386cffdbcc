//! Attributes in the JSON form of OTLP.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The longest text. Longer ones are cut.
const MAX_TEXT_BYTES: usize = 4096;

/// A list of attributes, as OTLP JSON: 64-bit integers are strings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct AttributeList(Vec<Value>);

impl AttributeList {
    /// Adds a text, if there is one.
    pub(super) fn text<'t>(&mut self, key: &str, text: impl Into<Option<&'t str>>) -> &mut Self {
        if let Some(text) = text.into().filter(|text| !text.is_empty()) {
            self.0.push(json!({"key": key, "value": {"stringValue": cut_text(text)}}));
        }
        self
    }

    /// Adds a number, if there is one.
    pub(super) fn int(&mut self, key: &str, number: impl Into<Option<i64>>) -> &mut Self {
        if let Some(number) = number.into() {
            self.0.push(json!({"key": key, "value": {"intValue": number.to_string()}}));
        }
        self
    }

    /// The list as JSON.
    pub(super) fn to_json(&self) -> Value {
        Value::Array(self.0.clone())
    }
}

fn cut_text(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    format!("{}…", &text[..text.floor_char_boundary(MAX_TEXT_BYTES)])
}
