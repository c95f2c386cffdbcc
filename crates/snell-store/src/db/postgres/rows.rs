//! Single rows in PostgreSQL.

use snell::Timestamp;

use std::sync::LazyLock;

use super::prefetch::KeyedQuery;
use super::transaction::{CommandTurns, OtherWrites, PostgresTransaction, new_row};
use super::values::{ToValue, values};
use crate::db::change_feed::NewChange;
use crate::db::columns::SelectedRow;
use crate::db::dispatches::NewDispatch;
use crate::db::model::{AgentRow, ConversationRow, SightingRow, TurnRow};
use crate::db::rows::{EventReference, EventRow, HookRunOwner, OpenToolCall, Rows, SessionBinding, TranscriptProgress};
use crate::error::{Result, StoreError};
use crate::record::event_record::{FinishedHookRun, GuardVerdictRecord, HookRunRecord};

/// Declares queries of rows by their keys: the SELECT of a type and what follows it, or the whole SQL.
macro_rules! keyed_queries {
    (@sql $type:ident $which:literal) => { format!("{} {}", $type::SELECT, $which) };
    (@sql $which:literal) => { $which.to_owned() };
    ($($(#[$doc:meta])* $name:ident: $($type:ident)? $which:literal, $depends_on:expr;)+) => {$(
        $(#[$doc])*
        pub(super) static $name: KeyedQuery = KeyedQuery {
            sql: LazyLock::new(|| keyed_queries!(@sql $($type)? $which)),
            depends_on: &$depends_on,
        };
    )+};
}

// A sum in ORDER BY keeps the planner from searching backwards through the whole table.
keyed_queries! {
    FIND_AGENT: AgentRow "WHERE agent_id = $1", [("agents", "agent_id", 0)];
    FIND_CONVERSATION: ConversationRow "WHERE conversation_id = $1", [("conversations", "conversation_id", 0)];
    FIND_EVENT_AGENT: "SELECT agent_id FROM events WHERE event_id = $1", [("events", "event_id", 0)];
    FIND_LAST_TURN: TurnRow "WHERE command_id = $1 ORDER BY turn_id + 0 DESC LIMIT 1", [("turns", "command_id", 0)];
    FIND_LATEST_TURN: TurnRow "WHERE command_id = $1 ORDER BY timestamp DESC, turn_id DESC LIMIT 1",
        [("turns", "command_id", 0)];
    /// A [`SessionBinding`], and the current command of its agent.
    FIND_SESSION: "SELECT conversation_id, agent_id, \
        (SELECT command_id FROM agents WHERE agents.agent_id = conversations.agent_id) \
        FROM session_ids JOIN conversations USING (conversation_id) WHERE session_ids.session_id = $1",
        [("session_ids", "session_id", 0)];
    FIND_TOOL_START: "SELECT at FROM events WHERE tool_use_id = $1 AND conversation_id = $2 AND name = 'PreToolUse' \
        AND at <= $3 ORDER BY id + 0 DESC LIMIT 1", [("events", "tool_use_id", 0)];
    FIND_TURNS_BY_HASH: TurnRow "WHERE agent_id = $1 AND content_hash = $2 ORDER BY turn_id + 0 DESC LIMIT 20",
        [("turns", "content_hash", 1)];
    LIST_TOOL_PAYLOADS: "SELECT payload FROM events JOIN payloads USING (id) WHERE tool_use_id = $1 \
        AND conversation_id = $2 AND name = $3 ORDER BY id + 0 DESC LIMIT 20", [("events", "tool_use_id", 0)];
}

impl Rows for PostgresTransaction<'_> {
    fn has_external_writes(&mut self) -> Result<bool> {
        Ok(self.other_writes == OtherWrites::Some)
    }

    fn find_session_binding(&mut self, session_id: &str) -> Result<Option<SessionBinding>> {
        let found: Option<SessionBinding> = self.find_row(&FIND_SESSION, values![session_id])?;
        // A conversation may get another agent.
        let is_written = |found: &SessionBinding| {
            self.has_written("conversations", "conversation_id", &found.conversation_id.to_value())
        };
        match found {
            Some(found) if is_written(&found) => self.query_optional(&FIND_SESSION.sql, values![session_id]),
            found => Ok(found),
        }
    }

    fn bind_session_id(&mut self, session_id: &str, conversation_id: i64) -> Result<()> {
        let sql = "INSERT INTO session_ids (session_id, conversation_id) VALUES ($1, $2) \
                   ON CONFLICT (session_id) DO UPDATE SET conversation_id = excluded.conversation_id";
        self.run_keyed(
            &[("session_ids", "session_id", session_id.to_value())],
            sql,
            values![session_id, conversation_id],
        )
    }

    fn list_session_ids(&mut self, conversation_id: i64) -> Result<Vec<String>> {
        let sql = "SELECT session_id FROM session_ids WHERE conversation_id = $1 ORDER BY session_id";
        self.query_all(sql, values![conversation_id])
    }

    fn find_agent(&mut self, agent_id: i64) -> Result<Option<AgentRow>> {
        self.find_row(&FIND_AGENT, values![agent_id])
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
        if let Some(path) = self.memory.project_paths.get(&project_id) {
            return Ok(Some(path.clone()));
        }
        let found: Option<String> =
            self.query_optional("SELECT path FROM projects WHERE project_id = $1", values![project_id])?;
        if let Some(path) = &found {
            self.memory.project_paths.insert(project_id, path.clone());
        }
        Ok(found)
    }

    fn find_conversation(&mut self, conversation_id: i64) -> Result<Option<ConversationRow>> {
        self.find_row(&FIND_CONVERSATION, values![conversation_id])
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
        self.run_keyed(&[("session_ids", "session_id", session_id.to_value())], sql, values)
    }

    fn open_command(&mut self, agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> Result<i64> {
        let command_id = self.take_id("commands_command_id_seq")?;
        self.new_commands.insert(command_id);
        let sql = "INSERT INTO commands (command_id, agent_id, conversation_id, opened_at) VALUES ($1, $2, $3, $4)";
        self.run(&["commands"], sql, values![command_id, agent_id, conversation_id, at])?;
        Ok(command_id)
    }

    fn close_command(&mut self, command_id: i64, at: Timestamp) -> Result<()> {
        let sql = "UPDATE commands SET closed_at = $2 WHERE command_id = $1 AND closed_at IS NULL";
        self.run(&["commands"], sql, values![command_id, at])
    }

    fn find_last_stored_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>> {
        match self.turns.get(&command_id) {
            Some(known) => Ok(Some(known.last.clone())),
            None if self.new_commands.contains(&command_id) => Ok(None),
            None => self.find_row(&FIND_LAST_TURN, values![command_id]),
        }
    }

    fn find_latest_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>> {
        match self.turns.get(&command_id) {
            Some(known) => Ok(Some(known.latest.clone())),
            None if self.new_commands.contains(&command_id) => Ok(None),
            None => self.find_row(&FIND_LATEST_TURN, values![command_id]),
        }
    }

    fn find_turns_by_hash(&mut self, agent_id: i64, content_hash: i64) -> Result<Vec<TurnRow>> {
        self.find_rows(&FIND_TURNS_BY_HASH, values![agent_id, content_hash])
    }

    fn save_turn(&mut self, turn: &mut TurnRow) -> Result<()> {
        if turn.turn_id != 0 {
            let sql = "UPDATE turns SET intent = $2, timestamp = $3, timestamp_source = $4 WHERE turn_id = $1";
            let values = values![turn.turn_id, turn.intent, turn.timestamp, turn.timestamp_source];
            self.turns.remove(&turn.command_id);
            self.new_commands.remove(&turn.command_id);
            let of_command = ("turns", "command_id", turn.command_id.to_value());
            return self.run_keyed(&[of_command, ("turns", "content_hash", turn.content_hash.to_value())], sql, values);
        }
        turn.turn_id = self.take_id("turns_turn_id_seq")?;
        let before = self.find_latest_turn(turn.command_id)?;
        let latest = before.filter(|before| before.timestamp > turn.timestamp).unwrap_or_else(|| turn.clone());
        self.turns.insert(turn.command_id, CommandTurns { last: turn.clone(), latest });
        self.insert(new_row!(
            "turns",
            turn { turn_id, agent_id, command_id, actor, text, content_hash, intent, timestamp, timestamp_source }
        ));
        Ok(())
    }

    fn find_event_agent(&mut self, event_id: &str) -> Result<Option<i64>> {
        self.find_row(&FIND_EVENT_AGENT, values![event_id])
    }

    fn list_tool_event_payloads(&mut self, conversation_id: i64, name: &str, tool_use_id: &str) -> Result<Vec<String>> {
        self.find_rows(&LIST_TOOL_PAYLOADS, values![tool_use_id, conversation_id, name])
    }

    fn find_tool_start(
        &mut self,
        conversation_id: i64,
        tool_use_id: &str,
        before: Timestamp,
    ) -> Result<Option<Timestamp>> {
        self.find_row(&FIND_TOOL_START, values![tool_use_id, conversation_id, before])
    }

    fn list_open_tool_calls(&mut self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenToolCall>> {
        self.read_open_calls(agent_id, conversation_id, tool)
    }

    fn find_last_call_summary(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>> {
        self.read_last_call_summary(agent_id, tool)
    }

    fn insert_event(&mut self, event: &EventRow<'_>) -> Result<i64> {
        let row = self.take_id("events_id_seq")?;
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
