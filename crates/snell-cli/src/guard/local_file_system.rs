//! This machine's disk, for the guard.

use std::fs::{self, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use snell::{FileAccess, RegularFile, read_text_file};
use snell_guard::git_index::FileTime;
use snell_guard::{FileKind, FileStatus, FileSystem};

/// How much of two files is compared at a time.
const CHUNK_BYTES: usize = 1 << 16;

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

    /// Compares up to the first difference.
    fn have_same_contents(&self, one: &Path, other: &Path) -> io::Result<bool> {
        let mut one = RegularFile::open(one, FileAccess::Read)?.into_file();
        let mut other = RegularFile::open(other, FileAccess::Read)?.into_file();
        loop {
            let (mut left, mut right) = (Vec::with_capacity(CHUNK_BYTES), Vec::with_capacity(CHUNK_BYTES));
            one.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut left)?;
            other.by_ref().take(CHUNK_BYTES as u64).read_to_end(&mut right)?;
            if left != right || left.is_empty() {
                return Ok(left == right);
            }
        }
    }

    fn read_text(&self, path: &Path, max_bytes: u64) -> io::Result<String> {
        read_text_file(path, max_bytes)
    }

    fn modified(&self, path: &Path) -> io::Result<FileTime> {
        let metadata = fs::symlink_metadata(path)?;
        let nanoseconds = u32::try_from(metadata.mtime_nsec()).unwrap_or_default();
        Ok(FileTime { seconds: metadata.mtime(), nanoseconds })
    }

    fn read_bytes(&self, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
        let file = RegularFile::open(path, FileAccess::Read)?.into_file();
        let mut bytes = Vec::new();
        file.take(max_bytes + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes)
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
