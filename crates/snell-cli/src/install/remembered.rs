//! What was installed where, in `installed/` of the directory where Snell keeps what it records: what is needed to undo it
//! to the last byte.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use snell::{FileAccess, RegularFile, read_text_file};

use super::agents::Scope;
use super::disk::{self, Access, Seen};
use super::entry::Way;
use super::plan::{Before, Container};

/// A file that Snell wrote.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Remembered {
    version: u32,
    pub(crate) path: PathBuf,
    /// How Snell takes part by it; nothing for the script itself.
    pub(crate) way: Option<Way>,
    /// Whose hooks it holds; nothing for the script itself.
    pub(crate) scope: Option<Scope>,
    /// What it said before; nothing if it was not there.
    pub(crate) before: Option<String>,
    /// Who could do what with it before, for a file that Snell changes that of.
    pub(crate) mode_before: Option<u32>,
    /// What it said when Snell had written it. The last time may not have come to its end, so the time before counts too.
    after_sha256: Vec<String>,
    pub(crate) containers: Vec<Container>,
    /// Directories that were made for it.
    pub(crate) made: Vec<PathBuf>,
    /// The copy that was made of it.
    pub(crate) backup: Option<PathBuf>,
}

const VERSION: u32 = 1;

/// A larger file is no record: it holds a settings file or a script, with escapes.
const MAX_RECORD_BYTES: u64 = 32 * 1024 * 1024;

impl Remembered {
    pub(crate) fn new(path: &Path, before: Option<String>, after: &str) -> Self {
        Self {
            version: VERSION,
            path: path.to_owned(),
            way: None,
            scope: None,
            before,
            mode_before: None,
            after_sha256: vec![digest(after.as_bytes())],
            containers: Vec::new(),
            made: Vec::new(),
            backup: None,
        }
    }

    /// Takes over what is still true of what was remembered until now.
    pub(crate) fn after(mut self, earlier: Option<&Self>) -> Self {
        let Some(earlier) = earlier else {
            return self;
        };
        if earlier.before == self.before {
            let last = earlier.after_sha256.first().cloned();
            self.after_sha256
                .extend(last.filter(|digest| !self.after_sha256.contains(digest)));
        }
        let made = earlier.made.iter().filter(|directory| !self.made.contains(directory));
        self.made = made.cloned().chain(self.made.clone()).collect();
        self.backup = self.backup.or_else(|| earlier.backup.clone());
        self
    }

    /// Whether a file says what Snell wrote into it.
    pub(crate) fn is_as_left(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.after_sha256.contains(&digest(text.as_bytes())))
    }
}

/// What is known of a file before Snell.
pub(crate) fn before<'a>(remembered: Option<&'a Remembered>, current: Option<&str>) -> Before<'a> {
    match remembered {
        Some(known) if known.is_as_left(current) => Before::Known(known.before.as_deref()),
        // Whoever wrote it did not get to the end, or somebody else has put it back.
        Some(known) if known.before.as_deref() == current => Before::Unknown,
        Some(known) => Before::Changed {
            containers: &known.containers,
            existed: known.before.is_some(),
        },
        None => Before::Unknown,
    }
}

/// Everything that is remembered. While it is open nobody else installs anything.
#[derive(Debug)]
pub(crate) struct Installed {
    directory: PathBuf,
    /// Held until this is dropped.
    _lock: Option<File>,
}

impl Installed {
    /// Opens what is remembered in order to change it.
    pub(crate) fn open(data: &Path) -> anyhow::Result<Self> {
        let directory = data.join("installed");
        let shown = directory.display();
        disk::make_directories(&directory, Access::Private).with_context(|| format!("cannot create {shown}"))?;
        let lock = RegularFile::open(&directory.join("lock"), FileAccess::Write)
            .with_context(|| format!("cannot use {shown}/lock"))?
            .into_file();
        lock.lock().with_context(|| format!("cannot lock {shown}/lock"))?;
        Ok(Self {
            _lock: Some(lock),
            directory,
        })
    }

    /// Opens what is remembered in order to look at it; nothing is made.
    pub(crate) fn look(data: &Path) -> Self {
        Self {
            directory: data.join("installed"),
            _lock: None,
        }
    }

    fn record_of(&self, path: &Path) -> PathBuf {
        let name = digest(path.as_os_str().as_encoded_bytes());
        self.directory.join(format!("{}.json", &name[..24]))
    }

    /// What is remembered of a file. What cannot be understood is not remembered.
    pub(crate) fn of(&self, path: &Path) -> Option<Remembered> {
        read(&self.record_of(path)).filter(|known| known.path == path)
    }

    /// Everything that is remembered of other files.
    pub(crate) fn of_others(&self, path: &Path) -> Vec<Remembered> {
        let entries = fs::read_dir(&self.directory).into_iter().flatten().flatten();
        let records = entries.filter_map(|entry| read(&entry.path()));
        records.filter(|known| known.path != path).collect()
    }

    pub(crate) fn remember(&self, remembered: &Remembered) -> anyhow::Result<()> {
        let record = Seen::look(&self.record_of(&remembered.path))?;
        let text = serde_json::to_string(remembered)?;
        record.replace(&text, Access::Private)
    }

    /// Goes back to what was remembered before, because what was to be done could not be.
    pub(crate) fn put_back(&self, path: &Path, known: Option<&Remembered>) {
        match known {
            // What is remembered of a file that says something else is not used, so a failure does no harm.
            Some(known) => drop(self.remember(known)),
            None => self.forget(path),
        }
    }

    pub(crate) fn forget(&self, path: &Path) {
        // What is remembered of a file that says something else is not used, so nothing is lost if it stays.
        let _ = fs::remove_file(self.record_of(path));
    }
}

fn read(record: &Path) -> Option<Remembered> {
    let text = read_text_file(record, MAX_RECORD_BYTES).ok()?;
    let known: Remembered = serde_json::from_str(&text).ok()?;
    (known.version == VERSION).then_some(known)
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
