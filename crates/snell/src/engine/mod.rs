//! The engine: loaded hooks, and what happens when an event is fired.

mod builder;
mod check;
mod explain;
mod fire;
mod prepare;
mod select;
mod watch;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use jiff::Timestamp;

use crate::config::{self, Loaded, Request, Settings};
use crate::contract::{self, Scene};
use crate::diagnostic::{Diagnostic, hint};
use crate::event::{Event, EventName};
use crate::hook::Hook;
use crate::runner::{Launcher, Runner};
use crate::trust::{ProjectFile, Withheld};

pub use builder::EngineBuilder;
pub use explain::Explanation;
pub use watch::Watch;

/// The variable that counts how deep hooks have fired hooks.
pub(crate) const DEPTH_VARIABLE: &str = "SNELL_DEPTH";

/// Hooks fired by hooks go no deeper than this.
pub(crate) const MAX_DEPTH: u32 = 8;

/// A hooks engine: hooks read from files, ready to judge events.
///
/// Cheap to clone; clones share everything. Any number of events may be fired at once.
#[derive(Clone, Debug)]
pub struct Engine {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    request: Request,
    temp_dir: PathBuf,
    /// A fixed clock, for tests and replays.
    now: Option<Timestamp>,
    depth: u32,
    runner: Runner,
    launcher: Launcher,
    /// Events that are under way keep the list they started with.
    loaded: RwLock<Arc<Loaded>>,
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
        self.loaded().listed.clone()
    }

    /// What the files say beside their hooks.
    pub fn settings(&self) -> Settings {
        self.loaded().settings()
    }

    /// Whether no hook runs because hooks have called hooks too often, as `SNELL_DEPTH` says.
    pub fn is_too_deep(&self) -> bool {
        self.shared.depth >= MAX_DEPTH
    }

    /// The project's files whose hooks do not run, because they are not trusted as they are. Tell the user of them.
    pub fn withheld(&self) -> Vec<Withheld> {
        self.loaded().withheld()
    }

    /// The project's files that run hooks only where they are trusted, and what trust says about each. There are none
    /// where the engine was given no pins.
    pub fn project_files(&self) -> Vec<ProjectFile> {
        self.loaded().project_files()
    }

    /// The files that were read.
    pub fn files(&self) -> Vec<PathBuf> {
        self.loaded().files().map(PathBuf::from).collect()
    }

    /// Reads all files again. Each one's hooks are replaced, never appended.
    ///
    /// A file that cannot be read or parsed any more keeps the hooks it had, and a diagnostic says so: a half-saved file
    /// must not open a guard. A file that is gone takes its hooks with it. Where trust is required, pins are asked for
    /// again, and a file that says something else than it is pinned for takes its hooks with it as well.
    pub fn reload(&self) -> Vec<Diagnostic> {
        let _one_at_a_time = self.reloading();
        self.reload_now()
    }

    fn reload_now(&self) -> Vec<Diagnostic> {
        let before = self.loaded();
        let after = config::load(&self.shared.request, Some(&before));
        let diagnostics = after.diagnostics();
        match self.shared.loaded.write() {
            Ok(mut loaded) => *loaded = Arc::new(after),
            Err(poisoned) => *poisoned.into_inner() = Arc::new(after),
        }
        diagnostics
    }

    /// Reloads if a file was changed, created or removed since the last load, and answers the diagnostics if so.
    ///
    /// This looks at each file's metadata and costs microseconds, so a host may well call it before every event.
    pub fn reload_if_changed(&self) -> Option<Vec<Diagnostic>> {
        let _one_at_a_time = self.reloading();
        self.loaded().is_out_of_date().then(|| self.reload_now())
    }

    /// What is odd about an event: a name that looks like a slip of the pen, a tool event without its tool. It is fired
    /// all the same; the verdict carries these remarks among its warnings.
    pub fn remarks(&self, event: &Event) -> Vec<Diagnostic> {
        let mut remarks = Vec::new();
        if let EventName::Other(name) = &event.name {
            let known =
                contract::is_known_event(name) || self.hooks().iter().any(|hook| hook.events.contains(&event.name));
            let near = hint(name, EventName::all_names());
            if !known && !near.is_empty() {
                remarks.push(format!(
                    "no hook is for \"{name}\", and it is no event that Snell knows{near}"
                ));
            }
        }
        if event.name.is_about_a_tool() && event.tool_name().is_none() {
            let name = &event.name;
            remarks.push(format!(
                "a {name} event without \"tool_name\"; only hooks for every tool can match it"
            ));
        }
        remarks.into_iter().map(Diagnostic::about_event).collect()
    }

    /// Waits until every hook has ended that this engine started in the background of this process.
    pub async fn background_ended(&self) {
        self.shared.launcher.idle().await;
    }

    /// Held while files are read and their hooks put in place, so that an older state never replaces a newer one.
    fn reloading(&self) -> MutexGuard<'_, ()> {
        self.shared.reloading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn loaded(&self) -> Arc<Loaded> {
        match self.shared.loaded.read() {
            Ok(loaded) => Arc::clone(&loaded),
            Err(poisoned) => Arc::clone(&poisoned.into_inner()),
        }
    }

    /// The event with the agent's directory in full: every hook and every rule then understands it alike.
    fn located(&self, mut event: Event) -> Event {
        event.cwd = event.cwd.map(|cwd| self.shared.request.around.project.join(cwd));
        event
    }

    fn scene(&self) -> Scene<'_> {
        Scene {
            project: &self.shared.request.around.project,
            home: self.shared.request.around.home.as_deref(),
            now: self.shared.now.unwrap_or_else(Timestamp::now),
            runner: &self.shared.runner,
        }
    }
}
