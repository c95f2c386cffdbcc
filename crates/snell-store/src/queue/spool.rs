//! Events that were handed to the daemon and are not known to be stored: the copies that are left if it is killed.
//!
//! A few files to which hooks append lines, so that many can do it at once. The process that holds a file's lock alone
//! stores the events in it (most of them are stored already, and not stored again) and empties it.
//!
//! A line that was not completed, because its process was killed or the disk was full, costs that line only: every line
//! begins with a line break of its own. It is set aside, and a warning says so.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use snell::{FileAccess, RegularFile, is_file_kind_error};

use crate::error::Result;
use crate::queue::durable_queue::{DurableQueue, create_private_dir};
use crate::queue::pending::EVENT_LIMITS;
use crate::record::json;
use crate::record::masked_record::MaskedRecord;

/// How many files there are. A process that empties one keeps others from it for a moment.
const SEGMENT_COUNT: u32 = 8;

/// How many events are stored with one transaction.
const BATCH_SIZE: usize = 200;

/// So much is kept of lines that cannot be read.
const MAX_FRAGMENT_BYTES: usize = 1024 * 1024;

/// Stores a batch of events.
type BatchHandler<'a> = &'a mut dyn FnMut(Vec<MaskedRecord>) -> Result<()>;

/// The events that were handed over in one directory.
#[derive(Clone, Debug)]
pub struct EventSpool {
    queue: DurableQueue,
}

impl EventSpool {
    /// The events that were handed over beside the database of this directory.
    pub fn in_data_dir(data_directory: &Path) -> Self {
        Self { queue: DurableQueue::new(data_directory, "handed", EVENT_LIMITS) }
    }

    /// Keeps a copy of an event.
    ///
    /// # Errors
    ///
    /// When it cannot be written now.
    pub fn append(&self, record: &MaskedRecord) -> io::Result<()> {
        // The last line of the file may not be complete.
        let mut line = vec![b'\n'];
        serde_json::to_writer(&mut line, record)?;
        line.push(b'\n');
        let path = self.segment_path(std::process::id() % SEGMENT_COUNT);
        let open = || RegularFile::open(&path, FileAccess::Append);
        let file = open().or_else(|_| {
            create_private_dir(self.queue.directory())?;
            open()
        })?;
        let mut file = file.into_file();
        // The process that empties the file does so alone. It is unlocked when it is closed.
        flock(&file, FlockOperation::NonBlockingLockShared)?;
        // In one piece: on a full disk a second piece could come after the line of another process.
        match file.write(&line)? {
            written if written == line.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    /// Whether nothing was handed over since it was last emptied.
    pub fn is_empty(&self) -> bool {
        // Something else than a file has to be set aside.
        let needs_work = |metadata: fs::Metadata| metadata.len() > 0 || !metadata.is_file();
        let has_content = |number| fs::symlink_metadata(self.segment_path(number)).is_ok_and(needs_work);
        !self.queue.directory().exists() || !(0..SEGMENT_COUNT).any(has_content)
    }

    /// Stores the events in all files, and empties them. A file that another process writes to is left for the next time.
    /// Returns warnings about lines that cannot be read.
    ///
    /// # Errors
    ///
    /// When something cannot be stored; then it stays.
    pub fn drain(&self, store: BatchHandler<'_>) -> Result<Vec<String>> {
        let mut warnings = Vec::new();
        for path in (0..SEGMENT_COUNT).map(|number| self.segment_path(number)) {
            let file = match RegularFile::open(&path, FileAccess::WriteExisting) {
                Ok(file) => file.into_file(),
                Err(error) => {
                    warnings.extend(self.set_aside(&path, &error));
                    continue;
                }
            };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let Ok(fragments) = store_segment(&file, store)? else {
                continue;
            };
            warnings.extend(self.save_fragments(&path, &fragments));
            // If it stays as it is, everything in it is found to be stored.
            let _ = file.set_len(0);
        }
        Ok(warnings)
    }

    /// Sets something else than a file aside, and returns the warning about it.
    fn set_aside(&self, path: &Path, why: &io::Error) -> Option<String> {
        let aside = is_file_kind_error(why).then(|| self.queue.set_aside(path).ok()).flatten()?;
        Some(format!("{} cannot be used ({why}); it was moved to {}", path.display(), aside.display()))
    }

    /// Keeps lines that cannot be read where people can look at them, and returns the warning about them.
    fn save_fragments(&self, path: &Path, fragments: &SpoolFragments) -> Option<String> {
        if fragments.count == 0 {
            return None;
        }
        let saved = self.queue.set_bytes_aside(path, &fragments.bytes);
        let place = saved.map_or_else(|_| "it is lost".to_owned(), |saved| format!("it is in {}", saved.display()));
        Some(format!("{}: an unfinished event cannot be stored (lines: {}); {place}", path.display(), fragments.count))
    }

    fn segment_path(&self, number: u32) -> PathBuf {
        self.queue.item_path(&format!("{number}.jsonl"))
    }
}

/// Lines that cannot be read.
#[derive(Debug, Default)]
struct SpoolFragments {
    count: usize,
    /// The first of them, as far as they are kept.
    bytes: Vec<u8>,
}

/// Stores the events of a file, and returns the lines that are none; an inner error if the file cannot be read.
fn store_segment(file: &File, store: BatchHandler<'_>) -> Result<io::Result<SpoolFragments>> {
    let mut reader = BufReader::new(file);
    let mut fragments = SpoolFragments::default();
    let mut records = Vec::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(EVENT_LIMITS.item_bytes).read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => {}
            Err(error) => return Ok(Err(error)),
        }
        let text = line.trim_ascii();
        if text.is_empty() {
            continue;
        }
        match json::parse_stored_json(text) {
            Ok(record) => records.push(record),
            Err(_) => fragments.push(&line),
        }
        if records.len() == BATCH_SIZE {
            store(std::mem::take(&mut records))?;
        }
    }
    if !records.is_empty() {
        store(records)?;
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
