//! What a database must be able to do for the store: read and write single rows inside one transaction.
//!
//! Everything that decides (correlation, states, turns) stands above this trait and is written once. Another database
//! is another implementation of it.

use snell::Timestamp;

use crate::db::change_feed::NewChange;
use crate::db::model::{AgentRow, AgentState, ConversationRow, CorrelationMethod, SightingRow, TurnRow};
use crate::db::workers::WorkerRows;
use crate::error::Result;
use crate::record::event_record::{FinishedHookRun, GuardVerdictRecord, HookRunRecord};

/// A session id that is known.
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
}

/// An event as it is kept.
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
    /// The event that began the call which this one ends, where calls have no ids.
    pub(crate) ends: Option<i64>,
    /// Why the call failed.
    pub(crate) error: Option<&'a str>,
    pub(crate) decision: Option<&'a str>,
    pub(crate) reason: Option<&'a str>,
    /// What the tool was given instead, as JSON.
    pub(crate) changed_input: Option<&'a str>,
    pub(crate) state: AgentState,
    pub(crate) correlation: CorrelationMethod,
    pub(crate) at: Timestamp,
    pub(crate) took_us: Option<u64>,
    pub(crate) added_context: Option<&'a str>,
    pub(crate) changed_output: Option<&'a str>,
    pub(crate) payload: &'a str,
}

/// A call without an id that was begun, and of whose end nothing was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenToolCall {
    /// The event that began it.
    pub(crate) event_row: i64,
    pub(crate) began: Timestamp,
    pub(crate) payload: String,
    /// What a hook made of its input.
    pub(crate) changed_input: Option<String>,
}

/// To whom a hook run or a guard verdict belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventReference<'a> {
    /// The event's row; none for a hook that ended long after its event.
    pub(crate) event_row: Option<i64>,
    pub(crate) agent_id: Option<i64>,
    pub(crate) event: &'a str,
    pub(crate) at: Timestamp,
}

/// A hook that nobody waited for, and that was found among the runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HookRunOwner {
    pub(crate) agent_id: i64,
}

/// Single rows, read and written inside one transaction.
pub(crate) trait Rows: WorkerRows {
    /// Whether somebody else has written since this was last asked. Whoever cannot know that answers `true`.
    fn has_external_writes(&mut self) -> Result<bool>;

    fn find_session_binding(&mut self, session_id: &str) -> Result<Option<SessionBinding>>;
    /// Makes this id lead to the conversation.
    fn bind_session_id(&mut self, session_id: &str, conversation_id: i64) -> Result<()>;
    fn list_session_ids(&mut self, conversation_id: i64) -> Result<Vec<String>>;

    fn find_agent(&mut self, agent_id: i64) -> Result<Option<AgentRow>>;
    /// The latest agent to which its launcher gave this id.
    fn find_agent_by_headspace(&mut self, headspace_session_id: &str) -> Result<Option<AgentRow>>;
    /// Agents in this pane that are not ended, the latest first.
    fn list_agents_on_pane(&mut self, pane: &str) -> Result<Vec<AgentRow>>;
    /// Agents of this project that are not ended, the latest first.
    fn list_agents_in_project(&mut self, project_id: i64) -> Result<Vec<AgentRow>>;
    /// All agents that are not ended.
    fn list_live_agents(&mut self) -> Result<Vec<AgentRow>>;
    /// Writes the agent, and gives it a number if it has none.
    fn save_agent(&mut self, agent: &mut AgentRow) -> Result<()>;
    /// Writes what has changed of an agent that is there already as it was.
    fn update_agent(&mut self, agent: &AgentRow, stored: &AgentRow) -> Result<()>;
    /// The number of the project at this path, which is new if nobody has worked there.
    fn find_or_create_project(&mut self, path: &str, name: &str, now: Timestamp) -> Result<i64>;
    /// The path of a project.
    fn find_project_path(&mut self, project_id: i64) -> Result<Option<String>>;

    fn find_conversation(&mut self, conversation_id: i64) -> Result<Option<ConversationRow>>;
    /// Writes the conversation, and gives it a number if it has none.
    fn save_conversation(&mut self, conversation: &mut ConversationRow) -> Result<()>;
    /// Conversations on this pane that are not ended.
    fn list_conversations_on_pane(&mut self, pane: &str) -> Result<Vec<ConversationRow>>;
    fn link_mission(&mut self, mission_execution_id: &str, session_id: &str, at: Timestamp) -> Result<()>;

    fn load_transcript_progress(&mut self, session_id: &str) -> Result<TranscriptProgress>;
    fn save_transcript_progress(&mut self, session_id: &str, reached: &TranscriptProgress) -> Result<()>;

    fn open_command(&mut self, agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> Result<i64>;
    fn close_command(&mut self, command_id: i64, at: Timestamp) -> Result<()>;
    /// The turn of a command that was stored last.
    fn find_last_stored_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>>;
    /// The turn of a command that has the latest time.
    fn find_latest_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>>;
    /// Turns of the agent that say these words, the latest first.
    fn find_turns_by_hash(&mut self, agent_id: i64, content_hash: i64) -> Result<Vec<TurnRow>>;
    /// Writes the turn, and gives it a number if it has none.
    fn save_turn(&mut self, turn: &mut TurnRow) -> Result<()>;

    /// The agent of the event that has this id, if it is there already.
    fn find_event_agent(&mut self, event_id: &str) -> Result<Option<i64>>;
    /// Payloads of events of this name in this conversation about calls of a tool with this id.
    fn list_tool_event_payloads(&mut self, conversation_id: i64, name: &str, tool_use_id: &str) -> Result<Vec<String>>;
    /// When it was last told before this time that the call with this id begins.
    fn find_tool_start(
        &mut self,
        conversation_id: i64,
        tool_use_id: &str,
        before: Timestamp,
    ) -> Result<Option<Timestamp>>;
    /// Calls of a tool that an agent has begun without an id in its current turn, and that have not ended, the earliest
    /// first.
    fn list_open_tool_calls(&mut self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenToolCall>>;
    /// What the call of this tool is about that an agent has begun last, among its newest events.
    fn find_last_call_summary(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>>;
    /// Keeps an event, and answers its row.
    fn insert_event(&mut self, event: &EventRow<'_>) -> Result<i64>;
    fn insert_hook_run(&mut self, owner: EventReference<'_>, run: &HookRunRecord) -> Result<()>;
    /// Notes how a hook ended that nobody waited for, if it is known.
    fn finish_hook_run(&mut self, finished: &FinishedHookRun) -> Result<Option<HookRunOwner>>;
    fn insert_guard_verdict(&mut self, owner: EventReference<'_>, verdict: &GuardVerdictRecord) -> Result<()>;
    /// Keeps that an agent was seen to do something else than before.
    fn insert_sighting(&mut self, sighting: &SightingRow<'_>) -> Result<()>;
    /// Keeps a change for those who watch.
    fn insert_change(&mut self, change: &NewChange<'_>) -> Result<()>;
}
