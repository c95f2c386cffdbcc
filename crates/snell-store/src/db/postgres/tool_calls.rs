//! Tool calls without ids, in PostgreSQL.

use super::transaction::{PostgresTransaction, new_row};
use super::values::values;
use crate::db::rows::{EventRow, OpenToolCall};
use crate::error::Result;

/// How many of an agent's newest events are searched for its last call.
const MAX_SCANNED_EVENTS: i64 = 200;

/// How many open calls of a tool are compared with an end, the newest first.
const MAX_COMPARED_CALLS: i64 = 64;

/// The newest call of a tool among those events.
const LAST_CALL_SQL: &str = "SELECT e.tool_summary FROM \
    (SELECT id FROM events WHERE agent_id = $1 ORDER BY id DESC LIMIT $3) n JOIN events e USING (id) \
    WHERE e.name = 'PreToolUse' AND e.tool = $2 ORDER BY e.id DESC LIMIT 1";

impl PostgresTransaction<'_> {
    pub(super) fn read_last_call_summary(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>> {
        let summary: Option<Option<String>> =
            self.query_optional(LAST_CALL_SQL, values![agent_id, tool, MAX_SCANNED_EVENTS])?;
        Ok(summary.flatten())
    }

    pub(super) fn read_open_calls(
        &mut self,
        agent_id: i64,
        conversation_id: i64,
        tool: &str,
    ) -> Result<Vec<OpenToolCall>> {
        let which = "WHERE c.agent_id = $1 AND c.tool = $3 AND e.conversation_id = $2 ORDER BY c.id DESC LIMIT $4";
        let mut calls: Vec<OpenToolCall> =
            self.select_all(which, values![agent_id, conversation_id, tool, MAX_COMPARED_CALLS])?;
        calls.reverse();
        Ok(calls)
    }

    /// Keeps the list of open calls without ids up to date with a new event.
    pub(super) fn follow_call_without_id(&mut self, row: i64, event: &EventRow<'_>) -> Result<()> {
        match (event.name, event.tool) {
            ("PreToolUse", Some(tool)) if event.tool_use_id.is_none() && event.decision != Some("block") => {
                self.insert(new_row!("calls_without_ids", event { id: row, agent_id, tool: tool }));
                Ok(())
            }
            // An unfinished call of an earlier turn was interrupted.
            ("UserPromptSubmit" | "Stop" | "SessionStart", _) => {
                let sql = "DELETE FROM calls_without_ids WHERE agent_id = $1";
                self.run(&["calls_without_ids"], sql, values![event.agent_id])
            }
            _ => match event.ends {
                Some(began) => {
                    let sql = "DELETE FROM calls_without_ids WHERE id = $1";
                    self.run(&["calls_without_ids"], sql, values![began])
                }
                None => Ok(()),
            },
        }
    }
}
