//! The store: everything that is recorded goes in here, and everything that is shown comes from here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::Timestamp;

use crate::backend::{Backend, Tidying};
use crate::error::{Result, StoreError};
use crate::ingest::{self, Around, CaughtUp, Receipt, Seen};
use crate::model::{Agent, Process, Source, State};
use crate::observation::{FinishedRun, Observation};
use crate::query::{AgentFilter, AgentView, Exported, LogEntry, LogFilter, Pruned, SessionView, Totals};
use crate::rows::{Reached, Rows};
use crate::sqlite::Sqlite;
use crate::transcript::{self, Mark};

/// How many rows of each kind are removed at a time, so that nobody waits long for the lock.
const PRUNE_AT_ONCE: u32 = 500;

/// What is known about all agents.
pub struct Store {
    backend: Box<dyn Backend>,
    seen: Seen,
    host: Option<String>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("file", &self.backend.file())
            .finish_non_exhaustive()
    }
}

/// A store that was opened, and what had to be done for that.
#[derive(Debug)]
pub struct Opened {
    /// The store.
    pub store: Store,
    /// Where the damaged database was moved that was found in its place.
    pub set_aside: Option<PathBuf>,
}

/// Which agents are looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Every one that is not ended.
    All,
    /// This one.
    Agent(i64),
}

impl Store {
    /// Opens the database at this path, and makes one if there is none. A damaged one is moved aside, never deleted.
    ///
    /// # Errors
    ///
    /// When the file cannot be used.
    pub fn open(path: &Path) -> Result<Opened> {
        let before = Sqlite::inode_at(path);
        match Sqlite::open(path) {
            Ok(database) => Ok(Opened {
                store: Self::on(Box::new(database)),
                set_aside: None,
            }),
            Err(StoreError::Damaged(_)) => {
                let set_aside = Sqlite::set_aside(path, before, Timestamp::now())?;
                Ok(Opened {
                    store: Self::on(Box::new(Sqlite::open(path)?)),
                    set_aside,
                })
            }
            Err(error) => Err(error),
        }
    }

    fn on(backend: Box<dyn Backend>) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self {
            backend,
            seen: Seen::new(),
            host: Some(host).filter(|host| !host.is_empty()),
        }
    }

    /// The host that this program runs on.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Records one observation, in one transaction.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then nothing of it is.
    pub fn ingest(&mut self, observation: Observation) -> Result<Receipt> {
        let mut receipts = self.ingest_all(vec![observation])?;
        receipts
            .pop()
            .ok_or_else(|| StoreError::Database("nothing was recorded".into()))?
    }

    /// Records several observations in one transaction, in this order. One that is no event does not hold up the others.
    ///
    /// # Errors
    ///
    /// When the transaction fails; then nothing of any is stored.
    pub fn ingest_all(&mut self, observations: Vec<Observation>) -> Result<Vec<Result<Receipt>>> {
        let mut prepared = Vec::new();
        for observation in observations {
            let observation = observation.fit_to_keep();
            let caught_up = self.read_transcript(&observation)?;
            prepared.push((observation, caught_up));
        }
        let around = Around {
            host: self.host.as_deref(),
        };
        let mut seen = self.seen.clone();
        let mut receipts = Vec::new();
        self.backend.transact(&mut |rows| {
            receipts.clear();
            for (observation, caught_up) in &prepared {
                match ingest::ingest(rows, &mut seen, observation, caught_up.as_ref(), around) {
                    Err(StoreError::NoEvent(error)) => receipts.push(Err(StoreError::NoEvent(error))),
                    Err(error) => return Err(error),
                    Ok(receipt) => receipts.push(Ok(receipt)),
                }
            }
            Ok(())
        })?;
        // What was learnt in a transaction that failed is not true.
        self.seen = seen;
        Ok(receipts)
    }

    /// Reads on in the transcript of an observation's session, before anybody waits for the database.
    fn read_transcript(&mut self, observation: &Observation) -> Result<Option<CaughtUp>> {
        let text = |field: &str| observation.payload.get(field).and_then(serde_json::Value::as_str);
        let (Some(path), Some(session_id)) = (text("transcript_path"), text("session_id")) else {
            return Ok(None);
        };
        let mut reached = Reached::default();
        self.backend.look(&mut |rows| {
            reached = rows.reached(session_id)?;
            Ok(())
        })?;
        if !may_be_news(path, &reached) {
            return Ok(None);
        }
        let mut ids = vec![session_id.to_owned()];
        self.backend.look(&mut |rows| {
            if let Some(known) = rows.known_session(session_id)? {
                ids.extend(rows.session_ids(known.conversation_id)?);
            }
            Ok(())
        })?;
        let mut caught_up = read_on(path.to_owned(), reached, &ids);
        caught_up.session_begins = observation.event == "SessionStart";
        Ok(Some(caught_up))
    }

    /// Looks after agents of which nothing was heard: their transcripts and their processes tell what no hook does.
    /// Doing it twice changes nothing.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written.
    pub fn reconcile(&mut self, which: Which, now: Timestamp) -> Result<()> {
        let mut candidates = Vec::new();
        self.backend.look(&mut |rows| {
            candidates.clear();
            let agents = match which {
                Which::All => rows.agents_at_work()?,
                Which::Agent(agent_id) => rows.agent(agent_id)?.into_iter().collect(),
            };
            for agent in agents {
                let reached = match &agent.session_id {
                    Some(session) => rows.reached(session)?,
                    None => Reached::default(),
                };
                let ids = match agent.conversation_id {
                    Some(conversation) => rows.session_ids(conversation)?,
                    None => Vec::new(),
                };
                candidates.push((agent, reached, ids));
            }
            Ok(())
        })?;
        let mut findings = Vec::new();
        for (agent, reached, ids) in candidates {
            let gone = self.is_gone(&agent);
            let caught_up = reached.path.clone().map(|path| read_on(path, reached, &ids));
            let news = caught_up.as_ref().is_some_and(CaughtUp::is_news);
            if news || gone {
                let gone = agent.process.filter(|_| gone);
                findings.push((agent.agent_id, agent.session_id, caught_up.filter(|_| news), gone));
            }
        }
        if findings.is_empty() {
            return Ok(());
        }
        self.backend.transact(&mut |rows| {
            for (agent_id, session_id, caught_up, gone) in &findings {
                let Some(mut agent) = rows.agent(*agent_id)? else {
                    continue;
                };
                if let (Some(session), Some(caught_up)) = (session_id, caught_up)
                    && agent.session_id.as_ref() == Some(session)
                {
                    ingest::catch_up(rows, &mut agent, session, caught_up, now)?;
                }
                // It may have come back in another process meanwhile.
                if gone.is_some() && agent.process == *gone && agent.state != State::Ended {
                    end_by_process(rows, &mut agent, now)?;
                }
                rows.save_agent(&mut agent)?;
            }
            Ok(())
        })
    }

    /// Whether the agent's process is certainly gone. Only those of this host can be looked for.
    fn is_gone(&self, agent: &Agent) -> bool {
        let here = agent.host.is_none() || agent.host == self.host;
        let known = agent.process.filter(|_| agent.process_is_certain);
        here && agent.state != State::Ended && known.is_some_and(Process::is_gone)
    }

    /// Agents, the one that was last heard of first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>> {
        self.backend.queries().agents(filter)
    }

    /// How many agents are in a state.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn count_agents(&mut self, state: State) -> Result<i64> {
        self.backend.queries().count_agents(state)
    }

    /// Events, the newest first, unless the filter asks for what came after an entry.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>> {
        self.backend.queries().log(filter)
    }

    /// The number of the newest event; 0 if there is none. Numbers begin anew when all events were removed.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn last_id(&mut self) -> Result<i64> {
        self.backend.queries().last_id()
    }

    /// Sessions of which an id begins like this, the latest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>> {
        self.backend.queries().sessions(prefix)
    }

    /// Tells everything about a session, in the order in which it happened, until the listener answers `false`.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn export(&mut self, session: &SessionView, listener: &mut dyn FnMut(Exported) -> bool) -> Result<()> {
        self.backend.queries().export(session, listener)
    }

    /// How much there is.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn totals(&mut self) -> Result<Totals> {
        self.backend.queries().totals()
    }

    /// Records how full the context of a session is, as its agent's status line says. Answers whether the session is
    /// known.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn set_context(&mut self, session_id: &str, percent: f64, model: Option<&str>) -> Result<bool> {
        self.backend.queries().set_context(session_id, percent, model)
    }

    /// Records how a hook ended that nobody waited for. Answers whether the event that started it is known.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn finish_run(&mut self, finished: &FinishedRun) -> Result<bool> {
        self.backend.queries().finish_run(finished)
    }

    /// Removes everything older than this, a little at a time so that nobody is held up.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn prune(&mut self, before: Timestamp, progress: &mut dyn FnMut(Pruned)) -> Result<Pruned> {
        let mut all = Pruned::default();
        loop {
            let pruned = self.backend.queries().prune(before, PRUNE_AT_ONCE)?;
            if pruned.is_nothing() {
                self.seen.clear();
                // Only now the file becomes smaller.
                self.backend.tidy(Tidying::Thorough)?;
                return Ok(all);
            }
            all += pruned;
            progress(all);
            self.tidy()?;
        }
    }

    /// How much is older than this.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn older(&mut self, before: Timestamp) -> Result<Pruned> {
        self.backend.queries().older(before)
    }

    /// Removes what is older than this, counted from the last events rather than from now: where the clock was set for a
    /// replay nothing of it is old, and where it was wrong for a moment not everything is.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn forget_older_than(&mut self, keep: Duration) -> Result<Pruned> {
        let newest = LogFilter {
            limit: 100,
            ..LogFilter::default()
        };
        let last = self.log(&newest)?.iter().map(|entry| entry.at).min();
        let before = last.and_then(|last| last.min(Timestamp::now()).checked_sub(keep).ok());
        before.map_or(Ok(Pruned::default()), |before| self.prune(before, &mut |_| {}))
    }

    /// Does what would otherwise slow down whoever comes next, if there is enough of it.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn tidy(&mut self) -> Result<()> {
        self.backend.tidy(Tidying::IfNeeded)
    }

    /// As [`Store::tidy`], for a process that is about to end.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn tidy_alone(&mut self) -> Result<()> {
        self.backend.tidy(Tidying::BeforeLeaving)
    }

    /// Leaves the database as tidy as it can be.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn close(mut self) -> Result<()> {
        self.backend.tidy(Tidying::Thorough)
    }

    /// Moves the database aside, because it is damaged. Answers where to, unless another process was faster.
    ///
    /// # Errors
    ///
    /// When it cannot be moved.
    pub fn set_aside(self, now: Timestamp) -> Result<Option<PathBuf>> {
        let Some((path, inode)) = self.backend.file().map(|(path, inode)| (path.to_owned(), inode)) else {
            return Ok(None);
        };
        drop(self);
        Sqlite::set_aside(&path, inode, now)
    }

    /// Whether the file that was opened is still the one at its path.
    pub fn is_in_place(&self) -> bool {
        self.backend
            .file()
            .is_none_or(|(path, inode)| Sqlite::inode_at(path) == inode)
    }
}

fn end_by_process(rows: &mut dyn Rows, agent: &mut Agent, now: Timestamp) -> Result<()> {
    let pid = agent.process.map_or(0, |process| process.pid);
    let why = format!("its process ({pid}) is gone, and it did not say goodbye");
    agent.end(Source::Process, why, "process_gone", now);
    if let Some(id) = agent.conversation_id
        && let Some(mut conversation) = rows.conversation(id)?
    {
        conversation.end("process_gone", now);
        rows.save_conversation(&mut conversation)?;
    }
    Ok(())
}

/// Whether a look at the file is worth it: most events come without a word being written.
fn may_be_news(path: &str, reached: &Reached) -> bool {
    if reached.path.as_deref() != Some(path) {
        return true;
    }
    let Ok(metadata) = std::fs::metadata(path) else {
        return false;
    };
    let mark: Option<Mark> = reached.mark.as_deref().and_then(|mark| mark.parse().ok());
    mark.is_none_or(|mark| !mark.is_at_end_of(&metadata))
}

/// Reads on in a transcript from where the store has got to.
fn read_on(path: String, reached: Reached, ids: &[String]) -> CaughtUp {
    let same_file = reached.path.as_deref() == Some(path.as_str());
    let mark = reached.mark.as_deref().filter(|_| same_file);
    let from: Mark = mark.and_then(|mark| mark.parse().ok()).unwrap_or_default();
    let is_own = |id: &str| ids.iter().any(|own| own == id);
    // A transcript that is not there yet, or cannot be read, says nothing for now.
    let read = transcript::read(Path::new(&path), &from, &is_own).ok();
    CaughtUp {
        is_other_file: !same_file,
        session_begins: false,
        path,
        from: reached.mark,
        read,
    }
}
