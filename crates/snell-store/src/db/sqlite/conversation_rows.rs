//! The row of a conversation in SQLite.

use rusqlite::{Row, params};
use snell::Timestamp;

use super::rows::{SqliteTransaction, get_optional_time, get_time, to_optional_id};
use crate::db::model::{ConversationRow, ReminderHistory};
use crate::error::Result;

pub(super) const CONVERSATION_COLUMNS: &str = "conversation_id, session_id, agent_id, role, mode, tmux_pane, model, \
    permission_mode, mission_execution_id, started_at, last_seen_at, ended_at, end_reason, status_text, status_set_at, \
    pinged_at, context_warning_level, prompt_warning_level, status_reminded, ping_reminded";

impl SqliteTransaction<'_, '_> {
    /// Writes a conversation, and gives it a number if it has none.
    pub(super) fn write_conversation(&self, conversation: &mut ConversationRow) -> Result<()> {
        let sql = "INSERT INTO conversations (conversation_id, session_id, agent_id, role, mode, tmux_pane, model, \
            permission_mode, mission_execution_id, started_at, last_seen_at, ended_at, end_reason, status_text, \
            status_set_at, pinged_at, context_warning_level, prompt_warning_level, status_reminded, ping_reminded) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20) \
            ON CONFLICT (conversation_id) DO UPDATE SET agent_id = ?3, role = ?4, mode = ?5, tmux_pane = ?6, model = ?7, \
            permission_mode = ?8, mission_execution_id = ?9, last_seen_at = ?11, ended_at = ?12, end_reason = ?13, \
            status_text = ?14, status_set_at = ?15, pinged_at = ?16, context_warning_level = ?17, \
            prompt_warning_level = ?18, status_reminded = ?19, ping_reminded = ?20";
        let number = self.insert_row(
            sql,
            params![
                to_optional_id(conversation.conversation_id),
                conversation.session_id,
                conversation.agent_id,
                conversation.role,
                conversation.mode,
                conversation.tmux_pane,
                conversation.model,
                conversation.permission_mode,
                conversation.mission_execution_id,
                conversation.started_at.as_microsecond(),
                conversation.last_seen_at.as_microsecond(),
                conversation.ended_at.map(Timestamp::as_microsecond),
                conversation.end_reason,
                conversation.status_text,
                conversation.status_set_at.map(Timestamp::as_microsecond),
                conversation.pinged_at.map(Timestamp::as_microsecond),
                conversation.reminders.stop_level,
                conversation.reminders.prompt_level,
                conversation.reminders.status,
                conversation.reminders.ping,
            ],
        )?;
        if conversation.conversation_id == 0 {
            conversation.conversation_id = number;
        }
        let sql = "INSERT OR IGNORE INTO holders (conversation_id, agent_id) VALUES (?1, ?2)";
        self.execute(sql, [conversation.conversation_id, conversation.agent_id])?;
        Ok(())
    }
}

pub(super) fn decode_conversation(row: &Row<'_>) -> rusqlite::Result<ConversationRow> {
    Ok(ConversationRow {
        conversation_id: row.get(0)?,
        session_id: row.get(1)?,
        agent_id: row.get(2)?,
        role: row.get(3)?,
        mode: row.get(4)?,
        tmux_pane: row.get(5)?,
        model: row.get(6)?,
        permission_mode: row.get(7)?,
        mission_execution_id: row.get(8)?,
        started_at: get_time(row, 9)?,
        last_seen_at: get_time(row, 10)?,
        ended_at: get_optional_time(row, 11)?,
        end_reason: row.get(12)?,
        status_text: row.get(13)?,
        status_set_at: get_optional_time(row, 14)?,
        pinged_at: get_optional_time(row, 15)?,
        reminders: ReminderHistory {
            stop_level: row.get(16)?,
            prompt_level: row.get(17)?,
            status: row.get(18)?,
            ping: row.get(19)?,
        },
    })
}
