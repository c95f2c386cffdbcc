//! The environment of a hook: the data directory, the clock, and the configuration of its project.

use std::path::PathBuf;

use snell::{EngineBuilder, SnellSettings, Timestamp};

use crate::env::{self, ConfigArgs};

/// The environment of a hook.
#[derive(Debug)]
pub(crate) struct CallerEnv {
    /// The data directory.
    pub(crate) data: PathBuf,
    /// A fixed clock, for tests and replays.
    pub(crate) now: Option<Timestamp>,
}

impl CallerEnv {
    pub(crate) fn from_env() -> Self {
        Self { data: ConfigArgs::new(None, None).data_dir(), now: env::read_clock_override() }
    }

    /// Returns an engine builder for this project.
    pub(crate) fn engine_builder(project: PathBuf) -> anyhow::Result<EngineBuilder> {
        // A directory that does not exist has no hooks. Its events are still judged and recorded.
        let project = if project.is_dir() { project } else { PathBuf::from("/") };
        ConfigArgs::for_guest(project).engine_builder_with_trust()
    }

    /// The settings in the user's own files.
    pub(crate) fn load_user_settings() -> anyhow::Result<SnellSettings> {
        let (engine, _) = Self::engine_builder("/".into())?.survey().load();
        Ok(engine.settings())
    }
}
