//! The list of events, in SQLite: fast whatever it is filtered by, and however many there are.

use rusqlite::types::Value as Sql;
use rusqlite::{Row, params_from_iter};
use serde_json::Value;
use snell::Timestamp;

use super::Sqlite;
use super::rows::{json_of, time, word};
use crate::error::Result;
use crate::model::State;
use crate::query::{LogEntry, LogFilter};

/// Of what a guard that only watches would have decided the worst counts, which is also the last by its letters.
pub(super) const LOG_ENTRY: &str = "SELECT e.id, e.at, e.agent_id, p.name, c.session_id, e.name, e.tool, e.decision, e.reason, \
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
const TOOL: &str = "tool COLLATE NOCASE";

/// A kind of which there are fewer events is rare.
const FEW: i64 = 5_000;

impl Sqlite {
    pub(super) fn read_log(&self, filter: &LogFilter) -> Result<Vec<LogEntry>> {
        let which = self.which(filter)?;
        // First which, and then what they say: what is only sorted away need not be fetched.
        let sql = format!("{LOG_ENTRY} {}", which.sql);
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement.query_map(params_from_iter(which.values), log_entry)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    /// Which events are asked for.
    pub(super) fn which(&self, filter: &LogFilter) -> Result<Which> {
        let is_rare = self.is_rare(filter)?;
        let mut conditions = self.conditions_of(filter, is_rare)?;
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let limit = filter.limit;
        let page = |conditions: &str| {
            format!("SELECT * FROM (SELECT id FROM events e WHERE {conditions} ORDER BY id {order} LIMIT {limit})")
        };
        let which = match self.agents_of(filter)? {
            None => page(&conditions.sql()),
            Some(agents) if agents.len() <= MAX_AGENTS && !is_rare => {
                let common = conditions.sql();
                let agents = if agents.is_empty() { &[-1] } else { agents.as_slice() };
                let pages = agents
                    .iter()
                    .map(|agent| page(&format!("agent_id = {agent} AND {common}")));
                pages.collect::<Vec<_>>().join(" UNION ALL ")
            }
            Some(agents) => {
                conditions.written.push(format!("+agent_id IN ({})", list(&agents)));
                page(&conditions.sql())
            }
        };
        Ok(Which {
            sql: format!("WHERE e.id IN ({which}) ORDER BY e.id {order} LIMIT {limit}"),
            values: conditions.values,
        })
    }

    /// Whether few events are of the kind that is asked for, so that they are found sooner than those of an agent.
    fn is_rare(&self, filter: &LogFilter) -> Result<bool> {
        let kinds = [
            ("name", &filter.event),
            (TOOL, &filter.tool),
            ("decision", &filter.decision),
        ];
        for (column, value) in kinds {
            let Some(value) = value else { continue };
            let sql = format!("SELECT count(*) FROM (SELECT 1 FROM events WHERE {column} = ?1 LIMIT {FEW})");
            let count: i64 = self
                .connection
                .prepare_cached(&sql)?
                .query_row([value], |row| row.get(0))?;
            if count < FEW {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn conditions_of(&self, filter: &LogFilter, is_rare: bool) -> Result<Conditions> {
        let mut conditions = Conditions::default();
        let mut only = |condition: &str, value: Option<Sql>| conditions.only(condition, value);
        let text = |value: &Option<String>| value.clone().map(Sql::Text);
        let when = |time: Option<Timestamp>| time.map(|time| Sql::Integer(time.as_microsecond()));
        // A plus keeps an index from being used.
        let agent = if is_rare { "+agent_id = ?" } else { "agent_id = ?" };
        only(agent, filter.agent_id.map(Sql::Integer));
        only("name = ?", text(&filter.event));
        only(&format!("{TOOL} = ?"), text(&filter.tool));
        only("decision = ?", text(&filter.decision));
        // They are listed by number, so an index by time is of no use here.
        only("+at >= ?", when(filter.since));
        only("+at < ?", when(filter.until));
        only("id < ?", filter.before_id.map(Sql::Integer));
        only("id > ?", filter.after_id.map(Sql::Integer));
        let bound = filter.until.map(|until| self.last_before(until)).transpose()?.flatten();
        only("id <= ?", bound.map(Sql::Integer));
        let bound = filter.since.map(|since| self.first_since(since)).transpose()?.flatten();
        only("id >= ?", bound.map(Sql::Integer));
        if let Some(prefix) = &filter.session {
            only(
                "+agent_id IN (SELECT agent_id FROM agents WHERE project_id = ?)",
                filter.project_id.map(Sql::Integer),
            );
            let sql = "SELECT DISTINCT conversation_id FROM session_ids WHERE substr(session_id, 1, length(?1)) = ?1";
            let conversations = self.numbers(sql, Sql::Text(prefix.clone()))?;
            conditions
                .written
                .push(format!("conversation_id IN ({})", list(&conversations)));
        }
        Ok(conditions)
    }

    /// Whose events are asked for, if it is not one agent's.
    fn agents_of(&self, filter: &LogFilter) -> Result<Option<Vec<i64>>> {
        let (sql, value) = match (&filter.session, filter.project_id) {
            (Some(prefix), _) => (
                "SELECT DISTINCT agent_id FROM session_ids JOIN holders USING (conversation_id) \
                 WHERE substr(session_id, 1, length(?1)) = ?1",
                Sql::Text(prefix.clone()),
            ),
            (None, Some(project_id)) => (
                "SELECT agent_id FROM agents WHERE project_id = ?1",
                Sql::Integer(project_id),
            ),
            (None, None) => return Ok(None),
        };
        self.numbers(sql, value).map(Some)
    }

    fn numbers(&self, sql: &str, value: Sql) -> Result<Vec<i64>> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let numbers = statement.query_map([value], |row| row.get(0))?;
        Ok(numbers.collect::<rusqlite::Result<_>>()?)
    }

    /// An event after which there is none that happened before this time; nothing if looking for it is not worth it.
    /// Events are asked for from the newest on, and those that are much older than `until` would be long in coming.
    fn last_before(&self, until: Timestamp) -> Result<Option<i64>> {
        let until = until.as_microsecond();
        if self.midst()?.is_none_or(|midst| until > midst) {
            return Ok(None);
        }
        // Without the plus, the greatest number would be looked for from the newest event on.
        let sql = "SELECT coalesce(max(+id), 0) FROM events WHERE at < ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(Some(statement.query_row([until], |row| row.get(0))?))
    }

    /// An event before which there is none that happened at this time or later; nothing if looking for it is not worth it.
    /// Where fewer are found than are asked for, all that are older would be looked at in vain.
    fn first_since(&self, since: Timestamp) -> Result<Option<i64>> {
        let since = since.as_microsecond();
        if self.midst()?.is_none_or(|midst| since <= midst) {
            return Ok(None);
        }
        let sql = "SELECT coalesce(min(+id), 9223372036854775807) FROM events WHERE at >= ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(Some(statement.query_row([since], |row| row.get(0))?))
    }

    /// The middle of the time from which there are events.
    fn midst(&self) -> Result<Option<i64>> {
        let sql = "SELECT (SELECT min(at) FROM events), (SELECT max(at) FROM events)";
        let mut statement = self.connection.prepare_cached(sql)?;
        let (first, last): (Option<i64>, Option<i64>) =
            statement.query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(first.zip(last).map(|(first, last)| first + (last - first) / 2))
    }
}

/// Which rows of [`LOG_ENTRY`] are asked for, and in which order.
pub(super) struct Which {
    pub(super) sql: String,
    pub(super) values: Vec<Sql>,
}

fn list(numbers: &[i64]) -> String {
    let numbers: Vec<_> = numbers.iter().map(i64::to_string).collect();
    numbers.join(", ")
}

/// What must hold for each row, and the values that it is about.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) written: Vec<String>,
    pub(super) values: Vec<Sql>,
}

impl Conditions {
    /// Where `?` stands for the value; nothing if there is none.
    pub(super) fn only(&mut self, condition: &str, value: Option<Sql>) {
        if let Some(value) = value {
            self.values.push(value);
            let number = self.values.len();
            self.written.push(condition.replace('?', &format!("?{number}")));
        }
    }

    pub(super) fn sql(&self) -> String {
        if self.written.is_empty() {
            return "1".to_owned();
        }
        self.written.join(" AND ")
    }
}

pub(super) fn log_entry(row: &Row<'_>) -> rusqlite::Result<LogEntry> {
    let tool_us: Option<i64> = row.get(15)?;
    Ok(LogEntry {
        id: row.get(0)?,
        at: time(row, 1)?,
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
        state: word(row, 9, State::parse)?,
        correlation_method: row.get(10)?,
        took_us: row.get(11)?,
        hooks: row.get(12)?,
        changed_input: json_of(row, 16)?,
        changed_output: json_of(row, 18)?,
        told: row.get(17)?,
        payload: json_of(row, 13)?.unwrap_or(Value::Null),
    })
}
