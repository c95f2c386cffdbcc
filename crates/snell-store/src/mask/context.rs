//! Secrets that are known by what stands before them: a name, an option, an address, the first line of a key.

use std::ops::Range;

use super::credential::{self, Kind, MAX_NAME_BYTES, Style};
use super::runs::Chars;
use super::scan::{Found, Scanner};

/// How far behind `curl` its options may stand.
const MAX_CURL_BYTES: usize = 4096;

/// The longest user name and password that are looked for in an address or an option.
const MAX_LOGIN_BYTES: usize = 512;

/// How far behind the first line of a key its body begins.
const MAX_KEY_START_BYTES: usize = 300;

/// How many characters of Base64 in a row are the body of a key; no word of prose is as long.
const MIN_KEY_RUN: usize = 32;

/// Ways to authorize, which stand before the credential.
const SCHEMES: [&str; 8] = [
    "bearer",
    "basic",
    "token",
    "apikey",
    "api-key",
    "key",
    "digest",
    "negotiate",
];

fn found(range: Range<usize>, name: &'static str) -> Found {
    Found {
        start: range.start,
        end: range.end,
        name,
    }
}

/// Where spaces, at most `most` of them, end.
fn after_spaces(bytes: &[u8], from: usize, most: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from + rest
        .iter()
        .take(most)
        .take_while(|byte| matches!(byte, b' ' | b'\t'))
        .count()
}

/// The characters up to the quote that closes the one given.
fn quoted_by(quote: Option<&u8>) -> Option<Chars> {
    match quote? {
        b'"' => Some(Chars::Double),
        b'\'' => Some(Chars::Single),
        b'`' => Some(Chars::Backtick),
        _ => None,
    }
}

/// `scheme://user:password@host`: the password. `scheme://token@host`: the token.
pub(super) fn url_password(scanner: &mut Scanner<'_>, colon: usize) -> Option<Found> {
    if !scanner.bytes[colon..].starts_with(b"://") {
        return None;
    }
    let start = colon + 3;
    let end = scanner.runs.end(Chars::Authority, start).min(start + MAX_LOGIN_BYTES);
    let authority = &scanner.bytes[start..end];
    let login_end = start + authority.iter().rposition(|byte| *byte == b'@')?;
    let login = start..login_end;
    if !scanner.bytes[login.clone()].contains(&b':') {
        // One that begins like those of a maker is found by that, and called so.
        let is_one = !scanner.begins_form(start) && credential::is_token(&scanner.text[login.clone()]);
        return is_one.then(|| found(login, "token"));
    }
    password_of_login(scanner, login)
}

/// `user:password`: the password.
fn password_of_login(scanner: &Scanner<'_>, login: Range<usize>) -> Option<Found> {
    let colon = scanner.bytes[login.clone()].iter().position(|byte| *byte == b':')?;
    let password = login.start + colon + 1..login.end;
    let is_one = !credential::is_placeholder(&scanner.text[password.clone()]);
    is_one.then(|| found(password, "password"))
}

/// What begins with a hyphen: the first line of a key, or an option.
pub(super) fn at_dash(scanner: &mut Scanner<'_>, at: usize) -> Option<Found> {
    if at > scanner.begin && scanner.bytes[at - 1] == b'-' {
        return None;
    }
    let dashes = scanner.bytes[at..].iter().take_while(|byte| **byte == b'-').count();
    scanner.runs.steps += dashes;
    match dashes {
        4.. => private_key(scanner, at, at + dashes),
        1 => curl_user(scanner, at).or_else(|| password_option(scanner, at)),
        2 => curl_user(scanner, at).or_else(|| credential_option(scanner, at)),
        _ => None,
    }
}

/// A private key from its first line to its last, or to the end of the text if it was cut.
fn private_key(scanner: &mut Scanner<'_>, start: usize, label: usize) -> Option<Found> {
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
    let end = last_line_end(body).map_or(scanner.text.len(), |end| body_start + end);
    Some(found(start..end, "private key"))
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
    lines
        .peek()
        .is_some_and(|line| line.len() >= MIN_SHORT_KEY && is_no_word(line))
        && lines.all(|line| line.bytes().all(is_base64))
}

/// Where the last line of a key ends.
fn last_line_end(body: &str) -> Option<usize> {
    let (at, _) = body.match_indices("END ").find(|(at, _)| {
        let before = &body[..*at];
        before.ends_with("--") || before.ends_with("-- ")
    })?;
    let label = &body.as_bytes()[at..];
    let dashes = label
        .iter()
        .take(64)
        .position(|byte| *byte == b'-')
        .unwrap_or("END ".len());
    let after = label[dashes..].iter().take_while(|byte| **byte == b'-').count();
    Some(at + dashes + after)
}

/// Whether a word of a command can begin at `at`.
fn begins_argument(scanner: &Scanner<'_>, at: usize) -> bool {
    match &scanner.bytes[scanner.begin..at] {
        [] | [.., b'\\', b'n' | b't'] => true,
        [.., before] => before.is_ascii_whitespace() || matches!(before, b'"' | b'\'' | b'`' | b',' | b'['),
    }
}

/// A word of a command from `at`, without its quotes.
fn argument(scanner: &mut Scanner<'_>, at: usize) -> Range<usize> {
    match quoted_by(scanner.bytes.get(at)) {
        Some(chars) => at + 1..scanner.runs.end(chars, at + 1),
        None => at..scanner.runs.end(Chars::Word, at),
    }
}

/// `curl -u user:password`: the password. Other programs call a group what stands there.
fn curl_user(scanner: &mut Scanner<'_>, at: usize) -> Option<Found> {
    let is_curls = scanner.curl_at.is_some_and(|curl| at - curl <= MAX_CURL_BYTES);
    if !is_curls || !begins_argument(scanner, at) {
        return None;
    }
    let rest = &scanner.bytes[at..];
    let options: [&[u8]; 4] = [b"--proxy-user", b"--user", b"-u", b"-U"];
    let option = options.iter().find(|option| rest.starts_with(option))?;
    let mut value = at + option.len();
    value += usize::from(scanner.bytes.get(value) == Some(&b'='));
    value = after_spaces(scanner.bytes, value, 4);
    let login = argument(scanner, value);
    let end = login.end.min(login.start + MAX_LOGIN_BYTES);
    let end = scanner.text.floor_char_boundary(end);
    password_of_login(scanner, login.start..end.max(login.start))
}

/// Programs to which `-p` with nothing after it means: ask for the password.
const MYSQLS: [&str; 4] = ["mysql", "mysqldump", "mysqladmin", "mariadb"];

/// How far before `-p` its program may stand.
const MAX_PROGRAM_BYTES: usize = 96;

/// `sshpass -p password` and `mysql -ppassword`. To other programs `-p` is a port, a path or a profile.
fn password_option(scanner: &mut Scanner<'_>, at: usize) -> Option<Found> {
    if scanner.bytes.get(at + 1) != Some(&b'p') || !begins_argument(scanner, at) {
        return None;
    }
    let from = at.saturating_sub(MAX_PROGRAM_BYTES).max(scanner.begin);
    let told = &scanner.text[scanner.text.ceil_char_boundary(from)..at];
    let command = told.rsplit(['\n', ';', '|', '&']).next()?;
    let value_start = after_spaces(scanner.bytes, at + 2, 4);
    let is_apart = value_start > at + 2;
    if !follows_sshpass(command) && (is_apart || !runs_mysql(command)) {
        return None;
    }
    let value = argument(scanner, value_start);
    let text = credential::judged(&scanner.text[value.clone()]);
    let is_one = text.len() >= 3 && text.contains(char::is_alphabetic) && !credential::is_placeholder(text);
    is_one.then(|| found(value, "password"))
}

/// Whether `word` is the program of this name, with or without its path.
fn is_program(word: &str, name: &str) -> bool {
    let before = word.strip_suffix(name);
    before.is_some_and(|before| before.is_empty() || before.ends_with(['/', '"', '\'', '`', '(']))
}

/// What follows the program that sshpass starts is that program's.
fn follows_sshpass(command: &str) -> bool {
    let last = command.split_whitespace().next_back();
    last.is_some_and(|last| is_program(last, "sshpass"))
}

/// Whether one of the words is the program, rather than what an option names.
fn runs_mysql(command: &str) -> bool {
    let mut before = "";
    command.split_whitespace().any(|word| {
        let is_named = before.starts_with('-') && before != "--";
        before = word;
        !is_named && MYSQLS.iter().any(|name| is_program(word, name))
    })
}

/// `--password value` and its like.
fn credential_option(scanner: &mut Scanner<'_>, at: usize) -> Option<Found> {
    let name_end = scanner.runs.end(Chars::Url, at);
    if !begins_argument(scanner, at) || name_end - at > MAX_NAME_BYTES || scanner.bytes.get(name_end) != Some(&b' ') {
        return None;
    }
    let kind = credential::kind_of(&scanner.text[at..name_end])?;
    let value_start = after_spaces(scanner.bytes, name_end, 4);
    let value = match quoted_by(scanner.bytes.get(value_start)) {
        Some(_) => argument(scanner, value_start),
        None => value_start..scanner.runs.end(Chars::Value, value_start),
    };
    let text = &scanner.text[value.clone()];
    let is_one = !text.starts_with('-') && credential::is_credential(kind, Style::Assigned, text);
    is_one.then(|| found(value, kind.name()))
}

/// `Bearer` and a long token.
pub(super) fn bearer(scanner: &mut Scanner<'_>, at: usize) -> Option<Found> {
    let start = after_spaces(scanner.bytes, at + "bearer".len(), 4);
    let end = scanner.runs.end(Chars::Value, start);
    let token = &scanner.text[start..end];
    let is_assignment = token.trim_end_matches('=').contains('=');
    let is_one = token.len() >= 16 && !is_assignment && credential::is_credential(Kind::Token, Style::Assigned, token);
    is_one.then(|| found(start..end, "authorization"))
}

/// `machine host login user password value`, as `.netrc` has it: the value.
pub(super) fn netrc_password(scanner: &mut Scanner<'_>, at: usize) -> Option<Found> {
    let after = at + "password".len();
    let blanks = scanner.bytes[after..]
        .iter()
        .take(8)
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let from = scanner
        .text
        .ceil_char_boundary(at.saturating_sub(256).max(scanner.begin));
    let told = &scanner.text[from..at];
    let mut before = told.split_whitespace().rev();
    let is_name = before.next().is_some_and(|name| !["and", "or"].contains(&name));
    let is_login = is_name && before.next() == Some("login");
    // Elsewhere in a line it is only a word.
    let begins_line = |word: &str, keyword: &str| {
        let Some(attached) = word.strip_suffix(keyword) else {
            return false;
        };
        let place = word.as_ptr().addr() - told.as_ptr().addr();
        let blank = told[..place].trim_end_matches([' ', '\t']);
        let is_first = || blank.is_empty() || ["\n", "echo", "printf"].iter().any(|end| blank.ends_with(end));
        match attached {
            "" => is_first(),
            _ => ["\"", "'", "\\n"].iter().any(|end| attached.ends_with(end)),
        }
    };
    let of_machine = match (before.next(), before.next()) {
        (Some(word), _) if begins_line(word, "default") => true,
        (_, Some(word)) => begins_line(word, "machine"),
        _ => false,
    };
    if blanks == 0 || !is_login || !of_machine {
        return None;
    }
    let start = after + blanks;
    let end = scanner.runs.end(Chars::Word, start);
    let is_one = !credential::is_placeholder(&scanner.text[start..end]);
    is_one.then(|| found(start..end, "password"))
}

/// `name = value`, `name: value` and their like, where the name means a credential: the value.
pub(super) fn assignment(scanner: &mut Scanner<'_>, at: usize) -> Option<Found> {
    let mark = scanner.bytes[at];
    let is_part_of_other = at > scanner.begin && b"!<>+*/=:|".contains(&scanner.bytes[at - 1]);
    let value_at = match (mark, scanner.bytes.get(at + 1)) {
        _ if is_part_of_other => return None,
        (b':', Some(b':')) | (b'=', Some(b'=')) => return None,
        (b'=', Some(b'>')) | (b':', Some(b'=')) => at + 2,
        _ => at + 1,
    };
    let name = name_before(scanner, at)?;
    let kind = kind_at(scanner, &name)?;
    let value_start = after_spaces(scanner.bytes, value_at, 8);
    let close = mark == b'=' && name.end == at && value_start == value_at;
    let (mut value, is_quoted) = value_from(scanner, value_start);
    if kind == Kind::Cookie && mark == b':' && !is_quoted {
        value.end = scanner.runs.end(Chars::Header, value.start).max(value.end);
    }
    if kind == Kind::Authorization {
        return authorization(scanner, value);
    }
    let text = &scanner.text[value.clone()];
    let is_upper = !scanner.bytes[name].iter().any(u8::is_ascii_lowercase);
    let is_argument = matches!(scanner.bytes.get(value.end), Some(b',' | b')'));
    let style = match (close, is_quoted) {
        (true, _) if is_upper && !credential::judged(text).contains(' ') => Style::Environment,
        (_, true) => Style::Quoted,
        (true, false) if !is_argument => Style::Assigned,
        (_, false) => Style::Stated,
    };
    credential::is_credential(kind, style, text).then(|| found(value, kind.name()))
}

/// The name before a separator, out of its quotes.
fn name_before(scanner: &Scanner<'_>, at: usize) -> Option<Range<usize>> {
    let before = &scanner.bytes[scanner.begin..at];
    let back = |end: usize, most: usize, is_in: fn(u8) -> bool| {
        end - before[..end]
            .iter()
            .rev()
            .take(most)
            .take_while(|byte| is_in(**byte))
            .count()
    };
    let spaces = back(before.len(), 4, |byte| matches!(byte, b' ' | b'\t'));
    let end = back(spaces, 4, |byte| b"\"'`\\]?*".contains(&byte));
    let start = back(end, MAX_NAME_BYTES + 1, |byte| Chars::Dotted.has(byte));
    let is_path = start > 0 && before[start - 1] == b'/';
    let fits = (1..=MAX_NAME_BYTES).contains(&(end - start));
    (fits && !is_path).then(|| scanner.begin + start..scanner.begin + end)
}

/// What the name at `name` means. `Pwd` is a password only within a connection string;
/// `PWD` is a directory.
fn kind_at(scanner: &Scanner<'_>, name: &Range<usize>) -> Option<Kind> {
    let text = &scanner.text[name.clone()];
    let before = &scanner.bytes[scanner.begin..name.start];
    let in_connection = before.strip_suffix(b" ").unwrap_or(before).ends_with(b";");
    if matches!(text, "Pwd" | "pwd") && in_connection {
        return Some(Kind::Password);
    }
    credential::kind_of(text)
}

/// The value from `at`, and whether it stands in quotes. They may be escaped, as in JSON within a string.
fn value_from(scanner: &mut Scanner<'_>, at: usize) -> (Range<usize>, bool) {
    let rest = &scanner.bytes[at.min(scanner.bytes.len())..];
    let prefix = match rest {
        [b'b' | b'r' | b'f' | b'u', b'"' | b'\'', ..] => 1,
        _ => rest.iter().take(3).take_while(|byte| **byte == b'\\').count(),
    };
    match quoted_by(rest.get(prefix)) {
        Some(chars) => {
            let start = at + prefix + 1;
            let end = scanner.runs.end(chars, start);
            let escapes = scanner.bytes[start..end]
                .iter()
                .rev()
                .take(3)
                .take_while(|byte| **byte == b'\\');
            (start..end - escapes.count(), true)
        }
        None => (at..scanner.runs.end(Chars::Value, at), false),
    }
}

/// The credential of an `Authorization`, after its scheme.
fn authorization(scanner: &mut Scanner<'_>, value: Range<usize>) -> Option<Found> {
    let scheme_end = scanner.runs.end(Chars::Url, value.start);
    let scheme = &scanner.text[value.start..scheme_end.min(value.start + 16)];
    let has_scheme =
        scanner.bytes.get(scheme_end) == Some(&b' ') && SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let (start, min) = match has_scheme {
        true => (after_spaces(scanner.bytes, scheme_end, 4), 8),
        false => (value.start, 16),
    };
    let end = scanner.runs.end(Chars::Value, start);
    let text = &scanner.text[start..end];
    let is_one = text.len() >= min && credential::is_credential(Kind::Authorization, Style::Quoted, text);
    is_one.then(|| found(start..end, "authorization"))
}

/// Whether `value`, a string under a name of this kind, is a credential.
pub(super) fn is_member_credential(kind: Kind, value: &str) -> bool {
    let after_scheme = value.split_once(' ').filter(|(scheme, _)| {
        kind == Kind::Authorization && SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known))
    });
    let min = if kind == Kind::Authorization && after_scheme.is_none() {
        16
    } else {
        0
    };
    let credential = after_scheme.map_or(value, |(_, credential)| credential.trim());
    credential.len() >= min && credential::is_credential(kind, Style::Quoted, credential)
}
