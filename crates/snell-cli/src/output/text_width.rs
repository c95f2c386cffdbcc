//! How much room a text takes on a terminal. That is counted in cells: a letter of most scripts takes one, a Chinese character or a
//! picture two, an accent that stands on the letter before it none.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// What joins pictures to one. Where the next one is cut off it joins nothing.
const JOINER: char = '\u{200d}';

/// How many cells a text takes.
pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

/// A text that takes at most so many cells: what is too long is cut, and ends with a mark for that.
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
    // Some signs are wider together than one by one: a heart that is to be shown as a picture.
    while display_width(kept) > room {
        let mut characters = kept.chars();
        characters.next_back();
        kept = characters.as_str();
    }
    format!("{}…", kept.trim_end_matches(JOINER))
}

/// A text that takes at least so many cells: what is too short is followed by spaces.
pub(crate) fn pad_to_width(text: &str, cells: usize) -> String {
    let missing = cells.saturating_sub(display_width(text));
    format!("{text}{:missing$}", "")
}

/// A text in lines of at most so many cells, and no more than so many lines; without a width, in one.
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

/// Where so many cells of a text end: after one character at least, so that there is an end to it.
fn find_fitting_end(text: &str, cells: usize) -> usize {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let fitting = ends.clone().take_while(|end| display_width(&text[..*end]) <= cells).last();
    fitting.or_else(|| ends.clone().next()).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_broken_between_words_and_never_too_wide() {
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
        // Where not even one character fits, there is an end to it all the same.
        assert_eq!(wrap_lines("世界", Some(1), 9), ["世", "界"]);
    }

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
            let cut = truncate_to_width(text, cells);
            assert_eq!(cut, expected, "{text} in {cells}");
            assert!(display_width(&cut) <= cells, "{text} in {cells}: {}", display_width(&cut));
        }
    }

    #[test]
    fn what_is_padded_ends_where_its_column_does() {
        for (text, expected) in [("ab", "ab  "), ("世", "世  "), ("世界世", "世界世"), ("", "    ")] {
            assert_eq!(pad_to_width(text, 4), expected);
        }
    }
}
