//! `GET /api/events/stream`: changes as server-sent events.
//!
//! One thread (`follower`) reads new changes from the database and adds them to the `hub`, once for all clients. Each
//! `subscriber` reads them at its own pace. It reads earlier changes from the database, and skips changes that it has
//! already sent by their numbers.

mod filter;
mod follower;
mod hub;
mod sse_frame;
mod subscriber;

use std::convert::Infallible;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::HeaderName;
use axum::http::{HeaderMap, HeaderValue, Uri};
use axum::response::Response;
use futures_util::stream::unfold;

use crate::answers::AnswerRight;
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::query_params::QueryParams;
use crate::http::routes::response_with_type;
use crate::http::write_timeout::StreamingResponse;

use filter::StreamFilter;
use subscriber::StreamSubscriber;

pub(crate) use follower::ChangeFollower;
pub(crate) use hub::StreamHub;

/// Sent by a client that reconnects: the last change that it has seen.
const LAST_EVENT_ID: &str = "last-event-id";

/// Tells proxies not to buffer.
const NO_PROXY_BUFFERING: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));

/// Opens a stream.
pub(crate) async fn stream_events(
    State(app): State<SharedAppState>,
    Extension(right): Extension<AnswerRight>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let query = QueryParams::parse(uri.query(), &["types", "project_id", "agent_id", "last_event_id"])?;
    let filter = StreamFilter::parse(&query)?;
    let seen = parse_last_event_id(&query, &headers)?;
    // Hooks wait for answers only as long as anyone who may answer sees their requests.
    let watch = right.is_granted().then(|| app.answer_watch.join());
    let subscriber = StreamSubscriber::subscribe(app, filter, seen).await?.with_watch(watch);
    let chunks = unfold(subscriber, async |subscriber| {
        let (chunk, subscriber) = subscriber.next_chunk().await?;
        Some((Ok::<Bytes, Infallible>(chunk), subscriber))
    });
    let mut answer = response_with_type("text/event-stream", Body::from_stream(chunks));
    let (name, value) = NO_PROXY_BUFFERING;
    answer.headers_mut().insert(name, value);
    answer.extensions_mut().insert(StreamingResponse);
    Ok(answer)
}

/// The last change that the client has seen: in a header or, for clients that cannot set it, in the query.
fn parse_last_event_id(query: &QueryParams<'_>, headers: &HeaderMap) -> Result<Option<i64>, HttpError> {
    let id = match headers.get(LAST_EVENT_ID) {
        Some(id) => Some(id.to_str().unwrap_or("?")),
        None => query.text("last_event_id"),
    };
    let Some(id) = id.filter(|id| !id.is_empty()) else {
        return Ok(None);
    };
    let is_plain = id.bytes().all(|byte| byte.is_ascii_digit());
    match id.parse() {
        Ok(seen) if is_plain => Ok(Some(seen)),
        _ => Err(HttpError::bad_request("Last-Event-ID must be the id of an event of this stream")),
    }
}
