//! The store: everything that is recorded goes in here, and everything that is shown comes from here.

use std::path::{Path, PathBuf};
use std::time::Duration;

use snell::{EventName, Timestamp, TranscriptFormat};

use crate::db::backend::{Backend, CheckpointMode, RemovedFile};
use crate::db::journal::{Journal, RowCache};
use crate::db::model::{ContextSource, to_stored_precision};
use crate::db::rows::{Rows, TranscriptProgress};
use crate::db::sqlite::SqliteDatabase;
use crate::derive::normalize::NormalizedEvent;
use crate::derive::transcript::{self, TranscriptCursor};
use crate::derive::{self, IngestContext, IngestReceipt, SessionCache, TranscriptDelta};
use crate::error::{Result, StoreError};
use crate::record::event_record::{EventRecord, FinishedHookRun};
use crate::views::queries::Queries;
use crate::views::query_types::{LogFilter, PruneCounts};

/// How many rows of each kind are removed at a time, so that nobody waits long for the lock.
const PRUNE_BATCH_SIZE: u32 = 500;

/// How many sessions are remembered beside the database. Beyond that, they are looked up again.
const MAX_CACHED_SESSIONS: usize = 10_000;

/// How many changes are kept for those who watch. Whoever was away for longer sees that something is missing.
const MAX_KEPT_CHANGES: u32 = 100_000;

/// What is known about all agents.
pub struct Store {
    backend: Box<dyn Backend>,
    pub(crate) session_cache: SessionCache,
    pub(crate) host: Option<String>,
    row_cache: RowCache,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("file", &self.backend.database_file()).finish_non_exhaustive()
    }
}

/// Everything that [`Queries`] can be asked.
impl std::ops::Deref for Store {
    type Target = dyn Queries;

    fn deref(&self) -> &Self::Target {
        &*self.backend
    }
}

impl std::ops::DerefMut for Store {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.backend
    }
}

/// A store that was opened, and what had to be done for that.
#[derive(Debug)]
pub struct OpenedStore {
    /// The store.
    pub store: Store,
    /// Where the damaged database was moved that was found in its place.
    pub set_aside: Option<PathBuf>,
}

impl Store {
    /// Opens the database at this path, and makes one if there is none. A damaged one is moved aside, never deleted.
    ///
    /// # Errors
    ///
    /// When the file cannot be used.
    pub fn open(path: &Path) -> Result<OpenedStore> {
        let before = SqliteDatabase::read_database_inode(path);
        match SqliteDatabase::open(path) {
            Ok(database) => Ok(OpenedStore { store: Self::with_backend(Box::new(database)), set_aside: None }),
            Err(StoreError::Damaged(_)) => {
                let set_aside = SqliteDatabase::move_aside(path, before, Timestamp::now())?;
                Ok(OpenedStore { store: Self::with_backend(Box::new(SqliteDatabase::open(path)?)), set_aside })
            }
            Err(error) => Err(error),
        }
    }

    /// As [`Store::open`], for a file that somebody has named. What is there and is no database of ours is not touched.
    ///
    /// # Errors
    ///
    /// When the file is something else, or cannot be used.
    pub fn open_named(path: &Path) -> Result<OpenedStore> {
        if !SqliteDatabase::is_usable_file(path)? {
            return Err(StoreError::NotOurs { path: path.to_owned() });
        }
        Self::open(path)
    }

    /// Opens the database at this path as it is, in order to look at it: nothing is made, brought up to date or moved.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is damaged.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        Ok(Self::with_backend(Box::new(SqliteDatabase::open_read_only(path)?)))
    }

    fn with_backend(backend: Box<dyn Backend>) -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self {
            backend,
            session_cache: SessionCache::new(),
            row_cache: RowCache::default(),
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
    pub fn ingest(&mut self, record: EventRecord) -> Result<IngestReceipt> {
        let mut receipts = self.ingest_normalized(&[NormalizedEvent::from_record(record.into())?])?;
        receipts.pop().ok_or_else(|| StoreError::Database("nothing was recorded".into()))
    }

    /// Records several observations in one transaction, in this order.
    ///
    /// # Errors
    ///
    /// When the transaction fails; then nothing of any is stored.
    pub fn ingest_all(&mut self, observations: Vec<EventRecord>) -> Result<Vec<IngestReceipt>> {
        let prepared: Result<Vec<_>> =
            observations.into_iter().map(|record| NormalizedEvent::from_record(record.into())).collect();
        self.ingest_normalized(&prepared?)
    }

    /// As [`Store::ingest_all`], for what was prepared already, perhaps by others.
    ///
    /// # Errors
    ///
    /// When the transaction fails; then nothing of any is stored.
    pub fn ingest_normalized(&mut self, observed: &[NormalizedEvent]) -> Result<Vec<IngestReceipt>> {
        let mut transcripts = Vec::with_capacity(observed.len());
        for event in observed {
            transcripts.push(self.read_transcript(event)?);
        }
        if self.session_cache.len() > MAX_CACHED_SESSIONS {
            self.session_cache.clear();
        }
        let host = self.host.clone();
        let context = IngestContext { host: host.as_deref() };
        self.write_journal(&mut |journal, sessions| {
            let mut receipts = Vec::with_capacity(observed.len());
            for (event, transcript) in observed.iter().zip(&transcripts) {
                journal.set_cause(&event.name, event.at);
                receipts.push(derive::ingest_event(journal, sessions, event, transcript.as_ref(), context)?);
            }
            Ok(receipts)
        })
    }

    /// Reads on in the transcript of an observation's session, before anybody waits for the database.
    fn read_transcript(&mut self, observed: &NormalizedEvent) -> Result<Option<TranscriptDelta>> {
        let text = |field: &str| observed.event.raw.get(field).and_then(serde_json::Value::as_str);
        let (Some(path), Some(session_id)) = (text("transcript_path"), text("session_id")) else {
            return Ok(None);
        };
        // Another host's files are not here, and what has their names is something else.
        let is_elsewhere = observed.sender.host.is_some() && observed.sender.host != self.host;
        if is_elsewhere || observed.product().transcript != TranscriptFormat::ClaudeJsonl {
            return Ok(None);
        }
        let reached = self.read_rows(&mut |rows| rows.load_transcript_progress(session_id))?;
        if !transcript_may_have_grown(path, &reached) {
            return Ok(None);
        }
        let mut ids = vec![session_id.to_owned()];
        ids.extend(self.read_rows(&mut |rows| match rows.find_session_binding(session_id)? {
            Some(known) => rows.list_session_ids(known.conversation_id),
            None => Ok(Vec::new()),
        })?);
        let mut caught_up = read_transcript_delta(path.to_owned(), reached, &ids);
        caught_up.session_begins = observed.event.name == EventName::SessionStart;
        Ok(Some(caught_up))
    }

    /// Records how full the context of a session is, as its agent's status line says. Answers whether the session is
    /// known.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn set_context_usage(&mut self, session_id: &str, percent: f64, model: Option<&str>) -> Result<bool> {
        let set = |rows: &mut dyn Rows, write: bool| {
            let Some(known) = rows.find_session_binding(session_id)? else {
                return Ok(None);
            };
            let (agent, conversation) =
                (rows.find_agent(known.agent_id)?, rows.find_conversation(known.conversation_id)?);
            // A session that its agent has left says nothing about the agent.
            let agent = agent.filter(|agent| agent.session_id.as_deref() == Some(session_id));
            let (Some(mut agent), Some(mut conversation)) = (agent, conversation) else {
                return Ok(None);
            };
            let source = Some(ContextSource::StatusLine);
            let other_percent = agent.context_percent != Some(percent) || agent.context_source != source;
            let other_model = model.is_some() && conversation.model.as_deref() != model;
            if write && other_percent {
                (agent.context_percent, agent.context_source) = (Some(percent), source);
                rows.save_agent(&mut agent)?;
            }
            if write && other_model {
                conversation.model = model.map(str::to_owned);
                rows.save_conversation(&mut conversation)?;
            }
            Ok(Some(other_percent || other_model))
        };
        // A status line is drawn several times a second, and mostly says what it said before.
        let is_news = self.read_rows(&mut |rows| set(rows, false))?;
        if is_news == Some(true) {
            self.run_transaction("status line", Timestamp::now(), &mut |journal| set(journal, true))?;
        }
        Ok(is_news.is_some())
    }

    /// Reads from one state of the database.
    pub(crate) fn read_rows<T>(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<T>) -> Result<T> {
        let mut result = None;
        self.backend.read_transaction(&mut |rows| {
            result = Some(work(rows)?);
            Ok(())
        })?;
        result.ok_or_else(|| StoreError::Database("nothing was read".into()))
    }

    /// Does the work in one transaction, and notes what it changes for those who watch.
    pub(crate) fn run_transaction<T>(
        &mut self,
        reason: &str,
        at: Timestamp,
        work: &mut dyn FnMut(&mut Journal<'_>) -> Result<T>,
    ) -> Result<T> {
        self.write_journal(&mut |journal, _| {
            journal.set_cause(reason, to_stored_precision(at));
            work(journal)
        })
    }

    /// Does the work in one transaction. If it fails, nothing that was learnt in it is remembered.
    fn write_journal<T>(
        &mut self,
        work: &mut dyn FnMut(&mut Journal<'_>, &mut SessionCache) -> Result<T>,
    ) -> Result<T> {
        let Self { backend, session_cache, row_cache, .. } = self;
        let mut result = None;
        let stored = backend.write_transaction(&mut |rows| {
            let mut journal = Journal::open(rows, row_cache)?;
            result = Some(work(&mut journal, session_cache)?);
            journal.flush()
        });
        if let Err(error) = stored {
            self.session_cache.clear();
            self.row_cache.clear();
            return Err(error);
        }
        result.ok_or_else(|| StoreError::Database("nothing was written".into()))
    }

    /// Records how a hook ended that nobody waited for. Answers whether the event that started it is known.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn finish_hook_run(&mut self, finished: &FinishedHookRun) -> Result<bool> {
        self.run_transaction(&finished.event, finished.at, &mut |journal| {
            Ok(journal.finish_hook_run(finished)?.is_some())
        })
    }

    /// Removes everything older than this, a little at a time so that nobody is held up.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn prune(&mut self, before: Timestamp, progress: &mut dyn FnMut(PruneCounts)) -> Result<PruneCounts> {
        let mut all = PruneCounts::default();
        loop {
            let pruned = self.backend.prune_batch(before, PRUNE_BATCH_SIZE)?;
            self.row_cache.clear();
            if pruned.is_empty() {
                self.session_cache.clear();
                // Only now the file becomes smaller.
                self.backend.checkpoint(CheckpointMode::Full)?;
                return Ok(all);
            }
            all += pruned;
            progress(all);
            self.run_maintenance()?;
        }
    }

    /// Removes what is older than this, counted from the last events rather than from now: where the clock was set for a
    /// replay nothing of it is old, and where it was wrong for a moment not everything is.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn prune_older_than(&mut self, keep: Duration) -> Result<PruneCounts> {
        let newest = LogFilter { limit: 100, ..LogFilter::default() };
        let last = self.query_log(&newest)?.iter().map(|entry| entry.at).min();
        let before = last.and_then(|last| last.min(Timestamp::now()).checked_sub(keep).ok());
        before.map_or(Ok(PruneCounts::default()), |before| self.prune(before, &mut |_| {}))
    }

    /// Does what would otherwise slow down whoever comes next, if there is enough of it. Answers whether everything is in
    /// the database itself afterwards, and nothing in its log.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn run_maintenance(&mut self) -> Result<bool> {
        self.backend.trim_changes(MAX_KEPT_CHANGES)?;
        self.backend.checkpoint(CheckpointMode::IfNeeded)
    }

    /// As [`Store::run_maintenance`], for a process that is about to end.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn checkpoint_before_exit(&mut self) -> Result<()> {
        self.backend.checkpoint(CheckpointMode::BeforeExit).map(drop)
    }

    /// Leaves the database as tidy as it can be.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn close(mut self) -> Result<()> {
        self.backend.checkpoint(CheckpointMode::Full).map(drop)
    }

    /// Moves the database aside, because it is damaged. Answers where to, unless another process was faster.
    ///
    /// # Errors
    ///
    /// When it cannot be moved.
    pub fn move_aside(self, now: Timestamp) -> Result<Option<PathBuf>> {
        let Some((path, inode)) = self.backend.database_file().map(|(path, inode)| (path.to_owned(), inode)) else {
            return Ok(None);
        };
        drop(self);
        SqliteDatabase::move_aside(&path, inode, now)
    }

    /// Whether the database and the log that were opened are still those at their paths, and whole.
    pub fn has_intact_files(&self) -> bool {
        self.backend.has_intact_files()
    }

    /// Saves what is in a log that was removed while it was open. The store is of no use afterwards.
    pub(crate) fn recover_removed_file(&mut self) -> Result<RemovedFile> {
        self.backend.recover_removed_file()
    }
}

/// Whether a look at the file is worth it: most events come without a word being written.
pub(crate) fn transcript_may_have_grown(path: &str, reached: &TranscriptProgress) -> bool {
    if reached.path.as_deref() != Some(path) {
        return true;
    }
    let Ok(metadata) = std::fs::metadata(path) else {
        return false;
    };
    let mark: Option<TranscriptCursor> = reached.cursor.as_deref().and_then(|mark| mark.parse().ok());
    mark.is_none_or(|mark| !mark.is_at_end_of(&metadata))
}

/// Reads on in a transcript from where the store has got to.
pub(crate) fn read_transcript_delta(path: String, reached: TranscriptProgress, ids: &[String]) -> TranscriptDelta {
    let same_file = reached.path.as_deref() == Some(path.as_str());
    let mark = reached.cursor.as_deref().filter(|_| same_file);
    let from: TranscriptCursor = mark.and_then(|mark| mark.parse().ok()).unwrap_or_default();
    let is_own = |id: &str| ids.iter().any(|own| own == id);
    // A transcript that is not there yet, or cannot be read, says nothing for now.
    let read = transcript::read_transcript(Path::new(&path), &from, &is_own).ok();
    TranscriptDelta { is_other_file: !same_file, session_begins: false, path, from: reached.cursor, read }
}
