//! Sessions in PostgreSQL.

use std::collections::VecDeque;

use snell::Timestamp;

use super::PostgresDatabase;
use super::log::QueryConditions;
use super::values::{SqlValue, ToValue, values};
use crate::db::columns::SelectedRow;
use crate::db::workers::SessionWorker;
use crate::error::Result;
use crate::views::queries::SessionQueries;
use crate::views::query_types::{ExportLine, LogEntry, SessionView, TurnView};
use crate::views::sessions::{MissionView, SessionFilter, SessionRow};

/// How many events and turns an export holds in memory at a time.
const EXPORT_PAGE: u32 = 50;

impl SessionQueries for PostgresDatabase {
    fn list_sessions(&mut self, filter: &SessionFilter) -> Result<Vec<SessionRow>> {
        let mut conditions = QueryConditions::default();
        conditions.add_if_some("c.conversation_id = ?", filter.conversation_id.map(SqlValue::Integer));
        conditions.add_if_some("c.agent_id = ?", filter.agent_id.map(SqlValue::Integer));
        if !filter.ended_too && filter.conversation_id.is_none() {
            conditions.clauses.push("c.ended_at IS NULL".into());
        }
        let limit = conditions.add_value(filter.limit.map_or(SqlValue::Null, |limit| limit.to_value()));
        let sql = format!(
            "{} WHERE {} ORDER BY s.last_seen_at DESC, c.conversation_id DESC LIMIT {limit}",
            SessionRow::SELECT,
            conditions.to_sql()
        );
        self.session.query_all(&sql, conditions.values)
    }

    fn find_sessions(&mut self, prefix: &str) -> Result<Vec<SessionView>> {
        let sql = format!(
            "{} WHERE c.conversation_id IN \
             (SELECT conversation_id FROM session_ids WHERE session_id ^@ $1) \
             ORDER BY heard_of_at DESC",
            SessionView::SELECT
        );
        let mut sessions: Vec<SessionView> = self.session.query_all(&sql, values![prefix])?;
        for session in &mut sessions {
            let sql = "SELECT session_id FROM session_ids WHERE conversation_id = $1 ORDER BY session_id";
            session.session_ids = self.session.query_all(sql, values![session.conversation_id])?;
        }
        Ok(sessions)
    }

    fn export_session(&mut self, session: &SessionView, listener: &mut dyn FnMut(ExportLine) -> bool) -> Result<()> {
        let mut turns = TurnPageReader::new(session.conversation_id);
        if !listener(ExportLine::Session(session.clone())) {
            return Ok(());
        }
        let which = format!(
            "WHERE e.conversation_id = $1 AND e.id > $2 \
             AND e.agent_id IN (SELECT agent_id FROM holders WHERE conversation_id = $1) \
             ORDER BY e.id LIMIT {EXPORT_PAGE}"
        );
        let mut after = 0;
        loop {
            let page: Vec<LogEntry> = self.session.select_all(&which, values![session.conversation_id, after])?;
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
        let sql = "SELECT linked_at FROM missions WHERE mission_execution_id = $1";
        let linked_at: Option<String> = self.session.query_optional(sql, values![mission_execution_id])?;
        Ok(MissionView {
            mission_execution_id: mission_execution_id.to_owned(),
            linked_at: linked_at.and_then(|text| text.parse().ok()),
        })
    }

    fn list_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>> {
        self.session.select_all("WHERE conversation_id = $1 ORDER BY worker_id", values![conversation_id])
    }
}

/// The turns of a conversation, a page at a time.
struct TurnPageReader {
    conversation_id: i64,
    page: VecDeque<TurnView>,
    /// The last turn that was fetched.
    reached: (i64, i64),
    is_last_page: bool,
}

impl TurnPageReader {
    fn new(conversation_id: i64) -> Self {
        Self { conversation_id, page: VecDeque::new(), reached: (i64::MIN, 0), is_last_page: false }
    }

    /// The next turn, if it is before this time.
    fn next_before(&mut self, database: &PostgresDatabase, time: Timestamp) -> Result<Option<TurnView>> {
        if self.page.is_empty() && !self.is_last_page {
            let which = format!(
                "JOIN commands USING (command_id) WHERE conversation_id = $1 AND (timestamp, turn_id) > ($2, $3) \
                 ORDER BY timestamp, turn_id LIMIT {EXPORT_PAGE}"
            );
            let params = values![self.conversation_id, self.reached.0, self.reached.1];
            self.page = database.session.select_all(&which, params)?.into();
            match self.page.back() {
                Some(last) => self.reached = (last.timestamp.as_microsecond(), last.turn_id),
                None => self.is_last_page = true,
            }
        }
        Ok(self.page.pop_front_if(|turn| turn.timestamp < time))
    }
}
