//! The operations that the store needs from a database: read and write single rows inside one transaction.
//!
//! Correlation, states and turns are implemented above this trait, once for all databases.

use serde_json::Value;
use snell::Timestamp;

use crate::db::change_feed::NewChange;
use crate::db::dispatches::NewDispatch;
use crate::db::model::{AgentRow, AgentState, ConversationRow, CorrelationMethod, SightingRow, TurnRow};
use crate::db::open_calls::{ComparableCall, EndedCall};
use crate::db::workers::WorkerRows;
use crate::error::Result;
use crate::record::event_record::{FinishedHookRun, GuardVerdictRecord, HookRunRecord};
use crate::requests::RequestRows;

/// A known session id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionBinding {
    pub(crate) conversation_id: i64,
    pub(crate) agent_id: i64,
}

/// How far the transcript of a session has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TranscriptProgress {
    pub(crate) path: Option<String>,
    pub(crate) cursor: Option<String>,
    /// The tool calls in it without a result, as JSON.
    pub(crate) open_calls: Option<String>,
}

/// An event as it is stored.
#[derive(Clone, Debug)]
pub(crate) struct EventRow<'a> {
    pub(crate) event_id: &'a str,
    pub(crate) agent_id: i64,
    pub(crate) conversation_id: Option<i64>,
    pub(crate) name: &'a str,
    pub(crate) tool: Option<&'a str>,
    pub(crate) tool_use_id: Option<&'a str>,
    pub(crate) tool_summary: Option<&'a str>,
    pub(crate) tool_us: Option<u64>,
    /// The event that began the call which this one ends, if calls have no ids.
    pub(crate) ends: Option<i64>,
    /// Why the call failed.
    pub(crate) error: Option<&'a str>,
    pub(crate) decision: Option<&'a str>,
    pub(crate) reason: Option<&'a str>,
    /// The tool's input after a hook changed it, as JSON.
    pub(crate) changed_input: Option<&'a str>,
    pub(crate) state: AgentState,
    pub(crate) correlation: CorrelationMethod,
    pub(crate) at: Timestamp,
    pub(crate) took_us: Option<u64>,
    pub(crate) added_context: Option<&'a str>,
    pub(crate) changed_output: Option<&'a str>,
    pub(crate) payload: &'a str,
    /// The tool's input in it.
    pub(crate) input: Option<&'a Value>,
}

/// A call without an id that has begun and not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenToolCall {
    /// The event that began it.
    pub(crate) event_row: i64,
    pub(crate) began: Timestamp,
    pub(crate) payload: String,
    /// The input after a hook changed it.
    pub(crate) changed_input: Option<String>,
}

/// The owner of a hook run or a guard verdict.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventReference<'a> {
    /// The event's row; none for a hook that ended long after its event.
    pub(crate) event_row: Option<i64>,
    pub(crate) agent_id: Option<i64>,
    pub(crate) event: &'a str,
    pub(crate) at: Timestamp,
}

/// The owner of a background hook run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookRunOwner {
    pub(crate) agent_id: i64,
}

/// Single rows, read and written inside one transaction.
pub(crate) trait Rows: WorkerRows + RequestRows {
    /// Whether another connection has written since the last call. A database that cannot know answers `true`.
    fn has_external_writes(&mut self) -> Result<bool>;

    fn find_session_binding(&mut self, session_id: &str) -> Result<Option<SessionBinding>>;
    /// Binds this session id to the conversation.
    fn bind_session_id(&mut self, session_id: &str, conversation_id: i64) -> Result<()>;
    fn list_session_ids(&mut self, conversation_id: i64) -> Result<Vec<String>>;

    fn find_agent(&mut self, agent_id: i64) -> Result<Option<AgentRow>>;
    /// The latest agent with this id from its launcher.
    fn find_agent_by_headspace(&mut self, headspace_session_id: &str) -> Result<Option<AgentRow>>;
    /// Agents in this pane that have not ended, the latest first.
    fn list_agents_on_pane(&mut self, pane: &str) -> Result<Vec<AgentRow>>;
    /// Agents of this project that have not ended, the latest first.
    fn list_agents_in_project(&mut self, project_id: i64) -> Result<Vec<AgentRow>>;
    /// All agents that have not ended.
    fn list_live_agents(&mut self) -> Result<Vec<AgentRow>>;
    /// Writes the agent, and sets its id if it is new.
    fn save_agent(&mut self, agent: &mut AgentRow) -> Result<()>;
    /// Writes the changed columns of a stored agent.
    fn update_agent(&mut self, agent: &AgentRow, stored: &AgentRow) -> Result<()>;
    /// The id of the project at this path, which is created if it is new.
    fn find_or_create_project(&mut self, path: &str, name: &str, now: Timestamp) -> Result<i64>;
    /// The path of a project.
    fn find_project_path(&mut self, project_id: i64) -> Result<Option<String>>;

    fn find_conversation(&mut self, conversation_id: i64) -> Result<Option<ConversationRow>>;
    /// Writes the conversation, and sets its id if it is new.
    fn save_conversation(&mut self, conversation: &mut ConversationRow) -> Result<()>;
    /// Conversations on this pane that have not ended.
    fn list_conversations_on_pane(&mut self, pane: &str) -> Result<Vec<ConversationRow>>;
    fn link_mission(&mut self, mission_execution_id: &str, session_id: &str, at: Timestamp) -> Result<()>;

    fn load_transcript_progress(&mut self, session_id: &str) -> Result<TranscriptProgress>;
    fn save_transcript_progress(&mut self, session_id: &str, reached: &TranscriptProgress) -> Result<()>;

    fn open_command(&mut self, agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> Result<i64>;
    fn close_command(&mut self, command_id: i64, at: Timestamp) -> Result<()>;
    /// The last stored turn of a command.
    fn find_last_stored_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>>;
    /// The turn of a command with the latest time.
    fn find_latest_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>>;
    /// Turns of the agent with this text, the latest first.
    fn find_turns_by_hash(&mut self, agent_id: i64, content_hash: i64) -> Result<Vec<TurnRow>>;
    /// Writes the turn, and sets its id if it is new.
    fn save_turn(&mut self, turn: &mut TurnRow) -> Result<()>;

    /// The agent of the event with this id, if that is stored.
    fn find_event_agent(&mut self, event_id: &str) -> Result<Option<i64>>;
    /// Payloads of a conversation's events with this name and tool call id.
    fn list_tool_event_payloads(&mut self, conversation_id: i64, name: &str, tool_use_id: &str) -> Result<Vec<String>>;
    /// The last start of the call with this id before this time.
    fn find_tool_start(
        &mut self,
        conversation_id: i64,
        tool_use_id: &str,
        before: Timestamp,
    ) -> Result<Option<Timestamp>>;
    /// An agent's calls of a tool without ids that began in its current turn and have not ended, the earliest first.
    fn list_open_tool_calls(&mut self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenToolCall>>;
    /// The event that began the call which has ended, and its time.
    fn find_ended_call(&mut self, end: &EndedCall<'_>) -> Result<Option<(i64, Timestamp)>> {
        let calls = self.list_open_tool_calls(end.agent_id, end.conversation_id, end.tool)?;
        let found = calls.into_iter().map(ComparableCall::from).find(|call| call.is_ended_by(end));
        Ok(found.map(|call| (call.event_row, call.began)))
    }
    /// The summary of the agent's last call of this tool, among its newest events.
    fn find_last_call_summary(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>>;
    /// Stores an event, and returns its row.
    fn insert_event(&mut self, event: &EventRow<'_>) -> Result<i64>;
    fn insert_hook_run(&mut self, owner: EventReference<'_>, run: &HookRunRecord) -> Result<()>;
    /// Stores the result of a background hook run, if the run is known.
    fn finish_hook_run(&mut self, finished: &FinishedHookRun) -> Result<Option<HookRunOwner>>;
    /// Whether the agent's earlier `PreToolUse` event of the same call has the same verdict, since this time. The event is stored.
    fn repeats_guard_verdict(
        &mut self,
        owner: EventReference<'_>,
        verdict: &GuardVerdictRecord,
        since: Timestamp,
    ) -> Result<bool>;
    fn insert_guard_verdict(&mut self, owner: EventReference<'_>, verdict: &GuardVerdictRecord) -> Result<()>;
    /// Stores a change of state without an event.
    fn insert_sighting(&mut self, sighting: &SightingRow<'_>) -> Result<()>;
    /// Stores a change that hooks and notices react to.
    fn insert_dispatch(&mut self, dispatch: &NewDispatch<'_>) -> Result<()>;
    /// Adds a change to the feed.
    fn insert_change(&mut self, change: &NewChange<'_>) -> Result<()>;
}
