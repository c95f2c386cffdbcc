//! The limits of one backup. They hold even if a call would delete a whole disk.

use std::time::{Duration, Instant};

use snell::BackupSettings;

/// More files of one call are not saved.
pub(super) const MAX_FILES: usize = 2000;

/// So many small files are saved on the busiest machine too.
const CERTAIN_FILES: usize = 8;

/// So many names are checked on the busiest machine too.
const CERTAIN_NAMES: usize = 64;

/// A small file: copying it takes no noticeable time.
pub(super) const SMALL_BYTES: u64 = 65_536;

/// A larger file is not saved, however it could be.
const MAX_FILE_BYTES: u64 = 256_000_000;

/// The part of all backups that one call may fill.
const SHARE_OF_TOTAL: u64 = 4;

/// The time, bytes and files that one backup may take.
#[derive(Debug)]
pub(super) struct BackupBudget {
    started: Instant,
    time: Option<Duration>,
    bytes: u64,
    max_file_bytes: u64,
    files: usize,
}

impl BackupBudget {
    pub(super) fn new(settings: &BackupSettings, started: Instant) -> Self {
        let bytes = settings.total_bytes / SHARE_OF_TOTAL;
        let max_file_bytes = bytes.min(MAX_FILE_BYTES);
        Self { started, time: Some(settings.time), bytes, max_file_bytes, files: MAX_FILES }
    }

    /// A budget for a user who waits: only the disk limits it.
    pub(super) fn unlimited() -> Self {
        let (bytes, max_file_bytes) = (u64::MAX, u64::MAX);
        Self { started: Instant::now(), time: None, bytes, max_file_bytes, files: usize::MAX }
    }

    /// Whether no time is left to copy files.
    pub(super) fn is_over(&self) -> bool {
        self.has_passed(7, 8)
    }

    /// Whether no time is left to look for files: copying needs the rest. If few were found, the search goes on a little longer.
    pub(super) fn is_search_over(&self, found: usize, looked_at: usize) -> bool {
        (found >= CERTAIN_FILES && self.has_passed(2, 5)) || (looked_at >= CERTAIN_NAMES && self.is_over())
    }

    /// Whether no time is left for a file of this size, after so many others.
    pub(super) fn is_over_for(&self, size: u64, saved: usize) -> bool {
        self.is_over() && (size > SMALL_BYTES || saved >= CERTAIN_FILES)
    }

    fn has_passed(&self, part: u32, whole: u32) -> bool {
        self.time.is_some_and(|time| self.started.elapsed() >= time * part / whole)
    }

    /// Whether a file of this size may be saved at all.
    pub(super) fn allows_size(&self, size: u64) -> bool {
        size <= self.max_file_bytes
    }

    /// Takes room for a file. Returns whether there was any.
    pub(super) fn take(&mut self, bytes: u64) -> bool {
        if self.files == 0 || bytes > self.bytes {
            return false;
        }
        self.files -= 1;
        self.bytes -= bytes;
        true
    }
}
