//! The user's settings for processes that run for long: a file that was changed is read again.

use std::path::PathBuf;

use snell::{Engine, SnellSettings, Timestamp};

use super::caller::CallerEnv;

/// The user's settings, as they are now.
#[derive(Debug, Default)]
pub(crate) struct LiveUserSettings {
    engine: Option<Engine>,
}

impl LiveUserSettings {
    /// The settings. A file that was changed is read again.
    pub(crate) fn load(&mut self) -> SnellSettings {
        if let Some(engine) = &self.engine {
            engine.reload_if_changed();
        } else if let Ok(builder) = CallerEnv::engine_builder("/".into()) {
            self.engine = Some(builder.survey().load().0);
        }
        self.engine.as_ref().map(Engine::settings).unwrap_or_default()
    }

    /// The files of the loaded settings.
    pub(crate) fn list_files(&self) -> Vec<PathBuf> {
        let files = self.engine.as_ref().map(Engine::files).unwrap_or_default();
        files.into_iter().filter(|file| file.ends_with("snell.toml")).collect()
    }

    /// When one of these files was last written; nothing if that is unknown, or in the future.
    pub(crate) fn read_last_write(&self) -> Option<Timestamp> {
        let modified = |file: PathBuf| std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
        let times =
            self.list_files().into_iter().filter_map(modified).filter_map(|time| Timestamp::try_from(time).ok());
        times.max().filter(|time| *time <= Timestamp::now())
    }
}
