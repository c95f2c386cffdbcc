//! `GET /api/events/stream`: what happens, as it happens, to whoever listens.
//!
//! One thread (`follower`) reads changes from the database as soon as anybody has written some, and puts them into the `hub`
//! once for all. Each `listener` reads there at its own pace. What it has missed before it came it reads from the database,
//! so it sees every change once: those that it was sent already are known by their numbers.

mod filter;
mod follower;
mod hub;
mod sse_frame;
mod subscriber;

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::HeaderName;
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::Response;
use futures_util::stream::unfold;

use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;
use crate::http::routes::response_with_type;
use crate::http::write_timeout::StreamingResponse;

use filter::StreamFilter;
use subscriber::StreamSubscriber;

pub(crate) use follower::ChangeFollower;
pub(crate) use hub::StreamHub;

/// Sent by a client that was here before: the last change that it has seen.
const LAST_EVENT_ID: &str = "last-event-id";

/// Tells proxies to pass everything on at once.
const NO_PROXY_BUFFERING: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Lets somebody listen.
pub(crate) async fn stream_events(
    State(app): State<SharedAppState>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let query = QueryParams::parse(uri.query(), &["types", "project_id", "agent_id", "last_event_id"])?;
    let filter = StreamFilter::parse(&query)?;
    let seen = parse_last_event_id(&query, &headers)?;
    let listener = StreamSubscriber::subscribe(app, filter, seen).await?;
    let told = unfold(listener, async |listener| {
        let (told, listener) = listener.next_chunk().await?;
        Some((Ok::<Bytes, Infallible>(told), listener))
    });
    let mut answer = response_with_type("text/event-stream", Body::from_stream(told));
    let (name, value) = NO_PROXY_BUFFERING;
    answer.headers_mut().insert(name, value);
    answer.extensions_mut().insert(StreamingResponse);
    Ok(answer)
}

/// The last change that the client has seen: a browser tells it in a header, and whoever cannot does in the query.
fn parse_last_event_id(query: &QueryParams<'_>, headers: &HeaderMap) -> Result<Option<i64>, HttpError> {
    let told = match headers.get(LAST_EVENT_ID) {
        Some(told) => Some(told.to_str().unwrap_or("?")),
        None => query.text("last_event_id"),
    };
    let Some(told) = told.filter(|told| !told.is_empty()) else {
        return Ok(None);
    };
    let is_plain = told.bytes().all(|byte| byte.is_ascii_digit());
    match told.parse() {
        Ok(seen) if is_plain => Ok(Some(seen)),
        _ => Err(HttpError::bad_request("Last-Event-ID must be the \"id\" of an event that this stream has sent")),
    }
}
