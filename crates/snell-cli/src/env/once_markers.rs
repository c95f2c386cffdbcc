//! Files that remember which notices a session has had, how often, and which texts it still has to get.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use snell::{FileAccess, RegularFile, read_text_file};

/// The directory of markers in the data directory.
const MARKER_DIR: &str = "told";

/// The directory of markers that are never pruned.
const LASTING_MARKER_DIR: &str = "told-once";

/// A larger marker does not hold a number.
const MAX_MARKER_BYTES: u64 = 64;

/// A larger text is dropped.
const MAX_TEXT_BYTES: u64 = 1024 * 1024;

/// Markers in the data directory.
#[derive(Debug)]
pub(crate) struct OnceMarkers {
    directory: PathBuf,
}

impl OnceMarkers {
    pub(crate) fn in_data_dir(data: &Path) -> Self {
        Self { directory: data.join(MARKER_DIR) }
    }

    /// Markers that are never pruned: for notices that do not belong to a session.
    pub(crate) fn lasting_in_data_dir(data: &Path) -> Self {
        Self { directory: data.join(LASTING_MARKER_DIR) }
    }

    /// Whether this is the first claim of the key. If no marker can be written, every claim is the first.
    pub(crate) fn claim_once(&self, key: &[&str]) -> bool {
        match create_marker(&self.marker_path(key)) {
            Err(error) => error.kind() != io::ErrorKind::AlreadyExists,
            Ok(()) => true,
        }
    }

    /// The count of the key; nothing if it cannot be read.
    pub(crate) fn read_count(&self, key: &[&str]) -> Option<u32> {
        match read_text_file(&self.marker_path(key), MAX_MARKER_BYTES) {
            // Another text is a number that was not written completely.
            Ok(text) => Some(text.trim().parse().unwrap_or(0)),
            Err(error) => (error.kind() == io::ErrorKind::NotFound).then_some(0),
        }
    }

    /// Sets the count of the key. Returns whether it was written.
    pub(crate) fn write_count(&self, key: &[&str], count: u32) -> bool {
        let marker = self.marker_path(key);
        // It may exist already; opening it shows whether it can be written.
        let _ = create_marker(&marker);
        let file = RegularFile::open(&marker, FileAccess::WriteExisting).map(RegularFile::into_file);
        file.is_ok_and(|mut file| file.set_len(0).is_ok() && file.write_all(count.to_string().as_bytes()).is_ok())
    }

    /// Sets the count of the key to zero.
    pub(crate) fn reset_count(&self, key: &[&str]) {
        // Usually there is no marker. If it cannot be removed, it cannot be counted either.
        let _ = fs::remove_file(self.marker_path(key));
    }

    /// Adds a text to the marker of the key. Returns whether it was written.
    pub(crate) fn append_text(&self, key: &[&str], text: &str) -> bool {
        let marker = self.marker_path(key);
        let _ = create_marker(&marker);
        let file = RegularFile::open(&marker, FileAccess::Append).map(RegularFile::into_file);
        file.is_ok_and(|mut file| file.write_all(text.as_bytes()).is_ok())
    }

    /// Takes the text of the key, so that the next call finds none.
    pub(crate) fn take_text(&self, key: &[&str]) -> Option<String> {
        let marker = self.marker_path(key);
        let text = read_text_file(&marker, MAX_TEXT_BYTES).ok()?;
        // If two events take it at once, only one removes it.
        fs::remove_file(&marker).ok()?;
        Some(text)
    }

    /// Removes markers from before this time: their sessions are over.
    pub(crate) fn prune(&self, before: SystemTime) {
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let is_old = entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|time| time < before);
            if is_old {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn marker_path(&self, key: &[&str]) -> PathBuf {
        let mut hash = Sha256::new();
        for part in key {
            hash.update(part.len().to_le_bytes());
            hash.update(part.as_bytes());
        }
        let digest = hash.finalize();
        let name: String = digest.iter().take(12).map(|byte| format!("{byte:02x}")).collect();
        self.directory.join(name)
    }
}

fn create_marker(marker: &Path) -> io::Result<()> {
    if let Some(directory) = marker.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(marker).map(drop)
}
