//! `[server] url` in the user's own `snell.toml`: `snell install --forward` writes it.

use std::path::Path;

use crate::config_edit::{self, ConfigFileChange, quote_toml_string};
use crate::env::ConfigArgs;
use crate::output::CommandError;
use crate::record::http_delivery::load_token;

/// The keys.
const URL_KEY: &[&str] = &["server", "url"];
const TOKEN_FILE_KEY: &[&str] = &["server", "token_file"];

/// The change that sends this machine's events to a receiver, with the token in this file. It replaces no other values.
pub(crate) fn plan_forwarding(url: &str, token_file: Option<&Path>) -> anyhow::Result<ConfigFileChange> {
    let missing = || CommandError::new("HOME is not set").with_hint("set it to your home directory");
    let path = ConfigArgs::new(None, None).user_config_file().ok_or_else(missing)?;
    let token_file = token_file.map(std::path::absolute).transpose()?;
    if let Some(file) = &token_file {
        load_token(file).map_err(CommandError::from)?;
    }
    let token_file = token_file.map(|file| file.to_string_lossy().into_owned());
    let settings = [(URL_KEY, Some(url)), (TOKEN_FILE_KEY, token_file.as_deref())];
    let current = ConfigFileChange::prepare(&path, |text| Ok(text.map(str::to_owned)))?;
    let mut text = current.text_before().unwrap_or_default().to_owned();
    for (key, value) in settings.into_iter().filter_map(|(key, value)| Some((key, quote_toml_string(value?)))) {
        match config_edit::find_value(&text, key).ok().flatten() {
            Some(known) if known == value => {}
            Some(known) => {
                let name = key.join(".");
                let problem = format!("{} already has {name} = {known}", path.display());
                let hint = format!("run `snell config set {name} …`, or leave out --forward");
                return Err(CommandError::new(problem).with_hint(hint).into());
            }
            None => {
                let edited = ConfigFileChange::prepare(&path, |_| config_edit::set_key(&text, key, &value).map(Some))?;
                text = edited.text_after().unwrap_or_default().to_owned();
            }
        }
    }
    ConfigFileChange::prepare(&path, |_| Ok(Some(text)))
}
