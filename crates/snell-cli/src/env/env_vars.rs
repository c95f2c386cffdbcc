//! The environment of a hook, read once and passed on.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use super::as_usable_dir;

/// The environment variables of this process.
#[derive(Debug)]
pub(crate) struct EnvVars(Vec<(OsString, OsString)>);

impl EnvVars {
    pub(crate) fn read() -> Self {
        Self(std::env::vars_os().collect())
    }

    fn value(&self, name: &str) -> Option<&OsStr> {
        let (_, value) = self.0.iter().find(|(key, _)| key == name)?;
        Some(value.as_os_str()).filter(|value| !value.is_empty())
    }

    /// A variable that is set, not empty and UTF-8.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.value(name)?.to_str().map(str::to_owned)
    }

    /// The same, with U+FFFD in place of bytes that are not UTF-8.
    pub(crate) fn text_lossy(&self, name: &str) -> Option<String> {
        Some(self.value(name)?.to_string_lossy().into_owned())
    }

    /// The same, trimmed.
    pub(crate) fn trimmed_text(&self, name: &str) -> Option<String> {
        let text = self.text_lossy(name)?.trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// An absolute path.
    pub(crate) fn dir(&self, name: &str) -> Option<PathBuf> {
        as_usable_dir(self.value(name)?.into())
    }
}
