//! As much of YAML as front matter needs: values that know where they stand.
//!
//! An alias stays what it is, a reference: it is looked up, never written out. So a few lines cannot grow into
//! gigabytes, however often their aliases refer to each other.

use std::collections::HashMap;

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use super::{RoleFileFault, RoleFilePosition, build_fault};

/// Front matter that is nested more deeply is a mistake.
const MAX_DEPTH: usize = 32;

/// A value, of which parts are named by their place among all values.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum YamlValue {
    Nothing,
    Text(String),
    /// A single value that is no text; what it is, in words.
    NoText(&'static str),
    List(Vec<usize>),
    /// Keys and values.
    Table(Vec<(usize, usize)>),
    /// A reference to a value with this anchor.
    Alias(usize),
}

/// All values of a document.
#[derive(Debug, Default)]
pub(super) struct YamlDocument {
    values: Vec<(RoleFilePosition, YamlValue)>,
    anchors: HashMap<usize, usize>,
    root: usize,
}

impl YamlDocument {
    pub(super) fn root(&self) -> &YamlValue {
        self.resolve_value(self.root)
    }

    pub(super) fn root_position(&self) -> RoleFilePosition {
        self.position(self.root)
    }

    /// Where a value stands; of an alias, where it is referred to.
    pub(super) fn position(&self, place: usize) -> RoleFilePosition {
        let there = self.values.get(place);
        there.map_or(RoleFilePosition { line: 1, column: 1 }, |(at, _)| *at)
    }

    /// A value, or the one that an alias refers to. An alias has no anchor of its own, so there is no second step.
    pub(super) fn resolve_value(&self, place: usize) -> &YamlValue {
        match self.values.get(place) {
            Some((_, YamlValue::Alias(anchor))) => {
                let target = self.anchors.get(anchor).and_then(|place| self.values.get(*place));
                target.map_or(&YamlValue::Nothing, |(_, value)| value)
            }
            Some((_, value)) => value,
            None => &YamlValue::Nothing,
        }
    }

    fn push(&mut self, at: RoleFilePosition, anchor: usize, value: YamlValue) -> usize {
        let place = self.values.len();
        self.values.push((at, value));
        if anchor > 0 {
            self.anchors.insert(anchor, place);
        }
        place
    }
}

/// Reads the first document of a text.
pub(super) fn parse_yaml(text: &str) -> Result<YamlDocument, RoleFileFault> {
    let options = granit_parser::options! {
        // `- *.md` names an anchor that does not exist, and is the most natural way to write that pattern.
        emit_unresolved_aliases: true,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut reader = YamlReader {
        events: Parser::new_from_str_with_options(text, options),
        document: YamlDocument::default(),
        depth: 0,
    };
    loop {
        match reader.next_event()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((Event::StreamEnd | Event::DocumentEnd, _)) | None => return Ok(reader.document),
            Some((event, span)) => {
                reader.document.root = reader.read_value(event, span)?;
            }
        }
    }
}

struct YamlReader<E> {
    events: E,
    document: YamlDocument,
    /// How many values enclose the one that is read. The parser has a limit of its own, but does not count the tables that
    /// `[: : :` begins.
    depth: usize,
}

impl<'t, E: Iterator<Item = Result<(Event<'t>, Span), ScanError>>> YamlReader<E> {
    fn next_event(&mut self) -> Result<Option<(Event<'t>, Span)>, RoleFileFault> {
        self.events.next().transpose().map_err(|error| {
            let message = format!(
                "the front matter is not valid YAML: {}; a text with special characters needs quotes",
                error.info().replace('\n', " ")
            );
            build_fault(to_position(error.marker()), message)
        })
    }

    /// The value that begins with this event, and everything in it.
    fn read_value(&mut self, event: Event<'t>, span: Span) -> Result<usize, RoleFileFault> {
        let at = to_position(&span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = parse_scalar(&text, style, tag.as_deref());
                Ok(self.document.push(at, anchor, value))
            }
            Event::Alias(anchor) => Ok(self.document.push(at, 0, YamlValue::Alias(anchor))),
            Event::UnresolvedAlias(name) => Ok(self.document.push(at, 0, YamlValue::Text(format!("*{name}")))),
            Event::SequenceStart(_, anchor, _) => {
                let place = self.document.push(at, anchor, YamlValue::Nothing);
                let items = self.read_values_until(|event| matches!(event, Event::SequenceEnd), at)?;
                self.document.values[place].1 = YamlValue::List(items);
                Ok(place)
            }
            Event::MappingStart(_, anchor, _) => {
                let place = self.document.push(at, anchor, YamlValue::Nothing);
                let flat = self.read_values_until(|event| matches!(event, Event::MappingEnd), at)?;
                let pairs = flat.chunks_exact(2).map(|pair| (pair[0], pair[1]));
                self.document.values[place].1 = YamlValue::Table(pairs.collect());
                Ok(place)
            }
            _ => Ok(self.document.push(at, 0, YamlValue::Nothing)),
        }
    }

    /// The values in one that begins here.
    fn read_values_until(
        &mut self,
        is_end: fn(&Event<'t>) -> bool,
        at: RoleFilePosition,
    ) -> Result<Vec<usize>, RoleFileFault> {
        if self.depth == MAX_DEPTH {
            let message = format!("the front matter is nested more than {MAX_DEPTH} levels deep");
            return Err(build_fault(at, message));
        }
        self.depth += 1;
        let mut places = Vec::new();
        while let Some((event, span)) = self.next_event()? {
            if is_end(&event) {
                break;
            }
            places.push(self.read_value(event, span)?);
        }
        self.depth -= 1;
        Ok(places)
    }
}

fn to_position(marker: &Marker) -> RoleFilePosition {
    RoleFilePosition { line: marker.line().max(1), column: marker.col() + 1 }
}

/// A single value: a text, unless its tag or, without quotes, its looks say otherwise.
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

/// Whether YAML reads a plain text as a number.
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
