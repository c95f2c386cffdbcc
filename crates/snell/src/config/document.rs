//! A document of the user that is no hook configuration, for callers that read it by their own rules.

use super::node::{Member, Node, NodeValue};
use super::source::Source;
use crate::diagnostic::{Diagnostic, Severity};

/// A parsed text, JSON (with comments and trailing commas) or TOML, in which every part knows where it stands.
#[derive(Debug)]
pub struct Document {
    source: Source,
    root: Node,
}

/// A value of a [`Document`].
#[derive(Clone, Copy, Debug)]
pub struct Part<'d> {
    source: &'d Source,
    node: &'d Node,
}

impl Document {
    /// Parses JSON. `shown` is what the document is called in findings.
    ///
    /// # Errors
    ///
    /// When the text is no JSON: what is wrong with it, and where.
    pub fn from_json(shown: impl Into<String>, text: impl Into<String>) -> Result<Self, Diagnostic> {
        Self::parse(Source::of_text(shown.into(), text.into()), Node::from_json)
    }

    /// Parses TOML. `shown` is what the document is called in findings.
    ///
    /// # Errors
    ///
    /// When the text is no TOML: what is wrong with it, and where.
    pub fn from_toml(shown: impl Into<String>, text: impl Into<String>) -> Result<Self, Diagnostic> {
        Self::parse(Source::of_text(shown.into(), text.into()), Node::from_toml)
    }

    fn parse(source: Source, parse: fn(&str) -> Result<Node, super::node::SyntaxError>) -> Result<Self, Diagnostic> {
        match parse(&source.text) {
            Ok(root) => Ok(Self { source, root }),
            Err(error) => Err(source.diagnostic(Severity::Error, error.at, error.message)),
        }
    }

    /// The outermost value.
    pub fn root(&self) -> Part<'_> {
        Part {
            source: &self.source,
            node: &self.root,
        }
    }
}

impl<'d> Part<'d> {
    /// What the value is, in a sentence: "a string", "an array".
    pub fn kind(self) -> &'static str {
        self.node.kind()
    }

    /// The text, if it is one.
    pub fn text(self) -> Option<&'d str> {
        match &self.node.value {
            NodeValue::String(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub fn number(self) -> Option<f64> {
        match self.node.value {
            NodeValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn items(self) -> Option<impl Iterator<Item = Part<'d>>> {
        let NodeValue::Array(items) = &self.node.value else {
            return None;
        };
        Some(items.iter().map(move |node| Self { node, ..self }))
    }

    /// The keys and their values in the order of the text, if it is an object. JSON may have a key twice.
    pub fn members(self) -> Option<impl Iterator<Item = (&'d str, Part<'d>)>> {
        let NodeValue::Object(members) = &self.node.value else {
            return None;
        };
        let part = move |member: &'d Member| {
            let node = &member.node;
            (member.key.as_str(), Self { node, ..self })
        };
        Some(members.iter().map(part))
    }

    /// That something is wrong here, as a finding.
    pub fn fault(self, message: impl Into<String>) -> Diagnostic {
        self.source.diagnostic(Severity::Error, self.node.at, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_knows_where_it_stands() {
        let cases = [
            (
                Document::from_toml("it", "a = 1\nb = [\"x\", 2]\n"),
                "it:2:6: error: no",
            ),
            (
                Document::from_json("it", "{\"a\": 1,\n \"b\": [\"x\", 2]}"),
                "it:2:8: error: no",
            ),
        ];
        for (document, expected) in cases {
            let document = document.unwrap();
            let (key, list) = document.root().members().unwrap().nth(1).unwrap();
            let items: Vec<_> = list.items().unwrap().collect();
            assert_eq!((key, list.kind()), ("b", "an array"));
            assert_eq!((items[0].text(), items[1].number()), (Some("x"), Some(2.0)));
            assert_eq!(items[0].fault("no").to_string(), expected);
        }
    }

    #[test]
    fn a_text_that_cannot_be_parsed_says_where() {
        let fault = Document::from_toml("it", "a = 1\nb = [\n").unwrap_err();
        assert_eq!((fault.line, fault.path.as_str()), (2, "it"));
        let fault = Document::from_json("it", "{\n]").unwrap_err();
        assert_eq!((fault.line, fault.column), (2, 1));
    }
}
