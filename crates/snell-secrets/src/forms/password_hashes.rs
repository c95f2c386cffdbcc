//! Hashes of passwords, as `/etc/shadow` and `htpasswd` have them.

use std::ops::Range;

use crate::forms::{HASHES, HashForm, RequiredChars};
use crate::scan::SecretScanner;
use crate::scan::char_runs::CharClass;

/// How `$` is written: as it is, doubled as in a file of Docker Compose, or escaped for a shell or within JSON.
const DOLLARS: [&str; 4] = ["$$", "$", "\\$", "\\\\$"];

/// The most fields before the digest: the version, the costs and the salt.
const MAX_FIELDS: usize = 4;

/// The fewest characters of a digest. A hash that was cut is still a hash.
const MIN_DIGEST: usize = 20;

/// `$id$salt$digest` from its first `$`.
pub(crate) fn find_password_hash(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let first = if scanner.bytes[at..].starts_with(b"$$") { 2 } else { 1 };
    let id = at + first;
    let form = HASHES.iter().find(|form| {
        let rest = scanner.bytes.get(id..).unwrap_or_default();
        rest.strip_prefix(form.id.as_bytes())
            .is_some_and(|rest| dollar_length(rest) > 0 || rest.starts_with(b",rounds="))
    })?;
    let mut field = id + form.id.len();
    for count in 0..=MAX_FIELDS {
        field += dollar_length(&scanner.bytes[field..]);
        let end = scanner.runs.find_run_end(CharClass::Crypt, field);
        if dollar_length(&scanner.bytes[end..]) == 0 {
            let end = find_digest_end(scanner, form, field..end)?;
            return (count > 0).then_some(at..end);
        }
        if end == field {
            return None;
        }
        field = end;
    }
    None
}

/// `name$cost$salt$digest`, as frameworks for the web keep it: all of it.
pub(crate) fn find_named_hash(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    const MAX_NAMED_FIELDS: usize = 8;
    let mut end = at;
    let mut field = at;
    let mut dollars = 0;
    for _ in 0..MAX_NAMED_FIELDS {
        end = scanner.runs.find_run_end(CharClass::Crypt, end);
        match scanner.bytes.get(end) {
            Some(b'$') => (dollars, field) = (dollars + 1, end + 1),
            Some(b':' | b'_') if dollars == 0 => {}
            _ => break,
        }
        end += 1;
    }
    let in_digest = |byte: &&u8| !matches!(byte, b',' | b'-');
    let length = scanner.bytes[field..end].iter().take_while(in_digest).count();
    let is_digest = length >= MIN_DIGEST && scanner.has_required_chars(RequiredChars::Digit, field..field + length);
    (dollars >= 2 && is_digest).then_some(at..field + length)
}

/// `name:hash:day:days:days:`, as `/etc/shadow` has it, with a hash of 13 characters: the hash. `colon` stands before it.
pub(crate) fn find_shadow_hash(scanner: &mut SecretScanner<'_>, colon: usize) -> Option<Range<usize>> {
    const HASH_BYTES: usize = 13;
    const DAYS: usize = 3;
    const MAX_DAY_BYTES: usize = 6;
    let start = colon + 1;
    let end = start + HASH_BYTES;
    let hash = scanner.bytes.get(start..end)?;
    let is_hash = hash.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/'));
    let is_after_name = colon > scanner.begin && scanner.bytes[colon - 1].is_ascii_alphanumeric();
    if !is_hash || !is_after_name || !scanner.has_required_chars(RequiredChars::BothCases, start..end) {
        return None;
    }
    let mut at = end;
    for _ in 0..DAYS {
        let rest = scanner.bytes.get(at..)?.strip_prefix(b":")?;
        let digits = rest.iter().take(MAX_DAY_BYTES).take_while(|byte| byte.is_ascii_digit());
        at += 1 + digits.count();
    }
    (scanner.bytes.get(at) == Some(&b':')).then_some(start..end)
}

/// How long the `$` is with which `rest` begins.
fn dollar_length(rest: &[u8]) -> usize {
    let is_first = |dollar: &&&str| rest.starts_with(dollar.as_bytes());
    DOLLARS.iter().find(is_first).map_or(0, |dollar| dollar.len())
}

/// The end of a digest without the punctuation after it.
fn find_digest_end(scanner: &mut SecretScanner<'_>, form: &HashForm, mut run: Range<usize>) -> Option<usize> {
    // As JSON may have a slash.
    while scanner.bytes[run.end..].starts_with(b"\\/") {
        run.end = scanner.runs.find_run_end(CharClass::Crypt, run.end + 1);
    }
    // Those stand in the fields before it only.
    let in_digest = |byte: &&u8| !matches!(byte, b'=' | b',' | b'-');
    let digest = scanner.bytes[run.clone()].iter().take_while(in_digest);
    let mut end = run.start + digest.count();
    while end > run.start && end - run.start != form.digest && scanner.bytes[end - 1] == b'.' {
        end -= 1;
    }
    let slashes = scanner.bytes[run.start..end].iter().filter(|byte| **byte == b'\\').count();
    let length = end - run.start - slashes;
    let is_random = scanner.has_required_chars(RequiredChars::BothCases, run.start..end)
        || (length == form.digest && scanner.has_required_chars(RequiredChars::Digit, run.start..end));
    // `$1$2$HOME/path` is three variables of a shell.
    let is_variable = form.id.len() == 1 && form.id.as_bytes()[0].is_ascii_digit() && length > form.digest;
    let is_cut = scanner.bytes.get(run.end) == Some(&b'_');
    (length >= MIN_DIGEST && is_random && !is_cut && !is_variable).then_some(end)
}
