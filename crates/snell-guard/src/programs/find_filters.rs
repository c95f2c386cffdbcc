//! The tests in an expression of `find`: they select what it runs or deletes.

use crate::programs::words::find as words;

/// Whether a word is a test of something other than the name.
pub(crate) fn is_find_filter_beyond_name(word: &str) -> bool {
    words::OTHER_TESTS.contains(&word)
}

/// Whether a word is a test.
pub(crate) fn is_find_filter(word: &str) -> bool {
    words::NAME_TESTS.contains(&word) || is_find_filter_beyond_name(word)
}
