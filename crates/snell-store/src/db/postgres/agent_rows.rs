//! The row of an agent in PostgreSQL.

use super::transaction::new_row;
use super::write_buffer::NewRow;
use crate::db::model::AgentRow;

impl AgentRow {
    /// The row as PostgreSQL stores it.
    pub(super) fn to_postgres_row(&self) -> NewRow {
        let (process, background) = (self.process, self.background.unwrap_or_default());
        new_row!(
            "agents",
            self {
                agent_id,
                project_id,
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
                tmux_pane,
                tmux_server,
                pid: process.map(|process| process.pid),
                pid_started: process.and_then(|process| process.started),
                pid_certain: self.process_is_certain,
                host,
                headspace_session_id,
                context_percent,
                context_source,
                last_words,
                started_at,
                last_seen_at,
                told_at: self.state_reported_at,
                ended_at,
                end_reason,
                context_window,
                in_background: self.background.is_some(),
                background_subagents: background.subagents,
                background_commands: background.commands,
                background_wakeups: background.wakeups,
                silent_since,
            }
        )
    }
}
