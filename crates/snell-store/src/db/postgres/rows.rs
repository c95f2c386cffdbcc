//! Single rows in PostgreSQL.

use snell::Timestamp;

use super::transaction::{OtherWrites, PostgresTransaction, new_row};
use super::values::values;
use crate::db::change_feed::NewChange;
use crate::db::dispatches::NewDispatch;
use crate::db::model::{AgentRow, ConversationRow, SightingRow, TurnRow};
use crate::db::rows::{EventReference, EventRow, HookRunOwner, OpenToolCall, Rows, SessionBinding, TranscriptProgress};
use crate::error::{Result, StoreError};
use crate::record::event_record::{FinishedHookRun, GuardVerdictRecord, HookRunRecord};

impl Rows for PostgresTransaction<'_> {
    fn has_external_writes(&mut self) -> Result<bool> {
        Ok(self.other_writes == OtherWrites::Some)
    }

    fn find_session_binding(&mut self, session_id: &str) -> Result<Option<SessionBinding>> {
        self.select_one("WHERE session_ids.session_id = $1", values![session_id])
    }

    fn bind_session_id(&mut self, session_id: &str, conversation_id: i64) -> Result<()> {
        let sql = "INSERT INTO session_ids (session_id, conversation_id) VALUES ($1, $2) \
                   ON CONFLICT (session_id) DO UPDATE SET conversation_id = excluded.conversation_id";
        self.run(&["session_ids"], sql, values![session_id, conversation_id])
    }

    fn list_session_ids(&mut self, conversation_id: i64) -> Result<Vec<String>> {
        let sql = "SELECT session_id FROM session_ids WHERE conversation_id = $1 ORDER BY session_id";
        self.query_all(sql, values![conversation_id])
    }

    fn find_agent(&mut self, agent_id: i64) -> Result<Option<AgentRow>> {
        self.select_one("WHERE agent_id = $1", values![agent_id])
    }

    fn find_agent_by_headspace(&mut self, headspace_session_id: &str) -> Result<Option<AgentRow>> {
        let which = "WHERE headspace_session_id = $1 ORDER BY last_seen_at DESC, agent_id DESC LIMIT 1";
        self.select_one(which, values![headspace_session_id])
    }

    fn list_agents_on_pane(&mut self, pane: &str) -> Result<Vec<AgentRow>> {
        let which = "WHERE ended_at IS NULL AND tmux_pane = $1 ORDER BY last_seen_at DESC, agent_id DESC";
        self.select_all(which, values![pane])
    }

    fn list_agents_in_project(&mut self, project_id: i64) -> Result<Vec<AgentRow>> {
        let which = "WHERE ended_at IS NULL AND project_id = $1 ORDER BY last_seen_at DESC, agent_id DESC";
        self.select_all(which, values![project_id])
    }

    fn list_live_agents(&mut self) -> Result<Vec<AgentRow>> {
        self.select_all("WHERE ended_at IS NULL ORDER BY agent_id", values![])
    }

    fn save_agent(&mut self, agent: &mut AgentRow) -> Result<()> {
        if agent.agent_id != 0 {
            return self.update(agent.to_postgres_row());
        }
        agent.agent_id = self.take_id("agents_agent_id_seq")?;
        self.insert(agent.to_postgres_row());
        Ok(())
    }

    fn update_agent(&mut self, agent: &AgentRow, _: &AgentRow) -> Result<()> {
        self.update(agent.to_postgres_row())
    }

    fn find_or_create_project(&mut self, path: &str, name: &str, now: Timestamp) -> Result<i64> {
        let known = "SELECT project_id FROM projects WHERE snell_digest(path) = snell_digest($1)";
        if let Some(project_id) = self.query_optional(known, values![path])? {
            return Ok(project_id);
        }
        // Another machine may create it at the same time.
        let sql = "INSERT INTO projects (path, name, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
        self.run(&["projects"], sql, values![path, name, now])?;
        self.query_value(known, values![path])
    }

    fn find_project_path(&mut self, project_id: i64) -> Result<Option<String>> {
        self.query_optional("SELECT path FROM projects WHERE project_id = $1", values![project_id])
    }

    fn find_conversation(&mut self, conversation_id: i64) -> Result<Option<ConversationRow>> {
        self.select_one("WHERE conversation_id = $1", values![conversation_id])
    }

    fn save_conversation(&mut self, conversation: &mut ConversationRow) -> Result<()> {
        self.write_conversation(conversation)
    }

    fn list_conversations_on_pane(&mut self, pane: &str) -> Result<Vec<ConversationRow>> {
        self.select_all("WHERE ended_at IS NULL AND tmux_pane = $1 ORDER BY conversation_id", values![pane])
    }

    fn link_mission(&mut self, mission_execution_id: &str, session_id: &str, at: Timestamp) -> Result<()> {
        let sql = "INSERT INTO missions (mission_execution_id, session_id, linked_at) VALUES ($1, $2, $3) \
                   ON CONFLICT (mission_execution_id) DO UPDATE SET session_id = $2, linked_at = $3";
        self.run(&["missions"], sql, values![mission_execution_id, session_id, at.to_string()])
    }

    fn load_transcript_progress(&mut self, session_id: &str) -> Result<TranscriptProgress> {
        Ok(self.select_one("WHERE session_id = $1", values![session_id])?.unwrap_or_default())
    }

    fn save_transcript_progress(&mut self, session_id: &str, reached: &TranscriptProgress) -> Result<()> {
        let sql = "UPDATE session_ids SET transcript_path = $2, transcript_mark = $3, open_calls = $4 \
                   WHERE session_id = $1";
        let values = values![session_id, reached.path, reached.cursor, reached.open_calls];
        self.run(&["session_ids"], sql, values)
    }

    fn open_command(&mut self, agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> Result<i64> {
        let command_id = self.take_id("commands_command_id_seq")?;
        let sql = "INSERT INTO commands (command_id, agent_id, conversation_id, opened_at) VALUES ($1, $2, $3, $4)";
        self.run(&["commands"], sql, values![command_id, agent_id, conversation_id, at])?;
        Ok(command_id)
    }

    fn close_command(&mut self, command_id: i64, at: Timestamp) -> Result<()> {
        let sql = "UPDATE commands SET closed_at = $2 WHERE command_id = $1 AND closed_at IS NULL";
        self.run(&["commands"], sql, values![command_id, at])
    }

    fn find_last_stored_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>> {
        self.select_one("WHERE command_id = $1 ORDER BY turn_id DESC LIMIT 1", values![command_id])
    }

    fn find_latest_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>> {
        self.select_one("WHERE command_id = $1 ORDER BY timestamp DESC, turn_id DESC LIMIT 1", values![command_id])
    }

    fn find_turns_by_hash(&mut self, agent_id: i64, content_hash: i64) -> Result<Vec<TurnRow>> {
        let which = "WHERE agent_id = $1 AND content_hash = $2 ORDER BY turn_id DESC LIMIT 20";
        self.select_all(which, values![agent_id, content_hash])
    }

    fn save_turn(&mut self, turn: &mut TurnRow) -> Result<()> {
        if turn.turn_id != 0 {
            let sql = "UPDATE turns SET intent = $2, timestamp = $3, timestamp_source = $4 WHERE turn_id = $1";
            return self.run(
                &["turns"],
                sql,
                values![turn.turn_id, turn.intent, turn.timestamp, turn.timestamp_source],
            );
        }
        turn.turn_id = self.take_id("turns_turn_id_seq")?;
        self.insert(new_row!(
            "turns",
            turn { turn_id, agent_id, command_id, actor, text, content_hash, intent, timestamp, timestamp_source }
        ));
        Ok(())
    }

    fn find_event_agent(&mut self, event_id: &str) -> Result<Option<i64>> {
        if self.next_event_id.is_some() || self.is_read_only {
            return self.query_optional("SELECT agent_id FROM events WHERE event_id = $1", values![event_id]);
        }
        // A new event gets its id by the same query.
        let sql = "SELECT e.agent_id, CASE WHEN e.agent_id IS NULL THEN nextval('events_id_seq') END \
            FROM (SELECT 1) always LEFT JOIN events e ON e.event_id = $1";
        let (agent_id, next_event_id) = self.query_value(sql, values![event_id])?;
        self.next_event_id = next_event_id;
        Ok(agent_id)
    }

    fn list_tool_event_payloads(&mut self, conversation_id: i64, name: &str, tool_use_id: &str) -> Result<Vec<String>> {
        let sql = "SELECT payload FROM events JOIN payloads USING (id) WHERE tool_use_id = $1 AND conversation_id = $2 \
            AND name = $3 ORDER BY id DESC LIMIT 20";
        self.query_all(sql, values![tool_use_id, conversation_id, name])
    }

    fn find_tool_start(
        &mut self,
        conversation_id: i64,
        tool_use_id: &str,
        before: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let sql = "SELECT at FROM events WHERE tool_use_id = $1 AND conversation_id = $2 AND name = 'PreToolUse' \
            AND at <= $3 ORDER BY id DESC LIMIT 1";
        self.query_optional(sql, values![tool_use_id, conversation_id, before])
    }

    fn list_open_tool_calls(&mut self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenToolCall>> {
        self.read_open_calls(agent_id, conversation_id, tool)
    }

    fn find_last_call_summary(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>> {
        self.read_last_call_summary(agent_id, tool)
    }

    fn insert_event(&mut self, event: &EventRow<'_>) -> Result<i64> {
        let row = match self.next_event_id.take() {
            Some(row) => row,
            None => self.take_id("events_id_seq")?,
        };
        self.insert(new_row!(
            "events",
            event {
                id: row,
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
        ));
        self.insert(new_row!("payloads", event { id: row, payload }));
        self.follow_call_without_id(row, event)?;
        Ok(row)
    }

    fn insert_hook_run(&mut self, owner: EventReference<'_>, run: &HookRunRecord) -> Result<()> {
        self.insert(new_row!(
            "hook_runs",
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
        ));
        self.count_hook_run(run, owner.at)
    }

    fn finish_hook_run(&mut self, finished: &FinishedHookRun) -> Result<Option<HookRunOwner>> {
        let run = &finished.run;
        let sql = "SELECT hook_run_id, h.agent_id, h.at FROM hook_runs h \
            JOIN events e ON e.id = h.id JOIN session_ids s USING (conversation_id) \
            WHERE s.session_id = $1 AND h.event = $2 AND h.source = $3 AND h.line = $4 AND h.command = $5 \
            AND h.status = 'started' ORDER BY hook_run_id LIMIT 1";
        let values = values![finished.session_id, finished.event, run.source, run.line, run.command];
        let started: Option<(i64, Option<i64>, Timestamp)> = self.query_optional(sql, values)?;
        let Some((hook_run_id, agent_id, began)) = started else {
            return Ok(None);
        };
        self.update(new_row!(
            "hook_runs",
            run {
                hook_run_id: hook_run_id,
                status: run.status_word(),
                exit_code,
                signal,
                duration_us,
                stdout,
                stderr,
                why,
            }
        ))?;
        self.count_hook_run(run, began)?;
        Ok(Some(HookRunOwner { agent_id: agent_id.unwrap_or(0) }))
    }

    fn repeats_guard_verdict(
        &mut self,
        owner: EventReference<'_>,
        verdict: &GuardVerdictRecord,
        since: Timestamp,
    ) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM events n JOIN guard_verdicts g ON g.agent_id = n.agent_id \
            JOIN events e ON e.id = g.id WHERE n.id = $1 AND g.id < n.id AND g.at >= $2 AND e.name = 'PreToolUse' \
            AND e.tool IS NOT DISTINCT FROM n.tool AND e.tool_summary IS NOT DISTINCT FROM n.tool_summary \
            AND coalesce(e.tool_use_id = n.tool_use_id, true) \
            AND g.decision = $3 AND g.would IS NOT DISTINCT FROM $4 AND g.rule = $5 AND g.reason = $6)";
        let (decision, would) = (verdict.decision_word(), verdict.would_word());
        self.query_value(sql, values![owner.event_row, since, decision, would, verdict.rule, verdict.reason])
    }

    fn insert_guard_verdict(&mut self, owner: EventReference<'_>, verdict: &GuardVerdictRecord) -> Result<()> {
        self.insert(new_row!(
            "guard_verdicts",
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
        ));
        self.count_verdict(verdict, owner.at);
        Ok(())
    }

    fn insert_sighting(&mut self, sighting: &SightingRow<'_>) -> Result<()> {
        self.write_sighting(sighting)
    }

    fn insert_dispatch(&mut self, dispatch: &NewDispatch<'_>) -> Result<()> {
        self.write_dispatch(dispatch)
    }

    fn insert_change(&mut self, change: &NewChange<'_>) -> Result<()> {
        let data = serde_json::to_string(&change.data).map_err(|error| StoreError::Refused(error.to_string()))?;
        self.add_change(values![change.kind, change.agent_id, change.project_id, change.at, data]);
        Ok(())
    }
}
