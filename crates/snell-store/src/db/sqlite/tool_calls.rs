//! Tool calls without ids, in SQLite.

use rusqlite::params;

use super::columns::{ConnectionExt, SelectedRow, columns};
use super::rows::SqliteTransaction;
use crate::db::rows::OpenToolCall;
use crate::error::Result;

/// How many of an agent's newest events are searched for the start of a call.
const MAX_SCANNED_EVENTS: i64 = 200;

columns! {
    OpenToolCall from "newest JOIN events e USING (id) JOIN payloads d USING (id)" {
        event_row: "e.id", began: "e.at", payload: "d.payload", changed_input: "e.changed_input",
    }
}

/// The newest events of an agent.
const NEWEST_EVENTS: &str =
    "WITH newest AS MATERIALIZED (SELECT id, name FROM events WHERE agent_id = ?1 ORDER BY id DESC LIMIT ?4)";

/// Only events after the last start or end of a turn: an unfinished call of an earlier turn was interrupted.
const IS_OPEN_CALL: &str = "newest.name = 'PreToolUse' AND e.tool = ?3 AND e.conversation_id = ?2 \
    AND e.tool_use_id IS NULL AND e.decision IS NOT 'block' \
    AND e.id > coalesce((SELECT max(id) FROM newest WHERE name IN ('UserPromptSubmit', 'Stop', 'SessionStart')), 0) \
    AND NOT EXISTS (SELECT 1 FROM events z WHERE z.ends = e.id)";

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
        let sql = format!("{NEWEST_EVENTS} {} WHERE {IS_OPEN_CALL} ORDER BY e.id", OpenToolCall::SELECT);
        self.transaction.query_all(&sql, params![agent_id, conversation_id, tool, MAX_SCANNED_EVENTS])
    }
}
