//! Rows of the corpus, and mutations of them.

use std::sync::LazyLock;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value as Json;
use snell_test_support::scripts::SHELL_TOKENS;

use super::FuzzedCall;
use crate::corpus::{CorpusRow, read_corpus};

static ROWS: LazyLock<Vec<CorpusRow>> = LazyLock::new(read_corpus);
static COMMANDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let commands = ROWS.iter().filter(|row| row.tool == "Bash");
    commands.filter_map(|row| row.input["command"].as_str()).collect()
});
static OTHERS: LazyLock<Vec<&CorpusRow>> = LazyLock::new(|| ROWS.iter().filter(|row| row.tool != "Bash").collect());

/// Longer texts are tested elsewhere.
const MAX_BYTES: usize = 1 << 11;

/// Starts and ends that may surround a text.
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

/// Unusual characters.
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

/// One mutation of a text.
#[derive(Clone, Debug)]
enum CommandMutation {
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

fn any_mutation() -> impl Strategy<Value = CommandMutation> {
    let index = any::<Index>;
    prop_oneof![
        (index(), index(), index()).prop_map(|(other, at, from)| CommandMutation::Splice(other, at, from)),
        (0..AROUND.len(), index(), index()).prop_map(|(around, at, end)| CommandMutation::Wrap(around, at, end)),
        (0..AROUND.len(), 1..12_usize).prop_map(|(around, times)| CommandMutation::Nest(around, times)),
        index().prop_map(CommandMutation::Truncate),
        (index(), prop::sample::select(SHELL_TOKENS)).prop_map(|(at, token)| CommandMutation::Insert(at, token)),
        (index(), prop::sample::select(ODDITIES)).prop_map(|(at, token)| CommandMutation::Insert(at, token)),
        (index(), index(), 1..30_usize).prop_map(|(at, end, times)| CommandMutation::Repeat(at, end, times)),
        (index(), index()).prop_map(|(at, end)| CommandMutation::Remove(at, end)),
        Just(CommandMutation::Quote),
    ]
}

/// An index between two characters.
fn find_char_boundary(text: &str, index: &Index) -> usize {
    let at = index.index(text.len() + 1);
    (at..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or_default()
}

/// The range between two indices.
fn find_byte_range(text: &str, one: &Index, other: &Index) -> std::ops::Range<usize> {
    let (one, other) = (find_char_boundary(text, one), find_char_boundary(text, other));
    one.min(other)..one.max(other)
}

fn apply_mutation(mut text: String, change: &CommandMutation) -> String {
    match change {
        CommandMutation::Splice(other, at, from) => {
            let other = COMMANDS[other.index(COMMANDS.len())];
            let at = find_char_boundary(&text, at);
            text.truncate(at);
            text + &other[find_char_boundary(other, from)..]
        }
        CommandMutation::Wrap(around, at, end) => {
            let (open, close) = AROUND[*around];
            let part = find_byte_range(&text, at, end);
            text.insert_str(part.end, close);
            text.insert_str(part.start, open);
            text
        }
        CommandMutation::Nest(around, times) => {
            let (open, close) = AROUND[*around];
            format!("{}{text}{}", open.repeat(*times), close.repeat(*times))
        }
        CommandMutation::Truncate(at) => {
            text.truncate(find_char_boundary(&text, at));
            text
        }
        CommandMutation::Insert(at, token) => {
            text.insert_str(find_char_boundary(&text, at), token);
            text
        }
        CommandMutation::Repeat(at, end, times) => {
            let part = find_byte_range(&text, at, end);
            let again = text[part.clone()].repeat(*times);
            text.insert_str(part.end, &again);
            text
        }
        CommandMutation::Remove(at, end) => {
            text.replace_range(find_byte_range(&text, at, end), "");
            text
        }
        CommandMutation::Quote => format!("bash -c '{}'", text.replace('\'', r"'\''")),
    }
}

/// A text of the corpus, changed.
fn mutate_text(start: &str, changes: &[CommandMutation]) -> String {
    let grown =
        changes.iter().fold(
            start.to_owned(),
            |text, change| {
                if text.len() > MAX_BYTES { text } else { apply_mutation(text, change) }
            },
        );
    let end = (0..=grown.len().min(4 * MAX_BYTES)).rev();
    let end = end.into_iter().find(|at| grown.is_char_boundary(*at));
    grown[..end.unwrap_or_default()].to_owned()
}

/// All texts in an input, changed in the same way.
fn mutate_input(input: &Json, changes: &[CommandMutation]) -> Json {
    match input {
        Json::String(start) => Json::String(mutate_text(start, changes)),
        Json::Array(list) => list.iter().map(|item| mutate_input(item, changes)).collect(),
        Json::Object(map) => {
            let pairs = map.iter();
            Json::Object(pairs.map(|(key, value)| (key.clone(), mutate_input(value, changes))).collect())
        }
        other => other.clone(),
    }
}

/// Calls of all kinds; most of them run commands.
pub(super) fn any_fuzzed_call() -> impl Strategy<Value = FuzzedCall> {
    let changes = || prop::collection::vec(any_mutation(), 0..6);
    let command = (any::<Index>(), changes()).prop_map(|(row, changes)| {
        FuzzedCall::from_command(&mutate_text(COMMANDS[row.index(COMMANDS.len())], &changes))
    });
    let other = (any::<Index>(), changes()).prop_map(|(row, changes)| {
        let row = OTHERS[row.index(OTHERS.len())];
        FuzzedCall { tool: row.tool.clone(), input: mutate_input(&row.input, &changes) }
    });
    prop_oneof![9 => command, 1 => other]
}
