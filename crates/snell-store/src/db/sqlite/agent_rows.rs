//! The row of an agent in SQLite.

use rusqlite::Transaction;
use snell::Timestamp;

use super::columns::{ColumnParam, ConnectionExt, columns, insert_row, update_row};
use crate::db::model::AgentRow;
use crate::error::Result;

columns! {
    AgentRow from "agents" {
        agent_id, project_id, product, session_id, conversation_id, command_id, state, state_since, state_source,
        confidence, why, current_tool, tmux_session, tmux_pane, tmux_server, process: "pid, pid_started",
        process_is_certain: "pid_certain", host, headspace_session_id, context_percent, context_source, last_words,
        started_at, last_seen_at, ended_at, end_reason, state_reported_at: "told_at", context_window,
        background: "in_background, background_subagents, background_commands, background_wakeups", silent_since,
    }
}

impl AgentRow {
    /// Inserts a row with the required columns, and returns its id.
    pub(super) fn insert(&self, transaction: &Transaction<'_>) -> Result<i64> {
        insert_row!(
            transaction,
            "INSERT INTO agents",
            self { project_id, state, state_since, state_source, confidence, why, started_at, last_seen_at }
        )
    }

    /// The columns that have an index.
    pub(super) fn get_indexed_columns(&self) -> (i64, Option<&str>, Option<Timestamp>, Option<&str>) {
        (self.project_id, self.tmux_pane.as_deref(), self.ended_at, self.headspace_session_id.as_deref())
    }

    pub(super) fn update_indexed_columns(&self, transaction: &Transaction<'_>) -> Result<()> {
        update_row!(
            transaction,
            "agents",
            agent_id = self.agent_id,
            self { project_id, tmux_pane, ended_at, headspace_session_id }
        )
    }

    pub(super) fn update_other_columns(&self, transaction: &Transaction<'_>) -> Result<()> {
        update_row!(
            transaction,
            "agents",
            agent_id = self.agent_id,
            self {
                product,
                session_id,
                conversation_id,
                command_id,
                state,
                state_since,
                state_source,
                confidence,
                why,
                current_tool,
                tmux_session,
                tmux_server,
                pid: self.process.map(|process| process.pid),
                pid_started: self.process.and_then(|process| process.started),
                pid_certain: self.process_is_certain,
                host,
                context_percent,
                context_source,
                last_words,
                last_seen_at,
                end_reason,
                told_at: self.state_reported_at,
                context_window,
                in_background: self.background.is_some(),
                background_subagents: self.background.unwrap_or_default().subagents,
                background_commands: self.background.unwrap_or_default().commands,
                background_wakeups: self.background.unwrap_or_default().wakeups,
                silent_since,
            }
        )
    }
}
