//! The part of YAML that front matter needs: values with their positions.
//!
//! Aliases are looked up, never expanded, so a few lines cannot grow into gigabytes. A deserializer would expand them, and reject
//! `- *.md`.

use std::collections::HashMap;

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};
use snell::UserMessage;

use super::{RoleFileFault, RoleFilePosition, build_fault};

/// Deeper front matter is rejected.
const MAX_DEPTH: usize = 32;

/// A value and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct YamlNode {
    /// For an alias, the position of the alias.
    pub(super) at: RoleFilePosition,
    pub(super) value: YamlValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum YamlValue {
    Nothing,
    Text(String),
    /// A scalar that is not a string: its type, with an article.
    NoText(&'static str),
    List(Vec<YamlNode>),
    /// Keys and values.
    Table(Vec<(YamlNode, YamlNode)>),
    /// A reference to the value with this anchor.
    Alias(usize),
}

/// A document. Its aliases stay references.
#[derive(Debug)]
pub(super) struct YamlDocument {
    pub(super) root: YamlNode,
    anchors: HashMap<usize, YamlValue>,
}

impl YamlDocument {
    /// The value of a node, or the one that its alias refers to. An alias has no anchor of its own, so there is no second step.
    pub(super) fn resolve<'d>(&'d self, node: &'d YamlNode) -> &'d YamlValue {
        match &node.value {
            YamlValue::Alias(anchor) => self.anchors.get(anchor).unwrap_or(&YamlValue::Nothing),
            value => value,
        }
    }
}

/// Parses the first document of a text.
pub(super) fn parse_yaml(text: &str) -> Result<YamlDocument, RoleFileFault> {
    let options = granit_parser::options! {
        // `- *.md` looks like an unknown alias, and is the most natural way to write that pattern.
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let events = Parser::new_from_str_with_options(text, options);
    let mut reader = YamlReader { events, anchors: HashMap::new(), depth: 0 };
    let mut root = YamlNode { at: RoleFilePosition { line: 1, column: 1 }, value: YamlValue::Nothing };
    loop {
        match reader.next_event()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((Event::StreamEnd | Event::DocumentEnd, _)) | None => break,
            Some((event, span)) => root = reader.read_value(event, span)?,
        }
    }
    Ok(YamlDocument { root, anchors: reader.anchors })
}

struct YamlReader<E> {
    events: E,
    anchors: HashMap<usize, YamlValue>,
    /// The current depth. The parser's own limit does not count the mappings that `[: : :` begins.
    depth: usize,
}

impl<'t, E: Iterator<Item = Result<(Event<'t>, Span), ScanError>>> YamlReader<E> {
    fn next_event(&mut self) -> Result<Option<(Event<'t>, Span)>, RoleFileFault> {
        self.events.next().transpose().map_err(|error| {
            let problem = format!("the front matter is not valid YAML: {}", error.info().replace('\n', " "));
            let message = UserMessage::new(problem).with_hint("put strings with special characters in quotes");
            build_fault(to_position(error.marker()), message)
        })
    }

    /// The value that begins with this event.
    fn read_value(&mut self, event: Event<'t>, span: Span) -> Result<YamlNode, RoleFileFault> {
        let at = to_position(&span.start);
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, tag) => (anchor, parse_scalar(&text, style, tag.as_deref())),
            Event::Alias(anchor) => (0, YamlValue::Alias(anchor)),
            Event::UnresolvedAlias(name) => (0, YamlValue::Text(format!("*{name}"))),
            Event::SequenceStart(_, anchor, _) => (anchor, YamlValue::List(self.read_children(at)?)),
            Event::MappingStart(_, anchor, _) => {
                let mut flat = self.read_children(at)?.into_iter();
                let pairs = std::iter::from_fn(|| Some((flat.next()?, flat.next()?)));
                (anchor, YamlValue::Table(pairs.collect()))
            }
            _ => (0, YamlValue::Nothing),
        };
        if anchor > 0 {
            self.anchors.insert(anchor, value.clone());
        }
        Ok(YamlNode { at, value })
    }

    /// The values in a list or a table that begins here.
    fn read_children(&mut self, at: RoleFilePosition) -> Result<Vec<YamlNode>, RoleFileFault> {
        if self.depth == MAX_DEPTH {
            let message = format!("the front matter is nested more than {MAX_DEPTH} levels deep");
            return Err(build_fault(at, message));
        }
        self.depth += 1;
        let mut children = Vec::new();
        while let Some((event, span)) = self.next_event()? {
            if matches!(event, Event::SequenceEnd | Event::MappingEnd) {
                break;
            }
            children.push(self.read_value(event, span)?);
        }
        self.depth -= 1;
        Ok(children)
    }
}

fn to_position(marker: &Marker) -> RoleFilePosition {
    RoleFilePosition { line: marker.line().max(1), column: marker.col() + 1 }
}

/// A scalar: a string, unless its tag or its unquoted form means another type.
fn parse_scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> YamlValue {
    let core = tag.filter(|tag| tag.handle() == "tag:yaml.org,2002:");
    if core.is_some_and(|tag| tag.suffix() != "str") {
        return YamlValue::NoText("a value of another type");
    }
    if tag.is_some() || style != ScalarStyle::Plain {
        return YamlValue::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => YamlValue::Nothing,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => YamlValue::NoText("a boolean"),
        _ if is_yaml_number(text) => YamlValue::NoText("a number"),
        _ => YamlValue::Text(text.to_owned()),
    }
}

/// Whether YAML reads an unquoted scalar as a number.
fn is_yaml_number(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let of = |prefix: &str, radix: u32| {
        let digits = text.strip_prefix(prefix);
        digits.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)))
    };
    let decimal = || unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') && unsigned.parse::<f64>().is_ok();
    let special = ["inf", "Inf", "INF", "nan", "NaN", "NAN"];
    let is_special = || unsigned.strip_prefix('.').is_some_and(|rest| special.contains(&rest));
    of("0x", 16) || of("0o", 8) || decimal() || is_special()
}
