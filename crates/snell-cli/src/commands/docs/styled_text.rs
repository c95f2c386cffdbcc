//! What stands in a line: words, some of them code, stressed, or a link; and lines of them that are not too long.

use crate::output::{self, TextStyle, apply_style};

/// A word: pieces without a blank between them.
pub(super) type StyledWord = Vec<(String, TextStyle)>;

/// How code looks within a sentence.
const CODE_STYLE: TextStyle = TextStyle::Yellow;

/// The words of a text. Of a link its own words stay, and where it leads if that is elsewhere.
pub(super) fn split_words(text: &str) -> Vec<StyledWord> {
    let mut words = vec![StyledWord::new()];
    for (text, style) in parse_spans(text) {
        for (number, part) in text.split(' ').enumerate() {
            if number > 0 {
                words.push(StyledWord::new());
            }
            if let Some(word) = words.last_mut().filter(|_| !part.is_empty()) {
                word.push((part.to_owned(), style));
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A text without marks, on one line.
pub(super) fn strip_markup(text: &str) -> String {
    let spans = parse_spans(text).into_iter().map(|(text, _)| text);
    spans.collect()
}

/// Pieces of a text, each with what it is.
fn parse_spans(text: &str) -> Vec<(String, TextStyle)> {
    let mut found: Vec<(String, TextStyle)> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '[', '!']) {
        found.push((rest[..at].to_owned(), TextStyle::Plain));
        let (taken, spans) = parse_mark(&rest[at..]);
        found.extend(spans);
        rest = &rest[at + taken..];
    }
    found.push((rest.to_owned(), TextStyle::Plain));
    found.retain(|(text, _)| !text.is_empty());
    found
}

/// What begins with a mark: how much of the text it is, and what it stands for. A mark that marks nothing stands for itself.
fn parse_mark(text: &str) -> (usize, Vec<(String, TextStyle)>) {
    if let Some(code) = text.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        return (code.0.len() + 2, vec![(format_code(code.0), CODE_STYLE)]);
    }
    if let Some((stressed, _)) = text.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
        let inner = parse_spans(stressed).into_iter();
        let bold = inner.map(|(text, style)| (text, if style == TextStyle::Plain { TextStyle::Bold } else { style }));
        return (stressed.len() + 4, bold.collect());
    }
    let (of_picture, after) = text.strip_prefix('!').map_or((0, text), |after| (1, after));
    if let Some((linked, target)) = parse_link(after) {
        let mut shown = parse_spans(linked);
        if target.contains("://") && linked != target {
            shown.push((format!(" ({target})"), TextStyle::Faint));
        }
        return (of_picture + linked.len() + target.len() + 4, shown);
    }
    let first = text.chars().next().map(char::len_utf8).unwrap_or_default();
    (first, vec![(text[..first].to_owned(), TextStyle::Plain)])
}

/// `[text](target)`; there may be brackets in the text.
fn parse_link(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let mut depth = 0_usize;
    let end = inner.find(|c| {
        match c {
            '[' => depth += 1,
            ']' if depth == 0 => return true,
            ']' => depth -= 1,
            _ => {}
        }
        false
    })?;
    let (target, _) = inner[end..].strip_prefix("](")?.split_once(')')?;
    Some((&inner[..end], target))
}

/// Where there are no colours, code keeps its marks.
fn format_code(code: &str) -> String {
    if output::has_colours() { code.to_owned() } else { format!("`{code}`") }
}

/// Lines of words, none of them wider than this unless a word is.
pub(super) fn wrap_words(words: &[StyledWord], width: usize) -> Vec<Vec<&StyledWord>> {
    let mut lines: Vec<Vec<&StyledWord>> = vec![Vec::new()];
    let mut used = 0;
    for word in words {
        let needed = word_width(word);
        if used > 0 && used + 1 + needed > width {
            lines.push(Vec::new());
            used = 0;
        }
        used += needed + usize::from(used > 0);
        if let Some(line) = lines.last_mut() {
            line.push(word);
        }
    }
    lines
}

/// After these a word that is too long is broken, and between `::` and what follows.
const BREAK_CHARS: [char; 5] = ['/', '_', '-', '.', ','];

/// The word in parts that are no wider than this: several only if it is too wide.
pub(super) fn break_word(word: &StyledWord, width: usize) -> Vec<StyledWord> {
    if word_width(word) <= width {
        return vec![word.clone()];
    }
    let mut parts: Vec<StyledWord> = Vec::new();
    let mut used = 0;
    for (text, style) in word {
        for fragment in split_at_breaks(text).flat_map(|fragment| split_by_width(fragment, width.max(1))) {
            let needed = fragment.chars().count();
            match parts.last_mut() {
                Some(part) if used + needed <= width => part.push((fragment, *style)),
                _ => {
                    parts.push(vec![(fragment, *style)]);
                    used = 0;
                }
            }
            used += needed;
        }
    }
    parts
}

/// How wide the widest part is if a word is broken wherever it can be.
pub(super) fn min_word_width(word: &StyledWord) -> usize {
    let fragments = word.iter().flat_map(|(text, _)| split_at_breaks(text));
    fragments.map(|fragment| fragment.chars().count()).max().unwrap_or_default()
}

/// What stands between the places where a word can be broken.
fn split_at_breaks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let ends = |(at, c): &(usize, char)| {
            let after = &rest[at + c.len_utf8()..];
            BREAK_CHARS.contains(c) || *c == ':' && rest[..*at].ends_with(':') && !after.starts_with(':')
        };
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (fragment, after) = rest.split_at(end);
        rest = after;
        (!fragment.is_empty()).then_some(fragment)
    })
}

/// A text cut into pieces of at most so many characters.
fn split_by_width(text: &str, width: usize) -> Vec<String> {
    let characters: Vec<_> = text.chars().collect();
    characters.chunks(width).map(|piece| piece.iter().collect()).collect()
}

/// How wide a line is.
pub(super) fn line_width(line: &[&StyledWord]) -> usize {
    let words = line.iter().map(|word| word_width(word));
    words.sum::<usize>() + line.len().saturating_sub(1)
}

pub(super) fn word_width(word: &StyledWord) -> usize {
    word.iter().map(|(text, _)| text.chars().count()).sum()
}

/// A line as it is shown.
pub(super) fn render_line(line: &[&StyledWord]) -> String {
    let word = |word: &&StyledWord| word.iter().map(|(text, style)| apply_style(text, *style)).collect::<String>();
    line.iter().map(word).collect::<Vec<_>>().join(" ")
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
            let parts: Vec<_> = break_word(&word, *width).iter().map(|part| render_line(&[part])).collect();
            assert_eq!(parts, *expected, "{text}");
            assert!(parts.iter().all(|part| part.chars().count() <= *width), "{parts:?}");
            assert_eq!(parts.concat(), *text);
        }
    }
}
