//! The row of a conversation in SQLite.

use super::columns::{ColumnParam, ConnectionExt, columns, insert_row};
use super::rows::{SqliteTransaction, to_optional_id};
use crate::db::model::{ConversationRow, ReminderHistory};
use crate::error::Result;

columns! {
    ConversationRow from "conversations" {
        conversation_id, session_id, agent_id, role, mode, tmux_pane, model, permission_mode, mission_execution_id,
        started_at, last_seen_at, ended_at, end_reason, status_text, status_set_at, pinged_at, reported_window,
        reminders: "context_warning_level, prompt_warning_level, status_reminded, ping_reminded",
    }
}

columns! {
    ReminderHistory from "conversations" {
        stop_level: "context_warning_level", prompt_level: "prompt_warning_level", status: "status_reminded",
        ping: "ping_reminded",
    }
}

impl SqliteTransaction<'_, '_> {
    /// Writes a conversation, and sets its id if it is new.
    pub(super) fn write_conversation(&self, conversation: &mut ConversationRow) -> Result<()> {
        let reminders = conversation.reminders;
        let number = insert_row!(self.transaction, "INSERT INTO conversations", conversation {
            conversation_id: to_optional_id(conversation.conversation_id), session_id, started_at,
        } on conflict (conversation_id) update {
            agent_id, role, mode, tmux_pane, model, permission_mode, mission_execution_id, last_seen_at, ended_at,
            end_reason, status_text, status_set_at, pinged_at, reported_window, context_warning_level: reminders.stop_level,
            prompt_warning_level: reminders.prompt_level, status_reminded: reminders.status,
            ping_reminded: reminders.ping,
        })?;
        if conversation.conversation_id == 0 {
            conversation.conversation_id = number;
        }
        let sql = "INSERT OR IGNORE INTO holders (conversation_id, agent_id) VALUES (?1, ?2)";
        self.transaction.run(sql, [conversation.conversation_id, conversation.agent_id])
    }
}
