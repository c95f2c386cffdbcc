//! Removes the directories of demos that were killed.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use snell::{FileAccess, RegularFile};

use super::super::stage;
use super::processes;

/// The prefix of the directory of every demo.
pub(in super::super) const DIRECTORY_PREFIX: &str = "snell-demo-";

/// The file that a demo keeps locked while it runs. It is created under another name, so that no process sees it unlocked.
const LOCK_FILE: &str = "alive.lock";
const NEW_LOCK_FILE: &str = "alive.lock.new";

/// The lock of a running demo. The system releases it when the demo ends.
#[derive(Debug)]
pub(in super::super) struct DemoLivenessLock {
    _held: File,
}

impl DemoLivenessLock {
    /// Locks our own directory.
    pub(in super::super) fn acquire(root: &Path) -> io::Result<Self> {
        let unheld = root.join(NEW_LOCK_FILE);
        let held = File::create_new(&unheld)?;
        flock(&held, FlockOperation::NonBlockingLockExclusive)?;
        fs::rename(unheld, root.join(LOCK_FILE))?;
        Ok(Self { _held: held })
    }
}

/// Ends the processes and removes the directories of this user's dead demos. A failure is left to the next demo.
pub(in super::super) async fn remove_dead_demos(parent: &Path) {
    let listed = fs::read_dir(parent).into_iter().flatten().flatten();
    let of_demos = listed.filter(|entry| entry.file_name().to_string_lossy().starts_with(DIRECTORY_PREFIX));
    let paths: Vec<PathBuf> = of_demos.map(|entry| entry.path()).collect();
    for path in paths {
        // The lock keeps other demos away from the directory.
        if let Some((root, _held)) = lock_dead_demo(&path) {
            processes::end_processes(stage::data_dir_in(&root)).await;
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// The resolved directory and its lock, if it is the directory of a dead demo of this user.
fn lock_dead_demo(path: &Path) -> Option<(PathBuf, File)> {
    let directory = fs::symlink_metadata(path).ok()?;
    let is_ours = directory.is_dir() && directory.uid() == rustix::process::geteuid().as_raw();
    if !is_ours {
        return None;
    }
    let sign = RegularFile::open(&path.join(LOCK_FILE), FileAccess::ReadNoFollow).ok()?;
    let sign = sign.into_file();
    flock(&sign, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some((path.canonicalize().ok()?, sign))
}
