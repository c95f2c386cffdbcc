//! What the store is asked. How each is answered is the database's affair.

use snell::Timestamp;

use super::Store;
use crate::changes::{Change, ChangeRange};
use crate::error::Result;
use crate::model::State;
use crate::query::{
    AgentFilter, AgentView, Exported, GuardEntry, GuardFilter, GuardVerdictView, Heard, HookStats, LogEntry, LogFilter,
    Pruned, SessionView, Totals, TurnFilter, TurnView,
};

impl Store {
    /// Agents, the one that was last heard of first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>> {
        self.backend.queries().agents(filter)
    }

    /// How many agents are in a state.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn count_agents(&mut self, state: State) -> Result<i64> {
        self.backend.queries().count_agents(state)
    }

    /// Events, the newest first, unless the filter asks for what came after an entry.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>> {
        self.backend.queries().log(filter)
    }

    /// The number of the newest event; 0 if there is none. Numbers begin anew when all events were removed.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn last_id(&mut self) -> Result<i64> {
        self.backend.queries().last_id()
    }

    /// Sessions of which an id begins like this, the latest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>> {
        self.backend.queries().sessions(prefix)
    }

    /// Tells everything about a session, in the order in which it happened, until the listener answers `false`.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn export(&mut self, session: &SessionView, listener: &mut dyn FnMut(Exported) -> bool) -> Result<()> {
        self.backend.queries().export(session, listener)
    }

    /// How much there is.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn totals(&mut self) -> Result<Totals> {
        self.backend.queries().totals()
    }

    /// What is wrong with the database itself, as far as a quick look shows; nothing if it is sound. It reads all of it, so
    /// it takes its time with a large one.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn damage(&mut self) -> Result<Option<String>> {
        self.backend.queries().damage()
    }

    /// Changes after this one, the oldest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<Change>> {
        self.backend.queries().changes_after(after, at_most)
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
    pub fn heard_since(&mut self, event_row: Option<i64>) -> Result<Heard> {
        self.backend.queries().heard_since(event_row)
    }

    /// What was said, the latest first, unless the filter asks for what came after a turn.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn turns(&mut self, filter: &TurnFilter) -> Result<Vec<TurnView>> {
        self.backend.queries().turns(filter)
    }

    /// Hooks that ran since then, those that took the most time first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>> {
        self.backend.queries().hook_stats(since)
    }

    /// What the guard said, the latest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardEntry>> {
        self.backend.queries().guard_log(filter)
    }

    /// What the guard said about each of these events, if it said anything, in the order in which it did.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>> {
        self.backend.queries().guard_verdicts(event_rows)
    }

    /// The project whose root this is, if anything was recorded of it.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn project_id(&mut self, root: &str) -> Result<Option<i64>> {
        self.backend.queries().project_id(root)
    }

    /// How much is older than this.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn older(&mut self, before: Timestamp) -> Result<Pruned> {
        self.backend.queries().older(before)
    }
}
