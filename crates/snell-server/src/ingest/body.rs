//! Reads the body of a request: its type, size and time are checked. All bodies that are being read or stored share one
//! memory budget.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::http::errors::HttpError;

/// The largest body that is read.
pub(crate) const MAX_BODY_BYTES: usize = 1024 * 1024;

/// How much of a refused body is still read and dropped: a client that is still writing would not read the response.
const MAX_DISCARDED_BYTES: usize = 16 * 1024 * 1024;

/// The part of the memory budget that a body uses.
pub(crate) type BodyPermit = Option<OwnedSemaphorePermit>;

/// Reads a JSON body.
pub(crate) async fn read_json_body(
    request: Request,
    in_time: Duration,
    room: &Arc<Semaphore>,
) -> Result<(Bytes, BodyPermit), HttpError> {
    require_json(request.headers())?;
    read_body(request, in_time, room).await
}

/// Reads a body whose type the caller has checked.
pub(super) async fn read_body(
    request: Request,
    in_time: Duration,
    room: &Arc<Semaphore>,
) -> Result<(Bytes, BodyPermit), HttpError> {
    let (head, mut body) = request.into_parts();
    if parse_content_length(&head.headers) > MAX_BODY_BYTES {
        // A client that waits for `100 Continue` has not sent anything yet.
        if !head.headers.contains_key(EXPECT) {
            discard_body(body, in_time);
        }
        return Err(HttpError::BodyTooLarge { most: MAX_BODY_BYTES });
    }
    match timeout(in_time, collect_body(&mut body, room)).await {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(refusal)) => {
            discard_body(body, in_time);
            Err(refusal)
        }
        Err(_) => Err(HttpError::BodyTimeout),
    }
}

/// Whether the body is JSON.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let kind = value.unwrap_or_default().split(';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case("application/json")
}

fn require_json(headers: &HeaderMap) -> Result<(), HttpError> {
    let message = "the Content-Type header must be application/json";
    is_json(headers).then_some(()).ok_or_else(|| HttpError::bad_request(message))
}

fn parse_content_length(headers: &HeaderMap) -> usize {
    let value = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}

async fn collect_body(body: &mut Body, room: &Arc<Semaphore>) -> Result<(Bytes, BodyPermit), HttpError> {
    let mut text = BodyBuffer::default();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| HttpError::bad_request("the request body ended early"))?;
        if let Ok(part) = frame.into_data() {
            text.push_chunk(part, room)?;
        }
    }
    Ok(text.finish())
}

/// The received part of a body.
#[derive(Default)]
struct BodyBuffer {
    /// The first chunk. Most bodies have only one, which needs no copy.
    first: Bytes,
    /// All chunks, if there are several.
    all: Vec<u8>,
    size: usize,
    permit: BodyPermit,
}

impl BodyBuffer {
    fn push_chunk(&mut self, part: Bytes, room: &Arc<Semaphore>) -> Result<(), HttpError> {
        self.size += part.len();
        if self.size > MAX_BODY_BYTES {
            return Err(HttpError::BodyTooLarge { most: MAX_BODY_BYTES });
        }
        self.acquire_permit(part.len(), room)?;
        if self.size == part.len() {
            self.first = part;
            return Ok(());
        }
        if self.all.is_empty() {
            self.all.extend_from_slice(&self.first);
        }
        self.all.extend_from_slice(&part);
        Ok(())
    }

    fn acquire_permit(&mut self, bytes: usize, room: &Arc<Semaphore>) -> Result<(), HttpError> {
        let taken = u32::try_from(bytes).ok().and_then(|bytes| {
            let room = room.clone();
            room.try_acquire_many_owned(bytes).ok()
        });
        let taken = taken.ok_or_else(|| HttpError::busy("the server is receiving too much data"))?;
        match &mut self.permit {
            Some(room) => room.merge(taken),
            None => self.permit = Some(taken),
        }
        Ok(())
    }

    fn finish(self) -> (Bytes, BodyPermit) {
        let whole = if self.all.is_empty() { self.first } else { self.all.into() };
        (whole, self.permit)
    }
}

/// Reads the rest of a body in the background, within limits, after the refusal was sent.
fn discard_body(mut body: Body, in_time: Duration) {
    tokio::spawn(timeout(in_time, async move {
        let mut left = MAX_DISCARDED_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(length) {
                Some(less) => left = less,
                None => return,
            }
        }
    }));
}
