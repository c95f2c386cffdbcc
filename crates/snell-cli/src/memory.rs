//! What the store knows, for the commands that show it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use snell::Timestamp;
use snell_store::{AgentView, Recorder, Result, State, Store, StoreError, Which, scribe};

use crate::caller::Caller;
use crate::output;
use crate::recording::scribe_is_off;

/// For how long a command tries again what somebody else's lock prevents, counted from its beginning. Each attempt waits
/// for about half a second by itself, and one more may follow, so that it takes about three seconds in all.
const PATIENCE: Duration = Duration::from_millis(1200);

/// What was recorded, as a command looks at it.
#[derive(Debug)]
pub(crate) struct Memory {
    data: PathBuf,
    now: Option<Timestamp>,
    recorder: Recorder,
    began: Instant,
    /// Whether there is something to be noted, and it is not yet.
    has_to_note: bool,
    /// Whether the scribe did not answer. It is not waited for again.
    scribe_is_mute: bool,
    /// What was told last, so that a command which looks again and again does not repeat it.
    told: Vec<String>,
}

impl Memory {
    pub(crate) fn find() -> anyhow::Result<Self> {
        let Caller { data, now } = Caller::look();
        anyhow::ensure!(!data.exists() || data.is_dir(), "{} is not a directory", data.display());
        Ok(Self {
            recorder: Recorder::new(&data),
            data,
            now,
            began: Instant::now(),
            has_to_note: false,
            scribe_is_mute: false,
            told: Vec::new(),
        })
    }

    /// As [`Memory::find`], for a command that notes something. Where it cannot, it says that nothing was noted.
    pub(crate) fn find_to_note() -> anyhow::Result<Self> {
        Ok(Self {
            has_to_note: true,
            ..Self::find()?
        })
    }

    /// Where Snell keeps what it records.
    pub(crate) fn directory(&self) -> &Path {
        &self.data
    }

    /// The database.
    pub(crate) fn path(&self) -> PathBuf {
        self.recorder.path()
    }

    /// The time, which tests and replays may set.
    pub(crate) fn now(&self) -> Timestamp {
        self.now.unwrap_or_else(Timestamp::now)
    }

    /// Whether nothing was ever recorded. Then nothing is made for the sake of looking either.
    pub(crate) fn is_blank(&self) -> bool {
        // What cannot even be looked for is something else than nothing.
        matches!(self.path().try_exists(), Ok(false)) && self.recorder.notes().is_empty()
    }

    /// How many events wait on disk to be stored.
    pub(crate) fn waiting(&self) -> usize {
        self.recorder.notes().count()
    }

    /// Asks the store, which takes in first what waits. What people should know about that is told beside the output.
    pub(crate) fn ask<T>(&mut self, question: impl FnOnce(&mut Store) -> Result<T>) -> anyhow::Result<T> {
        let (answer, remarks) = self.try_to_ask(question);
        if !remarks.is_empty() && remarks != self.told {
            output::note(&remarks.join("; "));
            self.told = remarks;
        }
        answer.map_err(|error| {
            let path = self.path();
            let what = match error {
                StoreError::Locked if self.has_to_note => {
                    format!("nothing was noted, because others hold {}; try again", path.display())
                }
                _ => format!("cannot use {} (`snell status` says more)", path.display()),
            };
            anyhow::Error::new(error).context(what)
        })
    }

    /// As [`Memory::ask`], for what is to be written: while others write, it waits for its turn.
    pub(crate) fn tell<T>(&mut self, mut change: impl FnMut(&mut Store) -> Result<T>) -> anyhow::Result<T> {
        loop {
            let is_patient = self.is_patient();
            match self.ask(&mut change) {
                Err(error) if is_patient && matches!(error.downcast_ref(), Some(StoreError::Locked)) => {}
                told => {
                    self.has_to_note &= told.is_err();
                    return told;
                }
            }
        }
    }

    /// Whether it may try again what somebody else's lock prevented.
    fn is_patient(&self) -> bool {
        self.began.elapsed() < PATIENCE
    }

    /// Leaves without tidying up, because somebody waits.
    pub(crate) fn leave(mut self) {
        self.recorder.leave();
    }

    /// As [`Memory::ask`], for those who tell themselves what goes wrong.
    pub(crate) fn try_to_ask<T>(&mut self, question: impl FnOnce(&mut Store) -> Result<T>) -> (Result<T>, Vec<String>) {
        if !scribe_is_off() && !self.scribe_is_mute {
            self.scribe_is_mute = !scribe::settle(&self.data);
        }
        // Nobody minds to wait a little for a command; that the database cannot even be opened is mostly over in a moment.
        let answer = loop {
            let is_patient = self.is_patient();
            match self.recorder.look() {
                Err(StoreError::Locked) if is_patient => {}
                Err(error) => break Err(error),
                Ok(store) => break question(store),
            }
        };
        (answer, self.recorder.take_remarks())
    }
}

/// Looks after all agents of which nothing was heard. While somebody else writes, what is known has to do.
pub(crate) fn look_after(store: &mut Store, now: Timestamp) -> Result<()> {
    match store.reconcile(Which::All, now) {
        Err(StoreError::Locked) => Ok(()),
        other => other,
    }
}

/// Sorts agents by what they want from their user: those that wait first, those that are gone last.
pub(crate) fn by_urgency(agents: &mut [AgentView]) {
    agents.sort_by_key(|agent| match agent.state {
        State::AwaitingInput => 0,
        State::Processing => 1,
        State::Idle => 2,
        State::Ended => 3,
    });
}
