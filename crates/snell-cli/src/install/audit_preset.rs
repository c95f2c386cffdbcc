//! `preset = "audit"` in the user's own `snell.toml`: `snell install --audit` writes it, `snell uninstall` removes it.

use std::path::{Path, PathBuf};

use crate::config_edit::{self, ConfigFileChange};
use crate::env::ConfigArgs;
use crate::output::CommandError;

/// The key.
const PRESET_KEY: &[&str] = &["guard", "preset"];

/// The value.
const AUDIT: &str = "\"audit\"";

/// Marks the line that Snell wrote.
const MARK: &str = "# by snell install --audit";

/// Begins the earlier value in the mark. A closing parenthesis ends it.
const EARLIER: &str = " (before: ";

/// The default preset, as TOML writes it. The user loses no choice of their own if it is replaced.
const DEFAULT_PRESETS: &[&str] = &["\"standard\"", "'standard'"];

/// The change that writes the preset. It replaces the default preset, but no other preset of the user.
pub(crate) fn plan_audit_preset() -> anyhow::Result<ConfigFileChange> {
    let path = user_settings_path()?;
    let text = read_settings(&path)?.unwrap_or_default();
    let chosen = config_edit::find_value(&text, PRESET_KEY).ok().flatten().filter(|chosen| *chosen != AUDIT);
    if let Some(chosen) = chosen {
        let marked = format!("{AUDIT} {MARK}{EARLIER}{chosen})");
        // In an inline table there is no room for a comment.
        return match config_edit::set_key(&text, PRESET_KEY, &marked) {
            Ok(edited) if DEFAULT_PRESETS.contains(&chosen) => ConfigFileChange::prepare(&path, |_| Ok(Some(edited))),
            _ => Err(refuse_replacement(&path, chosen).into()),
        };
    }
    ConfigFileChange::prepare(&path, |text| {
        let text = text.unwrap_or_default();
        if matches!(config_edit::find_value(text, PRESET_KEY), Ok(Some(AUDIT))) {
            return Ok(Some(text.to_owned()));
        }
        config_edit::set_key(text, PRESET_KEY, &format!("{AUDIT} {MARK}"))
            .or_else(|_| config_edit::set_key(text, PRESET_KEY, AUDIT))
            .map(Some)
    })
}

fn refuse_replacement(path: &Path, chosen: &str) -> CommandError {
    CommandError::new(format!("{} already has preset = {chosen}", path.display()))
        .with_hint("run `snell config set guard.preset audit`, or leave out --audit")
}

/// The change that removes the preset or restores the earlier one, if Snell wrote it and it is unchanged.
pub(crate) fn plan_audit_removal() -> anyhow::Result<Option<ConfigFileChange>> {
    let path = user_settings_path()?;
    let Some(text) = read_settings(&path)? else {
        return Ok(None);
    };
    let replaced = DEFAULT_PRESETS.iter().map(|earlier| (format!("{AUDIT} {MARK}{EARLIER}{earlier})"), *earlier));
    if let Some((marked, earlier)) = replaced.into_iter().find(|(marked, _)| text.contains(marked)) {
        let restored = text.replacen(&marked, earlier, 1);
        return ConfigFileChange::prepare(&path, |_| Ok(Some(restored))).map(Some);
    }
    if !text.lines().any(|line| line.trim_end().ends_with(&format!("{AUDIT} {MARK}"))) {
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
fn read_settings(path: &Path) -> anyhow::Result<Option<String>> {
    let unchanged = ConfigFileChange::prepare(path, |text| Ok(text.map(str::to_owned)))?;
    Ok(unchanged.text_before().map(str::to_owned))
}
