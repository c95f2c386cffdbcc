//! Requests of agents, and answers to them.

use axum::Extension;
use axum::extract::{RawQuery, Request, State};
use axum::http::Uri;
use serde::Deserialize;
use snell::{Timestamp, UserMessage};
use snell_store::Store;
use snell_store::requests::{
    AnswerAuthor, AnswerChoice, AnswerOrigin, RememberScope, RememberTerm, RequestAnswer, RequestFilter, RequestStatus,
    RequestView,
};

use super::{ApiResult, respond_json};
use crate::answers::{self, AnswerRight};
use crate::api::json_page::{self, JsonPage};
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::gate::RequestTransport;
use crate::http::query_params::{QueryParams, parse_id};
use crate::http::rfc3339;
use crate::ingest::body;

/// The value of `status` for all requests.
const ALL_STATUSES: &str = "all";

/// `GET /api/requests`: the newest first.
pub(crate) async fn list_requests(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    let query = QueryParams::parse(query.as_deref(), &["status", "agent_id", "limit", "before"])?;
    let limit = query.limit()?;
    let statuses = RequestStatus::ALL.iter().map(|status| status.as_str()).chain([ALL_STATUSES]);
    let parse_status = |word: &str| match word {
        ALL_STATUSES => Some(None),
        word => RequestStatus::parse(word).map(Some),
    };
    let status = query.choice("status", parse_status, statuses)?.unwrap_or(Some(RequestStatus::Open));
    let agent_id = query.id("agent_id")?;
    let before_id = query.before_cursor(parse_id)?;
    let ask = move |store: &mut Store| {
        store.sweep_requests(Timestamp::now())?;
        json_page::write_page(
            limit,
            before_id,
            |request: &RequestView| request.request_id,
            |before_id, limit| {
                store.list_requests(&RequestFilter { status, agent_id, before_id, limit, ..RequestFilter::default() })
            },
        )
    };
    Ok(app.store_pool.with_store(ask).await?.into_response())
}

/// `GET /api/requests/{id}`
pub(crate) async fn get_request(State(app): State<SharedAppState>, uri: Uri) -> ApiResult {
    QueryParams::parse(uri.query(), &[])?;
    let uid = parse_path_uid(&uri).to_owned();
    let ask = {
        let uid = uid.clone();
        move |store: &mut Store| {
            store.sweep_requests(Timestamp::now())?;
            answers::find_request(store, &uid)
        }
    };
    let request = app.store_pool.with_store(ask).await?;
    respond_json(&request.ok_or_else(|| answers::unknown_request_error(&uid))?)
}

/// `POST /api/requests/{id}`
pub(crate) async fn answer_request(
    State(app): State<SharedAppState>,
    Extension(right): Extension<AnswerRight>,
    Extension(via): Extension<RequestTransport>,
    request: Request,
) -> ApiResult {
    right.require_for_api()?;
    let uid = parse_path_uid(request.uri()).to_owned();
    let (text, _permit) = body::read_json_body(request, app.settings.body_timeout, &app.body_budget).await?;
    let author = AnswerAuthor { name: right.describe_author(via, &app.settings), origin: AnswerOrigin::Api };
    let answer = AnswerBody::parse(&text)?.into_answer()?;
    respond_json(&answers::submit_answer(&app, &uid, answer, author).await?)
}

/// `GET /api/remembered`: answers that are given again, the latest first.
pub(crate) async fn list_remembered(State(app): State<SharedAppState>, RawQuery(query): RawQuery) -> ApiResult {
    let limit = QueryParams::parse(query.as_deref(), &["limit"])?.limit()?;
    let ask = move |store: &mut Store| store.list_remembered_answers(Timestamp::now(), limit);
    let remembered = app.store_pool.with_store(ask).await?;
    let mut page = JsonPage::new(limit);
    let _ = remembered.iter().all(|answer| page.try_push(answer));
    Ok(page.finish(None::<i64>).into_response())
}

/// `POST /api/remembered/{id}/forget`
pub(crate) async fn forget_remembered(
    State(app): State<SharedAppState>,
    Extension(right): Extension<AnswerRight>,
    uri: Uri,
) -> ApiResult {
    right.require_for_api()?;
    QueryParams::parse(uri.query(), &[])?;
    let uid = parse_path_uid(&uri).to_owned();
    let wanted = uid.clone();
    let forgotten = app.store_pool.with_store(move |store| store.forget_answer(&wanted, Timestamp::now())).await?;
    respond_json(&forgotten.ok_or_else(|| answers::unknown_remembered_error(&uid))?)
}

/// The id of a request in `/api/requests/{id}`.
fn parse_path_uid(uri: &Uri) -> &str {
    uri.path().split('/').nth(3).unwrap_or_default()
}

/// An answer as clients send it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerBody {
    answer: AnswerChoice,
    #[serde(default)]
    replies: Vec<String>,
    message: Option<String>,
    remember: Option<RememberBody>,
    suggestion: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberBody {
    scope: RememberScope,
    until: Option<String>,
}

impl AnswerBody {
    fn parse(text: &[u8]) -> Result<Self, HttpError> {
        serde_json::from_slice(text).map_err(|error| {
            let message = UserMessage::new(format!("the request body is not an answer: {error}"));
            HttpError::bad_request(message.with_hint("send an object such as {\"answer\": \"allow\"}"))
        })
    }

    fn into_answer(mut self) -> Result<RequestAnswer, HttpError> {
        let remember = match self.remember.take() {
            Some(term) => Some(RememberTerm { scope: term.scope, until: parse_until(term.until)? }),
            None => None,
        };
        let Self { answer: choice, replies, message, suggestion, .. } = self;
        Ok(RequestAnswer { choice, replies, message, remember, suggestion })
    }
}

/// The end of a remembered answer.
fn parse_until(text: Option<String>) -> Result<Option<Timestamp>, HttpError> {
    let Some(text) = text else {
        return Ok(None);
    };
    let until = rfc3339::parse_typed_timestamp(&text).ok_or_else(|| {
        let message = UserMessage::new("\"until\" must be a time");
        HttpError::bad_request(message.with_hint("write a time such as 2025-12-31T10:30:00Z, or leave it out"))
    })?;
    Ok(Some(until))
}
