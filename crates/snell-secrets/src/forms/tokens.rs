//! Tokens of several parts, and tokens that have their mark at the end or none at all.

use std::ops::Range;

use crate::forms::RequiredChars;
use crate::forms::private_keys::Base64Decoder;
use crate::scan::SecretScanner;
use crate::scan::char_runs::CharClass;

/// Three parts of Base64 with dots between them, the first being an object of JSON. The last part is missing where
/// nothing is signed or the text was cut; then the second one must be an object too.
pub(crate) fn find_json_web_token(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let mut end = scanner.runs.find_run_end(CharClass::Url, at);
    if end - at < 12 {
        return None;
    }
    let mut parts = Vec::new();
    while scanner.bytes.get(end) == Some(&b'.') && parts.len() < 5 {
        let next = scanner.runs.find_run_end(CharClass::Url, end + 1);
        if next == end + 1 {
            break;
        }
        parts.push(end + 1..next);
        end = next;
    }
    let second = parts.first()?;
    let of_object = second.len() >= 12 && scanner.bytes[second.clone()].starts_with(b"eyJ");
    let encrypted = second.len() >= 8 && parts.get(1).is_some_and(|third| third.len() >= 16);
    (of_object || encrypted).then_some(at..end)
}

/// A bot's number, a colon, and 35 characters.
pub(crate) fn find_telegram_token(scanner: &mut SecretScanner<'_>, colon: usize) -> Option<Range<usize>> {
    let before = &scanner.bytes[scanner.begin..colon];
    let digits = before.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let start = colon - digits;
    let is_number = (8..=10).contains(&digits)
        && (scanner.begins_word(start) || scanner.bytes[scanner.begin..start].ends_with(b"bot"));
    if !is_number {
        return None;
    }
    let end = scanner.runs.find_run_end(CharClass::Url, colon + 1);
    let fits = end - colon - 1 == 35 && scanner.has_required_chars(RequiredChars::BothCasesAndDigit, colon + 1..end);
    fits.then_some(start..end)
}

/// 14 characters, `.atlasv1.`, and many more.
pub(crate) fn find_atlas_token(scanner: &mut SecretScanner<'_>, dot: usize) -> Option<Range<usize>> {
    const ID_BYTES: usize = 14;
    let start = dot.checked_sub(ID_BYTES).filter(|start| *start >= scanner.begin)?;
    let is_id = scanner.bytes[start..dot].iter().all(u8::is_ascii_alphanumeric);
    let body = dot + ".atlasv1.".len();
    let end = scanner.runs.find_run_end(CharClass::Url, body);
    (is_id && end - body >= 40).then_some(start..end)
}

/// The number of a bot in Base64, a dot, six characters, a dot, and at least 27 characters.
pub(crate) fn find_discord_token(scanner: &mut SecretScanner<'_>, dot: usize) -> Option<Range<usize>> {
    const ID_BYTES: std::ops::RangeInclusive<usize> = 23..=28;
    const TIME_BYTES: usize = 6;
    let second_dot = dot + 1 + TIME_BYTES;
    let is_time = scanner.bytes.get(second_dot) == Some(&b'.')
        && scanner.bytes[dot + 1..second_dot].iter().all(|byte| CharClass::Url.contains(*byte));
    if !is_time {
        return None;
    }
    let is_start = |start: &usize| *start >= scanner.begin && is_number_in_base64(&scanner.bytes[*start..dot]);
    let start = ID_BYTES.filter_map(|length| dot.checked_sub(length)).find(is_start)?;
    let end = scanner.runs.find_run_end(CharClass::Url, second_dot + 1);
    let length = end - second_dot - 1;
    let fits = (27..=45).contains(&length) && scanner.has_required_chars(RequiredChars::Digit, second_dot + 1..end);
    fits.then_some(start..end)
}

/// Whether a text is Base64 of digits alone.
fn is_number_in_base64(text: &[u8]) -> bool {
    let mut decoder = Base64Decoder::default();
    text.iter().for_each(|digit| decoder.push(*digit));
    !decoder.is_padded && decoder.bytes.iter().all(u8::is_ascii_digit)
}

/// A token of Azure DevOps: 76 letters and digits, `AZDO`, and four more. `at` is the place of `ZDO`.
pub(crate) fn find_azdo_token(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    const BEFORE_BYTES: usize = 77;
    const AFTER_BYTES: usize = 7;
    let start = at.checked_sub(BEFORE_BYTES).filter(|start| *start >= scanner.begin)?;
    let end = at + AFTER_BYTES;
    let is_one = scanner.bytes[at - 1] == b'A'
        && scanner.begins_word(start)
        && scanner.bytes.get(start..end)?.iter().all(u8::is_ascii_alphanumeric)
        && !scanner.bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    is_one.then_some(start..end)
}

/// How far an old token of Azure DevOps may stand from a word that names the service.
const MAX_AZURE_BYTES: usize = 160;

/// An old token of Azure DevOps: 52 digits of base32, near the word at `at`.
pub(crate) fn find_old_azure_devops_token(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    const BYTES: usize = 52;
    let from = at.saturating_sub(MAX_AZURE_BYTES).max(scanner.begin);
    let from = from.max(scanner.azure_end.saturating_sub(BYTES));
    let to = scanner.bytes.len().min(at + MAX_AZURE_BYTES + BYTES);
    scanner.azure_end = to;
    let is_base32 = |byte: &u8| matches!(byte, b'a'..=b'z' | b'2'..=b'7');
    let mut start = from;
    while start + BYTES <= to {
        let token = &scanner.bytes[start..start + BYTES];
        if let Some(other) = token.iter().rposition(|byte| !is_base32(byte)) {
            start += other + 1;
            continue;
        }
        let is_whole = scanner.begins_word(start)
            && !scanner.bytes.get(start + BYTES).is_some_and(|byte| CharClass::Url.contains(*byte));
        let has_both = scanner.has_required_chars(RequiredChars::Digit, start..start + BYTES)
            && token.iter().any(u8::is_ascii_lowercase);
        if is_whole && has_both {
            return Some(start..start + BYTES);
        }
        start += 1;
    }
    None
}
