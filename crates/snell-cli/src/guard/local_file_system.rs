//! This machine's disk, for the guard.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use snell::{FileAccess, RegularFile, read_text_file};
use snell_guard::{FileKind, FileStatus, FileSystem, TimedFileStatus};

use crate::backup;

/// Of one second.
const NANOSECONDS: i64 = 1_000_000_000;

/// The disk of this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalFileSystem;

impl FileSystem for LocalFileSystem {
    fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        fs::read_link(path)
    }

    fn metadata(&self, path: &Path) -> io::Result<FileStatus> {
        fs::metadata(path).map(to_file_status)
    }

    fn symlink_metadata(&self, path: &Path) -> io::Result<FileStatus> {
        fs::symlink_metadata(path).map(to_file_status)
    }

    fn list_directory(&self, path: &Path, max_entries: usize) -> Vec<PathBuf> {
        let entries = fs::read_dir(path).into_iter().flatten().flatten();
        entries.take(max_entries).map(|entry| entry.path()).collect()
    }

    fn have_same_contents(&self, one: &Path, other: &Path) -> io::Result<bool> {
        let open = |path| RegularFile::open(path, FileAccess::Read).map(RegularFile::into_file);
        backup::have_same_contents(open(one)?, open(other)?)
    }

    fn read_text(&self, path: &Path, max_bytes: u64) -> io::Result<String> {
        read_text_file(path, max_bytes)
    }

    fn stamp(&self, path: &Path) -> io::Result<TimedFileStatus> {
        let metadata = fs::symlink_metadata(path)?;
        let modified_ns = metadata.mtime().saturating_mul(NANOSECONDS).saturating_add(metadata.mtime_nsec());
        let created = metadata.created().ok().and_then(|created| created.duration_since(UNIX_EPOCH).ok());
        let created_ns = created.and_then(|since| i64::try_from(since.as_nanos()).ok());
        Ok(TimedFileStatus { status: to_file_status(metadata), modified_ns, created_ns })
    }

    fn read_bytes(&self, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
        RegularFile::open(path, FileAccess::Read)?.read_all(max_bytes)
    }

    fn current_program(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }
}

fn to_file_status(metadata: Metadata) -> FileStatus {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => FileKind::Regular,
        kind if kind.is_dir() => FileKind::Directory,
        _ => FileKind::Other,
    };
    FileStatus {
        kind,
        device: metadata.dev(),
        inode: metadata.ino(),
        len: metadata.len(),
        hard_links: metadata.nlink(),
    }
}
