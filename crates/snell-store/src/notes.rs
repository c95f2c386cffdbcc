//! Observations that wait on disk to be stored: because their process is about to answer and may be killed before it
//! records, or because the database could not be written.
//!
//! One file each, whole or not there at all. Whoever writes to the database next takes them in; each has an id, so that
//! taking one in twice stores it once.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, test_kill_process};

use crate::observation::Observation;

/// More are not kept: a database that cannot be written for so long needs a person.
const MAX_NOTES: usize = 20_000;

/// A note of a process that still lives is its own to record, for this long.
const OWN_FOR: Duration = Duration::from_secs(5);

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

    /// Writes an observation down. It must have an id.
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
        let half = self.directory.join(format!(".{name}"));
        let path = self.directory.join(format!("{name}.json"));
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&half)
            .and_then(|mut file| file.write_all(serde_json::to_string(&kept)?.as_bytes()))
            .and_then(|()| fs::rename(&half, &path));
        if written.is_err() {
            let _ = fs::remove_file(&half);
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

    /// Whether there is room for another one.
    pub fn has_room(&self) -> bool {
        self.is_empty() || self.paths().len() < MAX_NOTES
    }

    /// What waits, the oldest first. A note that cannot be read is put aside.
    pub fn all(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        for path in self.paths() {
            if is_still_owned(&path) {
                continue;
            }
            match fs::read(&path).map(|text| serde_json::from_slice(&text)) {
                Ok(Ok(observation)) => notes.push(Note { path, observation }),
                Ok(Err(_)) => {
                    let _ = fs::rename(&path, path.with_extension("unreadable"));
                }
                // Somebody else has taken it in.
                Err(_) => {}
            }
        }
        notes
    }

    fn paths(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return Vec::new();
        };
        let is_note = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
        let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).filter(is_note).collect();
        paths.sort();
        paths
    }
}

impl Note {
    /// Removes the note: what it says is stored.
    pub fn remove(self) {
        // If it stays, it is found to be stored already.
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether the process that wrote the note is still about to record it.
fn is_still_owned(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let pid = name
        .split('-')
        .nth(1)
        .and_then(|pid| pid.parse().ok())
        .and_then(Pid::from_raw);
    let alive = pid.is_some_and(|pid| test_kill_process(pid).is_ok());
    let age = fs::metadata(path)
        .and_then(|metadata| metadata.modified())
        .ok()
        .and_then(|modified| SystemTime::now().duration_since(modified).ok());
    alive && age.is_some_and(|age| age < OWN_FOR)
}
