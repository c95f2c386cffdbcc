//! The directory of the store as it lies on disk: how large, what was set aside, who else can read it.

use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation, access, flock};
use serde::Serialize;
use snell::{FileAccess, RegularFile, Timestamp, check_regular_file};

use crate::notes::Notes;
use crate::recorder::Recorder;
use crate::scribe;

/// What can be said of the store's directory without opening the database.
#[derive(Clone, Debug, Default)]
pub struct Premises {
    /// How large the database is, with its log.
    pub database_bytes: u64,
    /// How much room is left on the disk; nothing if that cannot be known.
    pub free_bytes: Option<u64>,
    /// Databases that were moved aside because they were damaged, the latest first.
    pub set_aside: Vec<SetAside>,
    /// Events that waited to be stored and could not be understood.
    pub unreadable_notes: Vec<PathBuf>,
    /// Files of ours in whose place something else is.
    pub misplaced: Vec<MisplacedFile>,
    /// The directory and the files in it that others may read or write.
    pub open_to_others: Vec<PathBuf>,
    /// Whether the directory is there and cannot be written.
    pub is_read_only: bool,
    /// Whether a scribe is at work.
    pub scribe_is_running: bool,
}

/// A database that was moved aside because it was damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SetAside {
    /// Where it is now.
    pub path: PathBuf,
    /// When it was last written.
    pub written_at: Timestamp,
    /// How large it is, with its log.
    pub bytes: u64,
}

/// Something in the place of a file of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MisplacedFile {
    /// Where it is.
    pub path: PathBuf,
    /// What it is.
    pub what: String,
}

/// How the names of our own files begin.
const FILES: &[&str] = &[
    "snell.db",
    "snell.sock.",
    "scribe.lock",
    "scribe.trouble",
    "trust.",
    "background.",
];

/// Our own sockets.
const SOCKETS: &[&str] = &["scribe.sock", "snell.sock"];

/// Our own directories, which hold nothing but files.
const DIRECTORIES: &[&str] = &[
    "pending",
    "handed",
    "outbox",
    "outbox/refused",
    "told",
    "installed",
    "waking",
];

/// What belongs to one database, each with the database's own name before it.
const PARTS: &[&str] = &["", "-wal", "-shm"];

impl Premises {
    /// Looks at a directory. What cannot be seen counts as not there.
    pub fn look(directory: &Path) -> Self {
        let database = Recorder::database_in(directory);
        Self {
            database_bytes: size(&database),
            free_bytes: rustix::fs::statvfs(directory)
                .ok()
                .map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize)),
            set_aside: set_aside(&database),
            unreadable_notes: entries(&Notes::unreadable_beside(directory)),
            misplaced: misplaced(directory),
            open_to_others: open_to_others(directory),
            is_read_only: directory.exists() && access(directory, Access::WRITE_OK).is_err(),
            scribe_is_running: scribe_is_running(directory),
        }
    }
}

fn size(database: &Path) -> u64 {
    let part = |suffix: &&str| {
        let mut path = database.as_os_str().to_owned();
        path.push(suffix);
        fs::metadata(path).map_or(0, |found| found.len())
    };
    PARTS.iter().map(part).sum()
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Everything that cannot be used in the place of a file, a socket or a directory of ours.
fn misplaced(directory: &Path) -> Vec<MisplacedFile> {
    let not = |path: PathBuf, expected: &str| MisplacedFile {
        path,
        what: format!("it is not a {expected}"),
    };
    let is_file = |name: &str| FILES.iter().any(|known| name.starts_with(known));
    let mut files = entries(directory);
    files.retain(|path| is_file(name_of(path)));
    let mut found = Vec::new();
    for name in SOCKETS {
        let path = directory.join(name);
        let is_other = fs::symlink_metadata(&path).is_ok_and(|metadata| !metadata.file_type().is_socket());
        found.extend(is_other.then(|| not(path, "socket")));
    }
    for name in DIRECTORIES {
        let path = directory.join(name);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_dir() => files.extend(other_entries(&path)),
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

/// The entries of a directory that do not say that they are files.
fn other_entries(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let others = entries.filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_file()));
    others.map(|entry| entry.path()).collect()
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn set_aside(database: &Path) -> Vec<SetAside> {
    let prefix = format!("{}.damaged-", name_of(database));
    let is_whole = |name: &str| !PARTS.iter().any(|part| !part.is_empty() && name.ends_with(part));
    let found = entries(database.parent().unwrap_or(Path::new("/")))
        .into_iter()
        .filter_map(|path| {
            let name = name_of(&path);
            let written = fs::metadata(&path).and_then(|metadata| metadata.modified()).ok()?;
            (name.starts_with(&prefix) && is_whole(name)).then(|| SetAside {
                bytes: size(&path),
                written_at: Timestamp::try_from(written).unwrap_or_default(),
                path,
            })
        });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|aside| std::cmp::Reverse(aside.written_at));
    found
}

/// A closed directory keeps others from everything in it, and one without a database has nothing to hide.
fn open_to_others(directory: &Path) -> Vec<PathBuf> {
    let is_open = |path: &Path| fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0);
    if !is_open(directory) || !Recorder::database_in(directory).exists() {
        return Vec::new();
    }
    let files = entries(directory)
        .into_iter()
        .filter(|path| path.is_file() && is_open(path));
    std::iter::once(directory.to_owned()).chain(files).collect()
}

/// Whoever holds the lock is at work. Asking for it shared takes it from nobody.
fn scribe_is_running(directory: &Path) -> bool {
    let lock = RegularFile::open(&scribe::lock_in(directory), FileAccess::Read).map(RegularFile::into_file);
    lock.is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockShared) == Err(rustix::io::Errno::WOULDBLOCK))
}
