//! The index of a git repository: which files git has, and whether a file is still as git has it.
//!
//! The caller reads the file. An index that cannot be read with certainty gives no answer: one that is shared with another file
//! (a split index), that stands for whole directories (a sparse index), or that is damaged.

use std::ops::Range;

/// Larger indexes are not read.
pub const MAX_INDEX_BYTES: usize = 32 << 20;
/// Indexes with more files are not read.
pub const MAX_INDEX_FILES: usize = 200_000;
/// Indexes whose names are longer in total are not read: version 4 stores only their differences.
pub const MAX_NAME_BYTES: usize = 32 << 20;

/// The bytes of a hash: SHA-1, or SHA-256.
const HASH_BYTES: [usize; 2] = [20, 32];
const HEADER_BYTES: usize = 12;
/// The numbers of an entry before its hash.
const STATUS_BYTES: usize = 40;
/// In the flags of an entry.
const NAME_LENGTH: u16 = 0x0fff;
const STAGE: u16 = 0x3000;
const IS_EXTENDED: u16 = 0x4000;
const ASSUME_UNCHANGED: u16 = 0x8000;
/// In the further flags: the file is only announced, or not checked out.
const SKIP_WORKTREE: u16 = 0x4000;
const INTENT_TO_ADD: u16 = 0x2000;
/// In the mode: the type of a regular file.
const MODE_TYPE: u32 = 0o170_000;
const REGULAR_FILE: u32 = 0o100_000;

/// The files that git has, by their paths in the repository.
#[derive(Clone, Debug, Default)]
pub struct GitIndex {
    entries: Vec<GitIndexEntry>,
    /// The names of all entries, one after the other.
    names: Vec<u8>,
}

/// One file as git has it.
#[derive(Clone, Debug)]
pub struct GitIndexEntry {
    name: Range<usize>,
    modified: FileTime,
    size: u32,
    is_regular: bool,
    /// Whether git has its contents, and compares it with the file on disk.
    is_certain: bool,
}

/// The nanoseconds of a second.
const NANOSECONDS: i64 = 1_000_000_000;

/// A time of a file, in seconds and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds of that second.
    pub nanoseconds: u32,
}

impl FileTime {
    /// The time that is this many nanoseconds after 1970.
    pub fn from_nanoseconds(all: i64) -> Self {
        let nanoseconds = u32::try_from(all.rem_euclid(NANOSECONDS)).unwrap_or_default();
        Self { seconds: all.div_euclid(NANOSECONDS), nanoseconds }
    }
}

impl GitIndex {
    /// Reads the bytes of an index file. `None` if they do not tell everything.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_INDEX_BYTES {
            return None;
        }
        HASH_BYTES.iter().find_map(|hash| IndexReader { rest: bytes, hash_bytes: *hash }.read())
    }

    /// Whether git has a file at this path.
    pub fn contains(&self, path: &[u8]) -> bool {
        self.find(path).is_some()
    }

    /// Whether git has a file below this directory.
    pub fn contains_below(&self, directory: &[u8]) -> bool {
        let start = [directory, b"/"].concat();
        let first = self.entries.partition_point(|entry| self.name(entry) < start.as_slice());
        self.entries.get(first).is_some_and(|entry| self.name(entry).starts_with(&start))
    }

    /// The file at this path; the first version of a file with conflicts.
    pub fn find(&self, path: &[u8]) -> Option<&GitIndexEntry> {
        let first = self.entries.partition_point(|entry| self.name(entry) < path);
        self.entries.get(first).filter(|entry| self.name(entry) == path)
    }

    /// The files at or below this path, with their paths; all files for an empty path.
    pub fn entries_below<'a>(&'a self, path: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a GitIndexEntry)> {
        let first = self.entries.partition_point(|entry| self.name(entry) < path);
        let entries = self.entries.iter().skip(first).map(|entry| (self.name(entry), entry));
        let entries = entries.take_while(move |(name, _)| name.starts_with(path));
        entries.filter(move |(name, _)| path.is_empty() || matches!(name.get(path.len()), None | Some(b'/')))
    }

    /// The number of its entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether git has no files.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn name(&self, entry: &GitIndexEntry) -> &[u8] {
        self.names.get(entry.name.clone()).unwrap_or_default()
    }
}

impl GitIndexEntry {
    /// Whether git has this very file: a regular file with this size and time of change, and an index that was written later. A file
    /// does not count as unchanged if it changed in the moment in which the index was written.
    pub fn is_unchanged(&self, size: u64, modified: FileTime, index_written: FileTime) -> bool {
        // Some programs write whole seconds.
        let (modified, index_written) = match self.modified.nanoseconds {
            0 => (modified.whole_seconds(), index_written.whole_seconds()),
            _ => (modified, index_written),
        };
        self.is_certain
            && self.is_regular
            && u64::from(self.size) == size
            && self.modified == modified
            && self.modified < index_written
    }
}

impl FileTime {
    fn whole_seconds(self) -> Self {
        Self { nanoseconds: 0, ..self }
    }
}

struct IndexReader<'a> {
    rest: &'a [u8],
    hash_bytes: usize,
}

impl<'a> IndexReader<'a> {
    fn read(mut self) -> Option<GitIndex> {
        let length = self.rest.len();
        let [signature, version, count] = [self.take(4)?, self.take(4)?, self.take(4)?];
        let version = to_u32(version)?;
        let count = usize::try_from(to_u32(count)?).ok()?;
        if signature != b"DIRC" || !(2..=4).contains(&version) || count > MAX_INDEX_FILES {
            return None;
        }
        // A false number must not reserve memory.
        let room = count.min(length.saturating_sub(HEADER_BYTES) / (STATUS_BYTES + self.hash_bytes));
        let mut index = GitIndex { entries: Vec::with_capacity(room), names: Vec::new() };
        for _ in 0..count {
            self.read_entry(version, &mut index)?;
        }
        self.skip_extensions()?;
        Some(index)
    }

    fn read_entry(&mut self, version: u32, index: &mut GitIndex) -> Option<()> {
        let start = self.rest;
        let status = self.take(STATUS_BYTES)?;
        let field = |number: usize| to_u32(status.get(number * 4..)?.get(..4)?);
        self.take(self.hash_bytes)?;
        let flags = to_u16(self.take(2)?)?;
        let further = if flags & IS_EXTENDED != 0 && version > 2 { to_u16(self.take(2)?)? } else { 0 };
        let previous = index.entries.last().map_or(0..0, |entry| entry.name.clone());
        let begin = index.names.len();
        if version == 4 {
            let kept = previous.len().checked_sub(self.read_number()?)?;
            index.names.extend_from_within(previous.start..previous.start + kept);
        }
        let end = self.rest.iter().position(|byte| *byte == 0)?;
        index.names.extend_from_slice(self.take(end)?);
        let name = begin..index.names.len();
        let told = usize::from(flags & NAME_LENGTH);
        if name.is_empty() || told != name.len().min(usize::from(NAME_LENGTH)) || index.names.len() > MAX_NAME_BYTES {
            return None;
        }
        // At least one zero byte ends a name; older versions fill up to a multiple of eight.
        let read = start.len() - self.rest.len();
        let zeros = if version == 4 { 1 } else { 8 - read % 8 };
        if self.take(zeros)?.iter().any(|byte| *byte != 0) {
            return None;
        }
        if index.names.get(previous)? > index.names.get(name.clone())? {
            return None;
        }
        let uncertain = STAGE | ASSUME_UNCHANGED;
        index.entries.push(GitIndexEntry {
            name,
            modified: FileTime { seconds: i64::from(field(2)?), nanoseconds: field(3)? },
            size: field(9)?,
            is_regular: field(6)? & MODE_TYPE == REGULAR_FILE,
            is_certain: flags & uncertain == 0 && further & (SKIP_WORKTREE | INTENT_TO_ADD) == 0,
        });
        Some(())
    }

    /// Skips data that no file depends on. Git marks all other data by a small letter.
    fn skip_extensions(&mut self) -> Option<()> {
        while self.rest.len() > self.hash_bytes {
            let signature = self.take(4)?;
            let size = usize::try_from(to_u32(self.take(4)?)?).ok()?;
            self.take(size)?;
            signature.first().filter(|letter| letter.is_ascii_uppercase())?;
        }
        (self.rest.len() == self.hash_bytes).then_some(())
    }

    /// A number of version 4: seven bits in each byte, the highest first.
    fn read_number(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut number = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            number = number.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(number)
    }

    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }
}

fn to_u32(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

fn to_u16(bytes: &[u8]) -> Option<u16> {
    bytes.try_into().ok().map(u16::from_be_bytes)
}
