//! The embedded database: one file, written by many short processes and one server at once.

mod agent_rows;
mod columns;
mod conversation_rows;
mod disk_space;
mod dispatches;
mod file_lengths;
mod live_queries;
mod log;
mod log_search;
mod prune;
mod queries;
mod requests;
mod rollups;
mod rows;
mod sessions;
mod sightings;
mod telemetry;
mod timeline;
mod tool_calls;
mod usage;
mod worker_rows;

use std::cell::Cell;
use std::fs::{self, DirBuilder, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use snell::{FileAccess, RegularFile, Timestamp, check_regular_file};

use self::columns::FromColumns;
use self::file_lengths::FileLengths;
use crate::db::backend::{Backend, CheckpointMode, RemovedFile, TransactionSubject};
use crate::db::dispatches::DispatchTable;
use crate::db::rows::Rows;
use crate::db::telemetry::TelemetryTable;
use crate::db::usage::UsageTable;
use crate::derive::transcript::FileId;
use crate::error::{Result, StoreError};
use crate::views::query_types::PruneCounts;

/// All changes to the schema, in order. The database's `user_version` is the number of those it has.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/001-tables.sql"),
    include_str!("migrations/002-changes.sql"),
    include_str!("migrations/003-lifecycle.sql"),
    include_str!("migrations/004-rollups.sql"),
    include_str!("migrations/005-sightings.sql"),
    include_str!("migrations/006-added-context.sql"),
    include_str!("migrations/007-context-and-background.sql"),
    include_str!("migrations/008-dispatches.sql"),
    include_str!("migrations/009-requests.sql"),
    include_str!("migrations/010-usage.sql"),
    include_str!("migrations/011-telemetry.sql"),
    include_str!("migrations/012-open-calls.sql"),
    include_str!("migrations/013-background.sql"),
    include_str!("migrations/014-remembered-answers.sql"),
    include_str!("migrations/015-calls-without-ids.sql"),
];

/// How often a process asks for the lock before it gives up: about half a second in all.
const MAX_LOCK_ATTEMPTS: i32 = 600;

/// The first bytes of a SQLite database.
const SQLITE_HEADER: &[u8; 16] = b"SQLite format 3\0";

/// From this length on, the write-ahead log is copied into the database: each short process reads all of it.
const CHECKPOINT_THRESHOLD_BYTES: u64 = 512 * 1024;

/// An open database.
#[derive(Debug)]
pub(crate) struct SqliteDatabase {
    connection: Connection,
    path: PathBuf,
    /// The opened file's inode: another file may be at this path now.
    inode: u64,
    /// The opened write-ahead log and its index, if any.
    log: [Option<FileId>; 2],
    /// The lengths of the database and its log at the last check.
    lengths: Cell<FileLengths>,
    /// Changes when another connection commits.
    data_version: i64,
}

/// The files that SQLite opens beside a database.
const WAL_SUFFIX: &str = "-wal";
const SHM_SUFFIX: &str = "-shm";
const JOURNAL_SUFFIX: &str = "-journal";

impl SqliteDatabase {
    /// Opens the database, and creates it if it is missing.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::open_and_migrate(path).map_err(|error| disk_space::explain_full_disk(path, error))
    }

    fn open_and_migrate(path: &Path) -> Result<Self> {
        let connection = connect_read_write(path)?;
        let mut database = Self {
            connection,
            path: path.to_owned(),
            inode: read_inode(path),
            log: [None; 2],
            lengths: Cell::default(),
            data_version: 0,
        };
        if database.is_outdated()? {
            database.migrate()?;
        }
        // The version was read, so the log is open.
        database.log = [WAL_SUFFIX, SHM_SUFFIX].map(|part| FileId::from_path(&append_suffix(path, part)));
        database.lengths = Cell::new(FileLengths::measure(path));
        // The log survives a killed process. Only if the machine crashes may the last transactions be lost, each of
        // them whole.
        database.connection.pragma_update(None, "synchronous", "normal")?;
        // An agent would wait for a checkpoint; `checkpoint` runs it when no agent waits.
        database.connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        Ok(database)
    }

    /// Opens the database read-only: it is not created, migrated or moved.
    pub(crate) fn open_read_only(path: &Path) -> Result<Self> {
        let database = Self {
            connection: connect_read_only(path)?,
            path: path.to_owned(),
            inode: read_inode(path),
            log: [None; 2],
            lengths: Cell::default(),
            data_version: 0,
        };
        database.is_outdated()?;
        Ok(database)
    }

    /// Whether its schema is of an earlier version.
    fn is_outdated(&self) -> Result<bool> {
        let version = self.read_schema_version()?;
        let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        if version > known {
            return Err(StoreError::TooNew { found: version, known });
        }
        Ok(version < known)
    }

    fn read_schema_version(&self) -> Result<i64> {
        Ok(self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
    }

    /// Migrates the schema. If several processes try, one of them does it.
    fn migrate(&mut self) -> Result<()> {
        let _one_at_a_time = lock_database(&self.path)?;
        if self.read_schema_version()? == 0 {
            self.connection.pragma_update(None, "auto_vacuum", "incremental")?;
            self.connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        }
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let done = usize::try_from(version).unwrap_or(0);
        for (number, migration) in MIGRATIONS.iter().enumerate().skip(done) {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "user_version", i64::try_from(number + 1).unwrap_or(i64::MAX))?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Moves a damaged database away, so that users can inspect it. Returns its new path, unless another process was
    /// faster.
    pub(crate) fn move_aside(path: &Path, damaged: u64, now: Timestamp) -> Result<Option<PathBuf>> {
        let _one_at_a_time = lock_database(path)?;
        if read_inode(path) != damaged {
            return Ok(None);
        }
        let stamp = now.strftime("%Y%m%dT%H%M%S");
        let mut aside = append_suffix(path, &format!(".damaged-{stamp}"));
        for number in 2..100 {
            if !aside.exists() {
                break;
            }
            aside = append_suffix(path, &format!(".damaged-{stamp}-{number}"));
        }
        for part in [WAL_SUFFIX, SHM_SUFFIX] {
            // The log belongs to the damaged file, and would damage a new one.
            match fs::rename(append_suffix(path, part), append_suffix(&aside, part)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(to_file_error(path, error)),
                _ => {}
            }
        }
        fs::rename(path, &aside).map_err(|error| to_file_error(path, error))?;
        Ok(Some(aside))
    }

    /// Whether the file at this path may be used: a Snell database, an empty file, or no file. It is not changed,
    /// because the user may have named the wrong file.
    pub(crate) fn is_usable_file(path: &Path) -> Result<bool> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(to_file_error(path, error)),
        };
        if !metadata.is_file() || metadata.len() == 0 {
            return Ok(metadata.is_file());
        }
        let mut header = [0; SQLITE_HEADER.len()];
        let read = RegularFile::open(path, FileAccess::Read)
            .and_then(|file| io::Read::read_exact(&mut file.into_file(), &mut header));
        if read.is_err() || header != *SQLITE_HEADER {
            return Ok(false);
        }
        check_files(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        let sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('agents', 'conversations', 'session_ids')";
        let ours: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(ours == 3)
    }

    /// The inode of the file at this path now.
    pub(crate) fn read_database_inode(path: &Path) -> u64 {
        read_inode(path)
    }
}

impl Backend for SqliteDatabase {
    fn write_transaction(
        &mut self,
        _: TransactionSubject<'_>,
        work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>,
    ) -> Result<()> {
        self.run_transaction(TransactionBehavior::Immediate, work)
    }

    fn read_transaction(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()> {
        // Nothing was written, but it is committed: a rollback would discard all prepared statements.
        self.run_transaction(TransactionBehavior::Deferred, work)
    }

    fn prune_batch(&mut self, before: Timestamp, at_most: u32) -> Result<PruneCounts> {
        self.delete_old_rows(before, at_most)
    }

    fn trim_changes(&mut self, keep: u32) -> Result<()> {
        self.delete_oldest_changes(keep)
    }

    fn checkpoint(&mut self, tidying: CheckpointMode) -> Result<bool> {
        let log = fs::metadata(append_suffix(&self.path, WAL_SUFFIX)).map_or(0, |metadata| metadata.len());
        let how = match tidying {
            CheckpointMode::IfNeeded | CheckpointMode::BeforeExit if log < CHECKPOINT_THRESHOLD_BYTES => {
                return Ok(false);
            }
            // The log is reused from its start while a process has it open.
            CheckpointMode::IfNeeded => "PASSIVE",
            CheckpointMode::BeforeExit | CheckpointMode::Full => "TRUNCATE",
        };
        // Other readers and writers do not wait: then the next process runs the checkpoint.
        self.connection.busy_handler(None::<fn(i32) -> bool>)?;
        let tidied = self.checkpoint_log(how);
        self.connection.busy_handler(Some(wait_for_lock))?;
        self.lengths.set(FileLengths::measure(&self.path));
        Ok(tidied?)
    }

    fn dispatches(&mut self) -> &mut dyn DispatchTable {
        self
    }

    fn usage(&mut self) -> &mut dyn UsageTable {
        self
    }

    fn telemetry(&mut self) -> &mut dyn TelemetryTable {
        self
    }

    fn database_file(&self) -> Option<(&Path, u64)> {
        Some((&self.path, self.inode))
    }

    fn has_intact_files(&self) -> bool {
        read_inode(&self.path) == self.inode && self.has_original_log() && self.is_complete()
    }

    fn recover_removed_file(&mut self) -> Result<RemovedFile> {
        if read_inode(&self.path) != self.inode {
            return Ok(RemovedFile::Database);
        }
        if self.has_original_log() && !self.is_complete() {
            return self.restore_shortened();
        }
        if self.is_log_replaced_by_others() {
            return Ok(RemovedFile::ReplacedLog);
        }
        // Truncated as well, so that the shared index does not describe a log that is gone.
        if self.checkpoint_log("TRUNCATE")? || self.checkpoint_log("PASSIVE")? {
            return Ok(RemovedFile::SavedLog);
        }
        Err(StoreError::Locked)
    }
}

impl SqliteDatabase {
    fn run_transaction(
        &mut self,
        behavior: TransactionBehavior,
        work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>,
    ) -> Result<()> {
        let transaction = self.connection.transaction_with_behavior(behavior)?;
        work(&mut rows::SqliteTransaction { transaction: &transaction, data_version: &mut self.data_version })?;
        transaction.commit()?;
        Ok(())
    }

    /// Files that did not exist at the opening are not checked: other connections of this process may hold a removed
    /// one, and SQLite lets them share it.
    fn has_original_log(&self) -> bool {
        let parts = [WAL_SUFFIX, SHM_SUFFIX].iter().zip(self.log);
        parts
            .filter(|(_, opened)| opened.is_some())
            .all(|(part, opened)| FileId::from_path(&append_suffix(&self.path, part)) == opened)
    }

    /// Whether other processes have started a log in the place of the removed one: it has content, or an index of its
    /// own.
    fn is_log_replaced_by_others(&self) -> bool {
        let has_content = fs::metadata(append_suffix(&self.path, WAL_SUFFIX)).is_ok_and(|metadata| metadata.len() > 0);
        let index = FileId::from_path(&append_suffix(&self.path, SHM_SUFFIX));
        has_content || (index.is_some() && index != self.log[1])
    }

    /// Copies the log into the database. Returns whether all of it is there now; not if other connections prevent it.
    fn checkpoint_log(&self, how: &str) -> rusqlite::Result<bool> {
        let sql = format!("PRAGMA wal_checkpoint({how})");
        let folded = self.connection.query_row(&sql, [], |row| {
            let (busy, frames, copied): (i64, i64, i64) = FromColumns::from_row(row)?;
            Ok(busy == 0 && frames == copied)
        });
        folded.or_else(|error| if is_lock_error(&error) { Ok(false) } else { Err(error) })
    }
}

/// Checks that SQLite opens only regular files: it would wait for a FIFO, and read a device without end.
///
/// SQLite opens them by name, so something else could take their place after this check. But that needs write access to
/// the directory, which is enough to replace the database itself.
fn check_files(path: &Path) -> Result<()> {
    for part in ["", WAL_SUFFIX, SHM_SUFFIX, JOURNAL_SUFFIX] {
        let path = append_suffix(path, part);
        check_regular_file(&path).map_err(|error| to_file_error(&path, error))?;
    }
    Ok(())
}

/// A read-only connection. It creates no log if there is none.
fn connect_read_only(path: &Path) -> Result<Connection> {
    fs::metadata(path).map_err(|error| to_file_error(path, error))?;
    check_files(path)?;
    let log = append_suffix(path, WAL_SUFFIX);
    let mut address = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => address.push(char::from(*byte)),
            other => address.push_str(&format!("%{other:02x}")),
        }
    }
    if !log.exists() {
        address.push_str("?immutable=1");
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(address, flags)?;
    connection.busy_handler(Some(wait_for_lock))?;
    Ok(connection)
}

fn connect_read_write(path: &Path) -> Result<Connection> {
    check_files(path)?;
    // Created here rather than by SQLite, so that other users can never read it.
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = path.parent().unwrap_or(Path::new("/"));
            DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(directory)
                .and_then(|()| RegularFile::open(path, FileAccess::Write))
                .map_err(|error| to_file_error(path, error))?;
        }
        Err(error) => return Err(to_file_error(path, error)),
    }
    let metadata = fs::metadata(path).map_err(|error| to_file_error(path, error))?;
    let own = rustix::process::geteuid().as_raw();
    if metadata.uid() != own && own != 0 {
        // In a directory that all users may write to, the file's owner could read everything in it.
        let foreign = io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user");
        return Err(to_file_error(path, foreign));
    }
    if metadata.mode() & 0o077 != 0 {
        // Another user's file stays as it is, and may not be usable.
        let _ = fs::set_permissions(path, Permissions::from_mode(0o600));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_for_lock))?;
    // The last process to close would run a checkpoint, and its agent would wait for that.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise statements whose plan depends on a value are prepared again for every value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Waits for a lock: short pauses first, because most locks are short, then longer ones.
fn wait_for_lock(attempt: i32) -> bool {
    let pause = match attempt {
        0..20 => Duration::from_micros(100),
        _ => Duration::from_micros(900),
    };
    std::thread::sleep(pause);
    attempt < MAX_LOCK_ATTEMPTS
}

/// The lock for creating, migrating or moving the file.
fn lock_database(path: &Path) -> Result<fs::File> {
    let path = append_suffix(path, ".lock");
    let file = RegularFile::open(&path, FileAccess::Write).map_err(|error| to_file_error(&path, error))?;
    let file = file.into_file();
    for attempt in 0.. {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK | Errno::INTR) if wait_for_lock(attempt) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Err(StoreError::Locked),
            Err(error) => return Err(to_file_error(&path, error.into())),
        }
    }
    Ok(file)
}

fn read_inode(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.ino())
}

fn append_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn to_file_error(path: &Path, source: io::Error) -> StoreError {
    StoreError::File { path: path.to_owned(), source }
}

fn is_lock_error(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        // The SQL text does not help users, and may be long.
        let error = match error {
            rusqlite::Error::SqlInputError { msg, .. } => return Self::Database(msg),
            other => other,
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error.to_string()),
            Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure) => Self::Disk(error.to_string()),
            Some(ErrorCode::ConstraintViolation | ErrorCode::TooBig | ErrorCode::TypeMismatch) => {
                Self::Refused(error.to_string())
            }
            _ => Self::Database(error.to_string()),
        }
    }
}
