//! A parsed JSON or TOML document whose values have positions.

use std::borrow::Cow;
use std::ops::Range;

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use toml::de::{DeTable, DeValue};

use crate::event::replace_lone_surrogates;

/// A value, and its byte offsets in the text.
#[derive(Debug, Clone)]
pub struct SpannedNode {
    /// The offset of its first byte.
    pub offset: usize,
    /// The offset after its last byte.
    pub end: usize,
    /// The value.
    pub value: NodeValue,
}

/// A value of a document.
#[derive(Debug, Clone)]
pub enum NodeValue {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number. Its text has its exact value.
    Number(f64),
    /// A string, without its escapes.
    String(String),
    /// An array.
    Array(Vec<SpannedNode>),
    /// An object or a table, in the order of the text. JSON may have a key twice.
    Object(Vec<SpannedMember>),
    /// A TOML date, as it was written.
    Date(String),
}

/// A key and its value.
#[derive(Debug, Clone)]
pub struct SpannedMember {
    /// The key.
    pub key: String,
    /// The offset of the key.
    pub key_offset: usize,
    /// The value.
    pub node: SpannedNode,
}

impl SpannedMember {
    /// From the key to the end of the value.
    pub fn span(&self) -> Range<usize> {
        self.key_offset..self.node.end
    }
}

/// Why a document could not be parsed, and where.
#[derive(Debug)]
pub struct DocumentSyntaxError {
    /// The byte offset.
    pub offset: usize,
    /// The problem.
    pub message: String,
    /// The TOML table that is written twice.
    pub duplicate_table: Option<String>,
}

impl DocumentSyntaxError {
    fn new(offset: usize, message: impl Into<String>) -> Self {
        Self { offset, message: message.into(), duplicate_table: None }
    }

    /// Describes an error of the TOML parser. A table that is written twice gets its name and its first line.
    fn from_toml(text: &str, error: &toml::de::Error) -> Self {
        let offset = error.span().map_or(0, |span| span.start);
        match find_duplicate_table(text, offset).filter(|_| error.message().starts_with("duplicate key")) {
            Some((name, line)) => Self {
                duplicate_table: Some(name.to_owned()),
                ..Self::new(
                    offset,
                    format!("is not valid TOML: duplicate table [{name}]; it already stands in line {line}"),
                )
            },
            None => Self::new(offset, format!("is not valid TOML: {}", error.message())),
        }
    }
}

/// The name of the table whose header is at this offset, and the line of an earlier header with the same name.
fn find_duplicate_table(text: &str, offset: usize) -> Option<(&str, usize)> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |end| end + 1);
    let name = parse_table_header(text[start..].lines().next()?)?;
    let first = text[..start].lines().position(|line| parse_table_header(line) == Some(name))?;
    Some((name, first + 1))
}

/// The name in `[name]`.
fn parse_table_header(line: &str) -> Option<&str> {
    let (name, rest) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let rest = rest.trim();
    let is_header = !name.starts_with('[') && (rest.is_empty() || rest.starts_with('#'));
    is_header.then_some(name.trim())
}

impl SpannedNode {
    /// The byte range of the value in the text.
    pub fn span(&self) -> Range<usize> {
        self.offset..self.end
    }

    /// The members, if it is an object.
    pub fn members(&self) -> Option<&[SpannedMember]> {
        if let NodeValue::Object(members) = &self.value { Some(members) } else { None }
    }

    /// The value of the last member with this key. Agents use the last one too.
    pub fn get(&self, key: &str) -> Option<&SpannedNode> {
        self.members()?.iter().rfind(|member| member.key == key).map(|member| &member.node)
    }

    /// The items, if it is an array.
    pub fn items(&self) -> Option<&[SpannedNode]> {
        if let NodeValue::Array(items) = &self.value { Some(items) } else { None }
    }

    /// The text, if it is a string.
    pub fn text(&self) -> Option<&str> {
        if let NodeValue::String(text) = &self.value { Some(text) } else { None }
    }

    /// The texts, if it is an array of nothing but strings.
    pub fn texts(&self) -> Option<Vec<String>> {
        self.items()?.iter().map(|item| item.text().map(str::to_owned)).collect()
    }

    /// Whether it is `true`.
    pub fn is_true(&self) -> bool {
        matches!(self.value, NodeValue::Bool(true))
    }

    /// The kind of the value, for a sentence.
    pub fn kind_name(&self) -> &'static str {
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

    /// Parses JSON with comments and trailing commas. Returns `None` for a text without a value. The parser rejects documents
    /// that are nested more than 512 levels deep.
    ///
    /// # Errors
    ///
    /// When the text is not JSON. The message is the parser's own.
    pub fn parse_json(text: &str) -> Result<Option<Self>, DocumentSyntaxError> {
        // The text keeps its length, so positions stay correct.
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
        let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
            .map_err(|error| DocumentSyntaxError::new(error.range().start, error.kind().to_string()))?;
        Ok(parsed.value.map(convert_json))
    }

    /// Parses JSON with comments and trailing commas, as [`SpannedNode::parse_json`] does. There must be a value.
    pub(crate) fn from_json(text: &str) -> Result<Self, DocumentSyntaxError> {
        let node = Self::parse_json(text).map_err(|error| DocumentSyntaxError {
            message: format!("is not valid JSON: {}", lowercase_first(&error.message)),
            ..error
        })?;
        node.ok_or_else(|| DocumentSyntaxError::new(0, "is empty instead of a JSON object such as {}"))
    }

    /// Parses TOML. The parser rejects documents that are nested more than 80 levels deep.
    ///
    /// # Errors
    ///
    /// When the text is not TOML.
    pub fn from_toml(text: &str) -> Result<Self, DocumentSyntaxError> {
        let table = DeTable::parse(text).map_err(|error| DocumentSyntaxError::from_toml(text, &error))?;
        Ok(make_node(table.span(), NodeValue::Object(convert_toml_table(table.get_ref()))))
    }
}

fn lowercase_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

fn convert_json(value: ast::Value<'_>) -> SpannedNode {
    let range = value.range();
    let value = match value {
        ast::Value::NullKeyword(_) => NodeValue::Null,
        ast::Value::BooleanLit(lit) => NodeValue::Bool(lit.value),
        ast::Value::NumberLit(lit) => NodeValue::Number(lit.value.parse().unwrap_or(f64::NAN)),
        ast::Value::StringLit(lit) => NodeValue::String(lit.value.into_owned()),
        ast::Value::Array(array) => NodeValue::Array(array.elements.into_iter().map(convert_json).collect()),
        ast::Value::Object(object) => {
            let members = object.properties.into_iter().map(|property| SpannedMember {
                key_offset: property.range.start,
                key: property.name.into_string(),
                node: convert_json(property.value),
            });
            NodeValue::Object(members.collect())
        }
    };
    make_node(range.start..range.end, value)
}

fn convert_toml(span: Range<usize>, value: &DeValue<'_>) -> SpannedNode {
    let value = match value {
        DeValue::String(text) => NodeValue::String(Cow::clone(text).into_owned()),
        DeValue::Integer(integer) => NodeValue::Number(
            i64::from_str_radix(integer.as_str(), integer.radix()).map_or(f64::NAN, |number| number as f64),
        ),
        DeValue::Float(float) => NodeValue::Number(float.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => NodeValue::Bool(*value),
        DeValue::Datetime(date) => NodeValue::Date(date.to_string()),
        DeValue::Array(array) => {
            NodeValue::Array(array.iter().map(|item| convert_toml(item.span(), item.get_ref())).collect())
        }
        DeValue::Table(table) => NodeValue::Object(convert_toml_table(table)),
    };
    make_node(span, value)
}

fn convert_toml_table(table: &DeTable<'_>) -> Vec<SpannedMember> {
    let mut members: Vec<_> = table
        .iter()
        .map(|(key, value)| SpannedMember {
            key: key.get_ref().clone().into_owned(),
            key_offset: key.span().start,
            node: convert_toml(value.span(), value.get_ref()),
        })
        .collect();
    // The parser sorts by key, but people expect diagnostics in the order of the file.
    members.sort_by_key(|member| member.key_offset);
    members
}

fn make_node(span: Range<usize>, value: NodeValue) -> SpannedNode {
    SpannedNode { offset: span.start, end: span.end, value }
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
