//! A lock per agent: one process types at a time, and others wait.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context;
use snell::{FileAccess, RegularFile};

use crate::output::CommandError;

/// How long to wait for the lock. Typing is quick unless tmux is slow.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two attempts to lock.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// The number of lock files. Agents that share one wait for each other.
const LOCK_FILE_COUNT: i64 = 64;

/// A held lock. Dropping it, or the end of the process, releases it.
#[derive(Debug)]
pub(super) struct WakeLock(#[expect(dead_code, reason = "it is held, not used")] File);

impl WakeLock {
    /// Waits for the lock of this agent.
    pub(super) fn acquire(data: &Path, agent: i64) -> anyhow::Result<Self> {
        let directory = data.join("waking");
        let path = directory.join(format!("{}.lock", agent.rem_euclid(LOCK_FILE_COUNT)));
        let cannot = || format!("cannot lock {}", path.display());
        DirBuilder::new().recursive(true).mode(0o700).create(&directory).with_context(cannot)?;
        let file = RegularFile::open(&path, FileAccess::Write).with_context(cannot)?;
        let file = file.into_file();
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self(file)),
                Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
                Err(TryLockError::WouldBlock) if began.elapsed() < LOCK_TIMEOUT => std::thread::sleep(RETRY_PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let seconds = LOCK_TIMEOUT.as_secs();
                    let problem = format!("other processes have been waking up agent {agent} for {seconds} seconds");
                    return Err(CommandError::new(problem).with_hint("try again").into());
                }
            }
        }
    }
}
