//! What an engine needs to know: it asks neither the environment nor the home directory by itself.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, RwLock};

use jiff::Timestamp;

use super::{DEPTH_VARIABLE, Engine, Shared};
use crate::config::{self, ConfigFile, Surroundings, Which};
use crate::diagnostic::Diagnostic;
use crate::runner::{Background, Finished, Launcher, Observer, Runner, default_max_running};

/// Builds an [`Engine`].
#[derive(Default)]
pub struct EngineBuilder {
    project: Option<PathBuf>,
    home: Option<PathBuf>,
    config_dir: Option<PathBuf>,
    files: Option<Vec<ConfigFile>>,
    environment: Option<BTreeMap<OsString, OsString>>,
    now: Option<Timestamp>,
    background: Background,
    observer: Option<Observer>,
    max_running: Option<usize>,
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment holds secrets; it has no place in a debug print.
        f.debug_struct("EngineBuilder")
            .field("project", &self.project)
            .field("home", &self.home)
            .field("config_dir", &self.config_dir)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl EngineBuilder {
    /// The project's root: where its hook files are, and where most hooks run. Default: the current directory.
    #[must_use]
    pub fn project(mut self, directory: impl Into<PathBuf>) -> Self {
        self.project = Some(directory.into());
        self
    }

    /// The user's home directory, for `~/.claude/settings.json` and its like. Without it no such file is read.
    #[must_use]
    pub fn home(mut self, directory: impl Into<PathBuf>) -> Self {
        self.home = Some(directory.into());
        self
    }

    /// The directory of the user's own `snell.toml`. Default: `.config/snell` in the home directory.
    #[must_use]
    pub fn config_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.config_dir = Some(directory.into());
        self
    }

    /// Reads these files and no others.
    #[must_use]
    pub fn files(mut self, files: impl IntoIterator<Item = ConfigFile>) -> Self {
        self.files = Some(files.into_iter().collect());
        self
    }

    /// The environment that hooks start from, usually `std::env::vars_os()`.
    ///
    /// Without it hooks inherit the environment of this process, variables in the headers of `http` hooks are empty,
    /// and hooks that fire hooks are not counted.
    #[must_use]
    pub fn env<K, V>(mut self, variables: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        self.environment = Some(variables.collect());
        self
    }

    /// Stops the clock at this time, for tests and replays. Durations are still measured.
    #[must_use]
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// Where hooks run that are started and not awaited.
    #[must_use]
    pub fn background(mut self, background: Background) -> Self {
        self.background = background;
        self
    }

    /// Is told of each hook that ended in the background of this process.
    #[must_use]
    pub fn on_background_finished(mut self, observer: impl Fn(Finished) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// How many hooks may run at the same time. Default: 128, or fewer where this process may open few files.
    #[must_use]
    pub fn max_running(mut self, hooks: usize) -> Self {
        self.max_running = Some(hooks);
        self
    }

    /// Reads the configuration. There is always an engine: what is wrong with a file is told in the diagnostics, and
    /// everything else works.
    pub fn load(self) -> (Engine, Vec<Diagnostic>) {
        let project = self.project.unwrap_or_else(|| PathBuf::from("."));
        // Hooks are promised absolute paths; a directory that cannot be made absolute is left as it was named.
        let project = std::path::absolute(&project).unwrap_or(project);
        let config_dir = self
            .config_dir
            .or_else(|| self.home.as_ref().map(|home| home.join(".config/snell")));
        let around = Surroundings {
            project,
            home: self.home,
            config_dir,
        };
        let which = self.files.map_or(Which::Discovered, Which::Only);
        let variable = |name: &str| self.environment.as_ref()?.get(OsStr::new(name));
        let temp_dir = variable("TMPDIR")
            .filter(|directory| !directory.is_empty())
            .map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let depth = variable(DEPTH_VARIABLE)
            .and_then(|depth| depth.to_str())
            .filter(|depth| !depth.is_empty() && depth.bytes().all(|byte| byte.is_ascii_digit()))
            // A number that is too great to be read is too deep in any case.
            .map_or(0, |depth| depth.parse().unwrap_or(u32::MAX));
        let loaded = config::load(&which, &around, None);
        let diagnostics = loaded.diagnostics();
        let engine = Engine {
            shared: Arc::new(Shared {
                which,
                around,
                now: self.now,
                depth,
                runner: Runner::new(self.environment, self.max_running.unwrap_or_else(default_max_running)),
                launcher: Launcher::new(self.background, self.observer, temp_dir.clone()),
                temp_dir,
                loaded: RwLock::new(Arc::new(loaded)),
                reloading: Mutex::new(()),
            }),
        };
        (engine, diagnostics)
    }
}
