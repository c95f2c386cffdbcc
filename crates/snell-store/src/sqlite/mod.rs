//! The embedded database: one file, which many short processes and one server write at once.

mod agent_rows;
mod calls;
mod conversation_rows;
mod length;
mod log;
mod prune;
mod query;
mod room;
mod rows;
mod search;
mod sessions;
mod sightings;
mod sums;
mod timeline;
mod watching;
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

use self::length::FileLengths;
use crate::backend::{Backend, RemovedFile, Tidying};
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::transcript::FileId;

/// Every change to the schema, in order. The database's `user_version` says how many it has had.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/001-what-happened.sql"),
    include_str!("migrations/002-changes.sql"),
    include_str!("migrations/003-lifecycle.sql"),
    include_str!("migrations/004-sums.sql"),
    include_str!("migrations/005-beside-events.sql"),
    include_str!("migrations/006-what-was-told.sql"),
];

/// How often a process asks for the lock before it gives up, and how long it waits between: about half a second.
const ATTEMPTS: i32 = 600;

/// How a database begins.
const HEADER: &[u8; 16] = b"SQLite format 3\0";

/// Beyond this the write-ahead log is folded into the database: each process that comes alone reads all of it.
const LONG_LOG_BYTES: u64 = 512 * 1024;

/// An open database.
#[derive(Debug)]
pub(crate) struct Sqlite {
    connection: Connection,
    path: PathBuf,
    /// Which file was opened: the one at this path may be another by now.
    inode: u64,
    /// Which write-ahead log and which index of it were opened, if any.
    log: [Option<FileId>; 2],
    /// How long the database and its log were when they were last looked at.
    lengths: Cell<FileLengths>,
    /// By which commits of others are told.
    data_version: i64,
}

/// What SQLite opens beside a database, each with the database's own name before it.
const LOG: &str = "-wal";
const LOG_INDEX: &str = "-shm";
const JOURNAL: &str = "-journal";

impl Sqlite {
    /// Opens the database, and makes it if it is not there.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Self::open_here(path).map_err(|error| room::if_missing(path, error))
    }

    fn open_here(path: &Path) -> Result<Self> {
        let connection = connect(path)?;
        let mut database = Self {
            connection,
            path: path.to_owned(),
            inode: inode(path),
            log: [None; 2],
            lengths: Cell::default(),
            data_version: 0,
        };
        if database.is_outdated()? {
            database.migrate()?;
        }
        // The version was read, so by now the log is open.
        database.log = [LOG, LOG_INDEX].map(|part| FileId::at(&with_suffix(path, part)));
        database.lengths = Cell::new(FileLengths::at(path));
        // The log survives a killed process as it is. Only when the machine itself dies may the last moments be lost,
        // and then whole transactions, never parts.
        database.connection.pragma_update(None, "synchronous", "normal")?;
        // Folding the log in takes time that an agent would wait for; `tidy` does it when nobody waits.
        database.connection.pragma_update(None, "wal_autocheckpoint", 0)?;
        Ok(database)
    }

    /// Opens the database as it is, in order to look at it: nothing is made, brought up to date or moved.
    pub(crate) fn open_to_look(path: &Path) -> Result<Self> {
        let database = Self {
            connection: connect_to_look(path)?,
            path: path.to_owned(),
            inode: inode(path),
            log: [None; 2],
            lengths: Cell::default(),
            data_version: 0,
        };
        database.is_outdated()?;
        Ok(database)
    }

    /// Whether its schema is that of an earlier version.
    fn is_outdated(&self) -> Result<bool> {
        let version = self.version()?;
        let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
        if version > known {
            return Err(StoreError::TooNew { found: version, known });
        }
        Ok(version < known)
    }

    fn version(&self) -> Result<i64> {
        Ok(self.connection.query_row("PRAGMA user_version", [], |row| row.get(0))?)
    }

    /// Brings the schema up to date. Of several processes that find it out of date, one does it.
    fn migrate(&mut self) -> Result<()> {
        let _one_at_a_time = lock(&self.path)?;
        if self.version()? == 0 {
            self.connection.pragma_update(None, "auto_vacuum", "incremental")?;
            self.connection
                .pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        }
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let done = usize::try_from(version).unwrap_or(0);
        for (number, migration) in MIGRATIONS.iter().enumerate().skip(done) {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "user_version", i64::try_from(number + 1).unwrap_or(i64::MAX))?;
        }
        transaction.commit()?;
        Ok(())
    }

    /// Moves a damaged database out of the way, for somebody to look at. Answers its new path, unless another process
    /// was faster.
    pub(crate) fn set_aside(path: &Path, damaged: u64, now: Timestamp) -> Result<Option<PathBuf>> {
        let _one_at_a_time = lock(path)?;
        if inode(path) != damaged {
            return Ok(None);
        }
        let stamp = now.strftime("%Y%m%dT%H%M%S");
        let mut aside = with_suffix(path, &format!(".damaged-{stamp}"));
        for number in 2..100 {
            if !aside.exists() {
                break;
            }
            aside = with_suffix(path, &format!(".damaged-{stamp}-{number}"));
        }
        for part in [LOG, LOG_INDEX] {
            // The log belongs to the damaged file, and would damage a new one.
            match fs::rename(with_suffix(path, part), with_suffix(&aside, part)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(file_error(path, error)),
                _ => {}
            }
        }
        fs::rename(path, &aside).map_err(|error| file_error(path, error))?;
        Ok(Some(aside))
    }

    /// Whether what is at this path may be used as a database of ours: one that is ours, an empty file, or nothing at all.
    /// Nothing is touched, because somebody may have named the wrong file.
    pub(crate) fn may_use(path: &Path) -> Result<bool> {
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(file_error(path, error)),
        };
        if !metadata.is_file() || metadata.len() == 0 {
            return Ok(metadata.is_file());
        }
        let mut header = [0; HEADER.len()];
        let read = RegularFile::open(path, FileAccess::Read)
            .and_then(|file| io::Read::read_exact(&mut file.into_file(), &mut header));
        if read.is_err() || header != *HEADER {
            return Ok(false);
        }
        check_files(path)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        let sql = "SELECT count(*) FROM sqlite_master WHERE name IN ('agents', 'conversations', 'session_ids')";
        let ours: i64 = connection.query_row(sql, [], |row| row.get(0))?;
        Ok(ours == 3)
    }

    /// Which file is at this path now.
    pub(crate) fn inode_at(path: &Path) -> u64 {
        inode(path)
    }
}

impl Backend for Sqlite {
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        work(&mut rows::Within {
            transaction: &transaction,
            data_version: &mut self.data_version,
        })?;
        transaction.commit()?;
        Ok(())
    }

    fn look(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Deferred)?;
        work(&mut rows::Within {
            transaction: &transaction,
            data_version: &mut self.data_version,
        })?;
        // Nothing was written. Rolling back would make every prepared statement be prepared anew.
        transaction.commit()?;
        Ok(())
    }

    fn queries(&mut self) -> &mut dyn crate::backend::Queries {
        self
    }

    fn tidy(&mut self, tidying: Tidying) -> Result<bool> {
        let log = fs::metadata(with_suffix(&self.path, LOG)).map_or(0, |metadata| metadata.len());
        let how = match tidying {
            Tidying::IfNeeded | Tidying::BeforeLeaving if log < LONG_LOG_BYTES => return Ok(false),
            // The log is used again from its beginning, as long as somebody has it open.
            Tidying::IfNeeded => "PASSIVE",
            Tidying::BeforeLeaving | Tidying::Thorough => "TRUNCATE",
        };
        // Whoever reads or writes just now is not held up: then the next one tidies.
        self.connection.busy_handler(None::<fn(i32) -> bool>)?;
        let tidied = self.fold_log_in(how);
        self.connection.busy_handler(Some(wait_a_little))?;
        self.lengths.set(FileLengths::at(&self.path));
        Ok(tidied?)
    }

    fn file(&self) -> Option<(&Path, u64)> {
        Some((&self.path, self.inode))
    }

    fn is_in_place(&self) -> bool {
        inode(&self.path) == self.inode && self.is_log_in_place() && self.is_whole()
    }

    fn save_removed(&mut self) -> Result<RemovedFile> {
        if inode(&self.path) != self.inode {
            return Ok(RemovedFile::Database);
        }
        if self.is_log_in_place() && !self.is_whole() {
            return self.replace_shortened();
        }
        if self.is_log_in_use_by_others() {
            return Ok(RemovedFile::ReplacedLog);
        }
        // Emptied as well, so that the index which others share says nothing of a log that is gone.
        if self.fold_log_in("TRUNCATE")? || self.fold_log_in("PASSIVE")? {
            return Ok(RemovedFile::SavedLog);
        }
        Err(StoreError::Locked)
    }
}

impl Sqlite {
    /// A file that was not there when it was opened is not looked for: other connections of this process may hold one
    /// that was removed, and SQLite lets all of them share it.
    fn is_log_in_place(&self) -> bool {
        let parts = [LOG, LOG_INDEX].iter().zip(self.log);
        parts
            .filter(|(_, opened)| opened.is_some())
            .all(|(part, opened)| FileId::at(&with_suffix(&self.path, part)) == opened)
    }

    /// Whether other processes have begun a log beside the one that was removed: it has content, or an index of its own.
    fn is_log_in_use_by_others(&self) -> bool {
        let has_content = fs::metadata(with_suffix(&self.path, LOG)).is_ok_and(|metadata| metadata.len() > 0);
        let index = FileId::at(&with_suffix(&self.path, LOG_INDEX));
        has_content || (index.is_some() && index != self.log[1])
    }

    /// Copies the log into the database. Answers whether all of it is there now; not if others are in the way.
    fn fold_log_in(&self, how: &str) -> rusqlite::Result<bool> {
        let sql = format!("PRAGMA wal_checkpoint({how})");
        let folded = self.connection.query_row(&sql, [], |row| {
            let [busy, frames, copied] = [row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?];
            Ok(busy == 0 && frames == copied)
        });
        folded.or_else(|error| if is_locked(&error) { Ok(false) } else { Err(error) })
    }
}

/// Refuses to let SQLite open something else than files: it would wait for a FIFO, and read a device without end.
///
/// SQLite opens them by their names, so something else could take their place after this look. Whoever could put it there
/// can write to the directory, and so could replace the database as well.
fn check_files(path: &Path) -> Result<()> {
    for part in ["", LOG, LOG_INDEX, JOURNAL] {
        let path = with_suffix(path, part);
        check_regular_file(&path).map_err(|error| file_error(&path, error))?;
    }
    Ok(())
}

/// A connection that writes nothing. Where no log lies beside the database, nothing is laid beside it either.
fn connect_to_look(path: &Path) -> Result<Connection> {
    fs::metadata(path).map_err(|error| file_error(path, error))?;
    check_files(path)?;
    let log = with_suffix(path, LOG);
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
    connection.busy_handler(Some(wait_a_little))?;
    Ok(connection)
}

fn connect(path: &Path) -> Result<Connection> {
    check_files(path)?;
    // Made by us rather than by SQLite, so that nobody else can read it for even a moment.
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
                .map_err(|error| file_error(path, error))?;
        }
        Err(error) => return Err(file_error(path, error)),
    }
    let metadata = fs::metadata(path).map_err(|error| file_error(path, error))?;
    let own = rustix::process::geteuid().as_raw();
    if metadata.uid() != own && own != 0 {
        // It would be read by whoever put it there, in a directory that anybody may write to.
        let foreign = io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to somebody else");
        return Err(file_error(path, foreign));
    }
    if metadata.mode() & 0o077 != 0 {
        // Somebody else's file stays as it is; whether it can be used will be seen.
        let _ = fs::set_permissions(path, Permissions::from_mode(0o600));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_handler(Some(wait_a_little))?;
    // The process that is the last to close would fold the log in, and its agent would wait for that.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    // Otherwise a statement whose plan may depend on a value is prepared anew for every value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(connection)
}

/// Waits for a lock: first a moment, for that is how long others hold it, then longer.
fn wait_a_little(attempt: i32) -> bool {
    let pause = match attempt {
        0..20 => Duration::from_micros(100),
        _ => Duration::from_micros(900),
    };
    std::thread::sleep(pause);
    attempt < ATTEMPTS
}

/// Held while the file itself is made, changed in form, or moved away.
fn lock(path: &Path) -> Result<fs::File> {
    let path = with_suffix(path, ".lock");
    let file = RegularFile::open(&path, FileAccess::Write).map_err(|error| file_error(&path, error))?;
    let file = file.into_file();
    for attempt in 0.. {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK | Errno::INTR) if wait_a_little(attempt) => {}
            Err(Errno::WOULDBLOCK | Errno::INTR) => return Err(StoreError::Locked),
            Err(error) => return Err(file_error(&path, error.into())),
        }
    }
    Ok(file)
}

fn inode(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.ino())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn file_error(path: &Path, source: io::Error) -> StoreError {
    StoreError::File {
        path: path.to_owned(),
        source,
    }
}

fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        // What was asked is no news to anybody, and may be long.
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
