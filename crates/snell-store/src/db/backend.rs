//! The operations on a database as a whole.

use std::path::{Path, PathBuf};

use snell::Timestamp;

use crate::db::dispatches::DispatchTable;
use crate::db::rows::Rows;
use crate::db::telemetry::TelemetryTable;
use crate::db::usage::UsageTable;
use crate::derive::normalize::NormalizedEvent;
use crate::error::Result;
use crate::views::queries::Queries;
use crate::views::query_types::PruneCounts;

/// How much of the log a checkpoint copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckpointMode {
    /// Only if the log is long; this process continues.
    IfNeeded,
    /// Only if the log is long; this process exits.
    BeforeExit,
    /// Everything, so that the next process has nothing to do.
    Full,
}

/// A file of the database that was removed, replaced or truncated while it was open, and what happened to its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RemovedFile {
    /// The database itself. Its content belongs to the process that moved it.
    Database,
    /// The write-ahead log. Its content is in the database now.
    SavedLog,
    /// The write-ahead log, and another process has started a new one. Its content would damage theirs.
    ReplacedLog,
    /// The database was truncated, and was restored from its log.
    RestoredDatabase,
    /// The database or its log was truncated, and was moved to this path, unless another process was faster.
    SetAside(Option<PathBuf>),
}

/// The subject of a transaction that writes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TransactionSubject<'a> {
    /// The machines of its events. Without machines, it may be about all of them.
    pub(crate) machines: &'a [&'a str],
    /// The events that it stores: a database on another machine reads for all of them at once.
    pub(crate) events: &'a [&'a NormalizedEvent],
}

/// A database.
pub(crate) trait Backend: Queries + Send {
    /// Does the work in one transaction, which is undone if the work fails. No other transaction about one of these
    /// machines runs at the same time; without machines, none at all.
    fn write_transaction(
        &mut self,
        subject: TransactionSubject<'_>,
        work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>,
    ) -> Result<()>;
    /// Gives the work one consistent state of the database. It writes nothing.
    fn read_transaction(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Removes some of the older rows; returns how many, so that the caller can repeat it until none are left.
    fn prune_batch(&mut self, before: Timestamp, at_most: u32) -> Result<PruneCounts>;
    /// Removes the oldest changes, except for so many of the newest.
    fn trim_changes(&mut self, keep: u32) -> Result<()>;
    /// Copies the log into the database. Returns whether everything is in the database itself afterwards.
    fn checkpoint(&mut self, tidying: CheckpointMode) -> Result<bool>;
    /// The table of changes that hooks and notices react to.
    fn dispatches(&mut self) -> &mut dyn DispatchTable;
    /// The table of requests to models.
    fn usage(&mut self) -> &mut dyn UsageTable;
    /// Telemetry that is not sent yet.
    fn telemetry(&mut self) -> &mut dyn TelemetryTable;
    /// Its path and inode, if it is a file.
    fn database_file(&self) -> Option<(&Path, u64)>;
    /// Whether the opened files are still those at their paths, and complete.
    fn has_intact_files(&self) -> bool;
    /// Saves the content of files that were removed or replaced while they were open, where that does no damage.
    fn recover_removed_file(&mut self) -> Result<RemovedFile>;
}
