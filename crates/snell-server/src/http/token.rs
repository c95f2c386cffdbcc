//! The access token.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use axum::http::HeaderMap;
use axum::http::header::COOKIE;
use sha2::{Digest, Sha256};
use snell::{FileAccess, RegularFile};

/// The longest token.
const MAX_BYTES: u64 = 4096;

/// A secret. Only its digest is in memory, so it is in no log and no memory dump.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    digest: [u8; 32],
}

/// Why a file cannot be used as a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// The file cannot be read.
    #[error("cannot read the token file {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Other users can read the file.
    #[error("the token file {} has mode {mode:03o}, so other users can read it", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The content cannot be sent in a header.
    #[error("the token file {} must contain one word of visible ASCII characters, at most {MAX_BYTES} bytes", path.display())]
    NotAWord {
        /// The file.
        path: PathBuf,
    },
    /// The content cannot be the value of a header.
    #[error("the file {} must contain one line of visible ASCII characters, at most {MAX_BYTES} bytes", path.display())]
    NotAHeader {
        /// The file.
        path: PathBuf,
    },
}

impl TokenError {
    /// A remedy for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open { path, .. } => Some(format!("run `chmod 600 {}`", path.display())),
            Self::Unreadable { .. } | Self::NotAWord { .. } | Self::NotAHeader { .. } => None,
        }
    }
}

impl AccessToken {
    /// Reads the token from a file that only its owner can read, without surrounding white space.
    ///
    /// # Errors
    ///
    /// If the file does not exist, other users can read it, or it does not contain one word.
    pub fn from_file(path: &Path) -> Result<Self, TokenError> {
        read_token_file(path).map(Self::new)
    }

    /// The token with this text.
    pub fn new(text: impl AsRef<[u8]>) -> Self {
        Self { digest: Sha256::digest(text.as_ref()).into() }
    }

    /// The token with this digest; nothing if the text is no digest.
    pub(crate) fn from_digest_text(text: &str) -> Option<Self> {
        let mut digest = [0; 32];
        if text.len() != 2 * digest.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (at, byte) in digest.iter_mut().enumerate() {
            *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
        }
        Some(Self { digest })
    }

    /// The digest as text.
    pub(crate) fn to_digest_text(&self) -> String {
        to_hex(&self.digest)
    }

    /// Whether this is the token. The time depends only on the length of `shown`.
    pub(crate) fn matches(&self, shown: &[u8]) -> bool {
        self.is_same(&Self::new(shown))
    }

    /// Whether both are the same token. The time says nothing.
    pub(crate) fn is_same(&self, shown: &Self) -> bool {
        let differences = self.digest.iter().zip(shown.digest).map(|(own, shown)| own ^ shown);
        differences.fold(0, |all, one| all | one) == 0
    }

    /// The cookie of a browser whose user has entered the token.
    pub(crate) fn session_cookie(&self) -> SessionCookie {
        let derived = |what: &str| to_hex(&Sha256::new().chain_update(what).chain_update(self.digest).finalize());
        let mut name = derived("the name of snell's cookie");
        name.truncate(8);
        SessionCookie { name: format!("snell-{name}"), value: derived("the value of snell's cookie") }
    }
}

/// The text of the token in a file that only its owner can read, without surrounding white space.
///
/// # Errors
///
/// If the file does not exist, other users can read it, or it does not contain one word.
pub fn read_token_file(path: &Path) -> Result<String, TokenError> {
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic());
    read_private_file(path)?.filter(|text| is_word(text)).ok_or_else(|| TokenError::NotAWord { path: path.to_owned() })
}

/// The value of a header in a file that only its owner can read. Unlike a token, it may have blanks.
///
/// # Errors
///
/// If the file does not exist, other users can read it, or it does not contain one line.
pub fn read_header_file(path: &Path) -> Result<String, TokenError> {
    let is_line = |text: &str| text.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
    read_private_file(path)?
        .filter(|text| is_line(text))
        .ok_or_else(|| TokenError::NotAHeader { path: path.to_owned() })
}

/// The content of a file that only its owner can read, without surrounding white space; nothing if it is empty, too long or
/// no text.
fn read_private_file(path: &Path) -> Result<Option<String>, TokenError> {
    let unreadable = |source| TokenError::Unreadable { path: path.to_owned(), source };
    let file = RegularFile::open(path, FileAccess::Read).map_err(unreadable)?;
    let mode = file.metadata().permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(TokenError::Open { path: path.to_owned(), mode });
    }
    let (text, more) = file.read_prefix(MAX_BYTES).map_err(unreadable)?;
    let text = String::from_utf8(text.trim_ascii().to_owned()).ok();
    Ok(text.filter(|text| !text.is_empty() && !more))
}

/// The values of the cookies with this name.
pub(crate) fn find_cookie_values<'h>(headers: &'h HeaderMap, name: &'h str) -> impl Iterator<Item = &'h [u8]> {
    let pairs = headers.get_all(COOKIE).iter().flat_map(|cookies| cookies.as_bytes().split(|byte| *byte == b';'));
    pairs.filter_map(move |pair| pair.trim_ascii().strip_prefix(name.as_bytes())?.strip_prefix(b"="))
}

/// A cookie that replaces the token. It is derived from the token, so it survives restarts and ends with the token; the
/// token cannot be derived from it. Browsers send the cookies of a host to all of its ports, so the name depends on the
/// token too.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SessionCookie {
    pub(crate) name: String,
    pub(crate) value: String,
}

impl SessionCookie {
    /// The value of the cookie of a named token. It is derived from the token's text, which is not stored.
    pub(crate) fn derive_named_value(text: &str) -> String {
        to_hex(&Sha256::new().chain_update("the value of the cookie of a named token").chain_update(text).finalize())
    }

    /// The name of the cookie of the named token with this id.
    pub(crate) fn named_token_cookie(id: &str) -> String {
        format!("snell-person-{id}")
    }

    /// Whether one of the `Cookie` headers has it.
    pub(crate) fn is_in_headers(&self, headers: &HeaderMap) -> bool {
        let own = AccessToken::new(&self.value);
        find_cookie_values(headers, &self.name).any(|value| own.matches(value))
    }
}

impl std::fmt::Debug for SessionCookie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionCookie(…)")
    }
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccessToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_cookies(cookies: &str) -> HeaderMap {
        [(COOKIE, cookies.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn a_session_cookie_is_found_among_cookies_and_depends_only_on_its_token() {
        let pass = AccessToken::new("secret").session_cookie();
        let (name, value) = (&pass.name, &pass.value);
        let cases = [
            (format!("{name}={value}"), true),
            (format!("a=b; {name}={value}; c=d"), true),
            (format!("a=b;{name}={value}"), true),
            (format!("{name}=wrong; {name}={value}"), true),
            (format!("{name}={value}x"), false),
            (format!("{name}="), false),
            (format!("x{name}={value}"), false),
            (format!("{name}x={value}"), false),
            (format!("a={name}={value}"), false),
            (value.clone(), false),
            (String::new(), false),
        ];
        for (cookies, expected) in cases {
            assert_eq!(pass.is_in_headers(&with_cookies(&cookies)), expected, "{cookies}");
        }
        assert_eq!(pass, AccessToken::new("secret").session_cookie());
        let other = AccessToken::new("another").session_cookie();
        assert!(other.name != *name && other.value != *value);
        assert!(!pass.is_in_headers(&with_cookies(&format!("{}={}", other.name, other.value))));
        assert_eq!(format!("{pass:?}"), "SessionCookie(…)");
    }
}
