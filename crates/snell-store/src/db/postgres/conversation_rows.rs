//! The row of a conversation in PostgreSQL.

use super::transaction::{PostgresTransaction, new_row};
use super::values::values;
use crate::db::model::ConversationRow;
use crate::error::Result;

impl PostgresTransaction<'_> {
    /// Writes a conversation, and sets its id if it is new.
    pub(super) fn write_conversation(&mut self, conversation: &mut ConversationRow) -> Result<()> {
        let is_new = conversation.conversation_id == 0;
        if is_new {
            conversation.conversation_id = self.take_id("conversations_conversation_id_seq")?;
        }
        let reminders = conversation.reminders;
        let row = new_row!(
            "conversations",
            conversation {
                conversation_id,
                session_id,
                started_at,
                agent_id,
                role,
                mode,
                tmux_pane,
                model,
                permission_mode,
                mission_execution_id,
                last_seen_at,
                ended_at,
                end_reason,
                status_text,
                status_set_at,
                pinged_at,
                reported_window,
                context_warning_level: reminders.stop_level,
                prompt_warning_level: reminders.prompt_level,
                status_reminded: reminders.status,
                ping_reminded: reminders.ping,
            }
        );
        if is_new {
            self.insert(row);
        } else {
            self.update(row)?;
        }
        let sql = "INSERT INTO holders (conversation_id, agent_id) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        self.run(&["holders"], sql, values![conversation.conversation_id, conversation.agent_id])
    }
}
