//! Requests to the user in PostgreSQL.

use snell::Timestamp;

use super::PostgresDatabase;
use super::log::QueryConditions;
use super::transaction::{PostgresTransaction, new_row};
use super::values::{SqlValue, ToValue, values};
use crate::error::Result;
use crate::requests::{
    NewRequest, RememberedAnswer, RememberedCall, RequestEnd, RequestFilter, RequestRows, RequestView, UnsettledRequest,
};
use crate::views::queries::RequestQueries;

impl RequestRows for PostgresTransaction<'_> {
    fn insert_request(&mut self, request: &NewRequest, host: Option<&str>) -> Result<i64> {
        let request_id = self.take_id("requests_request_id_seq")?;
        let (detail, waiter) = (request.detail.to_string(), request.waiter);
        self.insert(new_row!(
            "requests",
            request {
                request_id: request_id,
                kind,
                origin,
                channel,
                agent_id,
                session_id,
                event_id,
                tool,
                tool_use_id,
                title,
                detail: detail,
                opened_at,
                expires_at,
                host: host,
                waiter_pid: waiter.map(|waiter| waiter.pid),
                waiter_started: waiter.and_then(|waiter| waiter.started),
            }
        ));
        Ok(request_id)
    }

    fn find_request(&mut self, request_id: i64) -> Result<Option<RequestView>> {
        self.select_one("WHERE r.request_id = $1", values![request_id])
    }

    fn find_request_by_uid(&mut self, uid: &str) -> Result<Option<RequestView>> {
        self.select_one("WHERE r.uid = $1", values![uid])
    }

    fn list_open_requests(&mut self, agent_id: i64) -> Result<Vec<RequestView>> {
        let which = "WHERE r.agent_id = $1 AND r.status = 'open' ORDER BY r.request_id";
        self.select_all(which, values![agent_id])
    }

    fn close_request(&mut self, request_id: i64, end: &RequestEnd) -> Result<()> {
        let (answer, author) = end.answer.as_ref().map(|(answer, author)| (answer, author)).unzip();
        let answer = answer.map(|answer| serde_json::to_string(answer).unwrap_or_default());
        self.update(new_row!(
            "requests",
            end {
                request_id: request_id,
                status,
                answer: answer,
                answered_by: author.map(|author| author.name.as_str()),
                answered_from: author.map(|author| author.origin),
                closed_at: end.at,
                closed_reason: end.reason,
            }
        ))
    }

    fn save_request_delivery(
        &mut self,
        request_id: i64,
        delivered_at: Option<Timestamp>,
        reason: Option<&str>,
    ) -> Result<()> {
        let sql = "UPDATE requests SET delivered_at = $2, closed_reason = $3 WHERE request_id = $1";
        self.run(&["requests"], sql, values![request_id, delivered_at, reason])
    }

    fn has_request_of_event(&mut self, agent_id: i64, event_id: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM requests WHERE agent_id = $1 AND event_id = $2)";
        self.query_value(sql, values![agent_id, event_id])
    }

    fn save_remembered_answer(&mut self, remembered: &RememberedAnswer) -> Result<()> {
        let asked_by = serde_json::to_string(&remembered.asked_by).unwrap_or_default();
        let RememberedAnswer { scope, scope_key, tool, subject, title, request_uid, created_at, until, .. } =
            remembered;
        let sql = "DELETE FROM remembered_answers WHERE scope = $1 AND snell_digest(scope_key) = snell_digest($2) \
            AND tool = $3 AND snell_digest(subject) = snell_digest($4)";
        self.run(&["remembered_answers"], sql, values![scope, scope_key, tool, subject])?;
        let sql = "INSERT INTO remembered_answers \
            (scope, scope_key, tool, subject, title, asked_by, request_uid, created_at, until) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let values = values![scope, scope_key, tool, subject, title, asked_by, request_uid, created_at, until];
        self.run(&["remembered_answers"], sql, values)
    }

    fn delete_remembered_answer(&mut self, request_uid: &str) -> Result<Option<RememberedAnswer>> {
        let found = self.select_one("WHERE request_uid = $1", values![request_uid])?;
        let sql = "DELETE FROM remembered_answers WHERE request_uid = $1";
        self.run(&["remembered_answers"], sql, values![request_uid])?;
        Ok(found)
    }
}

impl RequestQueries for PostgresDatabase {
    fn list_requests(&mut self, filter: &RequestFilter) -> Result<Vec<RequestView>> {
        let mut conditions = QueryConditions::default();
        conditions.add_if_some("r.status = ?", filter.status.map(|status| status.to_value()));
        conditions.add_if_some("r.agent_id = ?", filter.agent_id.map(SqlValue::Integer));
        conditions.add_if_some("r.request_id < ?", filter.before_id.map(SqlValue::Integer));
        conditions.add_if_some("r.uid ^@ ?", filter.uid_prefix.as_ref().map(ToValue::to_value));
        let limit = conditions.add_value(filter.limit.to_value());
        let which = format!("WHERE {} ORDER BY r.request_id DESC LIMIT {limit}", conditions.to_sql());
        self.session.select_all(&which, conditions.values)
    }

    fn list_unsettled_requests(&mut self) -> Result<Vec<UnsettledRequest>> {
        let which = "WHERE delivered_at IS NULL AND closed_reason IS NULL \
                     AND (status = 'open' OR status = 'answered' AND channel = 'reply') ORDER BY request_id LIMIT 1000";
        self.session.select_all(which, values![])
    }

    fn list_untyped_answers(&mut self, opened_after: Timestamp) -> Result<Vec<RequestView>> {
        let which = "WHERE r.opened_at >= $1 AND r.status = 'answered' AND r.channel = 'pane' \
                     AND r.delivered_at IS NULL AND r.closed_reason IS NULL ORDER BY r.request_id";
        self.session.select_all(which, values![opened_after.as_microsecond()])
    }

    fn count_open_requests(&mut self) -> Result<i64> {
        self.session.query_value("SELECT count(*) FROM requests WHERE status = 'open'", values![])
    }

    fn find_remembered_answer(
        &mut self,
        call: &RememberedCall<'_>,
        now: Timestamp,
    ) -> Result<Option<RememberedAnswer>> {
        let which = "WHERE tool = $1 AND subject = $2 AND (until IS NULL OR until > $3) \
                     AND (scope = 'session' AND scope_key = $4 OR scope = 'project' AND scope_key = $5)";
        let values = values![call.tool, call.subject, now.as_microsecond(), call.session_id, call.project_path];
        let found: Vec<RememberedAnswer> = self.session.select_all(which, values)?;
        Ok(found.into_iter().find(|answer| answer.covers(call.asked_by)))
    }

    fn list_remembered_answers(&mut self, now: Timestamp, limit: u32) -> Result<Vec<RememberedAnswer>> {
        let which = "WHERE until IS NULL OR until > $1 ORDER BY created_at DESC, remembered_id DESC LIMIT $2";
        self.session.select_all(which, values![now.as_microsecond(), limit])
    }
}
