//! What an agent did, in SQLite.

use rusqlite::{OptionalExtension, Row};
use serde_json::Value;
use snell::Timestamp;

use super::Sqlite;
use super::rows::{time, word};
use crate::error::Result;
use crate::json;
use crate::model::State;
use crate::timeline::{TimelineEvent, TimelineFilter};

/// An event, the end of the call that it begins, whether it is itself the end of one, the state before it, and what it
/// says if it is of a kind that says something.
const TIMELINE_EVENT: &str = "SELECT e.id, e.at, e.name, e.tool, e.tool_summary, coalesce(e.tool_us, z.tool_us), z.name, \
    e.name IN ('PostToolUse', 'PostToolUseFailure') AND EXISTS (SELECT 1 FROM events b \
      WHERE b.tool_use_id = e.tool_use_id AND b.conversation_id = e.conversation_id AND b.name = 'PreToolUse'), \
    e.decision, e.reason, e.state, \
    (SELECT b.state FROM events b WHERE b.agent_id = e.agent_id AND b.id < e.id ORDER BY b.id DESC LIMIT 1), \
    CASE WHEN e.name = 'Notification' OR e.name LIKE 'Session%' THEN (SELECT payload FROM payloads d WHERE d.id = e.id) END \
    FROM events e LEFT JOIN events z ON z.id = CASE WHEN e.name = 'PreToolUse' THEN (SELECT max(f.id) FROM events f \
      WHERE f.tool_use_id = e.tool_use_id AND f.conversation_id = e.conversation_id \
      AND f.name IN ('PostToolUse', 'PostToolUseFailure')) END";

/// What an event says in words, by the names of its fields.
const WORDS: &[&str] = &["message", "reason", "source"];

impl Sqlite {
    pub(super) fn read_timeline(&self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>> {
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let which = if filter.guarded {
            "+e.agent_id = ?1 AND e.id IN (SELECT g.id FROM guard_verdicts g WHERE g.agent_id = ?1)"
        } else {
            "e.agent_id = ?1"
        };
        let sql = format!("{TIMELINE_EVENT} WHERE {which} AND e.id < ?2 AND e.id > ?3 ORDER BY e.id {order} LIMIT ?4");
        let (before, after) = (filter.before_id.unwrap_or(i64::MAX), filter.after_id.unwrap_or(0));
        let values = [filter.agent_id, before, after, i64::from(filter.limit)];
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut events: Vec<_> = statement
            .query_map(values, timeline_event)?
            .collect::<rusqlite::Result<_>>()?;
        for event in &mut events {
            event.hook_runs = self.hook_runs_of(event.id)?;
            event.guard_verdicts = self.guard_verdicts_of(event.id)?;
        }
        Ok(events)
    }

    pub(super) fn read_event_before_newest(&self, agent_id: i64, newest: u32) -> Result<Option<(i64, Timestamp)>> {
        let sql = "SELECT id, at FROM events WHERE agent_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row([agent_id, i64::from(newest)], |row| Ok((row.get(0)?, time(row, 1)?)));
        Ok(found.optional()?)
    }
}

fn timeline_event(row: &Row<'_>) -> rusqlite::Result<TimelineEvent> {
    let tool_us: Option<i64> = row.get(5)?;
    let state_before: Option<String> = row.get(11)?;
    let payload: Option<String> = row.get(12)?;
    Ok(TimelineEvent {
        id: row.get(0)?,
        at: time(row, 1)?,
        event: row.get(2)?,
        tool: row.get(3)?,
        tool_summary: row.get(4)?,
        tool_duration_ms: tool_us.map(|us| us as f64 / 1000.0),
        ended_by: row.get(6)?,
        is_end_of_call: row.get(7)?,
        decision: row.get(8)?,
        reason: row.get(9)?,
        state: word(row, 10, State::parse)?,
        state_before: state_before.as_deref().and_then(State::parse),
        message: payload.as_deref().and_then(words_of),
        hook_runs: Vec::new(),
        guard_verdicts: Vec::new(),
    })
}

fn words_of(payload: &str) -> Option<String> {
    let payload: Value = json::from_slice(payload.as_bytes()).ok()?;
    let words = WORDS.iter().find_map(|name| payload.get(name)?.as_str());
    words.map(str::to_owned)
}
