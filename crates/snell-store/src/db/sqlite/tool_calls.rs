//! Calls of tools whose agents give them no ids, in SQLite.

use rusqlite::params;

use super::rows::{SqliteTransaction, get_time};
use crate::db::rows::OpenToolCall;
use crate::error::Result;

/// Among how many of an agent's newest events the beginning of a call is looked for.
const MAX_SCANNED_EVENTS: i64 = 200;

/// The newest events of an agent, of which those count that came after the last beginning or end of a turn: a call of an
/// earlier turn that never ended was interrupted.
const OPEN_CALLS_SQL: &str = "WITH newest AS MATERIALIZED (SELECT id, name FROM events WHERE agent_id = ?1 ORDER BY id DESC LIMIT ?4) \
    SELECT e.id, e.at, d.payload, e.changed_input FROM newest JOIN events e USING (id) JOIN payloads d USING (id) \
    WHERE newest.name = 'PreToolUse' AND e.tool = ?3 AND e.conversation_id = ?2 \
    AND e.tool_use_id IS NULL AND e.decision IS NOT 'block' \
    AND e.id > coalesce((SELECT max(id) FROM newest WHERE name IN ('UserPromptSubmit', 'Stop', 'SessionStart')), 0) \
    AND NOT EXISTS (SELECT 1 FROM events z WHERE z.ends = e.id) ORDER BY e.id";

/// The newest call of a tool among those events.
const LAST_CALL_SQL: &str = "SELECT e.tool_summary FROM \
    (SELECT id FROM events WHERE agent_id = ?1 ORDER BY id DESC LIMIT ?3) JOIN events e USING (id) \
    WHERE e.name = 'PreToolUse' AND e.tool = ?2 ORDER BY e.id DESC LIMIT 1";

impl SqliteTransaction<'_, '_> {
    pub(super) fn read_last_call_summary(&self, agent_id: i64, tool: &str) -> Result<Option<String>> {
        let found = self.query_one(LAST_CALL_SQL, params![agent_id, tool, MAX_SCANNED_EVENTS], |row| row.get(0))?;
        Ok(found.flatten())
    }

    pub(super) fn read_open_calls(&self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenToolCall>> {
        self.query_all(OPEN_CALLS_SQL, params![agent_id, conversation_id, tool, MAX_SCANNED_EVENTS], |row| {
            Ok(OpenToolCall {
                event_row: row.get(0)?,
                began: get_time(row, 1)?,
                payload: row.get(2)?,
                changed_input: row.get(3)?,
            })
        })
    }
}
