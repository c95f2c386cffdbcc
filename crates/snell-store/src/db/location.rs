//! Where a database is: in a file of this machine, or on a server.

use std::fmt;
use std::path::{Path, PathBuf};

#[cfg(feature = "postgres")]
use crate::db::postgres::PostgresAddress;

/// The place of a database.
#[derive(Clone, Debug)]
pub enum DatabaseLocation {
    /// A SQLite file.
    File(PathBuf),
    /// A database of a team.
    #[cfg(feature = "postgres")]
    Postgres(PostgresAddress),
}

impl DatabaseLocation {
    /// Its file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => None,
        }
    }
}

impl From<&Path> for DatabaseLocation {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<PathBuf> for DatabaseLocation {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

#[cfg(feature = "postgres")]
impl From<PostgresAddress> for DatabaseLocation {
    fn from(address: PostgresAddress) -> Self {
        Self::Postgres(address)
    }
}

/// The path or the address, without a password.
impl fmt::Display for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            #[cfg(feature = "postgres")]
            Self::Postgres(address) => write!(f, "{address}"),
        }
    }
}
