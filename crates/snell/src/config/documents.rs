//! A document of the user without hooks, for callers that read it by their own rules.

use super::source::ConfigSource;
use super::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::{Diagnostic, Severity, UserMessage};

/// A parsed JSON (with comments and trailing commas) or TOML text, whose values have positions.
#[derive(Debug)]
pub struct SpannedDocument {
    source: ConfigSource,
    root: SpannedNode,
}

/// A value of a [`SpannedDocument`].
#[derive(Clone, Copy, Debug)]
pub struct DocumentValue<'d> {
    source: &'d ConfigSource,
    node: &'d SpannedNode,
}

impl SpannedDocument {
    /// Parses JSON. `shown` is the name of the document in diagnostics.
    ///
    /// # Errors
    ///
    /// When the text is not JSON: the problem and its position.
    pub fn from_json(shown: impl Into<String>, text: impl Into<String>) -> Result<Self, Diagnostic> {
        Self::parse_source(ConfigSource::from_text(shown.into(), text.into()), SpannedNode::from_json)
    }

    /// Parses TOML. `shown` is the name of the document in diagnostics.
    ///
    /// # Errors
    ///
    /// When the text is not TOML: the problem and its position.
    pub fn from_toml(shown: impl Into<String>, text: impl Into<String>) -> Result<Self, Diagnostic> {
        Self::parse_source(ConfigSource::from_text(shown.into(), text.into()), SpannedNode::from_toml)
    }

    fn parse_source(
        source: ConfigSource,
        parse: fn(&str) -> Result<SpannedNode, super::spanned::DocumentSyntaxError>,
    ) -> Result<Self, Diagnostic> {
        match parse(&source.text) {
            Ok(root) => Ok(Self { source, root }),
            Err(error) => Err(source.make_diagnostic(Severity::Error, error.offset, error.message)),
        }
    }

    /// The outermost value.
    pub fn root(&self) -> DocumentValue<'_> {
        DocumentValue { source: &self.source, node: &self.root }
    }
}

impl<'d> DocumentValue<'d> {
    /// The kind of the value, for a sentence: "a string", "an array".
    pub fn kind_name(self) -> &'static str {
        self.node.kind_name()
    }

    /// The text, if it is a string.
    pub fn as_text(self) -> Option<&'d str> {
        self.node.text()
    }

    /// The number, if it is a number.
    pub fn as_number(self) -> Option<f64> {
        match self.node.value {
            NodeValue::Number(number) => Some(number),
            _ => None,
        }
    }

    /// The items, if it is an array.
    pub fn items(self) -> Option<impl Iterator<Item = DocumentValue<'d>>> {
        Some(self.node.items()?.iter().map(move |node| Self { node, ..self }))
    }

    /// The keys and their values in the order of the text, if it is an object. JSON may have a key twice.
    pub fn members(self) -> Option<impl Iterator<Item = (&'d str, DocumentValue<'d>)>> {
        Some(self.node.members()?.iter().map(move |member| (member.key.as_str(), Self { node: &member.node, ..self })))
    }

    /// An error at this value.
    pub fn make_error(self, message: impl Into<UserMessage>) -> Diagnostic {
        self.source.make_diagnostic(Severity::Error, self.node.offset, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_knows_where_it_stands() {
        let cases = [
            (SpannedDocument::from_toml("it", "a = 1\nb = [\"x\", 2]\n"), "it:2:6: error: no"),
            (SpannedDocument::from_json("it", "{\"a\": 1,\n \"b\": [\"x\", 2]}"), "it:2:8: error: no"),
        ];
        for (document, expected) in cases {
            let document = document.unwrap();
            let (key, list) = document.root().members().unwrap().nth(1).unwrap();
            let items: Vec<_> = list.items().unwrap().collect();
            assert_eq!((key, list.kind_name()), ("b", "an array"));
            assert_eq!((items[0].as_text(), items[1].as_number()), (Some("x"), Some(2.0)));
            assert_eq!(items[0].make_error("no").to_string(), expected);
        }
    }

    #[test]
    fn a_text_that_cannot_be_parsed_says_where() {
        let fault = SpannedDocument::from_toml("it", "a = 1\nb = [\n").unwrap_err();
        assert_eq!((fault.line, fault.path.as_str()), (2, "it"));
        let fault = SpannedDocument::from_json("it", "{\n]").unwrap_err();
        assert_eq!((fault.line, fault.column), (2, 1));
    }
}
