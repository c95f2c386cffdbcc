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
use snell::{FileAccess, RegularFile, is_file_kind_error};

use crate::error::Result;
use crate::queue::pending::{MAX_EVENT_BYTES, PendingQueue};
use crate::record::event_record::EventRecord;
use crate::record::json;

/// How many files there are. Whoever writes to one keeps others from it for a moment.
const SEGMENT_COUNT: u32 = 8;

/// How many observations are stored with one transaction.
const BATCH_SIZE: usize = 200;

/// So much is kept of lines that cannot be understood.
const MAX_FRAGMENT_BYTES: usize = 1024 * 1024;

/// What was handed over in one directory.
#[derive(Clone, Debug)]
pub struct EventSpool {
    directory: PathBuf,
}

impl EventSpool {
    /// What was handed over beside the database of this directory.
    pub fn in_data_dir(data_directory: &Path) -> Self {
        Self { directory: data_directory.join("handed") }
    }

    /// Keeps a copy of an observation.
    ///
    /// # Errors
    ///
    /// When it cannot be written now.
    pub fn append(&self, observation: &EventRecord) -> io::Result<()> {
        // The last line of the file may not be finished.
        let mut line = vec![b'\n'];
        serde_json::to_writer(&mut line, &observation.clone().into_sanitized())?;
        line.push(b'\n');
        let path = self.segment_path(std::process::id() % SEGMENT_COUNT);
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
        let has_content = |number| fs::symlink_metadata(self.segment_path(number)).is_ok_and(needs_work);
        !self.directory.exists() || !(0..SEGMENT_COUNT).any(has_content)
    }

    /// Stores what is there, and empties it. A file that another process writes to is left for the next time. Answers
    /// remarks about what could not be understood.
    ///
    /// # Errors
    ///
    /// When something cannot be stored; then it stays.
    pub fn drain(&self, store: &mut dyn FnMut(Vec<EventRecord>) -> Result<()>) -> Result<Vec<String>> {
        let mut remarks = Vec::new();
        for path in (0..SEGMENT_COUNT).map(|number| self.segment_path(number)) {
            let file = match RegularFile::open(&path, FileAccess::WriteExisting) {
                Ok(file) => file.into_file(),
                Err(error) => {
                    let aside =
                        is_file_kind_error(&error).then(|| PendingQueue::move_to_unreadable(&self.data_dir(), &path));
                    remarks.extend(aside.flatten().map(|aside| format_moved_file(&path, &error, &aside)));
                    continue;
                }
            };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let Ok(fragments) = store_segment(&file, store)? else {
                continue;
            };
            remarks.extend(self.save_fragments(&path, &fragments));
            // If it stays as it is, everything in it is found to be stored.
            let _ = file.set_len(0);
        }
        Ok(remarks)
    }

    /// Keeps lines that cannot be understood where people can look at them, and answers what to say about them.
    fn save_fragments(&self, path: &Path, fragments: &SpoolFragments) -> Option<String> {
        if fragments.count == 0 {
            return None;
        }
        let kept = PendingQueue::save_unreadable_bytes(&self.data_dir(), path, &fragments.bytes);
        let kept = kept.map_or_else(|_| "it is lost".to_owned(), |kept| format!("it is in {}", kept.display()));
        Some(format!("{}: an unfinished event cannot be stored (lines: {}); {kept}", path.display(), fragments.count))
    }

    fn data_dir(&self) -> PathBuf {
        self.directory.parent().unwrap_or(Path::new("/")).to_owned()
    }

    fn segment_path(&self, number: u32) -> PathBuf {
        self.directory.join(format!("{number}.jsonl"))
    }
}

/// Lines that cannot be understood.
#[derive(Debug, Default)]
struct SpoolFragments {
    count: usize,
    /// The first of them, as far as they are kept.
    bytes: Vec<u8>,
}

/// Stores the observations of a file, and answers the lines that are none; an inner error if the file cannot be read.
fn store_segment(
    file: &File,
    store: &mut dyn FnMut(Vec<EventRecord>) -> Result<()>,
) -> Result<io::Result<SpoolFragments>> {
    let mut reader = BufReader::new(file);
    let mut fragments = SpoolFragments::default();
    let mut observations = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(MAX_EVENT_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Ok(Err(error)),
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        match json::parse_stored_json(text) {
            Ok(observation) => observations.push(observation),
            Err(_) => fragments.push(&line),
        }
        if observations.len() == BATCH_SIZE {
            store(std::mem::take(&mut observations))?;
        }
    }
    if !observations.is_empty() {
        store(observations)?;
    }
    Ok(Ok(fragments))
}

impl SpoolFragments {
    fn push(&mut self, line: &[u8]) {
        self.count += 1;
        let room = MAX_FRAGMENT_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend_from_slice(&line[..line.len().min(room)]);
    }
}

/// What is said of something else than a file that was put aside.
pub(crate) fn format_moved_file(path: &Path, why: &io::Error, aside: &Path) -> String {
    format!("{} cannot be used ({why}); it was moved to {}", path.display(), aside.display())
}
