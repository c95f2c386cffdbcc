//! Private keys: PEM, PEM in Base64, the keys of PuTTY, and JSON Web Keys.

use std::ops::Range;

use crate::context::names::is_jwk_private_member;
use crate::context::{MAX_QUOTE_ESCAPES, find_name_before, read_value};
use crate::scan::SecretScanner;
use crate::scan::char_runs::CharClass;

/// How far behind the first line of a key its body begins.
const MAX_KEY_START_BYTES: usize = 300;

/// How many characters of Base64 in a row are the body of a key; no word of prose is as long.
const MIN_KEY_RUN: usize = 32;

/// A private key from its first line to its last, or to the end of the text if it was cut.
pub(crate) fn find_pem_key(scanner: &mut SecretScanner<'_>, start: usize) -> Option<Range<usize>> {
    if start > scanner.begin && scanner.bytes[start - 1] == b'-' {
        return None;
    }
    let dashes = scanner.bytes[start..].iter().take_while(|byte| **byte == b'-').count();
    scanner.runs.steps += dashes;
    let label = start + dashes;
    let rest = scanner.text[label..].trim_start_matches(' ').strip_prefix("BEGIN ")?;
    let label_end = rest.bytes().take(64).position(|byte| byte == b'-')?;
    if !rest[..label_end].contains("PRIVATE KEY") {
        return None;
    }
    let body = rest[label_end..].trim_start_matches('-');
    if !begins_key(body.as_bytes()) {
        return None;
    }
    scanner.runs.steps += body.len();
    let body_start = scanner.text.len() - body.len();
    let end = find_last_line_end(body).map_or(scanner.text.len(), |end| body_start + end);
    Some(start..end)
}

/// Whether a key follows, rather than the text or code that speaks of its first line.
fn begins_key(body: &[u8]) -> bool {
    let mut run = 0;
    let mut on_first_line = true;
    for (at, byte) in body.iter().take(MAX_KEY_START_BYTES).enumerate() {
        let is_base64 = byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        run = if is_base64 { run + 1 } else { 0 };
        if run >= MIN_KEY_RUN {
            return true;
        }
        on_first_line &= *byte != b'\n' && !body[at..].starts_with(b"\\n");
        let is_code = on_first_line && b"(){};".contains(byte);
        if is_code {
            return false;
        }
        if body[at..].starts_with(b"----") {
            return is_short_key(&body[..at]);
        }
    }
    false
}

/// How many characters of Base64 a key has that is there as a whole.
const MIN_SHORT_KEY: usize = 8;

/// Whether all that stands between the first line and the last is Base64, and no word.
fn is_short_key(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body).replace("\\r", "").replace("\\n", "\n");
    let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    let is_no_word = |line: &str| {
        let has = |is: fn(&u8) -> bool| line.as_bytes().iter().any(is);
        has(u8::is_ascii_digit) || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some_and(|line| line.len() >= MIN_SHORT_KEY && is_no_word(line))
        && lines.all(|line| line.bytes().all(is_base64))
}

/// Where the last line of a key ends.
fn find_last_line_end(body: &str) -> Option<usize> {
    let (at, _) = body.match_indices("END ").find(|(at, _)| {
        let before = &body[..*at];
        before.ends_with("--") || before.ends_with("-- ")
    })?;
    let label = &body.as_bytes()[at..];
    let dashes = label.iter().take(64).position(|byte| *byte == b'-').unwrap_or("END ".len());
    let after = label[dashes..].iter().take_while(|byte| **byte == b'-').count();
    Some(at + dashes + after)
}

/// The first characters of a line of Base64 that is wrapped may be so many.
const MAX_INDENT_BYTES: usize = 64;

/// PEM in Base64, as a kubeconfig has it, on one line or wrapped. Only private keys are secret.
pub(crate) fn find_encoded_pem_key(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    if at < scanner.public_pem_end {
        return None;
    }
    let start = find_base64_start(scanner, at);
    let mut decoder = Base64Decoder::default();
    let mut line = at;
    let mut width = None;
    let end = loop {
        let (end, length) = decode_line(scanner, line, &mut decoder);
        let is_full = *width.get_or_insert(length) == length;
        match next_line_offset(&scanner.bytes[end..]) {
            Some(skipped) if !decoder.is_padded && is_base64_line(scanner, end + skipped, is_full) => {
                line = end + skipped
            }
            _ => break end,
        }
    };
    scanner.runs.steps += end - at;
    let has_key = |bytes: &[u8]| bytes.windows(PRIVATE_KEY.len()).any(|part| part == PRIVATE_KEY);
    let is_private = has_key(&decoder.bytes) || has_key(&decode_nested_base64(&decoder.bytes));
    if !is_private {
        scanner.public_pem_end = end;
    }
    is_private.then_some(start..end)
}

/// `-----BEGIN` in Base64, from the first group of four digits that is the same whatever stands before it.
pub(crate) const ENCODED_PEM_MARKS: [&str; 3] = ["LS0tLS1CRUdJTi", "LS0tQkVHSU4g", "LS0tLUJFR0lOI"];

/// Where the Base64 begins that has a mark at `at`: the groups of four digits before it belong to it.
fn find_base64_start(scanner: &mut SecretScanner<'_>, at: usize) -> usize {
    const MAX_BYTES_BEFORE: usize = 4096;
    let before = scanner.bytes[scanner.begin..at].iter().rev().take(MAX_BYTES_BEFORE);
    let is_digit = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    let length = before.take_while(is_digit).count();
    scanner.runs.steps += length;
    at - length / 4 * 4
}

/// The bytes of Base64 that is the content of Base64; nothing if it is not.
fn decode_nested_base64(bytes: &[u8]) -> Vec<u8> {
    let mut decoder = Base64Decoder::default();
    if bytes.starts_with(ENCODED_PEM_MARKS[0].as_bytes()) {
        let digits = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
        digits.for_each(|digit| decoder.push(*digit));
    }
    decoder.bytes
}

/// A private key in Base64 that is the value from `at`, in quotes or without them.
pub(crate) fn find_encoded_key_value(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let (value, _) = read_value(scanner, at);
    let mark = [0, 4].map(|skipped| value.start + skipped).into_iter().find(|at| {
        let rest = scanner.bytes.get(*at..).unwrap_or_default();
        ENCODED_PEM_MARKS.iter().any(|mark| rest.starts_with(mark.as_bytes()))
    })?;
    find_encoded_pem_key(scanner, mark)
}

/// The label of private keys in PEM.
const PRIVATE_KEY: &[u8] = b"PRIVATE KEY";

/// The bytes of a text in Base64.
#[derive(Debug, Default)]
pub(crate) struct Base64Decoder {
    pub(crate) bytes: Vec<u8>,
    bits: u32,
    bit_count: u32,
    pub(crate) is_padded: bool,
}

impl Base64Decoder {
    pub(crate) fn push(&mut self, digit: u8) {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => {
                self.is_padded = true;
                return;
            }
        };
        self.bits = (self.bits << 6 | u32::from(value)) & 0xfff;
        self.bit_count += 6;
        if self.bit_count >= 8 {
            self.bit_count -= 8;
            self.bytes.push((self.bits >> self.bit_count) as u8);
        }
    }
}

/// Characters of Base64 as URLs and JSON may have them.
const ESCAPED_DIGITS: [(&[u8], u8); 7] = [
    (b"%2b", b'+'),
    (b"%2f", b'/'),
    (b"%3d", b'='),
    (b"\\/", b'/'),
    (b"\\u002b", b'+'),
    (b"\\u002f", b'/'),
    (b"\\u003d", b'='),
];

/// Decodes a line: its end, and how many digits it has.
fn decode_line(scanner: &mut SecretScanner<'_>, from: usize, decoder: &mut Base64Decoder) -> (usize, usize) {
    let mut at = from;
    let mut length = 0;
    loop {
        let end = scanner.runs.find_run_end(CharClass::Base64, at);
        scanner.bytes[at..end].iter().for_each(|digit| decoder.push(*digit));
        length += end - at;
        let begins = |escape: &[u8]| {
            let text = scanner.bytes.get(end..end + escape.len());
            text.is_some_and(|text| text.eq_ignore_ascii_case(escape))
        };
        let Some((escape, digit)) = ESCAPED_DIGITS.iter().find(|(escape, _)| begins(escape)) else {
            return (end, length);
        };
        decoder.push(*digit);
        length += 1;
        at = end + escape.len();
    }
}

/// How many bytes lie between the end of a line and the first character of the next one, which may be indented or have
/// its number before it.
fn next_line_offset(rest: &[u8]) -> Option<usize> {
    const BREAKS: [&[u8]; 10] =
        [b"\r\n", b"\n", b"\r", b"\\r\\n", b"\\n", b"\\\\r\\\\n", b"\\\\n", b"\\\n", b"%0D%0A", b"%0A"];
    let line_break = BREAKS.iter().find(|line_break| rest.starts_with(line_break))?;
    let line = &rest[line_break.len()..];
    let count = |bytes: &[u8], is_in: fn(&u8) -> bool| {
        bytes.iter().take(MAX_INDENT_BYTES).take_while(|byte| is_in(byte)).count()
    };
    let indent = count(line, |byte| matches!(byte, b' ' | b'\t'));
    let digits = count(&line[indent..], u8::is_ascii_digit);
    let after = &line[indent + digits..];
    let number = match after {
        [b'\t', ..] if digits > 0 => digits + 1,
        _ if digits > 0 && after.starts_with("→".as_bytes()) => digits + "→".len(),
        _ => 0,
    };
    Some(line_break.len() + indent + number)
}

/// The fewest characters of a line of Base64 after a line that was not full. A word is shorter.
const MIN_BASE64_LINE: usize = 16;

/// Whether a line has nothing but Base64. After a full line it may be short.
fn is_base64_line(scanner: &mut SecretScanner<'_>, from: usize, after_full: bool) -> bool {
    let end = scanner.runs.find_run_end(CharClass::Base64, from);
    let ends_line =
        matches!(&scanner.bytes[end..], [] | [b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'\\' | b'%' | b'<', ..]);
    let is_padded = scanner.bytes[from..end].ends_with(b"=");
    ends_line && end > from && (after_full || is_padded || end - from >= MIN_BASE64_LINE)
}

/// The lines of a private key of PuTTY after `Private-Lines: `.
pub(crate) fn find_putty_key(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let count_start = at + "Private-Lines: ".len();
    let digits = scanner.bytes[count_start..].iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let count: usize = scanner.text[count_start..count_start + digits].parse().ok()?;
    let first_break = count_start + digits;
    let before = &scanner.bytes[scanner.begin..at];
    let is_on_line = |byte: &&u8| !matches!(byte, b'\n' | b'\r');
    let margin = before.iter().rev().take(MAX_INDENT_BYTES).take_while(is_on_line).count();
    let margin = at - margin..at;
    let start = first_break + next_quoted_line_offset(scanner, first_break, &margin)?;
    let mut end = scanner.runs.find_run_end(CharClass::Base64, start);
    if end - start < MIN_PUTTY_LINE {
        return None;
    }
    for _ in 1..count {
        let Some(skipped) = next_quoted_line_offset(scanner, end, &margin) else {
            break;
        };
        let line_end = scanner.runs.find_run_end(CharClass::Base64, end + skipped);
        if line_end == end + skipped {
            break;
        }
        end = line_end;
    }
    Some(start..end)
}

/// [`next_line_offset`] where all lines have the same text before them, such as `> ` or the name of a file.
fn next_quoted_line_offset(scanner: &SecretScanner<'_>, end: usize, margin: &Range<usize>) -> Option<usize> {
    let rest = &scanner.bytes[end..];
    let line_break = rest.iter().take(2).take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
    let is_same = line_break > 0 && rest[line_break..].starts_with(&scanner.bytes[margin.clone()]);
    match is_same && !margin.is_empty() {
        true => Some(line_break + margin.len()),
        false => next_line_offset(rest),
    }
}

/// The fewest characters of the first private line of PuTTY.
const MIN_PUTTY_LINE: usize = 16;

/// The longest JSON Web Key, and more.
const MAX_JWK_BYTES: usize = 16 * 1024;

/// The fewest characters of a private member of a JSON Web Key.
const MIN_JWK_MEMBER: usize = 16;

/// The member that every JSON Web Key has.
const KTY: &str = "kty";

/// The places of `kty`, which every JSON Web Key has.
#[derive(Debug, Default)]
pub(crate) struct JwkContext {
    /// The object that has the last `kty` ends here.
    end: usize,
    /// The next `kty` after a place that was asked for.
    next: Option<usize>,
}

impl SecretScanner<'_> {
    /// Notes that the object around `at`, the place of `kty`, is a JSON Web Key.
    pub(crate) fn remember_jwk(&mut self, at: usize) {
        if !self.is_kty(at) {
            return;
        }
        self.jwk.end = self.runs.find_run_end(CharClass::Flat, at).min(at + MAX_JWK_BYTES);
    }

    /// Whether `kty` at `at` is the whole name.
    fn is_kty(&self, at: usize) -> bool {
        let after = self.bytes.get(at + KTY.len());
        after.is_some_and(|byte| matches!(byte, b'"' | b'\'' | b'\\' | b':' | b'=' | b' '))
    }

    /// Whether the object around `at` is a JSON Web Key.
    fn is_in_jwk(&mut self, at: usize) -> bool {
        if at < self.jwk.end {
            return true;
        }
        if self.jwk.next.is_none_or(|next| next < at) {
            let mut places = self.text[at..].match_indices(KTY).map(|(distance, _)| at + distance);
            let found = places.find(|place| self.is_kty(*place)).unwrap_or(usize::MAX);
            self.runs.steps += found.min(self.bytes.len()) - at;
            self.jwk.next = Some(found);
        }
        let limit = self.runs.find_run_end(CharClass::Flat, at).min(at + MAX_JWK_BYTES);
        self.jwk.next.is_some_and(|next| next < limit)
    }
}

/// The value of a private member of a JSON Web Key. `colon` stands after the name.
pub(crate) fn find_jwk_member(scanner: &mut SecretScanner<'_>, colon: usize) -> Option<Range<usize>> {
    // Most names end with another letter.
    let quotes = scanner.bytes[scanner.begin..colon].iter().rev().take(MAX_QUOTE_ESCAPES + 2);
    let last = quotes.copied().find(|byte| !matches!(byte, b'"' | b'\'' | b'\\' | b' '))?;
    if !matches!(last, b'd' | b'p' | b'q' | b'i' | b'k') {
        return None;
    }
    let name = find_name_before(scanner, colon)?;
    let start = scanner.skip_escape(name.start).min(name.end);
    if !is_jwk_private_member(&scanner.text[start..name.end]) {
        return None;
    }
    let spaces = scanner.bytes[colon + 1..].iter().take(8).take_while(|byte| byte.is_ascii_whitespace());
    let (value, _) = read_value(scanner, colon + 1 + spaces.count());
    let fits = value.len() >= MIN_JWK_MEMBER && scanner.runs.find_run_end(CharClass::Base64, value.start) >= value.end;
    (fits && scanner.is_in_jwk(colon)).then_some(value)
}
