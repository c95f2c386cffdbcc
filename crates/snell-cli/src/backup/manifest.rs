//! The contents of a backup: which files it holds, and which ones could not be saved.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use snell::Timestamp;

/// The version of the form of manifests.
pub(super) const MANIFEST_VERSION: u32 = 1;

/// A backup as it is stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BackupManifest {
    pub(crate) version: u32,
    /// When the files were saved.
    pub(crate) time: Timestamp,
    /// The project, with symlinks resolved.
    pub(crate) project: ByteFaithfulPath,
    /// The agent's product.
    pub(crate) agent: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) tool: Option<String>,
    /// The call, with secrets masked.
    pub(crate) call: String,
    /// The backup whose restoration replaced these files.
    pub(crate) undo_of: Option<String>,
    pub(crate) files: Vec<SavedFile>,
    /// Files that could not be saved, up to a limit.
    pub(crate) unsaved: Vec<UnsavedFile>,
    /// How many there are.
    pub(crate) unsaved_count: usize,
}

/// A file as it was saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedFile {
    /// Below the project.
    pub(crate) path: ByteFaithfulPath,
    #[serde(flatten)]
    pub(crate) form: SavedForm,
    pub(crate) mode: u32,
    /// The time of its last change, in seconds and nanoseconds.
    pub(crate) modified: (i64, u32),
}

/// The type of a saved file, and where its contents are.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum SavedForm {
    File {
        size: u64,
        /// The name in the backup's directory.
        content: String,
        way: CopyWay,
    },
    Symlink {
        target: ByteFaithfulPath,
    },
    Directory,
}

/// How the contents were saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum CopyWay {
    /// A copy that shares its blocks with the file until one of them changes.
    Reflink,
    /// Another name for the same file.
    Link,
    Copy,
}

/// A file that could not be saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct UnsavedFile {
    /// Below the project, or as the call names it.
    pub(crate) path: ByteFaithfulPath,
    pub(crate) reason: UnsavedReason,
}

/// Why a file could not be saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UnsavedReason {
    TooLarge,
    NoTime,
    TooMany,
    NoSpace,
    Unreadable,
    NotRegular,
    Changing,
    UnknownPath,
    Generated,
}

impl UnsavedReason {
    /// The end of a sentence.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::TooLarge => "too large",
            Self::NoTime => "no time left",
            Self::TooMany => "too many files",
            Self::NoSpace => "no space on the disk, or not writable",
            Self::Unreadable => "not readable",
            Self::NotRegular => "not a regular file",
            Self::Changing => "it changed while it was copied",
            Self::Generated => "in directories that can be made again",
            Self::UnknownPath => "unknown before the call runs",
        }
    }

    /// Whether the user should hear about it before the call runs.
    pub(crate) fn matters(self) -> bool {
        !matches!(self, Self::NotRegular | Self::UnknownPath | Self::Generated)
    }
}

/// A path that need not be text. In JSON, one that is not is an array of bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ByteFaithfulPath(pub(crate) PathBuf);

impl ByteFaithfulPath {
    pub(crate) fn as_path(&self) -> &Path {
        &self.0
    }
}

impl From<&Path> for ByteFaithfulPath {
    fn from(path: &Path) -> Self {
        Self(path.to_owned())
    }
}

/// Bytes that are no text are shown as `\xff`.
impl fmt::Display for ByteFaithfulPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.as_os_str().as_bytes().utf8_chunks() {
            f.write_str(chunk.valid())?;
            chunk.invalid().iter().try_for_each(|byte| write!(f, "\\x{byte:02x}"))?;
        }
        Ok(())
    }
}

impl Serialize for ByteFaithfulPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => self.0.as_os_str().as_bytes().serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ByteFaithfulPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum PathForm {
            Text(String),
            Bytes(Vec<u8>),
        }
        let name = match PathForm::deserialize(deserializer)? {
            PathForm::Text(text) => OsString::from(text),
            PathForm::Bytes(bytes) => OsStr::from_bytes(&bytes).to_owned(),
        };
        Ok(Self(PathBuf::from(OsString::from_vec(name.into_vec()))))
    }
}
