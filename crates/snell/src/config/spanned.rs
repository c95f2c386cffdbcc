//! A parsed document, JSON or TOML, in which every value knows where it was written.

use std::borrow::Cow;

use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use toml::de::{DeTable, DeValue};

use crate::event::replace_lone_surrogates;

/// A value and the byte offset at which it begins.
#[derive(Debug, Clone)]
pub(crate) struct SpannedNode {
    pub(crate) offset: usize,
    pub(crate) value: NodeValue,
}

#[derive(Debug, Clone)]
pub(crate) enum NodeValue {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<SpannedNode>),
    Object(Vec<SpannedMember>),
    /// A TOML date, as it was written.
    Date(String),
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(crate) struct SpannedMember {
    pub(crate) key: String,
    pub(crate) key_offset: usize,
    pub(crate) node: SpannedNode,
}

/// Why a document could not be parsed, and where.
#[derive(Debug)]
pub(crate) struct DocumentSyntaxError {
    pub(crate) offset: usize,
    pub(crate) message: String,
}

impl SpannedNode {
    /// What the value is, in a sentence.
    pub(crate) fn kind_name(&self) -> &'static str {
        match &self.value {
            NodeValue::Null => "null",
            NodeValue::Bool(_) => "a boolean",
            NodeValue::Number(_) => "a number",
            NodeValue::String(_) => "a string",
            NodeValue::Array(_) => "an array",
            NodeValue::Object(_) => "an object",
            NodeValue::Date(_) => "a date",
        }
    }

    /// Parses JSON with comments and trailing commas. The parser refuses what is nested more than 512 levels deep.
    pub(crate) fn from_json(text: &str) -> Result<Self, DocumentSyntaxError> {
        // Same length, so that every position stays true.
        let text = &replace_lone_surrogates(text);
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
        let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| DocumentSyntaxError {
            offset: error.range().start,
            message: format!("is not valid JSON: {}", lowercase_first(&error.kind().to_string())),
        })?;
        match parsed.value {
            Some(value) => Ok(convert_json(value)),
            None => Err(DocumentSyntaxError { offset: 0, message: "is empty; write {} or remove it".into() }),
        }
    }

    /// Parses TOML. The parser refuses what is nested more than 80 levels deep.
    pub(crate) fn from_toml(text: &str) -> Result<Self, DocumentSyntaxError> {
        let table = DeTable::parse(text).map_err(|error| DocumentSyntaxError {
            offset: error.span().map_or(0, |span| span.start),
            message: format!("is not valid TOML: {}", error.message()),
        })?;
        let at = table.span().start;
        Ok(Self { offset: at, value: NodeValue::Object(convert_toml_table(table.get_ref())) })
    }
}

fn lowercase_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

fn convert_json(value: ast::Value<'_>) -> SpannedNode {
    match value {
        ast::Value::NullKeyword(null) => make_node(null.range.start, NodeValue::Null),
        ast::Value::BooleanLit(lit) => make_node(lit.range.start, NodeValue::Bool(lit.value)),
        ast::Value::NumberLit(lit) => {
            make_node(lit.range.start, NodeValue::Number(lit.value.parse().unwrap_or(f64::NAN)))
        }
        ast::Value::StringLit(lit) => make_node(lit.range.start, NodeValue::String(lit.value.into_owned())),
        ast::Value::Array(array) => {
            make_node(array.range.start, NodeValue::Array(array.elements.into_iter().map(convert_json).collect()))
        }
        ast::Value::Object(object) => {
            let members = object
                .properties
                .into_iter()
                .map(|property| SpannedMember {
                    key_offset: property.range.start,
                    key: property.name.into_string(),
                    node: convert_json(property.value),
                })
                .collect();
            make_node(object.range.start, NodeValue::Object(members))
        }
    }
}

fn convert_toml(at: usize, value: &DeValue<'_>) -> SpannedNode {
    let value = match value {
        DeValue::String(text) => NodeValue::String(Cow::clone(text).into_owned()),
        DeValue::Integer(integer) => NodeValue::Number(
            i64::from_str_radix(integer.as_str(), integer.radix()).map_or(f64::NAN, |number| number as f64),
        ),
        DeValue::Float(float) => NodeValue::Number(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => NodeValue::Bool(*value),
        DeValue::Datetime(date) => NodeValue::Date(date.to_string()),
        DeValue::Array(array) => {
            NodeValue::Array(array.iter().map(|item| convert_toml(item.span().start, item.get_ref())).collect())
        }
        DeValue::Table(table) => NodeValue::Object(convert_toml_table(table)),
    };
    make_node(at, value)
}

fn convert_toml_table(table: &DeTable<'_>) -> Vec<SpannedMember> {
    let mut members: Vec<_> = table
        .iter()
        .map(|(key, value)| SpannedMember {
            key: key.get_ref().clone().into_owned(),
            key_offset: key.span().start,
            node: convert_toml(value.span().start, value.get_ref()),
        })
        .collect();
    // The parser's map is sorted by key; people expect findings in the order of the file.
    members.sort_by_key(|member| member.key_offset);
    members
}

fn make_node(at: usize, value: NodeValue) -> SpannedNode {
    SpannedNode { offset: at, value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_and_trailing_commas_are_fine_and_other_liberties_are_not() {
        let cases = [
            ("{\"a\": 1, // one\n /* two */ \"b\": [1,],}", true),
            ("{'a': 1}", false),
            ("{a: 1}", false),
            ("{\"a\": 1 \"b\": 2}", false),
            ("{\"a\": +1}", false),
            ("", false),
            ("{\"a\"", false),
        ];
        for (text, expected) in cases {
            assert_eq!(SpannedNode::from_json(text).is_ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_deeply_nested_document_is_refused() {
        let json = "[".repeat(100_000);
        assert!(SpannedNode::from_json(&json).unwrap_err().message.contains("nesting depth"));
        let toml = format!("a = {}", "[".repeat(100_000));
        assert!(SpannedNode::from_toml(&toml).is_err());
        let fine = format!("{}{}", "[".repeat(64), "]".repeat(64));
        assert!(SpannedNode::from_json(&fine).is_ok());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r#"[\[\]{}",:/*\\a-z0-9\n= #']{0,120}"#) {
            let _ = SpannedNode::from_json(&text);
            let _ = SpannedNode::from_toml(&text);
        }
    }
}
