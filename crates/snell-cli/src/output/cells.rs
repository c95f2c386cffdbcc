//! How much room a text takes on a terminal. That is counted in cells: a letter of most scripts takes one, a Chinese character or a
//! picture two, an accent that stands on the letter before it none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What joins pictures to one. Where the next one is cut off it joins nothing.
const JOINER: char = '\u{200d}';

/// How many cells a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text that takes at most so many cells: what is too long is cut, and ends with a mark for that.
pub(crate) fn shortened(text: &str, cells: usize) -> String {
    if width(text) <= cells {
        return text.to_owned();
    }
    let room = cells.saturating_sub(1);
    let mut taken = 0;
    let ends = text.char_indices().find(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken > room
    });
    let mut kept = &text[..ends.map_or(text.len(), |(end, _)| end)];
    // Some signs are wider together than one by one: a heart that is to be shown as a picture.
    while width(kept) > room {
        let mut characters = kept.chars();
        characters.next_back();
        kept = characters.as_str();
    }
    format!("{}…", kept.trim_end_matches(JOINER))
}

/// A text that takes at least so many cells: what is too short is followed by spaces.
pub(crate) fn padded(text: &str, cells: usize) -> String {
    let missing = cells.saturating_sub(width(text));
    format!("{text}{:missing$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_fits_into_its_cells_and_says_that_it_was_cut() {
        for (text, cells, expected) in [
            ("plain", 5, "plain"),
            ("plain", 4, "pla…"),
            ("plain", 1, "…"),
            ("世界世界", 8, "世界世界"),
            ("世界世界", 7, "世界世…"),
            // Half of a character cannot be shown.
            ("世界世界", 6, "世界…"),
            ("世界", 2, "…"),
            // An accent goes with its letter.
            ("e\u{301}te\u{301}s", 4, "e\u{301}te\u{301}s"),
            ("e\u{301}te\u{301}s", 3, "e\u{301}t…"),
            // One picture, made of two.
            ("👩\u{200d}🔬 x", 4, "👩\u{200d}🔬 x"),
            ("👩\u{200d}🔬 xy", 4, "👩…"),
            ("❤\u{fe0f}❤\u{fe0f}", 3, "❤\u{fe0f}…"),
        ] {
            let cut = shortened(text, cells);
            assert_eq!(cut, expected, "{text} in {cells}");
            assert!(width(&cut) <= cells, "{text} in {cells}: {}", width(&cut));
        }
    }

    #[test]
    fn what_is_padded_ends_where_its_column_does() {
        for (text, expected) in [("ab", "ab  "), ("世", "世  "), ("世界世", "世界世"), ("", "    ")] {
            assert_eq!(padded(text, 4), expected);
        }
    }
}
