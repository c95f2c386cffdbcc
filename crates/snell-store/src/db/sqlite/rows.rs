//! Single rows in SQLite.

use rusqlite::{Transaction, params};
use snell::Timestamp;

use super::columns::{ColumnParam, ConnectionExt, columns, insert_row, update_row};
use crate::db::change_feed::NewChange;
use crate::db::dispatches::NewDispatch;
use crate::db::model::{AgentRow, ConversationRow, SightingRow, TurnRow};
use crate::db::rows::{EventReference, EventRow, HookRunOwner, OpenToolCall, Rows, SessionBinding, TranscriptProgress};
use crate::error::{Result, StoreError};
use crate::record::event_record::{FinishedHookRun, GuardVerdictRecord, HookRunRecord};

/// Inside a transaction.
pub(super) struct SqliteTransaction<'a, 'c> {
    pub(super) transaction: &'a Transaction<'c>,
    /// Changes when another connection commits.
    pub(super) data_version: &'a mut i64,
}

columns! {
    TurnRow from "turns" {
        turn_id, agent_id, command_id, actor, intent, text, timestamp, timestamp_source, content_hash,
    }
}

columns! {
    SessionBinding from "session_ids JOIN conversations USING (conversation_id)" { conversation_id, agent_id }
}

columns! {
    TranscriptProgress from "session_ids" { path: "transcript_path", cursor: "transcript_mark", open_calls }
}

impl Rows for SqliteTransaction<'_, '_> {
    fn find_session_binding(&mut self, session_id: &str) -> Result<Option<SessionBinding>> {
        self.transaction.select_one("WHERE session_ids.session_id = ?1", [session_id])
    }

    fn bind_session_id(&mut self, session_id: &str, conversation_id: i64) -> Result<()> {
        let sql = "INSERT INTO session_ids (session_id, conversation_id) VALUES (?1, ?2) \
                   ON CONFLICT (session_id) DO UPDATE SET conversation_id = excluded.conversation_id";
        self.transaction.run(sql, params![session_id, conversation_id])
    }

    fn list_session_ids(&mut self, conversation_id: i64) -> Result<Vec<String>> {
        let sql = "SELECT session_id FROM session_ids WHERE conversation_id = ?1";
        self.transaction.query_all(sql, [conversation_id])
    }

    fn find_agent(&mut self, agent_id: i64) -> Result<Option<AgentRow>> {
        self.transaction.select_one("WHERE agent_id = ?1", [agent_id])
    }

    fn find_agent_by_headspace(&mut self, headspace_session_id: &str) -> Result<Option<AgentRow>> {
        let which = "WHERE headspace_session_id = ?1 ORDER BY last_seen_at DESC, agent_id DESC LIMIT 1";
        self.transaction.select_one(which, [headspace_session_id])
    }

    fn list_agents_on_pane(&mut self, pane: &str) -> Result<Vec<AgentRow>> {
        let which = "WHERE ended_at IS NULL AND tmux_pane = ?1 ORDER BY last_seen_at DESC, agent_id DESC";
        self.transaction.select_all(which, [pane])
    }

    fn list_agents_in_project(&mut self, project_id: i64) -> Result<Vec<AgentRow>> {
        let which = "WHERE ended_at IS NULL AND project_id = ?1 ORDER BY last_seen_at DESC, agent_id DESC";
        self.transaction.select_all(which, [project_id])
    }

    fn list_live_agents(&mut self) -> Result<Vec<AgentRow>> {
        self.transaction.select_all("WHERE ended_at IS NULL ORDER BY agent_id", [])
    }

    fn save_agent(&mut self, agent: &mut AgentRow) -> Result<()> {
        if agent.agent_id == 0 {
            agent.agent_id = agent.insert(self.transaction)?;
        }
        agent.update_indexed_columns(self.transaction)?;
        agent.update_other_columns(self.transaction)
    }

    fn update_agent(&mut self, agent: &AgentRow, stored: &AgentRow) -> Result<()> {
        // Indexed columns are written only if they change: SQLite updates an index even for equal values.
        if agent.get_indexed_columns() != stored.get_indexed_columns() {
            agent.update_indexed_columns(self.transaction)?;
        }
        agent.update_other_columns(self.transaction)
    }

    fn has_external_writes(&mut self) -> Result<bool> {
        let now = self.transaction.query_value("PRAGMA data_version", [])?;
        Ok(std::mem::replace(self.data_version, now) != now)
    }

    fn find_or_create_project(&mut self, path: &str, name: &str, now: Timestamp) -> Result<i64> {
        let sql = "SELECT project_id FROM projects WHERE path = ?1";
        if let Some(known) = self.transaction.query_optional(sql, [path])? {
            return Ok(known);
        }
        let sql = "INSERT INTO projects (path, name, created_at) VALUES (?1, ?2, ?3)";
        self.transaction.insert(sql, params![path, name, now.as_microsecond()])
    }

    fn find_project_path(&mut self, project_id: i64) -> Result<Option<String>> {
        let sql = "SELECT path FROM projects WHERE project_id = ?1";
        self.transaction.query_optional(sql, [project_id])
    }

    fn find_conversation(&mut self, conversation_id: i64) -> Result<Option<ConversationRow>> {
        self.transaction.select_one("WHERE conversation_id = ?1", [conversation_id])
    }

    fn save_conversation(&mut self, conversation: &mut ConversationRow) -> Result<()> {
        self.write_conversation(conversation)
    }

    fn list_conversations_on_pane(&mut self, pane: &str) -> Result<Vec<ConversationRow>> {
        self.transaction.select_all("WHERE ended_at IS NULL AND tmux_pane = ?1", [pane])
    }

    fn link_mission(&mut self, mission_execution_id: &str, session_id: &str, at: Timestamp) -> Result<()> {
        let sql = "INSERT INTO missions (mission_execution_id, session_id, linked_at) VALUES (?1, ?2, ?3) \
                   ON CONFLICT (mission_execution_id) DO UPDATE SET session_id = ?2, linked_at = ?3";
        self.transaction.run(sql, params![mission_execution_id, session_id, at.to_string()])
    }

    fn load_transcript_progress(&mut self, session_id: &str) -> Result<TranscriptProgress> {
        Ok(self.transaction.select_one("WHERE session_id = ?1", [session_id])?.unwrap_or_default())
    }

    fn save_transcript_progress(&mut self, session_id: &str, reached: &TranscriptProgress) -> Result<()> {
        let sql = "UPDATE session_ids SET transcript_path = ?2, transcript_mark = ?3, open_calls = ?4 \
                   WHERE session_id = ?1";
        self.transaction.run(sql, params![session_id, reached.path, reached.cursor, reached.open_calls])
    }

    fn open_command(&mut self, agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> Result<i64> {
        let sql = "INSERT INTO commands (agent_id, conversation_id, opened_at) VALUES (?1, ?2, ?3)";
        self.transaction.insert(sql, params![agent_id, conversation_id, at.as_microsecond()])
    }

    fn close_command(&mut self, command_id: i64, at: Timestamp) -> Result<()> {
        let sql = "UPDATE commands SET closed_at = ?2 WHERE command_id = ?1 AND closed_at IS NULL";
        self.transaction.run(sql, params![command_id, at.as_microsecond()])
    }

    fn find_last_stored_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>> {
        self.transaction.select_one("WHERE command_id = ?1 ORDER BY turn_id DESC LIMIT 1", [command_id])
    }

    fn find_latest_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>> {
        self.transaction.select_one("WHERE command_id = ?1 ORDER BY timestamp DESC, turn_id DESC LIMIT 1", [command_id])
    }

    fn find_turns_by_hash(&mut self, agent_id: i64, content_hash: i64) -> Result<Vec<TurnRow>> {
        self.transaction.select_all(
            "WHERE agent_id = ?1 AND content_hash = ?2 ORDER BY turn_id DESC LIMIT 20",
            [agent_id, content_hash],
        )
    }

    fn save_turn(&mut self, turn: &mut TurnRow) -> Result<()> {
        let number = insert_row!(self.transaction, "INSERT INTO turns", turn {
            turn_id: to_optional_id(turn.turn_id), agent_id, command_id, actor, text, content_hash,
        } on conflict (turn_id) update { intent, timestamp, timestamp_source })?;
        if turn.turn_id == 0 {
            turn.turn_id = number;
        }
        Ok(())
    }

    fn find_event_agent(&mut self, event_id: &str) -> Result<Option<i64>> {
        let sql = "SELECT agent_id FROM events WHERE event_id = ?1";
        self.transaction.query_optional(sql, [event_id])
    }

    fn list_tool_event_payloads(&mut self, conversation_id: i64, name: &str, tool_use_id: &str) -> Result<Vec<String>> {
        let sql = "SELECT payload FROM events JOIN payloads USING (id) WHERE tool_use_id = ?1 AND conversation_id = ?2 \
            AND name = ?3 ORDER BY id DESC LIMIT 20";
        self.transaction.query_all(sql, params![tool_use_id, conversation_id, name])
    }

    fn find_tool_start(
        &mut self,
        conversation_id: i64,
        tool_use_id: &str,
        before: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let sql = "SELECT at FROM events WHERE tool_use_id = ?1 AND conversation_id = ?2 AND name = 'PreToolUse' \
            AND at <= ?3 ORDER BY id DESC LIMIT 1";
        self.transaction.query_optional(sql, params![tool_use_id, conversation_id, before.as_microsecond()])
    }

    fn list_open_tool_calls(&mut self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenToolCall>> {
        self.read_open_calls(agent_id, conversation_id, tool)
    }

    fn find_last_call_summary(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>> {
        self.read_last_call_summary(agent_id, tool)
    }

    fn insert_event(&mut self, event: &EventRow<'_>) -> Result<i64> {
        let row = insert_row!(
            self.transaction,
            "INSERT INTO events",
            event {
                event_id,
                agent_id,
                conversation_id,
                name,
                tool,
                tool_use_id,
                decision,
                reason,
                state,
                correlation,
                at,
                took_us,
                tool_summary,
                tool_us,
                ends,
                error,
                changed_input,
                told: event.added_context,
                changed_output,
            }
        )?;
        self.transaction.run("INSERT INTO payloads (id, payload) VALUES (?1, ?2)", params![row, event.payload])?;
        self.follow_call_without_id(row, event)?;
        Ok(row)
    }

    fn insert_hook_run(&mut self, owner: EventReference<'_>, run: &HookRunRecord) -> Result<()> {
        insert_row!(
            self.transaction,
            "INSERT INTO hook_runs",
            run {
                id: owner.event_row,
                agent_id: owner.agent_id,
                event: owner.event,
                at: owner.at,
                contract,
                source,
                line,
                command,
                matcher,
                status: run.status_word(),
                exit_code,
                signal,
                duration_us,
                stdout,
                stderr,
                why,
            }
        )?;
        self.count_hook_run(run, owner.at)
    }

    fn finish_hook_run(&mut self, finished: &FinishedHookRun) -> Result<Option<HookRunOwner>> {
        let run = &finished.run;
        let sql = "SELECT hook_run_id, h.agent_id, h.at FROM hook_runs h \
            JOIN events e ON e.id = h.id JOIN session_ids s USING (conversation_id) \
            WHERE s.session_id = ?1 AND h.event = ?2 AND h.source = ?3 AND h.line = ?4 AND h.command = ?5 \
            AND h.status = 'started' ORDER BY hook_run_id LIMIT 1";
        let params = params![finished.session_id, finished.event, run.source, run.line, run.command];
        let started: Option<(i64, Option<i64>, Timestamp)> = self.transaction.query_optional(sql, params)?;
        let Some((hook_run_id, agent_id, began)) = started else {
            return Ok(None);
        };
        update_row!(
            self.transaction,
            "hook_runs",
            hook_run_id = hook_run_id,
            run { status: run.status_word(), exit_code, signal, duration_us, stdout, stderr, why }
        )?;
        self.count_hook_run(run, began)?;
        Ok(Some(HookRunOwner { agent_id: agent_id.unwrap_or(0) }))
    }

    fn insert_sighting(&mut self, sighting: &SightingRow<'_>) -> Result<()> {
        self.write_sighting(sighting)
    }

    fn insert_dispatch(&mut self, dispatch: &NewDispatch<'_>) -> Result<()> {
        self.write_dispatch(dispatch)
    }

    fn insert_change(&mut self, change: &NewChange<'_>) -> Result<()> {
        let data = serde_json::to_string(&change.data).map_err(|error| StoreError::Refused(error.to_string()))?;
        insert_row!(self.transaction, "INSERT INTO changes", change { kind, agent_id, project_id, at, data: data })
            .map(drop)
    }

    fn repeats_guard_verdict(
        &mut self,
        owner: EventReference<'_>,
        verdict: &GuardVerdictRecord,
        since: Timestamp,
    ) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM events n JOIN guard_verdicts g ON g.agent_id = n.agent_id \
            JOIN events e ON e.id = g.id WHERE n.id = ?1 AND g.id < n.id AND g.at >= ?2 AND e.name = 'PreToolUse' \
            AND e.tool IS n.tool AND e.tool_summary IS n.tool_summary \
            AND coalesce(e.tool_use_id = n.tool_use_id, 1) \
            AND g.decision = ?3 AND g.would IS ?4 AND g.rule = ?5 AND g.reason = ?6)";
        let (decision, would) = (verdict.decision_word(), verdict.would_word());
        let since = since.as_microsecond();
        let values = params![owner.event_row, since, decision, would, verdict.rule, verdict.reason];
        self.transaction.query_value(sql, values)
    }

    fn insert_guard_verdict(&mut self, owner: EventReference<'_>, verdict: &GuardVerdictRecord) -> Result<()> {
        insert_row!(
            self.transaction,
            "INSERT INTO guard_verdicts",
            verdict {
                id: owner.event_row,
                agent_id: owner.agent_id,
                at: owner.at,
                decision: verdict.decision_word(),
                would: verdict.would_word(),
                rule,
                tier,
                reason,
                advice,
                of_changed_input,
            }
        )?;
        self.count_verdict(verdict, owner.at)
    }
}

/// A row's id, or none for a new row.
pub(super) fn to_optional_id(number: i64) -> Option<i64> {
    (number != 0).then_some(number)
}
