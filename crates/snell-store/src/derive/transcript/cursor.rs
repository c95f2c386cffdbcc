//! The position in a transcript, with a check that it is still the same file.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::MAX_READ_BYTES;
use super::line_reader::LineReader;

/// How many bytes at the start of a file, and how many before the cursor, are hashed.
const CHECKED_BYTES: u64 = 4096;

/// The identity of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// Its device.
    pub device: u64,
    /// Its inode.
    pub inode: u64,
}

impl FileId {
    /// The file at this path, if there is one.
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        fs::metadata(path).ok().as_ref().map(Self::from_metadata)
    }

    fn from_metadata(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

/// The position in a transcript. As text, for a database column, it is `device:inode:offset:hash:modified`; the last
/// part may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TranscriptCursor {
    /// The file, if any was read yet.
    pub file: Option<FileId>,
    /// How many bytes of it were read.
    pub offset: u64,
    /// Whether the cursor is inside a line that is skipped, because it is too long or its start was not read.
    pub(super) in_long_line: bool,
    /// A hash of bytes before the cursor. It differs if the file was rewritten in place, or if a new file got the old
    /// inode.
    pub(super) hash: u64,
    /// The time of the last write to the file, in nanoseconds: a file that is rewritten in place may have the same
    /// length.
    pub(super) modified: Option<i128>,
}

/// A text that is not a [`TranscriptCursor`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a transcript position must have the form device:inode:offset:hash:modified, not {0:?}")]
pub struct CursorParseError(String);

impl TranscriptCursor {
    /// The cursor at `offset` of `file`, at the start of a line.
    pub(crate) fn from_offset(file: &File, offset: u64) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            file: Some(FileId::from_metadata(&metadata)),
            offset,
            in_long_line: false,
            hash: hash_prefix(file, offset)?,
            modified: Some(get_modified_ns(&metadata)),
        })
    }

    /// The start of the first read of `file`. Only the end of a large file is read; the byte before it shows whether a
    /// line starts there.
    pub(super) fn initial(file: &File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        match length.checked_sub(MAX_READ_BYTES + 1) {
            Some(offset) => Ok(Self { in_long_line: true, ..Self::from_offset(file, offset)? }),
            None => Self::from_offset(file, 0),
        }
    }

    /// The position after the lines that were read.
    pub(crate) fn after_lines(file: &File, lines: &LineReader<'_>) -> io::Result<Self> {
        let cursor = Self::from_offset(file, lines.offset())?;
        Ok(Self { in_long_line: lines.is_in_long_line(), ..cursor })
    }

    /// Whether the file seems unchanged since the last read. This check is cheap.
    pub fn is_at_end_of(&self, metadata: &Metadata) -> bool {
        self.file == Some(FileId::from_metadata(metadata))
            && self.offset == metadata.len()
            && self.modified == Some(get_modified_ns(metadata))
    }

    /// Whether both are at the same position of the same file. The time of the last write does not matter, because the
    /// file grows.
    pub(crate) fn is_same_position(&self, other: &Self) -> bool {
        let place = |mark: &Self| (mark.file, mark.offset, mark.in_long_line, mark.hash);
        place(self) == place(other)
    }

    /// Whether `file` is still the file of this cursor, and still has the content that was read.
    pub(crate) fn is_valid_for(&self, file: &File) -> io::Result<bool> {
        if file.metadata()?.len() < self.offset {
            return Ok(false);
        }
        let now = Self { in_long_line: self.in_long_line, ..Self::from_offset(file, self.offset)? };
        Ok(self.is_same_position(&now))
    }
}

fn get_modified_ns(metadata: &Metadata) -> i128 {
    i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec())
}

/// A hash of the first bytes of a file and of the bytes before `offset`, but none after it.
fn hash_prefix(file: &File, offset: u64) -> io::Result<u64> {
    let size = offset.min(CHECKED_BYTES);
    let mut hash = Sha256::new();
    hash.update(read_range(file, 0, size)?);
    hash.update(read_range(file, offset - size, size)?);
    let digest = hash.finalize();
    Ok(digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

/// Up to `size` bytes at `start`: fewer if the file was truncated meanwhile, which the next call detects.
fn read_range(file: &File, start: u64, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], start + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

impl fmt::Display for TranscriptCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(FileId { device, inode }) = self.file else {
            return Ok(());
        };
        let long = if self.in_long_line { "+" } else { "" };
        write!(f, "{device}:{inode}:{}{long}:{:016x}", self.offset, self.hash)?;
        self.modified.map_or(Ok(()), |modified| write!(f, ":{modified}"))
    }
}

impl FromStr for TranscriptCursor {
    type Err = CursorParseError;

    fn from_str(text: &str) -> Result<Self, CursorParseError> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        parse_cursor(text).ok_or_else(|| CursorParseError(text.to_owned()))
    }
}

fn parse_cursor(text: &str) -> Option<TranscriptCursor> {
    let mut parts = text.split(':');
    let (device, inode) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let (offset, hash) = (parts.next()?, parts.next()?);
    let modified = match parts.next() {
        Some(text) => Some(text.parse().ok()?),
        None => None,
    };
    let whole = offset.strip_suffix('+');
    let mark = TranscriptCursor {
        file: Some(FileId { device, inode }),
        offset: whole.unwrap_or(offset).parse().ok()?,
        in_long_line: whole.is_some(),
        hash: u64::from_str_radix(hash, 16).ok()?,
        modified,
    };
    parts.next().is_none().then_some(mark)
}
