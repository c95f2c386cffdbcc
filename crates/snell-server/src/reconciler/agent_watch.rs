//! Agents whose transcript, session file, process or terminal changed since the last look.
//!
//! The system reports changed files, and the reports are read a few times a second. Files that it does not report are
//! compared by their metadata. So interruptions, API errors, refused permissions and crashes show within a second, on
//! every system and file system.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use snell_store::{FileFingerprint, ProcessFingerprint, Result, Store, WatchTarget};

use crate::reconciler::file_notifier::{FileChanges, FileNotifier};

/// How often the server reads the reports, and compares files without reports.
pub(crate) const WATCH_INTERVAL: Duration = Duration::from_millis(250);

/// How often the server checks processes, which no report covers.
const PROCESS_INTERVAL: Duration = Duration::from_millis(500);

/// The targets are loaded again after this time, even if the database shows no change, and all files are compared.
const RELOAD_INTERVAL: Duration = Duration::from_secs(5);

/// The shortest time between two loads of the targets, while events arrive.
const MIN_RELOAD_INTERVAL: Duration = Duration::from_millis(500);

/// After a change, the agent is checked again at these times: the end of a turn counts later than its line, if a hook may
/// report it, and silence after a call may mean that the agent asks its user.
const LATER_CHECKS: [Duration; 3] =
    [Duration::from_millis(500), Duration::from_millis(3_500), Duration::from_millis(31_000)];

/// The watched agents.
#[derive(Debug)]
pub(crate) struct AgentWatch {
    targets: Vec<WatchTarget>,
    /// When the targets were loaded, and the newest change then.
    loaded: Option<(Instant, i64)>,
    processes_checked: Option<Instant>,
    agents: HashMap<i64, WatchedAgent>,
    /// None if the system has no such reports.
    notifier: Option<FileNotifier>,
}

#[derive(Debug, Default)]
struct WatchedAgent {
    files: Option<Vec<Option<FileFingerprint>>>,
    process: Option<ProcessFingerprint>,
    changed_at: Option<Instant>,
    /// Whether changes of one of its files are not reported, so that its files are compared in every look.
    is_polled: bool,
    /// How many of the later checks were made.
    checks: usize,
}

/// The agents to check.
#[derive(Debug, Default)]
pub(crate) struct ChangedAgents {
    /// Those whose files or process changed.
    pub(crate) agents: Vec<i64>,
    /// Those whose terminal was closed although their process lives.
    pub(crate) without_terminal: Vec<i64>,
}

/// The files to compare in one look.
enum ComparedFiles {
    All,
    /// These, and those of agents with files that are not reported.
    Reported(HashSet<PathBuf>),
}

impl Default for AgentWatch {
    fn default() -> Self {
        let notifier = FileNotifier::open().ok();
        Self { targets: Vec::new(), loaded: None, processes_checked: None, agents: HashMap::new(), notifier }
    }
}

impl AgentWatch {
    /// Finds the agents to check now.
    pub(crate) fn find_changed(&mut self, store: &mut Store) -> Result<ChangedAgents> {
        let now = Instant::now();
        let is_reloaded = self.reload_targets(store, now)?;
        let reported = match self.notifier.as_mut().map(FileNotifier::take_changes) {
            Some(FileChanges::Known(paths)) if !is_reloaded => ComparedFiles::Reported(paths),
            _ => ComparedFiles::All,
        };
        let checks_processes = is_reloaded || self.processes_checked.is_none_or(|at| now - at >= PROCESS_INTERVAL);
        if checks_processes {
            self.processes_checked = Some(now);
        }
        let mut changed = ChangedAgents::default();
        for target in &self.targets {
            let agent = self.agents.entry(target.agent_id).or_default();
            let compares = agent.files.is_none()
                || match &reported {
                    ComparedFiles::All => true,
                    ComparedFiles::Reported(paths) => {
                        let is_named = |path: &PathBuf| paths.contains(path);
                        agent.is_polled || (!paths.is_empty() && target.files().iter().any(is_named))
                    }
                };
            let has_new_files = compares && agent.update_files(target);
            let (has_new_process, lost_terminal) =
                if checks_processes { agent.update_process(target) } else { Default::default() };
            if agent.is_due(has_new_files || has_new_process, now) {
                changed.agents.push(target.agent_id);
            }
            if lost_terminal {
                changed.without_terminal.push(target.agent_id);
            }
        }
        Ok(changed)
    }

    /// Loads the targets if the database has changed, or after a while. Returns whether all files have to be compared.
    fn reload_targets(&mut self, store: &mut Store, now: Instant) -> Result<bool> {
        let age = self.loaded.map(|(at, _)| now - at);
        if age.is_some_and(|age| age < MIN_RELOAD_INTERVAL) {
            return Ok(false);
        }
        let newest = store.change_range()?.newest;
        let is_old = age.is_none_or(|age| age >= RELOAD_INTERVAL);
        if !is_old && self.loaded.is_some_and(|(_, change)| change == newest) {
            return Ok(false);
        }
        let before: HashSet<_> = std::mem::take(&mut self.targets).into_iter().collect();
        self.targets = store.list_watch_targets()?;
        self.loaded = Some((now, newest));
        let known: HashSet<_> = self.targets.iter().map(|target| target.agent_id).collect();
        self.agents.retain(|agent_id, _| known.contains(agent_id));
        if let Some(notifier) = &mut self.notifier {
            let files = self.targets.iter().flat_map(WatchTarget::files);
            notifier.watch_directories(&files.filter_map(|path| path.parent()).map(Path::to_owned).collect());
        }
        for target in &self.targets {
            let agent = self.agents.entry(target.agent_id).or_default();
            agent.is_polled = !target.files().iter().all(|path| is_reported(self.notifier.as_ref(), path));
            // A file may have changed before its directory was watched.
            if !before.contains(target) {
                agent.files = None;
            }
        }
        Ok(is_old)
    }
}

/// Whether the system reports changes of this file. Those of a symlink's target happen in another directory.
fn is_reported(notifier: Option<&FileNotifier>, path: &Path) -> bool {
    let is_watched = notifier.zip(path.parent()).is_some_and(|(notifier, parent)| notifier.is_watched(parent));
    is_watched && !path.is_symlink()
}

impl WatchedAgent {
    /// Returns whether the files changed.
    fn update_files(&mut self, target: &WatchTarget) -> bool {
        let files = Some(target.read_files());
        std::mem::replace(&mut self.files, files) != self.files
    }

    /// Returns whether the process ended, and whether a living one lost its terminal.
    fn update_process(&mut self, target: &WatchTarget) -> (bool, bool) {
        let Some(process) = target.read_process() else {
            return (false, false);
        };
        let before = self.process.replace(process);
        let is_new = before.is_none_or(|before| before.is_gone != process.is_gone);
        let had_terminal = before.is_some_and(|before| before.process == process.process && before.is_in_foreground);
        (is_new, had_terminal && !process.has_terminal && !process.is_gone)
    }

    /// Whether the agent has to be checked, because it has changed now or a while ago.
    fn is_due(&mut self, has_changed: bool, now: Instant) -> bool {
        if has_changed {
            (self.changed_at, self.checks) = (Some(now), 0);
            return true;
        }
        let delay = LATER_CHECKS.get(self.checks);
        let is_due = self.changed_at.zip(delay).is_some_and(|(at, delay)| now - at >= *delay);
        self.checks += usize::from(is_due);
        is_due
    }
}
