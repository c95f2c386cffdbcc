//! What the store is asked. How each is answered is the database's affair.

use snell::Timestamp;

use crate::db::change_feed::{ChangeRange, ChangeRow};
use crate::db::model::AgentState;
use crate::error::Result;
use crate::store::Store;
use crate::views::query_types::{
    AgentFilter, AgentView, EventActivity, ExportLine, GuardFilter, GuardLogEntry, GuardVerdictView, HookStats,
    LogEntry, LogFilter, PruneCounts, SessionView, StoreTotals, TurnFilter, TurnView,
};

impl Store {
    /// Agents, the one that was last heard of first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn list_agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>> {
        self.backend.queries().list_agents(filter)
    }

    /// How many agents are in a state.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn count_agents(&mut self, state: AgentState) -> Result<i64> {
        self.backend.queries().count_agents(state)
    }

    /// Events, the newest first, unless the filter asks for what came after an entry.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn query_log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>> {
        self.backend.queries().query_log(filter)
    }

    /// The number of the newest event; 0 if there is none. Numbers begin anew when all events were removed.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn last_event_id(&mut self) -> Result<i64> {
        self.backend.queries().last_event_id()
    }

    /// Sessions of which an id begins like this, the latest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn find_sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>> {
        self.backend.queries().find_sessions(prefix)
    }

    /// Tells everything about a session, in the order in which it happened, until the listener answers `false`.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn export_session(
        &mut self,
        session: &SessionView,
        listener: &mut dyn FnMut(ExportLine) -> bool,
    ) -> Result<()> {
        self.backend.queries().export_session(session, listener)
    }

    /// How much there is.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn count_totals(&mut self) -> Result<StoreTotals> {
        self.backend.queries().count_totals()
    }

    /// What is wrong with the database itself, as far as a quick look shows; nothing if it is sound. It reads all of it, so
    /// it takes its time with a large one.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn check_integrity(&mut self) -> Result<Option<String>> {
        self.backend.queries().check_integrity()
    }

    /// Changes after this one, the oldest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn list_changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<ChangeRow>> {
        self.backend.queries().list_changes_after(after, at_most)
    }

    /// Which changes are kept.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn change_range(&mut self) -> Result<ChangeRange> {
        self.backend.queries().change_range()
    }

    /// How many events came after this row, and what is known of the last ones. Without a row, only the latter.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn summarize_events_since(&mut self, event_row: Option<i64>) -> Result<EventActivity> {
        self.backend.queries().summarize_events_since(event_row)
    }

    /// What was said, the latest first, unless the filter asks for what came after a turn.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn list_turns(&mut self, filter: &TurnFilter) -> Result<Vec<TurnView>> {
        self.backend.queries().list_turns(filter)
    }

    /// Hooks that ran since then, those that took the most time first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn list_hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>> {
        self.backend.queries().list_hook_stats(since)
    }

    /// What the guard said, the latest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn query_guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardLogEntry>> {
        self.backend.queries().query_guard_log(filter)
    }

    /// What the guard said about each of these events, if it said anything, in the order in which it did.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn list_guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>> {
        self.backend.queries().list_guard_verdicts(event_rows)
    }

    /// The project whose root this is, if anything was recorded of it.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn find_project_id(&mut self, root: &str) -> Result<Option<i64>> {
        self.backend.queries().find_project_id(root)
    }

    /// How much is older than this.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn count_older_than(&mut self, before: Timestamp) -> Result<PruneCounts> {
        self.backend.queries().count_older_than(before)
    }
}
