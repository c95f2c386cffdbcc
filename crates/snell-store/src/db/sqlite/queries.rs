//! Agents, projects and totals in SQLite.

use rusqlite::types::Value as Sql;
use rusqlite::{params, params_from_iter};
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ConnectionExt, SelectedRow, columns};
use super::log::SqlConditions;
use crate::db::agent_activity::AgentActivity;
use crate::error::Result;
use crate::views::log_search::ProjectView;
use crate::views::queries::Queries;
use crate::views::query_types::{AgentFilter, AgentView, FailedHook, HookRunView, PruneCounts, StoreTotals};

columns! {
    AgentView from "agents a JOIN projects p USING (project_id) LEFT JOIN conversations c USING (conversation_id)" {
        agent_id: "a.agent_id", project_id: "a.project_id", project: "p.name", project_path: "p.path",
        product: "a.product", session_id: "coalesce(c.session_id, a.session_id)", state: "a.state",
        state_since: "a.state_since", state_source: "a.state_source", confidence: "a.confidence", why: "a.why",
        background: "a.in_background, a.background_subagents, a.background_commands, a.background_wakeups",
        silent_since: "a.silent_since", current_tool: "a.current_tool", last_words: "a.last_words",
        last_words_by: "(SELECT t.actor FROM turns t WHERE t.agent_id = a.agent_id ORDER BY t.turn_id DESC LIMIT 1)",
        status_text: "c.status_text", tmux_session: "a.tmux_session", tmux_pane: "a.tmux_pane", pid: "a.pid",
        host: "a.host", role: "c.role", mode: "c.mode", model: "c.model", context_percent: "a.context_percent",
        started_at: "a.started_at", last_seen_at: "a.last_seen_at", ended_at: "a.ended_at", end_reason: "a.end_reason",
        open_request: "(SELECT r.uid FROM requests r WHERE r.agent_id = a.agent_id AND r.status = 'open' \
            ORDER BY r.request_id LIMIT 1)",
        request_reading: "(SELECT r.detail FROM requests r WHERE r.agent_id = a.agent_id AND r.status = 'open' \
            ORDER BY r.request_id LIMIT 1)" => parse_reading,
    }
}

/// The lines that say what the call of a request would do.
fn parse_reading(detail: Option<String>) -> Vec<String> {
    #[derive(serde::Deserialize)]
    struct RequestDetail {
        reading: Vec<String>,
    }
    let parsed: Option<RequestDetail> = detail.and_then(|detail| serde_json::from_str(&detail).ok());
    parsed.map(|detail| detail.reading).unwrap_or_default()
}

columns! { ProjectView from "projects" { project_id, name, path } }

columns! {
    HookRunView from "hook_runs" {
        contract, source, line, command, matcher, status, exit_code, signal, duration_us, stdout, stderr, why,
    }
}

impl Queries for SqliteDatabase {
    fn list_agents(&mut self, filter: &AgentFilter) -> Result<Vec<AgentView>> {
        let ended_after = filter.ended_after.map_or(i64::MAX, Timestamp::as_microsecond);
        let mut conditions = SqlConditions::default();
        match filter.agent_id {
            Some(agent_id) => conditions.add_if_some("a.agent_id = ?", Some(Sql::Integer(agent_id))),
            None => conditions.add_if_some("(a.ended_at IS NULL OR a.ended_at > ?)", Some(Sql::Integer(ended_after))),
        }
        conditions.add_if_some("a.project_id = ?", filter.project_id.map(Sql::Integer));
        conditions.add_if_some("a.state = ?", filter.state.map(|state| Sql::Text(state.to_string())));
        conditions.add_if_some("a.in_background = ?", filter.in_background.map(|runs| Sql::Integer(runs.into())));
        let after = filter.after.map(|(at, agent_id)| (at.as_microsecond(), agent_id));
        conditions.add_if_some("a.last_seen_at <= ?", after.map(|(at, _)| Sql::Integer(at)));
        // Among agents with the same time, the ones after it.
        let passed = after.map(|(at, agent_id)| format!("(a.last_seen_at < {at} OR a.agent_id < {agent_id})"));
        conditions.clauses.extend(passed);
        let limit = filter.limit.map_or(-1, i64::from);
        let sql = format!(
            "{} WHERE {} ORDER BY a.last_seen_at DESC, a.agent_id DESC LIMIT {limit}",
            AgentView::SELECT,
            conditions.to_sql()
        );
        self.connection.query_all_uncached(&sql, params_from_iter(conditions.values))
    }

    fn count_agents(&mut self, activity: AgentActivity) -> Result<i64> {
        let sql = "SELECT count(*) FROM agents WHERE state = ?1 AND in_background = ?2";
        self.connection.query_value(sql, params![activity.state().as_str(), activity == AgentActivity::Background])
    }

    fn list_projects(&mut self, at_most: u32) -> Result<Vec<ProjectView>> {
        self.connection.select_all("ORDER BY name, project_id LIMIT ?1", [at_most])
    }

    fn find_project_id(&mut self, root: &str) -> Result<Option<i64>> {
        self.connection.query_optional("SELECT project_id FROM projects WHERE path = ?1", [root])
    }

    fn list_failed_hooks(&mut self, since: Timestamp) -> Result<Vec<FailedHook>> {
        // With a maximum, SQLite takes the other columns from the row that has it.
        let which = "WHERE at >= ?1 AND status IN ('failed', 'timed_out') GROUP BY source, line ORDER BY max(at) DESC LIMIT 100";
        self.connection.select_all(which, [since.as_microsecond()])
    }

    fn count_totals(&mut self) -> Result<StoreTotals> {
        let mut agents = Vec::new();
        for activity in AgentActivity::ALL {
            agents.push((*activity, self.count_agents(*activity)?));
        }
        let count = |sql: &str| self.connection.query_value(sql, []);
        let time = |sql: &str| self.connection.query_optional(sql, []);
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
        let report: String = self.connection.query_value("PRAGMA quick_check(1)", [])?;
        Ok((report != "ok").then_some(report))
    }
}

columns! {
    FailedHook from "hook_runs" {
        source, line, runs: "count(*)", last_at: "max(at)", last_status: "status", last_exit_code: "exit_code", last_why: "why",
    }
}

impl SqliteDatabase {
    pub(super) fn read_hook_runs(&self, event_row: i64) -> Result<Vec<HookRunView>> {
        self.connection.select_all("WHERE id = ?1 ORDER BY hook_run_id", [event_row])
    }
}
