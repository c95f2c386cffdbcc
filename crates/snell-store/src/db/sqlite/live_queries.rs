//! What those who watch ask for, in SQLite: changes, and what pages show.

use rusqlite::types::Value as Sql;
use rusqlite::{OptionalExtension, Row, params, params_from_iter};
use serde_json::Value;

use super::SqliteDatabase;
use super::log::SqlConditions;
use super::queries::decode_turn_view;
use super::rows::{get_enum, get_json, get_time};
use crate::db::change_feed::{ChangeKind, ChangeRange, ChangeRow};
use crate::db::model::TurnActor;
use crate::error::Result;
use crate::record::json;
use crate::views::query_types::{EventActivity, GuardFilter, GuardLogEntry, GuardVerdictView, TurnFilter, TurnView};
use crate::views::rollups::GuardOutcome;

/// Among so many of the newest events the latest is looked for: those that come late are stored after later ones.
const NEWEST_EVENT_COUNT: i64 = 100;

impl SqliteDatabase {
    pub(super) fn read_changes(&self, after: i64, at_most: u32) -> Result<Vec<ChangeRow>> {
        let sql = "SELECT change_id, kind, agent_id, project_id, at, data FROM changes WHERE change_id > ?1 \
            ORDER BY change_id LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_map([after, i64::from(at_most)], |row| {
            Ok(ChangeRow {
                id: row.get(0)?,
                kind: get_enum(row, 1, ChangeKind::parse)?,
                agent_id: row.get(2)?,
                project_id: row.get(3)?,
                at: get_time(row, 4)?,
                data: row.get(5)?,
            })
        })?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_change_range(&self) -> Result<ChangeRange> {
        // Each of the two is found at once; asked for together, every row would be looked at.
        let sql = "SELECT coalesce((SELECT min(change_id) FROM changes), 0), \
            coalesce((SELECT max(change_id) FROM changes), 0)";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([], |row| Ok(ChangeRange { oldest: row.get(0)?, newest: row.get(1)? }))?)
    }

    pub(super) fn delete_oldest_changes(&self, keep: u32) -> Result<()> {
        let range = self.read_change_range()?;
        let last = range.newest - i64::from(keep);
        if last >= range.oldest && range.oldest > 0 {
            let sql = "DELETE FROM changes WHERE change_id <= ?1";
            self.connection.prepare_cached(sql)?.execute([last])?;
        }
        Ok(())
    }

    pub(super) fn read_event_activity(&self, event_row: Option<i64>) -> Result<EventActivity> {
        let sql = "SELECT id, name, (SELECT max(at) FROM (SELECT at FROM events ORDER BY id DESC LIMIT ?1)) \
            FROM events ORDER BY id DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let newest = statement
            .query_row([NEWEST_EVENT_COUNT], |row| {
                Ok(EventActivity {
                    events: 0,
                    last_row: row.get(0)?,
                    last_at: Some(get_time(row, 2)?),
                    last_event: row.get(1)?,
                })
            })
            .optional()?;
        let mut heard = newest.unwrap_or_default();
        if let Some(row) = event_row.filter(|row| *row != heard.last_row) {
            // What came since the newest was looked for is counted the next time.
            let sql = "SELECT count(*) FROM events WHERE id > ?1 AND id <= ?2";
            let count: i64 = self.connection.prepare_cached(sql)?.query_row([row, heard.last_row], |row| row.get(0))?;
            heard.events = u64::try_from(count).unwrap_or(0);
        }
        Ok(heard)
    }

    pub(super) fn read_turns(&self, filter: &TurnFilter) -> Result<Vec<TurnView>> {
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let sql = format!(
            "SELECT turn_id, agent_id, command_id, actor, intent, text, timestamp, timestamp_source FROM turns \
             WHERE agent_id = ?1 AND turn_id < ?2 AND turn_id > ?3 AND (?5 IS NULL OR actor = ?5) \
             ORDER BY turn_id {order} LIMIT ?4"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let (before, after) = (filter.before_id.unwrap_or(i64::MAX), filter.after_id.unwrap_or(0));
        let actor = filter.actor.map(TurnActor::as_str);
        let values = params![filter.agent_id, before, after, filter.limit, actor];
        let found = statement.query_map(values, decode_turn_view)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_guard_log(&self, filter: &GuardFilter) -> Result<Vec<GuardLogEntry>> {
        let mut conditions = SqlConditions::default();
        let mut only = |condition: &str, value: Option<Sql>| conditions.add_if_some(condition, value);
        let text = |value: &Option<String>| value.clone().map(Sql::Text);
        let word = |word: &str| Sql::Text(word.to_owned());
        let kept = filter.outcome.map(GuardOutcome::to_stored);
        only("g.guard_verdict_id < ?", filter.before_id.map(Sql::Integer));
        only("g.agent_id = ?", filter.agent_id.map(Sql::Integer));
        only("g.rule = ?", text(&filter.rule));
        only("g.tier = ?", text(&filter.tier));
        only("g.decision = ?", kept.map(|(decision, _)| word(decision)));
        // What was not let through is what came of it, whatever would have been otherwise.
        only("(g.would IS ? OR g.decision <> 'allow')", kept.map(|(_, would)| would.map_or(Sql::Null, word)));
        let limit = filter.limit;
        let sql = format!(
            "SELECT g.guard_verdict_id, g.at, g.agent_id, g.id, e.tool, d.payload, g.decision, g.would, g.rule, g.tier, \
             g.reason, g.advice, g.of_changed_input, CASE WHEN g.of_changed_input THEN e.changed_input END \
             FROM guard_verdicts g LEFT JOIN events e ON e.id = g.id LEFT JOIN payloads d ON d.id = g.id \
             WHERE {} ORDER BY g.guard_verdict_id DESC LIMIT {limit}",
            conditions.to_sql()
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_map(params_from_iter(conditions.values), decode_guard_entry)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// What the guard said about each of these events.
    pub(super) fn read_guard_verdicts(&self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>> {
        let rows: Vec<_> = event_rows.iter().map(i64::to_string).collect();
        let sql = format!(
            "SELECT id, decision, would, rule, tier, reason, advice, of_changed_input FROM guard_verdicts WHERE id IN ({}) \
             ORDER BY guard_verdict_id",
            rows.join(", ")
        );
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement.query_map([], |row| Ok((row.get(0)?, decode_guard_verdict(row, 1)?)))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_event_verdicts(&self, event_row: i64) -> Result<Vec<GuardVerdictView>> {
        let sql = "SELECT decision, would, rule, tier, reason, advice, of_changed_input FROM guard_verdicts WHERE id = ?1 \
            ORDER BY guard_verdict_id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_map([event_row], |row| decode_guard_verdict(row, 0))?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

/// What the guard said, from the first of seven columns on.
fn decode_guard_verdict(row: &Row<'_>, first: usize) -> rusqlite::Result<GuardVerdictView> {
    Ok(GuardVerdictView {
        decision: row.get(first)?,
        would: row.get(first + 1)?,
        rule: row.get(first + 2)?,
        tier: row.get(first + 3)?,
        reason: row.get(first + 4)?,
        advice: row.get(first + 5)?,
        of_changed_input: row.get(first + 6)?,
    })
}

fn decode_guard_entry(row: &Row<'_>) -> rusqlite::Result<GuardLogEntry> {
    let payload: Option<String> = row.get(5)?;
    let payload = payload.and_then(|text| json::parse_stored_json(text.as_bytes()).ok());
    Ok(GuardLogEntry {
        guard_verdict_id: row.get(0)?,
        at: get_time(row, 1)?,
        agent_id: row.get(2)?,
        event_row: row.get(3)?,
        tool: row.get(4)?,
        payload: payload.unwrap_or(Value::Null),
        changed_input: get_json(row, 13)?,
        verdict: decode_guard_verdict(row, 6)?,
    })
}
