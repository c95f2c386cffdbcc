//! Records of installations, in `installed/` of the data directory: everything that is needed to undo them exactly.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use snell::{FileAccess, RegularFile, read_text_file};

use super::agents::SettingsScope;
use super::atomic_file::{self, FileModePolicy, FileSnapshot};
use super::handler::InstallMode;
use super::plan::{CreatedContainer, PriorContent};

/// A file that Snell wrote.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct InstallRecord {
    version: u32,
    pub(crate) path: PathBuf,
    /// The agent of the file. Earlier versions knew only Claude Code.
    #[serde(default)]
    pub(crate) agent: Option<String>,
    /// How the file calls Snell; nothing for the script itself.
    pub(crate) way: Option<InstallMode>,
    /// The scope of its hooks; nothing for the script itself.
    pub(crate) scope: Option<SettingsScope>,
    /// The text before Snell; nothing if the file did not exist.
    pub(crate) before: Option<String>,
    /// The mode before Snell, if Snell changes the mode.
    pub(crate) mode_before: Option<u32>,
    /// The texts that Snell wrote. The last write may have been interrupted, so the one before is kept too.
    after_sha256: Vec<String>,
    pub(crate) containers: Vec<CreatedContainer>,
    /// Directories that were created for it.
    pub(crate) made: Vec<PathBuf>,
    /// Its backup.
    pub(crate) backup: Option<PathBuf>,
}

const VERSION: u32 = 1;

/// The directory of the records in the data directory.
const RECORD_DIR: &str = "installed";

/// A larger file is not a record, which holds a settings file or a script with escapes.
const MAX_RECORD_BYTES: u64 = 32 * 1024 * 1024;

impl InstallRecord {
    pub(crate) fn new(path: &Path, before: Option<String>, after: &str) -> Self {
        Self {
            version: VERSION,
            path: path.to_owned(),
            before,
            after_sha256: vec![sha256_hex(after.as_bytes())],
            ..Self::default()
        }
    }

    /// Takes over the parts of an earlier record that are still valid.
    pub(crate) fn inherit_from(mut self, earlier: Option<&Self>) -> Self {
        let Some(earlier) = earlier else {
            return self;
        };
        if earlier.before == self.before {
            let last = earlier.after_sha256.first().cloned();
            self.after_sha256.extend(last.filter(|digest| !self.after_sha256.contains(digest)));
        }
        let made = earlier.made.iter().filter(|directory| !self.made.contains(directory));
        self.made = made.cloned().chain(self.made.clone()).collect();
        self.backup = self.backup.or_else(|| earlier.backup.clone());
        self
    }

    /// Whether a text is what Snell wrote.
    pub(crate) fn matches_written(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.after_sha256.contains(&sha256_hex(text.as_bytes())))
    }
}

/// The content of a file before Snell.
pub(crate) fn determine_prior_content<'a>(
    remembered: Option<&'a InstallRecord>,
    current: Option<&str>,
) -> PriorContent<'a> {
    match remembered {
        Some(known) if known.matches_written(current) => PriorContent::Known(known.before.as_deref()),
        // The write was interrupted, or the old text was restored.
        Some(known) if known.before.as_deref() == current => PriorContent::Unknown,
        Some(known) => PriorContent::Changed { containers: &known.containers, existed: known.before.is_some() },
        None => PriorContent::Unknown,
    }
}

/// All records. While it is open, no other process installs.
#[derive(Debug)]
pub(crate) struct InstallLog {
    directory: PathBuf,
    /// Held until this is dropped.
    _lock: Option<File>,
}

impl InstallLog {
    /// Whether something was installed with this data directory at some time.
    pub(crate) fn exists_in(data: &Path) -> bool {
        data.join(RECORD_DIR).exists()
    }

    /// Opens the records for writing.
    pub(crate) fn open(data: &Path) -> anyhow::Result<Self> {
        let directory = data.join(RECORD_DIR);
        let shown = directory.display();
        atomic_file::make_directories(&directory, FileModePolicy::Private)
            .with_context(|| format!("cannot create {shown}"))?;
        let lock = RegularFile::open(&directory.join("lock"), FileAccess::Write)
            .with_context(|| format!("cannot use {shown}/lock"))?
            .into_file();
        lock.lock().with_context(|| format!("cannot lock {shown}/lock"))?;
        Ok(Self { _lock: Some(lock), directory })
    }

    /// Opens the records for reading, and creates nothing.
    pub(crate) fn open_read_only(data: &Path) -> Self {
        Self { directory: data.join(RECORD_DIR), _lock: None }
    }

    fn record_path(&self, path: &Path) -> PathBuf {
        let name = sha256_hex(path.as_os_str().as_encoded_bytes());
        self.directory.join(format!("{}.json", &name[..24]))
    }

    /// The record of a file. An invalid record is ignored.
    pub(crate) fn find_record(&self, path: &Path) -> Option<InstallRecord> {
        load_record(&self.record_path(path)).filter(|known| known.path == path)
    }

    /// The records of other files.
    pub(crate) fn other_records(&self, path: &Path) -> Vec<InstallRecord> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let records = entries.filter_map(|entry| load_record(&entry.path()));
        records.filter(|known| known.path != path).collect()
    }

    /// Directories that could not be removed are removed with the last file in them.
    pub(crate) fn pass_on_directories(&self, made: &[PathBuf]) {
        for directory in made.iter().filter(|directory| directory.exists()) {
            let heir = self.other_records(directory).into_iter().find(|known| known.path.starts_with(directory));
            if let Some(mut heir) = heir.filter(|heir| !heir.made.contains(directory)) {
                heir.made.push(directory.clone());
                heir.made.sort_by_key(|made| made.components().count());
                // Without it, an empty directory stays.
                let _ = self.save_record(&heir);
            }
        }
    }

    pub(crate) fn save_record(&self, remembered: &InstallRecord) -> anyhow::Result<()> {
        let record = FileSnapshot::load(&self.record_path(&remembered.path))?;
        let text = serde_json::to_string(remembered)?;
        record.replace(&text, FileModePolicy::Private)
    }

    /// Restores the earlier record after a failure.
    pub(crate) fn restore_record(&self, path: &Path, known: Option<&InstallRecord>) {
        match known {
            // A record that does not match its file is ignored, so a failure does no harm.
            Some(known) => drop(self.save_record(known)),
            None => self.delete_record(path),
        }
    }

    pub(crate) fn delete_record(&self, path: &Path) {
        // A record that does not match its file is ignored, so it may stay.
        let _ = fs::remove_file(self.record_path(path));
    }
}

fn load_record(record: &Path) -> Option<InstallRecord> {
    let text = read_text_file(record, MAX_RECORD_BYTES).ok()?;
    let known: InstallRecord = serde_json::from_str(&text).ok()?;
    (known.version == VERSION).then_some(known)
}

fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
