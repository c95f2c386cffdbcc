//! What a database must be able to do for the store: read and write single rows inside one transaction.
//!
//! Everything that decides (correlation, states, turns) stands above this trait and is written once. Another database
//! is another implementation of it.

use snell::Timestamp;

use crate::changes::NewChange;
use crate::error::Result;
use crate::model::{Agent, Conversation, Correlation, Sighting, State, Turn};
use crate::observation::{FinishedRun, GuardVerdict, Run};
use crate::workers::WorkerRows;

/// A session id that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) conversation_id: i64,
    pub(crate) agent_id: i64,
}

/// How far the transcript of a session has been read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) path: Option<String>,
    pub(crate) mark: Option<String>,
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
    pub(crate) state: State,
    pub(crate) correlation: Correlation,
    pub(crate) at: Timestamp,
    pub(crate) took_us: Option<u64>,
    pub(crate) told: Option<&'a str>,
    pub(crate) changed_output: Option<&'a str>,
    pub(crate) payload: &'a str,
}

/// A call without an id that was begun, and of whose end nothing was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenCall {
    /// The event that began it.
    pub(crate) event_row: i64,
    pub(crate) began: Timestamp,
    pub(crate) payload: String,
    /// What a hook made of its input.
    pub(crate) changed_input: Option<String>,
}

/// To whom a hook run or a guard verdict belongs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Owner<'a> {
    /// The event's row; none for a hook that ended long after its event.
    pub(crate) event_row: Option<i64>,
    pub(crate) agent_id: Option<i64>,
    pub(crate) event: &'a str,
    pub(crate) at: Timestamp,
}

/// A hook that nobody waited for, and that was found among the runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) agent_id: i64,
}

/// Single rows, read and written inside one transaction.
pub(crate) trait Rows: WorkerRows {
    /// Whether somebody else has written since this was last asked. Whoever cannot know that answers `true`.
    fn others_have_written(&mut self) -> Result<bool>;

    fn known_session(&mut self, session_id: &str) -> Result<Option<Known>>;
    /// Makes this id lead to the conversation.
    fn bind_session_id(&mut self, session_id: &str, conversation_id: i64) -> Result<()>;
    fn session_ids(&mut self, conversation_id: i64) -> Result<Vec<String>>;

    fn agent(&mut self, agent_id: i64) -> Result<Option<Agent>>;
    /// The latest agent to which its launcher gave this id.
    fn agent_of_headspace(&mut self, headspace_session_id: &str) -> Result<Option<Agent>>;
    /// Agents in this pane that are not ended, the latest first.
    fn agents_on_pane(&mut self, pane: &str) -> Result<Vec<Agent>>;
    /// Agents of this project that are not ended, the latest first.
    fn agents_in_project(&mut self, project_id: i64) -> Result<Vec<Agent>>;
    /// All agents that are not ended.
    fn agents_at_work(&mut self) -> Result<Vec<Agent>>;
    /// Writes the agent, and gives it a number if it has none.
    fn save_agent(&mut self, agent: &mut Agent) -> Result<()>;
    /// Writes what has changed of an agent that is there already as it was.
    fn update_agent(&mut self, agent: &Agent, stored: &Agent) -> Result<()>;
    /// The number of the project at this path, which is new if nobody has worked there.
    fn project(&mut self, path: &str, name: &str, now: Timestamp) -> Result<i64>;
    /// The path of a project.
    fn project_path(&mut self, project_id: i64) -> Result<Option<String>>;

    fn conversation(&mut self, conversation_id: i64) -> Result<Option<Conversation>>;
    /// Writes the conversation, and gives it a number if it has none.
    fn save_conversation(&mut self, conversation: &mut Conversation) -> Result<()>;
    /// Conversations on this pane that are not ended.
    fn conversations_on_pane(&mut self, pane: &str) -> Result<Vec<Conversation>>;
    fn link_mission(&mut self, mission_execution_id: &str, session_id: &str, at: Timestamp) -> Result<()>;

    fn reached(&mut self, session_id: &str) -> Result<Reached>;
    fn set_reached(&mut self, session_id: &str, reached: &Reached) -> Result<()>;

    fn open_command(&mut self, agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> Result<i64>;
    fn close_command(&mut self, command_id: i64, at: Timestamp) -> Result<()>;
    /// The turn of a command that was stored last.
    fn last_turn(&mut self, command_id: i64) -> Result<Option<Turn>>;
    /// The turn of a command that has the latest time.
    fn latest_turn(&mut self, command_id: i64) -> Result<Option<Turn>>;
    /// Turns of the agent that say these words, the latest first.
    fn turns_saying(&mut self, agent_id: i64, content_hash: i64) -> Result<Vec<Turn>>;
    /// Writes the turn, and gives it a number if it has none.
    fn save_turn(&mut self, turn: &mut Turn) -> Result<()>;

    /// The agent of the event that has this id, if it is there already.
    fn agent_of_event(&mut self, event_id: &str) -> Result<Option<i64>>;
    /// Payloads of events of this name in this conversation about calls of a tool with this id.
    fn tool_events(&mut self, conversation_id: i64, name: &str, tool_use_id: &str) -> Result<Vec<String>>;
    /// When it was last told before this time that the call with this id begins.
    fn tool_began(&mut self, conversation_id: i64, tool_use_id: &str, before: Timestamp) -> Result<Option<Timestamp>>;
    /// Calls of a tool that an agent has begun without an id in its current turn, and that have not ended, the earliest
    /// first.
    fn open_calls(&mut self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenCall>>;
    /// What the call of this tool is about that an agent has begun last, among its newest events.
    fn begun_call(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>>;
    /// Keeps an event, and answers its row.
    fn keep_event(&mut self, event: &EventRow<'_>) -> Result<i64>;
    fn keep_run(&mut self, owner: Owner<'_>, run: &Run) -> Result<()>;
    /// Notes how a hook ended that nobody waited for, if it is known.
    fn finish_run(&mut self, finished: &FinishedRun) -> Result<Option<Finished>>;
    fn keep_guard_verdict(&mut self, owner: Owner<'_>, verdict: &GuardVerdict) -> Result<()>;
    /// Keeps that an agent was seen to do something else than before.
    fn keep_sighting(&mut self, sighting: &Sighting<'_>) -> Result<()>;
    /// Keeps a change for those who watch.
    fn keep_change(&mut self, change: &NewChange<'_>) -> Result<()>;
}
