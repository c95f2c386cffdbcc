//! What changed, as those who watch are told: one row for each change, written in the transaction that made it.
//!
//! Whoever watches reads on from the last row that it has seen, so nothing is missed by a watcher that was away, and it
//! does not matter which process made the change.

use serde::Serialize;
use snell::Timestamp;

use crate::db::model::{AgentRow, AgentState, ConversationRow, StateSource, TurnRow, words};
use crate::record::event_record::{GuardVerdictRecord, HookRunRecord};
use crate::views::query_types::truncate_with_ellipsis;

/// The longest words of an agent that its card shows.
const MAX_CARD_TEXT_BYTES: usize = 400;

words! {
    /// What kind of change it is.
    ChangeKind {
        /// Something was said.
        TurnCreated = "turn_created",
        /// More is known of something that was said.
        TurnUpdated = "turn_updated",
        /// An agent does something else than before.
        StateChanged = "state_changed",
        /// A session was seen for the first time.
        SessionCreated = "session_created",
        /// A session is over.
        SessionEnded = "session_ended",
        /// Something that is shown of an agent is new, if only when it was last heard of.
        CardRefresh = "card_refresh",
        /// A hook ran.
        HookRun = "hook_run",
        /// The guard judged a call.
        GuardVerdict = "guard_verdict",
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRow {
    /// Its number, greater than those of all earlier ones.
    pub id: i64,
    /// What kind it is.
    pub kind: ChangeKind,
    /// The agent that it is about.
    pub agent_id: i64,
    /// That agent's project.
    pub project_id: i64,
    /// When it happened.
    pub at: Timestamp,
    /// What watchers are told: a JSON object on one line.
    pub data: String,
}

/// Which changes are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeRange {
    /// The oldest one; 0 if there is none.
    pub oldest: i64,
    /// The newest one; 0 if there is none.
    pub newest: i64,
}

/// A change that is about to be kept.
#[derive(Clone, Debug)]
pub(crate) struct NewChange<'a> {
    pub(crate) kind: ChangeKind,
    pub(crate) agent_id: i64,
    pub(crate) project_id: i64,
    pub(crate) at: Timestamp,
    pub(crate) data: ChangePayload<'a>,
}

/// What watchers are told, by kind.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ChangePayload<'a> {
    Turn(TurnPayload<'a>),
    State(StatePayload<'a>),
    SessionCreated(SessionCreatedPayload<'a>),
    SessionEnded(SessionEndedPayload<'a>),
    Card(CardPayload<'a>),
    Run(HookRunPayload<'a>),
    Verdict(GuardVerdictPayload<'a>),
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct TurnPayload<'a> {
    agent_id: i64,
    project_id: i64,
    turn_id: i64,
    command_id: i64,
    actor: &'static str,
    intent: &'static str,
    text: &'a str,
    timestamp: Timestamp,
    timestamp_source: &'static str,
}

impl<'a> TurnPayload<'a> {
    pub(crate) fn from_turn(turn: &'a TurnRow, project_id: i64) -> Self {
        Self {
            agent_id: turn.agent_id,
            project_id,
            turn_id: turn.turn_id,
            command_id: turn.command_id,
            actor: turn.actor.as_str(),
            intent: turn.intent.as_str(),
            text: &turn.text,
            timestamp: turn.timestamp,
            timestamp_source: turn.timestamp_source.as_str(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct StatePayload<'a> {
    agent_id: i64,
    project_id: i64,
    session_id: Option<&'a str>,
    previous_state: Option<AgentState>,
    state: AgentState,
    state_since: Timestamp,
    state_source: StateSource,
    confidence: &'static str,
    why: &'a str,
    current_tool: Option<&'a str>,
    end_reason: Option<&'a str>,
    /// When the turn was that goes with it, else when it happened: by this, watchers put things in order.
    timestamp: Timestamp,
    turn_id: Option<i64>,
}

impl<'a> StatePayload<'a> {
    pub(crate) fn from_agent(
        agent: &'a AgentRow,
        before: Option<AgentState>,
        turn: Option<(i64, Timestamp)>,
        at: Timestamp,
    ) -> Self {
        Self {
            agent_id: agent.agent_id,
            project_id: agent.project_id,
            session_id: agent.session_id.as_deref(),
            previous_state: before,
            state: agent.state,
            state_since: agent.state_since,
            state_source: agent.state_source,
            confidence: agent.confidence.as_str(),
            why: &agent.why,
            current_tool: agent.current_tool.as_deref(),
            end_reason: agent.end_reason.as_deref(),
            timestamp: turn.map_or(at, |(_, at)| at),
            turn_id: turn.map(|(id, _)| id),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionCreatedPayload<'a> {
    agent_id: i64,
    project_id: i64,
    session_id: &'a str,
    started_at: Timestamp,
    timestamp: Timestamp,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct SessionEndedPayload<'a> {
    agent_id: i64,
    project_id: i64,
    session_id: &'a str,
    ended_at: Option<Timestamp>,
    end_reason: Option<&'a str>,
    timestamp: Timestamp,
}

impl<'a> SessionCreatedPayload<'a> {
    pub(crate) fn from_conversation(conversation: &'a ConversationRow, project_id: i64, at: Timestamp) -> Self {
        Self {
            agent_id: conversation.agent_id,
            project_id,
            session_id: &conversation.session_id,
            started_at: conversation.started_at,
            timestamp: at,
        }
    }
}

impl<'a> SessionEndedPayload<'a> {
    pub(crate) fn from_conversation(conversation: &'a ConversationRow, project_id: i64, at: Timestamp) -> Self {
        Self {
            agent_id: conversation.agent_id,
            project_id,
            session_id: &conversation.session_id,
            ended_at: conversation.ended_at,
            end_reason: conversation.end_reason.as_deref(),
            timestamp: at,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct CardPayload<'a> {
    agent_id: i64,
    project_id: i64,
    /// The event, or what else made it new.
    reason: &'a str,
    /// What somebody said about the session with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    session_id: Option<&'a str>,
    state: AgentState,
    state_since: Timestamp,
    current_tool: Option<&'a str>,
    last_words: Option<String>,
    /// What the agent says that it is working on.
    status_text: Option<String>,
    context_percent: Option<f64>,
    last_seen_at: Timestamp,
    timestamp: Timestamp,
}

impl<'a> CardPayload<'a> {
    pub(crate) fn from_agent(
        agent: &'a AgentRow,
        status_text: Option<&str>,
        reason: &'a str,
        message: Option<&str>,
        at: Timestamp,
    ) -> Self {
        let in_brief = |words: &str| truncate_with_ellipsis(words, MAX_CARD_TEXT_BYTES);
        Self {
            agent_id: agent.agent_id,
            project_id: agent.project_id,
            reason,
            message: message.map(in_brief),
            session_id: agent.session_id.as_deref(),
            state: agent.state,
            state_since: agent.state_since,
            current_tool: agent.current_tool.as_deref(),
            last_words: agent.last_words.as_deref().map(in_brief),
            status_text: status_text.map(in_brief),
            context_percent: agent.context_percent,
            last_seen_at: agent.last_seen_at,
            timestamp: at,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct HookRunPayload<'a> {
    agent_id: i64,
    project_id: i64,
    event: &'a str,
    contract: &'a str,
    source: &'a str,
    line: u32,
    command: &'a str,
    status: &'a str,
    exit_code: Option<i32>,
    signal: Option<i32>,
    duration_ms: f64,
    why: Option<&'a str>,
    timestamp: Timestamp,
}

impl<'a> HookRunPayload<'a> {
    pub(crate) fn from_run(run: &'a HookRunRecord, agent: (i64, i64), event: &'a str, at: Timestamp) -> Self {
        Self {
            agent_id: agent.0,
            project_id: agent.1,
            event,
            contract: &run.contract,
            source: &run.source,
            line: run.line,
            command: &run.command,
            status: &run.status,
            exit_code: run.exit_code,
            signal: run.signal,
            duration_ms: run.duration_us as f64 / 1000.0,
            why: run.why.as_deref(),
            timestamp: at,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct GuardVerdictPayload<'a> {
    agent_id: i64,
    project_id: i64,
    event: &'a str,
    decision: &'a str,
    would: Option<&'a str>,
    rule: &'a str,
    tier: &'a str,
    reason: &'a str,
    advice: Option<&'a str>,
    timestamp: Timestamp,
}

impl<'a> GuardVerdictPayload<'a> {
    pub(crate) fn from_verdict(
        verdict: &'a GuardVerdictRecord,
        agent: (i64, i64),
        event: &'a str,
        at: Timestamp,
    ) -> Self {
        Self {
            agent_id: agent.0,
            project_id: agent.1,
            event,
            decision: &verdict.decision,
            would: verdict.would.as_deref(),
            rule: &verdict.rule,
            tier: &verdict.tier,
            reason: &verdict.reason,
            advice: verdict.advice.as_deref(),
            timestamp: at,
        }
    }
}
