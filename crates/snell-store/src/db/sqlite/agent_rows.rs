//! The row of an agent in SQLite.

use rusqlite::{Row, named_params, params};
use snell::Timestamp;

use super::rows::{SqliteTransaction, get_enum, get_optional_enum, get_optional_time, get_time};
use crate::db::model::{AgentRow, AgentState, ContextSource, ProcessIdentity, StateConfidence, StateSource};
use crate::error::Result;

pub(super) const AGENT_COLUMNS: &str = "agent_id, project_id, product, session_id, conversation_id, command_id, state, state_since, \
    state_source, confidence, why, current_tool, tmux_session, tmux_pane, tmux_server, pid, pid_started, pid_certain, host, \
    headspace_session_id, context_percent, context_source, last_words, started_at, last_seen_at, ended_at, end_reason, told_at, \
    context_window";

/// What of an agent is in an index.
pub(super) fn get_indexed_columns(agent: &AgentRow) -> (i64, Option<&str>, Option<Timestamp>, Option<&str>) {
    (agent.project_id, agent.tmux_pane.as_deref(), agent.ended_at, agent.headspace_session_id.as_deref())
}

/// What is written of an agent.
impl SqliteTransaction<'_, '_> {
    /// Makes a row for an agent that has none, with what it must have, and answers its number.
    pub(super) fn insert_agent(&self, agent: &AgentRow) -> Result<i64> {
        let sql = "INSERT INTO agents (project_id, state, state_since, state_source, confidence, why, started_at, \
            last_seen_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.insert_row(
            sql,
            params![
                agent.project_id,
                agent.state.as_str(),
                agent.state_since.as_microsecond(),
                agent.state_source.as_str(),
                agent.confidence.as_str(),
                agent.why,
                agent.started_at.as_microsecond(),
                agent.last_seen_at.as_microsecond(),
            ],
        )
    }

    pub(super) fn update_indexed_columns(&self, agent: &AgentRow) -> Result<()> {
        let sql = "UPDATE agents SET project_id = :project_id, tmux_pane = :tmux_pane, ended_at = :ended_at, \
            headspace_session_id = :headspace_session_id WHERE agent_id = :agent_id";
        self.execute(
            sql,
            named_params! {
                ":agent_id": agent.agent_id,
                ":project_id": agent.project_id,
                ":tmux_pane": agent.tmux_pane,
                ":ended_at": agent.ended_at.map(Timestamp::as_microsecond),
                ":headspace_session_id": agent.headspace_session_id,
            },
        )
        .map(drop)
    }

    pub(super) fn update_other_columns(&self, agent: &AgentRow) -> Result<()> {
        let sql = "UPDATE agents SET product = ?2, session_id = ?3, conversation_id = ?4, command_id = ?5, state = ?6, \
            state_since = ?7, state_source = ?8, confidence = ?9, why = ?10, current_tool = ?11, tmux_session = ?12, \
            tmux_server = ?13, pid = ?14, pid_started = ?15, pid_certain = ?16, host = ?17, context_percent = ?18, \
            context_source = ?19, last_words = ?20, last_seen_at = ?21, end_reason = ?22, told_at = ?23, \
            context_window = ?24 \
            WHERE agent_id = ?1";
        self.execute(
            sql,
            params![
                agent.agent_id,
                agent.product,
                agent.session_id,
                agent.conversation_id,
                agent.command_id,
                agent.state.as_str(),
                agent.state_since.as_microsecond(),
                agent.state_source.as_str(),
                agent.confidence.as_str(),
                agent.why,
                agent.current_tool,
                agent.tmux_session,
                agent.tmux_server,
                agent.process.map(|process| process.pid),
                agent.process.and_then(|process| process.started).map(u64::cast_signed),
                agent.process_is_certain,
                agent.host,
                agent.context_percent,
                agent.context_source.map(ContextSource::as_str),
                agent.last_words,
                agent.last_seen_at.as_microsecond(),
                agent.end_reason,
                agent.state_reported_at.map(Timestamp::as_microsecond),
                agent.context_window,
            ],
        )
        .map(drop)
    }
}

pub(super) fn decode_agent(row: &Row<'_>) -> rusqlite::Result<AgentRow> {
    let pid: Option<u32> = row.get(15)?;
    let started: Option<i64> = row.get(16)?;
    Ok(AgentRow {
        agent_id: row.get(0)?,
        project_id: row.get(1)?,
        product: row.get(2)?,
        session_id: row.get(3)?,
        conversation_id: row.get(4)?,
        command_id: row.get(5)?,
        state: get_enum(row, 6, AgentState::parse)?,
        state_since: get_time(row, 7)?,
        state_source: get_enum(row, 8, StateSource::parse)?,
        confidence: get_enum(row, 9, StateConfidence::parse)?,
        why: row.get(10)?,
        current_tool: row.get(11)?,
        tmux_session: row.get(12)?,
        tmux_pane: row.get(13)?,
        tmux_server: row.get(14)?,
        process: pid.map(|pid| ProcessIdentity { pid, started: started.map(i64::cast_unsigned) }),
        process_is_certain: row.get(17)?,
        host: row.get(18)?,
        headspace_session_id: row.get(19)?,
        context_percent: row.get(20)?,
        context_source: get_optional_enum(row, 21, ContextSource::parse)?,
        last_words: row.get(22)?,
        started_at: get_time(row, 23)?,
        last_seen_at: get_time(row, 24)?,
        ended_at: get_optional_time(row, 25)?,
        end_reason: row.get(26)?,
        state_reported_at: get_optional_time(row, 27)?,
        context_window: row.get(28)?,
    })
}
