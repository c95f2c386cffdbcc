//! Text with a style for each character, in words and lines that fit into a width.

use super::markdown::{SpanKind, parse_spans};
use crate::output::{self, TextStyle, apply_style};

/// A character and its style.
type StyledChar = (char, TextStyle);

/// A text, a word or a line.
pub(super) type StyledText = Vec<StyledChar>;

/// A text without its marks, and the style of each character.
pub(super) fn style_text(text: &str) -> StyledText {
    let style_span = |(text, kind): (&str, SpanKind)| {
        let (text, style) = match kind {
            SpanKind::Plain => (text.to_owned(), TextStyle::Plain),
            SpanKind::Bold => (text.to_owned(), TextStyle::Bold),
            // Without colours, code keeps its marks.
            SpanKind::Code if !output::has_colours() => (format!("`{text}`"), TextStyle::Yellow),
            SpanKind::Code => (text.to_owned(), TextStyle::Yellow),
            SpanKind::LinkTarget => (format!(" ({text})"), TextStyle::Faint),
        };
        text.chars().map(|c| (c, style)).collect::<Vec<_>>()
    };
    parse_spans(text).into_iter().flat_map(style_span).collect()
}

/// A text without its marks and styles.
pub(super) fn strip_markup(text: &str) -> String {
    style_text(text).into_iter().map(|(c, _)| c).collect()
}

/// The words between spaces.
pub(super) fn split_words(text: &str) -> Vec<StyledText> {
    let text = style_text(text);
    text.split(|(c, _)| *c == ' ').filter(|word| !word.is_empty()).map(<[_]>::to_vec).collect()
}

/// Lines of words, none of them wider than this unless a word is. There is always one.
pub(super) fn wrap_words(words: &[StyledText], width: usize) -> Vec<StyledText> {
    let mut lines = vec![StyledText::new()];
    for word in words {
        match lines.last_mut() {
            Some(line) if line.is_empty() || line.len() + 1 + word.len() <= width => {
                line.extend((!line.is_empty()).then_some((' ', TextStyle::Plain)));
                line.extend(word);
            }
            _ => lines.push(word.clone()),
        }
    }
    lines
}

/// The word in parts that are no wider than this: several only if it is too wide.
pub(super) fn break_word(word: &[StyledChar], width: usize) -> Vec<StyledText> {
    if word.len() <= width {
        return vec![word.to_vec()];
    }
    let mut parts: Vec<StyledText> = Vec::new();
    for fragment in split_at_breaks(word).flat_map(|fragment| fragment.chunks(width.max(1))) {
        match parts.last_mut() {
            Some(part) if part.len() + fragment.len() <= width => part.extend(fragment),
            _ => parts.push(fragment.to_vec()),
        }
    }
    parts
}

/// The width of the widest part if a word is broken wherever it can be.
pub(super) fn min_word_width(word: &StyledText) -> usize {
    split_at_breaks(word).map(<[_]>::len).max().unwrap_or_default()
}

fn split_at_breaks(word: &[StyledChar]) -> impl Iterator<Item = &[StyledChar]> {
    let mut begin = 0;
    (1..=word.len()).filter_map(move |end| {
        let fragment = (end == word.len() || may_break_before(word, end)).then(|| &word[begin..end])?;
        begin = end;
        Some(fragment)
    })
}

/// A word may be broken after some characters, after `::`, and where the style changes.
fn may_break_before(word: &[StyledChar], at: usize) -> bool {
    let ((before, style), (next, next_style)) = (word[at - 1], word[at]);
    let is_path_separator = before == ':' && next != ':' && at > 1 && word[at - 2].0 == ':';
    style != next_style || matches!(before, '/' | '_' | '-' | '.' | ',') || is_path_separator
}

/// A line as the terminal gets it.
pub(super) fn render_line(line: &[StyledChar]) -> String {
    let runs = line.chunk_by(|one, next| one.1 == next.1);
    runs.map(|run| apply_style(&run.iter().map(|(c, _)| c).collect::<String>(), run[0].1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_understood_and_what_is_none_stays() {
        let cases = [
            ("a `b c` d", "a `b c` d"),
            ("**a `b`** c", "a `b` c"),
            ("see [`[server]`](notify.md#x), and [there](y.md).", "see `[server]`, and there."),
            ("[here](https://example.com/x)", "here (https://example.com/x)"),
            ("![a picture](x.png) of", "a picture of"),
            ("`a [b](c) *d*`", "`a [b](c) *d*`"),
            ("2 * 3 [sic] ok! `open", "2 * 3 [sic] ok! `open"),
            ("„…“ → ä `ö`", "„…“ → ä `ö`"),
        ];
        for (text, expected) in cases {
            assert_eq!(strip_markup(text), expected, "{text}");
        }
    }

    #[test]
    fn lines_are_filled_and_words_are_not_broken() {
        let words = split_words("one `two three`, four extraordinary five");
        let shown: Vec<_> = wrap_words(&words, 10).iter().map(|line| render_line(line)).collect();
        assert_eq!(shown, ["one `two", "three`,", "four", "extraordinary", "five"]);
    }

    #[test]
    fn a_word_that_is_too_wide_is_broken_where_its_parts_end() {
        let rows: &[(&str, usize, &[&str])] = &[
            ("short", 8, &["short"]),
            ("a::bc::def", 7, &["a::bc::", "def"]),
            ("crate::some::name_of_it", 12, &["crate::", "some::name_", "of_it"]),
            ("docs/a/b.md", 7, &["docs/a/", "b.md"]),
            ("extraordinary", 5, &["extra", "ordin", "ary"]),
            ("`a::b`,", 4, &["`a::", "b`,"]),
            ("äöü_ß", 4, &["äöü_", "ß"]),
        ];
        for (text, width, expected) in rows {
            let word = split_words(text).remove(0);
            let parts: Vec<_> = break_word(&word, *width).iter().map(|part| render_line(part)).collect();
            assert_eq!(parts, *expected, "{text}");
            assert!(parts.iter().all(|part| part.chars().count() <= *width), "{parts:?}");
            assert_eq!(parts.concat(), *text);
        }
    }
}
