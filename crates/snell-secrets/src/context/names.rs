//! Names of secrets: variables, fields, headers, options and cookies.

use super::words::{DESCRIBING_WORDS, HARMLESS_ENDS, PATTERN_WORDS, VARIABLE_ISSUERS};

/// The meaning of a name for its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialKind {
    /// Any word can be a password.
    Password,
    /// A value that must stay private.
    Secret,
    /// A token is long. Many short words have such names too.
    Token,
    /// A token whose name also means other things, so that its value must look like a token.
    OpaqueToken,
    /// A key.
    Key,
    /// A scheme and a credential.
    Authorization,
    /// Name and password in Base64.
    Basic,
    /// A signature that stands for a credential.
    Signature,
    /// A credential of unknown form.
    Credential,
    /// A few digits.
    Digits,
    /// Names and values. One of them is often a session.
    Cookie,
    /// The value of a cookie that is a session.
    Session,
    /// The address of a database and its login.
    Connection,
}

impl CredentialKind {
    /// The placeholder for the value.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Secret => "secret",
            Self::Token | Self::OpaqueToken => "token",
            Self::Key => "key",
            Self::Authorization | Self::Basic => "authorization",
            Self::Signature => "signature",
            Self::Credential => "credential",
            Self::Digits => "code",
            Self::Cookie | Self::Session => "cookie",
            Self::Connection => "connection string",
        }
    }
}

/// The longest name that the scanner reads.
pub(crate) const MAX_NAME_BYTES: usize = 64;

/// The rules that use a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameUse {
    /// Masking: the value of a name that ends so.
    Value,
    /// The guard: an environment variable with these words in its name.
    Variable,
    Both,
}

use CredentialKind::{
    Authorization, Basic, Connection, Cookie, Credential, Digits, Key, OpaqueToken, Password, Secret, Session,
    Signature, Token,
};
use NameUse::{Both, Value, Variable};

/// The names of secrets by their meaning and use: the last words of a name, joined by `_`. No name ends with one that
/// has another meaning.
const SECRET_NAMES: &[(CredentialKind, NameUse, &[&str])] = &[
    (Authorization, Value, &["authorization"]),
    (Secret, Both, &["secret"]),
    (Secret, Variable, &["secrets"]),
    (Token, Both, &["token"]),
    (Token, Value, &["bearer", "jwt", "api_token", "apitoken", "auth_token", "authtoken", "accesstoken"]),
    (Token, Value, &["identitytoken", "registrytoken"]),
    (OpaqueToken, Value, &["pat"]),
    (Key, Both, &["api_key", "apikey", "access_key", "secret_key", "private_key", "account_key", "encryption_key"]),
    (Key, Both, &["signing_key", "master_key", "auth_key"]),
    (Key, Value, &["secret_access_key", "accesskey", "secretkey", "privatekey", "client_key_data"]),
    (Key, Variable, &["admin_key", "app_key", "client_key", "deploy_key", "service_key", "ssh_key"]),
    (Basic, Value, &["auth"]),
    (Signature, Value, &["sig", "signature"]),
    (Credential, Both, &["credential", "credentials"]),
    (Digits, Value, &["otp", "pin"]),
    (Cookie, Value, &["cookie", "cookies"]),
    (Session, Value, &["connect_sid", "koa_sess", "phpsessid", "jsessionid", "aspxauth", "laravel_session"]),
    (Connection, Value, &["connection_string", "connectionstring"]),
    (Password, Both, &["password", "passwd", "passphrase", "pgpassword"]),
];

/// The names that have further uses, and their meanings.
fn list_names_beyond(other: NameUse) -> impl Iterator<Item = (&'static str, CredentialKind)> {
    let rows = SECRET_NAMES.iter().filter(move |(_, used, _)| *used != other);
    rows.flat_map(|(kind, _, names)| names.iter().map(|name| (*name, *kind)))
}

/// Ends of names that mean a password even inside a word, as in `PGPASSWORD`.
pub(crate) const PASSWORD_ENDS: [&str; 5] = ["password", "passwd", "passphrase", "_pwd", "_pass"];

/// Members of a JSON Web Key that are private.
const JWK_PRIVATE_MEMBERS: [&str; 7] = ["d", "p", "q", "dp", "dq", "qi", "k"];

/// Whether a member of a JSON Web Key, which is an object with `kty`, is private.
pub fn is_jwk_private_member(name: &str) -> bool {
    JWK_PRIVATE_MEMBERS.contains(&name)
}

/// The meaning of `name` for its value. `Name`, `NAME`, `some-name` and `someName` are the same.
pub fn credential_kind(name: &str) -> Option<CredentialKind> {
    if !has_credential_ending(name.as_bytes()) || name.len() > MAX_NAME_BYTES {
        return None;
    }
    let words = to_snake_case(name);
    if HARMLESS_ENDS.iter().any(|end| ends_with_words(&words, end)) {
        return None;
    }
    if PASSWORD_ENDS.iter().any(|end| words.ends_with(end)) {
        return Some(CredentialKind::Password);
    }
    list_names_beyond(Variable).find(|(name, _)| ends_with_words(&words, name)).map(|(_, kind)| kind)
}

/// Whether an environment variable with this name has a secret.
pub fn is_secret_variable(name: &str) -> bool {
    let last = name.rsplit('_').next().unwrap_or_default();
    let word_ends = || name.match_indices('_').map(|(at, _)| at).chain([name.len()]);
    let has_words = |words: &str| word_ends().any(|end| ends_with_capitals(&name[..end], words));
    !DESCRIBING_WORDS.contains(&last) && list_names_beyond(Value).any(|(words, _)| has_words(words))
}

/// Whether a pattern that selects lines names secrets: `TOKEN`, `_KEY=`, `pass`.
pub fn pattern_names_secrets(pattern: &str) -> bool {
    let upper = pattern.to_ascii_uppercase();
    let mut words = upper.split(|c: char| !c.is_ascii_alphabetic());
    let is_name = |word: &str| list_names_beyond(Value).any(|(name, _)| name.eq_ignore_ascii_case(word));
    words.any(|word| is_name(word) || PATTERN_WORDS.contains(&word))
}

/// A part of the hosts that issue the secret in a variable of this name. Empty if they are unknown.
pub fn variable_issuer(name: &str) -> &'static str {
    let first = name.split('_').next().unwrap_or_default();
    VARIABLE_ISSUERS.iter().find(|(word, _)| *word == first).map_or("", |(_, issuer)| issuer)
}

/// Whether a name ends with three letters that one of the above ends with. Most names do not, and need no further
/// check.
fn has_credential_ending(name: &[u8]) -> bool {
    const ENDS: [&[u8; 3]; 26] = [
        b"ord", b"swd", b"pwd", b"ase", b"ass", b"ion", b"ret", b"ken", b"rer", b"key", b"uth", b"sig", b"ure", b"ial",
        b"als", b"jwt", b"otp", b"pin", b"kie", b"ing", b"pat", b"ata", b"ies", b"sid", b"nid", b"ess",
    ];
    let end = &name[name.len().saturating_sub(3)..];
    ENDS.iter().any(|known| end.eq_ignore_ascii_case(*known))
}

fn ends_with_words(words: &str, end: &str) -> bool {
    words.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('_'))
}

/// Whether a name ends with these words in capitals.
fn ends_with_capitals(name: &str, words: &str) -> bool {
    let Some(start) = name.len().checked_sub(words.len()) else {
        return false;
    };
    let (before, end) = name.as_bytes().split_at(start);
    let are_equal = || {
        let capitals = words.bytes().map(|byte| byte.to_ascii_uppercase());
        end.iter().copied().eq(capitals)
    };
    (before.is_empty() || before.ends_with(b"_")) && are_equal()
}

/// The words of a name in lower case, joined by `_`.
pub(crate) fn to_snake_case(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut words = String::with_capacity(name.len() + 8);
    for (at, character) in name.char_indices() {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let starts_word = character.is_ascii_uppercase()
            && before.is_some_and(|before| {
                let after_lower = before.is_ascii_lowercase() || before.is_ascii_digit();
                let ends_capitals =
                    before.is_ascii_uppercase() && bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
                after_lower || ends_capitals
            });
        if starts_word {
            words.push('_');
        }
        match character {
            '-' | '.' | ' ' => words.push('_'),
            _ => words.push(character.to_ascii_lowercase()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_credential_is_found_by_its_end() {
        for (kind, used, names) in SECRET_NAMES {
            let expected = (*used != Variable).then_some(*kind);
            for name in *names {
                assert_eq!(credential_kind(name), expected, "{name}");
            }
        }
        for end in PASSWORD_ENDS {
            assert_eq!(credential_kind(&format!("DB{end}")), Some(Password), "{end}");
        }
    }

    #[test]
    fn every_name_of_a_variable_is_found_in_capitals() {
        for (name, _) in list_names_beyond(Value) {
            let name = format!("MY_{}_1", name.to_ascii_uppercase());
            assert!(is_secret_variable(&name), "{name}");
        }
    }

    #[test]
    fn names_say_whether_they_are_secret() {
        for (name, expected) in [
            ("GITHUB_TOKEN", true),
            ("TOKEN", true),
            ("AWS_SECRET_ACCESS_KEY", true),
            ("DATABASE_PASSWORD", true),
            ("PGPASSWORD", true),
            ("OPENAI_API_KEY", true),
            ("SSH_PRIVATE_KEY", true),
            ("SECRET_KEY_BASE", true),
            ("GOOGLE_APPLICATION_CREDENTIALS", true),
            ("CLIENT_SECRET", true),
            ("TOKENIZERS_PARALLELISM", false),
            ("MAX_TOKENS", false),
            ("KEYBOARD", false),
            ("CACHE_KEY", false),
            ("AWS_ACCESS_KEY_ID", false),
            ("TOKEN_URL", false),
            ("POSTGRES_PASSWORD_FILE", false),
            ("SECRET_NAME", false),
            ("PWD", false),
            ("SSH_AUTH_SOCK", false),
            ("PATH", false),
            ("token", false),
        ] {
            assert_eq!(is_secret_variable(name), expected, "{name}");
        }
    }
}
