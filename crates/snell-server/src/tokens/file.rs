//! The file of the tokens in the data directory.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use snell::{FileAccess, RegularFile, Timestamp};

use super::role::AccessRole;
use crate::answers::read_random_bytes;
use crate::http::token::{AccessToken, SessionCookie, to_hex};

/// The file in the data directory.
const FILE_NAME: &str = "tokens.json";

/// The prefix of every token, by which it is recognised as a secret.
pub(crate) const TOKEN_PREFIX: &str = "snell_";

/// The random bytes of a token, and of its id.
const TOKEN_BYTES: usize = 32;
const ID_BYTES: usize = 4;

/// The longest name, and the most tokens.
const MAX_NAME_CHARS: usize = 100;
const MAX_TOKENS: usize = 10_000;

/// A larger file is not ours.
const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// A token as it is stored. The token itself cannot be computed from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedToken {
    /// Its id, which is no secret.
    pub id: String,
    /// The person or the machine.
    pub name: String,
    /// Its role.
    pub role: AccessRole,
    /// When it was created.
    pub created_at: Timestamp,
    /// The digest of the token.
    token_digest: String,
    /// The digest of the cookie of a browser whose user has entered the token.
    cookie_digest: String,
}

/// A token as people and programs see it: without its digests.
#[derive(Clone, Debug, Serialize)]
pub struct TokenSummary<'t> {
    id: &'t str,
    name: &'t str,
    role: AccessRole,
    created_at: Timestamp,
}

impl<'t> From<&'t NamedToken> for TokenSummary<'t> {
    fn from(token: &'t NamedToken) -> Self {
        Self { id: &token.id, name: &token.name, role: token.role, created_at: token.created_at }
    }
}

/// A new token.
#[derive(Debug)]
pub struct IssuedToken {
    /// How it is stored.
    pub stored: NamedToken,
    /// The token itself, which is not stored.
    pub text: String,
}

/// Why the tokens cannot be read or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenFileError {
    /// The file cannot be read or written.
    #[error("cannot use {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Other users can read the file.
    #[error("{} has mode {mode:03o}, so other users can read it", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file is damaged.
    #[error("{} is not a list of tokens: {why}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The name cannot be used.
    #[error(
        "the name must have 1 to {MAX_NAME_CHARS} characters, without control characters and without spaces at its ends"
    )]
    InvalidName,
    /// The name is in use.
    #[error("there is already a token \"{name}\"")]
    NameInUse {
        /// The name.
        name: String,
    },
    /// There are too many tokens.
    #[error("there are {MAX_TOKENS} tokens already")]
    TooMany,
    /// No token has this name or id.
    #[error("there is no token \"{name}\"")]
    Unknown {
        /// The name or the id that was given.
        name: String,
    },
}

impl TokenFileError {
    /// A remedy for the user.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Open { path, .. } => Some(format!("run `chmod 600 {}`", path.display())),
            Self::NameInUse { name } => {
                Some(format!("choose another name, or revoke it first: snell token revoke {name}"))
            }
            Self::TooMany => Some("revoke those that are not used".into()),
            Self::Unknown { .. } => Some("run `snell token list` for all of them".into()),
            Self::Damaged { .. } => Some("restore the file, or remove it and create the tokens again".into()),
            Self::File { .. } | Self::InvalidName => None,
        }
    }
}

/// The tokens of a data directory.
#[derive(Clone, Debug)]
pub struct NamedTokens {
    directory: PathBuf,
}

#[derive(Default, Serialize, Deserialize)]
struct TokenList {
    tokens: Vec<NamedToken>,
}

impl NamedTokens {
    /// The tokens of this data directory.
    pub fn in_directory(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.directory.join(FILE_NAME)
    }

    /// All tokens, the oldest first.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, other users can read it, or it is damaged. A missing file has no tokens.
    pub fn list(&self) -> Result<Vec<NamedToken>, TokenFileError> {
        let path = self.path();
        let fail = |source| TokenFileError::File { path: path.clone(), source };
        let file = match RegularFile::open(&path, FileAccess::Read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened.map_err(fail)?,
        };
        let mode = file.metadata().permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(TokenFileError::Open { path, mode });
        }
        let (text, is_longer) = file.read_prefix(MAX_FILE_BYTES).map_err(fail)?;
        let damaged = |why: String| TokenFileError::Damaged { path: path.clone(), why };
        if is_longer {
            return Err(damaged(format!("it is larger than {MAX_FILE_BYTES} bytes")));
        }
        let list: TokenList = serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        Ok(list.tokens)
    }

    /// Creates a token.
    ///
    /// # Errors
    ///
    /// If the name is invalid or in use, or the file cannot be written.
    pub fn create(&self, name: &str, role: AccessRole, now: Timestamp) -> Result<IssuedToken, TokenFileError> {
        let is_name = name.trim() == name && !name.is_empty() && !name.chars().any(char::is_control);
        if !is_name || name.chars().count() > MAX_NAME_CHARS {
            return Err(TokenFileError::InvalidName);
        }
        self.change(|tokens| {
            if tokens.iter().any(|token| token.name == name) {
                return Err(TokenFileError::NameInUse { name: name.to_owned() });
            }
            if tokens.len() >= MAX_TOKENS {
                return Err(TokenFileError::TooMany);
            }
            let issued = self.issue(name, role, now)?;
            tokens.push(issued.stored.clone());
            Ok(issued)
        })
    }

    fn issue(&self, name: &str, role: AccessRole, now: Timestamp) -> Result<IssuedToken, TokenFileError> {
        let random: [u8; TOKEN_BYTES + ID_BYTES] =
            read_random_bytes().map_err(|source| TokenFileError::File { path: self.path(), source })?;
        let (secret, id) = random.split_at(TOKEN_BYTES);
        let text = format!("{TOKEN_PREFIX}{}", to_hex(secret));
        let id = to_hex(id);
        let stored = NamedToken {
            token_digest: AccessToken::new(&text).to_digest_text(),
            cookie_digest: AccessToken::new(SessionCookie::derive_named_value(&text)).to_digest_text(),
            name: name.to_owned(),
            role,
            created_at: now,
            id,
        };
        Ok(IssuedToken { stored, text })
    }

    /// Revokes the token with this name or id, and returns it. It is refused from the next request on.
    ///
    /// # Errors
    ///
    /// If there is none, or the file cannot be written.
    pub fn revoke(&self, name_or_id: &str) -> Result<NamedToken, TokenFileError> {
        self.change(|tokens| {
            let by_name = tokens.iter().position(|token| token.name == name_or_id);
            let found = by_name.or_else(|| tokens.iter().position(|token| token.id == name_or_id));
            let place = found.ok_or_else(|| TokenFileError::Unknown { name: name_or_id.to_owned() })?;
            Ok(tokens.remove(place))
        })
    }

    /// Changes the list. One process at a time does.
    fn change<T>(
        &self,
        work: impl FnOnce(&mut Vec<NamedToken>) -> Result<T, TokenFileError>,
    ) -> Result<T, TokenFileError> {
        let path = self.path();
        let fail = |source| TokenFileError::File { path: path.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(fail)?;
        let lock_path = self.directory.join(format!("{FILE_NAME}.lock"));
        let lock = RegularFile::open(&lock_path, FileAccess::Write)
            .map_err(|source| TokenFileError::File { path: lock_path.clone(), source })?
            .into_file();
        flock(&lock, FlockOperation::LockExclusive).map_err(|error| fail(error.into()))?;
        let mut tokens = self.list()?;
        let result = work(&mut tokens)?;
        let text = serde_json::to_vec_pretty(&TokenList { tokens }).map_err(|error| fail(error.into()))?;
        replace_file(&path, &text).map_err(fail)?;
        Ok(result)
    }
}

/// Writes a file that only its owner can read, in place of the one that is there.
fn replace_file(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut temporary = path.as_os_str().to_owned();
    temporary.push(".new");
    let temporary = PathBuf::from(temporary);
    let mut options = OpenOptions::new();
    // The lock is held, so a file that is there was left by a killed process.
    let _ = fs::remove_file(&temporary);
    let mut file = options.write(true).create_new(true).mode(0o600).open(&temporary)?;
    file.write_all(text)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

/// A stored token, ready to be compared.
#[derive(Debug)]
pub(crate) struct KnownToken {
    pub(crate) name: String,
    pub(crate) role: AccessRole,
    pub(super) token: AccessToken,
    pub(super) cookie: AccessToken,
    pub(super) cookie_name: String,
}

impl KnownToken {
    /// The cookie of a browser whose user has entered the token with this text.
    pub(crate) fn session_cookie(&self, text: &str) -> SessionCookie {
        SessionCookie { value: SessionCookie::derive_named_value(text), name: self.cookie_name.clone() }
    }

    /// The cookie that replaces it when the user logs out.
    pub(crate) fn expired_cookie(&self) -> SessionCookie {
        SessionCookie { value: String::new(), name: self.cookie_name.clone() }
    }

    /// Nothing if a digest is damaged: then the token is refused.
    pub(super) fn from_stored(stored: NamedToken) -> Option<Self> {
        Some(Self {
            token: AccessToken::from_digest_text(&stored.token_digest)?,
            cookie: AccessToken::from_digest_text(&stored.cookie_digest)?,
            cookie_name: SessionCookie::named_token_cookie(&stored.id),
            name: stored.name,
            role: stored.role,
        })
    }
}
