//! Rows of the corpus, and what is done to them.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value as Json;

use super::Odd;
use crate::corpus::{Row, rows};
use crate::syntax::properties::TOKENS;

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(rows);
static COMMANDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let commands = ROWS.iter().filter(|row| row.tool == "Bash");
    commands.filter_map(|row| row.input["command"].as_str()).collect()
});
static OTHERS: LazyLock<Vec<&Row>> = LazyLock::new(|| ROWS.iter().filter(|row| row.tool != "Bash").collect());

/// More is not made: what is long is tried elsewhere.
const MAX_BYTES: usize = 1 << 11;

/// Beginnings and ends between which a text may stand.
const AROUND: &[(&str, &str)] = &[
    ("(", ")"),
    ("{ ", "; }"),
    ("$(", ")"),
    ("`", "`"),
    ("<(", ")"),
    ("'", "'"),
    ("\"", "\""),
    ("$'", "'"),
    ("$((", "))"),
    ("${x:-", "}"),
    ("\"$(", ")\""),
    ("eval '", "'"),
    ("bash -c \"", "\""),
    ("bash -c '", "'"),
    ("sudo sh -c '", "'"),
    ("if a; then ", "; fi"),
    ("while a; do ", "; done"),
    ("for x in a b; do ", "; done"),
    ("case $x in a) ", ";; esac"),
    ("f() { ", "; }; f"),
    ("cat <<E\n", "\nE\n"),
    ("bash <<'E'\n", "\nE\n"),
    ("x=", ""),
    ("x='", "'; $x"),
    ("xargs ", ""),
    ("find . -exec ", " \\;"),
    ("env -S '", "'"),
    ("python3 -c 'import os; os.system(\"", "\")'"),
    ("echo ", " | sh"),
    ("echo ", " > f; sh f"),
    ("trap '", "' EXIT"),
    ("a[", "]=b"),
    ("[[ ", " ]]"),
    ("alias a='", "'; a"),
    ("# ", ""),
    ("! ", ""),
    ("{a,", "}"),
];

/// What no keyboard writes.
const ODDITIES: &[&str] = &[
    "\0",
    "\r",
    "\r\n",
    "\u{feff}",
    "\u{202e}",
    "\u{200b}",
    "\u{a0}",
    "\u{7f}",
    "\u{1b}[",
    "é",
    "\u{1f600}",
    "\\\n",
    "\u{10ffff}",
    "$'\\x00'",
    "$'\\ud800'",
    "\u{f0000}",
    "\u{ffffd}",
    "-9223372036854775808",
    "18446744073709551616",
    "%s%n",
    "{}",
    "--",
    "-",
];

/// One thing that is done to a text.
#[derive(Clone, Debug)]
enum Change {
    /// Another command, or the rest of one, from here on.
    Splice(Index, Index, Index),
    /// Everything, or a part of it, between something.
    Wrap(usize, Index, Index),
    /// The same, several times.
    Nest(usize, usize),
    /// Nothing from here on.
    Truncate(Index),
    /// Something in between.
    Insert(Index, &'static str),
    /// A part of it again.
    Repeat(Index, Index, usize),
    /// A part of it is gone.
    Remove(Index, Index),
    /// Everything, as a word of another shell.
    Quote,
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        (index(), index(), index()).prop_map(|(other, at, from)| Change::Splice(other, at, from)),
        (0..AROUND.len(), index(), index()).prop_map(|(around, at, end)| Change::Wrap(around, at, end)),
        (0..AROUND.len(), 1..12_usize).prop_map(|(around, times)| Change::Nest(around, times)),
        index().prop_map(Change::Truncate),
        (index(), prop::sample::select(TOKENS)).prop_map(|(at, token)| Change::Insert(at, token)),
        (index(), prop::sample::select(ODDITIES)).prop_map(|(at, token)| Change::Insert(at, token)),
        (index(), index(), 1..30_usize).prop_map(|(at, end, times)| Change::Repeat(at, end, times)),
        (index(), index()).prop_map(|(at, end)| Change::Remove(at, end)),
        Just(Change::Quote),
    ]
}

/// A place between two characters.
fn place(text: &str, index: &Index) -> usize {
    let at = index.index(text.len() + 1);
    (at..=text.len())
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or_default()
}

/// What lies between two places.
fn part(text: &str, one: &Index, other: &Index) -> std::ops::Range<usize> {
    let (one, other) = (place(text, one), place(text, other));
    one.min(other)..one.max(other)
}

fn changed(mut text: String, change: &Change) -> String {
    match change {
        Change::Splice(other, at, from) => {
            let other = COMMANDS[other.index(COMMANDS.len())];
            let at = place(&text, at);
            text.truncate(at);
            text + &other[place(other, from)..]
        }
        Change::Wrap(around, at, end) => {
            let (open, close) = AROUND[*around];
            let part = part(&text, at, end);
            text.insert_str(part.end, close);
            text.insert_str(part.start, open);
            text
        }
        Change::Nest(around, times) => {
            let (open, close) = AROUND[*around];
            format!("{}{text}{}", open.repeat(*times), close.repeat(*times))
        }
        Change::Truncate(at) => {
            text.truncate(place(&text, at));
            text
        }
        Change::Insert(at, token) => {
            text.insert_str(place(&text, at), token);
            text
        }
        Change::Repeat(at, end, times) => {
            let part = part(&text, at, end);
            let again = text[part.clone()].repeat(*times);
            text.insert_str(part.end, &again);
            text
        }
        Change::Remove(at, end) => {
            text.replace_range(part(&text, at, end), "");
            text
        }
        Change::Quote => format!("bash -c '{}'", text.replace('\'', r"'\''")),
    }
}

/// A text of the corpus, changed.
fn text(start: &str, changes: &[Change]) -> String {
    let grown = changes.iter().fold(start.to_owned(), |text, change| {
        if text.len() > MAX_BYTES {
            text
        } else {
            changed(text, change)
        }
    });
    let end = (0..=grown.len().min(4 * MAX_BYTES)).rev();
    let end = end.into_iter().find(|at| grown.is_char_boundary(*at));
    grown[..end.unwrap_or_default()].to_owned()
}

/// All texts in an input, changed in the same way.
fn everywhere(input: &Json, changes: &[Change]) -> Json {
    match input {
        Json::String(start) => Json::String(text(start, changes)),
        Json::Array(list) => list.iter().map(|item| everywhere(item, changes)).collect(),
        Json::Object(map) => {
            let pairs = map.iter();
            Json::Object(
                pairs
                    .map(|(key, value)| (key.clone(), everywhere(value, changes)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// Calls of all kinds; most of them run commands.
pub(super) fn odd() -> impl Strategy<Value = Odd> {
    let changes = || prop::collection::vec(change(), 0..6);
    let command = (any::<Index>(), changes())
        .prop_map(|(row, changes)| Odd::command(&text(COMMANDS[row.index(COMMANDS.len())], &changes)));
    let other = (any::<Index>(), changes()).prop_map(|(row, changes)| {
        let row = OTHERS[row.index(OTHERS.len())];
        Odd {
            tool: row.tool.clone(),
            input: everywhere(&row.input, &changes),
        }
    });
    prop_oneof![9 => command, 1 => other]
}
