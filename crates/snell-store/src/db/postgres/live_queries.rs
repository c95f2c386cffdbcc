//! The queries of watchers in PostgreSQL: changes, and the guard's verdicts.

use snell::Timestamp;

use super::PostgresDatabase;
use super::log::QueryConditions;
use super::values::{SqlValue, ToValue, values};
use crate::db::change_feed::{ChangeRange, ChangeRow};
use crate::db::columns::select_also;
use crate::error::Result;
use crate::views::queries::LiveQueries;
use crate::views::query_types::{EventActivity, GuardFilter, GuardLogEntry, GuardVerdictView};
use crate::views::rollups::GuardOutcome;

/// The latest event is among so many of the newest rows: late events are stored after newer ones.
const NEWEST_EVENT_COUNT: i64 = 100;

/// Events of agents, without those that Snell derives: they are no sign that hooks work.
const NOT_DERIVED: &str = "name NOT IN ('NeedsUser', 'AgentIdle', 'AgentEnded')";

impl LiveQueries for PostgresDatabase {
    fn list_changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<ChangeRow>> {
        self.session.select_all("WHERE change_id > $1 ORDER BY change_id LIMIT $2", values![after, i64::from(at_most)])
    }

    fn change_range(&mut self) -> Result<ChangeRange> {
        // Each of the two uses an index; one query for both would scan every row.
        let sql = "SELECT coalesce((SELECT min(change_id) FROM changes), 0), \
            coalesce((SELECT max(change_id) FROM changes), 0)";
        let (oldest, newest) = self.session.query_value(sql, values![])?;
        Ok(ChangeRange { oldest, newest })
    }

    fn summarize_events_since(&mut self, event_row: Option<i64>) -> Result<EventActivity> {
        let sql = format!(
            "SELECT id, name, (SELECT max(at) FROM (SELECT at FROM events WHERE {NOT_DERIVED} ORDER BY id DESC LIMIT $1) n) \
             FROM events WHERE {NOT_DERIVED} ORDER BY id DESC LIMIT 1"
        );
        let newest: Option<(i64, Option<String>, Timestamp)> =
            self.session.query_optional(&sql, values![NEWEST_EVENT_COUNT])?;
        let mut activity = newest.map_or_else(EventActivity::default, |(last_row, last_event, last_at)| {
            EventActivity { events: 0, last_row, last_at: Some(last_at), last_event }
        });
        if let Some(row) = event_row.filter(|row| *row != activity.last_row) {
            // Events that came after that query are counted the next time.
            let sql = format!("SELECT count(*) FROM events WHERE id > $1 AND id <= $2 AND {NOT_DERIVED}");
            let count: i64 = self.session.query_value(&sql, values![row, activity.last_row])?;
            activity.events = u64::try_from(count).unwrap_or(0);
        }
        Ok(activity)
    }

    fn query_guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardLogEntry>> {
        let mut conditions = QueryConditions::default();
        let mut only = |condition: &str, value: Option<SqlValue>| conditions.add_if_some(condition, value);
        let text = |value: &Option<String>| value.as_ref().map(ToValue::to_value);
        let word = |word: &str| SqlValue::Text(word.to_owned());
        let stored = filter.outcome.map(GuardOutcome::to_stored);
        only("g.guard_verdict_id < ?", filter.before_id.map(SqlValue::Integer));
        only("g.agent_id = ?", filter.agent_id.map(SqlValue::Integer));
        only("g.rule = ?", text(&filter.rule));
        only("g.tier = ?", text(&filter.tier));
        only("g.decision = ?", stored.map(|(decision, _)| word(decision)));
        // A blocked call has its own decision, regardless of `would`.
        only(
            "(g.would IS NOT DISTINCT FROM ? OR g.decision <> 'allow')",
            stored.map(|(_, would)| would.map_or(SqlValue::Null, word)),
        );
        let limit = conditions.add_value(filter.limit.to_value());
        let which = format!("WHERE {} ORDER BY g.guard_verdict_id DESC LIMIT {limit}", conditions.to_sql());
        self.session.select_all(&which, conditions.values)
    }

    fn list_guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>> {
        let sql = format!("{} WHERE id = ANY($1) ORDER BY guard_verdict_id", select_also::<GuardVerdictView>("id"));
        self.session.query_all(&sql, vec![list_ids(event_rows)])
    }
}

/// Ids as one value.
pub(super) fn list_ids(ids: &[i64]) -> SqlValue {
    SqlValue::List(ids.iter().copied().map(SqlValue::Integer).collect())
}

impl PostgresDatabase {
    pub(super) fn read_event_verdicts(&self, event_row: i64) -> Result<Vec<GuardVerdictView>> {
        self.session.select_all("WHERE id = $1 ORDER BY guard_verdict_id", values![event_row])
    }
}
