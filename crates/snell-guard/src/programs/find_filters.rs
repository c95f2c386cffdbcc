//! The tests in an expression of `find`: they decide what it runs and what it deletes.

use crate::programs::words::find as words;

/// Whether a word picks something out by more than its name.
pub(crate) fn is_find_filter_beyond_name(word: &str) -> bool {
    words::OTHER_TESTS.contains(&word)
}

/// Whether a word picks something out.
pub(crate) fn is_find_filter(word: &str) -> bool {
    words::NAME_TESTS.contains(&word) || is_find_filter_beyond_name(word)
}
