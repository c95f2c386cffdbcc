//! The parameters of queries, and their results.

use serde::Serialize;
use serde_json::Value;
use snell::Timestamp;

use crate::db::agent_activity::{AgentActivity, BackgroundWork};
use crate::db::model::{AgentState, StateConfidence, StateSource, TimestampSource, TurnActor};
use crate::derive::intent::TurnIntent;
use crate::views::rollups::GuardOutcome;

/// Selects agents.
#[derive(Clone, Debug, Default)]
pub struct AgentFilter {
    /// Only this agent.
    pub agent_id: Option<i64>,
    /// Also agents that ended after this time.
    pub ended_after: Option<Timestamp>,
    /// Only agents of this project.
    pub project_id: Option<i64>,
    /// Only agents in this state.
    pub state: Option<AgentState>,
    /// Only agents with, or without, work in the background after their turn.
    pub in_background: Option<bool>,
    /// Only agents after this one in the list, for the next page.
    pub after: Option<(Timestamp, i64)>,
    /// The largest number of results; all if not set.
    pub limit: Option<u32>,
}

/// Selects turns.
#[derive(Clone, Debug, Default)]
pub struct TurnFilter {
    /// Turns of this agent.
    pub agent_id: i64,
    /// Turns before this one, for the next page.
    pub before_id: Option<i64>,
    /// Turns after this one, the oldest first, to follow.
    pub after_id: Option<i64>,
    /// Only turns of this author.
    pub actor: Option<TurnActor>,
    /// The largest number of results.
    pub limit: u32,
}

/// Selects verdicts of the guard.
#[derive(Clone, Debug, Default)]
pub struct GuardFilter {
    /// Verdicts on this agent's calls.
    pub agent_id: Option<i64>,
    /// Verdicts of this rule.
    pub rule: Option<String>,
    /// Verdicts of this tier.
    pub tier: Option<String>,
    /// Verdicts with this outcome.
    pub outcome: Option<GuardOutcome>,
    /// Verdicts before this one, for the next page.
    pub before_id: Option<i64>,
    /// The largest number of results.
    pub limit: u32,
}

/// An agent, as the page and the API show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the table that the design gives")]
pub struct AgentView {
    pub agent_id: i64,
    pub project_id: i64,
    pub project: String,
    pub project_path: String,
    pub product: Option<String>,
    pub session_id: Option<String>,
    pub state: AgentState,
    pub state_since: Timestamp,
    pub state_source: StateSource,
    pub confidence: StateConfidence,
    pub why: String,
    pub background: Option<BackgroundWork>,
    pub silent_since: Option<Timestamp>,
    pub current_tool: Option<String>,
    pub last_words: Option<String>,
    pub last_words_by: Option<TurnActor>,
    pub status_text: Option<String>,
    pub tmux_session: Option<String>,
    pub tmux_pane: Option<String>,
    pub pid: Option<u32>,
    pub host: Option<String>,
    pub role: Option<String>,
    pub mode: Option<String>,
    pub model: Option<String>,
    pub context_percent: Option<f64>,
    pub started_at: Timestamp,
    pub last_seen_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub end_reason: Option<String>,
    /// The id of its oldest open request.
    pub open_request: Option<String>,
    /// A few lines that say what the call of that request would do.
    pub request_reading: Vec<String>,
}

impl AgentView {
    /// Its state, as people see it.
    pub fn activity(&self) -> AgentActivity {
        AgentActivity::from_state(self.state, self.background)
    }
}

/// Selects events.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// Events of this agent.
    pub agent_id: Option<i64>,
    /// Events of agents of this product.
    pub product: Option<String>,
    /// Events of this project.
    pub project_id: Option<i64>,
    /// Events of a session with an id that has this prefix.
    pub session: Option<String>,
    /// Events with this canonical name.
    pub event: Option<String>,
    /// Events of this tool; ASCII case is ignored.
    pub tool: Option<String>,
    /// Events with this decision: `allow`, `ask` or `block`.
    pub decision: Option<String>,
    /// Events with a verdict of this rule of the guard.
    pub rule: Option<String>,
    /// Events at this time or later.
    pub since: Option<Timestamp>,
    /// Events before this time.
    pub until: Option<Timestamp>,
    /// Events before this one, for the next page.
    pub before_id: Option<i64>,
    /// Events after this one, the oldest first, to follow.
    pub after_id: Option<i64>,
    /// The largest number of results.
    pub limit: u32,
}

/// One event in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogEntry {
    /// Its id in the log.
    pub id: i64,
    /// When it was received.
    pub at: Timestamp,
    /// Its agent.
    pub agent_id: i64,
    /// The agent's product.
    pub product: Option<String>,
    /// The agent's project.
    pub project: String,
    /// The project's id: several projects may have the same name.
    #[serde(skip)]
    pub project_id: i64,
    /// Its session.
    pub session_id: Option<String>,
    /// The event's canonical name.
    pub event: String,
    /// Its tool.
    pub tool: Option<String>,
    /// The summary of the tool call, as one line.
    pub tool_summary: Option<String>,
    /// The duration of the tool call, once it has ended.
    pub tool_duration_ms: Option<f64>,
    /// The decision: `allow`, `ask` or `block`; nothing if there is none.
    pub decision: Option<String>,
    /// The reason.
    pub reason: Option<String>,
    /// The guard's decision if it did not only audit: `ask` or `deny`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<String>,
    /// The agent's state after the event.
    pub state: AgentState,
    /// How the agent was found.
    pub correlation_method: String,
    /// The time that the decision took.
    pub took_us: Option<i64>,
    /// The number of matching hooks.
    pub hooks: i64,
    /// How many of them failed or timed out.
    pub hooks_failed: i64,
    /// The tool's input after a hook changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_input: Option<Value>,
    /// The tool's output after a hook changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_output: Option<Value>,
    /// The texts that the agent got with the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
    /// The agent's payload.
    pub payload: Value,
}

impl LogEntry {
    /// The outcome if the guard did not only audit; nothing if it would be the same.
    pub fn unaudited_outcome(&self) -> Option<GuardOutcome> {
        let would = self.would.as_deref()?;
        Some(GuardOutcome::from_decision(GuardOutcome::Allowed.as_str(), Some(would)))
    }
}

/// The author of a decision to ask or to block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum DecisionAuthor {
    /// A rule of the guard.
    Guard {
        /// The id of the rule.
        rule: String,
    },
    /// A hook.
    Hook {
        /// Its contract.
        contract: String,
        /// Its file.
        source: String,
        /// Its line in the file.
        line: i64,
    },
    /// Snell itself, by its rules for messages or because it could not deliver an answer.
    Snell,
}

/// A session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionView {
    /// Its id.
    pub session_id: String,
    /// The id of its conversation.
    #[serde(skip)]
    pub conversation_id: i64,
    /// Its agent.
    pub agent_id: i64,
    /// Its project.
    pub project_path: String,
    /// All its ids.
    pub session_ids: Vec<String>,
    /// The time of its first event.
    pub started_at: Timestamp,
    /// The time of its last event.
    pub last_seen_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Why it ended.
    pub end_reason: Option<String>,
}

/// One line of an export.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ExportLine {
    /// The session itself, always the first line.
    Session(SessionView),
    /// An event with its hook runs and verdicts.
    Event {
        /// The event.
        #[serde(flatten)]
        event: Box<LogEntry>,
        /// The runs of all matching hooks.
        hook_runs: Vec<HookRunView>,
        /// The guard's verdicts.
        guard_verdicts: Vec<GuardVerdictView>,
    },
    /// A turn.
    Turn(TurnView),
}

/// A turn, as the page and the API show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the table that the design gives")]
pub struct TurnView {
    pub turn_id: i64,
    pub agent_id: i64,
    pub command_id: i64,
    pub actor: TurnActor,
    pub intent: TurnIntent,
    pub text: String,
    pub timestamp: Timestamp,
    pub timestamp_source: TimestampSource,
}

/// The run of one hook.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of `snell run`'s result")]
pub struct HookRunView {
    pub contract: String,
    pub source: String,
    pub line: i64,
    pub command: String,
    pub matcher: Option<String>,
    pub status: String,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub duration_us: i64,
    pub stdout: String,
    pub stderr: String,
    pub why: Option<String>,
}

/// A verdict of the guard. `would` is its decision if it did not only audit; or `ask`, if the user could not be asked
/// and the call was denied.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the guard's judgement")]
pub struct GuardVerdictView {
    pub decision: String,
    pub would: Option<String>,
    pub rule: String,
    pub tier: String,
    pub reason: String,
    pub advice: Option<String>,
    /// Whether it is about the input after a hook changed it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_changed_input: bool,
}

/// A verdict of the guard with its call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GuardLogEntry {
    /// Its id.
    pub guard_verdict_id: i64,
    /// Its time.
    pub at: Timestamp,
    /// Its agent.
    pub agent_id: Option<i64>,
    /// The event's id in the log.
    pub event_row: Option<i64>,
    /// Its tool.
    pub tool: Option<String>,
    /// The agent's payload.
    pub payload: Value,
    /// The input that was judged, if a hook had changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_input: Option<Value>,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: GuardVerdictView,
}

/// The statistics of one hook.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HookStats {
    /// Its id in the database.
    #[serde(skip)]
    pub hook_id: i64,
    /// Its contract.
    pub contract: String,
    /// The file that configures it.
    pub source: String,
    /// The line in that file.
    pub line: i64,
    /// Its command.
    pub command: String,
    /// How often it ran.
    pub runs: i64,
    /// How often it failed.
    pub failures: i64,
    /// How often it timed out.
    pub timeouts: i64,
    /// How often it blocked.
    pub blocks: i64,
    /// The median duration.
    pub p50_ms: f64,
    /// The 95th percentile of the durations.
    pub p95_ms: f64,
    /// The longest duration.
    pub max_ms: f64,
    /// The total duration.
    pub total_ms: f64,
    /// When it last ran.
    pub last_run_at: Timestamp,
}

/// The latest events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventActivity {
    /// The number of new events.
    pub events: u64,
    /// The id of the newest event; 0 if there is none.
    pub last_row: i64,
    /// The latest time among the newest events.
    pub last_at: Option<Timestamp>,
    /// The newest event's name.
    pub last_event: Option<String>,
}

/// A hook with runs that failed or timed out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedHook {
    /// The file that configures it.
    pub source: String,
    /// The line in that file.
    pub line: i64,
    /// How many runs failed.
    pub runs: i64,
    /// The time of the last one.
    pub last_at: Timestamp,
    /// The status of the last one: `failed` or `timed_out`.
    pub last_status: String,
    /// The exit code of the last one.
    pub last_exit_code: Option<i64>,
    /// Why the last one failed.
    pub last_why: Option<String>,
}

/// The totals of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreTotals {
    /// Events.
    pub events: i64,
    /// Events that were blocked.
    pub blocked: i64,
    /// Turns.
    pub turns: i64,
    /// Runs of hooks.
    pub hook_runs: i64,
    /// Projects.
    pub projects: i64,
    /// Agents by activity, in the order of [`AgentActivity::ALL`].
    #[serde(serialize_with = "serialize_agent_counts")]
    pub agents: Vec<(AgentActivity, i64)>,
    /// The time of the first stored event.
    pub first_event_at: Option<Timestamp>,
    /// The time of the last one.
    pub last_event_at: Option<Timestamp>,
}

fn serialize_agent_counts<S: serde::Serializer>(
    agents: &[(AgentActivity, i64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(agents.iter().copied())
}

/// The rows that were removed, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PruneCounts {
    /// Events, with their payloads, hook runs and guard verdicts.
    pub events: usize,
    /// Turns.
    pub turns: usize,
    /// Sessions that their agents have left behind.
    pub sessions: usize,
    /// Agents without any rows left, with all their sessions.
    pub agents: usize,
    /// Rows that only belonged to these.
    #[serde(skip)]
    pub(crate) rest: usize,
}

impl std::ops::AddAssign for PruneCounts {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.turns += other.turns;
        self.sessions += other.sessions;
        self.agents += other.agents;
        self.rest += other.rest;
    }
}

impl PruneCounts {
    /// Whether there was nothing to remove.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// The start of a long text.
pub(crate) fn truncate_with_ellipsis(text: &str, at_most: usize) -> String {
    if text.len() <= at_most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(at_most);
    format!("{}…", &text[..end])
}
