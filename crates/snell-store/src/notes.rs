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

use crate::json;
use crate::observation::Observation;

/// More are not kept: a database that cannot be written for so long needs a person.
const MAX_NOTES: usize = 20_000;

/// A note of a process that still lives is its own to record, for as long as a hook may take. A number that old may have
/// been given to another process.
const LONGEST_HOOK: Duration = Duration::from_secs(24 * 60 * 60);

/// A note that is not finished after so long will not be.
const UNFINISHED_FOR: Duration = Duration::from_secs(5);

/// The directory of what waits.
#[derive(Clone, Debug)]
pub struct Notes {
    directory: PathBuf,
}

/// Who is to store a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsFor {
    /// The process that wrote it, while it lives.
    ItsProcess,
    /// Whoever writes to the database next.
    Anybody,
}

/// One note.
#[derive(Debug)]
pub struct Note {
    path: PathBuf,
    /// What waits to be stored.
    pub observation: Observation,
}

impl Notes {
    /// What waits for the database in this directory.
    pub fn beside(data_directory: &Path) -> Self {
        Self {
            directory: data_directory.join("pending"),
        }
    }

    /// Writes an observation down.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, observation: &Observation, waits_for: WaitsFor) -> io::Result<Note> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let time = observation.at.as_nanosecond();
        let owner = match waits_for {
            WaitsFor::ItsProcess => std::process::id(),
            WaitsFor::Anybody => 0,
        };
        let [own, count] = [std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)];
        let name = format!("{time:020}-{owner}-{own}-{count}");
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let kept = Observation {
            delayed: true,
            ..observation.clone().fit_to_keep()
        };
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
        written.map(|()| Note {
            path,
            observation: kept,
        })
    }

    /// Whether anything waits. This is asked for every event, so it must cost nothing when nothing does.
    pub fn is_empty(&self) -> bool {
        fs::read_dir(&self.directory).map_or(true, |mut entries| entries.next().is_none())
    }

    /// How many wait.
    pub fn count(&self) -> usize {
        self.paths().len()
    }

    /// How long the oldest one has been waiting.
    pub fn longest_wait(&self) -> Option<Duration> {
        age(self.paths().first()?)
    }

    /// Whether there is room for another one.
    pub fn has_room(&self) -> bool {
        self.is_empty() || self.paths().len() < MAX_NOTES
    }

    /// The names of what waits, the oldest first, if there are no more than so many. Of more, nobody has the time to make
    /// a list.
    pub(crate) fn if_few(&self, at_most: usize) -> Option<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.directory).ok()?;
        let some: Vec<_> = entries.flatten().take(at_most + 1).map(|entry| entry.path()).collect();
        (some.len() <= at_most).then(|| notes_among(some))
    }

    /// The names of all that waits, the oldest first.
    pub(crate) fn paths(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        notes_among(entries.map(|entry| entry.path()).collect())
    }

    /// All that waits, the oldest first.
    pub fn all(&self) -> Vec<Note> {
        self.paths().into_iter().filter_map(|path| self.read(path)).collect()
    }

    /// The note in this file, unless its process is about to store it by itself. One that cannot be understood is put
    /// aside.
    pub(crate) fn read(&self, path: PathBuf) -> Option<Note> {
        if is_still_owned(&path) {
            return None;
        }
        match fs::read(&path).map(|text| json::from_slice(&text)) {
            Ok(Ok(observation)) => return Some(Note { path, observation }),
            // It may still be written to.
            Ok(Err(_)) if is_recent(&path) && is_alive(&path, WRITER) => {}
            // It never will: its process was ended before it had answered anybody.
            Ok(Err(error)) if error.is_eof() => drop(fs::remove_file(&path)),
            Ok(Err(_)) => self.put_aside(&path),
            // Somebody else has taken it in.
            Err(_) => {}
        }
        None
    }

    /// Removes the note of this name: what it says is stored.
    pub fn remove(&self, name: &OsStr) {
        // Only a name, so that nobody can have something else removed.
        if Path::new(name).components().count() == 1 {
            let _ = fs::remove_file(self.directory.join(name));
        }
    }

    /// Where notes are that cannot be understood.
    pub(crate) fn unreadable_beside(data_directory: &Path) -> PathBuf {
        data_directory.join("unreadable")
    }

    /// Puts a note that cannot be stored where somebody can look at it, and nobody else has to.
    pub(crate) fn refuse(&self, note: Note) {
        self.put_aside(&note.path);
    }

    /// Puts a note that cannot be understood where somebody can look at it, and nobody else has to.
    fn put_aside(&self, path: &Path) {
        let (Some(data), Some(name)) = (self.directory.parent(), path.file_name()) else {
            return;
        };
        let aside = Self::unreadable_beside(data);
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(&aside);
        let _ = fs::rename(path, aside.join(name));
    }
}

impl Note {
    /// Its name among the notes.
    pub fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Removes the note: what it says is stored.
    pub fn remove(self) {
        // If it stays, it is found to be stored already.
        let _ = fs::remove_file(&self.path);
    }
}

fn notes_among(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths
}

/// Where in a note's name the process stands that is to store it, and where the one that wrote it.
const OWNER: usize = 1;
const WRITER: usize = 2;

/// Whether the process that is to store the note is still about to.
fn is_still_owned(path: &Path) -> bool {
    is_younger(path, LONGEST_HOOK) && is_alive(path, OWNER)
}

fn is_alive(path: &Path, place: usize) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let pid = name.split('-').nth(place).and_then(|pid| pid.parse().ok());
    pid.and_then(Pid::from_raw)
        .is_some_and(|pid| test_kill_process(pid).is_ok())
}

fn is_recent(path: &Path) -> bool {
    is_younger(path, UNFINISHED_FOR)
}

fn is_younger(path: &Path, limit: Duration) -> bool {
    age(path).is_some_and(|age| age < limit)
}

fn age(path: &Path) -> Option<Duration> {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    SystemTime::now().duration_since(modified).ok()
}
