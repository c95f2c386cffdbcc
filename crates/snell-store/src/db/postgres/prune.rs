//! Removes old rows, a few at a time.

use snell::Timestamp;

use super::session::OpenTransaction;
use super::usage;
use super::values::values;
use super::{MACHINES_LOCK, PostgresDatabase};
use crate::error::Result;
use crate::views::query_types::PruneCounts;

/// Ended agents without events since `$1`, and without any rows since `$2`. Agents that have not ended stay, because
/// they may be waiting.
const OLD_AGENTS: &str = "SELECT agent_id FROM agents a WHERE last_seen_at < $1 AND ended_at IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM events e WHERE e.agent_id = a.agent_id AND e.at >= $2) \
    AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.agent_id = a.agent_id AND t.timestamp >= $2)";

/// Old conversations, likewise. An agent's current conversation stays as long as the agent.
const OLD_CONVERSATIONS: &str = "SELECT conversation_id FROM conversations c WHERE last_seen_at < $1 \
    AND conversation_id IS DISTINCT FROM (SELECT a.conversation_id FROM agents a WHERE a.agent_id = c.agent_id) \
    AND NOT EXISTS (SELECT 1 FROM events e \
        WHERE e.agent_id = c.agent_id AND e.conversation_id = c.conversation_id AND e.at >= $2) \
    AND NOT EXISTS (SELECT 1 FROM commands JOIN turns t USING (command_id) WHERE commands.agent_id = c.agent_id \
        AND commands.conversation_id = c.conversation_id AND t.timestamp >= $2)";

/// Events before `$1`, at most `$2` rows. Their payloads, hook runs and guard verdicts go with them.
const DELETE_EVENTS: &str = "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE at < $1 ORDER BY id LIMIT $2)";
const DELETE_TURNS: &str = "DELETE FROM turns WHERE turn_id IN \
    (SELECT turn_id FROM turns WHERE timestamp < $1 ORDER BY turn_id LIMIT $2)";
const DELETE_DETAILS: &[&str] = &[
    // Runs of hooks that ended long after their event.
    "DELETE FROM hook_runs WHERE hook_run_id IN (SELECT hook_run_id FROM hook_runs WHERE at < $1 LIMIT $2)",
    "DELETE FROM guard_verdicts WHERE guard_verdict_id IN \
     (SELECT guard_verdict_id FROM guard_verdicts WHERE id IS NULL AND at < $1 LIMIT $2)",
    "DELETE FROM hook_hours WHERE (hour, hook_id, writer) IN \
     (SELECT hour, hook_id, writer FROM hook_hours WHERE hour < $1 / 3600000000 LIMIT $2)",
    "DELETE FROM guard_hours WHERE (hour, rule, tier, outcome) IN \
     (SELECT hour, rule, tier, outcome FROM guard_hours WHERE hour < $1 / 3600000000 LIMIT $2)",
    "DELETE FROM sightings WHERE sighting_id IN (SELECT sighting_id FROM sightings WHERE at < $1 LIMIT $2)",
    // Their deliveries go with them. The newest stays, so that its id is not used again.
    "DELETE FROM dispatches WHERE dispatch_id IN (SELECT dispatch_id FROM dispatches WHERE at < $1 \
     AND dispatch_id < (SELECT max(dispatch_id) FROM dispatches) LIMIT $2)",
    "DELETE FROM requests WHERE request_id IN \
     (SELECT request_id FROM requests WHERE opened_at < $1 AND status <> 'open' LIMIT $2)",
    "DELETE FROM remembered_answers WHERE remembered_id IN \
     (SELECT remembered_id FROM remembered_answers WHERE until < $1 OR scope = 'session' AND created_at < $1 LIMIT $2)",
    // The newest stays, so that its id is not used again.
    "DELETE FROM changes WHERE change_id IN (SELECT change_id FROM changes WHERE at < $1 \
     AND change_id < (SELECT max(change_id) FROM changes) ORDER BY change_id LIMIT $2)",
    // A running worker stays as long as its conversation.
    "DELETE FROM workers WHERE worker_id IN (SELECT worker_id FROM workers WHERE finished_at < $1 LIMIT $2)",
    // An agent's current command stays, whatever its age.
    "DELETE FROM commands WHERE command_id IN (SELECT command_id FROM commands c WHERE opened_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.command_id = c.command_id) \
     AND command_id IS DISTINCT FROM (SELECT a.command_id FROM agents a WHERE a.agent_id = c.agent_id AND a.ended_at IS NULL) \
     LIMIT $2)",
];

/// Rows without references, once agents and conversations are removed.
const DELETE_ORPHANS: &[&str] = &[
    "DELETE FROM hooks WHERE hook_id IN \
     (SELECT hook_id FROM hooks WHERE hook_id NOT IN (SELECT hook_id FROM hook_hours) AND $1::bigint <> 0 LIMIT $2)",
    "DELETE FROM missions WHERE mission_execution_id IN (SELECT mission_execution_id FROM missions \
     WHERE coalesce(extract(epoch FROM linked_at::timestamptz)::bigint, 0) * 1000000 < $1 \
     AND session_id NOT IN (SELECT session_id FROM session_ids) LIMIT $2)",
    "DELETE FROM projects WHERE project_id IN (SELECT project_id FROM projects p WHERE created_at < $1 \
     AND NOT EXISTS (SELECT 1 FROM agents a WHERE a.project_id = p.project_id) LIMIT $2)",
];

impl PostgresDatabase {
    /// Removes older rows, at most so many of each kind.
    pub(super) fn delete_old_rows(&mut self, before: Timestamp, at_most: u32) -> Result<PruneCounts> {
        // No event is stored meanwhile, and no process may keep rows in memory.
        let transaction = self.begin_alone(MACHINES_LOCK)?;
        transaction.run("UPDATE machines SET version = version + 1", values![])?;
        let batch = RetentionBatch { transaction: &transaction, before: before.as_microsecond(), at_most };
        let mut pruned = batch.delete_history()?;
        // While old rows are left, owners without rows need no search.
        if pruned.is_empty() {
            pruned = batch.delete_empty_owners()?;
        }
        transaction.commit(Vec::new())?;
        Ok(pruned)
    }

    /// Removes the oldest changes, except for so many of the newest.
    pub(super) fn delete_oldest_changes(&mut self, keep: u32) -> Result<()> {
        let sql = "DELETE FROM changes WHERE change_id <= (SELECT last FROM stream_head) - $1";
        self.session.run(sql, values![keep]).map(drop)
    }

    /// Counts the older rows.
    pub(super) fn count_old_rows(&self, before: Timestamp) -> Result<PruneCounts> {
        let count = |rows: &str| -> Result<usize> {
            // The queries of old owners have a second parameter, which is the same time here.
            let sql = format!("SELECT count(*) FROM ({rows}) old WHERE $2::bigint = $1");
            let count: i64 = self.session.query_value(&sql, values![before, before])?;
            Ok(usize::try_from(count).unwrap_or(0))
        };
        Ok(PruneCounts {
            events: count("SELECT 1 FROM events WHERE at < $1")?,
            turns: count("SELECT 1 FROM turns WHERE timestamp < $1")?,
            sessions: count(OLD_CONVERSATIONS)?,
            agents: count(OLD_AGENTS)?,
            rest: 0,
        })
    }
}

/// The deletions of one transaction.
struct RetentionBatch<'a> {
    transaction: &'a OpenTransaction<'a>,
    before: i64,
    at_most: u32,
}

impl RetentionBatch<'_> {
    fn delete_history(&self) -> Result<PruneCounts> {
        Ok(PruneCounts {
            events: self.delete(DELETE_EVENTS)?,
            turns: self.delete(DELETE_TURNS)?,
            rest: self.delete_all(usage::SUM_REQUESTS)? + self.delete_all(DELETE_DETAILS)?,
            ..PruneCounts::default()
        })
    }

    fn delete_empty_owners(&self) -> Result<PruneCounts> {
        Ok(PruneCounts {
            sessions: self.delete_each(
                OLD_CONVERSATIONS,
                &[
                    "DELETE FROM session_ids WHERE conversation_id = $1",
                    "DELETE FROM holders WHERE conversation_id = $1",
                    "DELETE FROM conversations WHERE conversation_id = $1",
                ],
            )?,
            agents: self.delete_each(
                OLD_AGENTS,
                &[
                    "DELETE FROM commands WHERE agent_id = $1",
                    "DELETE FROM sightings WHERE agent_id = $1",
                    "DELETE FROM session_ids WHERE conversation_id IN \
                     (SELECT conversation_id FROM conversations WHERE agent_id = $1)",
                    "DELETE FROM holders WHERE conversation_id IN \
                     (SELECT conversation_id FROM conversations WHERE agent_id = $1)",
                    "DELETE FROM conversations WHERE agent_id = $1",
                    "DELETE FROM agents WHERE agent_id = $1",
                ],
            )?,
            rest: self.delete_all(DELETE_ORPHANS)?,
            ..PruneCounts::default()
        })
    }

    fn delete(&self, sql: &str) -> Result<usize> {
        self.transaction.run(sql, values![self.before, self.at_most])
    }

    fn delete_all(&self, statements: &[&str]) -> Result<usize> {
        statements.iter().map(|sql| self.delete(sql)).sum()
    }

    /// Runs the statements for each row of a list.
    fn delete_each(&self, list: &str, statements: &[&str]) -> Result<usize> {
        let sql = format!("{list} LIMIT $3");
        // Any row that is left keeps its owner, whatever its age: the second time is before all others.
        let ids: Vec<i64> = self.transaction.query_all(&sql, values![self.before, i64::MIN, self.at_most])?;
        for id in &ids {
            for sql in statements {
                self.transaction.run(sql, values![id])?;
            }
        }
        Ok(ids.len())
    }
}
