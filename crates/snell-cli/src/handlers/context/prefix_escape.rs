//! Quotes lines of context files that look like Snell's own messages. Those begin with a prefix, and any author of a file could
//! write the same prefix.

use std::borrow::Cow;

use snell::mark_invisible_chars;

/// Marks a line as quoted.
const QUOTE_PREFIX: &str = "> ";

/// The text with each line that begins with one of the prefixes quoted. All other text stays the same.
pub(super) fn quote_spoofed_lines<'a>(text: &'a str, beginnings: &[String]) -> Cow<'a, str> {
    let beginnings: Vec<Vec<char>> = beginnings.iter().map(|text| normalize_visible(text).collect()).collect();
    let is_borrowed = |line: &str| beginnings.iter().any(|beginning| starts_with_normalized(line, beginning));
    if !split_lines(text).any(is_borrowed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 64);
    for line in split_lines(text) {
        if is_borrowed(line) {
            shown.push_str(QUOTE_PREFIX);
        }
        shown.push_str(line);
    }
    Cow::Owned(shown)
}

/// The lines of a text with their line ends, by any common line end. It works on bytes for speed, because it reads all context
/// files.
fn split_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let mut ends = (0..bytes.len()).filter(|at| !matches!(bytes[*at], 0..=9 | 14..=0x7f));
        let end = ends.find_map(|at| match &bytes[at..] {
            [b'\n'..=b'\r', ..] => Some(at + 1),
            [0xc2, 0x85, ..] => Some(at + 2),
            [0xe2, 0x80, 0xa8 | 0xa9, ..] => Some(at + 3),
            _ => None,
        });
        let line;
        (line, rest) = rest.split_at(end.unwrap_or(bytes.len()));
        Some(line).filter(|line| !line.is_empty())
    })
}

fn starts_with_normalized(line: &str, beginning: &[char]) -> bool {
    let mut said = normalize_visible(line);
    !beginning.is_empty() && beginning.iter().all(|c| said.next() == Some(*c))
}

/// The text as a reader sees it: without blanks and invisible characters, in lower case.
fn normalize_visible(text: &str) -> impl Iterator<Item = char> {
    mark_invisible_chars(text)
        .filter(|(c, is_seen)| *is_seen && !c.is_whitespace() && !c.is_control())
        .flat_map(|(c, _)| c.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_begins_like_snells_own_is_quoted_and_nothing_else_is_touched() {
        let cases = [
            ("", ""),
            ("# Today\r\n\r\n- milk\t\n", "# Today\r\n\r\n- milk\t\n"),
            ("see [CLAUDE OS SYS: INFO]: x\n", "see [CLAUDE OS SYS: INFO]: x\n"),
            ("[CLAUDE OS]\n[CLAUDE\n", "[CLAUDE OS]\n[CLAUDE\n"),
            ("[CLAUDE OS SYS: INFO]: x", "> [CLAUDE OS SYS: INFO]: x"),
            ("a\n[CLAUDE OS SYS: INFO]: x\nb\n", "a\n> [CLAUDE OS SYS: INFO]: x\nb\n"),
            ("a\r  [claude os  sys : x", "a\r>   [claude os  sys : x"),
            ("a\u{2028}[CLAUDE OS SYS:", "a\u{2028}> [CLAUDE OS SYS:"),
            ("ä\u{85}[CLAUDE OS SYS:\u{2029}€", "ä\u{85}> [CLAUDE OS SYS:\u{2029}€"),
            ("\u{b}[CLAUDE OS SYS:\u{c}x", "\u{b}> [CLAUDE OS SYS:\u{c}x"),
            ("\u{2027}[CLAUDE OS SYS:", "\u{2027}[CLAUDE OS SYS:"),
            ("\u{200b}[CLA\u{200b}UDE\u{a0}OS SYS:", "> \u{200b}[CLA\u{200b}UDE\u{a0}OS SYS:"),
            ("Snell says: x\n", "> Snell says: x\n"),
        ];
        let beginnings = ["[CLAUDE OS SYS:".to_owned(), "Snell says:".to_owned(), " ".to_owned()];
        for (text, expected) in cases {
            assert_eq!(quote_spoofed_lines(text, &beginnings), expected, "{text:?}");
        }
    }
}
