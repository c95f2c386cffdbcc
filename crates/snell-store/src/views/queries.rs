//! The queries of the store: the read interface of the database. [`crate::Store`] dereferences to it.
//!
//! A query fails only when the database cannot be read.

use snell::Timestamp;

use crate::db::agent_activity::AgentActivity;
use crate::db::change_feed::{ChangeRange, ChangeRow};
use crate::db::usage::UsageQueries;
use crate::db::workers::SessionWorker;
use crate::error::Result;
use crate::requests::{RememberedAnswer, RememberedCall, RequestFilter, RequestView, UnsettledRequest};
use crate::views::log_search::{EventDetails, LogSearchResult, ProjectView};
use crate::views::query_types::{
    AgentFilter, AgentView, DecisionAuthor, EventActivity, ExportLine, FailedHook, GuardFilter, GuardLogEntry,
    GuardVerdictView, HookStats, LogEntry, LogFilter, PruneCounts, SessionView, StoreTotals, TurnFilter, TurnView,
};
use crate::views::rollups::{GuardHour, HookHour};
use crate::views::sessions::{MissionView, SessionFilter, SessionRow};
use crate::views::timeline::{SightingFilter, SightingView, TimelineEvent, TimelineFilter};

/// All queries; this trait has those about agents, projects, and the store as a whole.
pub trait Queries:
    LogQueries + SessionQueries + TimelineQueries + RollupQueries + LiveQueries + RequestQueries + UsageQueries
{
    /// Agents, the one with the latest event first.
    fn list_agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>>;
    /// The number of agents in a state.
    fn count_agents(&mut self, activity: AgentActivity) -> Result<i64>;
    /// Projects sorted by name, at most so many.
    fn list_projects(&mut self, at_most: u32) -> Result<Vec<ProjectView>>;
    /// The project with this root, if anything was recorded there.
    fn find_project_id(&mut self, root: &str) -> Result<Option<i64>>;
    /// Hooks with runs that failed or timed out since this time, the last failure first.
    fn list_failed_hooks(&mut self, since: Timestamp) -> Result<Vec<FailedHook>>;
    /// The totals.
    fn count_totals(&mut self) -> Result<StoreTotals>;
    /// How many rows are older than this.
    fn count_older_than(&mut self, before: Timestamp) -> Result<PruneCounts>;
    /// The first problem that a quick check of the database finds. It reads the whole file, so it takes long for a
    /// large one.
    fn check_integrity(&mut self) -> Result<Option<String>>;
}

/// The list of events.
pub trait LogQueries {
    /// Events, the newest first, unless the filter has `after_id`.
    fn query_log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>>;
    /// Events for people, in the same order. With a text, only those that contain it in their payload, summary or
    /// reason; ASCII case is ignored. Then the number of scanned events is limited, and the result has the last one.
    fn search_log(&mut self, filter: &LogFilter, text: Option<&str>) -> Result<LogSearchResult>;
    /// The authors of the decisions about these events to ask or to block, or of what an auditing guard would decide.
    fn list_decision_authors(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, DecisionAuthor)>>;
    /// One event in full.
    fn find_event(&mut self, id: i64) -> Result<Option<EventDetails>>;
    /// The id of the newest event; 0 if there is none. Ids start again after all events were removed.
    fn last_event_id(&mut self) -> Result<i64>;
}

/// Sessions and their data.
pub trait SessionQueries {
    /// Sessions, the one with the latest event first.
    fn list_sessions(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>>;
    /// Sessions with an id that has this prefix, the latest first.
    fn find_sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>>;
    /// Passes all data of a session to the listener, in order, until that returns `false`.
    fn export_session(&mut self, session: &SessionView, listener: &mut dyn FnMut(ExportLine) -> bool) -> Result<()>;
    /// A mission, and the time when a session started it.
    fn find_mission(&mut self, mission_execution_id: &str) -> Result<MissionView>;
    /// The workers of a session, the earliest first.
    fn list_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>>;
}

/// The timeline of one agent.
pub trait TimelineQueries {
    /// An agent's events, the newest first, unless the filter has `after_id`.
    fn query_timeline(&mut self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>>;
    /// Changes of an agent's state before its events, the newest first.
    fn list_sightings(&mut self, filter: &SightingFilter) -> Result<Vec<SightingView>>;
    /// The agent's event that comes so many events before another one, or before the end; nothing if there are fewer.
    fn find_earlier_event(
        &mut self,
        agent_id: i64,
        before_id: Option<i64>,
        events: u32,
    ) -> Result<Option<(i64, Timestamp)>>;
    /// Turns, the latest first, unless the filter has `after_id`.
    fn list_turns(&mut self, filter: &TurnFilter) -> Result<Vec<TurnView>>;
}

/// Hourly counts.
pub trait RollupQueries {
    /// Hooks that ran since then, the one with the longest total time first.
    fn list_hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>>;
    /// Each hour since then with hook runs, the earliest first: of all hooks together, or of one. The first hour is
    /// included as a whole.
    fn list_hook_hours(&mut self, since: Timestamp, hook_id: Option<i64>) -> Result<Vec<HookHour>>;
    /// The number of the guard's verdicts in each hour since then, the earliest first. The first hour is included as a
    /// whole.
    fn list_guard_hours(&mut self, since: Timestamp) -> Result<Vec<GuardHour>>;
    /// The same for one agent. These are not counted in advance, so only so many of the latest verdicts are read.
    fn list_agent_guard_hours(&mut self, agent_id: i64, since: Timestamp, at_most: u32) -> Result<Vec<GuardHour>>;
}

/// Changes, and data of live pages.
pub trait LiveQueries {
    /// Changes after this one, the oldest first.
    fn list_changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<ChangeRow>>;
    /// The range of stored changes.
    fn change_range(&mut self) -> Result<ChangeRange>;
    /// The number of events after this row, and the latest events. Without a row, only the latter.
    fn summarize_events_since(&mut self, event_row: Option<i64>) -> Result<EventActivity>;
    /// Verdicts of the guard, the latest first.
    fn query_guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardLogEntry>>;
    /// The guard's verdicts on each of these events, in the order in which they were given.
    fn list_guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>>;
}

/// Requests to the user, and answers that are given again.
pub trait RequestQueries {
    /// Requests, the newest first. [`crate::Store::sweep_requests`] closes those that are over.
    fn list_requests(&mut self, filter: &RequestFilter) -> Result<Vec<RequestView>>;
    /// Requests for which a hook may wait: open ones, and answers that no hook has taken.
    fn list_unsettled_requests(&mut self) -> Result<Vec<UnsettledRequest>>;
    /// Requests opened since this time whose answers wait to be typed into a pane.
    fn list_untyped_answers(&mut self, opened_after: Timestamp) -> Result<Vec<RequestView>>;
    /// The number of open requests.
    fn count_open_requests(&mut self) -> Result<i64>;
    /// The answer that allows this call again, if the user gave one.
    fn find_remembered_answer(&mut self, call: &RememberedCall<'_>, now: Timestamp)
    -> Result<Option<RememberedAnswer>>;
    /// The answers that are given again, the latest first.
    fn list_remembered_answers(&mut self, now: Timestamp, limit: u32) -> Result<Vec<RememberedAnswer>>;
}
