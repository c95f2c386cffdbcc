//! The queries of watchers in SQLite: changes, and the guard's verdicts.

use rusqlite::params_from_iter;
use rusqlite::types::Value as Sql;
use serde_json::Value;
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ConnectionExt, columns, parse_json, select_also};
use super::log::{SqlConditions, join_ids};
use crate::db::change_feed::{ChangeRange, ChangeRow};
use crate::error::Result;
use crate::views::queries::LiveQueries;
use crate::views::query_types::{EventActivity, GuardFilter, GuardLogEntry, GuardVerdictView};
use crate::views::rollups::GuardOutcome;

/// The latest event is among so many of the newest rows: late events are stored after newer ones.
const NEWEST_EVENT_COUNT: i64 = 100;

/// Events of agents, without those that Snell derives: they are no sign that hooks work.
const NOT_DERIVED: &str = "name NOT IN ('NeedsUser', 'AgentIdle', 'AgentEnded')";

columns! { ChangeRow from "changes" { id: "change_id", kind, agent_id, project_id, at, data } }

columns! {
    GuardVerdictView from "guard_verdicts" { decision, would, rule, tier, reason, advice, of_changed_input }
}

columns! {
    GuardLogEntry from "guard_verdicts g LEFT JOIN events e ON e.id = g.id LEFT JOIN payloads d ON d.id = g.id" {
        guard_verdict_id: "g.guard_verdict_id", at: "g.at", agent_id: "g.agent_id", event_row: "g.id", tool: "e.tool",
        payload: "d.payload" => |text| parse_json(text).unwrap_or(Value::Null),
        changed_input: "CASE WHEN g.of_changed_input <> 0 THEN e.changed_input END" => parse_json,
        // In the order of `GuardVerdictView`.
        verdict: "g.decision, g.would, g.rule, g.tier, g.reason, g.advice, g.of_changed_input",
    }
}

impl LiveQueries for SqliteDatabase {
    fn list_changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<ChangeRow>> {
        self.connection.select_all("WHERE change_id > ?1 ORDER BY change_id LIMIT ?2", [after, i64::from(at_most)])
    }

    fn change_range(&mut self) -> Result<ChangeRange> {
        // Each of the two uses an index; one query for both would scan every row.
        let sql = "SELECT coalesce((SELECT min(change_id) FROM changes), 0), \
            coalesce((SELECT max(change_id) FROM changes), 0)";
        let (oldest, newest) = self.connection.query_value(sql, [])?;
        Ok(ChangeRange { oldest, newest })
    }

    fn summarize_events_since(&mut self, event_row: Option<i64>) -> Result<EventActivity> {
        let sql = format!(
            "SELECT id, name, (SELECT max(at) FROM (SELECT at FROM events WHERE {NOT_DERIVED} ORDER BY id DESC LIMIT ?1)) \
             FROM events WHERE {NOT_DERIVED} ORDER BY id DESC LIMIT 1"
        );
        let newest: Option<(i64, Option<String>, Timestamp)> =
            self.connection.query_optional(&sql, [NEWEST_EVENT_COUNT])?;
        let mut activity = newest.map_or_else(EventActivity::default, |(last_row, last_event, last_at)| {
            EventActivity { events: 0, last_row, last_at: Some(last_at), last_event }
        });
        if let Some(row) = event_row.filter(|row| *row != activity.last_row) {
            // Events that came after that query are counted the next time.
            let sql = format!("SELECT count(*) FROM events WHERE id > ?1 AND id <= ?2 AND {NOT_DERIVED}");
            let count: i64 = self.connection.query_value(&sql, [row, activity.last_row])?;
            activity.events = u64::try_from(count).unwrap_or(0);
        }
        Ok(activity)
    }

    fn query_guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardLogEntry>> {
        let mut conditions = SqlConditions::default();
        let mut only = |condition: &str, value: Option<Sql>| conditions.add_if_some(condition, value);
        let text = |value: &Option<String>| value.clone().map(Sql::Text);
        let word = |word: &str| Sql::Text(word.to_owned());
        let stored = filter.outcome.map(GuardOutcome::to_stored);
        only("g.guard_verdict_id < ?", filter.before_id.map(Sql::Integer));
        only("g.agent_id = ?", filter.agent_id.map(Sql::Integer));
        only("g.rule = ?", text(&filter.rule));
        only("g.tier = ?", text(&filter.tier));
        only("g.decision = ?", stored.map(|(decision, _)| word(decision)));
        // A blocked call has its own decision, regardless of `would`.
        only("(g.would IS ? OR g.decision <> 'allow')", stored.map(|(_, would)| would.map_or(Sql::Null, word)));
        let which = format!("WHERE {} ORDER BY g.guard_verdict_id DESC LIMIT {}", conditions.to_sql(), filter.limit);
        self.connection.select_all(&which, params_from_iter(conditions.values))
    }

    fn list_guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>> {
        let sql = format!(
            "{} WHERE id IN ({}) ORDER BY guard_verdict_id",
            select_also::<GuardVerdictView>("id"),
            join_ids(event_rows)
        );
        self.connection.query_all_uncached(&sql, [])
    }
}

impl SqliteDatabase {
    pub(super) fn read_event_verdicts(&self, event_row: i64) -> Result<Vec<GuardVerdictView>> {
        self.connection.select_all("WHERE id = ?1 ORDER BY guard_verdict_id", [event_row])
    }
}
