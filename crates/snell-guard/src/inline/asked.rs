//! What may be told of a secret: whether it is there, how long it is, a few of its characters.

use super::worth::Argument;
use crate::effects::MAX_HINT;

/// Functions and properties that say something about a value, and not what it is.
const MEASURES: &[&str] = &[
    "len",
    "bool",
    "type",
    "isinstance",
    "hash",
    "Boolean",
    "length",
    "size",
    "strlen",
    "isset",
    "empty",
    "defined",
    "is_null",
    "nil",
    "startsWith",
    "startswith",
    "start_with",
    "includes",
];

/// Methods that cut out a part, up to their last argument.
const SLICES: &[&str] = &["slice", "substr", "substring"];

/// Whether a call gives away no more than may be told.
pub(super) fn only_measures(name: &str, arguments: &[Argument]) -> bool {
    let last = arguments.last().map(|(_, worth)| worth.value());
    let short = last.is_some_and(|last| last.as_text().is_some_and(is_hint));
    MEASURES.contains(&name) || (SLICES.contains(&name) && short)
}

/// Whether so few characters of a secret say nothing.
pub(super) fn is_hint(count: &str) -> bool {
    count.parse::<usize>().is_ok_and(|count| count <= MAX_HINT)
}
