//! What a database must be able to do for the store as a whole.

use std::path::{Path, PathBuf};

use snell::Timestamp;

use crate::db::rows::Rows;
use crate::error::Result;
use crate::views::queries::Queries;
use crate::views::query_types::PruneCounts;

/// How much tidying is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckpointMode {
    /// Only if there is enough to be worth it; this process goes on.
    IfNeeded,
    /// Only if there is enough to be worth it; this process ends, and with it its knowledge of what was done.
    BeforeExit,
    /// Everything, so that whoever comes next has nothing to do.
    Full,
}

/// A file of the database that was removed, replaced or shortened while it was open, and what became of its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RemovedFile {
    /// The database itself. Its content belongs to the process that moved it.
    Database,
    /// The write-ahead log. Its content is in the database now.
    SavedLog,
    /// The write-ahead log, and another process has begun a new one. Its content would spoil theirs.
    ReplacedLog,
    /// The database was shortened, and is whole again: all of it was in the log.
    RestoredDatabase,
    /// The database or its log was shortened, and was moved to this path, unless another process was faster.
    SetAside(Option<PathBuf>),
}

/// A database.
pub(crate) trait Backend: Queries + Send {
    /// Does the work in one transaction, which is undone if the work fails.
    fn write_transaction(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Lets the work see one state of the database. It writes nothing.
    fn read_transaction(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Removes some of what is older; answers how much, so that the caller can go on until there is nothing left.
    fn prune_batch(&mut self, before: Timestamp, at_most: u32) -> Result<PruneCounts>;
    /// Removes the oldest changes but for so many.
    fn trim_changes(&mut self, keep: u32) -> Result<()>;
    /// Does what makes later work faster. Answers whether everything is in the database itself afterwards.
    fn checkpoint(&mut self, tidying: CheckpointMode) -> Result<bool>;
    /// The file it is, and which one of that name, if it is a file.
    fn database_file(&self) -> Option<(&Path, u64)>;
    /// Whether the files that were opened are still those at their paths, and whole.
    fn has_intact_files(&self) -> bool;
    /// Saves what is in files that were removed or replaced while they were open, as far as that does no harm.
    fn recover_removed_file(&mut self) -> Result<RemovedFile>;
}
