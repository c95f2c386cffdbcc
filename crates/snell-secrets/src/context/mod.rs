//! Secrets that are known by the name, the option or the address before them.

pub(crate) mod names;
pub(crate) mod values;
mod words;

use std::ops::Range;

use crate::context::names::{CredentialKind, MAX_NAME_BYTES, credential_kind};
use crate::context::values::ValueStyle;
use crate::forms::SecretIssuer;
use crate::forms::private_keys;
use crate::scan::char_runs::CharClass;
use crate::scan::{FoundSecret, SecretScanner};

/// How far after `curl` its options may be.
const MAX_CURL_BYTES: usize = 4096;

/// The longest user name and password that are searched for in an address or an option.
const MAX_LOGIN_BYTES: usize = 512;

/// The most backslashes before a quote: a string inside a string inside a string.
pub(crate) const MAX_QUOTE_ESCAPES: usize = 7;

/// Authorization schemes, which come before the credential.
const AUTH_SCHEMES: [&str; 8] = ["bearer", "basic", "token", "apikey", "api-key", "key", "digest", "negotiate"];

fn build_secret(range: Range<usize>, name: &'static str) -> FoundSecret {
    FoundSecret::new(range, name, SecretIssuer::AnyHost)
}

/// The end of at most `most` spaces.
fn skip_spaces(bytes: &[u8], from: usize, most: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest.iter().take(most).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// The characters up to the closing quote.
pub(crate) fn quoted_char_class(quote: Option<&u8>) -> Option<CharClass> {
    match quote? {
        b'"' => Some(CharClass::Double),
        b'\'' => Some(CharClass::Single),
        b'`' => Some(CharClass::Backtick),
        _ => None,
    }
}

/// `scheme://user:password@host`: the password. `scheme://token@host`: the token.
pub(crate) fn find_url_password(scanner: &mut SecretScanner<'_>, colon: usize) -> Option<FoundSecret> {
    if !scanner.bytes[colon..].starts_with(b"://") {
        return None;
    }
    let start = colon + 3;
    let end = scanner.runs.find_run_end(CharClass::Authority, start).min(start + MAX_LOGIN_BYTES);
    let authority = &scanner.bytes[start..end];
    let login_end = start + authority.iter().rposition(|byte| *byte == b'@')?;
    let login = start..login_end;
    if !scanner.bytes[login.clone()].contains(&b':') {
        // A token with a known prefix is found by that, and has its name.
        let is_one = !scanner.begins_form(start) && values::is_token(&scanner.text[login.clone()]);
        return is_one.then(|| build_secret(login, "token"));
    }
    find_login_password(scanner, login)
}

/// `user:password`: the password.
fn find_login_password(scanner: &SecretScanner<'_>, login: Range<usize>) -> Option<FoundSecret> {
    let colon = scanner.bytes[login.clone()].iter().position(|byte| *byte == b':')?;
    let password = login.start + colon + 1..login.end;
    let is_one = !values::is_placeholder(&scanner.text[password.clone()]);
    is_one.then(|| build_secret(password, "password"))
}

/// An option whose value is a credential.
pub(crate) fn find_option_secret(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    if at > scanner.begin && scanner.bytes[at - 1] == b'-' {
        return None;
    }
    match &scanner.bytes[at..] {
        [b'-', b'-', b'-', ..] => None,
        [b'-', b'-', ..] => find_curl_password(scanner, at).or_else(|| find_credential_option(scanner, at)),
        _ => find_curl_password(scanner, at)
            .or_else(|| find_curl_cookie(scanner, at))
            .or_else(|| find_program_cookie(scanner, at))
            .or_else(|| find_password_option(scanner, at)),
    }
}

/// Whether a word of a command can start at `at`.
fn can_begin_argument(scanner: &SecretScanner<'_>, at: usize) -> bool {
    match &scanner.bytes[scanner.begin..at] {
        [] | [.., b'\\', b'n' | b't'] => true,
        [.., before] => before.is_ascii_whitespace() || matches!(before, b'"' | b'\'' | b'`' | b',' | b'['),
    }
}

/// A word of a command from `at`, without its quotes, which may be escaped.
fn read_argument(scanner: &mut SecretScanner<'_>, at: usize) -> Range<usize> {
    match read_value(scanner, at) {
        (value, true) => value,
        (_, false) => at..scanner.runs.find_run_end(CharClass::Word, at),
    }
}

/// The start of the value of an option that ends at `at`: after `=`, spaces, or the quotes and the comma of a list.
fn find_option_value(scanner: &SecretScanner<'_>, at: usize) -> usize {
    let rest = scanner.bytes.get(at..).unwrap_or_default();
    let escapes = rest.iter().take(3).take_while(|byte| **byte == b'\\').count();
    match &rest[escapes..] {
        [b'"' | b'\'', b',', ..] => skip_spaces(scanner.bytes, at + escapes + 2, 4),
        [b'=', ..] => skip_spaces(scanner.bytes, at + 1, 4),
        _ => skip_spaces(scanner.bytes, at, 4),
    }
}

/// Whether a word at `at` is an option of `curl`.
fn is_curl_option(scanner: &SecretScanner<'_>, at: usize) -> bool {
    let is_near = scanner.curl_at.is_some_and(|curl| at - curl <= MAX_CURL_BYTES);
    is_near && can_begin_argument(scanner, at)
}

/// `curl -u user:password`: the password. In other programs `-u` has a group.
fn find_curl_password(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    if !is_curl_option(scanner, at) {
        return None;
    }
    let rest = &scanner.bytes[at..];
    let options: [&[u8]; 4] = [b"--proxy-user", b"--user", b"-u", b"-U"];
    let option = options.iter().find(|option| rest.starts_with(option))?;
    let login = read_argument(scanner, find_option_value(scanner, at + option.len()));
    let end = login.end.min(login.start + MAX_LOGIN_BYTES);
    let end = scanner.text.floor_char_boundary(end);
    find_login_password(scanner, login.start..end.max(login.start))
}

/// Options of `curl` without a value that may come before another one: `-sb name=value`.
const CURL_SWITCHES: &[u8] = b"#01234BGIJLMNOSafgijklnpqsv";

/// Other programs with an option for cookies.
pub(crate) const COOKIE_PROGRAMS: [(&str, u8); 5] =
    [("ab ", b'C'), ("ffuf ", b'b'), ("gobuster ", b'c'), ("hurl ", b'b'), ("wfuzz ", b'b')];

/// How far after such a program its option may be.
const MAX_COOKIE_PROGRAM_BYTES: usize = 512;

/// `ffuf -b name=value` and similar: the cookies.
fn find_program_cookie(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    let (program, option) = scanner.cookie_program?;
    let is_near = at - program <= MAX_COOKIE_PROGRAM_BYTES && can_begin_argument(scanner, at);
    if !is_near || scanner.bytes.get(at + 1) != Some(&option) {
        return None;
    }
    read_cookie_argument(scanner, at + 2)
}

/// The cookies in the value of an option that ends at `at`.
fn read_cookie_argument(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    let value = read_argument(scanner, find_option_value(scanner, at));
    let is_cookie = values::is_cookie(&scanner.text[value.clone()]);
    is_cookie.then(|| build_secret(value, CredentialKind::Cookie.name()))
}

/// `curl -b name=value`: the cookies. A name without a value is a file.
fn find_curl_cookie(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    if !is_curl_option(scanner, at) {
        return None;
    }
    let switches =
        scanner.bytes[at + 1..].iter().take(CURL_SWITCHES.len()).take_while(|byte| CURL_SWITCHES.contains(byte));
    let option = at + 1 + switches.count();
    if scanner.bytes.get(option) != Some(&b'b') {
        return None;
    }
    read_cookie_argument(scanner, option + 1)
}

/// Programs in which `-p` without a value means: ask for the password.
const MYSQL_PROGRAMS: [&str; 4] = ["mysql", "mysqldump", "mysqladmin", "mariadb"];

/// How far before `-p` its program may be.
const MAX_PROGRAM_BYTES: usize = 96;

/// `sshpass -p password` and `mysql -ppassword`. In other programs `-p` is a port, a path or a profile.
fn find_password_option(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    if scanner.bytes.get(at + 1) != Some(&b'p') || !can_begin_argument(scanner, at) {
        return None;
    }
    let from = at.saturating_sub(MAX_PROGRAM_BYTES).max(scanner.begin);
    let told = &scanner.text[scanner.text.ceil_char_boundary(from)..at];
    let command = told.rsplit(['\n', ';', '|', '&']).next()?;
    let value_start = skip_spaces(scanner.bytes, at + 2, 4);
    let is_apart = value_start > at + 2;
    if !follows_sshpass(command) && (is_apart || !runs_mysql(command)) {
        return None;
    }
    let value = read_argument(scanner, value_start);
    let text = values::judged_prefix(&scanner.text[value.clone()]);
    let is_one = text.len() >= 3 && text.contains(char::is_alphabetic) && !values::is_placeholder(text);
    is_one.then(|| build_secret(value, "password"))
}

/// Whether `word` is the program of this name, with or without its path.
fn is_program_word(word: &str, name: &str) -> bool {
    let before = word.strip_suffix(name);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['/', '"', '\'', '`', '(']))
}

/// Words after the program that sshpass starts belong to that program.
fn follows_sshpass(command: &str) -> bool {
    let last = command.split_whitespace().next_back();
    last.is_some_and(|last| is_program_word(last, "sshpass"))
}

/// Whether one of the words is the program itself, instead of the value of an option.
fn runs_mysql(command: &str) -> bool {
    let mut before = "";
    command.split_whitespace().any(|word| {
        let is_named = before.starts_with('-') && before != "--";
        before = word;
        !is_named && MYSQL_PROGRAMS.iter().any(|name| is_program_word(word, name))
    })
}

/// `--password value` and similar.
fn find_credential_option(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    let name_end = scanner.runs.find_run_end(CharClass::Url, at);
    let value_start = find_option_value(scanner, name_end);
    let is_apart = value_start > name_end && scanner.bytes[name_end] != b'=';
    if !can_begin_argument(scanner, at) || name_end - at > MAX_NAME_BYTES || !is_apart {
        return None;
    }
    let kind = credential_kind(&scanner.text[at..name_end])?;
    let (value, _) = read_value(scanner, value_start);
    let text = &scanner.text[value.clone()];
    let is_one = !text.starts_with('-') && values::is_credential(kind, ValueStyle::Assigned, text);
    is_one.then(|| build_secret(value, kind.name()))
}

/// `Bearer` and a long token.
pub(crate) fn find_bearer_token(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    let start = skip_spaces(scanner.bytes, at + "bearer".len(), 4);
    let end = scanner.runs.find_run_end(CharClass::Value, start);
    let token = &scanner.text[start..end];
    let is_assignment = token.trim_end_matches('=').contains('=');
    let is_one = token.len() >= 16
        && !is_assignment
        && values::is_credential(CredentialKind::Token, ValueStyle::Assigned, token);
    is_one.then(|| build_secret(start..end, "authorization"))
}

/// `name = value`, `name: value` and similar, if the name means a credential: the value.
pub(crate) fn find_assigned_secret(scanner: &mut SecretScanner<'_>, at: usize) -> Option<FoundSecret> {
    let mark = scanner.bytes[at];
    let is_part_of_other = at > scanner.begin && b"!<>+*/=:|".contains(&scanner.bytes[at - 1]);
    let value_at = match (mark, scanner.bytes.get(at + 1)) {
        _ if is_part_of_other => return None,
        (b':', Some(b':')) | (b'=', Some(b'=')) => return None,
        (b'=', Some(b'>')) | (b':', Some(b'=')) => at + 2,
        _ => at + 1,
    };
    let name = find_name_before(scanner, at)?;
    let kind = credential_kind_at(scanner, &name)?;
    let value_start = skip_spaces(scanner.bytes, value_at, 8);
    if let Some(key) = private_keys::find_encoded_key_value(scanner, value_start) {
        return Some(build_secret(key, "private key"));
    }
    let close = mark == b'=' && name.end == at && value_start == value_at;
    let (mut value, is_quoted) = read_value(scanner, value_start);
    if kind == CredentialKind::Cookie && mark == b':' && !is_quoted {
        value.end = find_cookie_header_end(scanner, value.start).max(value.end);
    }
    if kind == CredentialKind::Authorization {
        return find_authorization(scanner, value);
    }
    let text = &scanner.text[value.clone()];
    let is_upper = !scanner.bytes[name].iter().any(u8::is_ascii_lowercase);
    let is_argument = matches!(scanner.bytes.get(value.end), Some(b',' | b')'));
    let style = match (close, is_quoted) {
        (true, _) if is_upper && !values::judged_prefix(text).contains(' ') => ValueStyle::Environment,
        (_, true) => ValueStyle::Quoted,
        (true, false) if !is_argument => ValueStyle::Assigned,
        (_, false) => ValueStyle::Stated,
    };
    values::is_credential(kind, style, text).then(|| build_secret(value, kind.name()))
}

/// The end of the cookies of a header. A value may be in quotes, which would otherwise end the header.
fn find_cookie_header_end(scanner: &mut SecretScanner<'_>, start: usize) -> usize {
    const MAX_QUOTED: usize = 8;
    let mut end = scanner.runs.find_run_end(CharClass::Header, start);
    for _ in 0..MAX_QUOTED {
        let is_quoted = scanner.bytes[start..end].ends_with(b"=") && scanner.bytes.get(end) == Some(&b'"');
        if !is_quoted {
            break;
        }
        let quoted_end = scanner.runs.find_run_end(CharClass::Double, end + 1);
        if scanner.bytes.get(quoted_end) != Some(&b'"') {
            break;
        }
        end = scanner.runs.find_run_end(CharClass::Header, quoted_end + 1);
    }
    end
}

/// The name before a separator, without its quotes.
pub(crate) fn find_name_before(scanner: &SecretScanner<'_>, at: usize) -> Option<Range<usize>> {
    let before = &scanner.bytes[scanner.begin..at];
    let back = |end: usize, most: usize, is_in: fn(u8) -> bool| {
        end - before[..end].iter().rev().take(most).take_while(|byte| is_in(**byte)).count()
    };
    let spaces = back(before.len(), 4, |byte| matches!(byte, b' ' | b'\t'));
    let end = back(spaces, MAX_QUOTE_ESCAPES + 1, |byte| b"\"'`\\]?*".contains(&byte));
    let start = back(end, MAX_NAME_BYTES + 1, |byte| CharClass::Dotted.contains(byte));
    let is_path = start > 0 && before[start - 1] == b'/';
    let fits = (1..=MAX_NAME_BYTES).contains(&(end - start));
    (fits && !is_path).then(|| scanner.begin + start..scanner.begin + end)
}

/// The meaning of the name at `name`. `Pwd` is a password only inside a connection string, and `PWD` is a directory.
fn credential_kind_at(scanner: &SecretScanner<'_>, name: &Range<usize>) -> Option<CredentialKind> {
    let text = &scanner.text[name.clone()];
    let before = &scanner.bytes[scanner.begin..name.start];
    let in_connection = before.strip_suffix(b" ").unwrap_or(before).ends_with(b";");
    if matches!(text, "Pwd" | "pwd") && in_connection {
        return Some(CredentialKind::Password);
    }
    credential_kind(text)
}

/// The value from `at`, and whether it is in quotes. They may be escaped, as in JSON inside a string.
pub(crate) fn read_value(scanner: &mut SecretScanner<'_>, at: usize) -> (Range<usize>, bool) {
    let rest = &scanner.bytes[at.min(scanner.bytes.len())..];
    let prefix = match rest {
        [b'b' | b'r' | b'f' | b'u' | b'$', b'"' | b'\'', ..] => 1,
        _ => rest.iter().take(MAX_QUOTE_ESCAPES).take_while(|byte| **byte == b'\\').count(),
    };
    match quoted_char_class(rest.get(prefix)) {
        Some(chars) => {
            let start = at + prefix + 1;
            let end = scanner.runs.find_run_end(chars, start);
            let escapes =
                scanner.bytes[start..end].iter().rev().take(MAX_QUOTE_ESCAPES).take_while(|byte| **byte == b'\\');
            (start..end - escapes.count(), true)
        }
        None => (at..scanner.runs.find_run_end(CharClass::Value, at), false),
    }
}

/// The credential of an `Authorization`, after its scheme.
fn find_authorization(scanner: &mut SecretScanner<'_>, value: Range<usize>) -> Option<FoundSecret> {
    let scheme_end = scanner.runs.find_run_end(CharClass::Url, value.start);
    let scheme = &scanner.text[value.start..scheme_end.min(value.start + 16)];
    let has_scheme = scanner.bytes.get(scheme_end) == Some(&b' ')
        && AUTH_SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let (start, min) = match has_scheme {
        true => (skip_spaces(scanner.bytes, scheme_end, 4), 8),
        false => (value.start, 16),
    };
    let end = scanner.runs.find_run_end(CharClass::Value, start);
    let text = &scanner.text[start..end];
    let is_one = text.len() >= min && values::is_credential(CredentialKind::Authorization, ValueStyle::Quoted, text);
    is_one.then(|| build_secret(start..end, "authorization"))
}

/// Whether `value`, a string under a name of this kind, is a credential.
pub fn is_member_credential(kind: CredentialKind, value: &str) -> bool {
    let after_scheme = value.split_once(' ').filter(|(scheme, _)| {
        kind == CredentialKind::Authorization && AUTH_SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known))
    });
    let min = if kind == CredentialKind::Authorization && after_scheme.is_none() { 16 } else { 0 };
    let credential = after_scheme.map_or(value, |(_, credential)| credential.trim());
    credential.len() >= min && values::is_credential(kind, ValueStyle::Quoted, credential)
}
