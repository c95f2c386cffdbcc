//! What a database must be able to do for the store as a whole.

use std::path::{Path, PathBuf};

use snell::Timestamp;

use crate::db::change_feed::{ChangeRange, ChangeRow};
use crate::db::model::AgentState;
use crate::db::rows::Rows;
use crate::db::workers::SessionWorker;
use crate::error::Result;
use crate::views::log_search::{EventDetails, LogSearchResult, ProjectView};
use crate::views::query_types::{
    AgentFilter, AgentView, EventActivity, ExportLine, GuardFilter, GuardLogEntry, GuardVerdictView, HookStats,
    LogEntry, LogFilter, PruneCounts, SessionView, StoreTotals, TurnFilter, TurnView,
};
use crate::views::rollups::{GuardHour, HookHour};
use crate::views::sessions::{MissionView, SessionFilter, SessionRow};
use crate::views::timeline::{SightingFilter, SightingView, TimelineEvent, TimelineFilter};

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
pub(crate) trait Backend: Send {
    /// Does the work in one transaction, which is undone if the work fails.
    fn write_transaction(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Lets the work see one state of the database. It writes nothing.
    fn read_transaction(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Asks about what is kept.
    fn queries(&mut self) -> &mut dyn Queries;
    /// Does what makes later work faster. Answers whether everything is in the database itself afterwards.
    fn checkpoint(&mut self, tidying: CheckpointMode) -> Result<bool>;
    /// The file it is, and which one of that name, if it is a file.
    fn database_file(&self) -> Option<(&Path, u64)>;
    /// Whether the files that were opened are still those at their paths, and whole.
    fn has_intact_files(&self) -> bool;
    /// Saves what is in files that were removed or replaced while they were open, as far as that does no harm.
    fn recover_removed_file(&mut self) -> Result<RemovedFile>;
}

/// What people and programs ask about, and the little that they write by themselves.
pub(crate) trait Queries {
    fn list_agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>>;
    fn count_agents(&mut self, state: AgentState) -> Result<i64>;
    /// The newest first, unless the filter asks for what came after an entry.
    fn query_log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>>;
    /// The same, told briefly; only those in which the text stands, as far as is looked.
    fn search_log(&mut self, filter: &LogFilter, text: Option<&str>) -> Result<LogSearchResult>;
    fn find_event(&mut self, id: i64) -> Result<Option<EventDetails>>;
    /// By their names.
    fn list_projects(&mut self, at_most: u32) -> Result<Vec<ProjectView>>;
    /// The number of the newest event; 0 if there is none.
    fn last_event_id(&mut self) -> Result<i64>;
    /// Sessions whose id begins like this, the latest first.
    fn find_sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>>;
    /// Tells everything about a session, in the order in which it happened, until the listener has heard enough.
    fn export_session(&mut self, session: &SessionView, listener: &mut dyn FnMut(ExportLine) -> bool) -> Result<()>;
    fn count_totals(&mut self) -> Result<StoreTotals>;
    /// What is wrong with what is kept, as far as a quick look shows; nothing if it is sound.
    fn check_integrity(&mut self) -> Result<Option<String>>;
    /// Removes some of what is older; answers how much, so that the caller can go on until there is nothing left.
    fn prune_batch(&mut self, before: Timestamp, at_most: u32) -> Result<PruneCounts>;
    /// How much is older.
    fn count_older_than(&mut self, before: Timestamp) -> Result<PruneCounts>;

    /// Changes after this one, the oldest first.
    fn list_changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<ChangeRow>>;
    fn change_range(&mut self) -> Result<ChangeRange>;
    /// Removes the oldest changes but for so many.
    fn trim_changes(&mut self, keep: u32) -> Result<()>;
    /// How many events came after this row, and what is known of the last ones.
    fn summarize_events_since(&mut self, event_row: Option<i64>) -> Result<EventActivity>;
    /// The newest first, unless the filter asks for what came after one.
    fn query_timeline(&mut self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>>;
    /// The newest first.
    fn list_sightings(&mut self, filter: &SightingFilter) -> Result<Vec<SightingView>>;
    /// The event of an agent that comes so many events before another one.
    fn find_earlier_event(
        &mut self,
        agent_id: i64,
        before_id: Option<i64>,
        events: u32,
    ) -> Result<Option<(i64, Timestamp)>>;
    /// The newest first, unless the filter asks for what came after one.
    fn list_turns(&mut self, filter: &TurnFilter) -> Result<Vec<TurnView>>;
    /// Hooks that ran since then, those that took the most time first.
    fn list_hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>>;
    /// The earliest first.
    fn list_hook_hours(&mut self, since: Timestamp, hook_id: Option<i64>) -> Result<Vec<HookHour>>;
    /// The earliest first.
    fn list_guard_hours(&mut self, since: Timestamp) -> Result<Vec<GuardHour>>;
    /// Of one agent's latest verdicts, the earliest first.
    fn list_agent_guard_hours(&mut self, agent_id: i64, since: Timestamp, at_most: u32) -> Result<Vec<GuardHour>>;
    /// The newest first.
    fn query_guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardLogEntry>>;
    /// What the guard said about each of these events, if it said anything, in the order in which it did.
    fn list_guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>>;
    /// The project whose root this is, if anything was recorded of it.
    fn find_project_id(&mut self, root: &str) -> Result<Option<i64>>;

    /// The one that was last heard of first.
    fn list_sessions(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>>;
    fn find_mission(&mut self, mission_execution_id: &str) -> Result<MissionView>;
    /// The earliest first.
    fn list_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>>;
}
