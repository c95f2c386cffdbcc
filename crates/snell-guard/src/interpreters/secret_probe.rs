//! Harmless questions about a secret: whether it exists, its length, a few of its characters.

use super::eval::CallArgument;
use crate::effects::MAX_HINT_CHARS;
use crate::interpreters::words::secret_probe as words;

/// Whether a call reveals no more than that.
pub(super) fn is_secret_probe(name: &str, arguments: &[CallArgument]) -> bool {
    let last = arguments.last().map(|(_, worth)| worth.to_value());
    let short = last.is_some_and(|last| last.as_text().is_some_and(is_hint_length));
    words::PROBE_NAMES.contains(&name) || (words::SLICE_METHODS.contains(&name) && short)
}

/// Whether this many characters of a secret reveal nothing.
pub(super) fn is_hint_length(count: &str) -> bool {
    count.parse::<usize>().is_ok_and(|count| count <= MAX_HINT_CHARS)
}
