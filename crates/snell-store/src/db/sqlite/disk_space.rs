//! Detects a full disk behind an error of the database.

use std::io;
use std::path::Path;

use rustix::fs::statvfs;

use crate::error::StoreError;

/// A disk with less is full: even an empty database needs more.
const MIN_FREE_KIB: u64 = 256;

/// Returns the error, or [`StoreError::NoRoom`] if the disk is full: SQLite itself only reports a failed write.
pub(super) fn explain_full_disk(path: &Path, error: StoreError) -> StoreError {
    let may_be = match &error {
        StoreError::Disk(_) => true,
        StoreError::File { source, .. } => source.kind() == io::ErrorKind::StorageFull,
        _ => false,
    };
    let directory = path.parent().unwrap_or(Path::new("/"));
    let left_kib = match statvfs(directory) {
        Ok(disk) if may_be => disk.f_bavail.saturating_mul(disk.f_frsize) / 1024,
        _ => return error,
    };
    if left_kib >= MIN_FREE_KIB {
        return error;
    }
    StoreError::NoRoom { directory: directory.to_owned(), left_kib }
}
