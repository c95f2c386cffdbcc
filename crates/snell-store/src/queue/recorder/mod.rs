//! Records events without loss: events that cannot be stored now wait on disk, and a damaged database is replaced.
//!
//! The files of the database can be removed, replaced or truncated while they are open. Then other processes would not
//! find what this one writes. So before and after each transaction, the recorder compares the paths with the open
//! files, and acknowledges nothing before that. It copies a removed log into the database, and opens everything again.

mod drain;
mod event_copies;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use snell::Timestamp;

use self::event_copies::EventCopies;
use crate::db::backend::RemovedFile;
use crate::db::location::DatabaseLocation;
use crate::derive::IngestReceipt;
use crate::derive::normalize::NormalizedEvent;
use crate::error::{Result, StoreError, format_error_chain};
use crate::queue::pending::{PendingClaim, PendingQueue};
use crate::queue::spool::EventSpool;
use crate::record::event_record::EventRecord;
use crate::record::masked_record::MaskedRecord;
use crate::store::{OpenedStore, Store};
use crate::views::session_snapshot::{SessionSnapshot, SnapshotQuery};

/// The database's file name.
const DATABASE_FILE_NAME: &str = "snell.db";

/// How many pending events are stored before another event, to keep the order. More have to wait.
const MAX_INLINE_PENDING: usize = 100;

/// Whether an event is on disk already, in a pending file or in the spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiskCopy {
    /// It is, perhaps without the decision.
    Present,
    /// It is not.
    Absent,
}

/// The result of recording one event.
#[derive(Debug)]
pub enum RecordOutcome {
    /// It is stored, or it can never be stored. It needs no copy.
    Stored(Result<IngestReceipt>),
    /// It waits on disk, for the reason in this warning: in a new pending file, or, if that failed, in the existing
    /// copy.
    Queued {
        /// Whether the event is only in the existing copy.
        needs_copy: bool,
        /// Why it is not stored.
        warning: String,
    },
    /// It is lost, for the reason in this warning.
    Failed(String),
}

impl RecordOutcome {
    /// The warning about an event that is not stored.
    pub fn into_warning(self) -> Option<String> {
        match self {
            Self::Stored(_) => None,
            Self::Queued { warning, .. } | Self::Failed(warning) => Some(warning),
        }
    }

    /// Whether the event is only in the existing copy.
    pub fn needs_copy(&self) -> bool {
        matches!(self, Self::Queued { needs_copy: true, .. })
    }
}

/// Records events in the database of one directory.
#[derive(Debug)]
pub struct EventRecorder {
    directory: PathBuf,
    database: PathBuf,
    /// The database, if it is on a server.
    server: Option<DatabaseLocation>,
    store: Option<Store>,
    pending: PendingQueue,
    spool: EventSpool,
    /// Copies of events that may be only in the log.
    copies: EventCopies,
    /// The copies that the last ones have replaced.
    replaced_copies: Vec<Arc<NormalizedEvent>>,
    /// Warnings since the last call of `take_warnings`.
    warnings: Vec<String>,
    /// Whether the user named the file, so that it may be anything.
    is_named: bool,
}

impl EventRecorder {
    /// A recorder for this directory. It opens nothing before the first event.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self::with_database(Self::database_path(&directory.into()))
    }

    /// A recorder for the database at this path. Pending events are beside it.
    pub fn with_database(database: impl Into<PathBuf>) -> Self {
        let database = database.into();
        let directory = database.parent().unwrap_or(Path::new("/")).to_owned();
        Self {
            pending: PendingQueue::in_data_dir(&directory),
            spool: EventSpool::in_data_dir(&directory),
            is_named: database.file_name().is_none_or(|name| name != DATABASE_FILE_NAME),
            directory,
            database,
            server: None,
            store: None,
            copies: EventCopies::default(),
            replaced_copies: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// A recorder for the database at this place. For one on a server, pending events are in a directory of their own in
    /// this one: those of this machine belong to its own database.
    pub fn with_location(directory: &Path, location: &DatabaseLocation) -> Self {
        match location.file() {
            Some(path) => Self::with_database(path),
            None => Self { server: Some(location.clone()), ..Self::new(directory.join("team")) },
        }
    }

    /// As [`EventRecorder::with_database`], for a process that keeps the database open. It keeps copies of events that
    /// are only in the log, to store them again if the log is removed and another process starts a new one.
    #[must_use]
    pub fn with_copies(mut self) -> Self {
        self.copies.enable();
        self
    }

    /// The directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The place of the database.
    pub fn location(&self) -> DatabaseLocation {
        self.server.clone().unwrap_or_else(|| self.path().into())
    }

    /// The database's path.
    pub fn path(&self) -> PathBuf {
        self.database.clone()
    }

    /// The path of the database in a directory.
    pub fn database_path(directory: &Path) -> PathBuf {
        directory.join(DATABASE_FILE_NAME)
    }

    /// The pending events.
    pub fn pending(&self) -> &PendingQueue {
        &self.pending
    }

    /// The events that the daemon has taken and may not have stored.
    pub fn spool(&self) -> &EventSpool {
        &self.spool
    }

    /// Returns the warnings so far: a database that was moved aside, an event that has to wait.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// The store, opened if necessary. Pending events are stored first, unless there are many.
    ///
    /// # Errors
    ///
    /// When the database cannot be used.
    pub fn open_store(&mut self) -> Result<&mut Store> {
        self.open_database()?;
        // In the order of events; but an agent does not wait for more than a few of them.
        if !self.pending.is_empty()
            && let Some(paths) = self.pending.list_paths_if_few(MAX_INLINE_PENDING)
        {
            self.store_pending_files(&paths)?;
        }
        self.require_store()
    }

    /// As [`EventRecorder::open_store`], for commands that only read: if pending events cannot be stored now, they stay
    /// pending, with a warning.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn open_store_for_reading(&mut self) -> Result<&mut Store> {
        self.open_database()?;
        if let Err(error) = self.drain_all() {
            let waiting = self.pending.count();
            self.warnings.push(format!("cannot store the pending events now (waiting: {waiting}): {error}"));
        }
        self.require_store()
    }

    /// The data of a session. Pending events are stored first, because they may contain the reminders that the agent
    /// got.
    ///
    /// # Errors
    ///
    /// When the database cannot be read, or pending events cannot be stored.
    pub fn load_session_snapshot(&mut self, query: &SnapshotQuery) -> Result<SessionSnapshot> {
        // Without the pending events, the reminders are not known.
        let attempt = |recorder: &mut Self| recorder.open_store()?.load_session_snapshot(query);
        match attempt(self) {
            Err(StoreError::Damaged(_)) => {
                self.replace_damaged_database()?;
                attempt(self)
            }
            other => other,
        }
    }

    fn open_database(&mut self) -> Result<()> {
        if self.store.as_ref().is_some_and(Store::has_intact_files) {
            return Ok(());
        }
        if let Some(location) = &self.server {
            let mut store = Store::open_at(location)?.store;
            store.expect_other_machines();
            self.store = Some(store);
            return Ok(());
        }
        let removed = self.close_removed_database()?;
        let path = self.path();
        let first_time = !path.exists();
        let OpenedStore { store, set_aside } =
            if self.is_named { Store::open_named(&path)? } else { Store::open(&path)? };
        if first_time {
            restrict_to_owner(&self.directory);
        }
        self.warn_database_moved(set_aside);
        self.store = Some(store);
        removed.map_or(Ok(()), |removed| self.recover_after_removal(removed))
    }

    /// Closes a database if one of its files was removed or replaced, and names that file.
    fn close_removed_database(&mut self) -> Result<Option<RemovedFile>> {
        let Some(store) = &mut self.store else {
            return Ok(None);
        };
        let removed = match store.recover_removed_file() {
            // The next call tries again.
            Err(StoreError::Locked) => return Err(StoreError::Locked),
            removed => removed.unwrap_or(RemovedFile::ReplacedLog),
        };
        self.store = None;
        Ok(Some(removed))
    }

    /// Stores events of a removed or replaced file again, where needed, and adds a warning.
    fn recover_after_removal(&mut self, removed: RemovedFile) -> Result<()> {
        let path = self.database.display().to_string();
        let remark = match removed {
            RemovedFile::Database => {
                format!("{path} was removed or replaced while Snell used it; Snell now records in the new file")
            }
            RemovedFile::RestoredDatabase => {
                format!("{path} was truncated while it was in use and restored from its log, and nothing is lost")
            }
            RemovedFile::SetAside(_) => {
                let stored = self.restore_copies()?;
                format!("{path} or {path}-wal was truncated while it was in use (events stored again: {stored})")
            }
            RemovedFile::SavedLog => format!("{path}-wal was removed while it was in use, and nothing is lost"),
            RemovedFile::ReplacedLog => {
                let stored = self.restore_copies()?;
                format!("{path}-wal or {path}-shm was replaced while it was in use (events stored again: {stored})")
            }
        };
        if !matches!(removed, RemovedFile::ReplacedLog | RemovedFile::SetAside(_)) {
            self.copies.clear();
        }
        self.warnings.push(remark);
        if let RemovedFile::SetAside(aside) = removed {
            self.warn_database_moved(aside);
        }
        Ok(())
    }

    /// Stores the copies again, and returns their number.
    fn restore_copies(&mut self) -> Result<usize> {
        let copies = self.copies.to_vec();
        Ok(self.require_store()?.ingest_normalized(&copies)?.len())
    }

    /// Opens the database again if its files were removed or replaced.
    ///
    /// # Errors
    ///
    /// When the database cannot be used.
    pub fn reopen_if_replaced(&mut self) -> Result<()> {
        if self.store.is_some() { self.open_database() } else { Ok(()) }
    }

    /// Runs maintenance that would slow down later work, if enough is due.
    ///
    /// # Errors
    ///
    /// When the database cannot be used.
    pub fn run_maintenance(&mut self) -> Result<()> {
        if self.open_store()?.run_maintenance()? {
            self.copies.clear();
        }
        Ok(())
    }

    /// Events that the last ones have replaced in memory. A thread frees best what it made.
    pub fn take_replaced_copies(&mut self) -> Vec<Arc<NormalizedEvent>> {
        std::mem::take(&mut self.replaced_copies)
    }

    fn has_replaced_files(&self) -> bool {
        self.store.as_ref().is_some_and(|store| !store.has_intact_files())
    }

    fn require_store(&mut self) -> Result<&mut Store> {
        self.store.as_mut().ok_or_else(|| StoreError::Database("the connection is closed".into()))
    }

    /// Records these events, in this order. If that fails, they are written to disk for the next process, with a
    /// warning.
    pub fn record_events(&mut self, records: Vec<EventRecord>) -> Vec<Result<IngestReceipt>> {
        let without_copies = records.into_iter().map(|record| (record.into(), DiskCopy::Absent)).collect();
        let mut receipts = Vec::new();
        for outcome in self.record_each(without_copies) {
            match outcome {
                RecordOutcome::Stored(receipt) => receipts.push(receipt),
                other => self.warnings.extend(other.into_warning()),
            }
        }
        receipts
    }

    /// As [`EventRecorder::record_events`], with an outcome for each event, in their order.
    pub fn record_each(&mut self, records: Vec<(MaskedRecord, DiskCopy)>) -> Vec<RecordOutcome> {
        let mut events = Vec::with_capacity(records.len());
        let mut copies = Vec::with_capacity(records.len());
        // A record without an event name is not an event, and does not block the others.
        let mut outcomes = Vec::with_capacity(records.len());
        for (record, copy) in records {
            outcomes.push(match NormalizedEvent::from_record(record) {
                Ok(event) => {
                    events.push(Arc::new(event));
                    copies.push(copy);
                    None
                }
                Err(error) => Some(RecordOutcome::Stored(Err(error))),
            });
        }
        let recorded: Vec<_> = match self.try_record_events(&events) {
            Ok(receipts) => receipts.into_iter().map(RecordOutcome::Stored).collect(),
            Err(error) => {
                events.iter().zip(copies).map(|(event, copy)| self.write_pending(event, copy, &error)).collect()
            }
        };
        let mut recorded = recorded.into_iter();
        let missing = || RecordOutcome::Stored(Err(StoreError::Database("no result for the event".into())));
        outcomes.into_iter().map(|outcome| outcome.or_else(|| recorded.next()).unwrap_or_else(missing)).collect()
    }

    /// As [`EventRecorder::record_events`], but without a copy on disk if it fails.
    ///
    /// # Errors
    ///
    /// When the database cannot be used.
    pub fn try_record_events(&mut self, observed: &[Arc<NormalizedEvent>]) -> Result<Vec<Result<IngestReceipt>>> {
        let attempt = |recorder: &mut Self| recorder.open_store()?.ingest_normalized(observed);
        let recorded = match attempt(self) {
            Err(StoreError::Damaged(_)) => {
                self.replace_damaged_database()?;
                attempt(self)
            }
            // A rejected event must not block the others.
            Err(StoreError::Refused(_)) => return observed.iter().map(|one| self.record_single_event(one)).collect(),
            // It may be in files that are gone. Storing an event twice has no effect.
            Ok(first) if self.has_replaced_files() => attempt(self).map(|again| prefer_first_receipts(again, first)),
            other => other,
        };
        let receipts = recorded?;
        self.replaced_copies = self.copies.add(observed);
        Ok(receipts.into_iter().map(Ok).collect())
    }

    /// Records one event. If the database rejects it, it is moved to a place where users can inspect it.
    fn record_single_event(&mut self, event: &NormalizedEvent) -> Result<Result<IngestReceipt>> {
        let recorded = self.open_store()?.ingest_normalized(std::slice::from_ref(event));
        match recorded {
            Err(StoreError::Refused(why)) => {
                let written = self.pending.push(&event.to_masked_record(), PendingClaim::Anyone);
                let place = match written.map(|file| self.pending.reject(file)) {
                    Ok(()) => "it was moved to unreadable/".to_owned(),
                    Err(fault) => format!("it is lost, because it cannot be written to disk ({fault})"),
                };
                self.warnings.push(format!("the database rejected {} ({why}), and {place}", event.name));
                Ok(Err(StoreError::Refused(why)))
            }
            Err(error) => Err(error),
            Ok(mut receipts) => {
                Ok(receipts.pop().ok_or_else(|| StoreError::Database("no result for the event".into())))
            }
        }
    }

    /// Moves a database aside that turned out to be damaged after it was opened.
    fn replace_damaged_database(&mut self) -> Result<()> {
        // Files that do not belong together look damaged.
        if self.has_replaced_files() {
            return self.open_database();
        }
        if let Some(store) = self.store.take() {
            let set_aside = store.move_aside(Timestamp::now())?;
            self.warn_database_moved(set_aside);
        }
        Ok(())
    }

    fn warn_database_moved(&mut self, set_aside: Option<PathBuf>) {
        self.warnings.extend(
            set_aside.map(|aside| {
                format!("the damaged database was moved to {}, and a new one was created", aside.display())
            }),
        );
    }

    /// Writes an event to disk, because it cannot be recorded now.
    pub fn defer_event(&self, record: MaskedRecord, copy: DiskCopy, why: &StoreError) -> RecordOutcome {
        match NormalizedEvent::from_record(record) {
            Ok(event) => self.write_pending(&event, copy, why),
            Err(error) => RecordOutcome::Stored(Err(error)),
        }
    }

    fn write_pending(&self, event: &NormalizedEvent, copy: DiskCopy, error: &StoreError) -> RecordOutcome {
        let (name, error) = (&event.name, format_error_chain(error));
        let failed = |fault: &str| {
            RecordOutcome::Failed(format!("{name} is lost: cannot record it ({error}) or write it to disk ({fault})"))
        };
        if !self.pending.has_room() {
            return failed("too many events are waiting");
        }
        let written = self.pending.push(&event.to_masked_record(), PendingClaim::Anyone);
        let needs_copy = written.is_err() && copy == DiskCopy::Present;
        match written {
            Err(fault) if !needs_copy => failed(&fault.to_string()),
            _ => RecordOutcome::Queued {
                needs_copy,
                warning: format!("cannot record {name} now ({error}), so it waits on disk for the next call"),
            },
        }
    }

    /// Closes the database, with a checkpoint.
    pub fn close(self) {
        match self.store {
            // If it cannot be done now, the next process does it.
            Some(store) if store.has_intact_files() => drop(store.close()),
            Some(mut store) => drop(store.recover_removed_file()),
            None => {}
        }
    }

    /// Copies a long log into the database, in a process that records without a daemon: the next process would have to
    /// read all of it.
    pub fn checkpoint_before_exit(&mut self) {
        if let Some(store) = &mut self.store {
            let _ = store.checkpoint_before_exit();
        }
    }

    /// Exits without closing the database, because an agent waits. The database is not damaged by that.
    pub fn abandon_store(&mut self) {
        std::mem::forget(self.store.take());
    }
}

/// The receipts of events that were stored twice: the first receipt, if the second attempt found the event.
fn prefer_first_receipts(again: Vec<IngestReceipt>, first: Vec<IngestReceipt>) -> Vec<IngestReceipt> {
    let pairs = again.into_iter().zip(first);
    pairs.map(|(again, first)| if again.duplicate { first } else { again }).collect()
}

/// Makes a directory private if it has only Snell's own files.
fn restrict_to_owner(directory: &Path) {
    let Ok(metadata) = fs::metadata(directory) else {
        return;
    };
    let ours = |entry: fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        [
            "snell.db",
            "pending",
            "handed",
            "outbox",
            "unreadable",
            "scribe.",
            "trust.",
            "background.",
            "told",
            "noted",
            "guard-sessions",
            "backups",
            "waking",
            "installed",
            "snell.sock",
            "tokens.json",
        ]
        .iter()
        .any(|known| name.starts_with(known))
    };
    let open = metadata.mode() & 0o077 != 0 && metadata.uid() == rustix::process::geteuid().as_raw();
    if open && fs::read_dir(directory).is_ok_and(|entries| entries.flatten().all(ours)) {
        // If that fails, the files in it are still private.
        let _ = fs::set_permissions(directory, Permissions::from_mode(0o700));
    }
}
