//! What happens to every request, whatever it is for: it is let in or not, answered, and the answer gets its headers.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use crate::error::Why;
use crate::gate::{Gate, Via};
use crate::metrics::{Counted, Metrics};
use crate::routes;

/// Headers of every answer. The policy is that of a page which needs nothing from anywhere else.
static HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
             base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// How much of a path is told in the log.
const PATH_SHOWN: usize = 200;

/// The front of the server.
pub(crate) struct Front {
    gate: Gate,
    routes: TowerToHyperService<Router>,
    metrics: Arc<Metrics>,
}

impl Front {
    pub(crate) fn new(gate: Gate, routes: Router, metrics: Arc<Metrics>) -> Self {
        Self {
            gate,
            routes: TowerToHyperService::new(routes),
            metrics,
        }
    }

    /// Counts a connection for as long as the answer lives.
    pub(crate) fn count_connection(&self) -> Counted {
        Counted::new(&self.metrics.connections)
    }

    pub(crate) async fn answer(&self, via: Via, request: Request<Incoming>) -> Response {
        let started = Instant::now();
        let mut request = request.map(Body::new);
        let route = routes::find(request.uri().path());
        let asked = Asked::of(&request);
        let admitted = self.gate.admit(via, request.uri(), request.headers(), route.openness);
        let mut answer = match admitted {
            Ok(()) => {
                request.extensions_mut().insert(via);
                match self.routes.call(request).await {
                    Ok(answer) => answer,
                    Err(never) => match never {},
                }
            }
            Err(refusal) => refusal.into_response(),
        };
        put_headers(answer.headers_mut());
        let took = started.elapsed();
        self.metrics.answered(route.label, &asked.method, answer.status(), took);
        asked.log(&answer, took);
        answer
    }
}

fn put_headers(headers: &mut HeaderMap) {
    headers.reserve(HEADERS.len());
    for (name, value) in &HEADERS {
        headers.insert(name, value.clone());
    }
}

/// What the log tells of a request. Never what it carries.
struct Asked {
    method: Method,
    path: Option<String>,
}

impl Asked {
    fn of(request: &Request) -> Self {
        // Most requests are never told of.
        let path = tracing::enabled!(tracing::Level::WARN).then(|| {
            let path = request.uri().path();
            path[..path.floor_char_boundary(PATH_SHOWN)].to_owned()
        });
        Self {
            method: request.method().clone(),
            path,
        }
    }

    fn log(&self, answer: &Response, took: std::time::Duration) {
        let (method, path) = (&self.method, self.path.as_deref().unwrap_or_default());
        let status = answer.status().as_u16();
        let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        if answer.status() < StatusCode::BAD_REQUEST {
            tracing::debug!(%method, ?path, status, took_us, "answered");
            return;
        }
        let why = answer.extensions().get::<Why>().map_or("", |why| why.0.as_str());
        tracing::warn!(%method, ?path, status, took_us, ?why, "refused");
    }
}
