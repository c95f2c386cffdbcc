//! Copies one file aside: as a copy that shares its blocks, as another name, or byte by byte.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::SeekFrom;
use rustix::io::Errno;
use snell::{FileAccess, RegularFile};

use super::budget::{BackupBudget, SMALL_BYTES};
use super::manifest::{CopyWay, UnsavedReason};

/// Between two chunks, the time is checked.
const CHUNK_BYTES: usize = 512 * 1024;

/// How much of two files is compared at a time.
const COMPARED_BYTES: usize = 1 << 16;

/// A file that may be replaced while it is copied is tried again once.
const ATTEMPTS: usize = 2;

/// Whether the contents of a file stay as they are when it is lost. Then another name keeps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentFate {
    /// Only the name is removed.
    Stays,
    /// Something is written into the file.
    Changes,
}

/// Copies the contents of a regular file to a new file.
pub(super) fn copy_aside(
    source: &Path,
    expected: &Metadata,
    fate: ContentFate,
    target: &Path,
    budget: &BackupBudget,
) -> Result<(CopyWay, Metadata), UnsavedReason> {
    // A file with other names may be changed under one of them.
    if fate == ContentFate::Stays && expected.nlink() == 1 && fs::hard_link(source, target).is_ok() {
        let linked = fs::symlink_metadata(target).ok().filter(|linked| is_same_state(linked, expected));
        if let Some(linked) = linked {
            return Ok((CopyWay::Link, linked));
        }
        let _ = fs::remove_file(target);
    }
    for _ in 0..ATTEMPTS {
        let file = RegularFile::open(source, FileAccess::ReadNoFollow).map_err(|_| UnsavedReason::Unreadable)?;
        let file = file.into_file();
        let before = file.metadata().map_err(|_| UnsavedReason::Unreadable)?;
        let way = copy_contents(&file, before.len(), target, budget).inspect_err(|_| {
            let _ = fs::remove_file(target);
        })?;
        let after = file.metadata().map_err(|_| UnsavedReason::Unreadable)?;
        if is_same_state(&before, &after) {
            return Ok((way, after));
        }
        let _ = fs::remove_file(target);
    }
    Err(UnsavedReason::Changing)
}

fn is_same_state(one: &Metadata, other: &Metadata) -> bool {
    let state = |file: &Metadata| (file.dev(), file.ino(), file.len(), file.mtime(), file.mtime_nsec());
    state(one) == state(other)
}

fn copy_contents(source: &File, size: u64, target: &Path, budget: &BackupBudget) -> Result<CopyWay, UnsavedReason> {
    let mut options = OpenOptions::new();
    let target = options.write(true).create_new(true).mode(0o600).open(target).map_err(|_| UnsavedReason::NoSpace)?;
    if clone_blocks(source, &target) {
        return Ok(CopyWay::Reflink);
    }
    // The caller has time for a small file.
    copy_bytes(source, size, &target, &|| size > SMALL_BYTES && budget.is_over())?;
    Ok(CopyWay::Copy)
}

/// Shares the blocks of a file, where the file system can do that.
#[cfg(target_os = "linux")]
pub(super) fn clone_blocks(source: &File, target: &File) -> bool {
    rustix::fs::ioctl_ficlone(target, source).is_ok()
}

/// Shares the blocks of a file, where the file system can do that.
#[cfg(not(target_os = "linux"))]
pub(super) fn clone_blocks(_: &File, _: &File) -> bool {
    false
}

/// Copies all bytes, and leaves the holes of a sparse file out.
pub(super) fn copy_bytes(
    source: &File,
    size: u64,
    target: &File,
    is_over: &dyn Fn() -> bool,
) -> Result<(), UnsavedReason> {
    let mut position = 0;
    while let Some((start, end)) = find_data(source, position, size) {
        seek_both(source, target, start)?;
        copy_range(source, end - start, target, is_over)?;
        position = end;
    }
    // The end may be a hole.
    target.set_len(size).map_err(|_| UnsavedReason::NoSpace)
}

/// The next part of a file that is no hole.
fn find_data(file: &File, position: u64, size: u64) -> Option<(u64, u64)> {
    if position >= size {
        return None;
    }
    #[cfg(any(target_os = "linux", target_os = "freebsd"))]
    {
        match rustix::fs::seek(file, SeekFrom::Data(position)) {
            Ok(start) if start < size => {
                let end = rustix::fs::seek(file, SeekFrom::Hole(start)).unwrap_or(size);
                return Some((start, end.clamp(start + 1, size)));
            }
            Ok(_) | Err(Errno::NXIO) => return None,
            Err(_) => {}
        }
    }
    Some((position, size))
}

fn seek_both(source: &File, target: &File, position: u64) -> Result<(), UnsavedReason> {
    rustix::fs::seek(source, SeekFrom::Start(position)).map_err(|_| UnsavedReason::Unreadable)?;
    rustix::fs::seek(target, SeekFrom::Start(position)).map_err(|_| UnsavedReason::NoSpace)?;
    Ok(())
}

fn copy_range(
    mut source: &File,
    length: u64,
    mut target: &File,
    is_over: &dyn Fn() -> bool,
) -> Result<(), UnsavedReason> {
    let mut left = length;
    let mut buffer = vec![0; usize::try_from(left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES)];
    while left > 0 {
        if is_over() {
            return Err(UnsavedReason::NoTime);
        }
        let wanted = usize::try_from(left).unwrap_or(CHUNK_BYTES).min(CHUNK_BYTES);
        let chunk = buffer.get_mut(..wanted).unwrap_or_default();
        let read = match source.read(chunk) {
            // The file became shorter, which its metadata shows afterwards.
            Ok(0) => return Ok(()),
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => return Err(UnsavedReason::Unreadable),
        };
        let chunk = buffer.get(..read).unwrap_or_default();
        target.write_all(chunk).map_err(|_| UnsavedReason::NoSpace)?;
        left -= read as u64;
    }
    Ok(())
}

/// Compares two regular files up to the first difference.
pub(crate) fn have_same_contents(mut one: File, mut other: File) -> io::Result<bool> {
    let (metadata, expected) = (other.metadata()?, one.metadata()?);
    // Another file may have taken the name meanwhile.
    if !metadata.is_file() || metadata.len() != expected.len() {
        return Ok(false);
    }
    loop {
        let (mut left, mut right) = (Vec::with_capacity(COMPARED_BYTES), Vec::with_capacity(COMPARED_BYTES));
        Read::by_ref(&mut one).take(COMPARED_BYTES as u64).read_to_end(&mut left)?;
        Read::by_ref(&mut other).take(COMPARED_BYTES as u64).read_to_end(&mut right)?;
        if left != right || left.is_empty() {
            return Ok(left == right);
        }
    }
}
