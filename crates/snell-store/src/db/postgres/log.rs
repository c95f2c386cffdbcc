//! The list of events in PostgreSQL.

use snell::Timestamp;

use super::PostgresDatabase;
use super::values::{SqlValue, ToValue};
use crate::views::query_types::LogFilter;

impl PostgresDatabase {
    /// Builds the selection of events for a filter. First the ids are found, then the rows, so that texts of events which
    /// do not match are not read.
    pub(super) fn select_events(filter: &LogFilter) -> EventQuery {
        let mut conditions = QueryConditions::default();
        let mut only = |condition: &str, value: Option<SqlValue>| conditions.add_if_some(condition, value);
        let text = |value: &Option<String>| value.as_ref().map(ToValue::to_value);
        let time = |time: Option<Timestamp>| time.map(|time| time.to_value());
        only("f.agent_id = ?", filter.agent_id.map(SqlValue::Integer));
        let of_product = "f.agent_id IN (SELECT agent_id FROM agents WHERE product = ?)";
        only(of_product, text(&filter.product));
        let of_project = "f.agent_id IN (SELECT agent_id FROM agents WHERE project_id = ?)";
        only(of_project, filter.project_id.map(SqlValue::Integer));
        only("f.name = ?", text(&filter.event));
        only("lower(f.tool) = lower(?)", text(&filter.tool));
        only("f.decision = ?", text(&filter.decision));
        only("f.id IN (SELECT id FROM guard_verdicts WHERE rule = ?)", text(&filter.rule));
        only("f.at >= ?", time(filter.since));
        only("f.at < ?", time(filter.until));
        only("f.id < ?", filter.before_id.map(SqlValue::Integer));
        only("f.id > ?", filter.after_id.map(SqlValue::Integer));
        let of_session = "f.conversation_id IN (SELECT conversation_id FROM session_ids WHERE session_id ^@ ?) \
            AND f.agent_id IN (SELECT h.agent_id FROM session_ids s JOIN holders h USING (conversation_id) \
            WHERE s.session_id ^@ ?)";
        only(of_session, text(&filter.session));
        let order = if filter.after_id.is_some() { "ASC" } else { "DESC" };
        let limit = conditions.add_value(filter.limit.to_value());
        let ids =
            format!("SELECT f.id FROM events f WHERE {} ORDER BY f.id {order} LIMIT {limit}", conditions.to_sql());
        EventQuery { sql: format!("WHERE e.id IN ({ids}) ORDER BY e.id {order}"), values: conditions.values }
    }
}

/// The rows and the order of a SELECT of events.
pub(super) struct EventQuery {
    pub(super) sql: String,
    pub(super) values: Vec<SqlValue>,
}

/// The conditions of a query, and their values.
#[derive(Default)]
pub(super) struct QueryConditions {
    pub(super) clauses: Vec<String>,
    pub(super) values: Vec<SqlValue>,
}

impl QueryConditions {
    /// Adds a condition, where `?` stands for the value, if there is a value.
    pub(super) fn add_if_some(&mut self, condition: &str, value: Option<SqlValue>) {
        if let Some(value) = value {
            let place = self.add_value(value);
            self.clauses.push(condition.replace('?', &place));
        }
    }

    /// Adds a value, and returns its place in the SQL.
    pub(super) fn add_value(&mut self, value: SqlValue) -> String {
        self.values.push(value);
        format!("${}", self.values.len())
    }

    pub(super) fn to_sql(&self) -> String {
        if self.clauses.is_empty() {
            return "true".to_owned();
        }
        self.clauses.join(" AND ")
    }
}
