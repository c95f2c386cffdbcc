//! The order of messages: increasing numbers, assigned one at a time.
//!
//! A number is the time in nanoseconds, or one more than the last if the clock stands still or was set back. Number and
//! file name are assigned under one lock, so messages appear in the order of their numbers: a process that lists them
//! under the same lock never gets a later one without the earlier.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use snell::{FileAccess, RegularFile, Timestamp};

use crate::queue::file_lock::FileLock;

/// Processes hold the lock only for a moment. After this time the number is assigned without it: messages of the same
/// time have no order anyway.
const LOCK_TIMEOUT: Duration = Duration::from_millis(250);

/// The length of the last number and the totals as text, which is constant.
const LINE_BYTES: usize = 45;

/// Held during a change.
pub(super) struct SequenceLock {
    file: File,
}

/// The totals, known without listing the messages. They may be too high, because deliveries are subtracted later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct OutboxTally {
    pub(super) last: u64,
    pub(super) messages: usize,
    pub(super) bytes: u64,
}

impl SequenceLock {
    /// Waits for the lock, within a time limit.
    pub(super) fn acquire(directory: &Path) -> io::Result<Self> {
        FileLock::acquire_within(&directory.join("order"), LOCK_TIMEOUT).map(|file| Self { file })
    }

    /// The stored totals; nothing if they cannot be read.
    pub(super) fn read_tally(&self) -> Option<OutboxTally> {
        OutboxTally::read_from_file(&self.file)
    }

    pub(super) fn write_tally(&self, tally: OutboxTally) -> io::Result<()> {
        let OutboxTally { last, messages, bytes } = tally;
        let line = format!("{last:020} {messages:010} {bytes:012}\n");
        self.file.write_all_at(line.as_bytes(), 0)
    }
}

impl OutboxTally {
    /// The totals of this directory, read without its lock.
    pub(super) fn read_from_dir(directory: &Path) -> Option<Self> {
        let file = RegularFile::open(&directory.join("order"), FileAccess::Read);
        Self::read_from_file(&file.ok()?.into_file())
    }

    fn read_from_file(file: &File) -> Option<Self> {
        let mut line = [0; LINE_BYTES];
        file.read_exact_at(&mut line, 0).ok()?;
        Self::parse(std::str::from_utf8(&line).ok()?)
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split_ascii_whitespace();
        Some(Self {
            last: parts.next()?.parse().ok()?,
            messages: parts.next()?.parse().ok()?,
            bytes: parts.next()?.parse().ok()?,
        })
    }

    /// The number of the next message.
    pub(super) fn next_number(&self, now: Timestamp) -> u64 {
        let now = u64::try_from(now.as_nanosecond()).unwrap_or(0);
        now.max(self.last.saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_increase_even_if_the_clock_goes_back() {
        let mut tally = OutboxTally::default();
        let mut before = 0;
        for now in ["2026-03-01T12:00:00Z", "2026-03-01T12:00:00Z", "1999-01-01T00:00:00Z", "1901-01-01T00:00:00Z"] {
            tally.last = tally.next_number(now.parse().unwrap());
            assert!(tally.last > before, "{now}");
            before = tally.last;
        }
    }

    #[test]
    fn a_written_tally_is_read_back() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(OutboxTally::read_from_dir(directory.path()), None);
        let order = SequenceLock::acquire(directory.path()).unwrap();
        assert_eq!(order.read_tally(), None);
        let tally = OutboxTally { last: u64::MAX, messages: 9_999_999_999, bytes: 999_999_999_999 };
        order.write_tally(tally).unwrap();
        assert_eq!(order.read_tally(), Some(tally));
        assert_eq!(OutboxTally::read_from_dir(directory.path()), Some(tally));
        std::fs::write(directory.path().join("order"), "nonsense that is long enough to be read as a line\n").unwrap();
        assert_eq!(order.read_tally(), None);
    }
}
