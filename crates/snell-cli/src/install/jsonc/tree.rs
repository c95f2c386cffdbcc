//! A settings file as a tree in which everything knows where it stands.

use std::ops::Range;

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use snell::replace_lone_surrogates;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct JsonNode {
    pub(crate) span: Range<usize>,
    pub(crate) value: JsonNodeValue,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum JsonNodeValue {
    Object(Vec<JsonMember>),
    Array(Vec<JsonNode>),
    Text(String),
    Bool(bool),
    /// A number or null, as it is written.
    Other(String),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct JsonMember {
    pub(crate) key: String,
    /// From the key to the end of the value.
    pub(crate) span: Range<usize>,
    pub(crate) node: JsonNode,
}

/// A value without regard to where it stands and how it is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonContent {
    Object(Vec<(String, JsonContent)>),
    Array(Vec<JsonContent>),
    Text(String),
    Bool(bool),
    Other(String),
}

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(crate) struct SettingsFault {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Reads JSON with comments and trailing commas, as Snell does everywhere; nothing for a text without a value.
pub(crate) fn parse_jsonc(text: &str) -> Result<Option<JsonNode>, SettingsFault> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    // As long as what they stand for, so that everything stays where it stands.
    let readable = replace_lone_surrogates(text);
    let parsed = parse_to_ast(&readable, &CollectOptions::default(), &options).map_err(|error| SettingsFault {
        at: error.range().start,
        message: format!("is not valid JSON: {}", error.kind()),
    })?;
    Ok(parsed.value.map(|value| convert_node(value, text)))
}

fn convert_node(value: ast::Value<'_>, text: &str) -> JsonNode {
    let range = value.range();
    let span = range.start..range.end;
    let value = match value {
        ast::Value::Object(object) => {
            let members = object.properties.into_iter().map(|property| JsonMember {
                span: property.range.start..property.range.end,
                key: property.name.into_string(),
                node: convert_node(property.value, text),
            });
            JsonNodeValue::Object(members.collect())
        }
        ast::Value::Array(array) => {
            JsonNodeValue::Array(array.elements.into_iter().map(|item| convert_node(item, text)).collect())
        }
        ast::Value::StringLit(lit) => JsonNodeValue::Text(lit.value.into_owned()),
        ast::Value::BooleanLit(lit) => JsonNodeValue::Bool(lit.value),
        ast::Value::NumberLit(_) | ast::Value::NullKeyword(_) => JsonNodeValue::Other(text[span.clone()].to_owned()),
    };
    JsonNode { span, value }
}

impl JsonNode {
    /// The member of this name. Of several the last one counts, as it does for agents.
    pub(crate) fn member(&self, key: &str) -> Option<&JsonMember> {
        self.members()?.iter().rfind(|member| member.key == key)
    }

    /// The value of the member of this name.
    pub(crate) fn get(&self, key: &str) -> Option<&JsonNode> {
        self.member(key).map(|member| &member.node)
    }

    pub(crate) fn members(&self) -> Option<&[JsonMember]> {
        match &self.value {
            JsonNodeValue::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> Option<&[JsonNode]> {
        match &self.value {
            JsonNodeValue::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            JsonNodeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self.value, JsonNodeValue::Bool(true))
    }

    /// The texts of an array of texts.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        let texts = self.items()?.iter().map(|item| item.text().map(str::to_owned));
        texts.collect()
    }

    /// What it is, in a sentence.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            JsonNodeValue::Object(_) => "an object",
            JsonNodeValue::Array(_) => "an array",
            JsonNodeValue::Text(_) => "a text",
            JsonNodeValue::Bool(_) => "a boolean",
            JsonNodeValue::Other(written) if written == "null" => "null",
            JsonNodeValue::Other(_) => "a number",
        }
    }

    pub(crate) fn to_content(&self) -> JsonContent {
        match &self.value {
            JsonNodeValue::Object(members) => JsonContent::Object(
                members.iter().map(|member| (member.key.clone(), member.node.to_content())).collect(),
            ),
            JsonNodeValue::Array(items) => JsonContent::Array(items.iter().map(JsonNode::to_content).collect()),
            JsonNodeValue::Text(text) => JsonContent::Text(text.clone()),
            JsonNodeValue::Bool(value) => JsonContent::Bool(*value),
            JsonNodeValue::Other(written) => JsonContent::Other(written.clone()),
        }
    }
}
