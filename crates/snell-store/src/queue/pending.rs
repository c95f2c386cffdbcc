//! Observations that wait on disk to be stored: because their process is about to answer and may be killed before it
//! records, or because the database could not be written.
//!
//! One file each. Whoever writes to the database next takes them in; each has an id, so that taking one in twice stores it
//! once. A note that was not finished belongs to a process that was ended before it had answered anybody.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, test_kill_process};
use snell::{is_file_kind_error, read_file};

use crate::record::event_record::EventRecord;
use crate::record::json;

/// More are not kept: a database that cannot be written for so long needs a person.
const MAX_PENDING_EVENTS: usize = 20_000;

/// A larger file is no observation: what is kept of an event is cut long before.
pub(crate) const MAX_EVENT_BYTES: u64 = 80 * 1024 * 1024;

/// A note of a process that still lives is its own to record, for as long as a hook may take. A number that old may have
/// been given to another process.
const MAX_HOOK_DURATION: Duration = Duration::from_secs(24 * 60 * 60);

/// A note that is not finished after so long will not be.
const UNFINISHED_TIMEOUT: Duration = Duration::from_secs(5);

/// The directory of what waits.
#[derive(Clone, Debug)]
pub struct PendingQueue {
    directory: PathBuf,
}

/// Who is to store a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingClaim {
    /// The process that wrote it, while it lives.
    Owner,
    /// Whoever writes to the database next.
    Anyone,
}

/// What was found under the name of a note.
#[derive(Debug)]
pub(crate) enum PendingFile {
    /// A note that can be stored.
    Ready(Box<PendingEvent>),
    /// Nothing, or a note that its own process stores or still writes.
    Skipped,
    /// Something that will never be stored, moved there for this reason.
    SetAside(PathBuf, String),
}

/// One note.
#[derive(Debug)]
pub struct PendingEvent {
    path: PathBuf,
    /// What waits to be stored.
    pub observation: EventRecord,
}

impl PendingQueue {
    /// What waits for the database in this directory.
    pub fn in_data_dir(data_directory: &Path) -> Self {
        Self { directory: data_directory.join("pending") }
    }

    /// Writes an observation down.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn push(&self, observation: &EventRecord, waits_for: PendingClaim) -> io::Result<PendingEvent> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let time = observation.at.as_nanosecond();
        let owner = match waits_for {
            PendingClaim::Owner => std::process::id(),
            PendingClaim::Anyone => 0,
        };
        let [own, count] = [std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)];
        let name = format!("{time:020}-{owner}-{own}-{count}");
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let kept = EventRecord { delayed: true, ..observation.clone().into_sanitized() };
        let path = self.directory.join(format!("{name}.json"));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .and_then(|mut file| file.write_all(serde_json::to_string(&kept)?.as_bytes()));
        if written.is_err() {
            let _ = fs::remove_file(&path);
        }
        written.map(|()| PendingEvent { path, observation: kept })
    }

    /// Whether anything waits. This is asked for every event, so it must cost nothing when nothing does.
    pub fn is_empty(&self) -> bool {
        fs::read_dir(&self.directory).map_or(true, |mut entries| entries.next().is_none())
    }

    /// How many wait.
    pub fn count(&self) -> usize {
        self.list_paths().len()
    }

    /// How long the oldest one has been waiting.
    pub fn oldest_age(&self) -> Option<Duration> {
        get_file_age(self.list_paths().first()?)
    }

    /// Whether there is room for another one.
    pub fn has_room(&self) -> bool {
        self.is_empty() || self.list_paths().len() < MAX_PENDING_EVENTS
    }

    /// The names of what waits, the oldest first, if there are no more than so many. Of more, nobody has the time to make
    /// a list.
    pub(crate) fn list_paths_if_few(&self, at_most: usize) -> Option<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.directory).ok()?;
        let some: Vec<_> = entries.flatten().take(at_most + 1).map(|entry| entry.path()).collect();
        (some.len() <= at_most).then(|| filter_event_files(some))
    }

    /// The names of all that waits, the oldest first.
    pub(crate) fn list_paths(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        filter_event_files(entries.map(|entry| entry.path()).collect())
    }

    /// All that waits, the oldest first.
    pub fn load_all(&self) -> Vec<PendingEvent> {
        let ready = |path| match self.load(path) {
            PendingFile::Ready(note) => Some(*note),
            PendingFile::Skipped | PendingFile::SetAside(..) => None,
        };
        self.list_paths().into_iter().filter_map(ready).collect()
    }

    /// The note in this file, unless its process is about to store it by itself. One that cannot be understood is put
    /// aside, and so is something else than a file.
    pub(crate) fn load(&self, path: PathBuf) -> PendingFile {
        if is_owner_active(&path) {
            return PendingFile::Skipped;
        }
        match read_file(&path, MAX_EVENT_BYTES).map(|text| json::parse_stored_json(&text)) {
            Ok(Ok(observation)) => PendingFile::Ready(Box::new(PendingEvent { path, observation })),
            // It may still be written to.
            Ok(Err(_)) if is_recent(&path) && is_process_alive(&path, WRITER_FIELD) => PendingFile::Skipped,
            // It never will: its process was ended before it had answered anybody.
            Ok(Err(error)) if error.is_eof() => {
                let _ = fs::remove_file(&path);
                PendingFile::Skipped
            }
            Ok(Err(error)) => self.quarantine_file(&path, &error),
            Err(error) if is_file_kind_error(&error) || error.kind() == io::ErrorKind::FileTooLarge => {
                self.quarantine_file(&path, &error)
            }
            // Another process has taken it in.
            Err(_) => PendingFile::Skipped,
        }
    }

    /// Removes the note of this name: what it says is stored.
    pub fn remove(&self, name: &OsStr) {
        // Only a name, so that nobody can have something else removed.
        if Path::new(name).components().count() == 1 {
            let _ = fs::remove_file(self.directory.join(name));
        }
    }

    /// Where notes are that cannot be understood.
    pub(crate) fn unreadable_dir(data_directory: &Path) -> PathBuf {
        data_directory.join("unreadable")
    }

    /// Puts a note that cannot be stored where somebody can look at it, and nobody else has to.
    pub(crate) fn reject(&self, note: PendingEvent) {
        Self::move_to_unreadable(&self.data_dir(), &note.path);
    }

    /// Moves a file that cannot be understood to `unreadable/` of a data directory. Answers its new path.
    pub(crate) fn move_to_unreadable(data_directory: &Path, path: &Path) -> Option<PathBuf> {
        let aside = Self::create_unreadable_dir(data_directory).ok()?.join(path.file_name()?);
        fs::rename(path, &aside).ok().map(|()| aside)
    }

    /// Keeps bytes of a file that cannot be understood in `unreadable/` of a data directory. Answers their path.
    pub(crate) fn save_unreadable_bytes(data_directory: &Path, origin: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        let name = origin.file_name().unwrap_or_default().to_string_lossy();
        let time = snell::Timestamp::now().as_nanosecond();
        let path = Self::create_unreadable_dir(data_directory)?.join(format!("{time:020}-{name}"));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(bytes).map(|()| path)
    }

    fn create_unreadable_dir(data_directory: &Path) -> io::Result<PathBuf> {
        let aside = Self::unreadable_dir(data_directory);
        DirBuilder::new().recursive(true).mode(0o700).create(&aside)?;
        Ok(aside)
    }

    fn quarantine_file(&self, path: &Path, why: &dyn std::error::Error) -> PendingFile {
        match Self::move_to_unreadable(&self.data_dir(), path) {
            Some(aside) => PendingFile::SetAside(aside, why.to_string()),
            None => PendingFile::Skipped,
        }
    }

    fn data_dir(&self) -> PathBuf {
        self.directory.parent().unwrap_or(Path::new("/")).to_owned()
    }
}

impl PendingEvent {
    /// Its name among the notes.
    pub fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Leaves the note to whichever process writes to the database next.
    pub fn release(self) {
        let mut parts: Vec<_> = self.name().to_str().unwrap_or_default().split('-').collect();
        if let Some(owner) = parts.get_mut(OWNER_FIELD) {
            *owner = "0";
            // If it keeps its name, it waits until this process has ended.
            let _ = fs::rename(&self.path, self.path.with_file_name(parts.join("-")));
        }
    }

    /// Removes the note: what it says is stored.
    pub fn remove(self) {
        // If it stays, it is found to be stored already.
        let _ = fs::remove_file(&self.path);
    }
}

fn filter_event_files(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

/// Where in a note's name the process stands that is to store it, and where the one that wrote it.
const OWNER_FIELD: usize = 1;
const WRITER_FIELD: usize = 2;

/// Whether the process that is to store the note is still about to.
fn is_owner_active(path: &Path) -> bool {
    is_younger_than(path, MAX_HOOK_DURATION) && is_process_alive(path, OWNER_FIELD)
}

fn is_process_alive(path: &Path, place: usize) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let pid = name.split('-').nth(place).and_then(|pid| pid.parse().ok());
    pid.and_then(Pid::from_raw).is_some_and(|pid| test_kill_process(pid).is_ok())
}

fn is_recent(path: &Path) -> bool {
    is_younger_than(path, UNFINISHED_TIMEOUT)
}

fn is_younger_than(path: &Path, limit: Duration) -> bool {
    get_file_age(path).is_some_and(|age| age < limit)
}

fn get_file_age(path: &Path) -> Option<Duration> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    SystemTime::now().duration_since(modified).ok()
}
