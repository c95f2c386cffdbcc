//! `backup` and its limits in `[guard]`: files are copied aside before a call deletes or overwrites them.

use std::time::Duration;

use super::super::get_user_only;
use super::super::values::{Fallback, read_count, read_interval};
use crate::config::reader::{ConfigReader, ObjectFields};

/// How long backups stay by default.
const KEEP: Duration = Duration::from_secs(7 * 24 * 3600);
/// The size of all backups by default.
const TOTAL_MB: u32 = 1024;
/// How long one call is delayed at most by default.
const TIME_MS: u32 = 4;
const BYTES_PER_MB: u64 = 1_000_000;

/// Whether files are copied aside before a call deletes or overwrites them, and the limits of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupSettings {
    /// Whether they are.
    pub enabled: bool,
    /// How long a backup stays.
    pub keep: Duration,
    /// The size of all backups. The oldest ones are removed to stay below it.
    pub total_bytes: u64,
    /// How long a call waits for its backup at most.
    pub time: Duration,
}

impl Default for BackupSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            keep: KEEP,
            total_bytes: u64::from(TOTAL_MB) * BYTES_PER_MB,
            time: Duration::from_millis(u64::from(TIME_MS)),
        }
    }
}

impl BackupSettings {
    /// Takes the keys that a file sets.
    pub(super) fn add_file(&mut self, file: FileBackupSettings) {
        self.enabled = file.enabled.unwrap_or(self.enabled);
        self.keep = file.keep.unwrap_or(self.keep);
        self.total_bytes = file.total_mb.map_or(self.total_bytes, |number| u64::from(number) * BYTES_PER_MB);
        self.time = file.time_ms.map_or(self.time, |number| Duration::from_millis(u64::from(number)));
    }
}

/// The settings of one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileBackupSettings {
    enabled: Option<bool>,
    keep: Option<Duration>,
    total_mb: Option<u32>,
    time_ms: Option<u32>,
}

/// The keys of the user's own file. A project has no say in which copies of its files are kept.
pub(super) fn read_backup(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> FileBackupSettings {
    let mut is_usable = |key: &str| get_user_only(reader, fields, key).is_some();
    let usable = ["backup", "backup_keep", "backup_mb", "backup_ms"].map(&mut is_usable);
    let [enabled, keep, total, time] = usable;
    FileBackupSettings {
        enabled: enabled.then(|| reader.read_bool(fields, "backup")).flatten(),
        keep: keep.then(|| read_interval(reader, fields, "backup_keep", "7d", Fallback::Default)).flatten(),
        total_mb: total.then(|| read_count(reader, fields, "backup_mb", (TOTAL_MB, Fallback::Default))).flatten(),
        time_ms: time.then(|| read_count(reader, fields, "backup_ms", (TIME_MS, Fallback::Default))).flatten(),
    }
}
