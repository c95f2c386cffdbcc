//! One line at a time: whoever types for an agent has a turn, and the others wait for theirs.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use snell::{FileAccess, RegularFile};

/// How long somebody waits for a turn. Each takes a moment, unless tmux is slow.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);

/// How long between two looks whether it is one's turn.
const RETRY_PAUSE: Duration = Duration::from_millis(5);

/// How many files there are to be locked. Agents that share one wait for each other, and no file is made for each.
const LOCK_FILE_COUNT: i64 = 64;

/// A turn, which is over when this is dropped, or when the process ends in any way.
#[derive(Debug)]
pub(super) struct WakeLock(#[expect(dead_code, reason = "it is held, not used")] File);

impl WakeLock {
    /// Waits for a turn to type for this agent.
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
                    bail!("others have been waking up agent {agent} for {} seconds; try again", LOCK_TIMEOUT.as_secs())
                }
            }
        }
    }
}
