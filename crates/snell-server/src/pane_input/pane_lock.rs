//! A lock per agent: one process types at a time, and others wait.

use std::fs::{DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use snell::{FileAccess, RegularFile};

/// How long to wait for the lock. Typing is quick unless tmux is slow.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two attempts to lock.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// The number of lock files. Agents that share one wait for each other.
const LOCK_FILE_COUNT: i64 = 64;

/// A held lock. Dropping it, or the end of the process, releases it.
#[derive(Debug)]
pub struct PaneLock(#[expect(dead_code, reason = "it is held, not used")] File);

/// Why the lock cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PaneLockError {
    /// The file of the lock cannot be used.
    #[error("cannot lock {}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Another process holds it for too long.
    #[error("other processes have been waking up agent {0} for {seconds} seconds", seconds = LOCK_TIMEOUT.as_secs())]
    Busy(i64),
}

impl PaneLock {
    /// Waits for the lock of this agent.
    ///
    /// # Errors
    ///
    /// When the lock cannot be had.
    pub fn acquire(data_dir: &Path, agent: i64) -> Result<Self, PaneLockError> {
        let directory = data_dir.join("waking");
        let path = directory.join(format!("{}.lock", agent.rem_euclid(LOCK_FILE_COUNT)));
        let cannot = |source| PaneLockError::File { path: path.clone(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(cannot)?;
        let file = RegularFile::open(&path, FileAccess::Write).map_err(cannot)?.into_file();
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(cannot(error)),
                Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_TIMEOUT => std::thread::sleep(RETRY_PAUSE),
                Err(TryLockError::WouldBlock) => return Err(PaneLockError::Busy(agent)),
            }
        }
    }
}
