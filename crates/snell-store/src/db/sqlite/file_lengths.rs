//! Files of a database that were truncated while it was open.
//!
//! SQLite truncates them too: another process may have run a checkpoint, or removed many rows. So a file that became
//! shorter is checked with a new connection, which has none of it in memory.

use std::fs;
use std::path::Path;

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHORT_READ;
use snell::Timestamp;

use super::{SqliteDatabase, WAL_SUFFIX, append_suffix, connect_read_only};
use crate::db::backend::RemovedFile;
use crate::error::Result;

/// The lengths of a database and its log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FileLengths {
    database: u64,
    log: u64,
}

/// The result of a check of all pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageCheck {
    Sound,
    Damaged,
    /// It could not be checked now.
    Unknown,
}

impl FileLengths {
    pub(super) fn measure(path: &Path) -> Self {
        let length = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
        Self { database: length(path), log: length(&append_suffix(path, WAL_SUFFIX)) }
    }
}

impl SqliteDatabase {
    /// Whether the database and its log have everything that was written to them.
    pub(super) fn is_complete(&self) -> bool {
        let (before, now) = (self.lengths.get(), FileLengths::measure(&self.path));
        let is_shorter = now.database < before.database || now.log < before.log;
        let check = if is_shorter { self.check_pages(now) } else { PageCheck::Sound };
        if check == PageCheck::Sound {
            self.lengths.set(now);
        }
        check != PageCheck::Damaged
    }

    /// Restores a truncated database from its log, if the log has all of it. Otherwise moves it aside.
    pub(super) fn restore_shortened(&self) -> Result<RemovedFile> {
        let is_log_whole = FileLengths::measure(&self.path).log >= self.lengths.get().log;
        let folds = |how| self.checkpoint_log(how).unwrap_or(false);
        if is_log_whole && (folds("TRUNCATE") || folds("PASSIVE")) {
            let lengths = FileLengths::measure(&self.path);
            if self.check_pages(lengths) == PageCheck::Sound {
                return Ok(RemovedFile::RestoredDatabase);
            }
        }
        Self::move_aside(&self.path, self.inode, Timestamp::now()).map(RemovedFile::SetAside)
    }

    fn check_pages(&self, lengths: FileLengths) -> PageCheck {
        // SQLite would take an empty file for a new database, and remove its log.
        if lengths.database == 0 {
            return PageCheck::Damaged;
        }
        let Ok(connection) = connect_read_only(&self.path) else {
            return PageCheck::Unknown;
        };
        let found = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        match found {
            Ok(found) if found == "ok" => PageCheck::Sound,
            Ok(_) => PageCheck::Damaged,
            Err(error) if is_truncation_error(&error) => PageCheck::Damaged,
            Err(_) => PageCheck::Unknown,
        }
    }
}

/// Whether a page could not be read because it is invalid, or because the log ends before it.
fn is_truncation_error(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    let is_damaged = matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase));
    is_damaged || code == Some(SQLITE_IOERR_SHORT_READ)
}
