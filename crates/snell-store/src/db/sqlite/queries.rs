//! What can be asked, in SQLite.

use std::collections::VecDeque;

use rusqlite::types::Value as Sql;
use rusqlite::{OptionalExtension, Row, params_from_iter};
use snell::Timestamp;

use super::SqliteDatabase;
use super::log::{SELECT_LOG_ENTRY, SqlConditions, decode_log_entry};
use super::rows::{get_enum, get_optional_enum, get_optional_time, get_time};
use crate::db::backend::Queries;
use crate::db::change_feed::{ChangeRange, ChangeRow};
use crate::db::model::{AgentState, StateConfidence, StateSource, TimestampSource, TurnActor};
use crate::db::workers::SessionWorker;
use crate::derive::intent::TurnIntent;
use crate::error::Result;
use crate::views::log_search::{EventDetails, LogSearchResult, ProjectView};
use crate::views::query_types::{
    AgentFilter, AgentView, EventActivity, ExportLine, GuardFilter, GuardLogEntry, GuardVerdictView, HookRunView,
    HookStats, LogEntry, LogFilter, PruneCounts, SessionView, StoreTotals, TurnFilter, TurnView,
};
use crate::views::rollups::{GuardHour, HookHour};
use crate::views::sessions::{MissionView, SessionFilter, SessionRow};
use crate::views::timeline::{SightingFilter, SightingView, TimelineEvent, TimelineFilter};

/// How many events and turns an export holds in memory at a time.
const EXPORT_PAGE: u32 = 50;

const AGENT_VIEW: &str = "SELECT a.agent_id, a.project_id, p.name, p.path, a.product, \
    coalesce(c.session_id, a.session_id), a.state, a.state_since, a.state_source, a.confidence, a.why, a.current_tool, \
    a.last_words, a.tmux_session, a.tmux_pane, a.pid, a.host, c.role, c.mode, c.model, a.context_percent, a.started_at, \
    a.last_seen_at, a.ended_at, a.end_reason, c.status_text, \
    (SELECT t.actor FROM turns t WHERE t.agent_id = a.agent_id ORDER BY t.turn_id DESC LIMIT 1) \
    FROM agents a JOIN projects p USING (project_id) LEFT JOIN conversations c USING (conversation_id)";

const SESSION_VIEW: &str = "SELECT c.session_id, c.conversation_id, c.agent_id, p.path, c.started_at, \
    CASE WHEN a.conversation_id = c.conversation_id THEN a.last_seen_at ELSE c.last_seen_at END, c.ended_at, c.end_reason FROM conversations c JOIN agents a USING (agent_id) JOIN projects p USING (project_id)";

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
        let after = filter.after.map(|(at, agent_id)| (at.as_microsecond(), agent_id));
        conditions.add_if_some("a.last_seen_at <= ?", after.map(|(at, _)| Sql::Integer(at)));
        // Of those that were last heard of at the same moment, the ones after it.
        let passed = after.map(|(at, agent_id)| format!("(a.last_seen_at < {at} OR a.agent_id < {agent_id})"));
        conditions.clauses.extend(passed);
        let limit = filter.limit.map_or(-1, i64::from);
        let sql = format!(
            "{AGENT_VIEW} WHERE {} ORDER BY a.last_seen_at DESC, a.agent_id DESC LIMIT {limit}",
            conditions.to_sql()
        );
        let mut statement = self.connection.prepare(&sql)?;
        let found = statement
            .query_map(params_from_iter(conditions.values), decode_agent_view)?
            .collect::<rusqlite::Result<_>>()?;
        Ok(found)
    }

    fn count_agents(&mut self, state: AgentState) -> Result<i64> {
        let sql = "SELECT count(*) FROM agents WHERE state = ?1";
        Ok(self.connection.prepare_cached(sql)?.query_row([state.as_str()], |row| row.get(0))?)
    }

    fn query_log(&mut self, filter: &LogFilter) -> Result<Vec<LogEntry>> {
        self.read_log(filter)
    }

    fn search_log(&mut self, filter: &LogFilter, text: Option<&str>) -> Result<LogSearchResult> {
        self.search_events(filter, text)
    }

    fn find_event(&mut self, id: i64) -> Result<Option<EventDetails>> {
        self.read_event_details(id)
    }

    fn list_projects(&mut self, at_most: u32) -> Result<Vec<ProjectView>> {
        self.read_projects(at_most)
    }

    fn last_event_id(&mut self) -> Result<i64> {
        let sql = "SELECT coalesce(max(id), 0) FROM events";
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    fn find_sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>> {
        let sql = format!(
            "{SESSION_VIEW} WHERE c.conversation_id IN \
             (SELECT conversation_id FROM session_ids WHERE substr(session_id, 1, length(?1)) = ?1) \
             ORDER BY 6 DESC"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let found: Vec<_> = statement.query_map([prefix], decode_session_view)?.collect::<rusqlite::Result<_>>()?;
        drop(statement);
        found.into_iter().map(|session| self.fill_session_ids(session)).collect()
    }

    fn export_session(&mut self, session: &SessionView, listener: &mut dyn FnMut(ExportLine) -> bool) -> Result<()> {
        let mut turns = ExportTurnPager::new(session.conversation_id);
        if !listener(ExportLine::Session(session.clone())) {
            return Ok(());
        }
        let sql = format!(
            "{SELECT_LOG_ENTRY} WHERE e.conversation_id = ?1 AND e.id > ?2 \
             AND e.agent_id IN (SELECT agent_id FROM holders WHERE conversation_id = ?1) \
             ORDER BY e.id LIMIT {EXPORT_PAGE}"
        );
        let mut after = 0;
        loop {
            let page: Vec<_> = self
                .connection
                .prepare_cached(&sql)?
                .query_map([session.conversation_id, after], decode_log_entry)?
                .collect::<rusqlite::Result<_>>()?;
            let Some(last) = page.last() else {
                break;
            };
            after = last.id;
            for event in page {
                while let Some(turn) = turns.next_before(self, event.at)? {
                    if !listener(ExportLine::Turn(turn)) {
                        return Ok(());
                    }
                }
                let line = ExportLine::Event {
                    hook_runs: self.read_hook_runs(event.id)?,
                    guard_verdicts: self.read_event_verdicts(event.id)?,
                    event: Box::new(event),
                };
                if !listener(line) {
                    return Ok(());
                }
            }
        }
        while let Some(turn) = turns.next_before(self, Timestamp::MAX)? {
            if !listener(ExportLine::Turn(turn)) {
                break;
            }
        }
        Ok(())
    }

    fn check_integrity(&mut self) -> Result<Option<String>> {
        let said: String = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
        Ok((said != "ok").then_some(said))
    }

    fn count_totals(&mut self) -> Result<StoreTotals> {
        let mut agents = Vec::new();
        for state in AgentState::ALL {
            agents.push((*state, self.count_agents(*state)?));
        }
        let connection = &self.connection;
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let times = |sql: &str| connection.query_row(sql, [], |row| get_optional_time(row, 0)).optional();
        Ok(StoreTotals {
            events: count("SELECT count(*) FROM events")?,
            blocked: count("SELECT count(*) FROM events WHERE decision = 'block'")?,
            turns: count("SELECT count(*) FROM turns")?,
            hook_runs: count("SELECT count(*) FROM hook_runs")?,
            projects: count("SELECT count(*) FROM projects")?,
            agents,
            first_event_at: times("SELECT at FROM events ORDER BY id LIMIT 1")?.flatten(),
            last_event_at: times("SELECT at FROM events ORDER BY id DESC LIMIT 1")?.flatten(),
        })
    }

    fn prune_batch(&mut self, before: Timestamp, at_most: u32) -> Result<PruneCounts> {
        self.delete_old_rows(before, at_most)
    }

    fn count_older_than(&mut self, before: Timestamp) -> Result<PruneCounts> {
        self.count_old_rows(before)
    }

    fn list_changes_after(&mut self, after: i64, at_most: u32) -> Result<Vec<ChangeRow>> {
        self.read_changes(after, at_most)
    }

    fn change_range(&mut self) -> Result<ChangeRange> {
        self.read_change_range()
    }

    fn trim_changes(&mut self, keep: u32) -> Result<()> {
        self.delete_oldest_changes(keep)
    }

    fn summarize_events_since(&mut self, event_row: Option<i64>) -> Result<EventActivity> {
        self.read_event_activity(event_row)
    }

    fn query_timeline(&mut self, filter: &TimelineFilter) -> Result<Vec<TimelineEvent>> {
        self.read_timeline(filter)
    }

    fn list_sightings(&mut self, filter: &SightingFilter) -> Result<Vec<SightingView>> {
        self.read_sightings_before(filter)
    }

    fn find_earlier_event(
        &mut self,
        agent_id: i64,
        before_id: Option<i64>,
        events: u32,
    ) -> Result<Option<(i64, Timestamp)>> {
        self.read_earlier_event(agent_id, before_id, events)
    }

    fn list_turns(&mut self, filter: &TurnFilter) -> Result<Vec<TurnView>> {
        self.read_turns(filter)
    }

    fn list_hook_stats(&mut self, since: Timestamp) -> Result<Vec<HookStats>> {
        self.read_hook_stats(since)
    }

    fn list_hook_hours(&mut self, since: Timestamp, hook_id: Option<i64>) -> Result<Vec<HookHour>> {
        self.read_hook_hours(since, hook_id)
    }

    fn list_guard_hours(&mut self, since: Timestamp) -> Result<Vec<GuardHour>> {
        self.read_guard_hours(since)
    }

    fn list_agent_guard_hours(&mut self, agent_id: i64, since: Timestamp, at_most: u32) -> Result<Vec<GuardHour>> {
        self.read_agent_guard_hours(agent_id, since, at_most)
    }

    fn query_guard_log(&mut self, filter: &GuardFilter) -> Result<Vec<GuardLogEntry>> {
        self.read_guard_log(filter)
    }

    fn list_guard_verdicts(&mut self, event_rows: &[i64]) -> Result<Vec<(i64, GuardVerdictView)>> {
        self.read_guard_verdicts(event_rows)
    }

    fn find_project_id(&mut self, root: &str) -> Result<Option<i64>> {
        let sql = "SELECT project_id FROM projects WHERE path = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([root], |row| row.get(0)).optional()?)
    }

    fn list_sessions(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        self.read_session_rows(filter)
    }

    fn find_mission(&mut self, mission_execution_id: &str) -> Result<MissionView> {
        self.read_mission(mission_execution_id)
    }

    fn list_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>> {
        self.read_workers(conversation_id)
    }
}

impl SqliteDatabase {
    fn fill_session_ids(&self, mut session: SessionView) -> Result<SessionView> {
        let sql = "SELECT session_id FROM session_ids WHERE conversation_id = ?1 ORDER BY session_id";
        let mut statement = self.connection.prepare_cached(sql)?;
        session.session_ids =
            statement.query_map([session.conversation_id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(session)
    }

    /// Turns of a conversation after this one, in the order in which they were said.
    fn read_turns_after(&self, conversation_id: i64, time: i64, turn_id: i64) -> Result<VecDeque<TurnView>> {
        let sql = format!(
            "SELECT turn_id, t.agent_id, t.command_id, actor, intent, text, timestamp, timestamp_source \
             FROM turns t JOIN commands USING (command_id) WHERE conversation_id = ?1 \
             AND (timestamp, turn_id) > (?2, ?3) ORDER BY timestamp, turn_id LIMIT {EXPORT_PAGE}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_map([conversation_id, time, turn_id], decode_turn_view)?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }

    pub(super) fn read_hook_runs(&self, event_row: i64) -> Result<Vec<HookRunView>> {
        let sql = "SELECT contract, source, line, command, matcher, status, exit_code, signal, duration_us, stdout, \
            stderr, why FROM hook_runs WHERE id = ?1 ORDER BY hook_run_id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_map([event_row], |row| {
            Ok(HookRunView {
                contract: row.get(0)?,
                source: row.get(1)?,
                line: row.get(2)?,
                command: row.get(3)?,
                matcher: row.get(4)?,
                status: row.get(5)?,
                exit_code: row.get(6)?,
                signal: row.get(7)?,
                duration_us: row.get(8)?,
                stdout: row.get(9)?,
                stderr: row.get(10)?,
                why: row.get(11)?,
            })
        })?;
        Ok(found.collect::<rusqlite::Result<_>>()?)
    }
}

/// The turns of a conversation, a page at a time.
struct ExportTurnPager {
    conversation_id: i64,
    page: VecDeque<TurnView>,
    /// The last turn that was fetched.
    reached: (i64, i64),
    is_last_page: bool,
}

impl ExportTurnPager {
    fn new(conversation_id: i64) -> Self {
        Self { conversation_id, page: VecDeque::new(), reached: (i64::MIN, 0), is_last_page: false }
    }

    /// The next one, if it was said before this time.
    fn next_before(&mut self, database: &SqliteDatabase, time: Timestamp) -> Result<Option<TurnView>> {
        if self.page.is_empty() && !self.is_last_page {
            self.page = database.read_turns_after(self.conversation_id, self.reached.0, self.reached.1)?;
            match self.page.back() {
                Some(last) => self.reached = (last.timestamp.as_microsecond(), last.turn_id),
                None => self.is_last_page = true,
            }
        }
        Ok(self.page.pop_front_if(|turn| turn.timestamp < time))
    }
}

fn decode_agent_view(row: &Row<'_>) -> rusqlite::Result<AgentView> {
    Ok(AgentView {
        agent_id: row.get(0)?,
        project_id: row.get(1)?,
        project: row.get(2)?,
        project_path: row.get(3)?,
        product: row.get(4)?,
        session_id: row.get(5)?,
        state: get_enum(row, 6, AgentState::parse)?,
        state_since: get_time(row, 7)?,
        state_source: get_enum(row, 8, StateSource::parse)?,
        confidence: get_enum(row, 9, StateConfidence::parse)?,
        why: row.get(10)?,
        current_tool: row.get(11)?,
        last_words: row.get(12)?,
        last_words_by: get_optional_enum(row, 26, TurnActor::parse)?,
        status_text: row.get(25)?,
        tmux_session: row.get(13)?,
        tmux_pane: row.get(14)?,
        pid: row.get(15)?,
        host: row.get(16)?,
        role: row.get(17)?,
        mode: row.get(18)?,
        model: row.get(19)?,
        context_percent: row.get(20)?,
        started_at: get_time(row, 21)?,
        last_seen_at: get_time(row, 22)?,
        ended_at: get_optional_time(row, 23)?,
        end_reason: row.get(24)?,
    })
}

fn decode_session_view(row: &Row<'_>) -> rusqlite::Result<SessionView> {
    Ok(SessionView {
        session_id: row.get(0)?,
        conversation_id: row.get(1)?,
        agent_id: row.get(2)?,
        project_path: row.get(3)?,
        session_ids: Vec::new(),
        started_at: get_time(row, 4)?,
        last_seen_at: get_time(row, 5)?,
        ended_at: get_optional_time(row, 6)?,
        end_reason: row.get(7)?,
    })
}

pub(super) fn decode_turn_view(row: &Row<'_>) -> rusqlite::Result<TurnView> {
    Ok(TurnView {
        turn_id: row.get(0)?,
        agent_id: row.get(1)?,
        command_id: row.get(2)?,
        actor: get_enum(row, 3, TurnActor::parse)?,
        intent: get_enum(row, 4, TurnIntent::parse)?,
        text: row.get(5)?,
        timestamp: get_time(row, 6)?,
        timestamp_source: get_enum(row, 7, TimestampSource::parse)?,
    })
}
