//! What can be asked of the store, and what it answers.

use serde::Serialize;
use serde_json::Value;
use snell::Timestamp;

use crate::db::model::{AgentState, StateConfidence, StateSource, TimestampSource, TurnActor};
use crate::derive::intent::TurnIntent;
use crate::views::rollups::GuardOutcome;

/// Which agents.
#[derive(Clone, Debug, Default)]
pub struct AgentFilter {
    /// Only this one.
    pub agent_id: Option<i64>,
    /// Ended ones too, if they ended after this.
    pub ended_after: Option<Timestamp>,
    /// Only those of this project.
    pub project_id: Option<i64>,
    /// Only those in this state.
    pub state: Option<AgentState>,
    /// Only those after this one in the order of the list, to page on.
    pub after: Option<(Timestamp, i64)>,
    /// At most so many; all of them if it is not said.
    pub limit: Option<u32>,
}

/// Which turns.
#[derive(Clone, Debug, Default)]
pub struct TurnFilter {
    /// Of this agent.
    pub agent_id: i64,
    /// Before this one, to page on.
    pub before_id: Option<i64>,
    /// After this one, the oldest first, to follow.
    pub after_id: Option<i64>,
    /// Only what this one said.
    pub actor: Option<TurnActor>,
    /// At most so many.
    pub limit: u32,
}

/// Which of the guard's verdicts.
#[derive(Clone, Debug, Default)]
pub struct GuardFilter {
    /// About this agent.
    pub agent_id: Option<i64>,
    /// By this rule.
    pub rule: Option<String>,
    /// Of this gravity.
    pub tier: Option<String>,
    /// Of which this came.
    pub outcome: Option<GuardOutcome>,
    /// Before this one, to page on.
    pub before_id: Option<i64>,
    /// At most so many.
    pub limit: u32,
}

/// An agent as people and programs see it.
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
}

/// Which events.
#[derive(Clone, Debug, Default)]
pub struct LogFilter {
    /// Of this agent.
    pub agent_id: Option<i64>,
    /// Of agents of this project.
    pub project_id: Option<i64>,
    /// Of a session whose id begins like this.
    pub session: Option<String>,
    /// With this canonical name.
    pub event: Option<String>,
    /// About this tool, whether its letters from A to Z are small or not.
    pub tool: Option<String>,
    /// Decided like this: `allow`, `ask` or `block`.
    pub decision: Option<String>,
    /// At this time or later.
    pub since: Option<Timestamp>,
    /// Before this time.
    pub until: Option<Timestamp>,
    /// Before this entry, to page on.
    pub before_id: Option<i64>,
    /// After this entry, the oldest first, to follow.
    pub after_id: Option<i64>,
    /// At most so many.
    pub limit: u32,
}

/// One event in the log.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogEntry {
    /// Its number in the log.
    pub id: i64,
    /// When it was received.
    pub at: Timestamp,
    /// The agent.
    pub agent_id: i64,
    /// The agent's project.
    pub project: String,
    /// Its number, by which it is told from others of that name.
    #[serde(skip)]
    pub project_id: i64,
    /// The session.
    pub session_id: Option<String>,
    /// The event's canonical name.
    pub event: String,
    /// The tool it is about.
    pub tool: Option<String>,
    /// What the call of the tool is about, in one line.
    pub tool_summary: Option<String>,
    /// How long the tool took, once it has ended.
    pub tool_duration_ms: Option<f64>,
    /// What was decided: `allow`, `ask` or `block`; nothing if nobody had an opinion.
    pub decision: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// What the guard would have decided if it did not only watch: `ask` or `deny`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would: Option<String>,
    /// The agent's state, once the event had counted.
    pub state: AgentState,
    /// How the agent was found.
    pub correlation_method: String,
    /// How long judging it took.
    pub took_us: Option<i64>,
    /// How many hooks matched.
    pub hooks: i64,
    /// What the tool was given instead of what the agent wanted, if a hook changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_input: Option<Value>,
    /// What the agent is told that the tool answered, if a hook changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_output: Option<Value>,
    /// What the agent was given to read with the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<String>,
    /// What the agent sent.
    pub payload: Value,
}

impl LogEntry {
    /// What would have come of it if the guard did not only watch; nothing if that makes no difference.
    pub fn unaudited_outcome(&self) -> Option<GuardOutcome> {
        let would = self.would.as_deref()?;
        Some(GuardOutcome::from_decision(GuardOutcome::Allowed.as_str(), Some(would)))
    }
}

/// A session as the store knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionView {
    /// The id that it is known by.
    pub session_id: String,
    /// Its number.
    #[serde(skip)]
    pub conversation_id: i64,
    /// Its agent.
    pub agent_id: i64,
    /// Its project.
    pub project_path: String,
    /// Every id that leads to it.
    pub session_ids: Vec<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it was last heard of.
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
    /// The session itself; always the first line.
    Session(SessionView),
    /// An event, with what became of its hooks.
    Event {
        /// The event.
        #[serde(flatten)]
        event: Box<LogEntry>,
        /// Every hook that matched, and what became of it.
        hook_runs: Vec<HookRunView>,
        /// What the guard said.
        guard_verdicts: Vec<GuardVerdictView>,
    },
    /// Something that was said.
    Turn(TurnView),
}

/// A turn as people and programs see it.
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

/// What became of one hook.
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

/// What the guard said. `would` is what it would have decided if it did not only watch; or `ask`, if the user could not be asked
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
    /// Whether it is about what a hook made of the call, rather than about what the agent wanted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub of_changed_input: bool,
}

/// One verdict of the guard, and the call that it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GuardLogEntry {
    /// Its number.
    pub guard_verdict_id: i64,
    /// When.
    pub at: Timestamp,
    /// The agent.
    pub agent_id: Option<i64>,
    /// The event's number in the log.
    pub event_row: Option<i64>,
    /// The tool.
    pub tool: Option<String>,
    /// What the agent sent.
    pub payload: Value,
    /// The input that was judged, if a hook had changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_input: Option<Value>,
    /// What the guard said.
    #[serde(flatten)]
    pub verdict: GuardVerdictView,
}

/// What one hook costs, and how it fares.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct HookStats {
    /// Its number here.
    #[serde(skip)]
    pub hook_id: i64,
    /// The contract it is run under.
    pub contract: String,
    /// The file it is written in.
    pub source: String,
    /// The line there.
    pub line: i64,
    /// What it runs.
    pub command: String,
    /// How often it ran.
    pub runs: i64,
    /// How often it failed.
    pub failures: i64,
    /// How often it took too long.
    pub timeouts: i64,
    /// How often it blocked.
    pub blocks: i64,
    /// Half of its runs took no longer than this.
    pub p50_ms: f64,
    /// 95 of 100 runs took no longer than this.
    pub p95_ms: f64,
    /// None took longer than this.
    pub max_ms: f64,
    /// All runs together.
    pub total_ms: f64,
    /// When it last ran.
    pub last_run_at: Timestamp,
}

/// What was heard of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventActivity {
    /// How many events came since.
    pub events: u64,
    /// The number of the newest event; 0 if there is none.
    pub last_row: i64,
    /// When the latest of the newest events happened.
    pub last_at: Option<Timestamp>,
    /// The newest event's name.
    pub last_event: Option<String>,
}

/// How much there is.
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
    /// Agents by state, in the order of [`AgentState::ALL`].
    #[serde(serialize_with = "serialize_agent_counts")]
    pub agents: Vec<(AgentState, i64)>,
    /// When the first event that is kept was received.
    pub first_event_at: Option<Timestamp>,
    /// When the last one was.
    pub last_event_at: Option<Timestamp>,
}

fn serialize_agent_counts<S: serde::Serializer>(
    agents: &[(AgentState, i64)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(agents.iter().copied())
}

/// What was removed, or would be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PruneCounts {
    /// Events, with their payloads, hook runs and guard verdicts.
    pub events: usize,
    /// Turns.
    pub turns: usize,
    /// Sessions that their agents have left behind.
    pub sessions: usize,
    /// Agents of which nothing is left, with all their sessions.
    pub agents: usize,
    /// What hung on any of these and nobody else.
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
    /// Whether there was nothing left to remove.
    pub fn is_empty(self) -> bool {
        self == Self::default()
    }
}

/// The beginning of a text, if it is long.
pub(crate) fn truncate_with_ellipsis(text: &str, at_most: usize) -> String {
    if text.len() <= at_most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(at_most);
    format!("{}…", &text[..end])
}
