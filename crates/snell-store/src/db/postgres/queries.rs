//! Agents, projects and totals in PostgreSQL.

use snell::Timestamp;

use super::PostgresDatabase;
use super::log::QueryConditions;
use super::values::{SqlValue, ToValue, values};
use crate::db::agent_activity::AgentActivity;
use crate::db::columns::SelectedRow;
use crate::error::Result;
use crate::views::log_search::ProjectView;
use crate::views::queries::Queries;
use crate::views::query_types::{AgentFilter, AgentView, FailedHook, HookRunView, PruneCounts, StoreTotals};

impl Queries for PostgresDatabase {
    fn list_agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>> {
        let ended_after = filter.ended_after.map_or(i64::MAX, Timestamp::as_microsecond);
        let mut conditions = QueryConditions::default();
        match filter.agent_id {
            Some(agent_id) => conditions.add_if_some("a.agent_id = ?", Some(SqlValue::Integer(agent_id))),
            None => {
                conditions.add_if_some("(a.ended_at IS NULL OR a.ended_at > ?)", Some(SqlValue::Integer(ended_after)))
            }
        }
        conditions.add_if_some("a.project_id = ?", filter.project_id.map(SqlValue::Integer));
        conditions.add_if_some("a.state = ?", filter.state.map(|state| state.to_value()));
        conditions.add_if_some("a.in_background = ?", filter.in_background.map(|runs| SqlValue::Integer(runs.into())));
        let after = filter.after.map(|(at, agent_id)| (at.as_microsecond(), agent_id));
        conditions.add_if_some("a.last_seen_at <= ?", after.map(|(at, _)| SqlValue::Integer(at)));
        // Among agents with the same time, the ones after it.
        let passed = after.map(|(at, agent_id)| format!("(a.last_seen_at < {at} OR a.agent_id < {agent_id})"));
        conditions.clauses.extend(passed);
        let limit = conditions.add_value(filter.limit.map_or(SqlValue::Null, |limit| limit.to_value()));
        let sql = format!(
            "{} WHERE {} ORDER BY a.last_seen_at DESC, a.agent_id DESC LIMIT {limit}",
            AgentView::SELECT,
            conditions.to_sql()
        );
        self.session.query_all(&sql, conditions.values)
    }

    fn count_agents(&mut self, activity: AgentActivity) -> Result<i64> {
        let sql = "SELECT count(*) FROM agents WHERE state = $1 AND in_background = $2";
        self.session.query_value(sql, values![activity.state().as_str(), activity == AgentActivity::Background])
    }

    fn list_projects(&mut self, at_most: u32) -> Result<Vec<ProjectView>> {
        self.session.select_all("ORDER BY name, project_id LIMIT $1", values![at_most])
    }

    fn find_project_id(&mut self, root: &str) -> Result<Option<i64>> {
        self.session.query_optional(
            "SELECT project_id FROM projects WHERE snell_digest(path) = snell_digest($1)",
            values![root],
        )
    }

    fn list_failed_hooks(&mut self, since: Timestamp) -> Result<Vec<FailedHook>> {
        let sql = "SELECT source, line, runs, at, status, exit_code, why FROM \
            (SELECT DISTINCT ON (source, line) *, count(*) OVER (PARTITION BY source, line) AS runs FROM hook_runs \
             WHERE at >= $1 AND status IN ('failed', 'timed_out') ORDER BY source, line, at DESC, hook_run_id) last \
            ORDER BY at DESC LIMIT 100";
        self.session.query_all(sql, values![since])
    }

    fn count_totals(&mut self) -> Result<StoreTotals> {
        let mut agents = Vec::new();
        for activity in AgentActivity::ALL {
            agents.push((*activity, self.count_agents(*activity)?));
        }
        let count = |sql: &str| self.session.query_value(sql, values![]);
        let time = |sql: &str| self.session.query_optional(sql, values![]);
        Ok(StoreTotals {
            events: count("SELECT count(*) FROM events")?,
            blocked: count("SELECT count(*) FROM events WHERE decision = 'block'")?,
            turns: count("SELECT count(*) FROM turns")?,
            hook_runs: count("SELECT count(*) FROM hook_runs")?,
            projects: count("SELECT count(*) FROM projects")?,
            agents,
            first_event_at: time("SELECT at FROM events ORDER BY id LIMIT 1")?,
            last_event_at: time("SELECT at FROM events ORDER BY id DESC LIMIT 1")?,
        })
    }

    fn count_older_than(&mut self, before: Timestamp) -> Result<PruneCounts> {
        self.count_old_rows(before)
    }

    fn check_integrity(&mut self) -> Result<Option<String>> {
        // The server checks its files by itself.
        Ok(None)
    }
}

impl PostgresDatabase {
    pub(super) fn read_hook_runs(&self, event_row: i64) -> Result<Vec<HookRunView>> {
        self.session.select_all("WHERE id = $1 ORDER BY hook_run_id", values![event_row])
    }
}
