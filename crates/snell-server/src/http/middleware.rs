//! The steps of every request: check access, call the route, add default headers, count and log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{
    ACCEPT, ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use hyper::body::Incoming;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use crate::app_state::SharedAppState;
use crate::http::errors::{AttachedHttpError, HttpError};
use crate::http::gate::{Gate, RequestTransport};
use crate::http::routes::{self, RouteMatch};
use crate::ingest;
use crate::metrics::{GaugeGuard, ServerMetrics, method_label};
use crate::web;

/// Headers of every response that does not set them. The policy fits a page that loads nothing from elsewhere.
static DEFAULT_HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
             base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        ),
    ),
    (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (HeaderName::from_static("cross-origin-resource-policy"), HeaderValue::from_static("same-origin")),
    (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    (CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// The largest request head.
pub(crate) const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Checks, routes and answers every request.
pub(crate) struct RequestPipeline {
    router: TowerToHyperService<Router>,
    admission: Arc<Admission>,
    app: SharedAppState,
}

/// The steps around every route.
struct Admission {
    gate: Gate,
    metrics: Arc<ServerMetrics>,
}

impl RequestPipeline {
    pub(crate) fn new(gate: Gate, app: SharedAppState) -> Self {
        let admission = Arc::new(Admission { gate, metrics: app.metrics.clone() });
        let layer = middleware::from_fn_with_state(admission.clone(), admit_and_route);
        let router = TowerToHyperService::new(routes::build_router(app.clone()).layer(layer));
        Self { router, admission, app }
    }

    /// Counts a connection until the returned guard is dropped.
    pub(crate) fn count_connection(&self) -> GaugeGuard {
        GaugeGuard::new(&self.admission.metrics.connections)
    }

    pub(crate) async fn handle_request(&self, via: RequestTransport, request: Request<Incoming>) -> Response {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(via);
        // Events are most of the requests. The router would allocate a few kilobytes for each.
        if let Some((route, event)) = routes::find_event_route(request.method(), request.uri().path()) {
            let receive = async |request| ingest::receive_event(&self.app, event, request).await.into_response();
            return self.admission.admit_and_answer(via, route, request, receive).await;
        }
        let mut answer = match self.router.call(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        if answer.status() != StatusCode::METHOD_NOT_ALLOWED {
            // The router adds the header to every response for a wrong method, also if the gate refused it.
            answer.headers_mut().remove(ALLOW);
        }
        answer
    }
}

/// Wraps every route of the router. It also calls this for unknown paths, so no request can bypass it.
async fn admit_and_route(
    State(admission): State<Arc<Admission>>,
    Extension(via): Extension<RequestTransport>,
    matched: Option<MatchedPath>,
    request: Request,
    next: Next,
) -> Response {
    let route = routes::find_route(matched.as_ref().map(MatchedPath::as_str));
    admission.admit_and_answer(via, route, request, async |request| next.run(request).await).await
}

impl Admission {
    /// Checks a request, answers it, adds default headers, and counts and logs the answer.
    async fn admit_and_answer(
        &self,
        via: RequestTransport,
        route: RouteMatch,
        mut request: Request,
        next: impl AsyncFnOnce(Request) -> Response,
    ) -> Response {
        let started = Instant::now();
        let method = request.method().clone();
        let page_uri = is_page_request(&route, &request).then(|| request.uri().clone());
        let admitted = check_head_size(&request).and_then(|()| self.gate.admit(via, &request, route.access));
        let mut answer = match admitted {
            Ok(sender) => {
                request.extensions_mut().insert(sender.identity);
                request.extensions_mut().insert(sender.right);
                next(request).await
            }
            Err(refusal) => refusal.into_response(),
        };
        if let (Some(AttachedHttpError(refusal)), Some(uri)) = (answer.extensions().get(), &page_uri) {
            answer = web::render_error_page(&refusal.clone(), uri, answer);
        }
        insert_default_headers(answer.headers_mut());
        let took = started.elapsed();
        self.metrics.count_request(route.label, &method, answer.status(), took);
        log_request(route.label, &method, &answer, took);
        answer
    }
}

/// Refuses a large head. The parser itself refuses only much larger ones.
fn check_head_size(request: &Request) -> Result<(), HttpError> {
    let header = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len() + ": \r\n".len();
    let headers: usize = request.headers().iter().map(header).sum();
    let uri = request.uri();
    let line = request.method().as_str().len() + uri.path().len() + uri.query().map_or(0, str::len);
    if line + headers > MAX_HEAD_BYTES {
        return Err(HttpError::HeadTooLarge { most: MAX_HEAD_BYTES });
    }
    Ok(())
}

fn insert_default_headers(headers: &mut HeaderMap) {
    headers.reserve(DEFAULT_HEADERS.len());
    for (name, value) in &DEFAULT_HEADERS {
        headers.entry(name).or_insert_with(|| value.clone());
    }
}

/// Whether an error is a page for a person: where a view is, unless the client prefers JSON, and wherever a browser asks.
fn is_page_request(route: &RouteMatch, request: &Request) -> bool {
    let looks = [Method::GET, Method::HEAD].contains(request.method());
    let accepted = request.headers().get(ACCEPT).and_then(|accepted| accepted.to_str().ok()).unwrap_or_default();
    let wants_page = accepted.contains("text/html");
    let wants_json = !wants_page && accepted.contains("application/json");
    route.is_page && looks && !wants_json || (route.is_page || route.label == routes::UNMATCHED_LABEL) && wants_page
}

/// Logs the route and the result of a request, never its content.
fn log_request(route: &'static str, method: &Method, answer: &Response, took: Duration) {
    let (method, status) = (method_label(method), answer.status().as_u16());
    let took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
    if answer.status() < StatusCode::BAD_REQUEST {
        tracing::debug!(method, route, status, took_us, "answered");
        return;
    }
    let why = answer.extensions().get().map_or("", |AttachedHttpError(refusal)| refusal.log_reason());
    tracing::warn!(method, route, status, took_us, why, "refused");
}
