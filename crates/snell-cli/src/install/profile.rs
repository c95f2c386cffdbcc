//! The `profile` of the user's own `snell.toml`: `snell install --profile` writes it, and `snell uninstall` takes it away again.

use std::path::{Path, PathBuf};

use serde::Serialize;
use snell::WorkProfile;

use super::atomic_file;
use super::backup::{InstallLog, InstallRecord};
use crate::config_edit::{self, ConfigFileChange};
use crate::env::ConfigArgs;
use crate::output::CommandError;

const PROFILE_KEY: &[&str] = &["profile"];

/// The change of the user's own `snell.toml`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ProfileReport {
    pub(crate) file: PathBuf,
    pub(crate) changed: bool,
    /// The change as a unified diff.
    pub(crate) diff: String,
}

impl ProfileReport {
    pub(crate) fn from_change(change: &ConfigFileChange) -> Self {
        Self { file: change.path().to_owned(), changed: change.has_effect(), diff: change.diff() }
    }
}

/// Prepares a line with this profile. Nothing is written yet.
pub(crate) fn prepare_profile(profile: WorkProfile) -> anyhow::Result<ConfigFileChange> {
    let missing = || CommandError::new("HOME is not set").with_hint("set it to your home directory");
    let path = ConfigArgs::new(None, None).user_config_file().ok_or_else(missing)?;
    let value = config_edit::quote_toml_string(profile.name());
    ConfigFileChange::prepare(&path, |text| {
        config_edit::set_key(text.unwrap_or_default(), PROFILE_KEY, &value).map(Some)
    })
}

/// Writes a prepared line. The record says that this agent's installation did it.
pub(crate) fn write_profile(change: &ConfigFileChange, data: &Path, agent: &str) -> anyhow::Result<()> {
    let (true, Some(after)) = (change.has_effect(), change.text_after()) else {
        return Ok(());
    };
    let log = InstallLog::open(data)?;
    let known = log.find_record(change.path());
    let mut record = InstallRecord::new(change.path(), change.text_before().map(str::to_owned), after);
    record.agent = Some(agent.to_owned());
    record.made = change.missing_directories();
    log.save_record(&record)?;
    change.write().inspect_err(|_| log.restore_record(change.path(), known.as_ref()))
}

/// Prepares the removal of a line that this agent's installation wrote; nothing if there is none, or if the user changed it.
pub(crate) fn prepare_removal(data: &Path, agent: &str) -> anyhow::Result<Option<ConfigFileChange>> {
    let Some(path) = ConfigArgs::new(None, None).user_config_file() else {
        return Ok(None);
    };
    let record = InstallLog::open_read_only(data).find_record(&path);
    let Some(record) = record.filter(|record| record.agent.as_deref() == Some(agent)) else {
        return Ok(None);
    };
    let change = ConfigFileChange::prepare(&path, |text| match text {
        Some(_) if record.matches_written(text) => Ok(record.before.clone()),
        Some(text) if is_written_profile(config_edit::find_value(text, PROFILE_KEY)?) => {
            config_edit::remove_key(text, PROFILE_KEY)
        }
        _ => Ok(text.map(str::to_owned)),
    })?;
    Ok(change.has_effect().then_some(change))
}

/// Writes a prepared removal.
pub(crate) fn write_removal(change: &ConfigFileChange, data: &Path) -> anyhow::Result<()> {
    let log = InstallLog::open(data)?;
    change.write()?;
    let made = log.find_record(change.path()).map(|record| record.made).unwrap_or_default();
    log.delete_record(change.path());
    atomic_file::remove_directories(&made);
    Ok(())
}

/// Whether a value is a profile as an installation writes it.
fn is_written_profile(value: Option<&str>) -> bool {
    value.is_some_and(|value| WorkProfile::names().any(|name| config_edit::quote_toml_string(name) == value))
}
