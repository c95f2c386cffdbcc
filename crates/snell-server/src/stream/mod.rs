//! `GET /api/events/stream`: what happens, as it happens, to whoever listens.
//!
//! One thread (`follower`) reads changes from the database as soon as anybody has written some, and puts them into the `hub`
//! once for all. Each `listener` reads there at its own pace. What it has missed before it came it reads from the database,
//! so it sees every change once: those that it was sent already are known by their numbers.

mod filter;
mod follower;
mod frame;
mod hub;
mod listener;

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::HeaderName;
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::Response;
use futures_util::stream::unfold;

use crate::app::Shared;
use crate::error::Refusal;
use crate::patience::Endless;
use crate::query::Query;
use crate::routes::typed;

use filter::Filter;
use listener::Listener;

pub(crate) use follower::Follower;
pub(crate) use hub::Hub;

/// Sent by a client that was here before: the last change that it has seen.
const LAST_EVENT_ID: &str = "last-event-id";

/// Tells proxies to pass everything on at once.
const UNBUFFERED: (HeaderName, HeaderValue) = (
    HeaderName::from_static("x-accel-buffering"),
    HeaderValue::from_static("no"),
);

/// Lets somebody listen.
pub(crate) async fn listen(State(app): State<Shared>, uri: Uri, headers: HeaderMap) -> Result<Response, Refusal> {
    let query = Query::read(uri.query(), &["types", "project_id", "agent_id", "last_event_id"])?;
    let filter = Filter::read(&query)?;
    let seen = last_seen(&query, &headers)?;
    let listener = Listener::arrive(app, filter, seen).await?;
    let told = unfold(listener, async |listener| {
        let (told, listener) = listener.next().await?;
        Some((Ok::<Bytes, Infallible>(told), listener))
    });
    let mut answer = typed("text/event-stream", Body::from_stream(told));
    let (name, value) = UNBUFFERED;
    answer.headers_mut().insert(name, value);
    answer.extensions_mut().insert(Endless);
    Ok(answer)
}

/// The last change that the client has seen: a browser tells it in a header, and whoever cannot does in the query.
fn last_seen(query: &Query<'_>, headers: &HeaderMap) -> Result<Option<i64>, Refusal> {
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
        _ => Err(Refusal::bad(
            "Last-Event-ID must be the \"id\" of an event that this stream has sent",
        )),
    }
}
