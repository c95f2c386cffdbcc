//! The inputs of an engine, which reads neither the environment nor the home directory itself.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, RwLock};

use jiff::Timestamp;

use super::{DEPTH_VARIABLE, Engine, EngineState};
use crate::agents::AgentProduct;
use crate::config::{
    self, ConfigDirs, ConfigFile, FileSelection, HookExclusion, LoadRequest, TrustScope, TrustSource, UnpinnedPolicy,
    WorkProfile,
};
use crate::diagnostic::Diagnostic;
use crate::hook::Hook;
use crate::matcher::{CommandMatcher, PlainCommandMatcher};
use crate::runner::{
    BackgroundLauncher, BackgroundMode, BackgroundObserver, BackgroundResult, HookRunner, default_max_running,
};
use crate::trust::TrustStore;

/// Builds an [`Engine`].
#[derive(Default)]
pub struct EngineBuilder {
    project: Option<PathBuf>,
    home: Option<PathBuf>,
    config_dir: Option<PathBuf>,
    selection: Option<FileSelection>,
    trust_source: Option<TrustSource>,
    trust_scope: Option<TrustScope>,
    requires_trust: bool,
    trust_command_argument: Option<String>,
    exclusion: Option<HookExclusion>,
    launcher_profile: Option<WorkProfile>,
    environment: Option<BTreeMap<OsString, OsString>>,
    now: Option<Timestamp>,
    background: BackgroundMode,
    observer: Option<BackgroundObserver>,
    max_running: Option<usize>,
    commands: Option<Arc<dyn CommandMatcher>>,
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The environment has secrets, so it is not part of debug output.
        f.debug_struct("EngineBuilder")
            .field("project", &self.project)
            .field("home", &self.home)
            .field("config_dir", &self.config_dir)
            .field("which", &self.selection)
            .finish_non_exhaustive()
    }
}

impl EngineBuilder {
    /// The project's root, with its hook files, in which most hooks run. Default: the current directory.
    #[must_use]
    pub fn project(mut self, directory: impl Into<PathBuf>) -> Self {
        self.project = Some(directory.into());
        self
    }

    /// Excludes the hooks for which this returns a reason: those that would call the caller itself. They are
    /// [listed](Engine::hooks) as disabled.
    #[must_use]
    pub fn exclude_hooks(mut self, why: impl Fn(&Hook) -> Option<String> + Send + Sync + 'static) -> Self {
        self.exclusion = Some(HookExclusion::from_fn(why));
        self
    }

    /// Compares command lines with the `command` of hooks. Default: by the words of each simple command.
    #[must_use]
    pub fn command_matcher(mut self, commands: Arc<dyn CommandMatcher>) -> Self {
        self.commands = Some(commands);
        self
    }

    /// The user's home directory, for files such as `~/.claude/settings.json`. Without it Snell does not read them.
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

    /// Reads only these files.
    #[must_use]
    pub fn files(mut self, files: impl IntoIterator<Item = ConfigFile>) -> Self {
        self.selection = Some(FileSelection::Only(files.into_iter().collect()));
        self
    }

    /// Reads the files for Snell as a guest of this agent: the `snell.toml` of the user and of the project, and the
    /// files that they borrow. The agent's own files are never read, because it runs them itself. Trust is required.
    #[must_use]
    pub fn guest(mut self, agent: &'static AgentProduct) -> Self {
        self.selection = Some(FileSelection::Guest(Some(agent)));
        self.require_trust()
    }

    /// Reads the files for Snell as a guest of any agent, as if all were trusted. It is for a user who is about to
    /// trust files: [`Engine::project_files`] then lists them. Do not fire events on such an engine.
    #[must_use]
    pub fn survey(mut self) -> Self {
        self.selection = Some(FileSelection::Guest(None));
        self
    }

    /// As [`EngineBuilder::survey`], for a host that requires trust: files of every contract.
    #[must_use]
    pub fn survey_all(mut self) -> Self {
        self.trust_scope = Some(TrustScope::All);
        self
    }

    /// The trusted files of projects. Without [`EngineBuilder::require_trust`] this only changes the result of
    /// [`Engine::project_files`].
    #[must_use]
    pub fn trust(self, trust: TrustStore) -> Self {
        self.trust_from(move || trust.clone())
    }

    /// As [`EngineBuilder::trust`], with a function that is called only if there is a file to check, at most once per
    /// load.
    #[must_use]
    pub fn trust_from(mut self, pins: impl Fn() -> TrustStore + Send + Sync + 'static) -> Self {
        self.trust_source = Some(TrustSource(Arc::new(pins)));
        self
    }

    /// Runs hooks in files of the project only if these files are trusted. Without pins no file is trusted.
    #[must_use]
    pub fn require_trust(mut self) -> Self {
        self.requires_trust = true;
        self.trust_scope = Some(TrustScope::All);
        self
    }

    /// The argument of `snell trust` for this project, if the user is in another directory.
    #[must_use]
    pub fn trust_command_argument(mut self, directory: impl Into<String>) -> Self {
        self.trust_command_argument = Some(directory.into());
        self
    }

    /// The profile that the variables of a launcher switch on. A profile in the user's own file counts more.
    #[must_use]
    pub fn launcher_profile(mut self, profile: WorkProfile) -> Self {
        self.launcher_profile = Some(profile);
        self
    }

    /// The environment of hooks, usually `std::env::vars_os()`.
    ///
    /// Without it hooks inherit the environment of this process, variables in the headers of `http` hooks are empty,
    /// and there is no depth limit for hooks that fire hooks.
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

    /// A fixed clock, for tests and replays. Durations are still measured.
    #[must_use]
    pub fn now(mut self, now: Timestamp) -> Self {
        self.now = Some(now);
        self
    }

    /// Where background hooks run.
    #[must_use]
    pub fn background(mut self, background: BackgroundMode) -> Self {
        self.background = background;
        self
    }

    /// Called for each background hook that ended in this process.
    #[must_use]
    pub fn on_background_finished(mut self, observer: impl Fn(BackgroundResult) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// How many hooks may run at the same time. Default: 128, or fewer if this process may open few files.
    #[must_use]
    pub fn max_running(mut self, hooks: usize) -> Self {
        self.max_running = Some(hooks);
        self
    }

    /// Reads the configuration. There is always an engine: problems of a file are in the diagnostics, and everything
    /// else works.
    pub fn load(self) -> (Engine, Vec<Diagnostic>) {
        let project = self.project.unwrap_or_else(|| PathBuf::from("."));
        // Hooks expect absolute paths. A directory that cannot be made absolute stays as it is.
        let project = std::path::absolute(&project).unwrap_or(project);
        let config_dir = self.config_dir.or_else(|| self.home.as_ref().map(|home| home.join(".config/snell")));
        let around = ConfigDirs { project, home: self.home, config_dir };
        let nothing = || TrustSource(Arc::new(TrustStore::default));
        let request = LoadRequest {
            selection: self.selection.unwrap_or(FileSelection::Discovered),
            dirs: around,
            trust_source: self.trust_source.or_else(|| self.requires_trust.then(nothing)),
            trust_scope: self.trust_scope.unwrap_or(TrustScope::Guest),
            unpinned_policy: if self.requires_trust { UnpinnedPolicy::Reject } else { UnpinnedPolicy::Accept },
            trust_command_argument: self.trust_command_argument,
            exclusion: self.exclusion,
            launcher_profile: self.launcher_profile,
        };
        let variable = |name: &str| self.environment.as_ref()?.get(OsStr::new(name));
        let temp_dir = variable("TMPDIR")
            .filter(|directory| !directory.is_empty())
            .map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        let depth = variable(DEPTH_VARIABLE)
            .and_then(|depth| depth.to_str())
            .filter(|depth| !depth.is_empty() && depth.bytes().all(|byte| byte.is_ascii_digit()))
            // A number that is too large to parse is above the limit.
            .map_or(0, |depth| depth.parse().unwrap_or(u32::MAX));
        let loaded = config::load_config(&request, None);
        let diagnostics = loaded.diagnostics();
        let engine = Engine {
            shared: Arc::new(EngineState {
                request,
                now: self.now,
                depth,
                runner: HookRunner::new(self.environment, self.max_running.unwrap_or_else(default_max_running)),
                commands: self.commands.unwrap_or_else(|| Arc::new(PlainCommandMatcher)),
                launcher: BackgroundLauncher::new(self.background, self.observer, temp_dir.clone()),
                temp_dir,
                loaded: RwLock::new(Arc::new(loaded)),
                reloading: Mutex::new(()),
            }),
        };
        (engine, diagnostics)
    }
}
