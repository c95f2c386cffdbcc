//! The disk operations that the guard needs. The crate never touches a disk itself: the caller passes a [`FileSystem`].

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::git_index::FileTime;

/// A disk, as far as the guard needs it: to follow symlinks, to find Snell's own files under other
/// names, and to read the current branch before a forced push.
pub trait FileSystem: fmt::Debug {
    /// The target of a symlink; an error if the path is not a symlink or cannot be read, as with
    /// [`std::fs::read_link`].
    fn read_link(&self, path: &Path) -> io::Result<PathBuf>;

    /// The file that a path leads to, symlinks followed.
    fn metadata(&self, path: &Path) -> io::Result<FileStatus>;

    /// The same without following a symlink at the end of the path.
    fn symlink_metadata(&self, path: &Path) -> io::Result<FileStatus>;

    /// The entries of a directory, at most as many as this.
    fn list_directory(&self, path: &Path, max_entries: usize) -> Vec<PathBuf>;

    /// Whether two regular files have the same contents. Must not block on other files.
    fn have_same_contents(&self, one: &Path, other: &Path) -> io::Result<bool>;

    /// The text of a regular file with at most as many bytes as this. Must not block on other files.
    fn read_text(&self, path: &Path, max_bytes: u64) -> io::Result<String>;

    /// The running program, if it is known.
    fn current_program(&self) -> Option<PathBuf>;

    /// The file at this path with its times, without following a symlink at its end. Only sessions and approvals need it.
    ///
    /// # Errors
    ///
    /// When there is no such file, or its times are unknown.
    fn stamp(&self, _path: &Path) -> io::Result<TimedFileStatus> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// When the file at this path was last changed.
    ///
    /// # Errors
    ///
    /// As with [`FileSystem::stamp`].
    fn modified(&self, path: &Path) -> io::Result<FileTime> {
        self.stamp(path).map(|stamp| FileTime::from_nanoseconds(stamp.modified_ns))
    }

    /// The bytes of a regular file, if there are at most as many as this. Must not block on other files. Only sessions and approvals need it.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it is larger.
    fn read_bytes(&self, _path: &Path, _max_bytes: u64) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A file with its times, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedFileStatus {
    /// The file.
    pub status: FileStatus,
    /// When its contents last changed.
    pub modified_ns: i64,
    /// When it was created, if the file system knows.
    pub created_ns: Option<i64>,
}

/// A file's type, size and identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileStatus {
    /// Its type.
    pub kind: FileKind,
    /// Its device.
    pub device: u64,
    /// Its inode on that device.
    pub inode: u64,
    /// Its size in bytes.
    pub len: u64,
    /// The number of its hard links.
    pub hard_links: u64,
}

impl FileStatus {
    /// Whether both are one file.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// Anything else.
    Other,
}

/// A disk without symlinks and hard links: every path is literal.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFileSystem;

impl FileSystem for NoFileSystem {
    fn read_link(&self, _: &Path) -> io::Result<PathBuf> {
        Err(io::ErrorKind::InvalidInput.into())
    }

    fn metadata(&self, _: &Path) -> io::Result<FileStatus> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn symlink_metadata(&self, _: &Path) -> io::Result<FileStatus> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn list_directory(&self, _: &Path, _: usize) -> Vec<PathBuf> {
        Vec::new()
    }

    fn have_same_contents(&self, _: &Path, _: &Path) -> io::Result<bool> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn read_text(&self, _: &Path, _: u64) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn current_program(&self) -> Option<PathBuf> {
        None
    }
}
