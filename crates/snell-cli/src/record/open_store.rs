//! The store, for commands that show or change it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use snell::Timestamp;
use snell_store::{
    AgentActivity, AgentView, DatabaseLocation, EventRecorder, ReconcileScope, Result, Store, StoreError, daemon,
};

use crate::commands::serve::resolve_database;
use crate::env::caller::CallerEnv;
use crate::output::{self, CommandError, Spinner};
use crate::record::record_event::DaemonMode;

/// How long a command retries while another process holds the lock. Each attempt waits for about half a second, and one more may
/// follow, so it takes at most about three seconds.
const RETRY_WINDOW: Duration = Duration::from_millis(1200);

/// The database of a command that reads.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct DatabaseArgs {
    /// Read this database [default: the one of `snell hook`]
    ///
    /// A path, sqlite:PATH, or postgres://USER@HOST/NAME for the database of a team.
    #[arg(long, value_name = "DATABASE")]
    db: Option<String>,
}

/// The store of a command.
#[derive(Debug)]
pub(crate) struct StoreHandle {
    data: PathBuf,
    now: Option<Timestamp>,
    recorder: EventRecorder,
    began: Instant,
    /// Whether the command has something to write, and has not written it.
    is_write_pending: bool,
    /// Whether the daemon did not answer. A command waits for it only once.
    is_daemon_unresponsive: bool,
    /// The last warnings, so that a command that queries repeatedly prints them once.
    last_warnings: Vec<String>,
}

impl StoreHandle {
    pub(crate) fn open() -> anyhow::Result<Self> {
        let CallerEnv { data, now } = CallerEnv::from_env();
        anyhow::ensure!(!data.exists() || data.is_dir(), "{} is not a directory", data.display());
        Ok(Self {
            recorder: EventRecorder::new(&data),
            data,
            now,
            began: Instant::now(),
            is_write_pending: false,
            is_daemon_unresponsive: false,
            last_warnings: Vec::new(),
        })
    }

    /// As [`StoreHandle::open`], for the database that the user names.
    pub(crate) fn open_named(args: &DatabaseArgs) -> anyhow::Result<Self> {
        let opened = Self::open()?;
        let Some(location) = resolve_database(args.db.as_deref())? else {
            return Ok(opened);
        };
        Ok(Self { recorder: EventRecorder::with_location(&opened.data, &location), ..opened })
    }

    /// As [`StoreHandle::open`], for a command that writes.
    pub(crate) fn open_for_writing() -> anyhow::Result<Self> {
        Ok(Self { is_write_pending: true, ..Self::open()? })
    }

    /// The data directory.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.data
    }

    /// The place of the database, without a password.
    pub(crate) fn location(&self) -> DatabaseLocation {
        self.recorder.location()
    }

    /// The current time, which tests and replays may set.
    pub(crate) fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }

    /// Whether nothing was ever recorded. Then no files are created.
    pub(crate) fn has_no_records(&self) -> bool {
        // A directory that cannot be searched may have records.
        let is_missing = |path: &Path| matches!(path.try_exists(), Ok(false));
        self.recorder.location().file().is_some_and(is_missing) && self.recorder.pending().is_empty()
    }

    /// How many events wait on disk to be stored.
    pub(crate) fn count_pending(&self) -> usize {
        self.recorder.pending().count()
    }

    /// Queries the store, after it has stored pending events. Problems with those are printed as a warning.
    pub(crate) fn query<T>(&mut self, question: impl FnOnce(&mut Store) -> Result<T>) -> anyhow::Result<T> {
        let spinner = Spinner::start("reading the database");
        let (answer, remarks) = self.try_query(question);
        drop(spinner);
        if !remarks.is_empty() && remarks != self.last_warnings {
            output::print_warning(remarks.join("; "));
            self.last_warnings = remarks;
        }
        answer.map_err(|error| {
            let place = self.location();
            let error_message = match error {
                StoreError::Locked if self.is_write_pending => {
                    let problem = format!("nothing was saved, because another process uses {place}");
                    CommandError::new(problem).with_hint("try again")
                }
                StoreError::File { .. } => {
                    CommandError::new("cannot open the database").with_hint("run `snell status`")
                }
                ref other => {
                    let hint = other.hint().unwrap_or("run `snell status`");
                    CommandError::new(format!("cannot use the database {place}")).with_hint(hint)
                }
            };
            anyhow::Error::new(error).context(error_message)
        })
    }

    /// As [`StoreHandle::query`], for writing: while another process writes, it waits.
    pub(crate) fn write_with_retry<T>(&mut self, mut change: impl FnMut(&mut Store) -> Result<T>) -> anyhow::Result<T> {
        loop {
            let is_patient = self.can_retry();
            match self.query(&mut change) {
                Err(error) if is_patient && matches!(error.downcast_ref(), Some(StoreError::Locked)) => {}
                result => {
                    self.is_write_pending &= result.is_err();
                    return result;
                }
            }
        }
    }

    /// Whether there is time to try again after another process held the lock.
    fn can_retry(&self) -> bool {
        self.began.elapsed() < RETRY_WINDOW
    }

    /// Ends without cleaning up, because an agent waits.
    pub(crate) fn close_without_cleanup(mut self) {
        self.recorder.abandon_store();
    }

    /// As [`StoreHandle::query`], but returns errors and warnings to the caller.
    pub(crate) fn try_query<T>(&mut self, question: impl FnOnce(&mut Store) -> Result<T>) -> (Result<T>, Vec<String>) {
        if DaemonMode::from_env() != DaemonMode::Off && !self.is_daemon_unresponsive {
            self.is_daemon_unresponsive = !daemon::flush_daemon(&self.data);
        }
        // A command may take a moment, and a locked database is usually free again soon.
        let answer = loop {
            let is_patient = self.can_retry();
            match self.recorder.open_store_for_reading() {
                Err(StoreError::Locked) if is_patient => {}
                Err(error) => break Err(error),
                Ok(store) => break question(store),
            }
        };
        (answer, self.recorder.take_warnings())
    }
}

/// Checks all agents that have been silent. If another process writes, the stored state has to do.
pub(crate) fn reconcile_agents(store: &mut Store, scope: ReconcileScope, now: Timestamp) -> Result<()> {
    // A team's agents run on other machines.
    if store.directory().is_none() {
        return Ok(());
    }
    match store.reconcile_agents(scope, now) {
        Err(StoreError::Locked) => Ok(()),
        other => other,
    }
}

/// Sorts agents by urgency: those that need their user first, ended ones last. It is the order of the activities.
pub(crate) fn sort_by_urgency(agents: &mut [AgentView]) {
    agents.sort_by_key(|agent| AgentActivity::ALL.iter().position(|activity| *activity == agent.activity()));
}
