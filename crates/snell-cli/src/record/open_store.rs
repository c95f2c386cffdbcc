//! What the store knows, for the commands that show it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use snell::Timestamp;
use snell_store::{AgentState, AgentView, EventRecorder, ReconcileScope, Result, Store, StoreError, daemon};

use crate::env::caller::CallerEnv;
use crate::output;
use crate::record::record_event::DaemonMode;

/// For how long a command tries again what somebody else's lock prevents, counted from its beginning. Each attempt waits
/// for about half a second by itself, and one more may follow, so that it takes about three seconds in all.
const RETRY_WINDOW: Duration = Duration::from_millis(1200);

/// What was recorded, as a command looks at it.
#[derive(Debug)]
pub(crate) struct StoreHandle {
    data: PathBuf,
    now: Option<Timestamp>,
    recorder: EventRecorder,
    began: Instant,
    /// Whether there is something to be noted, and it is not yet.
    is_write_pending: bool,
    /// Whether the daemon did not answer. It is not waited for again.
    is_daemon_unresponsive: bool,
    /// What was told last, so that a command which looks again and again does not repeat it.
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

    /// As [`StoreHandle::open`], for a command that notes something. Where it cannot, it says that nothing was noted.
    pub(crate) fn open_for_writing() -> anyhow::Result<Self> {
        Ok(Self { is_write_pending: true, ..Self::open()? })
    }

    /// Where Snell keeps what it records.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.data
    }

    /// The database.
    pub(crate) fn database_path(&self) -> PathBuf {
        self.recorder.path()
    }

    /// The time, which tests and replays may set.
    pub(crate) fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }

    /// Whether nothing was ever recorded. Then nothing is made for the sake of looking either.
    pub(crate) fn has_no_records(&self) -> bool {
        // What cannot even be looked for is something else than nothing.
        matches!(self.database_path().try_exists(), Ok(false)) && self.recorder.pending().is_empty()
    }

    /// How many events wait on disk to be stored.
    pub(crate) fn count_pending(&self) -> usize {
        self.recorder.pending().count()
    }

    /// Asks the store, which takes in first what waits. What people should know about that is told beside the output.
    pub(crate) fn query<T>(&mut self, question: impl FnOnce(&mut Store) -> Result<T>) -> anyhow::Result<T> {
        let (answer, remarks) = self.try_query(question);
        if !remarks.is_empty() && remarks != self.last_warnings {
            output::print_warning(remarks.join("; "));
            self.last_warnings = remarks;
        }
        answer.map_err(|error| {
            let path = self.database_path();
            let what = match error {
                StoreError::Locked if self.is_write_pending => {
                    format!("nothing was noted, because others hold {}; try again", path.display())
                }
                _ => format!("cannot use {} (`snell status` says more)", path.display()),
            };
            anyhow::Error::new(error).context(what)
        })
    }

    /// As [`StoreHandle::query`], for what is to be written: while others write, it waits for its turn.
    pub(crate) fn write_with_retry<T>(&mut self, mut change: impl FnMut(&mut Store) -> Result<T>) -> anyhow::Result<T> {
        loop {
            let is_patient = self.can_retry();
            match self.query(&mut change) {
                Err(error) if is_patient && matches!(error.downcast_ref(), Some(StoreError::Locked)) => {}
                told => {
                    self.is_write_pending &= told.is_err();
                    return told;
                }
            }
        }
    }

    /// Whether it may try again what somebody else's lock prevented.
    fn can_retry(&self) -> bool {
        self.began.elapsed() < RETRY_WINDOW
    }

    /// Leaves without tidying up, because somebody waits.
    pub(crate) fn close_without_cleanup(mut self) {
        self.recorder.abandon_store();
    }

    /// As [`StoreHandle::query`], for those who tell themselves what goes wrong.
    pub(crate) fn try_query<T>(&mut self, question: impl FnOnce(&mut Store) -> Result<T>) -> (Result<T>, Vec<String>) {
        if DaemonMode::from_env() != DaemonMode::Off && !self.is_daemon_unresponsive {
            self.is_daemon_unresponsive = !daemon::flush_daemon(&self.data);
        }
        // Nobody minds to wait a little for a command; that the database cannot even be opened is mostly over in a moment.
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

/// Looks after all agents of which nothing was heard. While somebody else writes, what is known has to do.
pub(crate) fn reconcile_agents(store: &mut Store, scope: ReconcileScope, now: Timestamp) -> Result<()> {
    match store.reconcile_agents(scope, now) {
        Err(StoreError::Locked) => Ok(()),
        other => other,
    }
}

/// Sorts agents by what they want from their user: those that wait first, those that are gone last.
pub(crate) fn sort_by_urgency(agents: &mut [AgentView]) {
    agents.sort_by_key(|agent| match agent.state {
        AgentState::AwaitingInput => 0,
        AgentState::Processing => 1,
        AgentState::Idle => 2,
        AgentState::Ended => 3,
    });
}
