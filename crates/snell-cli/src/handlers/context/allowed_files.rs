//! Which files may be read, and how much of them.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use snell::{FileAccess, RegularFile};
use snell_guard::paths::normalize_path;

use super::render::FileExcerpt;

/// Directories and files from which context may come.
///
/// A cloned repository can hold any symlink and any role. Files that it names are sent to a model, and so leave the machine.
/// So a file must be, with all symlinks resolved, in the project or in a place that the user allowed.
#[derive(Debug)]
pub(super) struct AllowedRoots {
    roots: Vec<PathBuf>,
}

impl AllowedRoots {
    /// The project, the directory of the session, and the places that the user allows. Missing directories hold no files.
    pub(super) fn new(project: &Path, project_path: Option<&Path>, allow: &[PathBuf]) -> Self {
        // A symlink in the project is the project's choice: its target must be allowed too.
        let normalize = |path: &Path| PathBuf::from(normalize_path(path));
        let elsewhere = project_path.filter(|path| !normalize(path).starts_with(normalize(project)));
        let named = [Some(project), elsewhere];
        let named = named.into_iter().flatten().chain(allow.iter().map(PathBuf::as_path));
        Self { roots: named.filter_map(|place| place.canonicalize().ok()).collect() }
    }

    /// Whether this resolved path is allowed.
    pub(super) fn contains(&self, resolved: &Path) -> bool {
        self.roots.iter().any(|place| resolved.starts_with(place))
    }
}

/// The path with all symlinks resolved; none if it does not exist.
pub(super) fn resolve_links(path: &Path) -> io::Result<Option<PathBuf>> {
    none_if_absent(path.canonicalize())
}

/// Turns "not found", or a file in place of a directory, into none.
pub(in crate::handlers) fn none_if_absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(there) => Ok(Some(there)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens a file by its resolved path. A symlink that has replaced it is not followed.
pub(super) fn open_resolved(resolved: &Path) -> io::Result<RegularFile> {
    RegularFile::open(resolved, FileAccess::ReadNoFollow)
}

/// As much of a file as fits into the room.
pub(super) fn read_within(file: RegularFile, room: u64) -> io::Result<FileExcerpt> {
    let size = file.metadata().len();
    // One more byte shows whether a character ends at the limit.
    let (mut bytes, _) = file.read_prefix(room + 1)?;
    let mut cut = None;
    if bytes.len() as u64 > room {
        // It may have grown.
        let size = size.max(bytes.len() as u64);
        bytes.truncate(find_cut_point(&bytes, room as usize));
        cut = Some((bytes.len() as u64, size));
    }
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    // Checking for UTF-8 is several times faster than replacing invalid bytes.
    let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Into::into);
    // Text has no NULs. A sparse file has many, and each becomes six characters in JSON.
    let text = text.replace('\0', "");
    Ok(FileExcerpt { text, cut })
}

/// How many bytes fit into the room: whole lines, or whole characters if a long line would leave half of the room empty.
fn find_cut_point(bytes: &[u8], room: usize) -> usize {
    let within = &bytes[..room.min(bytes.len())];
    let lines = within.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    if lines >= within.len().div_ceil(2) {
        return lines;
    }
    // A character has at most three bytes after its first.
    let starts = |at: &usize| bytes.get(*at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000);
    let nearby = within.len().saturating_sub(3)..=within.len();
    nearby.rev().find(starts).unwrap_or(within.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_is_cut_after_a_line_or_after_a_character() {
        let cases: [(&[u8], usize, usize); 13] = [
            (b"one\ntwo\nthree\n", 9, 8),
            (b"one\ntwo\nthree\n", 8, 8),
            (b"one\ntwo\nthree\n", 7, 4),
            (b"one\r\ntwo\r\n", 8, 5),
            (b"a long line", 4, 4),
            // Lines that fill less than half of the room give way to a part of the long line behind them.
            (b"one\na very long line", 7, 4),
            (b"one\na very long line", 8, 4),
            (b"one\na very long line", 9, 9),
            ("one\nääääääää".as_bytes(), 11, 10),
            ("äöü".as_bytes(), 3, 2),
            ("ä".as_bytes(), 1, 0),
            ("a😀".as_bytes(), 4, 1),
            // Bytes that are not text are cut at the limit.
            (&[0x80; 9], 6, 6),
        ];
        for (bytes, room, expected) in cases {
            assert_eq!(find_cut_point(bytes, room), expected, "{bytes:?} in {room}");
        }
    }

    #[test]
    fn a_path_is_made_plain_without_a_look_at_the_disk() {
        let cases = [("/a/./b/../c", "/a/c"), ("/a/../../b", "/b"), ("/a/b", "/a/b"), ("/a/b/..", "/a")];
        for (path, expected) in cases {
            assert_eq!(normalize_path(Path::new(path)), expected, "{path}");
        }
    }

    proptest! {
        #[test]
        fn a_cut_text_is_a_prefix_that_fits(text in "[aöü😀\r\n]{0,60}", room in 0_usize..80) {
            let fits = find_cut_point(text.as_bytes(), room.min(text.len()));
            prop_assert!(fits <= room);
            prop_assert!(text.is_char_boundary(fits));
            let room = room.min(text.len());
            let boundary = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let lines = text[..boundary].rfind('\n').map_or(0, |at| at + 1);
            prop_assert_eq!(fits, if 2 * lines < room { boundary } else { lines });
        }
    }
}
