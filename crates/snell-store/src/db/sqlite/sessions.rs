//! Sessions in SQLite.

use rusqlite::types::{Type, Value as Sql};
use rusqlite::{OptionalExtension, Row, params_from_iter};
use snell::Timestamp;

use super::SqliteDatabase;
use super::log::SqlConditions;
use crate::error::Result;
use crate::views::sessions::{MissionView, SessionFilter, SessionRow};

impl SqliteDatabase {
    pub(super) fn read_session_rows(&self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        let mut conditions = SqlConditions::default();
        conditions.add_if_some("c.conversation_id = ?", filter.conversation_id.map(Sql::Integer));
        conditions.add_if_some("c.agent_id = ?", filter.agent_id.map(Sql::Integer));
        if !filter.ended_too && filter.conversation_id.is_none() {
            conditions.clauses.push("c.ended_at IS NULL".into());
        }
        let limit = filter.limit.map_or(-1, i64::from);
        let sql = format!(
            "SELECT s.*, c.conversation_id FROM sessions s JOIN conversations c USING (session_id) WHERE {} \
             ORDER BY s.last_seen_at DESC, c.conversation_id DESC LIMIT {limit}",
            conditions.to_sql()
        );
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement.query_map(params_from_iter(conditions.values), decode_session_row)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_mission(&self, mission_execution_id: &str) -> Result<MissionView> {
        let sql = "SELECT linked_at FROM missions WHERE mission_execution_id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let linked_at: Option<String> = statement.query_row([mission_execution_id], |row| row.get(0)).optional()?;
        Ok(MissionView {
            mission_execution_id: mission_execution_id.to_owned(),
            linked_at: linked_at.and_then(|text| text.parse().ok()),
        })
    }
}

/// Columns are asked for by their names: the view may gain some.
fn decode_session_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        conversation_id: row.get("conversation_id")?,
        session_id: row.get("session_id")?,
        role: row.get("role")?,
        mode: row.get("mode")?,
        current_state: row.get("current_state")?,
        last_seen_at: get_text_time(row, "last_seen_at")?.unwrap_or(Timestamp::UNIX_EPOCH),
        ended_at: get_text_time(row, "ended_at")?,
        end_reason: row.get("end_reason")?,
        tmux_pane: row.get("tmux_pane")?,
        context_warning_level: row.get("context_warning_level")?,
        mission_execution_id: row.get("mission_execution_id")?,
        status_text: row.get("status_text")?,
        started_at: get_text_time(row, "started_at")?.unwrap_or(Timestamp::UNIX_EPOCH),
        agent_id: row.get("agent_id")?,
        project_path: row.get("project_path")?,
        context_percent: row.get("context_percent")?,
        model: row.get("model")?,
        permission_mode: row.get("permission_mode")?,
        status_set_at: get_text_time(row, "status_set_at")?,
        pinged_at: get_text_time(row, "pinged_at")?,
        current_tool: row.get("current_tool")?,
    })
}

/// A time as the view writes it.
fn get_text_time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<Timestamp>> {
    let text: Option<String> = row.get(column)?;
    let read = |text: String| {
        text.parse().map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, Box::new(error)))
    };
    text.map(read).transpose()
}
