//! The directory of backups: one directory each, which gets its name when it is complete.
//!
//! A backup is written to `.new-ID` and renamed to `ID-BYTES`. It is renamed to `.gone-ID` before it is removed. So at any
//! moment, a listed backup is complete.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use snell::{BackupSettings, read_text_file};

use super::manifest::BackupManifest;

/// The directory in the data directory.
const DIRECTORY: &str = "backups";
const MANIFEST: &str = "manifest.json";
const NEW: &str = ".new-";
const GONE: &str = ".gone-";

/// A larger manifest is not read.
const MAX_MANIFEST_BYTES: u64 = 64 << 20;

/// More backups are not kept.
const MAX_BACKUPS: usize = 500;

/// A backup takes milliseconds, so its process ended long ago.
const ABANDONED_AFTER: Duration = Duration::from_secs(600);

/// Digits that people do not confuse, in the order of their bytes.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Milliseconds count from 2020, so that eight digits suffice until 2054.
const EPOCH_MS: u64 = 1_577_836_800_000;
const TIME_DIGITS: u32 = 8;
const BITS: u32 = 5;

/// How often another id is tried.
const ID_ATTEMPTS: u64 = 64;

/// The backups of a data directory.
#[derive(Clone, Debug)]
pub(crate) struct BackupStore {
    directory: PathBuf,
}

/// A complete backup, by the name of its directory.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StoredBackup {
    pub(crate) id: String,
    pub(crate) bytes: u64,
    path: PathBuf,
}

/// The number and size of backups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct BackupTotals {
    pub(crate) count: usize,
    pub(crate) bytes: u64,
}

impl BackupStore {
    pub(crate) fn in_data_dir(data: &Path) -> Self {
        Self { directory: data.join(DIRECTORY) }
    }

    /// All complete backups, oldest first.
    pub(crate) fn list(&self) -> Vec<StoredBackup> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let mut backups: Vec<_> = entries.filter_map(|entry| StoredBackup::from_path(entry.path())).collect();
        backups.sort();
        backups
    }

    /// Whether there ever was a backup.
    pub(crate) fn exists(&self) -> bool {
        self.directory.is_dir()
    }

    pub(crate) fn totals(&self) -> BackupTotals {
        let backups = self.list();
        BackupTotals { count: backups.len(), bytes: backups.iter().map(|backup| backup.bytes).sum() }
    }

    /// Begins a backup, which is removed again if it is not committed.
    pub(super) fn create_draft(&self) -> io::Result<BackupDraft> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let mut number = current_number();
        for _ in 0..ID_ATTEMPTS {
            let path = self.directory.join(format!("{NEW}{}", format_id(number)));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(BackupDraft { path: Some(path), store: self.directory.clone(), number }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// Removes old backups, oldest first, until the others are within the limits or the time is over.
    pub(crate) fn prune(&self, settings: &BackupSettings, time: Option<Duration>) -> usize {
        let started = Instant::now();
        let is_over = || time.is_some_and(|time| started.elapsed() >= time);
        self.remove_abandoned(&is_over);
        let backups = self.list();
        let mut bytes: u64 = backups.iter().map(|backup| backup.bytes).sum();
        let keep_ms = u64::try_from(settings.keep.as_millis()).unwrap_or(u64::MAX);
        let oldest = format_id(current_number().saturating_sub(keep_ms << BITS));
        let mut removed = 0;
        for backup in &backups {
            let is_kept =
                backups.len() - removed <= MAX_BACKUPS && bytes <= settings.total_bytes && backup.id >= oldest;
            if is_kept || is_over() {
                break;
            }
            backup.remove(&is_over);
            bytes -= backup.bytes;
            removed += 1;
        }
        removed
    }

    /// Removes what a killed process left behind.
    fn remove_abandoned(&self, is_over: &dyn Fn() -> bool) {
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let is_old = || {
                let changed = entry.metadata().and_then(|metadata| metadata.modified()).ok();
                let age = changed.and_then(|changed| SystemTime::now().duration_since(changed).ok());
                age.is_some_and(|age| age > ABANDONED_AFTER)
            };
            if (name.starts_with(GONE) || (name.starts_with(NEW) && is_old())) && !is_over() {
                remove_files(&entry.path(), is_over);
            }
        }
    }
}

impl StoredBackup {
    fn from_path(path: PathBuf) -> Option<Self> {
        let name = path.file_name()?.to_str()?;
        let (id, bytes) = name.split_once('-').filter(|(id, _)| !id.is_empty() && !id.starts_with('.'))?;
        Some(Self { id: id.to_owned(), bytes: bytes.parse().ok()?, path })
    }

    pub(crate) fn load_manifest(&self) -> io::Result<BackupManifest> {
        let text = read_text_file(&self.path.join(MANIFEST), MAX_MANIFEST_BYTES)?;
        Ok(serde_json::from_str(&text)?)
    }

    /// The file with these contents. A manifest names no file elsewhere.
    pub(super) fn content_path(&self, name: &str) -> Option<PathBuf> {
        let is_number = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| self.path.join(name))
    }

    /// Removes it from the list, then from the disk.
    fn remove(&self, is_over: &dyn Fn() -> bool) {
        let gone = self.path.with_file_name(format!("{GONE}{}", self.id));
        if fs::rename(&self.path, &gone).is_ok() {
            remove_files(&gone, is_over);
        }
    }
}

/// A backup that is being written.
#[derive(Debug)]
pub(super) struct BackupDraft {
    /// Nothing once it is committed.
    path: Option<PathBuf>,
    store: PathBuf,
    number: u64,
}

impl BackupDraft {
    /// The path for the contents with this number.
    pub(super) fn content_path(&self, number: usize) -> PathBuf {
        self.path.as_deref().unwrap_or(&self.store).join(number.to_string())
    }

    /// Completes the backup. Returns its id.
    pub(super) fn commit(mut self, manifest: &BackupManifest, bytes: u64) -> io::Result<String> {
        let Some(path) = self.path.clone() else {
            return Err(ErrorKind::NotFound.into());
        };
        let mut options = OpenOptions::new();
        let mut file: File = options.write(true).create_new(true).mode(0o600).open(path.join(MANIFEST))?;
        file.write_all(&serde_json::to_vec(manifest)?)?;
        drop(file);
        for number in self.number..self.number + ID_ATTEMPTS {
            let id = format_id(number);
            match fs::rename(&path, self.store.join(format!("{id}-{bytes}"))) {
                Ok(()) => {
                    self.path = None;
                    return Ok(id);
                }
                // Another process took the id in the same millisecond.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }
}

impl Drop for BackupDraft {
    fn drop(&mut self) {
        if let Some(path) = self.path.take() {
            let _ = fs::remove_dir_all(path);
        }
    }
}

/// Removes a directory of files. If the time is over, the next removal goes on with it.
fn remove_files(directory: &Path, is_over: &dyn Fn() -> bool) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if is_over() {
            return;
        }
        let _ = fs::remove_file(entry.path());
    }
    let _ = fs::remove_dir(directory);
}

/// Milliseconds, and one digit that differs between processes.
fn current_number() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let ms = u64::try_from(since.as_millis()).unwrap_or_default().saturating_sub(EPOCH_MS);
    (ms << BITS) | u64::from(std::process::id() % (1 << BITS))
}

fn format_id(number: u64) -> String {
    let digit = |place: u32| DIGITS.get((number >> (place * BITS) & 31) as usize).copied().unwrap_or(b'0');
    (0..=TIME_DIGITS).rev().map(|place| char::from(digit(place))).collect()
}
