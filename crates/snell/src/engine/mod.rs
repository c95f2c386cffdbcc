//! The engine: loaded hooks, and what happens when an event is fired.

mod builder;
mod check;
mod explain;
mod fire;
mod losses;
mod prepare;
mod select;
mod watch;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use jiff::Timestamp;

use crate::config::{self, GuardApproval, LoadRequest, LoadedConfig, SnellSettings};
use crate::contract::{self, HookContext};
use crate::diagnostic::{Diagnostic, UserMessage};
use crate::event::{Event, EventName};
use crate::hook::Hook;
use crate::matcher::CommandMatcher;
use crate::runner::{BackgroundLauncher, HookRunner};
use crate::trust::{ProjectFile, UntrustedFile};

pub use builder::EngineBuilder;
pub use explain::HookExplanation;
pub use watch::ConfigWatch;

/// The environment variable with the depth of hooks that fire hooks.
pub(crate) const DEPTH_VARIABLE: &str = "SNELL_DEPTH";

/// The maximum depth of hooks that fire hooks.
pub(crate) const MAX_DEPTH: u32 = 8;

/// A hooks engine: hooks read from files, ready to judge events.
///
/// Cheap to clone; clones share everything. Any number of events may be fired at once.
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<EngineState>,
}

#[derive(Debug)]
struct EngineState {
    request: LoadRequest,
    temp_dir: PathBuf,
    /// A fixed clock, for tests and replays.
    now: Option<Timestamp>,
    depth: u32,
    runner: HookRunner,
    commands: Arc<dyn CommandMatcher>,
    launcher: BackgroundLauncher,
    /// Events that are under way keep the list they started with.
    loaded: RwLock<Arc<LoadedConfig>>,
    reloading: Mutex<()>,
}

impl Engine {
    /// Begins to build an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The hooks that are configured, in the order in which they run. Those of files that are not trusted, where trust
    /// is required, are among them as [disabled](Hook::disabled).
    pub fn hooks(&self) -> Vec<Arc<Hook>> {
        self.loaded_config().all_hooks.clone()
    }

    /// The merged settings of the files.
    pub fn settings(&self) -> SnellSettings {
        let mut settings = self.loaded_config().settings();
        // The pins are read only if they matter.
        settings.guard.is_project_trusted =
            settings.guard.approve == GuardApproval::Project && self.is_project_trusted();
        settings
    }

    /// Whether hooks have fired hooks too deeply, by `SNELL_DEPTH`. Then no hook runs.
    pub fn is_too_deep(&self) -> bool {
        self.shared.depth >= MAX_DEPTH
    }

    /// The project's files whose hooks do not run because they are not trusted. The caller should report them to the user.
    pub fn untrusted_files(&self) -> Vec<UntrustedFile> {
        self.loaded_config().untrusted_files()
    }

    /// The project's files whose hooks need trust, and their status. Empty if the engine has no pins.
    pub fn project_files(&self) -> Vec<ProjectFile> {
        self.loaded_config().project_files()
    }

    /// Whether the user trusts the project as a whole, or it is the user's own directory. This reads the pins again.
    pub fn is_project_trusted(&self) -> bool {
        self.shared.request.is_project_trusted()
    }

    /// The files that were read.
    pub fn files(&self) -> Vec<PathBuf> {
        self.loaded_config().file_paths().map(PathBuf::from).collect()
    }

    /// Reads all files again. Each one's hooks are replaced, never appended.
    ///
    /// A file that can no longer be read or parsed keeps its hooks, with a diagnostic: a half-saved file must not disable a
    /// guard. A deleted file loses its hooks. If trust is required, pins are loaded again, and a file with another content
    /// than its pin loses its hooks as well.
    pub fn reload(&self) -> Vec<Diagnostic> {
        let _one_at_a_time = self.lock_reload();
        self.reload_now()
    }

    fn reload_now(&self) -> Vec<Diagnostic> {
        let before = self.loaded_config();
        let after = config::load_config(&self.shared.request, Some(&before));
        let diagnostics = after.diagnostics();
        match self.shared.loaded.write() {
            Ok(mut loaded) => *loaded = Arc::new(after),
            Err(poisoned) => *poisoned.into_inner() = Arc::new(after),
        }
        diagnostics
    }

    /// Reloads if a file was changed, created or removed since the last load, and returns the diagnostics if so.
    ///
    /// This reads each file's metadata and takes microseconds, so a host can call it before every event.
    pub fn reload_if_changed(&self) -> Option<Vec<Diagnostic>> {
        let _one_at_a_time = self.lock_reload();
        self.loaded_config().is_out_of_date().then(|| self.reload_now())
    }

    /// Warnings about an event: a misspelled name, a tool event without its tool. The event fires anyway, and its verdict has
    /// these warnings too.
    pub fn check_event(&self, event: &Event) -> Vec<Diagnostic> {
        let mut remarks: Vec<UserMessage> = Vec::new();
        if let EventName::Other(name) = &event.name {
            let known =
                contract::is_known_event(name) || self.hooks().iter().any(|hook| hook.events.contains(&event.name));
            let message = UserMessage::new(format!("unknown event \"{name}\", and no hook runs on it"));
            let message = message.with_suggestion(name, EventName::all_names());
            remarks.extend((!known && message.hint.is_some()).then_some(message));
        }
        if event.name.is_tool_event() && event.tool_name().is_none() {
            let name = &event.name;
            let text = format!("the {name} event has no \"tool_name\", so only hooks for every tool match it");
            remarks.push(text.into());
        }
        remarks.into_iter().map(Diagnostic::for_event).collect()
    }

    /// Waits until every hook has ended that this engine started in the background of this process.
    pub async fn wait_for_background(&self) {
        self.shared.launcher.wait_until_idle().await;
    }

    /// Held during a reload, so that an older state never replaces a newer one.
    fn lock_reload(&self) -> MutexGuard<'_, ()> {
        self.shared.reloading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded_config(&self) -> Arc<LoadedConfig> {
        match self.shared.loaded.read() {
            Ok(loaded) => Arc::clone(&loaded),
            Err(poisoned) => Arc::clone(&poisoned.into_inner()),
        }
    }

    /// The event with an absolute working directory, so that every hook and rule reads it the same way.
    fn with_absolute_cwd(&self, mut event: Event) -> Event {
        event.cwd = event.cwd.map(|cwd| self.shared.request.dirs.project.join(cwd));
        event
    }

    fn hook_context(&self) -> HookContext<'_> {
        HookContext {
            project: &self.shared.request.dirs.project,
            home: self.shared.request.dirs.home.as_deref(),
            now: self.shared.now.unwrap_or_else(Timestamp::now),
            runner: &self.shared.runner,
            commands: &*self.shared.commands,
        }
    }
}
