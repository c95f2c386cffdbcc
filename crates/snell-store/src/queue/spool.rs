//! Events that the daemon has taken and may not have stored: the copies that remain if it is killed.
//!
//! Hooks append lines to a few files, so that many can do it at once. The process with the exclusive lock of a file
//! stores its events (most of them are stored already, which has no effect) and empties it.
//!
//! An incomplete line, after a kill or on a full disk, damages only itself: every line begins with a line feed of its
//! own. It is set aside, with a warning.

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

/// The number of files. A process that empties one blocks others from it for a moment.
const SEGMENT_COUNT: u32 = 8;

/// How many events one transaction stores.
const BATCH_SIZE: usize = 200;

/// How much is kept of lines that cannot be read.
const MAX_FRAGMENT_BYTES: usize = 1024 * 1024;

/// Stores a batch of events.
type BatchHandler<'a> = &'a mut dyn FnMut(Vec<MaskedRecord>) -> Result<()>;

/// The spool of one directory.
#[derive(Clone, Debug)]
pub struct EventSpool {
    queue: DurableQueue,
}

impl EventSpool {
    /// The spool in this data directory.
    pub fn in_data_dir(data_directory: &Path) -> Self {
        Self { queue: DurableQueue::new(data_directory, "handed", EVENT_LIMITS) }
    }

    /// Adds a copy of an event.
    ///
    /// # Errors
    ///
    /// When it cannot be written now.
    pub fn append(&self, record: &MaskedRecord) -> io::Result<()> {
        // The last line of the file may be incomplete.
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
        // Shared: only the process that empties the file locks it exclusively. Closing the file unlocks it.
        flock(&file, FlockOperation::NonBlockingLockShared)?;
        // In one write: on a full disk, a second one could come after another process's line.
        match file.write(&line)? {
            written if written == line.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    /// Whether there are no events in the spool.
    pub fn is_empty(&self) -> bool {
        // Anything but a regular file has to be set aside.
        let needs_work = |metadata: fs::Metadata| metadata.len() > 0 || !metadata.is_file();
        let has_content = |number| fs::symlink_metadata(self.segment_path(number)).is_ok_and(needs_work);
        !self.queue.directory().exists() || !(0..SEGMENT_COUNT).any(has_content)
    }

    /// Stores the events in all files, and empties them. Files that another process writes to are left for the next
    /// time. Returns warnings about lines that cannot be read.
    ///
    /// # Errors
    ///
    /// When an event cannot be stored; then it stays.
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
            // If this fails, storing the events again has no effect.
            let _ = file.set_len(0);
        }
        Ok(warnings)
    }

    /// Sets a path aside that is not a regular file, and returns the warning about it.
    fn set_aside(&self, path: &Path, why: &io::Error) -> Option<String> {
        let aside = is_file_kind_error(why).then(|| self.queue.set_aside(path).ok()).flatten()?;
        Some(format!("{} was moved to {}, because it cannot be used: {why}", path.display(), aside.display()))
    }

    /// Saves lines that cannot be read for inspection, and returns the warning about them.
    fn save_fragments(&self, path: &Path, fragments: &SpoolFragments) -> Option<String> {
        if fragments.count == 0 {
            return None;
        }
        let saved = self.queue.set_bytes_aside(path, &fragments.bytes);
        let place = saved.map_or_else(|_| "lost".to_owned(), |saved| format!("moved to {}", saved.display()));
        Some(format!("{} has incomplete events (lines: {}), which were {place}", path.display(), fragments.count))
    }

    fn segment_path(&self, number: u32) -> PathBuf {
        self.queue.item_path(&format!("{number}.jsonl"))
    }
}

/// Lines that cannot be read.
#[derive(Debug, Default)]
struct SpoolFragments {
    count: usize,
    /// The first of them, within the limit.
    bytes: Vec<u8>,
}

/// Stores the events of a file, and returns the lines that are not events; an inner error if the file cannot be read.
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
