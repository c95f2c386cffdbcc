//! Whether any process can pass on an answer: each of them holds a shared lock on one file of the data directory.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::queue::file_lock::open_lock_file;

/// The file in the data directory.
const FILE_NAME: &str = "watchers.lock";

/// Another process that only tests the lock holds it for some microseconds, so a test is repeated.
const TESTS: usize = 4;
const TEST_INTERVAL: Duration = Duration::from_micros(300);

/// The lock of a process that can pass on answers. It ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct WatcherLock {
    _file: File,
}

impl WatcherLock {
    /// Shows other processes that this one can pass on answers.
    ///
    /// # Errors
    ///
    /// When the file cannot be created or locked.
    pub fn hold(data_dir: &Path) -> io::Result<Self> {
        let file = open_lock_file(&lock_path(data_dir))?;
        flock(&file, FlockOperation::LockShared)?;
        Ok(Self { _file: file })
    }

    /// Whether any process can pass on answers. A lock that cannot be tested is not held.
    pub fn is_held(data_dir: &Path) -> bool {
        let path = lock_path(data_dir);
        if !path.exists() {
            return false;
        }
        let Ok(file) = open_lock_file(&path) else {
            return false;
        };
        (0..TESTS).all(|test| {
            if test > 0 {
                std::thread::sleep(TEST_INTERVAL);
            }
            let locked = flock(&file, FlockOperation::NonBlockingLockExclusive);
            if locked.is_ok() {
                let _ = flock(&file, FlockOperation::Unlock);
            }
            locked == Err(Errno::WOULDBLOCK)
        })
    }
}

fn lock_path(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_held_as_long_as_any_watcher_lives() -> io::Result<()> {
        let data = tempfile::tempdir()?;
        assert!(!WatcherLock::is_held(data.path()));
        let first = WatcherLock::hold(data.path())?;
        let second = WatcherLock::hold(data.path())?;
        drop(first);
        assert!(WatcherLock::is_held(data.path()));
        drop(second);
        assert!(!WatcherLock::is_held(data.path()));
        Ok(())
    }
}
