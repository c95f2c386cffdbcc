//! What the store can be asked: the read port of the database. [`crate::Store`] dereferences to it.
//!
//! Every query fails when the database cannot be read, and only then.

use snell::Timestamp;

use crate::db::change_feed::{ChangeRange, ChangeRow};
use crate::db::model::AgentState;
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

/// Everything that can be asked; here about agents, projects, and the store as a whole.
pub trait Queries: LogQueries + SessionQueries + TimelineQueries + RollupQueries + LiveQueries {
    /// Agents, the one that was last heard of first.
    fn list_agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>>;
    /// How many agents are in a state.
    fn count_agents(&mut self, state: AgentState) -> Result<i64>;
    /// Projects in the order of their names, at most so many.
    fn list_projects(&mut self, at_most: u32) -> Result<Vec<ProjectView>>;
    /// The project whose root this is, if anything was recorded of it.
    fn find_project_id(&mut self, root: &str) -> Result<Option<i64>>;
    /// How much there is.
    fn count_totals(&mut self) -> Result<StoreTotals>;
    /// How much is older than this.
    fn count_older_than(&mut self, before: Timestamp) -> Result<PruneCounts>;
    /// The first fault of the database itself that a quick check finds; none if it is sound. It reads all of it, so it
    /// takes its time with a large one.
    fn check_integrity(&mut self) -> Result<Option<String>>;
}

/// The list of events.
pub trait LogQueries {
    /// Events, the newest first, unless the filter asks for what came after an entry.
    fn query_log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>>;
    /// Events for people, in the same order. With a text, only those in whose payload, summary or reason it stands,
    /// whether its letters from A to Z are small or not; then only so many events are searched, and the answer says how
    /// far.
    fn search_log(&mut self, filter: &LogFilter, text: Option<&str>) -> Result<LogSearchResult>;
    /// One event in full.
    fn find_event(&mut self, id: i64) -> Result<Option<EventDetails>>;
    /// The number of the newest event; 0 if there is none. Numbers begin anew when all events were removed.
    fn last_event_id(&mut self) -> Result<i64>;
}

/// Sessions, and what belongs to one.
pub trait SessionQueries {
    /// Sessions, the one that was last heard of first.
    fn list_sessions(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>>;
    /// Sessions of which an id begins like this, the latest first.
    fn find_sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>>;
    /// Gives everything about a session, in the order in which it happened, until the listener answers `false`.
    fn export_session(&mut self, session: &SessionView, listener: &mut dyn FnMut(ExportLine) -> bool) -> Result<()>;
    /// A mission, and when a session took it up.
    fn find_mission(&mut self, mission_execution_id: &str) -> Result<MissionView>;
    /// The workers of a session, the earliest first.
    fn list_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>>;
}

/// What one agent did.
pub trait TimelineQueries {
    /// An agent's events, the newest first, unless the filter asks for what came after an event.
    fn query_timeline(&mut self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>>;
    /// What was seen of an agent before its events, the newest first.
    fn list_sightings(&mut self, filter: &SightingFilter) -> Result<Vec<SightingView>>;
    /// The event of an agent that comes so many events before another one, or before all that may come; nothing if it
    /// has no more than these.
    fn find_earlier_event(
        &mut self,
        agent_id: i64,
        before_id: Option<i64>,
        events: u32,
    ) -> Result<Option<(i64, Timestamp)>>;
    /// Turns, the latest first, unless the filter asks for what came after a turn.
    fn list_turns(&mut self, filter: &TurnFilter) -> Result<Vec<TurnView>>;
}

/// Counts by the hour.
pub trait RollupQueries {
    /// Hooks that ran since then, those that took the most time first.
    fn list_hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>>;
    /// Each hour since then in which hooks ran, the earliest first: all of them together, or this one. The hour in which
    /// it begins counts as a whole.
    fn list_hook_hours(&mut self, since: Timestamp, hook_id: Option<i64>) -> Result<Vec<HookHour>>;
    /// How often the guard said what in each hour since then, the earliest first. The hour in which it begins counts as
    /// a whole.
    fn list_guard_hours(&mut self, since: Timestamp) -> Result<Vec<GuardHour>>;
    /// The same of one agent. That is not counted as it happens, so only so many verdicts are read, the latest.
    fn list_agent_guard_hours(&mut self, agent_id: i64, since: Timestamp, at_most: u32) -> Result<Vec<GuardHour>>;
}

/// Changes, and what live pages show.
pub trait LiveQueries {
    /// Changes after this one, the oldest first.
    fn list_changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<ChangeRow>>;
    /// Which changes are kept.
    fn change_range(&mut self) -> Result<ChangeRange>;
    /// How many events came after this row, and what is known of the last ones. Without a row, only the latter.
    fn summarize_events_since(&mut self, event_row: Option<i64>) -> Result<EventActivity>;
    /// Verdicts of the guard, the latest first.
    fn query_guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardLogEntry>>;
    /// The guard's verdicts about each of these events, if there are any, in the order in which they were given.
    fn list_guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>>;
}
