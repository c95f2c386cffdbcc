//! `preset = "audit"` in the user's own `snell.toml`: `snell install --audit` writes it, `snell uninstall` removes it.

use std::path::PathBuf;

use crate::config_edit::{self, ConfigFileChange};
use crate::env::ConfigArgs;
use crate::output::CommandError;

/// The key.
const PRESET_KEY: &[&str] = &["guard", "preset"];

/// The value.
const AUDIT: &str = "\"audit\"";

/// Marks the line that Snell wrote.
const MARK: &str = "# by snell install --audit";

/// The change that adds the preset. Another preset of the user is not replaced.
pub(crate) fn plan_audit_preset() -> anyhow::Result<ConfigFileChange> {
    let path = user_settings_path()?;
    let text = read_settings(&path)?;
    let chosen = text.as_deref().map(|text| config_edit::find_value(text, PRESET_KEY));
    if let Some(Ok(Some(chosen))) = chosen.filter(|chosen| !matches!(chosen, Ok(Some(AUDIT)))) {
        let problem = format!("{} already has preset = {chosen}", path.display());
        return Err(CommandError::new(problem).with_hint("set preset = \"audit\" there, or leave out --audit").into());
    }
    ConfigFileChange::prepare(&path, |text| {
        let text = text.unwrap_or_default();
        if matches!(config_edit::find_value(text, PRESET_KEY), Ok(Some(AUDIT))) {
            return Ok(Some(text.to_owned()));
        }
        // In an inline table there is no room for a comment.
        config_edit::set_key(text, PRESET_KEY, &format!("{AUDIT} {MARK}"))
            .or_else(|_| config_edit::set_key(text, PRESET_KEY, AUDIT))
            .map(Some)
    })
}

/// The change that removes the preset, if Snell wrote it and it is unchanged.
pub(crate) fn plan_audit_removal() -> anyhow::Result<Option<ConfigFileChange>> {
    let path = user_settings_path()?;
    let is_own = |text: &String| text.lines().any(|line| line.trim_end().ends_with(&format!("{AUDIT} {MARK}")));
    if read_settings(&path)?.filter(is_own).is_none() {
        return Ok(None);
    }
    let change = ConfigFileChange::prepare(&path, |text| {
        let text = text.unwrap_or_default();
        let removed = config_edit::remove_key(text, PRESET_KEY)?.unwrap_or_else(|| text.to_owned());
        // A file without content is removed.
        Ok(Some(removed).filter(|text| !text.trim().is_empty()))
    })?;
    Ok(Some(change))
}

fn user_settings_path() -> anyhow::Result<PathBuf> {
    let missing = || CommandError::new("HOME is not set").with_hint("set it to your home directory");
    Ok(ConfigArgs::new(None, None).user_config_file().ok_or_else(missing)?)
}

/// The text of the file, if it exists.
fn read_settings(path: &std::path::Path) -> anyhow::Result<Option<String>> {
    let unchanged = ConfigFileChange::prepare(path, |text| Ok(text.map(str::to_owned)))?;
    Ok(unchanged.text_before().map(str::to_owned))
}
