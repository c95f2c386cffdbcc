//! All routes, in one table.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use snell::{EventName, UserMessage};

use crate::api;
use crate::app_state::SharedAppState;
use crate::http::errors::HttpError;
use crate::http::gate::RouteAccess;
use crate::ingest;
use crate::stream;
use crate::web;

/// The OpenAPI description of the routes for programs.
pub const OPENAPI: &str = include_str!("../../openapi.json");

/// One route.
struct HttpRoute {
    method: &'static str,
    path: &'static str,
    access: RouteAccess,
    /// Whether the response is a page for people.
    is_page: bool,
    handler: fn() -> MethodRouter<SharedAppState>,
    /// For routes that take events: the event that the path names.
    event: Option<fn() -> Option<EventName>>,
}

/// A route that takes events.
const fn post_route(path: &'static str, answer: fn() -> MethodRouter<SharedAppState>) -> HttpRoute {
    HttpRoute { method: "POST", path, access: RouteAccess::Sending, is_page: false, handler: answer, event: None }
}

const fn get_route(path: &'static str, answer: fn() -> MethodRouter<SharedAppState>) -> HttpRoute {
    HttpRoute { method: "GET", path, access: RouteAccess::Authenticated, is_page: false, handler: answer, event: None }
}

/// A page for people, which links on other sites may open.
const fn page_route(path: &'static str, answer: fn() -> MethodRouter<SharedAppState>) -> HttpRoute {
    HttpRoute {
        method: "GET",
        path,
        access: RouteAccess::AuthenticatedNavigation,
        is_page: true,
        handler: answer,
        event: None,
    }
}

/// The target of a form.
const fn form_route(path: &'static str, answer: fn() -> MethodRouter<SharedAppState>) -> HttpRoute {
    HttpRoute { method: "POST", path, access: RouteAccess::SameOrigin, is_page: true, handler: answer, event: None }
}

impl HttpRoute {
    const fn with_access(mut self, access: RouteAccess) -> Self {
        self.access = access;
        self
    }

    const fn with_event(mut self, event: fn() -> Option<EventName>) -> Self {
        self.event = Some(event);
        self
    }
}

/// Routes for programs.
const API_ROUTES: &[HttpRoute] = &[
    post_route("/hook/session-start", || ingest::event_route(EventName::SessionStart))
        .with_event(|| Some(EventName::SessionStart)),
    post_route("/hook/session-end", || ingest::event_route(EventName::SessionEnd))
        .with_event(|| Some(EventName::SessionEnd)),
    post_route("/hook/user-prompt-submit", || ingest::event_route(EventName::UserPromptSubmit))
        .with_event(|| Some(EventName::UserPromptSubmit)),
    post_route("/hook/stop", || ingest::event_route(EventName::Stop)).with_event(|| Some(EventName::Stop)),
    post_route("/hook/notification", || ingest::event_route(EventName::Notification))
        .with_event(|| Some(EventName::Notification)),
    post_route("/hook/pre-tool-use", || ingest::event_route(EventName::PreToolUse))
        .with_event(|| Some(EventName::PreToolUse)),
    post_route("/hook/post-tool-use", || ingest::event_route(EventName::PostToolUse))
        .with_event(|| Some(EventName::PostToolUse)),
    post_route("/hook/permission-request", || ingest::event_route(EventName::PermissionRequest))
        .with_event(|| Some(EventName::PermissionRequest)),
    post_route("/hook/event", ingest::any_event_route).with_event(|| None),
    post_route("/v1/logs", || post(ingest::receive_logs)),
    post_route("/v1/metrics", || post(ingest::receive_metrics)),
    get_route("/hook/status", || get(api::get_status)).with_access(RouteAccess::Probing),
    get_route("/api/events/stream", || get(stream::stream_events)),
    get_route("/api/agents", || get(api::list_agents)),
    get_route("/api/agents/{id}", || get(api::get_agent)),
    get_route("/api/agents/{id}/turns", || get(api::list_turns)),
    get_route("/api/events", || get(api::list_events)),
    get_route("/api/hooks", || get(api::list_hook_stats)),
    get_route("/api/guard", || get(api::list_guard_verdicts)),
    get_route("/api/requests", || get(api::list_requests)),
    get_route("/api/requests/{id}", || get(api::get_request)).with_access(RouteAccess::Answering),
    post_route("/api/requests/{id}", || post(api::answer_request)).with_access(RouteAccess::Answering),
    get_route("/api/remembered", || get(api::list_remembered)),
    post_route("/api/remembered/{id}/forget", || post(api::forget_remembered)).with_access(RouteAccess::Answering),
    get_route("/api/tokens", || get(api::list_tokens)).with_access(RouteAccess::Administering),
    post_route("/api/tokens", || post(api::create_token)).with_access(RouteAccess::Administering),
    post_route("/api/tokens/{id}/revoke", || post(api::revoke_token)).with_access(RouteAccess::Administering),
    get_route("/api/usage", || get(api::get_usage)),
    get_route("/api/openapi.json", || get(async || response_with_type("application/json", OPENAPI))),
    get_route("/metrics", || get(api::get_metrics)),
    get_route("/healthz", || get(async || response_with_type("text/plain; charset=utf-8", "ok\n")))
        .with_access(RouteAccess::Public),
];

/// Routes for people: pages, their fragments and assets.
const PAGE_ROUTES: &[HttpRoute] = &[
    page_route("/", || get(web::get_agents_page)),
    page_route("/agents/{id}", || get(web::get_agent_page)),
    page_route("/agents/{id}/export.html", || get(web::get_agent_export)).with_access(RouteAccess::Authenticated),
    page_route("/logging", || get(web::get_logging_page)),
    page_route("/logging/{id}", || get(web::get_event_page)),
    page_route("/hooks", || get(web::get_hooks_page)),
    page_route("/guard", || get(web::get_guard_page)),
    page_route("/requests", || get(web::get_requests_page)),
    form_route("/requests/{id}/answer", || post(web::answer_by_form)).with_access(RouteAccess::Answering),
    form_route("/remembered/{id}/forget", || post(web::forget_by_form)).with_access(RouteAccess::Answering),
    page_route("/answer/{link}", || get(web::get_link_page)).with_access(RouteAccess::SignedLink),
    form_route("/answer/{link}", || post(web::answer_by_link)).with_access(RouteAccess::SignedLink),
    page_route("/usage", || get(web::get_usage_page)),
    page_route("/login", || get(web::get_login_page)).with_access(RouteAccess::SameOrigin),
    form_route("/login", || post(web::log_in)),
    form_route("/logout", || post(web::log_out)),
    get_route("/fragments/counts", || get(web::get_counts_fragment)),
    get_route("/fragments/needs", || get(web::get_waiting_fragment)),
    get_route("/fragments/agents", || get(web::get_cards_fragment)),
    get_route("/fragments/agents/{id}", || get(web::get_card_fragment)),
    get_route("/fragments/agents/{id}/head", || get(web::get_agent_header_fragment)),
    get_route("/fragments/agents/{id}/timeline", || get(web::get_timeline_fragment)),
    get_route("/fragments/requests", || get(web::get_requests_fragment)),
    get_route("/fragments/requests/count", || get(web::get_request_count_fragment)),
    get_route("/fragments/receiver", || get(web::get_receiver_fragment)),
    get_route("/fragments/log", || get(web::get_log_fragment)),
    get_route("/fragments/log/new", || get(web::get_new_count_fragment)),
    get_route("/fragments/hooks", || get(web::get_hooks_fragment)),
    get_route("/fragments/guard", || get(web::get_verdicts_fragment)),
    get_route("/fragments/usage", || get(web::get_usage_fragment)),
    get_route("/assets/{version}/{name}", || get(web::get_asset)).with_access(RouteAccess::Public),
];

/// Method and path of every route for programs.
pub fn api_routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    API_ROUTES.iter().map(|route| (route.method, route.path))
}

/// Method and path of every route for people.
pub fn page_routes() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE_ROUTES.iter().map(|route| (route.method, route.path))
}

fn all_routes() -> impl Iterator<Item = &'static HttpRoute> {
    API_ROUTES.iter().chain(PAGE_ROUTES)
}

/// The label of paths without a route.
pub(crate) const UNMATCHED_LABEL: &str = "other";

/// The route of a request.
pub(crate) struct RouteMatch {
    /// The route's path, for logs and metrics.
    pub(crate) label: &'static str,
    pub(crate) access: RouteAccess,
    /// Whether the response is a page for people.
    pub(crate) is_page: bool,
}

/// The route of a path pattern of the router. Unknown paths need the token.
pub(crate) fn find_route(path: Option<&str>) -> RouteMatch {
    match all_routes().find(|route| Some(route.path) == path) {
        Some(route) => RouteMatch { label: route.path, access: route.access, is_page: route.is_page },
        None => RouteMatch { label: UNMATCHED_LABEL, access: RouteAccess::Authenticated, is_page: false },
    }
}

/// The route of a request that sends an event, and the event that its path names.
pub(crate) fn find_event_route(method: &Method, path: &str) -> Option<(RouteMatch, Option<EventName>)> {
    if method != Method::POST || !path.starts_with("/hook/") {
        return None;
    }
    let route = API_ROUTES.iter().find(|route| route.path == path)?;
    let event = route.event?;
    Some((RouteMatch { label: route.path, access: route.access, is_page: route.is_page }, event()))
}

/// The router of all routes.
pub(crate) fn build_router(app: SharedAppState) -> Router {
    let mut router = Router::new();
    for route in all_routes() {
        router = router.route(route.path, (route.handler)());
    }
    router
        .method_not_allowed_fallback(async || HttpError::WrongMethod)
        .fallback(async |request: Request| -> HttpError {
            let message = UserMessage::new("there is nothing at this address");
            HttpError::UnknownPath(if request.uri().path().starts_with("/hook/") {
                message.with_hint("send events without their own route to /hook/event")
            } else {
                message
            })
        })
        .with_state(app)
}

/// A response with this content type.
pub(crate) fn response_with_type(kind: &'static str, text: impl Into<Body>) -> Response {
    let mut answer = Response::new(text.into());
    *answer.status_mut() = StatusCode::OK;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

#[cfg(test)]
mod tests {
    use axum::extract::MatchedPath;
    use axum::middleware::{Next, from_fn};
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;

    /// The routes of the table, but each returns its label and access as the middleware finds them.
    fn build_probe_router() -> Router {
        let mut router = Router::new();
        for route in all_routes() {
            let on = match route.method {
                "GET" => get(async || ""),
                _ => post(async || ""),
            };
            router = router.route(route.path, on);
        }
        router.layer(from_fn(async |matched: Option<MatchedPath>, _: Request, _: Next| {
            let route = find_route(matched.as_ref().map(MatchedPath::as_str));
            format!("{} {:?}", route.label, route.access)
        }))
    }

    async fn probe(path: &str) -> String {
        let request = Request::builder().uri(path).body(Body::empty()).unwrap();
        let answer = TowerToHyperService::new(build_probe_router()).call(request).await.unwrap();
        String::from_utf8(axum::body::to_bytes(answer.into_body(), 1000).await.unwrap().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn a_path_matches_one_route() {
        let cases = [
            ("/hook/stop", "/hook/stop"),
            ("/hook/stop/", "other"),
            ("/api/agents", "/api/agents"),
            ("/api/agents/7", "/api/agents/{id}"),
            ("/api/agents/", "other"),
            ("/api/agents/7/turns", "/api/agents/{id}/turns"),
            ("/api/agents/7/turns/8", "other"),
            ("/api/events/stream", "/api/events/stream"),
            ("/", "/"),
            ("/agents/7", "/agents/{id}"),
            ("/agents/7/export.html", "/agents/{id}/export.html"),
            ("/agents/7/export", "other"),
            ("/logging/7", "/logging/{id}"),
            ("/fragments/log/new", "/fragments/log/new"),
            ("/assets/1/page.css", "/assets/{version}/{name}"),
            ("//", "other"),
        ];
        for (path, label) in cases {
            assert_eq!(probe(path).await.split(' ').next(), Some(label), "{path}");
        }
    }

    #[tokio::test]
    async fn every_route_has_the_access_of_its_row_and_no_other() {
        for route in all_routes() {
            let path = route.path.replace(['{', '}'], "");
            assert_eq!(probe(&path).await, format!("{} {:?}", route.path, route.access));
            let same_path = all_routes().filter(|other| other.path == route.path);
            assert!(same_path.into_iter().all(|other| other.access == route.access), "{path} has one access");
        }
        assert_eq!(probe("/no/such/route").await, "other Authenticated");
    }

    #[test]
    fn only_these_routes_are_open_to_more_than_our_own_pages() {
        let open: Vec<_> = all_routes()
            .filter(|route| route.access != RouteAccess::Authenticated)
            .filter(|route| !(route.method == "POST" && route.path.starts_with("/hook/")))
            .map(|route| (route.method, route.path, route.access))
            .collect();
        let events = all_routes().filter(|route| route.path.starts_with("/hook/") && route.method == "POST");
        assert!(events.into_iter().all(|route| route.access == RouteAccess::Sending));
        let expected = [
            ("POST", "/v1/logs", RouteAccess::Sending),
            ("POST", "/v1/metrics", RouteAccess::Sending),
            ("GET", "/hook/status", RouteAccess::Probing),
            // A liveness check, the views, the login and the assets.
            ("GET", "/api/requests/{id}", RouteAccess::Answering),
            ("POST", "/api/requests/{id}", RouteAccess::Answering),
            ("POST", "/api/remembered/{id}/forget", RouteAccess::Answering),
            ("GET", "/api/tokens", RouteAccess::Administering),
            ("POST", "/api/tokens", RouteAccess::Administering),
            ("POST", "/api/tokens/{id}/revoke", RouteAccess::Administering),
            ("GET", "/healthz", RouteAccess::Public),
            ("GET", "/", RouteAccess::AuthenticatedNavigation),
            ("GET", "/agents/{id}", RouteAccess::AuthenticatedNavigation),
            ("GET", "/logging", RouteAccess::AuthenticatedNavigation),
            ("GET", "/logging/{id}", RouteAccess::AuthenticatedNavigation),
            ("GET", "/hooks", RouteAccess::AuthenticatedNavigation),
            ("GET", "/guard", RouteAccess::AuthenticatedNavigation),
            ("GET", "/requests", RouteAccess::AuthenticatedNavigation),
            ("POST", "/requests/{id}/answer", RouteAccess::Answering),
            ("POST", "/remembered/{id}/forget", RouteAccess::Answering),
            ("GET", "/answer/{link}", RouteAccess::SignedLink),
            ("POST", "/answer/{link}", RouteAccess::SignedLink),
            ("GET", "/usage", RouteAccess::AuthenticatedNavigation),
            ("GET", "/login", RouteAccess::SameOrigin),
            ("POST", "/login", RouteAccess::SameOrigin),
            ("POST", "/logout", RouteAccess::SameOrigin),
            ("GET", "/assets/{version}/{name}", RouteAccess::Public),
        ];
        assert_eq!(open, expected);
    }
}
