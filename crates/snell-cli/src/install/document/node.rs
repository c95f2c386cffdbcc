//! A settings file as a tree in which everything knows where it stands.

use std::ops::Range;

use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use snell::replace_lone_surrogates;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) value: Value,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Object(Vec<Member>),
    Array(Vec<Node>),
    Text(String),
    Bool(bool),
    /// A number or null, as it is written.
    Other(String),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) key: String,
    /// From the key to the end of the value.
    pub(crate) span: Range<usize>,
    pub(crate) node: Node,
}

/// A value without regard to where it stands and how it is laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Object(Vec<(String, Meaning)>),
    Array(Vec<Meaning>),
    Text(String),
    Bool(bool),
    Other(String),
}

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) at: usize,
    pub(crate) message: String,
}

/// Reads JSON with comments and trailing commas, as Snell does everywhere; nothing for a text without a value.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Fault> {
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
    let parsed = parse_to_ast(&readable, &CollectOptions::default(), &options).map_err(|error| Fault {
        at: error.range().start,
        message: format!("is not valid JSON: {}", error.kind()),
    })?;
    Ok(parsed.value.map(|value| node(value, text)))
}

fn node(value: ast::Value<'_>, text: &str) -> Node {
    let range = value.range();
    let span = range.start..range.end;
    let value = match value {
        ast::Value::Object(object) => {
            let members = object.properties.into_iter().map(|property| Member {
                span: property.range.start..property.range.end,
                key: property.name.into_string(),
                node: node(property.value, text),
            });
            Value::Object(members.collect())
        }
        ast::Value::Array(array) => Value::Array(array.elements.into_iter().map(|item| node(item, text)).collect()),
        ast::Value::StringLit(lit) => Value::Text(lit.value.into_owned()),
        ast::Value::BooleanLit(lit) => Value::Bool(lit.value),
        ast::Value::NumberLit(_) | ast::Value::NullKeyword(_) => Value::Other(text[span.clone()].to_owned()),
    };
    Node { span, value }
}

impl Node {
    /// The member of this name. Of several the last one counts, as it does for agents.
    pub(crate) fn member(&self, key: &str) -> Option<&Member> {
        self.members()?.iter().rfind(|member| member.key == key)
    }

    /// The value of the member of this name.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.member(key).map(|member| &member.node)
    }

    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.value {
            Value::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(crate) fn items(&self) -> Option<&[Node]> {
        match &self.value {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self.value, Value::Bool(true))
    }

    /// The texts of an array of texts.
    pub(crate) fn texts(&self) -> Option<Vec<String>> {
        let texts = self.items()?.iter().map(|item| item.text().map(str::to_owned));
        texts.collect()
    }

    /// What it is, in a sentence.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            Value::Object(_) => "an object",
            Value::Array(_) => "an array",
            Value::Text(_) => "a text",
            Value::Bool(_) => "a boolean",
            Value::Other(written) if written == "null" => "null",
            Value::Other(_) => "a number",
        }
    }

    pub(crate) fn meaning(&self) -> Meaning {
        match &self.value {
            Value::Object(members) => Meaning::Object(
                members
                    .iter()
                    .map(|member| (member.key.clone(), member.node.meaning()))
                    .collect(),
            ),
            Value::Array(items) => Meaning::Array(items.iter().map(Node::meaning).collect()),
            Value::Text(text) => Meaning::Text(text.clone()),
            Value::Bool(value) => Meaning::Bool(*value),
            Value::Other(written) => Meaning::Other(written.clone()),
        }
    }
}
