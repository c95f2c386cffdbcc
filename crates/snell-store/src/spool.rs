//! Observations that were handed to the scribe and are not known to be stored: what is left of them if it is killed.
//!
//! A few files to which hooks append lines, so that many can do it at once. Whoever holds a file alone stores what is in
//! it (most of it is stored already, and not stored again) and empties it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::error::Result;
use crate::json;
use crate::observation::Observation;

/// How many files there are. Whoever writes to one keeps others from it for a moment.
const FILES: u32 = 8;

/// How many observations are stored with one transaction.
const AT_ONCE: usize = 200;

/// What was handed over in one directory.
#[derive(Clone, Debug)]
pub struct Spool {
    directory: PathBuf,
}

impl Spool {
    /// What was handed over beside the database of this directory.
    pub fn beside(data_directory: &Path) -> Self {
        Self {
            directory: data_directory.join("handed"),
        }
    }

    /// Keeps a copy of an observation.
    ///
    /// # Errors
    ///
    /// When it cannot be written now.
    pub fn append(&self, observation: &Observation) -> io::Result<()> {
        let mut line = serde_json::to_string(&observation.clone().fit_to_keep())?;
        line.push('\n');
        let path = self.path(std::process::id() % FILES);
        let open = || OpenOptions::new().create(true).append(true).mode(0o600).open(&path);
        let mut file = open().or_else(|_| {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
            open()
        })?;
        // Whoever empties the file does so alone. It is unlocked when it is closed.
        flock(&file, FlockOperation::NonBlockingLockShared)?;
        file.write_all(line.as_bytes())
    }

    /// Whether nothing was handed over since it was last emptied.
    pub fn is_empty(&self) -> bool {
        let has_content = |number| fs::metadata(self.path(number)).is_ok_and(|metadata| metadata.len() > 0);
        !self.directory.exists() || !(0..FILES).any(has_content)
    }

    /// Stores what is there, and empties it. A file that somebody writes to is left for the next time.
    ///
    /// # Errors
    ///
    /// When something cannot be stored; then it stays.
    pub fn empty(&self, store: &mut dyn FnMut(Vec<Observation>) -> Result<()>) -> Result<()> {
        for number in 0..FILES {
            let Ok(mut file) = File::options().read(true).write(true).open(self.path(number)) else {
                continue;
            };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let mut text = Vec::new();
            if file.read_to_end(&mut text).is_err() || text.is_empty() {
                continue;
            }
            // A line that was not finished belongs to a hook that was killed before it had answered anybody.
            let lines = text
                .split(|byte| *byte == b'\n')
                .filter_map(|line| json::from_slice(line).ok());
            let observations: Vec<Observation> = lines.collect();
            for some in observations.chunks(AT_ONCE) {
                store(some.to_vec())?;
            }
            // If it stays as it is, everything in it is found to be stored.
            let _ = file.set_len(0);
        }
        Ok(())
    }

    fn path(&self, number: u32) -> PathBuf {
        self.directory.join(format!("{number}.jsonl"))
    }
}
