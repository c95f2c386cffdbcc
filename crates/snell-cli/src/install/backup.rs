//! What was installed where, in `installed/` of the directory where Snell keeps what it records: what is needed to undo it
//! to the last byte.

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
    /// How Snell takes part by it; nothing for the script itself.
    pub(crate) way: Option<InstallMode>,
    /// Whose hooks it holds; nothing for the script itself.
    pub(crate) scope: Option<SettingsScope>,
    /// What it said before; nothing if it was not there.
    pub(crate) before: Option<String>,
    /// Who could do what with it before, for a file that Snell changes that of.
    pub(crate) mode_before: Option<u32>,
    /// What it said when Snell had written it. The last time may not have come to its end, so the time before counts too.
    after_sha256: Vec<String>,
    pub(crate) containers: Vec<CreatedContainer>,
    /// Directories that were made for it.
    pub(crate) made: Vec<PathBuf>,
    /// The copy that was made of it.
    pub(crate) backup: Option<PathBuf>,
}

const VERSION: u32 = 1;

/// A larger file is no record: it holds a settings file or a script, with escapes.
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

    /// Takes over what is still true of what was remembered until now.
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

    /// Whether a file says what Snell wrote into it.
    pub(crate) fn matches_written(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.after_sha256.contains(&sha256_hex(text.as_bytes())))
    }
}

/// What is known of a file before Snell.
pub(crate) fn determine_prior_content<'a>(
    remembered: Option<&'a InstallRecord>,
    current: Option<&str>,
) -> PriorContent<'a> {
    match remembered {
        Some(known) if known.matches_written(current) => PriorContent::Known(known.before.as_deref()),
        // Whoever wrote it did not get to the end, or somebody else has put it back.
        Some(known) if known.before.as_deref() == current => PriorContent::Unknown,
        Some(known) => PriorContent::Changed { containers: &known.containers, existed: known.before.is_some() },
        None => PriorContent::Unknown,
    }
}

/// Everything that is remembered. While it is open nobody else installs anything.
#[derive(Debug)]
pub(crate) struct InstallLog {
    directory: PathBuf,
    /// Held until this is dropped.
    _lock: Option<File>,
}

impl InstallLog {
    /// Opens what is remembered in order to change it.
    pub(crate) fn open(data: &Path) -> anyhow::Result<Self> {
        let directory = data.join("installed");
        let shown = directory.display();
        atomic_file::make_directories(&directory, FileModePolicy::Private)
            .with_context(|| format!("cannot create {shown}"))?;
        let lock = RegularFile::open(&directory.join("lock"), FileAccess::Write)
            .with_context(|| format!("cannot use {shown}/lock"))?
            .into_file();
        lock.lock().with_context(|| format!("cannot lock {shown}/lock"))?;
        Ok(Self { _lock: Some(lock), directory })
    }

    /// Opens what is remembered in order to look at it; nothing is made.
    pub(crate) fn open_read_only(data: &Path) -> Self {
        Self { directory: data.join("installed"), _lock: None }
    }

    fn record_path(&self, path: &Path) -> PathBuf {
        let name = sha256_hex(path.as_os_str().as_encoded_bytes());
        self.directory.join(format!("{}.json", &name[..24]))
    }

    /// What is remembered of a file. What cannot be understood is not remembered.
    pub(crate) fn find_record(&self, path: &Path) -> Option<InstallRecord> {
        load_record(&self.record_path(path)).filter(|known| known.path == path)
    }

    /// Everything that is remembered of other files.
    pub(crate) fn other_records(&self, path: &Path) -> Vec<InstallRecord> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let records = entries.filter_map(|entry| load_record(&entry.path()));
        records.filter(|known| known.path != path).collect()
    }

    pub(crate) fn save_record(&self, remembered: &InstallRecord) -> anyhow::Result<()> {
        let record = FileSnapshot::load(&self.record_path(&remembered.path))?;
        let text = serde_json::to_string(remembered)?;
        record.replace(&text, FileModePolicy::Private)
    }

    /// Goes back to what was remembered before, because what was to be done could not be.
    pub(crate) fn restore_record(&self, path: &Path, known: Option<&InstallRecord>) {
        match known {
            // What is remembered of a file that says something else is not used, so a failure does no harm.
            Some(known) => drop(self.save_record(known)),
            None => self.delete_record(path),
        }
    }

    pub(crate) fn delete_record(&self, path: &Path) {
        // What is remembered of a file that says something else is not used, so nothing is lost if it stays.
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
