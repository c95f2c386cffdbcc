//! Requests to the user in SQLite.

use rusqlite::types::Value as Sql;
use rusqlite::{params, params_from_iter};
use serde_json::Value;
use snell::Timestamp;

use super::SqliteDatabase;
use super::columns::{ColumnParam, ConnectionExt, columns, insert_row, parse_json, update_row};
use super::rows::SqliteTransaction;
use crate::error::Result;
use crate::requests::{
    NewRequest, RememberedAnswer, RememberedCall, RequestAnswer, RequestEnd, RequestFilter, RequestRows, RequestView,
    UnsettledRequest,
};
use crate::views::queries::RequestQueries;

columns! {
    RequestView from "requests r JOIN agents a USING (agent_id) JOIN projects p USING (project_id)" {
        request_id: "r.request_id", uid: "r.uid", kind: "r.kind", origin: "r.origin", channel: "r.channel",
        agent_id: "r.agent_id", product: "a.product", project_id: "a.project_id", project: "p.name",
        project_path: "p.path", session_id: "r.session_id", event_id: "r.event_id", tool: "r.tool",
        tool_use_id: "r.tool_use_id", title: "r.title",
        detail: "r.detail" => |text| parse_json(text).unwrap_or(Value::Null), opened_at: "r.opened_at",
        expires_at: "r.expires_at", host: "r.host", waiter: "r.waiter_pid, r.waiter_started", status: "r.status",
        answerable: "r.status = 'open' AND r.channel <> 'elsewhere'", answer: "r.answer" => parse_answer, answered_by: "r.answered_by", answered_from: "r.answered_from",
        closed_at: "r.closed_at", closed_reason: "r.closed_reason", delivered_at: "r.delivered_at",
    }
}

columns! {
    UnsettledRequest from "requests" {
        request_id, status, expires_at, host, waiter: "waiter_pid, waiter_started",
    }
}

columns! {
    RememberedAnswer from "remembered_answers" {
        request_uid, scope, scope_key, tool, subject, title, asked_by: "asked_by" => parse_names, created_at, until,
    }
}

fn parse_names(text: String) -> Vec<String> {
    serde_json::from_str(&text).unwrap_or_default()
}

fn parse_answer(text: Option<String>) -> Option<RequestAnswer> {
    text.and_then(|text| serde_json::from_str(&text).ok())
}

impl RequestRows for SqliteTransaction<'_, '_> {
    fn insert_request(&mut self, request: &NewRequest, host: Option<&str>) -> Result<i64> {
        let (detail, waiter) = (request.detail.to_string(), request.waiter);
        insert_row!(
            self.transaction,
            "INSERT INTO requests",
            request {
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
        )
    }

    fn find_request(&mut self, request_id: i64) -> Result<Option<RequestView>> {
        self.transaction.select_one("WHERE r.request_id = ?1", [request_id])
    }

    fn find_request_by_uid(&mut self, uid: &str) -> Result<Option<RequestView>> {
        self.transaction.select_one("WHERE r.uid = ?1", [uid])
    }

    fn list_open_requests(&mut self, agent_id: i64) -> Result<Vec<RequestView>> {
        let which = "WHERE r.agent_id = ?1 AND r.status = 'open' ORDER BY r.request_id";
        self.transaction.select_all(which, [agent_id])
    }

    fn close_request(&mut self, request_id: i64, end: &RequestEnd) -> Result<()> {
        let (answer, author) = end.answer.as_ref().map(|(answer, author)| (answer, author)).unzip();
        let answer = answer.map(|answer| serde_json::to_string(answer).unwrap_or_default());
        update_row!(
            self.transaction,
            "requests",
            request_id = request_id,
            end {
                status,
                answer: answer,
                answered_by: author.map(|author| author.name.as_str()),
                answered_from: author.map(|author| author.origin),
                closed_at: end.at,
                closed_reason: end.reason,
            }
        )
    }

    fn save_request_delivery(
        &mut self,
        request_id: i64,
        delivered_at: Option<Timestamp>,
        reason: Option<&str>,
    ) -> Result<()> {
        let sql = "UPDATE requests SET delivered_at = ?2, closed_reason = ?3 WHERE request_id = ?1";
        self.transaction.run(sql, params![request_id, delivered_at.map(Timestamp::as_microsecond), reason])
    }

    fn has_request_of_event(&mut self, agent_id: i64, event_id: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM requests WHERE agent_id = ?1 AND event_id = ?2)";
        self.transaction.query_value(sql, params![agent_id, event_id])
    }

    fn save_remembered_answer(&mut self, remembered: &RememberedAnswer) -> Result<()> {
        let asked_by = serde_json::to_string(&remembered.asked_by).unwrap_or_default();
        insert_row!(
            self.transaction,
            "INSERT OR REPLACE INTO remembered_answers",
            remembered { scope, scope_key, tool, subject, title, asked_by: asked_by, request_uid, created_at, until }
        )
        .map(drop)
    }

    fn delete_remembered_answer(&mut self, request_uid: &str) -> Result<Option<RememberedAnswer>> {
        let found = self.transaction.select_one("WHERE request_uid = ?1", [request_uid])?;
        self.transaction.run("DELETE FROM remembered_answers WHERE request_uid = ?1", [request_uid])?;
        Ok(found)
    }
}

impl RequestQueries for SqliteDatabase {
    fn list_requests(&mut self, filter: &RequestFilter) -> Result<Vec<RequestView>> {
        let mut conditions: Vec<&str> = Vec::new();
        let mut values: Vec<Sql> = Vec::new();
        let mut add = |condition, value: Option<Sql>| {
            if let Some(value) = value {
                conditions.push(condition);
                values.push(value);
            }
        };
        add("r.status = ?", filter.status.map(|status| Sql::from(status.as_str().to_owned())));
        add("r.agent_id = ?", filter.agent_id.map(Sql::from));
        add("r.request_id < ?", filter.before_id.map(Sql::from));
        // A prefix of an id is compared as text, not as a pattern.
        add("instr(r.uid, ?) = 1", filter.uid_prefix.clone().map(Sql::from));
        let which = if conditions.is_empty() { "1" } else { &conditions.join(" AND ") };
        values.push(i64::from(filter.limit).into());
        let which = format!("WHERE {which} ORDER BY r.request_id DESC LIMIT ?");
        self.connection.select_all(&which, params_from_iter(values))
    }

    fn list_unsettled_requests(&mut self) -> Result<Vec<UnsettledRequest>> {
        let which = "WHERE delivered_at IS NULL AND closed_reason IS NULL \
                     AND (status = 'open' OR status = 'answered' AND channel = 'reply') ORDER BY request_id LIMIT 1000";
        self.connection.select_all(which, [])
    }

    fn list_untyped_answers(&mut self, opened_after: Timestamp) -> Result<Vec<RequestView>> {
        let which = "WHERE r.opened_at >= ?1 AND r.status = 'answered' AND r.channel = 'pane' \
                     AND r.delivered_at IS NULL AND r.closed_reason IS NULL ORDER BY r.request_id";
        self.connection.select_all(which, [opened_after.as_microsecond()])
    }

    fn count_open_requests(&mut self) -> Result<i64> {
        self.connection.query_value("SELECT count(*) FROM requests WHERE status = 'open'", [])
    }

    fn find_remembered_answer(
        &mut self,
        call: &RememberedCall<'_>,
        now: Timestamp,
    ) -> Result<Option<RememberedAnswer>> {
        let which = "WHERE tool = ?1 AND subject = ?2 AND (until IS NULL OR until > ?3) \
                     AND (scope = 'session' AND scope_key = ?4 OR scope = 'project' AND scope_key = ?5)";
        let values = params![call.tool, call.subject, now.as_microsecond(), call.session_id, call.project_path];
        let found: Vec<RememberedAnswer> = self.connection.select_all(which, values)?;
        Ok(found.into_iter().find(|answer| answer.covers(call.asked_by)))
    }

    fn list_remembered_answers(&mut self, now: Timestamp, limit: u32) -> Result<Vec<RememberedAnswer>> {
        let which = "WHERE until IS NULL OR until > ?1 ORDER BY created_at DESC, remembered_id DESC LIMIT ?2";
        self.connection.select_all(which, params![now.as_microsecond(), limit])
    }
}
