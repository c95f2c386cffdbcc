//! Reports of changed files by the system, where it makes them: inotify on Linux.
//!
//! Directories are watched, not files, because a file may be replaced, or may not be there yet.

use std::collections::HashSet;
use std::path::PathBuf;

/// The files that changed since the last look.
#[derive(Debug)]
pub(crate) enum FileChanges {
    /// These, among others that nothing asked for.
    Known(HashSet<PathBuf>),
    /// The system dropped reports.
    Unknown,
}

#[cfg(target_os = "linux")]
mod inotify {
    use std::collections::{HashMap, HashSet};
    use std::ffi::OsStr;
    use std::io;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::{Path, PathBuf};

    use rustix::fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init, remove_watch};

    use super::FileChanges;

    /// The changes of a directory that matter. A transcript is appended to, a session file may be replaced.
    const WATCHED_CHANGES: WatchFlags = WatchFlags::MODIFY
        .union(WatchFlags::CREATE)
        .union(WatchFlags::DELETE)
        .union(WatchFlags::MOVE)
        .union(WatchFlags::ONLYDIR);

    #[derive(Debug)]
    pub(crate) struct InotifyNotifier {
        inotify: OwnedFd,
        directories: HashMap<PathBuf, i32>,
        paths: HashMap<i32, PathBuf>,
    }

    impl InotifyNotifier {
        pub(crate) fn open() -> io::Result<Self> {
            let inotify = init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?;
            Ok(Self { inotify, directories: HashMap::new(), paths: HashMap::new() })
        }

        /// Watches these directories, and no others.
        pub(crate) fn watch_directories(&mut self, wanted: &HashSet<PathBuf>) {
            let surplus: Vec<_> = self.directories.extract_if(|path, _| !wanted.contains(path)).collect();
            for (_, watch) in surplus {
                self.paths.remove(&watch);
                // It may be gone with its directory.
                let _ = remove_watch(&self.inotify, watch);
            }
            for path in wanted {
                if self.directories.contains_key(path) {
                    continue;
                }
                // A directory that cannot be watched, perhaps because it is not there yet, is polled.
                if let Ok(watch) = add_watch(&self.inotify, path, WATCHED_CHANGES) {
                    self.directories.insert(path.clone(), watch);
                    self.paths.insert(watch, path.clone());
                }
            }
        }

        /// Whether changes of files in this directory are reported.
        pub(crate) fn is_watched(&self, directory: &Path) -> bool {
            self.directories.contains_key(directory)
        }

        /// Takes the reports since the last call.
        pub(crate) fn take_changes(&mut self) -> FileChanges {
            let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
            let mut reports = Reader::new(&self.inotify, &mut buffer);
            let (mut changed, mut is_complete) = (HashSet::new(), true);
            while let Ok(event) = reports.next() {
                if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                    is_complete = false;
                }
                if event.events().contains(ReadFlags::IGNORED) {
                    // The directory is gone. Another one at its path is watched after the next reload.
                    if let Some(path) = self.paths.remove(&event.wd()) {
                        self.directories.remove(&path);
                        is_complete = false;
                    }
                }
                if let (Some(name), Some(directory)) = (event.file_name(), self.paths.get(&event.wd())) {
                    changed.insert(directory.join(OsStr::from_bytes(name.to_bytes())));
                }
            }
            if is_complete { FileChanges::Known(changed) } else { FileChanges::Unknown }
        }
    }
}
#[cfg(target_os = "linux")]
pub(crate) use inotify::InotifyNotifier as FileNotifier;

/// Systems without such reports: all files are polled.
#[cfg(not(target_os = "linux"))]
mod unsupported {
    use std::collections::HashSet;
    use std::io;
    use std::path::{Path, PathBuf};

    use super::FileChanges;

    #[derive(Debug)]
    pub(crate) struct UnsupportedNotifier;

    impl UnsupportedNotifier {
        pub(crate) fn open() -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(crate) fn watch_directories(&mut self, _: &HashSet<PathBuf>) {}

        pub(crate) fn is_watched(&self, _: &Path) -> bool {
            false
        }

        pub(crate) fn take_changes(&mut self) -> FileChanges {
            FileChanges::Unknown
        }
    }
}
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::UnsupportedNotifier as FileNotifier;
