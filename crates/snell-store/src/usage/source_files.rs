//! The files that agents write, below their directories of transcripts.

use std::fs;
use std::path::{Path, PathBuf};

use super::formats::{FORMATS, UsageFormat};

/// How deep directories are searched.
const MAX_DEPTH: usize = 8;

/// How many files are listed.
const MAX_FILES: usize = 200_000;

/// The directory in which a product keeps its transcripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageDirectory {
    /// The product's name.
    pub product: String,
    /// The directory.
    pub path: PathBuf,
}

/// A file to read.
#[derive(Debug)]
pub(super) struct UsageFile {
    pub(super) path: String,
    pub(super) format: &'static UsageFormat,
    pub(super) metadata: fs::Metadata,
}

impl UsageDirectory {
    /// Whether it has no files to read.
    pub fn is_empty(&self) -> bool {
        self.list_files().is_empty()
    }

    /// Lists the files of the product, the oldest write first: a resumed session's file follows the one that it continues.
    pub(super) fn list_files(&self) -> Vec<UsageFile> {
        let mut files = Vec::new();
        for format in FORMATS.iter().filter(|format| format.product == self.product) {
            list_below(&self.path, format, MAX_DEPTH, &mut files);
        }
        files
    }
}

fn list_below(directory: &Path, format: &'static UsageFormat, depth: usize, files: &mut Vec<UsageFile>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if files.len() >= MAX_FILES {
            return;
        }
        let path = entry.path();
        // A symlink is neither, so that no directory is read twice.
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => list_below(&path, format, depth - 1, files),
            Ok(kind) if kind.is_file() => files.extend(UsageFile::new(&path, format)),
            _ => {}
        }
    }
}

/// The files that belong to a transcript which an event named: itself, and those of its sub-agents.
pub(super) fn list_named_files(product: &str, transcript: &str) -> Vec<UsageFile> {
    let path = Path::new(transcript);
    let mut files = Vec::new();
    for format in FORMATS.iter().filter(|format| format.product == product) {
        files.extend(UsageFile::new(path, format));
        list_below(&path.with_extension("").join("subagents"), format, 1, &mut files);
    }
    files
}

impl UsageFile {
    fn new(path: &Path, format: &'static UsageFormat) -> Option<Self> {
        let path = path.to_str()?;
        if !path.ends_with(format.ending) || !path.contains(format.path_part) {
            return None;
        }
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some(Self { path: path.to_owned(), format, metadata })
    }
}
