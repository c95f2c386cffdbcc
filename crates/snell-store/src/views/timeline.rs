//! The timeline of an agent: its events with their hook runs, verdicts and changes of state.

use serde_json::Value;
use snell::Timestamp;

use crate::db::model::{AgentState, StateConfidence, StateSource};
use crate::views::query_types::{GuardVerdictView, HookRunView};

/// Selects events.
#[derive(Clone, Debug, Default)]
pub struct TimelineFilter {
    /// Events of this agent.
    pub agent_id: i64,
    /// Events before this one, for the next page.
    pub before_id: Option<i64>,
    /// Events after this one: without [`Self::before_id`] the oldest first, to follow.
    pub after_id: Option<i64>,
    /// Only events with one of these aspects; all if empty.
    pub with: Vec<TimelineAspect>,
    /// The largest number of results.
    pub limit: u32,
}

/// An aspect of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineAspect {
    /// A tool call.
    Call,
    /// A verdict of the guard. A filter with only this aspect does not scan other events.
    Verdict,
    /// A hook run.
    Run,
    /// A change of the agent's state, by this event or after it.
    Change,
    /// A blocked prompt, which has no turn.
    BlockedPrompt,
    /// An event that is neither a tool call nor a turn, or that gave the agent a text.
    Itself,
}

/// One event of an agent, with its hook runs, verdicts and changes of state.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineEvent {
    /// Its id in the log.
    pub id: i64,
    /// When it was received.
    pub at: Timestamp,
    /// Its canonical name.
    pub event: String,
    /// Its tool.
    pub tool: Option<String>,
    /// The summary of the tool call, or of the result of a background task, as one line.
    pub tool_summary: Option<String>,
    /// The duration of the tool call: at its end, and at its start once it has ended.
    pub tool_duration_ms: Option<f64>,
    /// The event that ended the call, if this is its start.
    pub ended_by: Option<String>,
    /// Why the tool failed, at its end and at its start; empty if it failed without a message.
    pub error: Option<String>,
    /// Whether this ends a call whose start is stored.
    pub is_end_of_call: bool,
    /// The decision: `allow`, `ask` or `block`; nothing if there is none.
    pub decision: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The tool's input before and after a hook changed it.
    pub changed_input: Option<ChangedInput>,
    /// The tool's output after a hook changed it: at the call's end, and at its start.
    pub changed_output: Option<Value>,
    /// The texts that the agent got with the answer.
    pub told: Option<String>,
    /// Whether this starts a call that has no end, although its turn is over.
    pub is_unended: bool,
    /// Whether events that happened clearly later were stored before it.
    pub is_late: bool,
    /// The agent's state after the event.
    pub state: AgentState,
    /// Its state before; nothing for its first event.
    pub state_before: Option<AgentState>,
    /// Its text, if it has one.
    pub message: Option<String>,
    /// The runs of all matching hooks.
    pub hook_runs: Vec<HookRunView>,
    /// The guard's verdicts.
    pub guard_verdicts: Vec<GuardVerdictView>,
    /// Changes of the agent's state afterwards, before its next event.
    pub seen_after: Vec<SightingView>,
}

/// The input of a tool, changed by a hook.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedInput {
    /// The original input; null if that is not stored.
    pub before: Value,
    /// The new input.
    pub after: Value,
}

/// Selects changes of state without an event.
#[derive(Clone, Copy, Debug, Default)]
pub struct SightingFilter {
    /// Changes of this agent.
    pub agent_id: i64,
    /// Changes before this event of it; all if not set.
    pub first_event: Option<i64>,
    /// Changes before this one, for the next page.
    pub before_id: Option<i64>,
    /// The largest number of results.
    pub limit: u32,
}

/// A change of an agent's state without an event of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SightingView {
    /// Its id.
    pub id: i64,
    /// The agent's newest event at that time; 0 if there was none.
    pub after_event: i64,
    /// Its time.
    pub at: Timestamp,
    /// The state before; nothing for a new agent.
    pub state_before: Option<AgentState>,
    /// The new state.
    pub state: AgentState,
    /// The source of the state.
    pub source: StateSource,
    /// The confidence in the state.
    pub confidence: StateConfidence,
    /// The reason for the state, in words.
    pub why: String,
}
