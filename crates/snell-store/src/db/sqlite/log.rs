//! The list of events in SQLite: fast with every filter and for any number of events.

use rusqlite::types::Value as Sql;
use serde_json::Value;
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ConnectionExt, columns, parse_json};
use crate::error::Result;
use crate::views::query_types::{LogEntry, LogFilter};

columns! {
    LogEntry from "events e JOIN agents a USING (agent_id) JOIN projects p USING (project_id) \
        LEFT JOIN conversations c ON c.conversation_id = e.conversation_id LEFT JOIN payloads d ON d.id = e.id"
    {
        id: "e.id", at: "e.at", agent_id: "e.agent_id", product: "a.product", project: "p.name", project_id: "a.project_id",
        session_id: "c.session_id", event: "e.name", tool: "e.tool", tool_summary: "e.tool_summary",
        tool_duration_ms: "e.tool_us / CAST(1000 AS DOUBLE PRECISION)", decision: "e.decision", reason: "e.reason",
        // If the guard only audits, the strictest verdict is shown, which is also the last in the alphabet.
        would: "(SELECT max(g.would) FROM guard_verdicts g WHERE g.id = e.id AND g.decision = 'allow')",
        state: "e.state", correlation_method: "e.correlation", took_us: "e.took_us",
        hooks: "(SELECT count(*) FROM hook_runs h WHERE h.id = e.id)",
        hooks_failed: "(SELECT count(*) FROM hook_runs h WHERE h.id = e.id AND h.status IN ('failed', 'timed_out'))",
        changed_input: "e.changed_input" => parse_json, changed_output: "e.changed_output" => parse_json,
        told: "e.told", payload: "d.payload" => |text| parse_json(text).unwrap_or(Value::Null),
    }
}

/// For up to so many agents, the newest events of each are found and merged. For more agents it is faster to scan all
/// events from the newest on.
const MAX_AGENTS: usize = 100;

/// Tools match in upper and lower case. The index by tools has the same order.
const TOOL_COLUMN: &str = "tool COLLATE NOCASE";

/// A kind with fewer events is rare.
const RARE_EVENT_COUNT: i64 = 5_000;

impl SqliteDatabase {
    /// Builds the selection of events for a filter.
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

    /// Whether the filter asks for a rare kind: then the index of that kind is faster than the agent's.
    fn is_rare_kind(&self, filter: &LogFilter) -> Result<bool> {
        let kinds = [("name", &filter.event), (TOOL_COLUMN, &filter.tool), ("decision", &filter.decision)];
        for (column, value) in kinds {
            let Some(value) = value else { continue };
            let sql =
                format!("SELECT count(*) FROM (SELECT 1 FROM events WHERE {column} = ?1 LIMIT {RARE_EVENT_COUNT})");
            let count: i64 = self.connection.query_value(&sql, [value])?;
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
        // A plus keeps SQLite from using an index.
        let agent = if is_rare { "+agent_id = ?" } else { "agent_id = ?" };
        only(agent, filter.agent_id.map(Sql::Integer));
        only("+agent_id IN (SELECT agent_id FROM agents WHERE product = ?)", text(&filter.product));
        only("name = ?", text(&filter.event));
        only(&format!("{TOOL_COLUMN} = ?"), text(&filter.tool));
        only("decision = ?", text(&filter.decision));
        only("id IN (SELECT id FROM guard_verdicts WHERE rule = ?)", text(&filter.rule));
        // The list is in the order of ids, so an index by time does not help.
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
            let conversations: Vec<i64> = self.connection.query_all(sql, [prefix])?;
            conditions.clauses.push(format!("conversation_id IN ({})", join_ids(&conversations)));
        }
        Ok(conditions)
    }

    /// The agents that the filter selects, unless it names one.
    fn find_filtered_agents(&self, filter: &LogFilter) -> Result<Option<Vec<i64>>> {
        let (sql, value) = match (&filter.session, filter.project_id, &filter.product) {
            (Some(prefix), ..) => (
                "SELECT DISTINCT agent_id FROM session_ids JOIN holders USING (conversation_id) \
                 WHERE substr(session_id, 1, length(?1)) = ?1",
                Sql::Text(prefix.clone()),
            ),
            (None, Some(project_id), _) => {
                ("SELECT agent_id FROM agents WHERE project_id = ?1", Sql::Integer(project_id))
            }
            (None, None, Some(product)) => {
                ("SELECT agent_id FROM agents WHERE product = ?1", Sql::Text(product.clone()))
            }
            (None, None, None) => return Ok(None),
        };
        self.connection.query_all(sql, [value]).map(Some)
    }

    /// An id after which all events are at this time or later; nothing if the search costs too much. The list starts
    /// with the newest event, so it would scan all events after `until` first.
    fn find_last_id_before(&self, until: Timestamp) -> Result<Option<i64>> {
        let until = until.as_microsecond();
        if self.find_time_midpoint()?.is_none_or(|midpoint| until > midpoint) {
            return Ok(None);
        }
        // Without the plus, SQLite would search for the greatest id from the newest event on.
        let sql = "SELECT coalesce(max(+id), 0) FROM events WHERE at < ?1";
        self.connection.query_value(sql, [until]).map(Some)
    }

    /// An id before which all events are earlier than this time; nothing if the search costs too much. Without it, a
    /// query with too few matches would scan all older events.
    fn find_first_id_since(&self, since: Timestamp) -> Result<Option<i64>> {
        let since = since.as_microsecond();
        if self.find_time_midpoint()?.is_none_or(|midpoint| since <= midpoint) {
            return Ok(None);
        }
        let sql = "SELECT coalesce(min(+id), 9223372036854775807) FROM events WHERE at >= ?1";
        self.connection.query_value(sql, [since]).map(Some)
    }

    /// The middle of the time span of all events.
    fn find_time_midpoint(&self) -> Result<Option<i64>> {
        let sql = "SELECT (SELECT min(at) FROM events), (SELECT max(at) FROM events)";
        let (first, last): (Option<i64>, Option<i64>) = self.connection.query_value(sql, [])?;
        Ok(first.zip(last).map(|(first, last)| first + (last - first) / 2))
    }
}

/// The rows and the order of a SELECT of events.
pub(super) struct EventSelection {
    pub(super) sql: String,
    pub(super) values: Vec<Sql>,
}

pub(super) fn join_ids(numbers: &[i64]) -> String {
    let numbers: Vec<_> = numbers.iter().map(i64::to_string).collect();
    numbers.join(", ")
}

/// The conditions of a query, and their values.
#[derive(Default)]
pub(super) struct SqlConditions {
    pub(super) clauses: Vec<String>,
    pub(super) values: Vec<Sql>,
}

impl SqlConditions {
    /// Adds a condition, where `?` stands for the value, if there is a value.
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
