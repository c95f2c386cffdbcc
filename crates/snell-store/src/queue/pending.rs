//! Events that wait on disk to be stored: because their process is about to answer and may be killed before it records
//! them, or because the database could not be written.
//!
//! Each event is one file. The next process that writes to the database stores them; each event has an id, so storing
//! it twice has no effect. An incomplete file belongs to a process that ended before it answered its agent.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::queue::durable_queue::{DurableQueue, QueueItem, QueueLimits, file_age, is_process_alive};
use crate::record::masked_record::MaskedRecord;

/// More events are not kept: a database that cannot be written for so long needs a person. A larger file is no event,
/// because records are truncated long before.
pub(crate) const EVENT_LIMITS: QueueLimits = QueueLimits { items: 20_000, item_bytes: 80 * 1024 * 1024 };

/// A live process stores its own file, for as long as a hook may run. After this time its process id may belong to
/// another process.
const MAX_HOOK_DURATION: Duration = Duration::from_secs(24 * 60 * 60);

/// A file that is incomplete after this time stays so.
const UNFINISHED_TIMEOUT: Duration = Duration::from_secs(5);

/// The fields of a file's name with the process that stores the event, and the process that wrote it.
const OWNER_FIELD: usize = 1;
const WRITER_FIELD: usize = 2;

/// The events that wait to be stored.
#[derive(Clone, Debug)]
pub struct PendingQueue {
    queue: DurableQueue,
}

/// The process that is to store a pending event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingClaim {
    /// The process that wrote it, while it lives.
    Owner,
    /// The next process that writes to the database.
    Anyone,
}

/// The content of a pending file.
#[derive(Debug)]
pub(crate) enum PendingFile {
    /// An event that can be stored.
    Ready(PendingEvent, Box<MaskedRecord>),
    /// No event, or one that its own process stores or still writes.
    Skipped,
    /// Something that can never be stored, its new path, and the reason.
    SetAside(PathBuf, String),
}

/// The file of a pending event.
#[derive(Debug)]
pub struct PendingEvent {
    path: PathBuf,
}

impl PendingQueue {
    /// The pending events in this data directory.
    pub fn in_data_dir(data_directory: &Path) -> Self {
        Self { queue: DurableQueue::new(data_directory, "pending", EVENT_LIMITS) }
    }

    /// Writes an event to disk.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn push(&self, record: &MaskedRecord, claim: PendingClaim) -> io::Result<PendingEvent> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let writer = std::process::id();
        let owner = match claim {
            PendingClaim::Owner => writer,
            PendingClaim::Anyone => 0,
        };
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{:020}-{owner}-{writer}-{count}.json", record.at.as_nanosecond());
        self.queue.write_file(&name, &serde_json::to_vec(record)?).map(|path| PendingEvent { path })
    }

    /// Whether there are no pending events.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The number of pending events.
    pub fn count(&self) -> usize {
        self.list_paths().len()
    }

    /// The age of the oldest one.
    pub fn oldest_age(&self) -> Option<Duration> {
        file_age(self.list_paths().first()?)
    }

    /// Whether there is room for another one.
    pub fn has_room(&self) -> bool {
        self.is_empty() || self.count() < self.queue.limits.items
    }

    /// The paths of the pending files, the oldest first, if there are no more than so many. Listing more takes too long
    /// for a process that an agent waits for.
    pub(crate) fn list_paths_if_few(&self, at_most: usize) -> Option<Vec<PathBuf>> {
        self.queue.list_at_most(at_most).map(sort_event_files)
    }

    /// The paths of all pending files, the oldest first.
    pub(crate) fn list_paths(&self) -> Vec<PathBuf> {
        sort_event_files(self.queue.list())
    }

    /// All events that any process may store, the oldest first.
    pub fn load_all(&self) -> Vec<(PendingEvent, MaskedRecord)> {
        let ready = |path| match self.load(path) {
            PendingFile::Ready(file, record) => Some((file, *record)),
            PendingFile::Skipped | PendingFile::SetAside(..) => None,
        };
        self.list_paths().into_iter().filter_map(ready).collect()
    }

    /// The event in this file, unless its own process stores it. A file that cannot be read is set aside.
    pub(crate) fn load(&self, path: PathBuf) -> PendingFile {
        let is_younger_than = |limit: Duration| file_age(&path).is_some_and(|age| age < limit);
        if is_process_alive(&path, OWNER_FIELD) && is_younger_than(MAX_HOOK_DURATION) {
            return PendingFile::Skipped;
        }
        let set_aside = |why: String| match self.queue.set_aside(&path) {
            Ok(aside) => PendingFile::SetAside(aside, why),
            Err(_) => PendingFile::Skipped,
        };
        match self.queue.read::<MaskedRecord>(&path) {
            Ok(QueueItem::Ready(mut record)) => {
                // Newer events may be stored already.
                record.mark_delayed();
                PendingFile::Ready(PendingEvent { path }, Box::new(record))
            }
            // Its process may still write it.
            Ok(QueueItem::Damaged(_))
                if is_younger_than(UNFINISHED_TIMEOUT) && is_process_alive(&path, WRITER_FIELD) =>
            {
                PendingFile::Skipped
            }
            // Its process ended before it answered its agent.
            Ok(QueueItem::Damaged(error)) if error.is_eof() => {
                let _ = fs::remove_file(&path);
                PendingFile::Skipped
            }
            Ok(QueueItem::Damaged(error)) => set_aside(error.to_string()),
            Ok(QueueItem::SetAside(aside, why)) => PendingFile::SetAside(aside, why),
            Ok(QueueItem::Gone) | Err(_) => PendingFile::Skipped,
        }
    }

    /// Removes the file of this name: its event is stored.
    pub fn remove(&self, name: &OsStr) {
        // Only a name, so that a request cannot remove another file.
        if Path::new(name).components().count() == 1 {
            let _ = fs::remove_file(self.queue.directory().join(name));
        }
    }

    /// Sets an event aside that the database rejects.
    pub(crate) fn reject(&self, file: PendingEvent) {
        let _ = self.queue.set_aside(&file.path);
    }
}

impl PendingEvent {
    /// The name of its file.
    pub fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Leaves the event to the next process that writes to the database.
    pub fn release(self) {
        let mut parts: Vec<_> = self.name().to_str().unwrap_or_default().split('-').collect();
        if let Some(owner) = parts.get_mut(OWNER_FIELD) {
            *owner = "0";
            // If it keeps its name, it waits until this process ends.
            let _ = fs::rename(&self.path, self.path.with_file_name(parts.join("-")));
        }
    }

    /// Removes the file: its event is stored.
    pub fn remove(self) {
        // If it stays, storing the event again has no effect.
        let _ = fs::remove_file(&self.path);
    }
}

/// The paths of events among these, the oldest first.
fn sort_event_files(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    // All are in one directory, so comparing bytes is enough, and much faster than comparing components.
    paths.sort_unstable_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    paths
}
