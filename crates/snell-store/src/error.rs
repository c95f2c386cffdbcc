//! The errors of the store.

use std::path::PathBuf;

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory or a file in it cannot be used.
    #[error("cannot use {}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The cause.
        #[source]
        source: std::io::Error,
    },
    /// Another process held the database for too long.
    #[error("the database is locked")]
    Locked,
    /// The database is damaged.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// The file is not a Snell database. It is not changed.
    #[error("{} is not a Snell database", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a later version.
    #[error("the database has version {found}, but this program supports versions up to {known}")]
    TooNew {
        /// The version of the file.
        found: i64,
        /// The latest supported version.
        known: i64,
    },
    /// The database is on another machine, and does not answer.
    #[error("cannot reach the database: {0}")]
    Unreachable(String),
    /// Another process used the same rows at the same time. The same transaction succeeds later.
    #[error("the database was changed at the same time: {0}")]
    Conflict(String),
    /// Another process stored a row with the same key. The same transaction finds that row later.
    #[error("the database has the same row already: {0}")]
    DuplicateKey(String),
    /// The data violates a rule of the schema.
    #[error("the database rejected the data: {0}")]
    Refused(String),
    /// The record is not an event.
    #[error("{0}")]
    NoEvent(#[from] snell::EventError),
    /// The disk is full.
    #[error("the disk of {} is full ({left_kib} KiB left)", directory.display())]
    NoRoom {
        /// The directory of the database.
        directory: PathBuf,
        /// The free space.
        left_kib: u64,
    },
    /// The disk failed to read or write.
    #[error("disk error: {0}")]
    Disk(String),
    /// Any other error of the database.
    #[error("database error: {0}")]
    Database(String),
}

impl StoreError {
    /// The hint for the user, if there is a useful one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::NotOurs { .. } => Some("use another path"),
            Self::TooNew { .. } => Some("install a newer version of Snell"),
            Self::NoRoom { .. } => Some("free some space, or set SNELL_HOME to a directory on another disk"),
            Self::Disk(_) => Some("check the disk for free space and for errors"),
            _ => None,
        }
    }
}

/// The result of an operation of the store.
pub type Result<T> = std::result::Result<T, StoreError>;

/// An error with its causes, on one line.
pub fn format_error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        text.push_str(": ");
        text.push_str(&deeper.to_string());
        cause = deeper.source();
    }
    text
}
