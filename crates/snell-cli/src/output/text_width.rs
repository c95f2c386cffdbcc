//! The width of a text on a terminal, in cells: most letters take one, a Chinese character or an emoji two, a combining accent
//! none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Joins several emoji to one. At the end of a cut text it joins nothing.
const JOINER: char = '\u{200d}';

/// The width of a text in cells.
pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

/// A text of at most this many cells. A cut text ends with an ellipsis.
pub(crate) fn truncate_to_width(text: &str, cells: usize) -> String {
    if display_width(text) <= cells {
        return text.to_owned();
    }
    let room = cells.saturating_sub(1);
    let mut taken = 0;
    let ends = text.char_indices().find(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken > room
    });
    let mut kept = &text[..ends.map_or(text.len(), |(end, _)| end)];
    // Some characters are wider together than one by one, such as a heart with an emoji selector.
    while display_width(kept) > room {
        let mut characters = kept.chars();
        characters.next_back();
        kept = characters.as_str();
    }
    format!("{}…", kept.trim_end_matches(JOINER))
}

/// A text of at least this many cells, filled with spaces.
pub(crate) fn pad_to_width(text: &str, cells: usize) -> String {
    let missing = cells.saturating_sub(display_width(text));
    format!("{text}{:missing$}", "")
}

/// A text in at most `most` lines of at most this many cells; without a width, in one line.
pub(crate) fn wrap_lines(text: &str, cells: Option<usize>, most: usize) -> Vec<String> {
    let Some(cells) = cells else {
        return vec![text.to_owned()];
    };
    let mut lines = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if display_width(rest) <= cells || lines.len() + 1 >= most {
            lines.push(truncate_to_width(rest, cells));
            break;
        }
        let end = find_fitting_end(rest, cells);
        // A word that is longer than a line is cut.
        let ends_a_word = rest[end..].starts_with(' ');
        let at = rest[..end].rfind(' ').filter(|at| *at > 0 && !ends_a_word).unwrap_or(end);
        lines.push(rest[..at].to_owned());
        rest = rest[at..].trim_start();
    }
    lines
}

/// The end of the text that fits into this many cells, at least one character, so that wrapping makes progress.
fn find_fitting_end(text: &str, cells: usize) -> usize {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let fitting = ends.clone().take_while(|end| display_width(&text[..*end]) <= cells).last();
    fitting.or_else(|| ends.clone().next()).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words_and_never_too_wide() {
        let cases: &[(&str, usize, usize, &[&str])] = &[
            ("one two three", 7, 9, &["one two", "three"]),
            ("one two three", 6, 9, &["one", "two", "three"]),
            ("one two three four", 7, 2, &["one two", "three …"]),
            ("extraordinary", 5, 9, &["extra", "ordin", "ary"]),
            ("größer äöüß ẞ", 6, 9, &["größer", "äöüß ẞ"]),
            ("äöüßäöüß", 3, 9, &["äöü", "ßäö", "üß"]),
            ("世界世界", 5, 9, &["世界", "世界"]),
            ("", 5, 9, &[]),
        ];
        for (text, cells, most, lines) in cases {
            assert_eq!(wrap_lines(text, Some(*cells), *most), *lines, "{text}");
        }
        assert_eq!(wrap_lines("one two", None, 1), ["one two"]);
        // Wrapping ends even if not one character fits.
        assert_eq!(wrap_lines("世界", Some(1), 9), ["世", "界"]);
    }

    #[test]
    fn cut_text_fits_into_its_cells_and_ends_with_an_ellipsis() {
        for (text, cells, expected) in [
            ("plain", 5, "plain"),
            ("plain", 4, "pla…"),
            ("plain", 1, "…"),
            ("世界世界", 8, "世界世界"),
            ("世界世界", 7, "世界世…"),
            // A wide character is not split.
            ("世界世界", 6, "世界…"),
            ("世界", 2, "…"),
            // An accent stays with its letter.
            ("e\u{301}te\u{301}s", 4, "e\u{301}te\u{301}s"),
            ("e\u{301}te\u{301}s", 3, "e\u{301}t…"),
            // One emoji, made of two.
            ("👩\u{200d}🔬 x", 4, "👩\u{200d}🔬 x"),
            ("👩\u{200d}🔬 xy", 4, "👩…"),
            ("❤\u{fe0f}❤\u{fe0f}", 3, "❤\u{fe0f}…"),
        ] {
            let cut = truncate_to_width(text, cells);
            assert_eq!(cut, expected, "{text} in {cells}");
            assert!(display_width(&cut) <= cells, "{text} in {cells}: {}", display_width(&cut));
        }
    }

    #[test]
    fn padded_text_fills_its_column() {
        for (text, expected) in [("ab", "ab  "), ("世", "世  "), ("世界世", "世界世"), ("", "    ")] {
            assert_eq!(pad_to_width(text, 4), expected);
        }
    }
}
