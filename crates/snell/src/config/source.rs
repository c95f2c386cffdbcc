//! One configuration file: how it is read, named to people, and pointed into.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Severity};

/// A larger file is no hook configuration; reading it would only cost time and memory.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The text of a configuration file and the name it has in messages.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) shown: String,
    pub(crate) text: String,
}

/// What became of looking for a file.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    Unreadable(Diagnostic),
    Text(Source),
}

impl Source {
    /// Reads the file at `path`. A missing file is nothing to talk about; an unreadable one is.
    pub(crate) fn open(path: &Path, shown: String) -> Found {
        let unreadable = |message: String| Found::Unreadable(Diagnostic::whole_file(Severity::Error, &shown, message));
        // Looking before opening keeps a pipe or a device of that name from holding us up.
        match fs::metadata(path) {
            Err(error) if is_absence(&error) => return Found::Nothing,
            Err(error) => return unreadable(format!("cannot be read: {error}")),
            Ok(metadata) if !metadata.is_file() => {
                return unreadable("is not a regular file; it is left out".into());
            }
            Ok(metadata) if metadata.len() > MAX_BYTES => return unreadable(too_large(metadata.len())),
            Ok(_) => {}
        }
        let mut bytes = Vec::new();
        let read = fs::File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
        match read {
            Err(error) if is_absence(&error) => return Found::Nothing,
            Err(error) => return unreadable(format!("cannot be read: {error}")),
            Ok(length) if length as u64 > MAX_BYTES => return unreadable(too_large(length as u64)),
            Ok(_) => {}
        }
        match String::from_utf8(bytes) {
            Ok(text) => Found::Text(Self {
                path: path.to_owned(),
                text: text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text),
                shown,
            }),
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
                let (line, column) = position(&text, valid);
                Found::Unreadable(Diagnostic {
                    severity: Severity::Error,
                    path: shown,
                    line,
                    column,
                    message: "is not UTF-8 text; save it as UTF-8".into(),
                })
            }
        }
    }

    /// The line and column, both from 1, of a byte offset.
    pub(crate) fn position(&self, offset: usize) -> (usize, usize) {
        position(&self.text, offset)
    }

    pub(crate) fn diagnostic(&self, severity: Severity, offset: usize, message: impl Into<String>) -> Diagnostic {
        let (line, column) = self.position(offset);
        Diagnostic {
            severity,
            path: self.shown.clone(),
            line,
            column,
            message: message.into(),
        }
    }
}

/// A path that does not lead to a file: nothing there, or a file where a directory should be.
fn is_absence(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
    )
}

fn too_large(bytes: u64) -> String {
    format!("is too large to be a hook configuration ({bytes} bytes; the limit is {MAX_BYTES}); it is left out")
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::position;

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let text = "ab\ncö\r\nd";
        let cases = [
            (0, (1, 1)),
            (2, (1, 3)),
            (3, (2, 1)),
            (6, (2, 3)),
            (8, (3, 1)),
            (9, (3, 2)),
            (99, (3, 2)),
        ];
        for (offset, expected) in cases {
            assert_eq!(position(text, offset), expected, "{offset}");
        }
    }
}
