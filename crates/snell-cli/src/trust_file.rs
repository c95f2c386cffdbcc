//! The trust file, `trust.json`: `snell trust` writes it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use snell::{FileAccess, RegularFile, TrustError, TrustStore, sync_directory};

use crate::env::format_trust_command;

/// A larger file was not written by Snell.
const MAX_TRUST_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The trust file.
#[derive(Clone, Debug)]
pub(crate) struct TrustFile {
    directory: PathBuf,
}

/// The result of a change.
#[derive(Debug)]
pub(crate) struct TrustUpdate<T> {
    /// The result of the change itself.
    pub(crate) answer: T,
    /// The new path of an invalid file, if there was one.
    pub(crate) moved_aside: Option<PathBuf>,
}

/// Why the file cannot be used.
enum TrustFileError {
    Unreadable(io::Error),
    /// Snell did not write this content.
    Corrupt(TrustError),
}

/// The warning about a trusted file that does not exist.
pub(crate) fn missing_file_message(path: &Path) -> String {
    format!("{} was trusted and does not exist any more, so its hooks do not run", path.display())
}

pub(crate) fn missing_file_remedy(project: &Path) -> String {
    format!("restore it, or run: {}", format_trust_command(project, " --revoke"))
}

impl TrustFile {
    /// The trust file in the data directory.
    pub(crate) fn in_data_dir(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.join("trust.json")
    }

    /// The trusted files. If the file is invalid, none are, and the fault explains why.
    pub(crate) fn load_or_empty(&self) -> TrustStore {
        self.load().unwrap_or_else(|fault| {
            let path = self.path();
            let path = path.display();
            TrustStore::with_fault(match fault {
                TrustFileError::Unreadable(error) => format!("cannot read {path}: {error}"),
                TrustFileError::Corrupt(error) => format!("cannot use {path}: {error}"),
            })
        })
    }

    /// Whether the next change moves the file aside, because it is invalid. A file that others can write to, or that a later version
    /// wrote, stays.
    pub(crate) fn will_be_moved_aside(&self) -> bool {
        match self.load() {
            Err(TrustFileError::Corrupt(error)) => !matches!(error, TrustError::LaterVersion),
            Err(TrustFileError::Unreadable(_)) | Ok(_) => false,
        }
    }

    /// Trusted files of a project that do not exist. Their user believes that their hooks run.
    pub(crate) fn missing_files(&self, project: &Path) -> Vec<PathBuf> {
        let project = project.canonicalize().unwrap_or_else(|_| project.to_owned());
        let pinned = self.load_or_empty().group_by_project().remove(&project).unwrap_or_default();
        let is_gone = |path: &PathBuf| path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        pinned.into_iter().filter(is_gone).collect()
    }

    fn load(&self) -> Result<TrustStore, TrustFileError> {
        match self.read_text() {
            Ok(text) => TrustStore::from_json(&text).map_err(TrustFileError::Corrupt),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(TrustStore::default()),
            Err(error) if matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::FileTooLarge) => {
                Err(TrustFileError::Corrupt(TrustError::NotPins))
            }
            Err(error) => Err(TrustFileError::Unreadable(error)),
        }
    }

    /// The content of the file, if no other user can have written it.
    fn read_text(&self) -> io::Result<String> {
        let file = RegularFile::open(&self.path(), FileAccess::Read)?;
        let metadata = file.metadata();
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "it belongs to another user"));
        }
        if metadata.mode() & 0o022 != 0 {
            let writable = "other users can write to it; run chmod go-w on it";
            return Err(io::Error::new(ErrorKind::PermissionDenied, writable));
        }
        String::from_utf8(file.read_all(MAX_TRUST_FILE_BYTES)?)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Changes the trusted files. A lock serializes changes, so no pin is lost; readers see the old file or the new one.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut TrustStore) -> T) -> anyhow::Result<TrustUpdate<T>> {
        let shown = self.directory.display().to_string();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)
            .with_context(|| format!("cannot create {shown}"))?;
        // The end of this function closes the file, which releases the lock.
        let lock = RegularFile::open(&self.directory.join("trust.lock"), FileAccess::Write)
            .with_context(|| format!("cannot use {shown}/trust.lock"))?
            .into_file();
        lock.lock().with_context(|| format!("cannot lock {shown}/trust.lock"))?;
        let (mut trust, moved_aside) = match self.load() {
            Ok(trust) => (trust, None),
            Err(TrustFileError::Unreadable(error)) => {
                return Err(error).with_context(|| format!("cannot read {}", self.path().display()));
            }
            // The pins of a later version stay valid for that version.
            Err(TrustFileError::Corrupt(error @ TrustError::LaterVersion)) => {
                bail!("cannot use {}: {error}", self.path().display())
            }
            Err(TrustFileError::Corrupt(_)) => (TrustStore::default(), Some(self.move_aside()?)),
        };
        let answer = change(&mut trust);
        self.write(&trust.to_json()).with_context(|| format!("cannot write {}", self.path().display()))?;
        Ok(TrustUpdate { answer, moved_aside })
    }

    /// Writes a temporary file and renames it, because an incomplete file would trust nothing.
    fn write(&self, text: &str) -> io::Result<()> {
        let unfinished = self.directory.join("trust.json.new");
        // An interrupted process may have left it. No other process writes it while this one holds the lock.
        remove_if_exists(&unfinished)?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, self.path())?;
        sync_directory(&self.directory)
    }

    /// Renames the file to a free name, and returns that name.
    fn move_aside(&self) -> anyhow::Result<PathBuf> {
        let names = (1..).map(|number| self.directory.join(format!("trust.json.broken-{number}")));
        let free = names.into_iter().find(|path| fs::symlink_metadata(path).is_err());
        let aside = free.context("no free name to move trust.json to")?;
        fs::rename(self.path(), &aside).with_context(|| format!("cannot move {} aside", self.path().display()))?;
        Ok(aside)
    }
}

fn remove_if_exists(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
