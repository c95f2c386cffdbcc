//! The tokens as the server knows them. The file is read again when it changes, so a revoked token is refused at once.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;

use super::file::{KnownToken, NamedTokens};
use crate::http::errors::format_error_chain;
use crate::http::token::{AccessToken, find_cookie_values};

/// Properties that change with the file: a new file replaces it.
type FileStamp = (u64, i64, i64, u64);

/// The tokens of a data directory.
#[derive(Debug)]
pub(crate) struct LiveTokens {
    file: NamedTokens,
    known: Mutex<(Option<FileStamp>, Arc<[KnownToken]>)>,
}

impl LiveTokens {
    pub(crate) fn in_directory(directory: &Path) -> Self {
        Self { file: NamedTokens::in_directory(directory), known: Mutex::new((None, Arc::new([]))) }
    }

    /// The tokens now. If the file cannot be read, there are none.
    pub(crate) fn load(&self) -> Arc<[KnownToken]> {
        let stamp = fs::metadata(self.file.path())
            .ok()
            .map(|found| (found.ino(), found.mtime(), found.mtime_nsec(), found.size()));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != stamp {
            let tokens = self.file.list().unwrap_or_else(|error| {
                tracing::warn!(
                    error = format_error_chain(&error),
                    "cannot read the tokens, so all of them are refused"
                );
                Vec::new()
            });
            *known = (stamp, tokens.into_iter().filter_map(KnownToken::from_stored).collect());
        }
        known.1.clone()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.load().is_empty()
    }
}

/// The token with this text. All are compared, so the time says nothing.
pub(crate) fn find_by_text<'t>(tokens: &'t [KnownToken], shown: &[u8]) -> Option<&'t KnownToken> {
    let shown = AccessToken::new(shown);
    tokens.iter().fold(None, |found, known| if known.token.is_same(&shown) { Some(known) } else { found })
}

/// The token whose cookie a browser sent.
pub(crate) fn find_by_cookie<'t>(tokens: &'t [KnownToken], headers: &HeaderMap) -> Option<&'t KnownToken> {
    tokens.iter().find(|known| find_cookie_values(headers, &known.cookie_name).any(|value| known.cookie.matches(value)))
}
