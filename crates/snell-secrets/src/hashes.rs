//! Hashes of passwords, as `/etc/shadow` and `htpasswd` have them.

use std::ops::Range;

use crate::forms::{HASHES, HashForm, Needs};
use crate::runs::Chars;
use crate::scan::SecretScanner;

/// How `$` is written: as it is, doubled as in a file of Docker Compose, or escaped for a shell or within JSON.
const DOLLARS: [&str; 4] = ["$$", "$", "\\$", "\\\\$"];

/// The most fields before the digest: the version, the costs and the salt.
const MAX_FIELDS: usize = 4;

/// The fewest characters of a digest. A hash that was cut is still a hash.
const MIN_DIGEST: usize = 20;

/// `$id$salt$digest` from its first `$`.
pub(crate) fn password_hash(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let first = if scanner.bytes[at..].starts_with(b"$$") { 2 } else { 1 };
    let id = at + first;
    let form = HASHES.iter().find(|form| {
        let rest = scanner.bytes.get(id..).unwrap_or_default();
        rest.strip_prefix(form.id.as_bytes())
            .is_some_and(|rest| dollar(rest) > 0)
    })?;
    let mut field = id + form.id.len();
    for count in 0..=MAX_FIELDS {
        field += dollar(&scanner.bytes[field..]);
        let end = scanner.runs.end(Chars::Crypt, field);
        if dollar(&scanner.bytes[end..]) == 0 {
            let end = digest_end(scanner, form, field..end)?;
            return (count > 0).then_some(at..end);
        }
        if end == field {
            return None;
        }
        field = end;
    }
    None
}

/// How long the `$` is with which `rest` begins.
fn dollar(rest: &[u8]) -> usize {
    let is_first = |dollar: &&&str| rest.starts_with(dollar.as_bytes());
    DOLLARS.iter().find(is_first).map_or(0, |dollar| dollar.len())
}

/// The end of a digest without the punctuation after it.
fn digest_end(scanner: &mut SecretScanner<'_>, form: &HashForm, mut run: Range<usize>) -> Option<usize> {
    // As JSON may have a slash.
    while scanner.bytes[run.end..].starts_with(b"\\/") {
        run.end = scanner.runs.end(Chars::Crypt, run.end + 1);
    }
    // Those stand in the fields before it only.
    let in_digest = |byte: &&u8| !matches!(byte, b'=' | b',' | b'-');
    let digest = scanner.bytes[run.clone()].iter().take_while(in_digest);
    let mut end = run.start + digest.count();
    while end > run.start && end - run.start != form.digest && scanner.bytes[end - 1] == b'.' {
        end -= 1;
    }
    let slashes = scanner.bytes[run.start..end]
        .iter()
        .filter(|byte| **byte == b'\\')
        .count();
    let length = end - run.start - slashes;
    let is_random = scanner.has_needed(Needs::BothCases, run.start..end)
        || (length == form.digest && scanner.has_needed(Needs::Digit, run.start..end));
    // `$1$2$HOME/path` is three variables of a shell.
    let is_variable = form.id.len() == 1 && form.id.as_bytes()[0].is_ascii_digit() && length > form.digest;
    let is_cut = scanner.bytes.get(run.end) == Some(&b'_');
    (length >= MIN_DIGEST && is_random && !is_cut && !is_variable).then_some(end)
}
