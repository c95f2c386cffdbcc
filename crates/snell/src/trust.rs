//! Which files of projects may run hooks.
//!
//! A file is trusted by its content: a pin is its path and the SHA-256 of the content that the user approved. This module
//! only compares; the caller stores the pins.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::config::ContextSettings;
use crate::contract::{BaseDirectory, CONTRACTS};
use crate::hook::Hook;

/// The version of the file format of pins.
const FORMAT_VERSION: u64 = 1;

/// The start of the key of a path that is not UTF-8. No absolute path starts like it.
const HEX_KEY_PREFIX: &str = "hex:";

/// The trusted files, each with the hash of its trusted content.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustStore {
    pins: BTreeMap<PathBuf, String>,
    /// Directories of projects that are trusted as a whole: sessions may get their files, whatever these contain.
    projects: BTreeSet<PathBuf>,
    fault: Option<String>,
}

/// The trust status of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrustStatus {
    /// It has the content that the user trusted.
    Trusted,
    /// The user has not trusted it.
    Untrusted,
    /// It has changed since the user trusted it.
    Changed,
}

/// Why pins could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// They are not JSON.
    #[error("it is not valid JSON")]
    NotJson(#[source] serde_json::Error),
    /// They are JSON without the expected keys.
    #[error("it is not a list of trusted files")]
    NotPins,
    /// They were written by a later version.
    #[error("it was written by a later version of Snell")]
    LaterVersion,
}

/// A file of a project whose hooks need trust.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProjectFile {
    /// The path that is pinned: the project's directory without symlinks, and the file's name in it.
    pub path: PathBuf,
    /// The file as people are shown it: relative to the project.
    pub display_path: String,
    /// The contract that its path belongs to.
    pub contract: &'static str,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// The status of that content.
    pub status: TrustStatus,
    /// The command that trusts it: `snell trust`, with `--all` if a guest would not read the file, and with the project if
    /// it [has to be named](crate::EngineBuilder::trust_command_argument).
    pub command: String,
    /// Its `[context]` settings.
    pub context: ContextSettings,
    /// The hooks in it, whether they may run or not.
    pub hooks: Vec<Arc<Hook>>,
}

/// A file of a project whose hooks do not run because it is not trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UntrustedFile {
    /// The path that would be pinned.
    pub path: PathBuf,
    /// The file as people are shown it: relative to the project.
    pub display_path: String,
    /// Its status; never [`TrustStatus::Trusted`].
    pub status: TrustStatus,
    /// The number of its hooks.
    pub hooks: usize,
}

impl TrustStore {
    /// A store that trusts nothing. Messages about untrusted files give this reason.
    pub fn with_fault(fault: impl Into<String>) -> Self {
        Self { fault: Some(fault.into()), ..Self::default() }
    }

    /// Why the pins could not be loaded, if so.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Reads what [`TrustStore::to_json`] wrote.
    ///
    /// # Errors
    ///
    /// When the text has another form. Partly valid pins are an error too.
    pub fn from_json(text: &str) -> Result<Self, TrustError> {
        let value: Value = serde_json::from_str(text).map_err(TrustError::NotJson)?;
        let version = value.get("version").and_then(Value::as_u64).ok_or(TrustError::NotPins)?;
        if version > FORMAT_VERSION {
            return Err(TrustError::LaterVersion);
        }
        let pins = value.get("pins").and_then(Value::as_object).ok_or(TrustError::NotPins)?;
        let pins = pins.iter().map(|(key, hash)| Some((decode_path_key(key)?, parse_hash(hash)?)));
        // Earlier versions wrote no projects.
        let projects = value.get("projects").map_or(Some(&[][..]), |list| Some(list.as_array()?.as_slice()));
        let projects = projects.ok_or(TrustError::NotPins)?.iter().map(|key| decode_path_key(key.as_str()?));
        Ok(Self {
            pins: pins.collect::<Option<_>>().ok_or(TrustError::NotPins)?,
            projects: projects.collect::<Option<_>>().ok_or(TrustError::NotPins)?,
            fault: None,
        })
    }

    /// The pins as JSON.
    pub fn to_json(&self) -> String {
        let pins: Map<_, _> =
            self.pins.iter().map(|(path, hash)| (encode_path_key(path), Value::from(hash.as_str()))).collect();
        let mut trust = json!({"version": FORMAT_VERSION, "pins": pins});
        if !self.projects.is_empty() {
            trust["projects"] = self.projects.iter().map(|path| encode_path_key(path)).collect();
        }
        format!("{trust:#}\n")
    }

    /// Trusts a file with this content.
    pub fn pin(&mut self, path: impl Into<PathBuf>, content: &[u8]) {
        self.pins.insert(path.into(), hash_content(content));
    }

    /// Trusts a file with the content that the engine read.
    pub fn pin_file(&mut self, file: &ProjectFile) {
        self.pins.insert(file.path.clone(), file.sha256.clone());
    }

    /// Trusts a project as a whole, by its directory without symlinks: sessions may get its files.
    pub fn trust_project(&mut self, directory: impl Into<PathBuf>) {
        self.projects.insert(directory.into());
    }

    /// Whether the user trusts this project, by its directory without symlinks. A project with a pin was trusted by an earlier
    /// version.
    pub fn is_project_trusted(&self, directory: &Path) -> bool {
        self.projects.contains(directory) || self.pins.keys().any(|path| find_project(path) == Some(directory))
    }

    /// Revokes trust in all files and projects below this directory, and returns them.
    pub fn revoke_directory(&mut self, directory: &Path) -> Vec<PathBuf> {
        let mut revoked: Vec<_> = self.pins.keys().filter(|path| path.starts_with(directory)).cloned().collect();
        // The pins of a project stand for it.
        let has_pin = |project: &PathBuf, revoked: &[PathBuf]| revoked.iter().any(|path| path.starts_with(project));
        let projects = self.projects.iter().filter(|project| project.starts_with(directory));
        let bare: Vec<_> = projects.filter(|project| !has_pin(project, &revoked)).cloned().collect();
        revoked.extend(bare);
        self.pins.retain(|path, _| !path.starts_with(directory));
        self.projects.retain(|project| !project.starts_with(directory));
        revoked
    }

    /// The trusted files, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.pins.keys().map(PathBuf::as_path)
    }

    /// The trusted files, by project.
    pub fn group_by_project(&self) -> BTreeMap<PathBuf, Vec<PathBuf>> {
        let mut projects: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
        for path in self.pins.keys() {
            let project = find_project(path).or(path.parent()).unwrap_or(path);
            projects.entry(project.to_owned()).or_default().push(path.clone());
        }
        for project in &self.projects {
            projects.entry(project.clone()).or_default();
        }
        projects
    }

    /// The status of a file with this content.
    pub fn check_content(&self, path: &Path, content: &[u8]) -> TrustStatus {
        self.check_hash(path, &hash_content(content))
    }

    pub(crate) fn check_hash(&self, path: &Path, hash: &str) -> TrustStatus {
        match self.pins.get(path) {
            None => TrustStatus::Untrusted,
            Some(pinned) if pinned == hash => TrustStatus::Trusted,
            Some(_) => TrustStatus::Changed,
        }
    }
}

/// The project of a contract's file at this path.
fn find_project(path: &Path) -> Option<&Path> {
    let mut places = CONTRACTS.iter().flat_map(|contract| contract.locations);
    let place = places.find(|place| place.base == BaseDirectory::Project && place.contains(path))?;
    path.parent()?.ancestors().nth(place.directory().components().count())
}

/// The SHA-256 of a text, in hexadecimal digits, without a byte order mark at its start.
pub(crate) fn hash_content(content: &[u8]) -> String {
    let content = content.strip_prefix("\u{feff}".as_bytes()).unwrap_or(content);
    encode_hex(&Sha256::digest(content))
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn encode_path_key(path: &Path) -> String {
    path.to_str().map_or_else(|| format!("{HEX_KEY_PREFIX}{}", encode_hex(path.as_os_str().as_bytes())), str::to_owned)
}

fn decode_path_key(key: &str) -> Option<PathBuf> {
    let Some(digits) = key.strip_prefix(HEX_KEY_PREFIX) else {
        return Path::new(key).is_absolute().then(|| key.into());
    };
    let bytes: Option<Vec<u8>> =
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok()).collect();
    Some(OsString::from_vec(bytes?).into())
}

fn parse_hash(value: &Value) -> Option<String> {
    let hash = value.as_str()?;
    let is_one = hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_one.then(|| hash.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_pin_holds_for_one_path_and_one_content() {
        let mut trust = TrustStore::default();
        trust.pin("/w/snell.toml", b"a");
        let cases = [
            ("/w/snell.toml", "a", TrustStatus::Trusted),
            ("/w/snell.toml", "\u{feff}a", TrustStatus::Trusted),
            ("/w/snell.toml", "b", TrustStatus::Changed),
            ("/v/snell.toml", "a", TrustStatus::Untrusted),
        ];
        for (path, content, expected) in cases {
            assert_eq!(trust.check_content(Path::new(path), content.as_bytes()), expected, "{path} {content}");
        }
        assert_eq!(hash_content(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn revoking_a_directory_leaves_its_neighbours() {
        let mut trust = TrustStore::default();
        for path in ["/w/a/snell.toml", "/w/a/.wave/settings.json", "/w/ab/snell.toml"] {
            trust.pin(path, b"");
        }
        assert_eq!(trust.revoke_directory(Path::new("/w/a")).len(), 2);
        assert_eq!(trust.paths().collect::<Vec<_>>(), [Path::new("/w/ab/snell.toml")]);
        assert_eq!(trust.revoke_directory(Path::new("/w/a")), Vec::<PathBuf>::new());
    }

    #[test]
    fn a_project_is_trusted_until_it_or_a_directory_above_is_revoked() {
        let mut trust = TrustStore::default();
        trust.trust_project("/w/a");
        trust.trust_project("/w/b");
        trust.pin("/w/b/snell.toml", b"");
        trust.pin("/w/c/snell.toml", b"");
        let is_trusted =
            |trust: &TrustStore| ["/w/a", "/w/b", "/w/c", "/w"].map(|at| trust.is_project_trusted(Path::new(at)));
        assert_eq!(is_trusted(&trust), [true, true, true, false]);
        assert_eq!(trust.revoke_directory(Path::new("/w/a")), [Path::new("/w/a")]);
        assert_eq!(trust.revoke_directory(Path::new("/w/b")), [Path::new("/w/b/snell.toml")]);
        assert_eq!(is_trusted(&trust), [false, false, true, false]);
    }

    #[test]
    fn pins_belong_to_projects() {
        let mut trust = TrustStore::default();
        for path in ["/w/a/snell.toml", "/w/a/.wave/settings.json", "/w/b/.whale/hooks.json", "/c/odd"] {
            trust.pin(path, b"");
        }
        let projects: Vec<_> =
            trust.group_by_project().into_iter().map(|(project, files)| (project, files.len())).collect();
        let expected = [("/c", 1), ("/w/a", 2), ("/w/b", 1)];
        assert_eq!(projects, expected.map(|(project, files)| (PathBuf::from(project), files)));
    }

    #[test]
    fn what_is_not_exactly_a_list_of_pins_trusts_nothing() {
        let hash = "a".repeat(64);
        let good = format!(r#"{{"version":1,"pins":{{"/w/snell.toml":"{hash}"}}}}"#);
        assert_eq!(TrustStore::from_json(&good).unwrap().paths().count(), 1);
        let bad = [
            String::new(),
            "{}".into(),
            "[]".into(),
            good.replace("\"version\":1", "\"version\":2"),
            good.replace("/w/", "w/"),
            good.replace("aaaa", "zzzz"),
            good.replace("aaaa", ""),
            good.replace("/w/snell.toml", "hex:2"),
            good.replace("\"version\"", "\"projects\":[\"w\"],\"version\""),
            good.replace("\"version\"", "\"projects\":{},\"version\""),
            good[..good.len() - 1].to_owned(),
        ];
        for text in bad {
            assert!(TrustStore::from_json(&text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn pins_survive_being_written(names in prop::collection::vec(prop::collection::vec(1_u8.., 1..12), 0..5)) {
            let mut trust = TrustStore::default();
            for name in names {
                trust.trust_project(Path::new("/p").join(OsString::from_vec(name.clone())));
                trust.pin(Path::new("/").join(OsString::from_vec(name.clone())), &name);
            }
            prop_assert_eq!(TrustStore::from_json(&trust.to_json()).unwrap(), trust);
        }
    }
}
