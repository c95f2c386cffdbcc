//! Passwords in lines of `.netrc` and `.pgpass`, wherever such a line stands.

use std::borrow::Cow;
use std::ops::Range;

use crate::context::names::CredentialKind;
use crate::context::quoted_char_class;
use crate::context::values::{self, ValueStyle};
use crate::scan::SecretScanner;
use crate::scan::char_runs::CharClass;

/// How far before `password` an entry of `.netrc` may begin.
const MAX_ENTRY_BYTES: usize = 256;

/// `machine host login user password value`, as `.netrc` has it: the value.
pub(crate) fn find_netrc_password(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let word = if scanner.bytes[at..].starts_with(b"password") { "password" } else { "passwd" };
    let after = at + word.len();
    let blanks = count_blank_bytes(&scanner.bytes[after..]);
    if blanks == 0 {
        return None;
    }
    let from = at.saturating_sub(MAX_ENTRY_BYTES).max(scanner.begin);
    let told = &scanner.text[scanner.text.ceil_char_boundary(from)..at];
    let value = read_password(scanner, after + blanks);
    let entry = parse_netrc_entry(&unescape_blanks(told), || precedes_login(scanner.bytes, value.end))?;
    let text = values::judged_prefix(&scanner.text[value.clone()]);
    let is_sure = entry == NetrcEntry::Certain || values::is_not_word(text);
    (is_sure && !values::is_placeholder(text)).then_some(value)
}

/// Whether `login` stands after a password that ends at `end`.
fn precedes_login(bytes: &[u8], end: usize) -> bool {
    let rest = bytes.get(end..).unwrap_or_default();
    let blanks = count_blank_bytes(rest);
    blanks > 0 && [&b"login "[..], b"user "].iter().any(|word| rest[blanks..].starts_with(word))
}

/// Whether words before `password` are an entry of `.netrc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NetrcEntry {
    Certain,
    /// Prose can read so as well.
    Possible,
}

/// Hosts that stand for a host in a description of the format.
const HOST_PLACEHOLDERS: [&str; 4] = ["name", "host", "hostname", "<host>"];

fn parse_netrc_entry(told: &str, precedes_login: impl Fn() -> bool) -> Option<NetrcEntry> {
    let is_space = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '\\' | ',');
    let mut words = told.split(is_space).filter(|word| !word.is_empty()).rev();
    let mut has_login = false;
    // From the last pair to the first one: `machine`, then `port`, `login` and `account`.
    for _ in 0..4 {
        let value = words.next()?;
        if value == "default" && has_login {
            return begins_line(told, value).then_some(NetrcEntry::Certain);
        }
        match words.next()? {
            "login" | "user" if !["and", "or"].contains(&value) => has_login = true,
            "account" | "port" => {}
            machine if machine.ends_with("machine") => {
                let is_name = value.bytes().all(|byte| CharClass::Dotted.contains(byte)) && !value.ends_with('.');
                let is_host = is_name && (value.contains('.') || value == "localhost");
                if is_host && (has_login || begins_line(told, machine)) {
                    return Some(NetrcEntry::Certain);
                }
                let is_entry = (has_login || precedes_login()) && !HOST_PLACEHOLDERS.contains(&value);
                return is_entry.then_some(NetrcEntry::Possible);
            }
            _ => return None,
        }
    }
    None
}

/// Whether `word`, a part of `told`, stands at the beginning of a line, of a quoted text, or of what a shell prints.
fn begins_line(told: &str, word: &str) -> bool {
    let place = word.as_ptr().addr() - told.as_ptr().addr();
    let before = told[..place].trim_end_matches([' ', '\t']);
    before.is_empty() || ["\n", "\"", "'", "`", "echo", "printf"].iter().any(|end| before.ends_with(end))
}

/// White space as strings and URLs may have it.
const ESCAPED_BLANKS: [(&str, &str); 6] =
    [("\\n", "\n"), ("\\r", "\r"), ("\\t", "\t"), ("%20", " "), ("%0A", "\n"), ("%0D", "\r")];

/// A text with white space in the place of its escapes.
fn unescape_blanks(text: &str) -> Cow<'_, str> {
    let escapes = ESCAPED_BLANKS.iter().filter(|_| text.contains(['\\', '%']));
    escapes.fold(Cow::Borrowed(text), |text, (escape, blank)| match text.contains(escape) {
        true => Cow::Owned(text.replace(escape, blank)),
        false => text,
    })
}

/// How many bytes of white space, escaped or not, `rest` begins with.
fn count_blank_bytes(rest: &[u8]) -> usize {
    let mut length = 0;
    while length < 16 {
        let rest = &rest[length..];
        let escape = || ESCAPED_BLANKS.iter().find(|(escape, _)| rest.starts_with(escape.as_bytes()));
        length += match rest {
            [b' ' | b'\t' | b'\n' | b'\r', ..] => 1,
            [b'\\' | b'%', ..] => match escape() {
                Some((escape, _)) => escape.len(),
                None => break,
            },
            _ => break,
        };
    }
    length
}

/// A password from `start`, in quotes or up to the next white space.
fn read_password(scanner: &mut SecretScanner<'_>, start: usize) -> Range<usize> {
    if let Some(chars) = quoted_char_class(scanner.bytes.get(start)) {
        return start + 1..scanner.runs.find_run_end(chars, start + 1);
    }
    let end = scanner.runs.find_run_end(CharClass::Word, start);
    start..find_line_escape(scanner.bytes, start..end).unwrap_or(end)
}

/// The longest password that is looked through for escapes.
const MAX_PASSWORD_BYTES: usize = 512;

/// The first escape in `place` that ends a line or a quoted text.
fn find_line_escape(bytes: &[u8], place: Range<usize>) -> Option<usize> {
    let start = place.start;
    let text = &bytes[place];
    let is_escape = |at: &usize| {
        let backslashes = text[*at..].iter().take(3).take_while(|byte| **byte == b'\\').count();
        backslashes > 0 && matches!(&text[at + backslashes..], [] | [b'n' | b'r' | b't', ..])
    };
    let place = (0..text.len().min(MAX_PASSWORD_BYTES)).find(is_escape)?;
    Some(start + place)
}

/// `host⇥TRUE⇥/⇥FALSE⇥0⇥name⇥value`, a line of a cookie jar: the value. `at` is the place of the second flag.
pub(crate) fn find_cookie_jar_value(scanner: &mut SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let before = &scanner.bytes[scanner.begin..at];
    let path = before.strip_suffix(b"\t").or_else(|| before.strip_suffix(b"\\t"))?;
    let length = path.iter().rev().take(MAX_FIELD_BYTES).take_while(|byte| !byte.is_ascii_whitespace());
    if !path[path.len() - length.count()..].contains(&b'/') {
        return None;
    }
    let flag = if scanner.bytes[at..].starts_with(b"TRUE") { "TRUE" } else { "FALSE" };
    let mut field = at + flag.len();
    for is_in in [|byte: u8| byte.is_ascii_digit(), |byte: u8| CharClass::Dotted.contains(byte)] {
        field += tab_length(scanner.bytes, field)?;
        let rest = &scanner.bytes[field..];
        let length = rest.iter().take(MAX_FIELD_BYTES).take_while(|byte| is_in(**byte)).count();
        field += length;
        if length == 0 {
            return None;
        }
    }
    let start = field + tab_length(scanner.bytes, field)?;
    let end = scanner.runs.find_run_end(CharClass::Value, start);
    let escape = scanner.bytes[start..end].iter().take(MAX_PASSWORD_BYTES).position(|byte| *byte == 0x1b);
    let value = start..escape.map_or(end, |length| start + length);
    let text = &scanner.text[value.clone()];
    values::is_credential(CredentialKind::Session, ValueStyle::Quoted, text).then_some(value)
}

/// The length of the tab at `at`, which may be escaped.
fn tab_length(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..)? {
        [b'\t', ..] => Some(1),
        [b'\\', b't', ..] => Some(2),
        _ => None,
    }
}

/// Ports on which databases of PostgreSQL and their pools listen.
const DATABASE_PORTS: [&str; 7] = ["5432", "5433", "5434", "5439", "6432", "6543", "26257"];

/// How far from a line the name of the file may stand.
const MAX_MENTION_BYTES: usize = 512;

/// The longest field of a line of `.pgpass`.
const MAX_FIELD_BYTES: usize = 128;

/// `host:port:database:user:password`, as `.pgpass` has it: the password. `colon` stands before the port.
pub(crate) fn find_pgpass_password(scanner: &mut SecretScanner<'_>, colon: usize) -> Option<Range<usize>> {
    let port = read_pgpass_field(scanner, colon + 1, |byte| byte.is_ascii_digit() || byte == b'*')?;
    let database = read_pgpass_field(scanner, port.end + 1, is_pgpass_field_byte)?;
    let user = read_pgpass_field(scanner, database.end + 1, is_pgpass_field_byte)?;
    let host = find_pgpass_host(scanner, colon)?;
    // A line has five fields, and a colon in the last one is escaped.
    if read_pgpass_field(scanner, user.end + 1, |byte| byte != b':' && byte != b'\\' && CharClass::Word.contains(byte))
        .is_some()
    {
        return None;
    }
    let password = read_password(scanner, user.end + 1);
    let texts = [host, port, database, user].map(|field| &scanner.text[field]);
    let text = values::judged_prefix(&scanner.text[password.clone()]);
    let is_one = text.len() >= 3
        && !values::is_placeholder(text)
        && (is_database_login(texts, text) || mentions_pgpass(scanner, colon, password.end));
    is_one.then_some(password)
}

fn is_pgpass_field_byte(byte: u8) -> bool {
    CharClass::Dotted.contains(byte) || matches!(byte, b'*' | b'@' | b'$')
}

/// The field from `start` that a colon ends.
fn read_pgpass_field(scanner: &SecretScanner<'_>, start: usize, is_in: fn(u8) -> bool) -> Option<Range<usize>> {
    let rest = scanner.bytes.get(start..)?;
    let length = rest.iter().take(MAX_FIELD_BYTES).take_while(|byte| is_in(**byte)).count();
    (length > 0 && rest.get(length) == Some(&b':')).then_some(start..start + length)
}

/// The host before `colon`.
fn find_pgpass_host(scanner: &SecretScanner<'_>, colon: usize) -> Option<Range<usize>> {
    let before = &scanner.bytes[scanner.begin..colon];
    let is_in = |byte: &&u8| is_pgpass_field_byte(**byte) || **byte == b'/';
    if let Some(length) = ipv6_length(before) {
        return Some(colon - length..colon);
    }
    let length = before.iter().rev().take(MAX_FIELD_BYTES).take_while(is_in).count();
    let start = scanner.skip_escape(colon - length);
    (start < colon).then_some(start..colon)
}

/// The length of an IPv6 address at the end of `before`: in brackets, or with its colons escaped.
fn ipv6_length(before: &[u8]) -> Option<usize> {
    const MAX_IP6_BYTES: usize = 64;
    let is_in = |byte: &&u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'\\' | b'.' | b']');
    let length = before.iter().rev().take(MAX_IP6_BYTES).take_while(is_in).count();
    let (rest, address) = before.split_at(before.len() - length);
    if address.ends_with(b"]") {
        return rest.ends_with(b"[").then_some(length + 1);
    }
    let start = address.windows(2).position(|pair| pair == b"\\:")?;
    let digits = address[..start].iter().rev().take(4).take_while(|byte| byte.is_ascii_hexdigit());
    Some(length - start + digits.count())
}

/// Whether the fields before a password are those of a login at a database.
fn is_database_login([host, port, database, user]: [&str; 4], password: &str) -> bool {
    let is_name = |name: &str| name == "*" || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let is_address = host.split('.').count() == 4 && host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let is_ip6 = host.starts_with('[') || host.contains("\\:");
    let is_certain_host = is_address || is_ip6 || ["*", "localhost"].contains(&host);
    let is_domain = is_name(host) && !host.contains('/') && host.split('.').count() >= 3;
    let is_port = match port {
        "*" => is_certain_host || is_domain,
        port if DATABASE_PORTS.contains(&port) => is_certain_host || is_name(host) || host.starts_with('/'),
        port => (is_certain_host || is_domain) && port.len() >= 4 && is_likely_password(password),
    };
    is_port && is_name(database) && is_name(user)
}

/// Whether a text is neither a word nor a number.
fn is_likely_password(text: &str) -> bool {
    text.len() >= 6 && values::is_not_word(text) && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// Whether `.pgpass` is named shortly before `at`, or on the same line after `end`.
fn mentions_pgpass(scanner: &SecretScanner<'_>, at: usize, end: usize) -> bool {
    let is_before = scanner.pgpass_at.is_some_and(|named| at - named <= MAX_MENTION_BYTES);
    let rest = scanner.bytes.get(end..).unwrap_or_default();
    let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let near = &line[..line.len().min(MAX_MENTION_BYTES / 4)];
    is_before || near.windows(6).any(|window| window.eq_ignore_ascii_case(b"pgpass"))
}
