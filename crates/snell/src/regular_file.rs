//! Opens regular files by names that may belong to something else.
//!
//! A FIFO, a terminal or a device in the place of a file can block a process that opens or reads it, and opening a device
//! can have effects. Every file that Snell opens by a name that it did not just create goes through [`RegularFile`]:
//!
//! | step | purpose |
//! |---|---|
//! | `stat` the path | a device is not even opened |
//! | open with `O_NONBLOCK`, `O_NOCTTY`, `O_CLOEXEC` | a FIFO that took the name meanwhile does not block |
//! | `fstat` the open file | only a regular file on a file system that stores files is used |
//! | read in chunks | a limit of bytes, and no chunk starts after [`READ_TIMEOUT`] |
//!
//! Files below `/proc` and `/sys` report that they are regular, and some of them block or never end. Snell rejects their
//! file systems by type.
//!
//! One case has no time limit: a single system call (`stat`, `open`, `read`) on a network or FUSE file system whose server
//! does not answer. No flag of `open` limits that, and a thread per file would cost more than all reading. The limit
//! applies between two such calls.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{OFlags, StatFs};

/// No chunk of a file is read later than this after the first one.
pub const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// The chunk size for a file that is longer than its metadata reports.
const READ_CHUNK_BYTES: usize = 64 * 1024;

/// File systems whose files are generated when they are read. Names as in `linux/magic.h`.
const PSEUDO_FILE_SYSTEMS: &[(u64, &str)] = &[
    (0x9fa0, "proc"),
    (0x6265_6572, "sysfs"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0x6265_6570, "configfs"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0xcafe_4a11, "bpf"),
    (0xde5e_81e4, "efivarfs"),
    (0x6165_676c, "pstore"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x1980_0202, "mqueue"),
    (0x6e73_6673, "nsfs"),
    (0x6573_5543, "fusectl"),
    (0x0765_5821, "resctrl"),
    (0x1cd1, "devpts"),
];

/// How a regular file is opened. New files are readable by their owner only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// To read it.
    Read,
    /// To read it, unless its name is a symlink.
    ReadNoFollow,
    /// To append to it. It is created if it does not exist.
    Append,
    /// To read and write it, or to lock it. It is created if it does not exist.
    Write,
    /// To read and write it, if it exists.
    WriteExisting,
}

/// An open regular file.
#[derive(Debug)]
pub struct RegularFile {
    file: File,
    metadata: Metadata,
}

impl RegularFile {
    /// Opens the file at this path.
    ///
    /// # Errors
    ///
    /// When the file cannot be opened, or is not a regular one: see [`is_file_kind_error`].
    pub fn open(path: &Path, access: FileAccess) -> io::Result<Self> {
        let creates = matches!(access, FileAccess::Append | FileAccess::Write);
        match stat_path(path, access) {
            Err(error) if creates && error.kind() == ErrorKind::NotFound => {}
            metadata => require_regular_file(metadata?.file_type())?,
        }
        Self::open_after_stat(path, access)
    }

    /// As [`RegularFile::open`], for a caller that has just checked that the path is a regular file.
    ///
    /// # Errors
    ///
    /// As [`RegularFile::open`].
    pub fn open_after_stat(path: &Path, access: FileAccess) -> io::Result<Self> {
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut options = OpenOptions::new();
        match access {
            FileAccess::Read => options.read(true),
            FileAccess::ReadNoFollow => {
                flags |= OFlags::NOFOLLOW;
                options.read(true)
            }
            FileAccess::Append => options.append(true).create(true).mode(0o600),
            FileAccess::Write => options.read(true).write(true).create(true).mode(0o600),
            FileAccess::WriteExisting => options.read(true).write(true),
        };
        let file = options.custom_flags(flags.bits().cast_signed()).open(path)?;
        let metadata = file.metadata()?;
        require_regular_file(metadata.file_type())?;
        if may_be_pseudo_file(&metadata) {
            reject_pseudo_file_system(&rustix::fs::fstatfs(&file)?)?;
        }
        Ok(Self { file, metadata })
    }

    /// The metadata from when the file was opened.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The open file.
    pub fn into_file(self) -> File {
        self.file
    }

    /// Reads all of the file, if it has at most so many bytes.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::FileTooLarge`] for a larger file, [`ErrorKind::TimedOut`] when reading takes too long.
    pub fn read_all(self, at_most: u64) -> io::Result<Vec<u8>> {
        if self.metadata.len() > at_most {
            return Err(too_large_error(self.metadata.len(), at_most));
        }
        let (bytes, more) = self.read_prefix(at_most)?;
        if more {
            return Err(too_large_error(at_most + 1, at_most));
        }
        Ok(bytes)
    }

    /// Reads the first bytes of the file, and returns whether there are more.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::TimedOut`] when reading takes too long.
    pub fn read_prefix(mut self, at_most: u64) -> io::Result<(Vec<u8>, bool)> {
        let most = usize::try_from(at_most).unwrap_or(usize::MAX);
        let expected = usize::try_from(self.metadata.len()).unwrap_or(usize::MAX).min(most);
        let bytes = read_bounded(&mut self.file, expected, most)?;
        let more = bytes.len() > most;
        let mut bytes = bytes;
        bytes.truncate(most);
        Ok((bytes, more))
    }
}

/// Reads all of the file at this path, if it has at most so many bytes.
///
/// # Errors
///
/// As [`RegularFile::open`] and [`RegularFile::read_all`].
pub fn read_file(path: &Path, at_most: u64) -> io::Result<Vec<u8>> {
    RegularFile::open(path, FileAccess::Read)?.read_all(at_most)
}

/// As [`read_file`], for text.
///
/// # Errors
///
/// As [`read_file`], and [`ErrorKind::InvalidData`] for a file that is not UTF-8.
pub fn read_text_file(path: &Path, at_most: u64) -> io::Result<String> {
    String::from_utf8(read_file(path, at_most)?).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

/// Checks that the path is a regular file, without opening it: for files that a library opens. A missing file is fine, but
/// a dangling symlink is not.
///
/// # Errors
///
/// When the path is something else, or `stat` fails.
pub fn check_regular_file(path: &Path) -> io::Result<()> {
    let metadata = match stat_path(path, FileAccess::Read) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        metadata => metadata?,
    };
    require_regular_file(metadata.file_type())?;
    if may_be_pseudo_file(&metadata) {
        reject_pseudo_file_system(&rustix::fs::statfs(path)?)?;
    }
    Ok(())
}

/// Whether a file was rejected for its kind: a FIFO, a socket, a device, a directory, a dangling symlink, or a file of a
/// virtual file system.
pub fn is_file_kind_error(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<FileKindError>())
}

/// Syncs a directory to disk after files in it were created or deleted.
///
/// # Errors
///
/// When the path is not a directory, or the disk fails.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    let flags = OFlags::DIRECTORY | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(flags.bits().cast_signed());
    options.open(path)?.sync_all()
}

/// Why a file is rejected.
#[derive(Debug, thiserror::Error)]
enum FileKindError {
    #[error("it is {0}, not a regular file")]
    Kind(&'static str),
    #[error("it is a symlink to a missing file")]
    DanglingSymlink,
    #[error("it is a virtual file of {0}, not a stored file")]
    Pseudo(&'static str),
}

impl From<FileKindError> for io::Error {
    fn from(fault: FileKindError) -> Self {
        Self::new(ErrorKind::InvalidInput, fault)
    }
}

/// The metadata of the file at this path. A dangling symlink is an error: creating its target would write elsewhere.
fn stat_path(path: &Path, access: FileAccess) -> io::Result<Metadata> {
    let metadata = fs::symlink_metadata(path)?;
    if !metadata.is_symlink() || access == FileAccess::ReadNoFollow {
        return Ok(metadata);
    }
    fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => FileKindError::DanglingSymlink.into(),
        _ => error,
    })
}

fn require_regular_file(kind: FileType) -> io::Result<()> {
    let named = [
        (kind.is_dir(), "a directory"),
        (kind.is_fifo(), "a FIFO"),
        (kind.is_socket(), "a socket"),
        (kind.is_char_device(), "a character device"),
        (kind.is_block_device(), "a block device"),
        (kind.is_symlink(), "a symlink"),
        (!kind.is_file(), "another kind of file"),
    ];
    match named.iter().find(|(is, _)| *is) {
        Some((_, what)) => Err(FileKindError::Kind(what).into()),
        None => Ok(()),
    }
}

/// Generated files occupy no blocks. Of stored files, only empty and very small ones do so.
fn may_be_pseudo_file(metadata: &Metadata) -> bool {
    metadata.blocks() == 0
}

fn reject_pseudo_file_system(file_system: &StatFs) -> io::Result<()> {
    let kind = u64::try_from(file_system.f_type).unwrap_or_default();
    match PSEUDO_FILE_SYSTEMS.iter().find(|(magic, _)| *magic == kind) {
        Some((_, name)) => Err(FileKindError::Pseudo(name).into()),
        None => Ok(()),
    }
}

fn too_large_error(bytes: u64, at_most: u64) -> io::Error {
    let message = format!("it is too large ({bytes} bytes, the limit is {at_most})");
    io::Error::new(ErrorKind::FileTooLarge, message)
}

/// Reads to the end, but at most one byte beyond the limit.
fn read_bounded(source: &mut impl Read, expected: usize, most: usize) -> io::Result<Vec<u8>> {
    let began = Instant::now();
    // One more byte than expected, so that the buffer need not grow at the end of the file.
    let mut bytes = vec![0; expected.saturating_add(1)];
    let mut filled = 0;
    while filled <= most {
        if filled == bytes.len() {
            bytes.resize(filled.saturating_add(READ_CHUNK_BYTES).min(most.saturating_add(1)), 0);
        }
        let end = bytes.len().min(filled.saturating_add(READ_CHUNK_BYTES));
        match source.read(&mut bytes[filled..end]) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if began.elapsed() > READ_TIMEOUT {
            return Err(io::Error::new(ErrorKind::TimedOut, "reading it takes too long"));
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    const ALL_ACCESSES: [FileAccess; 5] =
        [FileAccess::Read, FileAccess::ReadNoFollow, FileAccess::Append, FileAccess::Write, FileAccess::WriteExisting];

    #[test]
    fn everything_but_a_regular_file_is_refused_for_every_access() {
        type CreateFileFn = fn(&Path);
        let kinds: [(&str, CreateFileFn); 8] = [
            ("it is a FIFO, not a regular file", |path| {
                mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            }),
            ("it is a directory, not a regular file", |path| fs::create_dir(path).unwrap()),
            ("it is a socket, not a regular file", |path| drop(UnixListener::bind(path).unwrap())),
            ("it is a character device, not a regular file", |path| symlink("/dev/zero", path).unwrap()),
            ("it is a character device, not a regular file", |path| symlink("/dev/full", path).unwrap()),
            ("it is a symlink to a missing file", |path| symlink("/nowhere/at/all", path).unwrap()),
            ("it is a virtual file of proc", |path| symlink("/proc/self/status", path).unwrap()),
            ("it is a virtual file of sysfs", |path| {
                symlink("/sys/kernel/mm/transparent_hugepage/enabled", path).unwrap();
            }),
        ];
        for (message, make) in kinds {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join("it");
            make(&path);
            // Not every machine has each of them.
            if message.contains("sysfs") && !path.exists() {
                continue;
            }
            let is_link = fs::symlink_metadata(&path).unwrap().is_symlink();
            for access in ALL_ACCESSES {
                let error = RegularFile::open(&path, access).unwrap_err();
                let message_text = error.to_string();
                // This user may not write to a virtual file.
                let is_denied = error.kind() == ErrorKind::PermissionDenied;
                let expected = match access {
                    FileAccess::ReadNoFollow if is_link => "it is a symlink, not a regular file",
                    _ => message,
                };
                assert!(is_denied || message_text.starts_with(expected), "{access:?} of {message}: {message_text}");
                assert!(is_denied || is_file_kind_error(&error), "{access:?} of {message}");
            }
            assert!(check_regular_file(&path).is_err_and(|error| is_file_kind_error(&error)), "{message}");
            assert!(!Path::new("/nowhere").exists());
        }
    }

    #[test]
    fn a_missing_file_is_created_private_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        for access in ALL_ACCESSES {
            let path = directory.path().join(format!("{access:?}"));
            assert!(check_regular_file(&path).is_ok());
            match RegularFile::open(&path, access) {
                Ok(file) => {
                    assert!(matches!(access, FileAccess::Append | FileAccess::Write), "{access:?}");
                    assert_eq!(file.metadata().permissions().mode() & 0o777, 0o600);
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "{access:?}"),
            }
        }
    }

    #[test]
    fn a_file_is_read_within_its_limit() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        for length in [0, 1, 10, READ_CHUNK_BYTES - 1, READ_CHUNK_BYTES, READ_CHUNK_BYTES + 1, 3 * READ_CHUNK_BYTES] {
            let content: Vec<_> = (0..length).map(|at| (at % 251) as u8).collect();
            fs::write(&path, &content).unwrap();
            for limit in [0, 1, length.saturating_sub(1), length, length + 1, 4 * READ_CHUNK_BYTES] {
                let opened = || RegularFile::open(&path, FileAccess::Read).unwrap();
                let (bytes, more) = opened().read_prefix(limit as u64).unwrap();
                assert_eq!((&bytes[..], more), (&content[..length.min(limit)], length > limit), "{length} {limit}");
                match opened().read_all(limit as u64) {
                    Ok(all) => assert!(all == content && length <= limit, "{length} {limit}"),
                    Err(error) => assert!(error.kind() == ErrorKind::FileTooLarge && length > limit, "{error}"),
                }
            }
        }
    }

    #[test]
    fn a_file_that_grows_without_end_is_read_to_its_limit_and_one_that_blocks_is_an_error() {
        let endless = read_bounded(&mut std::io::repeat(7), 0, 100_000).unwrap();
        assert_eq!(endless.len(), 100_001);
        let (mut reader, _writer) = std::os::unix::net::UnixStream::pair().unwrap();
        reader.set_nonblocking(true).unwrap();
        assert_eq!(read_bounded(&mut reader, 0, 10).unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}
