//! How far a transcript was read, and how to see that it is still the same file.

use std::fmt;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use thiserror::Error;

use super::MAX_READ_BYTES;

/// How many bytes at the start of a file, and how many before the mark, are remembered by their hash.
const CHECKED_BYTES: u64 = 4096;

/// Which file it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The device it is on.
    pub device: u64,
    /// Its number there.
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

/// How far a transcript was read. As text, for a column of a database, it is `device:inode:offset:hash:modified`; the last
/// part may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct TranscriptCursor {
    /// The file, if any was read yet.
    pub file: Option<FileId>,
    /// How many bytes of it were read.
    pub offset: u64,
    /// Whether the mark stands inside a line that is skipped, because it is too long or its start was not read.
    pub(super) in_long_line: bool,
    /// A hash of bytes before the mark. A file that is rewritten in place, or a new one that got the inode of the old,
    /// has others there.
    pub(super) hash: u64,
    /// When the file was last written to, in nanoseconds: one that is rewritten in place may have the same length.
    pub(super) modified: Option<i128>,
}

/// A text that is no [`TranscriptCursor`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("a mark in a transcript is written device:inode:offset:hash:modified, not {0:?}")]
pub struct CursorParseError(String);

impl TranscriptCursor {
    /// The mark at `offset` of `file`, at the start of a line.
    pub(super) fn from_offset(file: &File, offset: u64) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self {
            file: Some(FileId::from_metadata(&metadata)),
            offset,
            in_long_line: false,
            hash: hash_prefix(file, offset)?,
            modified: Some(get_modified_ns(&metadata)),
        })
    }

    /// Where the first reading of `file` begins. Of a large one only the end is read; the byte before it tells whether
    /// a line starts there.
    pub(super) fn initial(file: &File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        match length.checked_sub(MAX_READ_BYTES + 1) {
            Some(offset) => Ok(Self { in_long_line: true, ..Self::from_offset(file, offset)? }),
            None => Self::from_offset(file, 0),
        }
    }

    /// Whether the file looks as if nothing had been written to it since. It costs nothing to ask.
    pub fn is_at_end_of(&self, metadata: &Metadata) -> bool {
        self.file == Some(FileId::from_metadata(metadata))
            && self.offset == metadata.len()
            && self.modified == Some(get_modified_ns(metadata))
    }

    /// Whether both are at the same place of the same file. When that was written to says nothing: it grows.
    pub(crate) fn is_same_position(&self, other: &Self) -> bool {
        let place = |mark: &Self| (mark.file, mark.offset, mark.in_long_line, mark.hash);
        place(self) == place(other)
    }

    /// Whether `file` is still the file of this mark, with what was read still in it.
    pub(super) fn is_valid_for(&self, file: &File) -> io::Result<bool> {
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

/// A hash of the first bytes of a file and of the bytes before `offset`, none of them after it.
fn hash_prefix(file: &File, offset: u64) -> io::Result<u64> {
    let size = offset.min(CHECKED_BYTES);
    let mut hash = Sha256::new();
    hash.update(read_range(file, 0, size)?);
    hash.update(read_range(file, offset - size, size)?);
    let digest = hash.finalize();
    Ok(digest.iter().take(8).fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

/// What there is of `size` bytes at `start`: fewer if the file was truncated under way, which the next call will see.
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
