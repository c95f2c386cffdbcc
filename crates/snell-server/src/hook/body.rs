//! The body of a request: of the right kind, not too large, and in time.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt;

use crate::error::Refusal;

/// The largest body that is read.
pub(crate) const MAX_BYTES: usize = 1024 * 1024;

/// So much more of a body that is too large is read and thrown away: a client that is still writing would not hear why.
const MAX_WASTE_BYTES: usize = 16 * 1024 * 1024;

/// Reads a body of JSON.
pub(super) async fn read(request: Request, in_time: Duration) -> Result<Bytes, Refusal> {
    let (head, body) = request.into_parts();
    require_json(&head.headers)?;
    let waits_for_leave = head.headers.contains_key(EXPECT);
    if waits_for_leave && told_length(&head.headers) > MAX_BYTES {
        return Err(Refusal::TooLarge { most: MAX_BYTES });
    }
    match tokio::time::timeout(in_time, collect(body)).await {
        Ok(whole) => whole,
        Err(_) => Err(Refusal::TooSlow),
    }
}

fn require_json(headers: &HeaderMap) -> Result<(), Refusal> {
    let told = headers.get(CONTENT_TYPE).and_then(|told| told.to_str().ok());
    let kind = told.unwrap_or_default().split(';').next().unwrap_or_default();
    if kind.trim().eq_ignore_ascii_case("application/json") {
        Ok(())
    } else {
        Err(Refusal::bad("the header Content-Type must be application/json"))
    }
}

fn told_length(headers: &HeaderMap) -> usize {
    let told = headers.get(CONTENT_LENGTH).and_then(|told| told.to_str().ok());
    told.and_then(|told| told.parse().ok()).unwrap_or(0)
}

async fn collect(mut body: Body) -> Result<Bytes, Refusal> {
    let mut whole = Bytes::new();
    let mut parts: Vec<u8> = Vec::new();
    let mut size = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::bad("the body ended early"))?;
        let Ok(part) = frame.into_data() else {
            continue;
        };
        size += part.len();
        if size > MAX_BYTES {
            parts = Vec::new();
            whole = Bytes::new();
            if size > MAX_BYTES + MAX_WASTE_BYTES {
                break;
            }
        } else if size == part.len() {
            // Most bodies come in one piece, which needs no copy.
            whole = part;
        } else {
            if parts.is_empty() {
                parts.extend_from_slice(&whole);
            }
            parts.extend_from_slice(&part);
        }
    }
    match size {
        _ if size > MAX_BYTES => Err(Refusal::TooLarge { most: MAX_BYTES }),
        _ if parts.is_empty() => Ok(whole),
        _ => Ok(parts.into()),
    }
}
