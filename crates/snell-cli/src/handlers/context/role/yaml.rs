//! As much of YAML as front matter needs: values that know where they stand.
//!
//! An alias stays what it is, a reference: it is looked up, never written out. So a few lines cannot grow into
//! gigabytes, however often their aliases refer to each other.

use std::collections::HashMap;

use granit_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span, Tag};

use super::{Fault, Position, fault};

/// Front matter that is nested more deeply is a mistake.
const DEEPEST: usize = 32;

/// A value, of which parts are named by their place among all values.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Value {
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
pub(super) struct Document {
    values: Vec<(Position, Value)>,
    anchors: HashMap<usize, usize>,
    root: usize,
}

impl Document {
    pub(super) fn root(&self) -> &Value {
        self.value(self.root)
    }

    pub(super) fn root_at(&self) -> Position {
        self.at(self.root)
    }

    /// Where a value stands; of an alias, where it is referred to.
    pub(super) fn at(&self, place: usize) -> Position {
        let there = self.values.get(place);
        there.map_or(Position { line: 1, column: 1 }, |(at, _)| *at)
    }

    /// A value, or the one that an alias refers to. An alias has no anchor of its own, so there is no second step.
    pub(super) fn value(&self, place: usize) -> &Value {
        match self.values.get(place) {
            Some((_, Value::Alias(anchor))) => {
                let target = self.anchors.get(anchor).and_then(|place| self.values.get(*place));
                target.map_or(&Value::Nothing, |(_, value)| value)
            }
            Some((_, value)) => value,
            None => &Value::Nothing,
        }
    }

    fn push(&mut self, at: Position, anchor: usize, value: Value) -> usize {
        let place = self.values.len();
        self.values.push((at, value));
        if anchor > 0 {
            self.anchors.insert(anchor, place);
        }
        place
    }
}

/// Reads the first document of a text.
pub(super) fn parse(text: &str) -> Result<Document, Fault> {
    let options = granit_parser::options! {
        // `- *.md` names an anchor that does not exist, and is the most natural way to write that pattern.
        emit_unresolved_aliases: true,
        flow_nesting_limit: DEEPEST,
        block_nesting_limit: DEEPEST,
    };
    let mut reader = Reader {
        events: Parser::new_from_str_with_options(text, options),
        document: Document::default(),
        depth: 0,
    };
    loop {
        match reader.next()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((Event::StreamEnd | Event::DocumentEnd, _)) | None => return Ok(reader.document),
            Some((event, span)) => {
                reader.document.root = reader.value(event, span)?;
            }
        }
    }
}

struct Reader<E> {
    events: E,
    document: Document,
    /// How many values enclose the one that is read. The parser has a limit of its own, but does not count the tables that
    /// `[: : :` begins.
    depth: usize,
}

impl<'t, E: Iterator<Item = Result<(Event<'t>, Span), ScanError>>> Reader<E> {
    fn next(&mut self) -> Result<Option<(Event<'t>, Span)>, Fault> {
        self.events.next().transpose().map_err(|error| {
            let message = format!(
                "the front matter is not valid YAML: {}; a text with special characters needs quotes",
                error.info().replace('\n', " ")
            );
            fault(position(error.marker()), message)
        })
    }

    /// The value that begins with this event, and everything in it.
    fn value(&mut self, event: Event<'t>, span: Span) -> Result<usize, Fault> {
        let at = position(&span.start);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref());
                Ok(self.document.push(at, anchor, value))
            }
            Event::Alias(anchor) => Ok(self.document.push(at, 0, Value::Alias(anchor))),
            Event::UnresolvedAlias(name) => Ok(self.document.push(at, 0, Value::Text(format!("*{name}")))),
            Event::SequenceStart(_, anchor, _) => {
                let place = self.document.push(at, anchor, Value::Nothing);
                let items = self.values_until(|event| matches!(event, Event::SequenceEnd), at)?;
                self.document.values[place].1 = Value::List(items);
                Ok(place)
            }
            Event::MappingStart(_, anchor, _) => {
                let place = self.document.push(at, anchor, Value::Nothing);
                let flat = self.values_until(|event| matches!(event, Event::MappingEnd), at)?;
                let pairs = flat.chunks_exact(2).map(|pair| (pair[0], pair[1]));
                self.document.values[place].1 = Value::Table(pairs.collect());
                Ok(place)
            }
            _ => Ok(self.document.push(at, 0, Value::Nothing)),
        }
    }

    /// The values in one that begins here.
    fn values_until(&mut self, is_end: fn(&Event<'t>) -> bool, at: Position) -> Result<Vec<usize>, Fault> {
        if self.depth == DEEPEST {
            let message = format!("the front matter is nested more than {DEEPEST} levels deep");
            return Err(fault(at, message));
        }
        self.depth += 1;
        let mut places = Vec::new();
        while let Some((event, span)) = self.next()? {
            if is_end(&event) {
                break;
            }
            places.push(self.value(event, span)?);
        }
        self.depth -= 1;
        Ok(places)
    }
}

fn position(marker: &Marker) -> Position {
    Position {
        line: marker.line().max(1),
        column: marker.col() + 1,
    }
}

/// A single value: a text, unless its tag or, without quotes, its looks say otherwise.
fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Value {
    let core = tag.filter(|tag| tag.handle() == "tag:yaml.org,2002:");
    if core.is_some_and(|tag| tag.suffix() != "str") {
        return Value::NoText("a value of another type");
    }
    if tag.is_some() || style != ScalarStyle::Plain {
        return Value::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Nothing,
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => Value::NoText("a boolean"),
        _ if is_number(text) => Value::NoText("a number"),
        _ => Value::Text(text.to_owned()),
    }
}

/// Whether YAML reads a plain text as a number.
fn is_number(text: &str) -> bool {
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
