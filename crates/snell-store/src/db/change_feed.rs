//! The change feed: one row for each change, written in the transaction that made it.
//!
//! Watchers continue after the last row that they have read. So a watcher that was away misses nothing, and any process
//! may make a change.

use serde::Serialize;
use snell::Timestamp;

use crate::db::agent_activity::BackgroundWork;
use crate::db::model::{
    AgentRow, AgentState, ConversationRow, StateConfidence, StateSource, TimestampSource, TurnActor, TurnRow, words,
};
use crate::derive::intent::TurnIntent;
use crate::record::event_record::{GuardVerdictRecord, HookRunRecord};
use crate::views::query_types::truncate_with_ellipsis;

/// The longest text of an agent on its card.
const MAX_CARD_TEXT_BYTES: usize = 400;

words! {
    /// The kind of a change.
    ChangeKind {
        /// A new turn.
        TurnCreated = "turn_created",
        /// A stored turn with a new time or intent.
        TurnUpdated = "turn_updated",
        /// An agent's state changed.
        StateChanged = "state_changed",
        /// A session's first event.
        SessionCreated = "session_created",
        /// A session ended.
        SessionEnded = "session_ended",
        /// An agent's card shows something new, if only the time of its last event.
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
    /// Its kind.
    pub kind: ChangeKind,
    /// Its agent.
    pub agent_id: i64,
    /// That agent's project.
    pub project_id: i64,
    /// When it happened.
    pub at: Timestamp,
    /// The message to watchers: a JSON object on one line.
    pub data: String,
}

/// The changes that are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChangeRange {
    /// The oldest one; 0 if there is none.
    pub oldest: i64,
    /// The newest one; 0 if there is none.
    pub newest: i64,
}

/// A change to store.
#[derive(Clone, Debug)]
pub(crate) struct NewChange<'a> {
    pub(crate) kind: ChangeKind,
    pub(crate) agent_id: i64,
    pub(crate) project_id: i64,
    pub(crate) at: Timestamp,
    pub(crate) data: ChangePayload<'a>,
}

/// The message to watchers, by kind.
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

/// Declares a message to watchers: a struct, and the function that fills it, field by field.
macro_rules! payload {
    ($name:ident from ($($argument:ident: $argument_type:ty),+) {
        $($(#[$on:meta])* $field:ident: $type:ty = $value:expr),+ $(,)?
    }) => {
        #[derive(Clone, Debug, Serialize)]
        pub(crate) struct $name<'a> {
            $($(#[$on])* $field: $type,)+
        }

        impl<'a> $name<'a> {
            pub(crate) fn new($($argument: $argument_type),+) -> Self {
                Self { $($field: $value),+ }
            }
        }
    };
}

payload! {
    TurnPayload from (turn: &'a TurnRow, project_id: i64) {
        agent_id: i64 = turn.agent_id,
        project_id: i64 = project_id,
        turn_id: i64 = turn.turn_id,
        command_id: i64 = turn.command_id,
        actor: TurnActor = turn.actor,
        intent: TurnIntent = turn.intent,
        text: &'a str = &turn.text,
        timestamp: Timestamp = turn.timestamp,
        timestamp_source: TimestampSource = turn.timestamp_source,
    }
}

payload! {
    StatePayload from (agent: &'a AgentRow, before: Option<AgentState>, turn: Option<(i64, Timestamp)>, at: Timestamp) {
        agent_id: i64 = agent.agent_id,
        project_id: i64 = agent.project_id,
        session_id: Option<&'a str> = agent.session_id.as_deref(),
        previous_state: Option<AgentState> = before,
        state: AgentState = agent.state,
        state_since: Timestamp = agent.state_since,
        state_source: StateSource = agent.state_source,
        confidence: StateConfidence = agent.confidence,
        why: &'a str = &agent.why,
        background: Option<BackgroundWork> = agent.background,
        current_tool: Option<&'a str> = agent.current_tool.as_deref(),
        end_reason: Option<&'a str> = agent.end_reason.as_deref(),
        /// The time of its turn, else of the change. Watchers sort by it.
        timestamp: Timestamp = turn.map_or(at, |(_, at)| at),
        turn_id: Option<i64> = turn.map(|(id, _)| id),
    }
}

payload! {
    SessionCreatedPayload from (conversation: &'a ConversationRow, project_id: i64, at: Timestamp) {
        agent_id: i64 = conversation.agent_id,
        project_id: i64 = project_id,
        session_id: &'a str = &conversation.session_id,
        started_at: Timestamp = conversation.started_at,
        timestamp: Timestamp = at,
    }
}

payload! {
    SessionEndedPayload from (conversation: &'a ConversationRow, project_id: i64, at: Timestamp) {
        agent_id: i64 = conversation.agent_id,
        project_id: i64 = project_id,
        session_id: &'a str = &conversation.session_id,
        ended_at: Option<Timestamp> = conversation.ended_at,
        end_reason: Option<&'a str> = conversation.end_reason.as_deref(),
        timestamp: Timestamp = at,
    }
}

payload! {
    CardPayload from (
        agent: &'a AgentRow, status_text: Option<&str>, reason: &'a str, message: Option<&str>, at: Timestamp
    ) {
        agent_id: i64 = agent.agent_id,
        project_id: i64 = agent.project_id,
        /// The event, or another cause of the change.
        reason: &'a str = reason,
        /// The message about the session that came with it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String> = message.map(shorten_card_text),
        session_id: Option<&'a str> = agent.session_id.as_deref(),
        state: AgentState = agent.state,
        state_since: Timestamp = agent.state_since,
        background: Option<BackgroundWork> = agent.background,
        silent_since: Option<Timestamp> = agent.silent_since,
        current_tool: Option<&'a str> = agent.current_tool.as_deref(),
        last_words: Option<String> = agent.last_words.as_deref().map(shorten_card_text),
        /// The agent's own report of its work.
        status_text: Option<String> = status_text.map(shorten_card_text),
        context_percent: Option<f64> = agent.context_percent,
        last_seen_at: Timestamp = agent.last_seen_at,
        timestamp: Timestamp = at,
    }
}

fn shorten_card_text(words: &str) -> String {
    truncate_with_ellipsis(words, MAX_CARD_TEXT_BYTES)
}

payload! {
    HookRunPayload from (run: &'a HookRunRecord, agent: (i64, i64), event: &'a str, at: Timestamp) {
        agent_id: i64 = agent.0,
        project_id: i64 = agent.1,
        event: &'a str = event,
        contract: &'a str = &run.contract,
        source: &'a str = &run.source,
        line: u32 = run.line,
        command: &'a str = &run.command,
        status: &'a str = run.status_word(),
        exit_code: Option<i32> = run.exit_code,
        signal: Option<i32> = run.signal,
        duration_ms: f64 = run.duration_us as f64 / 1000.0,
        why: Option<&'a str> = run.why.as_deref(),
        timestamp: Timestamp = at,
    }
}

payload! {
    GuardVerdictPayload from (verdict: &'a GuardVerdictRecord, agent: (i64, i64), event: &'a str, at: Timestamp) {
        agent_id: i64 = agent.0,
        project_id: i64 = agent.1,
        event: &'a str = event,
        decision: &'a str = verdict.decision_word(),
        would: Option<&'a str> = verdict.would_word(),
        rule: &'a str = &verdict.rule,
        tier: &'a str = &verdict.tier,
        reason: &'a str = &verdict.reason,
        advice: Option<&'a str> = verdict.advice.as_deref(),
        timestamp: Timestamp = at,
    }
}
