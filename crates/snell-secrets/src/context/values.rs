//! Values that are a credential, given the meaning of their name.

use super::words::{CREDENTIAL_WORDS, PLACEHOLDER_WORDS, PLACEHOLDERS};
use crate::context::names::{CredentialKind, to_snake_case};

/// How a value is assigned to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueStyle {
    /// `NAME=value`, as in an environment.
    Environment,
    /// `name=value`, as in a query, a settings file or an argument.
    Assigned,
    /// `name: value` or `name = value`, which also occur in prose and code.
    Stated,
    /// `name: "value"`, with any of the separators.
    Quoted,
}

/// How much of a value the scanner reads to judge it.
const MAX_JUDGED_BYTES: usize = 256;

/// The part of a value that is judged. A limit keeps a text that has only values from being read repeatedly.
pub(crate) fn judged_prefix(value: &str) -> &str {
    &value[..value.floor_char_boundary(MAX_JUDGED_BYTES)]
}

/// Whether `value` is a credential, given the meaning of its name.
pub(crate) fn is_credential(kind: CredentialKind, style: ValueStyle, value: &str) -> bool {
    let judged = judged_prefix(value);
    let seen = ValueTraits::from_value(judged);
    if is_placeholder(judged) || (style != ValueStyle::Quoted && is_expression(judged, style)) {
        return false;
    }
    let min = min_length(kind, style);
    match kind {
        _ if value.len() < min => false,
        CredentialKind::Cookie => is_cookie(value) || is_opaque(judged, seen),
        CredentialKind::Session => is_session(judged, seen),
        CredentialKind::Connection => is_opaque(judged, seen) || is_login_at_host(judged),
        CredentialKind::Digits => {
            (min..=MAX_CODE_DIGITS).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit())
        }
        CredentialKind::Password if seen.space => style == ValueStyle::Quoted && !is_sentence(judged),
        _ if seen.space => false,
        CredentialKind::Password => style != ValueStyle::Stated || seen.digit || seen.special,
        CredentialKind::Secret => {
            style == ValueStyle::Environment || seen.digit || seen.special || seen.is_random_text(judged)
        }
        CredentialKind::Token | CredentialKind::Key => {
            let random = style != ValueStyle::Stated && style != ValueStyle::Assigned && seen.is_random_text(judged);
            !seen.is_file_path(judged) && seen.has_letter() && (seen.digit || random)
        }
        CredentialKind::OpaqueToken => is_opaque(judged, seen),
        CredentialKind::Authorization => seen.has_letter() && (seen.digit || seen.is_random_text(judged)),
        CredentialKind::Basic => value.len().is_multiple_of(4) && seen.lower && seen.upper && !seen.special,
        CredentialKind::Signature => seen.digit && seen.has_letter(),
        CredentialKind::Credential => {
            let random = style != ValueStyle::Stated && (seen.special || seen.is_random_text(judged));
            !seen.is_file_path(judged) && !judged.contains("://") && seen.has_letter() && (seen.digit || random)
        }
    }
}

/// The maximum number of digits of a PIN or a one-time code.
const MAX_CODE_DIGITS: usize = 8;

/// The minimum length of a value that can only be a token, and its minimum number of digits.
const MIN_OPAQUE: (usize, usize) = (16, 3);

/// Whether a value is a token by its characters alone: long, letters and digits, and not joined words.
pub(crate) fn is_token(value: &str) -> bool {
    let judged = judged_prefix(value);
    is_opaque(judged, ValueTraits::from_value(judged)) && !is_placeholder(judged)
}

/// Whether a value is not a word of prose: it has a digit, a special character, or letters of both cases.
pub(crate) fn is_not_word(value: &str) -> bool {
    let seen = ValueTraits::from_value(value);
    seen.digit || seen.special || (seen.lower && value.bytes().skip(1).any(|byte| byte.is_ascii_uppercase()))
}

fn is_opaque(value: &str, seen: ValueTraits) -> bool {
    let (length, digits) = MIN_OPAQUE;
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-".contains(&byte);
    let is_joined = value.contains(['_', '-', '/']) && !(seen.upper && seen.lower);
    value.len() >= length
        && !is_joined
        && seen.has_letter()
        && value.bytes().filter(is_digit).count() >= digits
        && value.bytes().all(fits)
}

/// Whether the value of a cookie is a session: long, with letters and digits, and signed or escaped at most.
fn is_session(value: &str, seen: ValueTraits) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-.%".contains(&byte);
    value.len() >= MIN_OPAQUE.0
        && seen.has_letter()
        && (seen.digit || seen.is_random_text(value))
        && value.bytes().all(fits)
}

/// Attributes of a cookie.
const COOKIE_ATTRIBUTES: [&str; 5] = ["expires", "max-age", "path", "domain", "samesite"];

/// Whether one of the values of a cookie can be a session. Only the start of a long one is read.
pub(crate) fn is_cookie(value: &str) -> bool {
    let is_session = |pair: &str| {
        let Some((name, value)) = pair.trim().split_once('=') else {
            return false;
        };
        let is_attribute = COOKIE_ATTRIBUTES.iter().any(|known| name.eq_ignore_ascii_case(known));
        let is_name = !name.is_empty() && !name.contains([' ', '(']);
        let seen = ValueTraits::from_value(value);
        is_name
            && !is_attribute
            && value.len() >= 6
            && !seen.space
            && (seen.digit || seen.is_random_text(value))
            && !is_placeholder(value)
            && !value.contains(['(', '{', '<', '$'])
    };
    let judged = judged_prefix(value);
    judged.split(';').any(is_session) || judged.len() < value.len() && judged.contains("; ") && judged.contains('=')
}

/// `user/password@host`.
fn is_login_at_host(value: &str) -> bool {
    value.split_once('@').is_some_and(|(login, _)| {
        let password = login.split_once('/').map_or("", |(_, password)| password);
        !value.contains([' ', ';']) && !value.contains("://") && password.len() >= 4 && !is_placeholder(password)
    })
}

/// The minimum length of a credential. The more other meanings a value can have, the longer it must be.
const fn min_length(kind: CredentialKind, style: ValueStyle) -> usize {
    match (kind, style) {
        (CredentialKind::Password, ValueStyle::Environment) => 3,
        (CredentialKind::Digits, _) => 4,
        (CredentialKind::Password, ValueStyle::Assigned | ValueStyle::Quoted) => 4,
        (CredentialKind::Password, ValueStyle::Stated)
        | (CredentialKind::Secret, ValueStyle::Environment | ValueStyle::Quoted)
        | (CredentialKind::Credential, ValueStyle::Environment | ValueStyle::Quoted) => 6,
        (CredentialKind::Token, ValueStyle::Quoted | ValueStyle::Stated) => 16,
        (CredentialKind::Token, ValueStyle::Assigned)
        | (CredentialKind::Key, ValueStyle::Stated)
        | (CredentialKind::Basic, _) => 12,
        (CredentialKind::Signature, _) => 32,
        (
            CredentialKind::Authorization
            | CredentialKind::Secret
            | CredentialKind::Key
            | CredentialKind::Token
            | CredentialKind::OpaqueToken
            | CredentialKind::Credential
            | CredentialKind::Cookie
            | CredentialKind::Session
            | CredentialKind::Connection,
            _,
        ) => 8,
    }
}

/// The characters of a value.
#[derive(Clone, Copy, Debug, Default)]
struct ValueTraits {
    digit: bool,
    lower: bool,
    upper: bool,
    space: bool,
    special: bool,
}

impl ValueTraits {
    fn from_value(value: &str) -> Self {
        value.bytes().fold(Self::default(), |mut seen, byte| {
            match byte {
                b'0'..=b'9' => seen.digit = true,
                b'a'..=b'z' => seen.lower = true,
                b'A'..=b'Z' => seen.upper = true,
                b' ' | b'\t' => seen.space = true,
                b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'*' | b'~' | b'?' => seen.special = true,
                _ => {}
            }
            seen
        })
    }

    fn has_letter(self) -> bool {
        self.lower || self.upper
    }

    /// Long, without digits, in both cases and without separators between words.
    fn is_random_text(self, value: &str) -> bool {
        value.len() >= 16 && self.lower && self.upper && !value.contains(['_', '-', '.', ' '])
    }

    /// A file instead of a key: `/` is also a digit of Base64, which has letters of both cases.
    fn is_file_path(self, value: &str) -> bool {
        ["./", "../", "~/"].iter().any(|start| value.starts_with(start))
            || (value.starts_with('/') && !(self.upper && self.lower && self.digit))
            || [".pem", ".key", ".json", ".txt"].iter().any(|end| value.ends_with(end))
    }
}

/// Whether `value` is a placeholder for a credential.
pub(crate) fn is_placeholder(value: &str) -> bool {
    is_reference(value) || is_blank(value) || is_placeholder_word(value)
}

/// Whether a value is a template: `$NAME`, `%NAME%`, `<name>`, `{name}`, a list, or cut short by its author.
fn is_reference(value: &str) -> bool {
    let opens = value.starts_with(['$', '<', '{', '[', '(', '&']) || value.starts_with("%(");
    let in_percents = value.len() > 1 && value.starts_with('%') && value.ends_with('%');
    opens || in_percents || ["${", "$(", "{{", "..."].iter().any(|mark| value.contains(mark))
}

/// Whether a value is one repeated character, or only punctuation.
fn is_blank(value: &str) -> bool {
    let mut characters = value.chars();
    let first = characters.next();
    characters.all(|character| Some(character) == first)
        || !value.contains(|mark: char| mark.is_alphanumeric() && mark != 'x')
}

fn is_placeholder_word(value: &str) -> bool {
    if !value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b' ')) {
        return false;
    }
    let words = to_snake_case(value);
    let has = |known: &[&str]| words.split('_').any(|word| known.contains(&word));
    let names_one =
        || !value.contains(|digit: char| digit.is_ascii_digit()) && words.contains('_') && has(CREDENTIAL_WORDS);
    PLACEHOLDERS.contains(&words.as_str()) || has(PLACEHOLDER_WORDS) || names_one()
}

/// Whether an unquoted value is code that returns one: a call, an index, or a path of names.
fn is_expression(value: &str, style: ValueStyle) -> bool {
    let name_end = value
        .find(|mark: char| !(mark.is_ascii_alphanumeric() || matches!(mark, '_' | '.' | ':' | '-')))
        .unwrap_or(value.len());
    let (name, after) = value.split_at(name_end);
    if !name.is_empty() && after.starts_with(['(', '[', '{', '!']) && !name.ends_with('-') && after.len() > 1 {
        return after.starts_with(['(', '[']) || style != ValueStyle::Environment;
    }
    const ENVIRONMENTS: [&str; 4] = ["process.env", "import.meta.env", "os.environ", "env."];
    if ENVIRONMENTS.iter().any(|start| value.starts_with(start)) {
        return true;
    }
    let names = || value.split(['.', ':']).filter(|name| !name.is_empty());
    let is_name =
        |name: &str| name.len() <= 24 && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    style != ValueStyle::Environment && after.is_empty() && names().count() > 1 && names().all(is_name)
}

/// Whether a quoted value with spaces is prose: it starts like a sentence, or mentions credentials.
fn is_sentence(value: &str) -> bool {
    let mut characters = value.chars();
    let capital =
        characters.next().is_some_and(char::is_uppercase) && characters.next().is_some_and(char::is_lowercase);
    let speaks = value.split(' ').any(|word| CREDENTIAL_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)));
    capital || speaks || value.contains('{')
}
