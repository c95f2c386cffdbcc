//! Queries about sessions, and reports that are no events of an agent: the status of a session, its pings, and its
//! workers.

use serde::Serialize;
use serde_json::{Map, Value};
use snell::{Event, Timestamp, reveal_invisible_chars};

use crate::db::journal::Journal;
use crate::db::model::{
    AgentRow, AgentState, ConversationRow, CorrelationMethod, ProcessIdentity, to_stored_precision,
};
use crate::db::rows::{EventRow, Rows};
use crate::error::Result;
use crate::record::event_record::EventRecord;
use crate::record::masked_record::MaskedRecord;
use crate::record::text_limits::sanitize_text_within;
use crate::store::Store;

/// Longer statuses are truncated.
const MAX_STATUS_BYTES: usize = 1024;

/// The names of these reports in the log.
const STATUS_EVENT: &str = "Status";
const PING_EVENT: &str = "Ping";

/// A session as the view `sessions` shows it, column by column.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the view")]
pub struct SessionRow {
    #[serde(skip)]
    pub conversation_id: i64,
    pub session_id: String,
    pub role: Option<String>,
    pub mode: Option<String>,
    pub current_state: String,
    pub last_seen_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    pub end_reason: Option<String>,
    pub tmux_pane: Option<String>,
    pub context_warning_level: i64,
    pub mission_execution_id: Option<String>,
    pub status_text: Option<String>,
    pub started_at: Timestamp,
    pub agent_id: i64,
    pub project_path: String,
    pub context_percent: Option<f64>,
    pub model: Option<String>,
    pub permission_mode: Option<String>,
    pub status_set_at: Option<Timestamp>,
    pub pinged_at: Option<Timestamp>,
    pub current_tool: Option<String>,
}

/// Selects sessions.
#[derive(Clone, Debug, Default)]
pub struct SessionFilter {
    /// Only this session.
    pub conversation_id: Option<i64>,
    /// Only sessions of this agent.
    pub agent_id: Option<i64>,
    /// Also sessions that ended.
    pub ended_too: bool,
    /// The largest number of results; all if not set.
    pub limit: Option<u32>,
}

/// An open session on this host, and the location of its agent.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenSession {
    /// The session.
    pub row: SessionRow,
    /// Its agent's process.
    pub process: Option<ProcessIdentity>,
    /// Its agent's last tmux pane.
    pub tmux_pane: Option<String>,
    /// The socket of that pane's tmux server.
    pub tmux_server: Option<String>,
}

/// The location of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentLocation {
    /// Its id.
    pub agent_id: i64,
    /// The id of its session.
    pub conversation_id: Option<i64>,
    /// Its state.
    pub state: AgentState,
    /// The time of the last change of state.
    pub state_since: Timestamp,
    /// The reason for the state, in words.
    pub why: String,
    /// Its host.
    pub host: Option<String>,
    /// Whether that is this host, as far as known.
    pub is_here: bool,
    /// Its last tmux pane.
    pub tmux_pane: Option<String>,
    /// The socket of that pane's tmux server.
    pub tmux_server: Option<String>,
    /// Its process.
    pub process: Option<ProcessIdentity>,
    /// Whether that process is certain: a process that was seen once may be a wrapper.
    pub process_is_certain: bool,
}

/// A mission of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MissionView {
    /// Its id.
    pub mission_execution_id: String,
    /// The time when the session started it.
    pub linked_at: Option<Timestamp>,
}

impl Store {
    /// The mission of a session, if it has one.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn find_session_mission(&mut self, session: &SessionRow) -> Result<Option<MissionView>> {
        match &session.mission_execution_id {
            None => Ok(None),
            Some(mission) => self.find_mission(mission).map(Some),
        }
    }

    /// The current sessions of agents on this host that have not ended, the one with the latest event first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn list_local_open_sessions(&mut self) -> Result<Vec<OpenSession>> {
        let mut agents = self.read_rows(&mut |rows| rows.list_live_agents())?;
        agents.retain(|agent| self.is_local_agent(agent));
        let rows = self.list_sessions(&SessionFilter::default())?;
        let of_agent = |row: SessionRow| {
            let is_current = |agent: &&AgentRow| agent.conversation_id == Some(row.conversation_id);
            let agent = agents.iter().find(is_current)?;
            Some(OpenSession {
                row,
                process: agent.process,
                tmux_pane: agent.tmux_pane.clone(),
                tmux_server: agent.tmux_server.clone(),
            })
        };
        Ok(rows.into_iter().filter_map(of_agent).collect())
    }

    /// The location of an agent; nothing if there is no such agent.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn find_agent_location(&mut self, agent_id: i64) -> Result<Option<AgentLocation>> {
        let agent = self.read_rows(&mut |rows| rows.find_agent(agent_id))?;
        Ok(agent.map(|agent| AgentLocation {
            agent_id,
            conversation_id: agent.conversation_id,
            state: agent.state,
            state_since: agent.state_since,
            is_here: self.is_local_agent(&agent),
            why: agent.why,
            host: agent.host,
            tmux_pane: agent.tmux_pane,
            tmux_server: agent.tmux_server,
            process: agent.process,
            process_is_certain: agent.process_is_certain,
        }))
    }

    /// Sets or clears the status of a session. Returns the text as it is stored: on one line, masked and truncated.
    ///
    /// # Errors
    ///
    /// When there is no such session, or the database cannot be written.
    pub fn set_status(&mut self, conversation_id: i64, text: Option<&str>, at: Timestamp) -> Result<Option<String>> {
        let text = text.map(|text| to_visible_line(&sanitize_text_within(text, MAX_STATUS_BYTES)));
        self.record_session_message(STATUS_EVENT, conversation_id, text.as_deref(), at, |conversation, at| {
            conversation.status_text.clone_from(&text);
            conversation.status_set_at = text.is_some().then_some(at);
        })?;
        Ok(text)
    }

    /// Stores a ping of a session, with its message.
    ///
    /// # Errors
    ///
    /// When there is no such session, or the database cannot be written.
    pub fn record_ping(&mut self, conversation_id: i64, message: Option<&str>, at: Timestamp) -> Result<()> {
        self.record_session_message(PING_EVENT, conversation_id, message, at, |conversation, at| {
            conversation.pinged_at = Some(at);
        })
    }

    /// Stores a report as an event of the session, with its changes. It is no event of the agent: the agent's state
    /// does not change, and an ended agent stays ended.
    fn record_session_message(
        &mut self,
        event: &str,
        conversation_id: i64,
        message: Option<&str>,
        at: Timestamp,
        change: impl Fn(&mut ConversationRow, Timestamp),
    ) -> Result<()> {
        let at = to_stored_precision(at);
        self.run_transaction(event, at, &mut |journal| {
            let mut conversation = journal.require_conversation(conversation_id)?;
            let record = build_session_event(event, &conversation.session_id, message, at)?;
            insert_session_event(journal, &conversation, &record)?;
            journal.set_message(record.payload.get("message").and_then(Value::as_str));
            change(&mut conversation, at);
            journal.save_conversation(&mut conversation)?;
            journal.refresh_card(conversation.agent_id)
        })
    }
}

/// The report as an event, masked and truncated.
fn build_session_event(event: &str, session_id: &str, message: Option<&str>, at: Timestamp) -> Result<MaskedRecord> {
    let mut payload = Map::new();
    payload.insert("session_id".into(), session_id.into());
    if let Some(message) = message {
        payload.insert("message".into(), message.into());
    }
    let (event, _) = Event::from_object(Some(event), payload)?;
    Ok(EventRecord::new(&event, at).into())
}

fn insert_session_event(journal: &mut Journal<'_>, conversation: &ConversationRow, record: &EventRecord) -> Result<()> {
    let agent = journal.find_agent(conversation.agent_id)?;
    let state = agent.map_or(AgentState::Ended, |agent| agent.state);
    journal.insert_event(&EventRow {
        event_id: &record.event_id,
        agent_id: conversation.agent_id,
        conversation_id: Some(conversation.conversation_id),
        name: &record.event,
        tool: None,
        tool_use_id: None,
        decision: None,
        reason: None,
        changed_input: None,
        changed_output: None,
        added_context: None,
        state,
        correlation: CorrelationMethod::DbSessionId,
        at: record.at,
        took_us: None,
        tool_summary: None,
        tool_us: None,
        ends: None,
        error: None,
        payload: &Value::Object(record.payload.clone()).to_string(),
        input: None,
    })?;
    Ok(())
}

/// A text on one line: line breaks become blanks, and other invisible characters become escapes.
fn to_visible_line(text: &str) -> String {
    let parts: Vec<_> = text.split(['\n', '\r', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect();
    reveal_invisible_chars(&parts.join(" ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_stay_on_one_line() {
        let rows = [
            ("  build the\r\n\tthing ", "build the thing"),
            ("a\u{2028}b\u{1b}[2Jc", "a\\u{2028}b\\u{1b}[2Jc"),
            ("\n \t", ""),
            ("as it is", "as it is"),
        ];
        for (text, expected) in rows {
            assert_eq!(to_visible_line(text), expected, "{text:?}");
        }
    }
}
