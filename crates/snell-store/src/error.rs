//! Why the store could not do what it was asked.

use std::path::PathBuf;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The directory or a file in it cannot be used.
    #[error("cannot use {}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Somebody else holds the database, and did not let go in time.
    #[error("the database is locked")]
    Locked,
    /// The database is damaged.
    #[error("the database is damaged: {0}")]
    Damaged(String),
    /// What is there is something else than a database of ours. It is not touched.
    #[error("{} is no database of Snell; name another file", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The database was written by a later version.
    #[error("the database is of version {found}, and this program knows versions up to {known}; use a newer one")]
    TooNew {
        /// The version that the file says.
        found: i64,
        /// The latest that is known.
        known: i64,
    },
    /// The database does not take what was to be written: it breaks a rule of the schema.
    #[error("the database refuses it: {0}")]
    Refused(String),
    /// What is to be recorded is no event.
    #[error("{0}")]
    NoEvent(#[from] snell::EventError),
    /// There is no room where it should be written.
    #[error(
        "the disk of {} is full ({left_kib} KiB left); make room there, or let SNELL_HOME name a directory on another disk",
        directory.display()
    )]
    NoRoom {
        /// Where the database is.
        directory: PathBuf,
        /// What is left there.
        left_kib: u64,
    },
    /// The disk does not take or give what it should.
    #[error("{0}; see whether there is room on the disk, and whether it is sound")]
    Disk(String),
    /// Anything else that the database said.
    #[error("the database said: {0}")]
    Database(String),
}

/// The result of asking the store.
pub type Result<T> = std::result::Result<T, StoreError>;

/// An error with all that led to it, on one line.
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
