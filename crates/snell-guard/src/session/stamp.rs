//! A stamp of a file or a directory, which shows whether it was changed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::file_system::{FileKind, FileSystem, TimedFileStatus};

/// Directories with more entries have no stamp.
pub const MAX_STAMPED_ENTRIES: usize = 1000;

/// Deeper directories have no stamp.
const MAX_DEPTH: usize = 32;

/// The stamp of a path and of everything in it: names, inodes, sizes and times. `None` if it does not exist, if a part of it is older
/// than this or has another name, or if it is too large. A symlink has none.
pub fn stamp_path(path: &Path, not_before_ns: i64, disk: &dyn FileSystem) -> Option<u64> {
    disk.symlink_metadata(path).ok().filter(|status| status.kind != FileKind::Other)?;
    let mut walk = StampWalk { disk, not_before_ns, entries: 0, hasher: DefaultHasher::new() };
    walk.add_path(path, 0)?;
    Some(walk.hasher.finish())
}

/// When a file was created, or else last changed. `None` if it does not exist.
pub fn find_creation_time(path: &Path, disk: &dyn FileSystem) -> Option<i64> {
    let stamp = disk.stamp(path).ok()?;
    Some(stamp.created_ns.unwrap_or(stamp.modified_ns))
}

struct StampWalk<'a> {
    disk: &'a dyn FileSystem,
    not_before_ns: i64,
    entries: usize,
    hasher: DefaultHasher,
}

impl StampWalk<'_> {
    fn add_path(&mut self, path: &Path, depth: usize) -> Option<()> {
        let stamp = self.disk.stamp(path).ok()?;
        self.entries += 1;
        // A file that was moved here, or another name of a file, is older than the session.
        if self.entries > MAX_STAMPED_ENTRIES || depth > MAX_DEPTH || stamp.created_ns? < self.not_before_ns {
            return None;
        }
        if stamp.status.kind == FileKind::Regular && stamp.status.hard_links > 1 {
            return None;
        }
        self.add_stamp(path, &stamp);
        if stamp.status.kind == FileKind::Directory {
            let mut entries: Vec<PathBuf> = self.disk.list_directory(path, MAX_STAMPED_ENTRIES + 1);
            entries.sort();
            entries.iter().try_for_each(|entry| self.add_path(entry, depth + 1))?;
        }
        Some(())
    }

    fn add_stamp(&mut self, path: &Path, stamp: &TimedFileStatus) {
        let status = stamp.status;
        (path, status.device, status.inode, status.len, stamp.modified_ns).hash(&mut self.hasher);
    }
}
