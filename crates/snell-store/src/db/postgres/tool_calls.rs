//! Tool calls without ids, in PostgreSQL.

use std::sync::LazyLock;

use super::prefetch::KeyedQuery;
use super::transaction::{PostgresTransaction, new_row};
use super::values::{ToValue, values};
use crate::db::columns::SelectedRow;
use crate::db::rows::{EventRow, OpenToolCall};
use crate::error::Result;

/// How many of an agent's newest events are searched for its last call.
const MAX_SCANNED_EVENTS: i64 = 200;

/// The open calls of a tool, the newest first; at most 64 are compared with an end.
pub(super) static LIST_OPEN_CALLS: KeyedQuery = KeyedQuery {
    sql: LazyLock::new(|| {
        let which = "WHERE c.agent_id = $1 AND c.tool = $3 AND e.conversation_id = $2 ORDER BY c.id + 0 DESC LIMIT 64";
        format!("{} {which}", OpenToolCall::SELECT)
    }),
    depends_on: &[("calls_without_ids", "agent_id", 0)],
};

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
        let mut calls: Vec<OpenToolCall> =
            self.find_rows(&LIST_OPEN_CALLS, values![agent_id, conversation_id, tool])?;
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
                let of_agent = ("calls_without_ids", "agent_id", event.agent_id.to_value());
                self.run_keyed(&[of_agent], sql, values![event.agent_id])
            }
            _ => match event.ends {
                Some(began) => {
                    let sql = "DELETE FROM calls_without_ids WHERE id = $1";
                    let of_agent = ("calls_without_ids", "agent_id", event.agent_id.to_value());
                    self.run_keyed(&[of_agent], sql, values![began])
                }
                None => Ok(()),
            },
        }
    }
}
