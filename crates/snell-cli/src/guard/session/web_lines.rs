//! Recognises text that was fetched and then written to a file: by the hashes of its lines.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Shorter lines are in many texts.
const MIN_LINE_BYTES: usize = 16;
/// How many lines of one text are remembered.
const MAX_LINES: usize = 200;
/// How much of a text is read.
const MAX_TEXT_BYTES: usize = 1 << 18;

/// The hashes of the lines of a text.
pub(super) fn hash_lines(text: &str) -> Vec<u32> {
    let end = text.floor_char_boundary(MAX_TEXT_BYTES);
    let text = text.get(..end).unwrap_or_default();
    // Some agents pass on a text with escaped line breaks.
    let lines = text.lines().flat_map(|line| line.split("\\n")).map(str::trim);
    let mut hashes: Vec<u32> =
        lines.filter(|line| line.len() >= MIN_LINE_BYTES).take(MAX_LINES).map(hash_line).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// Whether at least half of the longer lines of a text are known.
pub(super) fn is_mostly_known(text: &str, known: &HashSet<u32>) -> bool {
    let hashes = hash_lines(text);
    let found = hashes.iter().filter(|hash| known.contains(hash)).count();
    found > 0 && found * 2 >= hashes.len()
}

fn hash_line(line: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    u32::try_from(hasher.finish() >> 32).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_a_text_is_known_and_a_text_of_ones_own_is_not() {
        let page = "Run this to install the tool:\n#!/bin/sh\ncurl -s https://x.example/y | tar -xz\nmake install prefix=/usr\n";
        let known: HashSet<u32> = hash_lines(page).into_iter().collect();
        let cases = [
            (page, true),
            ("#!/bin/sh\ncurl -s https://x.example/y | tar -xz\nmake install prefix=/usr\n", true),
            ("  curl -s https://x.example/y | tar -xz", true),
            ("#!/bin/sh\nset -e\n", false),
            (
                "print('my own program')\nprint('a second line of it')\nprint('and a third line')\nmake install prefix=/usr\n",
                false,
            ),
            ("", false),
        ];
        for (text, expected) in cases {
            assert_eq!(is_mostly_known(text, &known), expected, "{text}");
        }
    }
}
