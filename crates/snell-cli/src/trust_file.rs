//! The file of pins, `trust.json`: read by whoever asks for trust, written by `snell trust` alone.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use snell::{FileAccess, RegularFile, TrustError, TrustStore, sync_directory};

use crate::env::format_trust_command;

/// A larger file is none of ours.
const MAX_TRUST_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// The file of pins.
#[derive(Clone, Debug)]
pub(crate) struct TrustFile {
    directory: PathBuf,
}

/// What became of a change.
#[derive(Debug)]
pub(crate) struct TrustUpdate<T> {
    /// What the change answered.
    pub(crate) answer: T,
    /// Where the file is now that could not be understood, if there was one.
    pub(crate) moved_aside: Option<PathBuf>,
}

/// Why the file cannot be used.
enum TrustFileError {
    Unreadable(io::Error),
    /// What it says is nothing that this program wrote.
    Corrupt(TrustError),
}

/// What is said about a trusted file that is not there any more.
pub(crate) fn missing_file_message(path: &Path) -> String {
    format!("{} was trusted and is gone, so its hooks do not run", path.display())
}

pub(crate) fn missing_file_remedy(project: &Path) -> String {
    format!("put it back, or run: {}", format_trust_command(project, " --revoke"))
}

impl TrustFile {
    /// The file of pins in the directory where Snell keeps what it records.
    pub(crate) fn in_data_dir(directory: PathBuf) -> Self {
        Self { directory }
    }

    fn path(&self) -> PathBuf {
        self.directory.join("trust.json")
    }

    /// What is trusted. Nothing is where the file cannot be understood, and whoever asks for a file is told why.
    pub(crate) fn load_or_empty(&self) -> TrustStore {
        self.load().unwrap_or_else(|fault| {
            let path = self.path();
            let path = path.display();
            TrustStore::with_fault(match fault {
                TrustFileError::Unreadable(error) => format!("{path} cannot be read: {error}"),
                TrustFileError::Corrupt(error) => format!("{path} cannot be understood: {error}"),
            })
        })
    }

    /// Whether the next change moves the file aside, because nothing in it can be understood. One that others may write to, or
    /// that a later version wrote, stays where it is.
    pub(crate) fn will_be_moved_aside(&self) -> bool {
        match self.load() {
            Err(TrustFileError::Corrupt(error)) => !matches!(error, TrustError::LaterVersion),
            Err(TrustFileError::Unreadable(_)) | Ok(_) => false,
        }
    }

    /// Files of a project that are trusted and not there any more: whoever trusted them believes that their hooks run.
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

    /// What the file says, if nobody else could have written that.
    fn read_text(&self) -> io::Result<String> {
        let file = RegularFile::open(&self.path(), FileAccess::Read)?;
        let metadata = file.metadata();
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "it belongs to another user"));
        }
        if metadata.mode() & 0o022 != 0 {
            let writable = "others may write to it; run chmod go-w on it";
            return Err(io::Error::new(ErrorKind::PermissionDenied, writable));
        }
        String::from_utf8(file.read_all(MAX_TRUST_FILE_BYTES)?)
            .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
    }

    /// Changes what is trusted. Others who do so at the same time wait for each other, so no pin is lost; whoever reads
    /// meanwhile sees the old pins or the new ones.
    pub(crate) fn update<T>(&self, change: impl FnOnce(&mut TrustStore) -> T) -> anyhow::Result<TrustUpdate<T>> {
        let shown = self.directory.display().to_string();
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.directory)
            .with_context(|| format!("cannot create {shown}"))?;
        // Closing the file, which the end of this function does, lets the next one in.
        let lock = RegularFile::open(&self.directory.join("trust.lock"), FileAccess::Write)
            .with_context(|| format!("cannot use {shown}/trust.lock"))?
            .into_file();
        lock.lock().with_context(|| format!("cannot lock {shown}/trust.lock"))?;
        let (mut trust, moved_aside) = match self.load() {
            Ok(trust) => (trust, None),
            Err(TrustFileError::Unreadable(error)) => {
                return Err(error).with_context(|| format!("cannot read {}", self.path().display()));
            }
            // Whoever has two versions installed keeps the pins of both.
            Err(TrustFileError::Corrupt(error @ TrustError::LaterVersion)) => {
                bail!("cannot use {}: {error}", self.path().display())
            }
            Err(TrustFileError::Corrupt(_)) => (TrustStore::default(), Some(self.move_aside()?)),
        };
        let answer = change(&mut trust);
        self.write(&trust.to_json()).with_context(|| format!("cannot write {}", self.path().display()))?;
        Ok(TrustUpdate { answer, moved_aside })
    }

    /// Writes the whole file beside its place and puts it there in one step: half a file would trust nothing.
    fn write(&self, text: &str) -> io::Result<()> {
        let unfinished = self.directory.join("trust.json.new");
        // Left by somebody who did not get to the end; nobody else writes it while we hold the lock.
        remove_if_exists(&unfinished)?;
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, self.path())?;
        sync_directory(&self.directory)
    }

    /// Moves the file to a name that is free, and answers which.
    fn move_aside(&self) -> anyhow::Result<PathBuf> {
        let names = (1..).map(|number| self.directory.join(format!("trust.json.broken-{number}")));
        let free = names.into_iter().find(|path| fs::symlink_metadata(path).is_err());
        let aside = free.context("no name is free to move trust.json to")?;
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
