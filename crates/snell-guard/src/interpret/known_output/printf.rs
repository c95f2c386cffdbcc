//! The output of `echo` and `printf`.

use crate::interpret::builtins::{join_words, skip_dashes};
use crate::invocation::{SymbolicText, UnknownKind};

/// With more arguments the output is unknown: a format repeats until all are used.
const MAX_ARGUMENTS: usize = 1_024;

/// `echo`
pub(crate) fn format_echo(arguments: &[SymbolicText]) -> SymbolicText {
    let mut rest = arguments;
    let (mut newline, mut escapes) = (true, false);
    while let Some((first, after)) = rest.split_first() {
        let letters = first.as_text().and_then(|text| text.strip_prefix('-')).unwrap_or_default();
        if letters.is_empty() || !letters.bytes().all(|byte| b"neE".contains(&byte)) {
            break;
        }
        for letter in letters.bytes() {
            match letter {
                b'n' => newline = false,
                b'e' => escapes = true,
                _ => escapes = false,
            }
        }
        rest = after;
    }
    let mut value = join_words(rest);
    if escapes {
        value = map_known_text(&value.flatten_patterns(), unescape_text);
    }
    if newline {
        value.push_text("\n");
    }
    value
}

/// The same value with its known parts changed.
fn map_known_text(value: &SymbolicText, change: impl Fn(&str) -> Option<String>) -> SymbolicText {
    use crate::invocation::SymbolicPart;
    let mut changed = SymbolicText::default();
    for part in &value.parts {
        match part {
            SymbolicPart::Text(text) | SymbolicPart::Pattern(text) => match change(text) {
                Some(text) => changed.push_text(&text),
                None => changed.push(SymbolicPart::Unknown(UnknownKind::Anything)),
            },
            part => changed.push(part.clone()),
        }
    }
    changed
}

/// `printf format arguments`
pub(crate) fn format_printf(arguments: &[SymbolicText]) -> Option<SymbolicText> {
    let (format, mut rest) = skip_dashes(arguments).split_first()?;
    let format = format.flatten_patterns();
    let Some(text) = format.as_text() else {
        return Some(SymbolicText::from_unknown(UnknownKind::Anything));
    };
    if rest.len() > MAX_ARGUMENTS {
        return None;
    }
    let mut value = SymbolicText::default();
    loop {
        let before = rest.len();
        let goes_on = apply_format(text, &mut rest, &mut value)?;
        if !goes_on || rest.is_empty() || rest.len() == before {
            return Some(value);
        }
    }
}

/// Applies the format once. Returns whether it may be applied again.
fn apply_format(format: &str, rest: &mut &[SymbolicText], value: &mut SymbolicText) -> Option<bool> {
    let mut from = format;
    while let Some(at) = from.find(['%', '\\']) {
        let (before, sign) = from.split_at(at);
        value.push_text(before);
        if sign.starts_with('\\') {
            let (c, length, stops) = decode_escape(sign);
            value.push_text(&c);
            from = sign.get(length..).unwrap_or_default();
            if stops {
                return Some(false);
            }
            continue;
        }
        let end = sign.char_indices().skip(1).find(|(_, c)| c.is_ascii_alphabetic() || *c == '%');
        let Some((end, letter)) = end else {
            value.push_text(sign);
            return Some(true);
        };
        let flags = sign.get(1..end).unwrap_or_default();
        if letter == '%' {
            value.push_text("%");
        } else {
            let (argument, after) = match rest.split_first() {
                // It stands for many names.
                Some((first, after)) if letter == 's' && flags.is_empty() => (first.clone(), after),
                Some((first, after)) => (first.flatten_patterns(), after),
                None => (SymbolicText::default(), *rest),
            };
            *rest = after;
            value.append(&format_argument(flags, letter, &argument)?);
        }
        from = sign.get(end + 1..).unwrap_or_default();
    }
    value.push_text(from);
    Some(true)
}

fn format_argument(flags: &str, letter: char, argument: &SymbolicText) -> Option<SymbolicText> {
    let Some(text) = argument.as_text() else {
        let kind = match letter {
            's' | 'q' | 'b' => return Some(argument.clone()),
            _ => UnknownKind::Name,
        };
        return Some(SymbolicText::from_unknown(kind));
    };
    let number = || -> Option<i64> {
        match text.strip_prefix(['\'', '"']) {
            Some(c) => c.chars().next().map(|c| i64::from(u32::from(c))),
            None if text.is_empty() => Some(0),
            None => match text.strip_prefix("0x") {
                Some(digits) => i64::from_str_radix(digits, 16).ok(),
                None if text.len() > 1 && text.starts_with('0') => i64::from_str_radix(text, 8).ok(),
                None => text.parse().ok(),
            },
        }
    };
    let printed = match letter {
        's' => text.to_owned(),
        'b' => unescape_text(text)?,
        'q' => quote_text(text),
        'c' => text.chars().take(1).collect(),
        'd' | 'i' | 'u' => number()?.to_string(),
        'x' => format!("{:x}", number()?),
        'X' => format!("{:X}", number()?),
        'o' => format!("{:o}", number()?),
        _ => return None,
    };
    Some(SymbolicText::from_text(pad_text(printed, flags)?))
}

fn quote_text(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    crate::interpret::quote_shell_word(text)
}

/// `%-5s`, `%05d`, `%.3s`
fn pad_text(text: String, flags: &str) -> Option<String> {
    const MAX_WIDTH: usize = 4_096;
    if flags.is_empty() {
        return Some(text);
    }
    let (width, precision) = flags.split_once('.').map_or((flags, None), |(width, precision)| (width, Some(precision)));
    let left = width.contains('-');
    let digits = width.trim_start_matches(['-', '+', ' ', '#']);
    let zero = digits.starts_with('0');
    let width: usize = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let text: String = match precision {
        Some(precision) => text.chars().take(precision.parse().unwrap_or(0)).collect(),
        None => text,
    };
    if width > MAX_WIDTH {
        return None;
    }
    Some(match (left, zero) {
        (true, _) => format!("{text:<width$}"),
        (false, true) => format!("{text:0>width$}"),
        (false, false) => format!("{text:>width$}"),
    })
}

/// The text of `echo -e`, `$'…'` and `%b`.
pub(crate) fn unescape_text(text: &str) -> Option<String> {
    let mut bytes: Vec<u8> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, sign) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        let (c, length, stops) = decode_escape(sign);
        bytes.extend_from_slice(c.as_bytes());
        if stops {
            return String::from_utf8(bytes).ok();
        }
        rest = sign.get(length..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// The text of an escape, its length, and whether the output ends there.
fn decode_escape(text: &str) -> (String, usize, bool) {
    let after = text.get(1..).unwrap_or_default();
    let Some(sign) = after.chars().next() else {
        return ("\\".to_owned(), 1, false);
    };
    let known = match sign {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'f' => '\u{c}',
        'v' => '\u{b}',
        'e' | 'E' => '\u{1b}',
        '\\' => '\\',
        '"' => '"',
        '\'' => '\'',
        'c' => return (String::new(), 2, true),
        'x' => return decode_numeric_escape(after, 1, 2, 16),
        'u' => return decode_numeric_escape(after, 1, 4, 16),
        'U' => return decode_numeric_escape(after, 1, 8, 16),
        '0' => return decode_numeric_escape(after, 0, 4, 8),
        '1'..='7' => return decode_numeric_escape(after, 0, 3, 8),
        other => {
            let length = 1 + other.len_utf8();
            return (text.get(..length).unwrap_or(text).to_owned(), length, false);
        }
    };
    (known.to_string(), 2, false)
}

/// A character by its code.
fn decode_numeric_escape(after: &str, skip: usize, most: usize, base: u32) -> (String, usize, bool) {
    let digits: String = after.chars().skip(skip).take(most).take_while(|c| c.is_digit(base)).collect();
    let length = 1 + skip + digits.len();
    let c = u32::from_str_radix(&digits, base).ok().and_then(char::from_u32);
    match c {
        Some(c) => (c.to_string(), length, false),
        None => ("\\".to_owned() + after.get(..skip).unwrap_or_default(), length, false),
    }
}
