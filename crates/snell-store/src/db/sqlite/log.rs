//! The list of events, in SQLite: fast whatever it is filtered by, and however many there are.

use rusqlite::types::Value as Sql;
use rusqlite::{Row, params_from_iter};
use serde_json::Value;
use snell::Timestamp;

use super::SqliteDatabase;
use super::rows::{get_enum, get_json, get_time};
use crate::db::model::AgentState;
use crate::error::Result;
use crate::views::query_types::{LogEntry, LogFilter};

/// Of what a guard that only watches would have decided the worst counts, which is also the last by its letters.
pub(super) const SELECT_LOG_ENTRY: &str = "SELECT e.id, e.at, e.agent_id, p.name, c.session_id, e.name, e.tool, e.decision, e.reason, \
    e.state, e.correlation, e.took_us, (SELECT count(*) FROM hook_runs h WHERE h.id = e.id), d.payload, \
    e.tool_summary, e.tool_us, e.changed_input, e.told, e.changed_output, \
    (SELECT max(g.would) FROM guard_verdicts g WHERE g.id = e.id AND g.decision = 'allow'), \
    a.project_id \
    FROM events e JOIN agents a USING (agent_id) JOIN projects p USING (project_id) \
    LEFT JOIN conversations c ON c.conversation_id = e.conversation_id LEFT JOIN payloads d ON d.id = e.id";

/// The newest events of so many agents are found one by one, and then merged. Of more it is quicker to
/// look at every event, from the newest on.
const MAX_AGENTS: usize = 100;

/// A tool as it is looked for: people do not mind whether letters are small. The index by tools is in the same order.
const TOOL_COLUMN: &str = "tool COLLATE NOCASE";

/// A kind of which there are fewer events is rare.
const RARE_EVENT_COUNT: i64 = 5_000;

impl SqliteDatabase {
    pub(super) fn read_log(&self, filter: &LogFilter) -> Result<Vec<LogEntry>> {
        let which = self.select_events(filter)?;
        // First which, and then what they say: what is only sorted away need not be fetched.
        let sql = format!("{SELECT_LOG_ENTRY} {}", which.sql);
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement.query_map(params_from_iter(which.values), decode_log_entry)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// Which events are asked for.
    pub(super) fn select_events(&self, filter: &LogFilter) -> Result<EventSelection> {
        let is_rare = self.is_rare_kind(filter)?;
        let mut conditions = self.build_conditions(filter, is_rare)?;
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let limit = filter.limit;
        let page = |conditions: &str| {
            format!("SELECT * FROM (SELECT id FROM events e WHERE {conditions} ORDER BY id {order} LIMIT {limit})")
        };
        let which = match self.find_filtered_agents(filter)? {
            None => page(&conditions.to_sql()),
            Some(agents) if agents.len() <= MAX_AGENTS && !is_rare => {
                let common = conditions.to_sql();
                let agents = if agents.is_empty() { &[-1] } else { agents.as_slice() };
                let pages = agents.iter().map(|agent| page(&format!("agent_id = {agent} AND {common}")));
                pages.collect::<Vec<_>>().join(" UNION ALL ")
            }
            Some(agents) => {
                conditions.clauses.push(format!("+agent_id IN ({})", join_ids(&agents)));
                page(&conditions.to_sql())
            }
        };
        Ok(EventSelection {
            sql: format!("WHERE e.id IN ({which}) ORDER BY e.id {order} LIMIT {limit}"),
            values: conditions.values,
        })
    }

    /// Whether few events are of the kind that is asked for, so that they are found sooner than those of an agent.
    fn is_rare_kind(&self, filter: &LogFilter) -> Result<bool> {
        let kinds = [("name", &filter.event), (TOOL_COLUMN, &filter.tool), ("decision", &filter.decision)];
        for (column, value) in kinds {
            let Some(value) = value else { continue };
            let sql =
                format!("SELECT count(*) FROM (SELECT 1 FROM events WHERE {column} = ?1 LIMIT {RARE_EVENT_COUNT})");
            let count: i64 = self.connection.prepare_cached(&sql)?.query_row([value], |row| row.get(0))?;
            if count < RARE_EVENT_COUNT {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn build_conditions(&self, filter: &LogFilter, is_rare: bool) -> Result<SqlConditions> {
        let mut conditions = SqlConditions::default();
        let mut only = |condition: &str, value: Option<Sql>| conditions.add_if_some(condition, value);
        let text = |value: &Option<String>| value.clone().map(Sql::Text);
        let when = |time: Option<Timestamp>| time.map(|time| Sql::Integer(time.as_microsecond()));
        // A plus keeps an index from being used.
        let agent = if is_rare { "+agent_id = ?" } else { "agent_id = ?" };
        only(agent, filter.agent_id.map(Sql::Integer));
        only("name = ?", text(&filter.event));
        only(&format!("{TOOL_COLUMN} = ?"), text(&filter.tool));
        only("decision = ?", text(&filter.decision));
        // They are listed by number, so an index by time is of no use here.
        only("+at >= ?", when(filter.since));
        only("+at < ?", when(filter.until));
        only("id < ?", filter.before_id.map(Sql::Integer));
        only("id > ?", filter.after_id.map(Sql::Integer));
        let bound = filter.until.map(|until| self.find_last_id_before(until)).transpose()?.flatten();
        only("id <= ?", bound.map(Sql::Integer));
        let bound = filter.since.map(|since| self.find_first_id_since(since)).transpose()?.flatten();
        only("id >= ?", bound.map(Sql::Integer));
        if let Some(prefix) = &filter.session {
            only(
                "+agent_id IN (SELECT agent_id FROM agents WHERE project_id = ?)",
                filter.project_id.map(Sql::Integer),
            );
            let sql = "SELECT DISTINCT conversation_id FROM session_ids WHERE substr(session_id, 1, length(?1)) = ?1";
            let conversations = self.query_ids(sql, Sql::Text(prefix.clone()))?;
            conditions.clauses.push(format!("conversation_id IN ({})", join_ids(&conversations)));
        }
        Ok(conditions)
    }

    /// Whose events are asked for, if it is not one agent's.
    fn find_filtered_agents(&self, filter: &LogFilter) -> Result<Option<Vec<i64>>> {
        let (sql, value) = match (&filter.session, filter.project_id) {
            (Some(prefix), _) => (
                "SELECT DISTINCT agent_id FROM session_ids JOIN holders USING (conversation_id) \
                 WHERE substr(session_id, 1, length(?1)) = ?1",
                Sql::Text(prefix.clone()),
            ),
            (None, Some(project_id)) => ("SELECT agent_id FROM agents WHERE project_id = ?1", Sql::Integer(project_id)),
            (None, None) => return Ok(None),
        };
        self.query_ids(sql, value).map(Some)
    }

    fn query_ids(&self, sql: &str, value: Sql) -> Result<Vec<i64>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let numbers = statement.query_map([value], |row| row.get(0))?;
        Ok(numbers.collect::<rusqlite::Result<_>>()?)
    }

    /// An event after which there is none that happened before this time; nothing if looking for it is not worth it.
    /// Events are asked for from the newest on, and those that are much older than `until` would be long in coming.
    fn find_last_id_before(&self, until: Timestamp) -> Result<Option<i64>> {
        let until = until.as_microsecond();
        if self.find_time_midpoint()?.is_none_or(|midst| until > midst) {
            return Ok(None);
        }
        // Without the plus, the greatest number would be looked for from the newest event on.
        let sql = "SELECT coalesce(max(+id), 0) FROM events WHERE at < ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(Some(statement.query_row([until], |row| row.get(0))?))
    }

    /// An event before which there is none that happened at this time or later; nothing if looking for it is not worth it.
    /// Where fewer are found than are asked for, all that are older would be looked at in vain.
    fn find_first_id_since(&self, since: Timestamp) -> Result<Option<i64>> {
        let since = since.as_microsecond();
        if self.find_time_midpoint()?.is_none_or(|midst| since <= midst) {
            return Ok(None);
        }
        let sql = "SELECT coalesce(min(+id), 9223372036854775807) FROM events WHERE at >= ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(Some(statement.query_row([since], |row| row.get(0))?))
    }

    /// The middle of the time from which there are events.
    fn find_time_midpoint(&self) -> Result<Option<i64>> {
        let sql = "SELECT (SELECT min(at) FROM events), (SELECT max(at) FROM events)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let (first, last): (Option<i64>, Option<i64>) =
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(first.zip(last).map(|(first, last)| first + (last - first) / 2))
    }
}

/// Which rows of [`SELECT_LOG_ENTRY`] are asked for, and in which order.
pub(super) struct EventSelection {
    pub(super) sql: String,
    pub(super) values: Vec<Sql>,
}

fn join_ids(numbers: &[i64]) -> String {
    let numbers: Vec<_> = numbers.iter().map(i64::to_string).collect();
    numbers.join(", ")
}

/// What must hold for each row, and the values that it is about.
#[derive(Default)]
pub(super) struct SqlConditions {
    pub(super) clauses: Vec<String>,
    pub(super) values: Vec<Sql>,
}

impl SqlConditions {
    /// Where `?` stands for the value; nothing if there is none.
    pub(super) fn add_if_some(&mut self, condition: &str, value: Option<Sql>) {
        if let Some(value) = value {
            self.values.push(value);
            let number = self.values.len();
            self.clauses.push(condition.replace('?', &format!("?{number}")));
        }
    }

    pub(super) fn to_sql(&self) -> String {
        if self.clauses.is_empty() {
            return "1".to_owned();
        }
        self.clauses.join(" AND ")
    }
}

pub(super) fn decode_log_entry(row: &Row<'_>) -> rusqlite::Result<LogEntry> {
    let tool_us: Option<i64> = row.get(15)?;
    Ok(LogEntry {
        id: row.get(0)?,
        at: get_time(row, 1)?,
        agent_id: row.get(2)?,
        project: row.get(3)?,
        project_id: row.get(20)?,
        session_id: row.get(4)?,
        event: row.get(5)?,
        tool: row.get(6)?,
        tool_summary: row.get(14)?,
        tool_duration_ms: tool_us.map(|us| us as f64 / 1000.0),
        decision: row.get(7)?,
        reason: row.get(8)?,
        would: row.get(19)?,
        state: get_enum(row, 9, AgentState::parse)?,
        correlation_method: row.get(10)?,
        took_us: row.get(11)?,
        hooks: row.get(12)?,
        changed_input: get_json(row, 16)?,
        changed_output: get_json(row, 18)?,
        told: row.get(17)?,
        payload: get_json(row, 13)?.unwrap_or(Value::Null),
    })
}
