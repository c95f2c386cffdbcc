//! Observations that were handed to the scribe and are not known to be stored: what is left of them if it is killed.
//!
//! A few files to which hooks append lines, so that many can do it at once. Whoever holds a file alone stores what is in
//! it (most of it is stored already, and not stored again) and empties it.
//!
//! A line that was not finished, because its process was killed or the disk was full, costs that line only: every line
//! begins with a line break of its own. It is put aside, and a remark says so.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use snell::{FileAccess, RegularFile, is_not_regular};

use crate::error::Result;
use crate::json;
use crate::notes::{MAX_NOTE_BYTES, Notes};
use crate::observation::Observation;

/// How many files there are. Whoever writes to one keeps others from it for a moment.
const FILES: u32 = 8;

/// How many observations are stored with one transaction.
const AT_ONCE: usize = 200;

/// So much is kept of lines that cannot be understood.
const MAX_FRAGMENT_BYTES: usize = 1024 * 1024;

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
        // The last line of the file may not be finished.
        let mut line = vec![b'\n'];
        serde_json::to_writer(&mut line, &observation.clone().fit_to_keep())?;
        line.push(b'\n');
        let path = self.path(std::process::id() % FILES);
        let open = || RegularFile::open(&path, FileAccess::Append);
        let file = open().or_else(|_| {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
            open()
        })?;
        let mut file = file.into_file();
        // Whoever empties the file does so alone. It is unlocked when it is closed.
        flock(&file, FlockOperation::NonBlockingLockShared)?;
        // In one piece: on a full disk a second piece could come after the line of another process.
        match file.write(&line)? {
            written if written == line.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    /// Whether nothing was handed over since it was last emptied.
    pub fn is_empty(&self) -> bool {
        // Something else than a file has to be put aside.
        let needs_work = |metadata: fs::Metadata| metadata.len() > 0 || !metadata.is_file();
        let has_content = |number| fs::symlink_metadata(self.path(number)).is_ok_and(needs_work);
        !self.directory.exists() || !(0..FILES).any(has_content)
    }

    /// Stores what is there, and empties it. A file that another process writes to is left for the next time. Answers
    /// remarks about what could not be understood.
    ///
    /// # Errors
    ///
    /// When something cannot be stored; then it stays.
    pub fn empty(&self, store: &mut dyn FnMut(Vec<Observation>) -> Result<()>) -> Result<Vec<String>> {
        let mut remarks = Vec::new();
        for path in (0..FILES).map(|number| self.path(number)) {
            let file = match RegularFile::open(&path, FileAccess::WriteExisting) {
                Ok(file) => file.into_file(),
                Err(error) => {
                    let aside = is_not_regular(&error).then(|| Notes::set_aside(&self.data(), &path));
                    remarks.extend(aside.flatten().map(|aside| moved(&path, &error, &aside)));
                    continue;
                }
            };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let Ok(fragments) = store_lines(&file, store)? else {
                continue;
            };
            remarks.extend(self.keep_fragments(&path, &fragments));
            // If it stays as it is, everything in it is found to be stored.
            let _ = file.set_len(0);
        }
        Ok(remarks)
    }

    /// Keeps lines that cannot be understood where people can look at them, and answers what to say about them.
    fn keep_fragments(&self, path: &Path, fragments: &Fragments) -> Option<String> {
        if fragments.count == 0 {
            return None;
        }
        let kept = Notes::keep_unreadable(&self.data(), path, &fragments.bytes);
        let kept = kept.map_or_else(
            |_| "it is lost".to_owned(),
            |kept| format!("it is in {}", kept.display()),
        );
        Some(format!(
            "{}: an unfinished event cannot be stored (lines: {}); {kept}",
            path.display(),
            fragments.count
        ))
    }

    fn data(&self) -> PathBuf {
        self.directory.parent().unwrap_or(Path::new("/")).to_owned()
    }

    fn path(&self, number: u32) -> PathBuf {
        self.directory.join(format!("{number}.jsonl"))
    }
}

/// Lines that cannot be understood.
#[derive(Debug, Default)]
struct Fragments {
    count: usize,
    /// The first of them, as far as they are kept.
    bytes: Vec<u8>,
}

/// Stores the observations of a file, and answers the lines that are none; an inner error if the file cannot be read.
fn store_lines(file: &File, store: &mut dyn FnMut(Vec<Observation>) -> Result<()>) -> Result<io::Result<Fragments>> {
    let mut reader = BufReader::new(file);
    let mut fragments = Fragments::default();
    let mut observations = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(MAX_NOTE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Ok(Err(error)),
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        match json::from_slice(text) {
            Ok(observation) => observations.push(observation),
            Err(_) => fragments.add(&line),
        }
        if observations.len() == AT_ONCE {
            store(std::mem::take(&mut observations))?;
        }
    }
    if !observations.is_empty() {
        store(observations)?;
    }
    Ok(Ok(fragments))
}

impl Fragments {
    fn add(&mut self, line: &[u8]) {
        self.count += 1;
        let room = MAX_FRAGMENT_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&line[..line.len().min(room)]);
    }
}

/// What is said of something else than a file that was put aside.
pub(crate) fn moved(path: &Path, why: &io::Error, aside: &Path) -> String {
    format!(
        "{} cannot be used ({why}); it was moved to {}",
        path.display(),
        aside.display()
    )
}
