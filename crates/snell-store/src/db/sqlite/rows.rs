//! Single rows in SQLite.

use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Params, Row, Transaction, params};
use serde_json::Value;
use snell::Timestamp;

use super::agent_rows::{AGENT_COLUMNS, decode_agent, get_indexed_columns};
use super::conversation_rows::{CONVERSATION_COLUMNS, decode_conversation};
use crate::db::change_feed::NewChange;
use crate::db::model::{AgentRow, ConversationRow, SightingRow, TimestampSource, TurnActor, TurnRow};
use crate::db::rows::{EventReference, EventRow, HookRunOwner, OpenToolCall, Rows, SessionBinding, TranscriptProgress};
use crate::derive::intent::TurnIntent;
use crate::error::{Result, StoreError};
use crate::record::event_record::{FinishedHookRun, GuardVerdictRecord, HookRunRecord};
use crate::record::json;

/// Inside a transaction.
pub(super) struct SqliteTransaction<'a, 'c> {
    pub(super) transaction: &'a Transaction<'c>,
    /// By which the connection tells others' commits.
    pub(super) data_version: &'a mut i64,
}

const TURN_COLUMNS: &str =
    "turn_id, agent_id, command_id, actor, intent, text, timestamp, timestamp_source, content_hash";

impl SqliteTransaction<'_, '_> {
    pub(super) fn query_one<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        Ok(self.transaction.prepare_cached(sql)?.query_row(params, read).optional()?)
    }

    pub(super) fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>> {
        let mut statement = self.transaction.prepare_cached(sql)?;
        let found = statement.query_map(params, read)?.collect::<rusqlite::Result<_>>()?;
        Ok(found)
    }

    pub(super) fn execute(&self, sql: &str, params: impl Params) -> Result<usize> {
        Ok(self.transaction.prepare_cached(sql)?.execute(params)?)
    }

    /// Runs an INSERT and answers the new row's number.
    pub(super) fn insert_row(&self, sql: &str, params: impl Params) -> Result<i64> {
        self.execute(sql, params)?;
        Ok(self.transaction.last_insert_rowid())
    }
}

impl Rows for SqliteTransaction<'_, '_> {
    fn find_session_binding(&mut self, session_id: &str) -> Result<Option<SessionBinding>> {
        let sql = "SELECT conversation_id, agent_id FROM session_ids JOIN conversations USING (conversation_id) \
                   WHERE session_ids.session_id = ?1";
        self.query_one(sql, [session_id], |row| {
            Ok(SessionBinding { conversation_id: row.get(0)?, agent_id: row.get(1)? })
        })
    }

    fn bind_session_id(&mut self, session_id: &str, conversation_id: i64) -> Result<()> {
        let sql = "INSERT INTO session_ids (session_id, conversation_id) VALUES (?1, ?2) \
                   ON CONFLICT (session_id) DO UPDATE SET conversation_id = excluded.conversation_id";
        self.execute(sql, params![session_id, conversation_id]).map(drop)
    }

    fn list_session_ids(&mut self, conversation_id: i64) -> Result<Vec<String>> {
        let sql = "SELECT session_id FROM session_ids WHERE conversation_id = ?1";
        self.query_all(sql, [conversation_id], |row| row.get(0))
    }

    fn find_agent(&mut self, agent_id: i64) -> Result<Option<AgentRow>> {
        let sql = format!("SELECT {AGENT_COLUMNS} FROM agents WHERE agent_id = ?1");
        self.query_one(&sql, [agent_id], decode_agent)
    }

    fn find_agent_by_headspace(&mut self, headspace_session_id: &str) -> Result<Option<AgentRow>> {
        let sql = format!(
            "SELECT {AGENT_COLUMNS} FROM agents WHERE headspace_session_id = ?1 \
             ORDER BY last_seen_at DESC, agent_id DESC LIMIT 1"
        );
        self.query_one(&sql, [headspace_session_id], decode_agent)
    }

    fn list_agents_on_pane(&mut self, pane: &str) -> Result<Vec<AgentRow>> {
        let sql = format!(
            "SELECT {AGENT_COLUMNS} FROM agents WHERE ended_at IS NULL AND tmux_pane = ?1 \
             ORDER BY last_seen_at DESC, agent_id DESC"
        );
        self.query_all(&sql, [pane], decode_agent)
    }

    fn list_agents_in_project(&mut self, project_id: i64) -> Result<Vec<AgentRow>> {
        let sql = format!(
            "SELECT {AGENT_COLUMNS} FROM agents WHERE ended_at IS NULL AND project_id = ?1 \
             ORDER BY last_seen_at DESC, agent_id DESC"
        );
        self.query_all(&sql, [project_id], decode_agent)
    }

    fn list_live_agents(&mut self) -> Result<Vec<AgentRow>> {
        let sql = format!("SELECT {AGENT_COLUMNS} FROM agents WHERE ended_at IS NULL ORDER BY agent_id");
        self.query_all(&sql, [], decode_agent)
    }

    fn save_agent(&mut self, agent: &mut AgentRow) -> Result<()> {
        if agent.agent_id == 0 {
            agent.agent_id = self.insert_agent(agent)?;
        }
        self.update_indexed_columns(agent)?;
        self.update_other_columns(agent)
    }

    fn update_agent(&mut self, agent: &AgentRow, stored: &AgentRow) -> Result<()> {
        // What is in an index is written only when it changes: an index is written even if its columns stay the same.
        if get_indexed_columns(agent) != get_indexed_columns(stored) {
            self.update_indexed_columns(agent)?;
        }
        self.update_other_columns(agent)
    }

    fn has_external_writes(&mut self) -> Result<bool> {
        let now = self.transaction.prepare_cached("PRAGMA data_version")?.query_row([], |row| row.get(0))?;
        Ok(std::mem::replace(self.data_version, now) != now)
    }

    fn find_or_create_project(&mut self, path: &str, name: &str, now: Timestamp) -> Result<i64> {
        let sql = "SELECT project_id FROM projects WHERE path = ?1";
        if let Some(known) = self.query_one(sql, [path], |row| row.get(0))? {
            return Ok(known);
        }
        let sql = "INSERT INTO projects (path, name, created_at) VALUES (?1, ?2, ?3)";
        self.insert_row(sql, params![path, name, now.as_microsecond()])
    }

    fn find_project_path(&mut self, project_id: i64) -> Result<Option<String>> {
        let sql = "SELECT path FROM projects WHERE project_id = ?1";
        self.query_one(sql, [project_id], |row| row.get(0))
    }

    fn find_conversation(&mut self, conversation_id: i64) -> Result<Option<ConversationRow>> {
        let sql = format!("SELECT {CONVERSATION_COLUMNS} FROM conversations WHERE conversation_id = ?1");
        self.query_one(&sql, [conversation_id], decode_conversation)
    }

    fn save_conversation(&mut self, conversation: &mut ConversationRow) -> Result<()> {
        self.write_conversation(conversation)
    }

    fn list_conversations_on_pane(&mut self, pane: &str) -> Result<Vec<ConversationRow>> {
        let sql = format!("SELECT {CONVERSATION_COLUMNS} FROM conversations WHERE ended_at IS NULL AND tmux_pane = ?1");
        self.query_all(&sql, [pane], decode_conversation)
    }

    fn link_mission(&mut self, mission_execution_id: &str, session_id: &str, at: Timestamp) -> Result<()> {
        let sql = "INSERT INTO missions (mission_execution_id, session_id, linked_at) VALUES (?1, ?2, ?3) \
                   ON CONFLICT (mission_execution_id) DO UPDATE SET session_id = ?2, linked_at = ?3";
        self.execute(sql, params![mission_execution_id, session_id, at.to_string()]).map(drop)
    }

    fn load_transcript_progress(&mut self, session_id: &str) -> Result<TranscriptProgress> {
        let sql = "SELECT transcript_path, transcript_mark FROM session_ids WHERE session_id = ?1";
        let found =
            self.query_one(sql, [session_id], |row| Ok(TranscriptProgress { path: row.get(0)?, cursor: row.get(1)? }))?;
        Ok(found.unwrap_or_default())
    }

    fn save_transcript_progress(&mut self, session_id: &str, reached: &TranscriptProgress) -> Result<()> {
        let sql = "UPDATE session_ids SET transcript_path = ?2, transcript_mark = ?3 WHERE session_id = ?1";
        self.execute(sql, params![session_id, reached.path, reached.cursor]).map(drop)
    }

    fn open_command(&mut self, agent_id: i64, conversation_id: Option<i64>, at: Timestamp) -> Result<i64> {
        let sql = "INSERT INTO commands (agent_id, conversation_id, opened_at) VALUES (?1, ?2, ?3)";
        self.insert_row(sql, params![agent_id, conversation_id, at.as_microsecond()])
    }

    fn close_command(&mut self, command_id: i64, at: Timestamp) -> Result<()> {
        let sql = "UPDATE commands SET closed_at = ?2 WHERE command_id = ?1 AND closed_at IS NULL";
        self.execute(sql, params![command_id, at.as_microsecond()]).map(drop)
    }

    fn find_last_stored_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>> {
        let sql = format!("SELECT {TURN_COLUMNS} FROM turns WHERE command_id = ?1 ORDER BY turn_id DESC LIMIT 1");
        self.query_one(&sql, [command_id], decode_turn)
    }

    fn find_latest_turn(&mut self, command_id: i64) -> Result<Option<TurnRow>> {
        let sql = format!(
            "SELECT {TURN_COLUMNS} FROM turns WHERE command_id = ?1 ORDER BY timestamp DESC, turn_id DESC LIMIT 1"
        );
        self.query_one(&sql, [command_id], decode_turn)
    }

    fn find_turns_by_hash(&mut self, agent_id: i64, content_hash: i64) -> Result<Vec<TurnRow>> {
        let sql = format!(
            "SELECT {TURN_COLUMNS} FROM turns WHERE agent_id = ?1 AND content_hash = ?2 ORDER BY turn_id DESC LIMIT 20"
        );
        self.query_all(&sql, [agent_id, content_hash], decode_turn)
    }

    fn save_turn(&mut self, turn: &mut TurnRow) -> Result<()> {
        let sql = "INSERT INTO turns (turn_id, agent_id, command_id, actor, intent, text, timestamp, timestamp_source, \
            content_hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) \
            ON CONFLICT (turn_id) DO UPDATE SET intent = ?5, timestamp = ?7, timestamp_source = ?8";
        let number = self.insert_row(
            sql,
            params![
                to_optional_id(turn.turn_id),
                turn.agent_id,
                turn.command_id,
                turn.actor.as_str(),
                turn.intent.as_str(),
                turn.text,
                turn.timestamp.as_microsecond(),
                turn.timestamp_source.as_str(),
                turn.content_hash,
            ],
        )?;
        if turn.turn_id == 0 {
            turn.turn_id = number;
        }
        Ok(())
    }

    fn find_event_agent(&mut self, event_id: &str) -> Result<Option<i64>> {
        let sql = "SELECT agent_id FROM events WHERE event_id = ?1";
        self.query_one(sql, [event_id], |row| row.get(0))
    }

    fn list_tool_event_payloads(&mut self, conversation_id: i64, name: &str, tool_use_id: &str) -> Result<Vec<String>> {
        let sql = "SELECT payload FROM events JOIN payloads USING (id) WHERE tool_use_id = ?1 AND conversation_id = ?2 \
            AND name = ?3 ORDER BY id DESC LIMIT 20";
        self.query_all(sql, params![tool_use_id, conversation_id, name], |row| row.get(0))
    }

    fn find_tool_start(
        &mut self,
        conversation_id: i64,
        tool_use_id: &str,
        before: Timestamp,
    ) -> Result<Option<Timestamp>> {
        let sql = "SELECT at FROM events WHERE tool_use_id = ?1 AND conversation_id = ?2 AND name = 'PreToolUse' \
            AND at <= ?3 ORDER BY id DESC LIMIT 1";
        self.query_one(sql, params![tool_use_id, conversation_id, before.as_microsecond()], |row| get_time(row, 0))
    }

    fn list_open_tool_calls(&mut self, agent_id: i64, conversation_id: i64, tool: &str) -> Result<Vec<OpenToolCall>> {
        self.read_open_calls(agent_id, conversation_id, tool)
    }

    fn find_last_call_summary(&mut self, agent_id: i64, tool: &str) -> Result<Option<String>> {
        self.read_last_call_summary(agent_id, tool)
    }

    fn insert_event(&mut self, event: &EventRow<'_>) -> Result<i64> {
        let sql = "INSERT INTO events (event_id, agent_id, conversation_id, name, tool, tool_use_id, decision, reason, \
            state, correlation, at, took_us, tool_summary, tool_us, ends, error, changed_input, told, \
            changed_output) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)";
        let row = self.insert_row(
            sql,
            params![
                event.event_id,
                event.agent_id,
                event.conversation_id,
                event.name,
                event.tool,
                event.tool_use_id,
                event.decision,
                event.reason,
                event.state.as_str(),
                event.correlation.as_str(),
                event.at.as_microsecond(),
                event.took_us.map(u64::cast_signed),
                event.tool_summary,
                event.tool_us.map(u64::cast_signed),
                event.ends,
                event.error,
                event.changed_input,
                event.added_context,
                event.changed_output,
            ],
        )?;
        self.execute("INSERT INTO payloads (id, payload) VALUES (?1, ?2)", params![row, event.payload])?;
        Ok(row)
    }

    fn insert_hook_run(&mut self, owner: EventReference<'_>, run: &HookRunRecord) -> Result<()> {
        let sql = "INSERT INTO hook_runs (id, agent_id, event, at, contract, source, line, command, matcher, status, \
            exit_code, signal, duration_us, stdout, stderr, why) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";
        self.execute(
            sql,
            params![
                owner.event_row,
                owner.agent_id,
                owner.event,
                owner.at.as_microsecond(),
                run.contract,
                run.source,
                run.line,
                run.command,
                run.matcher,
                run.status,
                run.exit_code,
                run.signal,
                run.duration_us.cast_signed(),
                run.stdout,
                run.stderr,
                run.why,
            ],
        )?;
        self.count_hook_run(run, owner.at)
    }

    fn finish_hook_run(&mut self, finished: &FinishedHookRun) -> Result<Option<HookRunOwner>> {
        let run = &finished.run;
        let sql = "SELECT hook_run_id, h.agent_id, h.at FROM hook_runs h \
            JOIN events e ON e.id = h.id JOIN session_ids s USING (conversation_id) \
            WHERE s.session_id = ?1 AND h.event = ?2 AND h.source = ?3 AND h.line = ?4 AND h.command = ?5 \
            AND h.status = 'started' ORDER BY hook_run_id LIMIT 1";
        let found = self.query_one(
            sql,
            params![finished.session_id, finished.event, run.source, run.line, run.command],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<i64>>(1)?, get_time(row, 2)?)),
        )?;
        let Some((hook_run_id, agent_id, began)) = found else {
            return Ok(None);
        };
        let sql = "UPDATE hook_runs SET status = ?2, exit_code = ?3, signal = ?4, duration_us = ?5, stdout = ?6, \
            stderr = ?7, why = ?8 WHERE hook_run_id = ?1";
        self.execute(
            sql,
            params![
                hook_run_id,
                run.status,
                run.exit_code,
                run.signal,
                run.duration_us.cast_signed(),
                run.stdout,
                run.stderr,
                run.why,
            ],
        )?;
        self.count_hook_run(run, began)?;
        Ok(Some(HookRunOwner { agent_id: agent_id.unwrap_or(0) }))
    }

    fn insert_sighting(&mut self, sighting: &SightingRow<'_>) -> Result<()> {
        self.write_sighting(sighting)
    }

    fn insert_change(&mut self, change: &NewChange<'_>) -> Result<()> {
        let sql = "INSERT INTO changes (kind, agent_id, project_id, at, data) VALUES (?1, ?2, ?3, ?4, ?5)";
        let data = serde_json::to_string(&change.data).map_err(|error| StoreError::Refused(error.to_string()))?;
        self.execute(
            sql,
            params![change.kind.as_str(), change.agent_id, change.project_id, change.at.as_microsecond(), data,],
        )
        .map(drop)
    }

    fn insert_guard_verdict(&mut self, owner: EventReference<'_>, verdict: &GuardVerdictRecord) -> Result<()> {
        let sql = "INSERT INTO guard_verdicts (id, agent_id, at, decision, would, rule, tier, reason, advice, \
            of_changed_input) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        self.execute(
            sql,
            params![
                owner.event_row,
                owner.agent_id,
                owner.at.as_microsecond(),
                verdict.decision,
                verdict.would,
                verdict.rule,
                verdict.tier,
                verdict.reason,
                verdict.advice,
                verdict.of_changed_input,
            ],
        )?;
        self.count_verdict(verdict, owner.at)
    }
}

/// A row's number, or none for one that is to get its own.
pub(super) fn to_optional_id(number: i64) -> Option<i64> {
    (number != 0).then_some(number)
}

fn decode_turn(row: &Row<'_>) -> rusqlite::Result<TurnRow> {
    Ok(TurnRow {
        turn_id: row.get(0)?,
        agent_id: row.get(1)?,
        command_id: row.get(2)?,
        actor: get_enum(row, 3, TurnActor::parse)?,
        intent: get_enum(row, 4, TurnIntent::parse)?,
        text: row.get(5)?,
        timestamp: get_time(row, 6)?,
        timestamp_source: get_enum(row, 7, TimestampSource::parse)?,
        content_hash: row.get(8)?,
    })
}

/// A time, kept in microseconds.
pub(super) fn get_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Timestamp> {
    let microseconds: i64 = row.get(column)?;
    decode_timestamp(microseconds, column)
}

pub(super) fn get_optional_time(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    let microseconds: Option<i64> = row.get(column)?;
    microseconds.map(|microseconds| decode_timestamp(microseconds, column)).transpose()
}

fn decode_timestamp(microseconds: i64, column: usize) -> rusqlite::Result<Timestamp> {
    Timestamp::from_microsecond(microseconds)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Integer, Box::new(error)))
}

/// What a column with JSON says; nothing if it is empty or cannot be read.
pub(super) fn get_json(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Value>> {
    let text: Option<String> = row.get(column)?;
    Ok(text.and_then(|text| json::parse_stored_json(text.as_bytes()).ok()))
}

/// A word of ours. Anything else there means that somebody else wrote it.
pub(super) fn get_enum<T>(row: &Row<'_>, column: usize, parse: fn(&str) -> Option<T>) -> rusqlite::Result<T> {
    get_optional_enum(row, column, parse)?
        .ok_or_else(|| rusqlite::Error::InvalidColumnType(column, "a word".into(), Type::Null))
}

pub(super) fn get_optional_enum<T>(
    row: &Row<'_>,
    column: usize,
    parse: fn(&str) -> Option<T>,
) -> rusqlite::Result<Option<T>> {
    let word: Option<String> = row.get(column)?;
    word.map(|word| parse(&word).ok_or(rusqlite::Error::InvalidColumnType(column, word, Type::Text))).transpose()
}
