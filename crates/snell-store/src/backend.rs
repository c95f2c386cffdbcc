//! What a database must be able to do for the store as a whole.

use std::path::{Path, PathBuf};

use snell::Timestamp;

use crate::changes::{Change, ChangeRange};
use crate::error::Result;
use crate::model::State;
use crate::query::{
    AgentFilter, AgentView, Exported, GuardEntry, GuardFilter, GuardVerdictView, Heard, HookStats, LogEntry, LogFilter,
    Pruned, SessionView, Totals, TurnFilter, TurnView,
};
use crate::rows::Rows;
use crate::search::{FullEvent, LogLines, ProjectView};
use crate::sessions::{MissionView, SessionFilter, SessionRow};
use crate::sums::{GuardHour, HookHour};
use crate::timeline::{SightingFilter, SightingView, TimelineEvent, TimelineFilter};
use crate::workers::Worker;

/// How much tidying is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tidying {
    /// Only if there is enough to be worth it; this process goes on.
    IfNeeded,
    /// Only if there is enough to be worth it; this process ends, and with it its knowledge of what was done.
    BeforeLeaving,
    /// Everything, so that whoever comes next has nothing to do.
    Thorough,
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
    fn transact(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Lets the work see one state of the database. It writes nothing.
    fn look(&mut self, work: &mut dyn FnMut(&mut dyn Rows) -> Result<()>) -> Result<()>;
    /// Asks about what is kept.
    fn queries(&mut self) -> &mut dyn Queries;
    /// Does what makes later work faster. Answers whether everything is in the database itself afterwards.
    fn tidy(&mut self, tidying: Tidying) -> Result<bool>;
    /// The file it is, and which one of that name, if it is a file.
    fn file(&self) -> Option<(&Path, u64)>;
    /// Whether the files that were opened are still those at their paths, and whole.
    fn is_in_place(&self) -> bool;
    /// Saves what is in files that were removed or replaced while they were open, as far as that does no harm.
    fn save_removed(&mut self) -> Result<RemovedFile>;
}

/// What people and programs ask about, and the little that they write by themselves.
pub(crate) trait Queries {
    fn agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>>;
    fn count_agents(&mut self, state: State) -> Result<i64>;
    /// The newest first, unless the filter asks for what came after an entry.
    fn log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>>;
    /// The same, told briefly; only those in which the text stands, as far as is looked.
    fn log_lines(&mut self, filter: &LogFilter, text: Option<&str>) -> Result<LogLines>;
    fn event(&mut self, id: i64) -> Result<Option<FullEvent>>;
    /// By their names.
    fn projects(&mut self, at_most: u32) -> Result<Vec<ProjectView>>;
    /// The number of the newest event; 0 if there is none.
    fn last_id(&mut self) -> Result<i64>;
    /// Sessions whose id begins like this, the latest first.
    fn sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>>;
    /// Tells everything about a session, in the order in which it happened, until the listener has heard enough.
    fn export(&mut self, session: &SessionView, listener: &mut dyn FnMut(Exported) -> bool) -> Result<()>;
    fn totals(&mut self) -> Result<Totals>;
    /// What is wrong with what is kept, as far as a quick look shows; nothing if it is sound.
    fn damage(&mut self) -> Result<Option<String>>;
    /// Removes some of what is older; answers how much, so that the caller can go on until there is nothing left.
    fn prune(&mut self, before: Timestamp, at_most: u32) -> Result<Pruned>;
    /// How much is older.
    fn older(&mut self, before: Timestamp) -> Result<Pruned>;

    /// Changes after this one, the oldest first.
    fn changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<Change>>;
    fn change_range(&mut self) -> Result<ChangeRange>;
    /// Removes the oldest changes but for so many.
    fn trim_changes(&mut self, keep: u32) -> Result<()>;
    /// How many events came after this row, and what is known of the last ones.
    fn heard_since(&mut self, event_row: Option<i64>) -> Result<Heard>;
    /// The newest first, unless the filter asks for what came after one.
    fn timeline(&mut self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>>;
    /// The newest first.
    fn seen_before(&mut self, filter: &SightingFilter) -> Result<Vec<SightingView>>;
    /// The event of an agent that comes so many events before another one.
    fn event_further_back(
        &mut self,
        agent_id: i64,
        before_id: Option<i64>,
        events: u32,
    ) -> Result<Option<(i64, Timestamp)>>;
    /// The newest first, unless the filter asks for what came after one.
    fn turns(&mut self, filter: &TurnFilter) -> Result<Vec<TurnView>>;
    /// Hooks that ran since then, those that took the most time first.
    fn hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>>;
    /// The earliest first.
    fn hook_hours(&mut self, since: Timestamp, hook_id: Option<i64>) -> Result<Vec<HookHour>>;
    /// The earliest first.
    fn guard_hours(&mut self, since: Timestamp) -> Result<Vec<GuardHour>>;
    /// Of one agent's latest verdicts, the earliest first.
    fn guard_hours_of(&mut self, agent_id: i64, since: Timestamp, at_most: u32) -> Result<Vec<GuardHour>>;
    /// The newest first.
    fn guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardEntry>>;
    /// What the guard said about each of these events, if it said anything, in the order in which it did.
    fn guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>>;
    /// The project whose root this is, if anything was recorded of it.
    fn project_id(&mut self, root: &str) -> Result<Option<i64>>;

    /// The one that was last heard of first.
    fn session_rows(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>>;
    fn mission(&mut self, mission_execution_id: &str) -> Result<MissionView>;
    /// The earliest first.
    fn workers_of(&mut self, conversation_id: i64) -> Result<Vec<Worker>>;
}
