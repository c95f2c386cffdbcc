//! A directory of items that wait on disk until another process, or a later one, has taken them.
//!
//! | configuration | on disk | an item is | order | who takes it |
//! |---|---|---|---|---|
//! | [`PendingQueue`](super::pending::PendingQueue) | `pending/` | a file, written in place | by time | its writer; any process once that is gone |
//! | [`EventSpool`](super::spool::EventSpool) | `handed/` | a line of one of a few shared files | as appended | the holder of the file's lock |
//! | [`Outbox`](super::outbox::Outbox) | `outbox/` | a file, complete from the first moment | by number | the holder of the delivery lock |
//!
//! An item that cannot be read is moved to `unreadable/`, where users can inspect it and it blocks no other.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, test_kill_process};
use serde::de::DeserializeOwned;
use snell::{Timestamp, is_file_kind_error, read_file};

use crate::record::json;

/// The directory of items that cannot be read, in the data directory.
const UNREADABLE_DIR: &str = "unreadable";

/// The limits of a queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimits {
    /// The number of items.
    pub(crate) items: usize,
    /// The bytes of one item. A larger file is not an item.
    pub(crate) item_bytes: u64,
}

/// One queue of a data directory.
#[derive(Clone, Debug)]
pub(crate) struct DurableQueue {
    data_dir: PathBuf,
    directory: PathBuf,
    pub(crate) limits: QueueLimits,
}

/// The content of one item's file.
#[derive(Debug)]
pub(crate) enum QueueItem<T> {
    Ready(T),
    /// Another process has taken it.
    Gone,
    /// It is not an item, or incomplete.
    Damaged(serde_json::Error),
    /// It was not a file, or too large, and is now in `unreadable/`.
    SetAside(PathBuf, String),
}

impl DurableQueue {
    pub(crate) fn new(data_dir: &Path, name: &str, limits: QueueLimits) -> Self {
        Self { data_dir: data_dir.to_owned(), directory: data_dir.join(name), limits }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The path of the item of this name.
    pub(crate) fn item_path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Writes a new file that only its owner can read. A failed write leaves no file.
    pub(crate) fn write_file(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.item_path(name);
        write_private_file(&path, bytes)
            .or_else(|error| match error.kind() {
                ErrorKind::NotFound => {
                    create_private_dir(&self.directory)?;
                    write_private_file(&path, bytes)
                }
                _ => Err(error),
            })
            .map(|()| path)
    }

    /// Whether there is no item. Every event asks this, so it must be cheap.
    pub(crate) fn is_empty(&self) -> bool {
        fs::read_dir(&self.directory).map_or(true, |mut entries| entries.next().is_none())
    }

    /// The paths of everything in the directory, in no order, if there are no more than so many.
    pub(crate) fn list_at_most(&self, at_most: usize) -> Option<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let paths: Vec<_> = entries.take(at_most.saturating_add(1)).map(|entry| entry.path()).collect();
        (paths.len() <= at_most).then_some(paths)
    }

    /// The paths of everything in the directory, in no order.
    pub(crate) fn list(&self) -> Vec<PathBuf> {
        self.list_at_most(usize::MAX).unwrap_or_default()
    }

    /// Reads an item. Anything but a regular file of limited size is set aside.
    pub(crate) fn read<T: DeserializeOwned>(&self, path: &Path) -> io::Result<QueueItem<T>> {
        match read_file(path, self.limits.item_bytes) {
            Ok(text) => Ok(json::parse_stored_json(&text).map_or_else(QueueItem::Damaged, QueueItem::Ready)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(QueueItem::Gone),
            Err(error) if is_file_kind_error(&error) || error.kind() == ErrorKind::FileTooLarge => {
                self.set_aside(path).map(|aside| QueueItem::SetAside(aside, error.to_string()))
            }
            Err(error) => Err(error),
        }
    }

    /// The directory for items that cannot be read.
    pub(crate) fn unreadable_dir(data_dir: &Path) -> PathBuf {
        data_dir.join(UNREADABLE_DIR)
    }

    /// Moves an item to `unreadable/`, and returns its new path.
    pub(crate) fn set_aside(&self, path: &Path) -> io::Result<PathBuf> {
        let aside = Self::unreadable_dir(&self.data_dir).join(path.file_name().unwrap_or_default());
        create_private_dir(&Self::unreadable_dir(&self.data_dir))?;
        fs::rename(path, &aside).map(|()| aside)
    }

    /// Saves bytes of a file that cannot be read in `unreadable/`, and returns their path.
    pub(crate) fn set_bytes_aside(&self, origin: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        let name = origin.file_name().unwrap_or_default().to_string_lossy();
        let time = Timestamp::now().as_nanosecond();
        let unreadable = Self::new(&self.data_dir, UNREADABLE_DIR, self.limits);
        unreadable.write_file(&format!("{time:020}-{name}"), bytes)
    }
}

/// Makes a directory that only its owner can use, unless it exists.
pub(crate) fn create_private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes).inspect_err(|_| drop(fs::remove_file(path)))
}

/// A field of a file's name; dashes separate the fields.
pub(crate) fn name_field(path: &Path, place: usize) -> Option<&str> {
    path.file_name()?.to_str()?.split('-').nth(place)
}

/// Whether the process with the id in this field of a file's name is alive.
pub(crate) fn is_process_alive(path: &Path, place: usize) -> bool {
    let pid = name_field(path, place).and_then(|pid| pid.parse().ok());
    pid.and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid).is_ok())
}

/// The time since a file was last written.
pub(crate) fn file_age(path: &Path) -> Option<Duration> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    SystemTime::now().duration_since(modified).ok()
}
