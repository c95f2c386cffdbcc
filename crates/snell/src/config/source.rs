//! One configuration file: its text, its name in messages, and positions in it.

use std::cell::OnceCell;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Severity, UserMessage};
use crate::regular_file::{FileAccess, RegularFile};

/// A larger file is not a configuration file.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The text of a configuration file and the name it has in messages.
#[derive(Debug)]
pub(crate) struct ConfigSource {
    pub(crate) path: PathBuf,
    pub(crate) display_path: String,
    pub(crate) text: String,
    /// Offsets with a known line and column, so that a search does not start at the beginning of the file.
    checkpoints: OnceCell<Vec<LineCheckpoint>>,
}

#[derive(Debug, Clone, Copy)]
struct LineCheckpoint {
    offset: usize,
    line: usize,
    column: usize,
}

/// The approximate distance between two checkpoints.
const CHECKPOINT_INTERVAL_BYTES: usize = 1024;

/// The result of reading a file.
#[derive(Debug)]
pub(crate) enum SourceReadResult {
    Missing,
    Unreadable(Diagnostic),
    Text(ConfigSource),
}

/// The file at a path, if any. Most paths are missing, so this takes as few system calls as possible.
#[derive(Debug)]
pub(crate) enum PathProbe {
    Missing,
    /// A symlink to a missing file.
    DanglingSymlink,
    Failed(io::Error),
    Present(Metadata),
}

impl PathProbe {
    pub(crate) fn from_path(path: &Path) -> Self {
        let looked = fs::symlink_metadata(path);
        let is_link = looked.as_ref().is_ok_and(Metadata::is_symlink);
        match if is_link { fs::metadata(path) } else { looked } {
            Ok(metadata) => Self::Present(metadata),
            Err(error) if is_missing_file(&error) && is_link => Self::DanglingSymlink,
            Err(error) if is_missing_file(&error) => Self::Missing,
            Err(error) => Self::Failed(error),
        }
    }
}

impl ConfigSource {
    /// A text that the caller has read, and its name in messages.
    pub(crate) fn from_text(display_path: String, text: String) -> Self {
        Self { path: PathBuf::from(&display_path), display_path, text, checkpoints: OnceCell::new() }
    }

    /// Reads the file at `path`. A missing file is not an error.
    ///
    /// The probe before keeps a FIFO or a device of that name from blocking us.
    pub(crate) fn read_probed(path: &Path, shown: String, look: &PathProbe) -> SourceReadResult {
        let unreadable =
            |message: String| SourceReadResult::Unreadable(Diagnostic::for_file(Severity::Error, &shown, message));
        match look {
            PathProbe::Missing => return SourceReadResult::Missing,
            PathProbe::DanglingSymlink => {
                let dangling = Diagnostic::for_file(Severity::Warning, &shown, "is a symlink to a missing file");
                return SourceReadResult::Unreadable(dangling);
            }
            PathProbe::Failed(error) => return unreadable(format!("cannot be read: {error}")),
            PathProbe::Present(metadata) if !metadata.is_file() => {
                return unreadable("is not a regular file".into());
            }
            PathProbe::Present(metadata) if metadata.len() > MAX_BYTES => {
                return unreadable(format_too_large(metadata.len()));
            }
            PathProbe::Present(_) => {}
        }
        let file = RegularFile::open_after_stat(path, FileAccess::Read);
        let bytes = match file.and_then(|file| file.read_prefix(MAX_BYTES)) {
            Err(error) if is_missing_file(&error) => return SourceReadResult::Missing,
            Err(error) => return unreadable(format!("cannot be read: {error}")),
            Ok((_, true)) => return unreadable(format_too_large(MAX_BYTES + 1)),
            Ok((bytes, false)) => bytes,
        };
        match String::from_utf8(bytes) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
                SourceReadResult::Text(Self { path: path.to_owned(), ..Self::from_text(shown, text) })
            }
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let readable = Self::from_text(shown, String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned());
                let message = UserMessage::new("is not UTF-8 text").with_hint("save it as UTF-8");
                SourceReadResult::Unreadable(readable.make_diagnostic(Severity::Error, valid, message))
            }
        }
    }

    /// The line and column, both from 1, of a byte offset.
    pub(crate) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let checkpoints = self.checkpoints.get_or_init(|| build_checkpoints(&self.text));
        let after = checkpoints.partition_point(|checkpoint| checkpoint.offset <= offset);
        let start = checkpoints[after.saturating_sub(1)];
        let end = offset.min(self.text.len());
        advance_position(start, self.text.get(start.offset..end).unwrap_or_default())
    }

    pub(crate) fn make_diagnostic(
        &self,
        severity: Severity,
        offset: usize,
        message: impl Into<UserMessage>,
    ) -> Diagnostic {
        let (line, column) = self.line_and_column(offset);
        Diagnostic { line, column, ..Diagnostic::for_file(severity, &self.display_path, message) }
    }
}

/// Whether the path does not exist, also because a part of it is a file instead of a directory.
fn is_missing_file(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

fn format_too_large(bytes: u64) -> String {
    format!("is too large for a configuration file ({bytes} bytes, the limit is {MAX_BYTES})")
}

/// The first checkpoint is always at the beginning.
fn build_checkpoints(text: &str) -> Vec<LineCheckpoint> {
    let mut last = LineCheckpoint { offset: 0, line: 1, column: 1 };
    let mut checkpoints = vec![last];
    while text.len() - last.offset > CHECKPOINT_INTERVAL_BYTES {
        let mut offset = last.offset + CHECKPOINT_INTERVAL_BYTES;
        while !text.is_char_boundary(offset) {
            offset += 1;
        }
        let (line, column) = advance_position(last, &text[last.offset..offset]);
        last = LineCheckpoint { offset, line, column };
        checkpoints.push(last);
    }
    checkpoints
}

/// The line and column after a text that starts at a checkpoint.
fn advance_position(from: LineCheckpoint, text: &str) -> (usize, usize) {
    let line = from.line + text.bytes().filter(|byte| *byte == b'\n').count();
    match text.rfind('\n') {
        Some(at) => (line, text[at + 1..].chars().count() + 1),
        None => (line, from.column + text.chars().count()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn source_from_text(text: &str) -> ConfigSource {
        ConfigSource::from_text(String::new(), text.to_owned())
    }

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let source = source_from_text("ab\ncö\r\nd");
        let cases = [(0, (1, 1)), (2, (1, 3)), (3, (2, 1)), (6, (2, 3)), (8, (3, 1)), (9, (3, 2)), (99, (3, 2))];
        for (offset, expected) in cases {
            assert_eq!(source.line_and_column(offset), expected, "{offset}");
        }
    }

    proptest! {
        #[test]
        fn checkpoints_change_no_position(text in "[aö\n]{0,4000}", offset in 0_usize..4000) {
            let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
            let before = &text[..offset];
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
            prop_assert_eq!(source_from_text(&text).line_and_column(offset), (line, column));
        }
    }
}
