//! The store's directory on disk: its size, damaged databases, and permissions.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, access, flock};
use serde::Serialize;
use snell::{FileAccess, RegularFile, Timestamp, check_regular_file};

use crate::daemon;
use crate::queue::durable_queue::DurableQueue;
use crate::queue::recorder::EventRecorder;

/// The properties of the store's directory that are known without opening the database.
#[derive(Clone, Debug, Default)]
pub struct DataDirReport {
    /// The size of the database with its log.
    pub database_bytes: u64,
    /// The free space on the disk; nothing if unknown.
    pub free_bytes: Option<u64>,
    /// Databases that were moved aside because they were damaged, the latest first.
    pub set_aside: Vec<DamagedDatabase>,
    /// Pending events that could not be read.
    pub unreadable_events: Vec<PathBuf>,
    /// Paths of Snell's files with something else in their place.
    pub misplaced: Vec<MisplacedFile>,
    /// The directory and its files that other users may read or write.
    pub open_to_others: Vec<PathBuf>,
    /// Whether the directory exists and cannot be written.
    pub is_read_only: bool,
    /// Whether a daemon runs.
    pub daemon_is_running: bool,
}

/// A database that was moved aside because it was damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedDatabase {
    /// Where it is now.
    pub path: PathBuf,
    /// When it was last written.
    pub written_at: Timestamp,
    /// Its size with its log.
    pub bytes: u64,
}

/// Something else in the place of one of Snell's files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MisplacedFile {
    /// Its path.
    pub path: PathBuf,
    /// Its type, such as a directory.
    pub what: String,
}

/// The prefixes of the names of Snell's files.
const FILE_PREFIXES: &[&str] = &[
    "snell.db",
    "snell.sock.",
    "scribe.lock",
    "scribe.trouble",
    "trust.",
    "background.",
    "watchers.lock",
    "answers.key",
    "tokens.json",
];

/// Snell's sockets.
const SOCKETS: &[&str] = &["scribe.sock", "snell.sock"];

/// Snell's directories, which contain only files.
const DIRECTORIES: &[&str] =
    &["pending", "handed", "outbox", "outbox/refused", "told", "noted", "installed", "waking", "guard-sessions"];

/// The suffixes of the files of one database.
const DATABASE_SUFFIXES: &[&str] = &["", "-wal", "-shm"];

impl DataDirReport {
    /// Inspects a directory. Paths that cannot be read count as missing.
    pub fn inspect(directory: &Path) -> Self {
        let database = EventRecorder::database_path(directory);
        Self {
            database_bytes: measure_database(&database),
            free_bytes: rustix::fs::statvfs(directory).ok().map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)),
            set_aside: find_damaged_databases(&database),
            unreadable_events: list_paths(&DurableQueue::unreadable_dir(directory)),
            misplaced: find_misplaced_files(directory),
            open_to_others: find_exposed_paths(directory),
            is_read_only: directory.exists() && access(directory, Access::WRITE_OK).is_err(),
            daemon_is_running: is_daemon_running(directory),
        }
    }
}

fn measure_database(database: &Path) -> u64 {
    let part = |suffix: &&str| {
        let mut path = database.as_os_str().to_owned();
        path.push(suffix);
        fs::metadata(path).map_or(0, |found| found.len())
    };
    DATABASE_SUFFIXES.iter().map(part).sum()
}

fn list_paths(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Everything in the place of Snell's files, sockets and directories that cannot be used as such.
fn find_misplaced_files(directory: &Path) -> Vec<MisplacedFile> {
    let not = |path: PathBuf, expected: &str| MisplacedFile { path, what: format!("it is not a {expected}") };
    let is_file = |name: &str| FILE_PREFIXES.iter().any(|known| name.starts_with(known));
    let mut files = list_paths(directory);
    files.retain(|path| is_file(get_file_name(path)));
    let mut found = Vec::new();
    for name in SOCKETS {
        let path = directory.join(name);
        let is_other = fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.file_type().is_socket());
        found.extend(is_other.then(|| not(path, "socket")));
    }
    for name in DIRECTORIES {
        let path = directory.join(name);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => files.extend(list_non_files(&path)),
            Err(_) if fs::symlink_metadata(&path).is_err() => {}
            Ok(_) | Err(_) => found.push(not(path, "directory")),
        }
    }
    files.retain(|path| *path != directory.join("outbox/refused"));
    found.extend(files.into_iter().filter_map(|path| {
        let what = check_regular_file(&path).err()?.to_string();
        Some(MisplacedFile { path, what })
    }));
    found
}

/// The entries of a directory that are not files by their type.
fn list_non_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_file()));
    others.map(|entry| entry.path()).collect()
}

fn get_file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn find_damaged_databases(database: &Path) -> Vec<DamagedDatabase> {
    let prefix = format!("{}.damaged-", get_file_name(database));
    let is_whole = |name: &str| !DATABASE_SUFFIXES.iter().any(|part| !part.is_empty() && name.ends_with(part));
    let found = list_paths(database.parent().unwrap_or(Path::new("/"))).into_iter().filter_map(|path| {
        let name = get_file_name(&path);
        let written = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok()?;
        (name.starts_with(&prefix) && is_whole(name)).then(|| DamagedDatabase {
            bytes: measure_database(&path),
            written_at: Timestamp::try_from(written).unwrap_or_default(),
            path,
        })
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|aside| std::cmp::Reverse(aside.written_at));
    found
}

/// A private directory protects everything in it, and a directory without a database has nothing to protect.
fn find_exposed_paths(directory: &Path) -> Vec<PathBuf> {
    let is_open = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0);
    if !is_open(directory) || !EventRecorder::database_path(directory).exists() {
        return Vec::new();
    }
    let files = list_paths(directory).into_iter().filter(|path| path.is_file() && is_open(path));
    std::iter::once(directory.to_owned()).chain(files).collect()
}

/// The daemon holds the lock while it runs. Asking for a shared lock takes it from no process.
fn is_daemon_running(directory: &Path) -> bool {
    let lock = RegularFile::open(&daemon::lock_path(directory), FileAccess::Read).map(RegularFile::into_file);
    lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK))
}
