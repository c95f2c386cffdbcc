//! A lock that one process at a time holds.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use snell::{FileAccess, RegularFile};

/// How often a lock is tried while it is waited for.
const RETRY_INTERVAL: Duration = Duration::from_micros(200);

/// A lock on a file. It belongs to the open file, so another process can take it over without a gap. It ends when this
/// is dropped, or with the process.
#[derive(Debug)]
pub(crate) struct FileLock {
    /// Present until the lock is handed on.
    file: Option<File>,
}

impl FileLock {
    /// The lock on the file at this path, if no other process holds it. The file is created if it does not exist.
    pub(crate) fn try_acquire(path: &Path) -> io::Result<Option<Self>> {
        Self::try_lock(open_lock_file(path)?)
    }

    /// Waits for the lock on the file at this path. Processes hold it only for a moment: after `timeout` the file is
    /// used without its lock.
    pub(crate) fn acquire_within(path: &Path, timeout: Duration) -> io::Result<File> {
        let file = open_lock_file(path)?;
        let started = Instant::now();
        while flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() && started.elapsed() < timeout {
            std::thread::sleep(RETRY_INTERVAL);
        }
        Ok(file)
    }

    /// Takes over a lock that another process passed on as an open file. Nothing if `handed` is another file.
    pub(crate) fn adopt(path: &Path, handed: File) -> io::Result<Option<Self>> {
        let (own, other) = (path.metadata()?, handed.metadata()?);
        if (own.dev(), own.ino()) != (other.dev(), other.ino()) {
            return Ok(None);
        }
        Self::try_lock(handed)
    }

    fn try_lock(file: File) -> io::Result<Option<Self>> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Self { file: Some(file) })),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts a program that holds the lock from now on, as its standard input. It outlives this process, and shares
    /// nothing else with it.
    pub(crate) fn hand_to(mut self, program: &Path, arguments: &[OsString]) -> io::Result<()> {
        Command::new(program)
            .args(arguments)
            .current_dir("/")
            .stdin(self.file.take().map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map(drop)
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            // Explicit, because another open file may share the lock, and then closing this one does not release it.
            let _ = flock(file, FlockOperation::Unlock);
        }
    }
}

pub(crate) fn open_lock_file(path: &Path) -> io::Result<File> {
    let opened = RegularFile::open(path, FileAccess::Write).map(RegularFile::into_file);
    opened.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}
