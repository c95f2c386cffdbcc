//! Sessions in SQLite.

use std::collections::VecDeque;

use rusqlite::params_from_iter;
use rusqlite::types::Value as Sql;
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ConnectionExt, SelectedRow, columns};
use super::log::SqlConditions;
use crate::db::columns::TextTime;
use crate::db::workers::SessionWorker;
use crate::error::Result;
use crate::views::queries::SessionQueries;
use crate::views::query_types::{ExportLine, LogEntry, SessionView, TurnView};
use crate::views::sessions::{MissionView, SessionFilter, SessionRow};

/// How many events and turns an export holds in memory at a time.
const EXPORT_PAGE: u32 = 50;

columns! {
    SessionRow from "sessions s JOIN conversations c USING (session_id)" {
        conversation_id: "c.conversation_id", session_id: "s.session_id", role: "s.role", mode: "s.mode",
        current_state: "s.current_state", last_seen_at: "s.last_seen_at" => unwrap_time,
        ended_at: "s.ended_at" => to_time, end_reason: "s.end_reason", tmux_pane: "s.tmux_pane",
        context_warning_level: "s.context_warning_level", mission_execution_id: "s.mission_execution_id",
        status_text: "s.status_text", started_at: "s.started_at" => unwrap_time, agent_id: "s.agent_id",
        project_path: "s.project_path", context_percent: "s.context_percent", model: "s.model",
        permission_mode: "s.permission_mode", status_set_at: "s.status_set_at" => to_time,
        pinged_at: "s.pinged_at" => to_time, current_tool: "s.current_tool",
    }
}

fn to_time(time: Option<TextTime>) -> Option<Timestamp> {
    time.map(|TextTime(time)| time)
}

fn unwrap_time(time: Option<TextTime>) -> Timestamp {
    to_time(time).unwrap_or(Timestamp::UNIX_EPOCH)
}

columns! {
    SessionView from "conversations c JOIN agents a USING (agent_id) JOIN projects p USING (project_id)" {
        session_id: "c.session_id", conversation_id: "c.conversation_id", agent_id: "c.agent_id",
        project_path: "p.path",
        started_at: "c.started_at",
        last_seen_at: "CASE WHEN a.conversation_id = c.conversation_id THEN a.last_seen_at ELSE c.last_seen_at END AS heard_of_at",
        ended_at: "c.ended_at", end_reason: "c.end_reason";
        // The ids are fetched by a query of their own.
        session_ids: Vec::new(),
    }
}

impl SessionQueries for SqliteDatabase {
    fn list_sessions(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        let mut conditions = SqlConditions::default();
        conditions.add_if_some("c.conversation_id = ?", filter.conversation_id.map(Sql::Integer));
        conditions.add_if_some("c.agent_id = ?", filter.agent_id.map(Sql::Integer));
        if !filter.ended_too && filter.conversation_id.is_none() {
            conditions.clauses.push("c.ended_at IS NULL".into());
        }
        let limit = filter.limit.map_or(-1, i64::from);
        let sql = format!(
            "{} WHERE {} ORDER BY s.last_seen_at DESC, c.conversation_id DESC LIMIT {limit}",
            SessionRow::SELECT,
            conditions.to_sql()
        );
        self.connection.query_all_uncached(&sql, params_from_iter(conditions.values))
    }

    fn find_sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>> {
        let sql = format!(
            "{} WHERE c.conversation_id IN \
             (SELECT conversation_id FROM session_ids WHERE substr(session_id, 1, length(?1)) = ?1) \
             ORDER BY heard_of_at DESC",
            SessionView::SELECT
        );
        let mut sessions: Vec<SessionView> = self.connection.query_all_uncached(&sql, [prefix])?;
        for session in &mut sessions {
            let sql = "SELECT session_id FROM session_ids WHERE conversation_id = ?1 ORDER BY session_id";
            session.session_ids = self.connection.query_all(sql, [session.conversation_id])?;
        }
        Ok(sessions)
    }

    fn export_session(&mut self, session: &SessionView, listener: &mut dyn FnMut(ExportLine) -> bool) -> Result<()> {
        let mut turns = ExportTurnPager::new(session.conversation_id);
        if !listener(ExportLine::Session(session.clone())) {
            return Ok(());
        }
        let which = format!(
            "WHERE e.conversation_id = ?1 AND e.id > ?2 \
             AND e.agent_id IN (SELECT agent_id FROM holders WHERE conversation_id = ?1) \
             ORDER BY e.id LIMIT {EXPORT_PAGE}"
        );
        let mut after = 0;
        loop {
            let page: Vec<LogEntry> = self.connection.select_all(&which, [session.conversation_id, after])?;
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

    fn find_mission(&mut self, mission_execution_id: &str) -> Result<MissionView> {
        let sql = "SELECT linked_at FROM missions WHERE mission_execution_id = ?1";
        let linked_at: Option<String> = self.connection.query_optional(sql, [mission_execution_id])?;
        Ok(MissionView {
            mission_execution_id: mission_execution_id.to_owned(),
            linked_at: linked_at.and_then(|text| text.parse().ok()),
        })
    }

    fn list_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>> {
        self.connection.select_all("WHERE conversation_id = ?1 ORDER BY worker_id", [conversation_id])
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

    /// The next turn, if it is before this time.
    fn next_before(&mut self, database: &SqliteDatabase, time: Timestamp) -> Result<Option<TurnView>> {
        if self.page.is_empty() && !self.is_last_page {
            let which = format!(
                "JOIN commands USING (command_id) WHERE conversation_id = ?1 AND (timestamp, turn_id) > (?2, ?3) \
                 ORDER BY timestamp, turn_id LIMIT {EXPORT_PAGE}"
            );
            let params = [self.conversation_id, self.reached.0, self.reached.1];
            self.page = database.connection.select_all(&which, params)?.into();
            match self.page.back() {
                Some(last) => self.reached = (last.timestamp.as_microsecond(), last.turn_id),
                None => self.is_last_page = true,
            }
        }
        Ok(self.page.pop_front_if(|turn| turn.timestamp < time))
    }
}
