//! Escapes invisible characters that change the display of a text: they reverse its direction, control terminals, or
//! hide content. Snell escapes them in texts from other programs before it shows them.
//!
//! Some of them belong to their neighbours, in an emoji of several pictures or in a script whose letters join. These
//! stay.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with an escape such as `\u{202e}` for each invisible character. Line breaks and tabs stay.
pub fn reveal_invisible_chars(text: &str) -> Cow<'_, str> {
    if mark_invisible_chars(text).all(|(_, is_seen)| is_seen) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (c, is_seen) in mark_invisible_chars(text) {
        if is_seen {
            shown.push(c);
        } else {
            // Writing to a string does not fail.
            let _ = write!(shown, "{}", c.escape_unicode());
        }
    }
    Cow::Owned(shown)
}

/// Each character of a text, and whether it is visible in its position. Line breaks and tabs are.
pub fn mark_invisible_chars(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut rest = text.chars();
    let mut before = None;
    std::iter::from_fn(move || {
        let c = rest.next()?;
        let is_seen = is_plain_ascii(c) || is_visible_between(before, c, rest.clone().next());
        before = is_seen.then_some(c);
        Some((c, is_seen))
    })
}

/// The fast path for nearly every character.
fn is_plain_ascii(c: char) -> bool {
    matches!(c, ' '..='~' | '\n' | '\t')
}

fn is_visible_between(before: Option<char>, c: char, after: Option<char>) -> bool {
    let between = |fits: fn(char) -> bool| before.is_some_and(fits) && after.is_some_and(fits);
    match c {
        '\r' => after == Some('\n'),
        ZERO_WIDTH_JOINER => between(is_emoji_part) || between(is_joining_letter),
        ZERO_WIDTH_NON_JOINER => between(is_joining_letter),
        // Variation selectors: text or emoji display.
        TEXT_VARIATION_SELECTOR | EMOJI_VARIATION_SELECTOR => {
            before.is_some_and(|sign| is_emoji(sign) || is_keycap_base(sign) && after == Some(KEYCAP))
        }
        other => !is_invisible(other),
    }
}

const ZERO_WIDTH_NON_JOINER: char = '\u{200c}';
const ZERO_WIDTH_JOINER: char = '\u{200d}';
const TEXT_VARIATION_SELECTOR: char = '\u{fe0e}';
const EMOJI_VARIATION_SELECTOR: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';

fn is_emoji_part(c: char) -> bool {
    is_emoji(c) || c == EMOJI_VARIATION_SELECTOR
}

fn is_emoji(c: char) -> bool {
    matches!(
        c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{2bff}' | '\u{3030}'
            | '\u{303d}' | '\u{3297}' | '\u{3299}' | '\u{1f000}'..='\u{1faff}'
    )
}

fn is_keycap_base(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '#' | '*')
}

/// Letters from Arabic to Sinhala. Their joiners are part of the spelling.
fn is_joining_letter(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{dff}')
}

/// Unicode's controls, format characters, line separators, and "default ignorable" characters.
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_shown_as_an_escape() {
        let cases = [
            ("", ""),
            ("plain\n\ttext ~", "plain\n\ttext ~"),
            ("a\r\nb\rc\r", "a\r\nb\\u{d}c\\u{d}"),
            ("\u{0}\u{1b}[2J\u{7f}\u{9b}", "\\u{0}\\u{1b}[2J\\u{7f}\\u{9b}"),
            ("\u{202e}txt.exe\u{202c}", "\\u{202e}txt.exe\\u{202c}"),
            ("\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}", "\\u{2066}a\\u{2069}\\u{200e}\\u{200f}\\u{61c}"),
            ("a\u{200b}b\u{feff}c\u{2060}d\u{ad}e", "a\\u{200b}b\\u{feff}c\\u{2060}d\\u{ad}e"),
            ("a\u{2028}b\u{2029}c\u{85}", "a\\u{2028}b\\u{2029}c\\u{85}"),
            ("x\u{e0041}\u{e007f}", "x\\u{e0041}\\u{e007f}"),
            ("\u{3164}\u{115f}\u{ffa0}\u{34f}", "\\u{3164}\\u{115f}\\u{ffa0}\\u{34f}"),
            // Letters of any script and their marks are visible.
            ("Grüße, Привет, שלום, 你好, e\u{301}", "Grüße, Привет, שלום, 你好, e\u{301}"),
        ];
        for (text, expected) in cases {
            assert_eq!(reveal_invisible_chars(text), expected);
        }
    }

    #[test]
    fn what_is_part_of_a_picture_or_a_word_stays() {
        let kept = [
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}\u{200d}🔥",
            "🏳\u{fe0f}\u{200d}🌈",
            "👩🏽\u{200d}💻",
            "1\u{fe0f}\u{20e3}",
            "☺\u{fe0e}",
            "می\u{200c}خواهم",
            "क\u{94d}\u{200d}ष",
        ];
        for text in kept {
            assert_eq!(reveal_invisible_chars(text), text);
        }
        let lone = [
            ("a\u{200d}b", "a\\u{200d}b"),
            ("👩\u{200d}", "👩\\u{200d}"),
            ("👩\u{200d}\u{200d}👩", "👩\\u{200d}\\u{200d}👩"),
            ("\u{200d}👩", "\\u{200d}👩"),
            ("a\u{200c}b", "a\\u{200c}b"),
            ("1\u{fe0f}2", "1\\u{fe0f}2"),
            ("☺\u{fe0f}\u{fe0f}", "☺\u{fe0f}\\u{fe0f}"),
            ("☺\u{fe01}", "☺\\u{fe01}"),
        ];
        for (text, expected) in lone {
            assert_eq!(reveal_invisible_chars(text), expected);
        }
    }
}
