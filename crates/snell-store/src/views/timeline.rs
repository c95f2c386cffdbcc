//! What an agent did, event by event, with everything that hangs on each: what a person reads who wants to know how it came
//! to this.

use serde_json::Value;
use snell::Timestamp;

use crate::db::model::{AgentState, StateConfidence, StateSource};
use crate::views::query_types::{GuardVerdictView, HookRunView};

/// Which events.
#[derive(Clone, Debug, Default)]
pub struct TimelineFilter {
    /// Of this agent.
    pub agent_id: i64,
    /// Before this one, to page on.
    pub before_id: Option<i64>,
    /// After this one: without [`Self::before_id`] the oldest first, to follow.
    pub after_id: Option<i64>,
    /// Only those with which something of these kinds comes; all if none is named.
    pub with: Vec<TimelineAspect>,
    /// At most so many.
    pub limit: u32,
}

/// What may come with an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineAspect {
    /// It is about a call of a tool.
    Call,
    /// The guard said something about it. Events of which nothing else is asked are found without a look at the others.
    Verdict,
    /// A hook ran.
    Run,
    /// The agent does something else than before, or was seen to.
    Change,
    /// It is a prompt that was blocked, of which no turn tells.
    BlockedPrompt,
    /// It is told for its own sake: neither a call nor something that was said; or its agent was given something to read.
    Itself,
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
    /// Why the tool failed, of its end and of its beginning; empty if it failed without a word.
    pub error: Option<String>,
    /// Whether this is the end of a tool whose beginning was told.
    pub is_end_of_call: bool,
    /// What was decided: `allow`, `ask` or `block`; nothing if nobody had an opinion.
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What the tool was given, if that is not what the agent wanted.
    pub changed_input: Option<ChangedInput>,
    /// What the agent is told that the tool answered, if a hook changed it: of the call's end, and of its beginning.
    pub changed_output: Option<Value>,
    /// What the agent was given to read with the answer.
    pub told: Option<String>,
    /// Whether this is the beginning of a call whose turn is over, and of whose end nothing was told.
    pub is_unended: bool,
    /// Whether events that happened clearly later were there before it.
    pub is_late: bool,
    /// The agent's state, once the event had counted.
    pub state: AgentState,
    /// Its state before; nothing if this is the first that was heard of it.
    pub state_before: Option<AgentState>,
    /// What came with it in words, if it is one of those that say something.
    pub message: Option<String>,
    /// Every hook that matched, and what became of it.
    pub hook_runs: Vec<HookRunView>,
    /// What the guard said.
    pub guard_verdicts: Vec<GuardVerdictView>,
    /// What was seen of the agent afterwards, before its next event.
    pub seen_after: Vec<SightingView>,
}

/// The input of a tool that a hook changed.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangedInput {
    /// What the agent wanted; null where that is not kept.
    pub before: Value,
    /// What the tool was given.
    pub after: Value,
}

/// Which sightings.
#[derive(Clone, Copy, Debug, Default)]
pub struct SightingFilter {
    /// Of this agent.
    pub agent_id: i64,
    /// Before this event of it; all if none is named.
    pub first_event: Option<i64>,
    /// Before this one, to page on.
    pub before_id: Option<i64>,
    /// At most so many.
    pub limit: u32,
}

/// An agent was seen to do something else than before, and no event of its own said so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SightingView {
    /// Its number.
    pub id: i64,
    /// The agent's newest event then; 0 if there was none.
    pub after_event: i64,
    /// When.
    pub at: Timestamp,
    /// What the agent did before; nothing if it was seen for the first time.
    pub state_before: Option<AgentState>,
    /// What it does.
    pub state: AgentState,
    /// How that is known.
    pub source: StateSource,
    /// How sure that is.
    pub confidence: StateConfidence,
    /// Why, in words.
    pub why: String,
}
