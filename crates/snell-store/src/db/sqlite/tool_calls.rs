//! Tool calls without ids, in SQLite.

use rusqlite::params;

use super::columns::{ConnectionExt, SelectedRow, columns};
use super::rows::SqliteTransaction;
use crate::db::open_calls::{MAX_COMPARED_CALLS, OpenCallChange};
use crate::db::rows::{EventRow, OpenToolCall};
use crate::error::Result;

/// How many of an agent's newest events are searched for its last call.
const MAX_SCANNED_EVENTS: i64 = 200;

columns! {
    OpenToolCall from "calls_without_ids c JOIN events e USING (id) JOIN payloads d USING (id)" {
        event_row: "e.id", began: "e.at", payload: "d.payload", changed_input: "e.changed_input",
    }
}

/// The newest call of a tool among those events.
const LAST_CALL_SQL: &str = "SELECT e.tool_summary FROM \
    (SELECT id FROM events WHERE agent_id = ?1 ORDER BY id DESC LIMIT ?3) JOIN events e USING (id) \
    WHERE e.name = 'PreToolUse' AND e.tool = ?2 ORDER BY e.id DESC LIMIT 1";

impl SqliteTransaction<'_, '_> {
    pub(super) fn read_last_call_summary(&self, agent_id: i64, tool: &str) -> Result<Option<String>> {
        let summary = self.transaction.query_optional(LAST_CALL_SQL, params![agent_id, tool, MAX_SCANNED_EVENTS])?;
        Ok(summary.flatten())
    }

    pub(super) fn read_open_calls(&self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenToolCall>> {
        let sql = format!(
            "{} WHERE c.agent_id = ?1 AND c.tool = ?3 AND e.conversation_id = ?2 ORDER BY c.id DESC LIMIT ?4",
            OpenToolCall::SELECT
        );
        let mut calls =
            self.transaction.query_all(&sql, params![agent_id, conversation_id, tool, MAX_COMPARED_CALLS as i64])?;
        calls.reverse();
        Ok(calls)
    }

    /// Keeps the list of open calls without ids up to date with a new event.
    pub(super) fn follow_call_without_id(&self, row: i64, event: &EventRow<'_>) -> Result<()> {
        match event.open_call_change() {
            OpenCallChange::Begins(tool) => {
                let sql = "INSERT INTO calls_without_ids (id, agent_id, tool) VALUES (?1, ?2, ?3)";
                self.transaction.run(sql, params![row, event.agent_id, tool])
            }
            OpenCallChange::AllEnd => {
                self.transaction.run("DELETE FROM calls_without_ids WHERE agent_id = ?1", [event.agent_id])
            }
            OpenCallChange::Ends(began_by) => {
                self.transaction.run("DELETE FROM calls_without_ids WHERE id = ?1", [began_by])
            }
            OpenCallChange::Nothing => Ok(()),
        }
    }
}
