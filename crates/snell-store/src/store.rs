//! The store: all records go in here, and all views come from here.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use snell::{EventName, Timestamp, TranscriptFormat};

use crate::db::backend::{Backend, CheckpointMode, RemovedFile, TransactionSubject};
use crate::db::dispatches::DispatchTable;
use crate::db::journal::{Journal, RowCache};
use crate::db::location::DatabaseLocation;
use crate::db::model::{ContextSource, to_stored_precision};
#[cfg(feature = "postgres")]
use crate::db::postgres::PostgresDatabase;
use crate::db::rows::{Rows, TranscriptProgress};
use crate::db::sqlite::SqliteDatabase;
use crate::db::telemetry::TelemetryTable;
use crate::db::usage::{UsageBatch, UsageTable};
use crate::derive::context_usage::ContextReport;
use crate::derive::normalize::NormalizedEvent;
use crate::derive::transcript::{self, TranscriptCursor};
use crate::derive::{self, IngestContext, IngestReceipt, SessionCache, TranscriptDelta};
use crate::error::{Result, StoreError};
use crate::record::event_record::{EventRecord, FinishedHookRun};
use crate::usage::ExportedUsage;
use crate::views::queries::Queries;
use crate::views::query_types::{LogFilter, PruneCounts};

/// How many rows of each kind are removed at a time, so that other processes do not wait long for the lock.
const PRUNE_BATCH_SIZE: u32 = 500;

/// How many sessions are cached.
const MAX_CACHED_SESSIONS: usize = 10_000;

/// How often a transaction is tried again after another process changed the same rows.
const MAX_ATTEMPTS: u32 = 5;

/// A transaction whose connection is lost is tried again, unless that took longer.
const RECONNECT_WINDOW: Duration = Duration::from_secs(5);

/// How many changes the feed keeps. A watcher that was away for longer sees a gap.
const MAX_KEPT_CHANGES: u32 = 100_000;

/// The host of a sender that does not name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnnamedHost {
    Local,
    Other,
}

/// The database of all agents.
pub struct Store {
    backend: Box<dyn Backend>,
    pub(crate) session_cache: SessionCache,
    pub(crate) host: Option<String>,
    row_cache: RowCache,
    unnamed_host: UnnamedHost,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("file", &self.backend.database_file()).finish_non_exhaustive()
    }
}

/// The queries of [`Queries`].
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

/// A store that was opened, and a database that was moved aside for it.
#[derive(Debug)]
pub struct OpenedStore {
    /// The store.
    pub store: Store,
    /// The new path of a damaged database that was in its place.
    pub set_aside: Option<PathBuf>,
}

impl Store {
    /// Opens the database at this path, and creates it if it is missing. A damaged one is moved aside, never deleted.
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

    /// Opens the database at this place, and creates its tables if they are missing.
    ///
    /// # Errors
    ///
    /// When the database cannot be used.
    pub fn open_at(location: &DatabaseLocation) -> Result<OpenedStore> {
        match location {
            DatabaseLocation::File(path) => Self::open(path),
            #[cfg(feature = "postgres")]
            DatabaseLocation::Postgres(address) => {
                let store = Self::with_backend(Box::new(PostgresDatabase::open(address)?));
                Ok(OpenedStore { store, set_aside: None })
            }
        }
    }

    /// Opens the database at this place read-only: it is not created, migrated or moved.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn open_read_only_at(location: &DatabaseLocation) -> Result<Self> {
        match location {
            DatabaseLocation::File(path) => Self::open_read_only(path),
            #[cfg(feature = "postgres")]
            DatabaseLocation::Postgres(address) => {
                Ok(Self::with_backend(Box::new(PostgresDatabase::open_read_only(address)?)))
            }
        }
    }

    /// As [`Store::open`], for a file that the user named. A file that is not a Snell database is not changed.
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

    /// Opens the database at this path read-only: it is not created, migrated or moved.
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
            unnamed_host: UnnamedHost::Local,
            host: Some(host).filter(|host| !host.is_empty()),
        }
    }

    /// The host of this program.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// Treats senders without the name of a host as other machines, because the store is a team's. Then this process looks
    /// neither at their processes nor at their files.
    pub fn expect_other_machines(&mut self) {
        self.unnamed_host = UnnamedHost::Other;
    }

    /// Whether this is the host of this process.
    pub(crate) fn is_local_host(&self, host: Option<&str>) -> bool {
        match host {
            Some(host) => self.host.as_deref() == Some(host),
            None => self.unnamed_host == UnnamedHost::Local,
        }
    }

    /// The directory of the database, which is the data directory unless the user named another file.
    pub fn directory(&self) -> Option<&Path> {
        self.backend.database_file().and_then(|(file, _)| file.parent())
    }

    /// Stores one event, in one transaction.
    ///
    /// # Errors
    ///
    /// When it cannot be stored; then nothing is stored.
    pub fn ingest(&mut self, record: EventRecord) -> Result<IngestReceipt> {
        let mut receipts = self.ingest_normalized(&[NormalizedEvent::from_record(record.into())?])?;
        receipts.pop().ok_or_else(|| StoreError::Database("no result for the event".into()))
    }

    /// Stores several events in one transaction, in this order.
    ///
    /// # Errors
    ///
    /// When the transaction fails; then nothing is stored.
    pub fn ingest_all(&mut self, observations: Vec<EventRecord>) -> Result<Vec<IngestReceipt>> {
        let prepared: Result<Vec<_>> =
            observations.into_iter().map(|record| NormalizedEvent::from_record(record.into())).collect();
        self.ingest_normalized(&prepared?)
    }

    /// As [`Store::ingest_all`], for normalized events.
    ///
    /// # Errors
    ///
    /// When the transaction fails; then nothing is stored.
    pub fn ingest_normalized<E: Borrow<NormalizedEvent>>(&mut self, observed: &[E]) -> Result<Vec<IngestReceipt>> {
        let observed: Vec<&NormalizedEvent> = observed.iter().map(Borrow::borrow).collect();
        let mut transcripts = Vec::with_capacity(observed.len());
        for event in &observed {
            transcripts.push(self.read_transcript(event)?);
        }
        if self.session_cache.len() > MAX_CACHED_SESSIONS {
            self.session_cache.clear();
        }
        let host = self.host.clone();
        let context = IngestContext { host: host.as_deref() };
        // Senders without a name are one machine, for all receivers of a team.
        let unnamed = host.as_deref().filter(|_| self.unnamed_host == UnnamedHost::Local).unwrap_or_default();
        let machines: BTreeSet<&str> =
            observed.iter().map(|event| event.sender.host.as_deref().unwrap_or(unnamed)).collect();
        let subject = TransactionSubject { machines: &Vec::from_iter(machines), events: &observed };
        self.write_journal(subject, &mut |journal, sessions| {
            let mut receipts = Vec::with_capacity(observed.len());
            for (event, transcript) in observed.iter().zip(&transcripts) {
                journal.set_cause(&event.name, event.at);
                if event.sender.in_hook {
                    journal.mark_nested();
                }
                receipts.push(derive::ingest_event(journal, sessions, event, transcript.as_ref(), context)?);
            }
            Ok(receipts)
        })
    }

    /// Reads the new part of the transcript of an event's session, before the transaction starts.
    fn read_transcript(&mut self, observed: &NormalizedEvent) -> Result<Option<TranscriptDelta>> {
        let text = |field: &str| observed.event.raw.get(field).and_then(serde_json::Value::as_str);
        let found = observed.sender.transcript_path.as_deref().and_then(Path::to_str);
        let (Some(path), Some(session_id)) = (text("transcript_path").or(found), text("session_id")) else {
            return Ok(None);
        };
        // Files of another host are not here, and the same path is another file.
        let is_elsewhere = !self.is_local_host(observed.sender.host.as_deref());
        let format = observed.product().transcript;
        let located = transcript::locate_transcript(observed.product(), path, session_id).filter(|_| !is_elsewhere);
        let Some(path) = located else {
            return Ok(None);
        };
        let reached = self.read_rows(&mut |rows| rows.load_transcript_progress(session_id))?;
        if !transcript_may_have_grown(&path, &reached) {
            return Ok(None);
        }
        let mut ids = vec![session_id.to_owned()];
        ids.extend(self.read_rows(&mut |rows| match rows.find_session_binding(session_id)? {
            Some(known) => rows.list_session_ids(known.conversation_id),
            None => Ok(Vec::new()),
        })?);
        let mut caught_up = read_transcript_delta(path, format, reached, &ids);
        caught_up.session_begins = observed.event.name == EventName::SessionStart;
        Ok(Some(caught_up))
    }

    /// Stores the context usage of a session, as its agent's status line reports it. Returns whether the session is
    /// known.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn set_context_usage(&mut self, session_id: &str, report: &ContextReport) -> Result<bool> {
        let set = |rows: &mut dyn Rows, write: bool| {
            let Some(known) = rows.find_session_binding(session_id)? else {
                return Ok(None);
            };
            let (agent, conversation) =
                (rows.find_agent(known.agent_id)?, rows.find_conversation(known.conversation_id)?);
            // A session that its agent has left does not change the agent.
            let agent = agent.filter(|agent| agent.session_id.as_deref() == Some(session_id));
            let (Some(agent), Some(conversation)) = (agent, conversation) else {
                return Ok(None);
            };
            let (mut new_agent, mut new_conversation) = (agent.clone(), conversation.clone());
            if report.percent.is_some() {
                new_agent.context_percent = report.percent;
                new_agent.context_source = Some(ContextSource::StatusLine);
            }
            new_conversation.model = report.model.clone().or(new_conversation.model);
            new_conversation.reported_window = report.window.or(new_conversation.reported_window);
            if write && new_agent != agent {
                rows.save_agent(&mut new_agent)?;
            }
            if write && new_conversation != conversation {
                rows.save_conversation(&mut new_conversation)?;
            }
            Ok(Some(new_agent != agent || new_conversation != conversation))
        };
        // A status line is drawn several times a second, and mostly has not changed.
        let is_news = self.read_rows(&mut |rows| set(rows, false))?;
        if is_news == Some(true) {
            self.run_transaction("status line", Timestamp::now(), &mut |journal| set(journal, true))?;
        }
        Ok(is_news.is_some())
    }

    /// Reads from one consistent state of the database.
    pub(crate) fn read_rows<T>(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<T>) -> Result<T> {
        let mut result = None;
        self.backend.read_transaction(&mut |rows| {
            result = Some(work(rows)?);
            Ok(())
        })?;
        result.ok_or_else(|| StoreError::Database("the transaction did not run".into()))
    }

    /// Does the work in one transaction, and adds its changes to the feed.
    pub(crate) fn run_transaction<T>(
        &mut self,
        reason: &str,
        at: Timestamp,
        work: &mut dyn FnMut(&mut Journal<'_>) -> Result<T>,
    ) -> Result<T> {
        self.write_journal(TransactionSubject::default(), &mut |journal, _| {
            journal.set_cause(reason, to_stored_precision(at));
            work(journal)
        })
    }

    /// Does the work about this subject in one transaction. If it fails, the caches are cleared.
    fn write_journal<T>(
        &mut self,
        subject: TransactionSubject<'_>,
        work: &mut dyn FnMut(&mut Journal<'_>, &mut SessionCache) -> Result<T>,
    ) -> Result<T> {
        let (mut attempt, started) = (0, Instant::now());
        loop {
            let Self { backend, session_cache, row_cache, .. } = self;
            let mut result = None;
            let stored = backend.write_transaction(subject, &mut |rows| {
                let mut journal = Journal::open(rows, row_cache)?;
                result = Some(work(&mut journal, session_cache)?);
                journal.flush()
            });
            let Err(error) = stored else {
                return result.ok_or_else(|| StoreError::Database("the transaction did not run".into()));
            };
            self.session_cache.clear();
            self.row_cache.clear();
            attempt += 1;
            match error {
                StoreError::Conflict(_) | StoreError::DuplicateKey(_) if attempt < MAX_ATTEMPTS => {}
                // If the transaction was committed nevertheless, its events are duplicates now.
                StoreError::Unreachable(_)
                    if attempt == 1 && !subject.events.is_empty() && started.elapsed() < RECONNECT_WINDOW => {}
                StoreError::Conflict(_) => return Err(StoreError::Locked),
                StoreError::DuplicateKey(why) => return Err(StoreError::Refused(why)),
                error => return Err(error),
            }
        }
    }

    /// Stores the result of a background hook. Returns whether the event that started it is known.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn finish_hook_run(&mut self, finished: &FinishedHookRun) -> Result<bool> {
        self.run_transaction(&finished.event, finished.at, &mut |journal| {
            Ok(journal.finish_hook_run(finished)?.is_some())
        })
    }

    /// The table of changes that hooks and notices react to.
    pub fn dispatches(&mut self) -> &mut dyn DispatchTable {
        self.backend.dispatches()
    }

    /// The table of requests to models.
    pub(crate) fn usage_table(&mut self) -> &mut dyn UsageTable {
        self.backend.usage()
    }

    /// Adds the cards of these sessions' agents to the feed, because their tokens were counted.
    pub(crate) fn refresh_session_cards(&mut self, sessions: &BTreeSet<String>) -> Result<()> {
        let agents = self.read_rows(&mut |rows| {
            let mut agents = BTreeSet::new();
            for session in sessions {
                agents.extend(rows.find_session_binding(session)?.map(|known| known.agent_id));
            }
            Ok(agents)
        })?;
        if agents.is_empty() {
            return Ok(());
        }
        self.run_transaction("tokens", Timestamp::now(), &mut |journal| {
            agents.iter().try_for_each(|agent_id| journal.refresh_card(*agent_id))
        })
    }

    /// Stores requests to models that an agent exported. Those that are known already change nothing.
    ///
    /// # Errors
    ///
    /// When the database cannot be written; then nothing is stored.
    pub fn save_exported_usage(&mut self, exported: ExportedUsage) -> Result<()> {
        if exported.requests.is_empty() {
            return Ok(());
        }
        let sessions = exported.requests.iter().map(|request| request.session_id.clone()).collect();
        let batch = UsageBatch { requests: exported.requests, ..UsageBatch::default() };
        self.usage_table().save_usage(&batch)?;
        self.refresh_session_cards(&sessions)
    }

    /// Telemetry that is not sent yet.
    pub fn telemetry(&mut self) -> &mut dyn TelemetryTable {
        self.backend.telemetry()
    }

    /// Stores the event that Snell derived from a change of this agent, with the runs of its hooks. It changes neither the
    /// agent nor its session. Returns whether the agent is known, and the event was not stored before.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn record_derived_event(&mut self, agent_id: i64, record: EventRecord) -> Result<bool> {
        let observed = NormalizedEvent::from_record(record.into())?;
        self.run_transaction(&observed.name, observed.at, &mut |journal| {
            derive::store_derived_event(journal, agent_id, &observed)
        })
    }

    /// Removes everything older than this, in small steps so that other processes do not wait.
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
                // Only this makes the file smaller.
                self.backend.checkpoint(CheckpointMode::Full)?;
                return Ok(all);
            }
            all += pruned;
            progress(all);
            self.run_maintenance()?;
        }
    }

    /// Removes everything older than this, counted from the last events and not from now. So nothing is old after a
    /// replay with another clock, and a clock that was wrong for a moment does not make everything old.
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

    /// Runs maintenance that would slow down later processes, if enough is due. Returns whether everything is in the
    /// database itself afterwards, and nothing in its log.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn run_maintenance(&mut self) -> Result<bool> {
        self.backend.trim_changes(MAX_KEPT_CHANGES)?;
        self.backend.checkpoint(CheckpointMode::IfNeeded)
    }

    /// As [`Store::run_maintenance`], for a process that is about to exit.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn checkpoint_before_exit(&mut self) -> Result<()> {
        self.backend.checkpoint(CheckpointMode::BeforeExit).map(drop)
    }

    /// Closes the store with a full checkpoint.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn close(mut self) -> Result<()> {
        self.backend.checkpoint(CheckpointMode::Full).map(drop)
    }

    /// Moves a damaged database aside. Returns its new path, unless another process was faster.
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

    /// Whether the opened database and log are still those at their paths, and complete.
    pub fn has_intact_files(&self) -> bool {
        self.backend.has_intact_files()
    }

    /// Saves the content of a log that was removed while it was open. The store cannot be used afterwards.
    pub(crate) fn recover_removed_file(&mut self) -> Result<RemovedFile> {
        self.backend.recover_removed_file()
    }
}

/// Whether the file may have grown: most events come without new entries.
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

/// Reads the part of a transcript that the store does not have yet.
pub(crate) fn read_transcript_delta(
    path: String,
    format: TranscriptFormat,
    reached: TranscriptProgress,
    ids: &[String],
) -> TranscriptDelta {
    let same_file = reached.path.as_deref() == Some(path.as_str());
    let mark = reached.cursor.as_deref().filter(|_| same_file);
    let from: TranscriptCursor = mark.and_then(|mark| mark.parse().ok()).unwrap_or_default();
    let is_own = |id: &str| ids.iter().any(|own| own == id);
    // A transcript that is missing or cannot be read has no entries for now.
    let read = transcript::read_transcript(Path::new(&path), format, &from, &is_own).ok();
    TranscriptDelta { is_other_file: !same_file, session_begins: false, path, from: reached.cursor, read }
}
