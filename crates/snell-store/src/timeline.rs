//! What an agent did, event by event, with everything that hangs on each: what a person reads who wants to know how it came
//! to this.

use snell::Timestamp;

use crate::error::Result;
use crate::model::State;
use crate::query::{GuardVerdictView, HookRunView};
use crate::store::Store;

/// Which events.
#[derive(Clone, Debug, Default)]
pub struct TimelineFilter {
    /// Of this agent.
    pub agent_id: i64,
    /// Before this one, to page on.
    pub before_id: Option<i64>,
    /// After this one, the oldest first, to follow.
    pub after_id: Option<i64>,
    /// Only those about which the guard said something. They are few, and found without a look at the others.
    pub guarded: bool,
    /// At most so many.
    pub limit: u32,
}

/// One event of an agent, and what hangs on it.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEvent {
    /// Its number in the log.
    pub id: i64,
    /// When it was received.
    pub at: Timestamp,
    /// Its canonical name.
    pub event: String,
    /// The tool it is about.
    pub tool: Option<String>,
    /// What the call of the tool is about, in one line.
    pub tool_summary: Option<String>,
    /// How long the tool took: of its end, and of its beginning once it has ended.
    pub tool_duration_ms: Option<f64>,
    /// The event that told of the tool's end, if this is its beginning.
    pub ended_by: Option<String>,
    /// Whether this is the end of a tool whose beginning was told.
    pub is_end_of_call: bool,
    /// What was decided: `allow`, `ask` or `block`; nothing if nobody had an opinion.
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The agent's state, once the event had counted.
    pub state: State,
    /// Its state after the event before; nothing if this is its first one.
    pub state_before: Option<State>,
    /// What came with it in words, if it is one of those that say something.
    pub message: Option<String>,
    /// Every hook that matched, and what became of it.
    pub hook_runs: Vec<HookRunView>,
    /// What the guard said.
    pub guard_verdicts: Vec<GuardVerdictView>,
}

impl Store {
    /// What an agent did, the newest first, unless the filter asks for what came after an event.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn timeline(&mut self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>> {
        self.backend.queries().timeline(filter)
    }

    /// The event of an agent before which there are so many newer ones; nothing if it has no more than these.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn event_before_newest(&mut self, agent_id: i64, newest: u32) -> Result<Option<(i64, Timestamp)>> {
        self.backend.queries().event_before_newest(agent_id, newest)
    }
}
