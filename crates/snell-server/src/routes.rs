//! Everything that can be asked of the server, in one table.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use snell::EventName;

use crate::api;
use crate::app::Shared;
use crate::error::Refusal;
use crate::gate::Openness;
use crate::hook;
use crate::stream;
use crate::web;

/// The description of all routes for programs, as the server tells it.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// One route.
struct Route {
    method: &'static str,
    path: &'static str,
    openness: Openness,
    /// Whether people look at the answer.
    is_page: bool,
    answer: fn() -> MethodRouter<Shared>,
}

const fn receives(path: &'static str, answer: fn() -> MethodRouter<Shared>) -> Route {
    Route {
        method: "POST",
        path,
        openness: Openness::Ours,
        is_page: false,
        answer,
    }
}

const fn shows(path: &'static str, answer: fn() -> MethodRouter<Shared>) -> Route {
    Route {
        method: "GET",
        path,
        openness: Openness::Ours,
        is_page: false,
        answer,
    }
}

/// A page for people, who may come from anywhere.
const fn page(path: &'static str, answer: fn() -> MethodRouter<Shared>) -> Route {
    Route {
        method: "GET",
        path,
        openness: Openness::Visitors,
        is_page: true,
        answer,
    }
}

/// What a form of a page sends.
const fn form(path: &'static str, answer: fn() -> MethodRouter<Shared>) -> Route {
    Route {
        method: "POST",
        path,
        openness: Openness::Door,
        is_page: true,
        answer,
    }
}

impl Route {
    const fn to(mut self, openness: Openness) -> Self {
        self.openness = openness;
        self
    }
}

/// For programs.
const ROUTES: &[Route] = &[
    receives("/hook/session-start", || hook::of(EventName::SessionStart)),
    receives("/hook/session-end", || hook::of(EventName::SessionEnd)),
    receives("/hook/user-prompt-submit", || hook::of(EventName::UserPromptSubmit)),
    receives("/hook/stop", || hook::of(EventName::Stop)),
    receives("/hook/notification", || hook::of(EventName::Notification)),
    receives("/hook/pre-tool-use", || hook::of(EventName::PreToolUse)),
    receives("/hook/post-tool-use", || hook::of(EventName::PostToolUse)),
    receives("/hook/permission-request", || hook::of(EventName::PermissionRequest)),
    receives("/hook/event", hook::of_any),
    shows("/hook/status", || get(api::status)),
    shows("/api/events/stream", || get(stream::listen)),
    shows("/api/agents", || get(api::agents)),
    shows("/api/agents/{id}", || get(api::agent)),
    shows("/api/agents/{id}/turns", || get(api::turns)),
    shows("/api/events", || get(api::events)),
    shows("/api/hooks", || get(api::hooks)),
    shows("/api/guard", || get(api::guard)),
    shows("/api/openapi.json", || get(async || typed("application/json", OPENAPI))),
    shows("/metrics", || get(api::metrics)),
    shows("/healthz", || get(async || typed("text/plain; charset=utf-8", "ok\n"))).to(Openness::Anybody),
];

/// For people: pages, the parts of them that are fetched anew, and what they need.
const PAGES: &[Route] = &[
    page("/", || get(web::agents)),
    page("/agents/{id}", || get(web::agent)),
    page("/agents/{id}/export.html", || get(web::export)).to(Openness::Ours),
    page("/logging", || get(web::logging)),
    page("/logging/{id}", || get(web::event)),
    page("/hooks", || get(web::hooks)),
    page("/guard", || get(web::guard)),
    page("/login", || get(web::login)).to(Openness::Door),
    form("/login", || post(web::log_in)),
    form("/logout", || post(web::log_out)),
    shows("/fragments/counts", || get(web::counts)),
    shows("/fragments/needs", || get(web::needs)),
    shows("/fragments/agents", || get(web::cards)),
    shows("/fragments/agents/{id}", || get(web::card)),
    shows("/fragments/agents/{id}/head", || get(web::head)),
    shows("/fragments/agents/{id}/timeline", || get(web::timeline)),
    shows("/fragments/receiver", || get(web::receiver)),
    shows("/fragments/log", || get(web::log)),
    shows("/fragments/log/new", || get(web::log_new)),
    shows("/fragments/hooks", || get(web::table_of_hooks)),
    shows("/fragments/guard", || get(web::verdicts)),
    shows("/assets/{version}/{name}", || get(web::asset)).to(Openness::Anybody),
];

/// Method and path of every route for programs.
pub fn surface() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().map(|route| (route.method, route.path))
}

/// Method and path of every route for people.
pub fn pages() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGES.iter().map(|route| (route.method, route.path))
}

fn all() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().chain(PAGES)
}

/// The label of every path that leads to no route.
pub(crate) const NOWHERE: &str = "other";

/// What is known of a path before it is answered.
pub(crate) struct Found {
    /// The route, for those who count.
    pub(crate) label: &'static str,
    pub(crate) openness: Openness,
    /// Whether people look at the answer.
    pub(crate) is_page: bool,
}

/// The route that a path leads to.
pub(crate) fn find(path: &str) -> Found {
    let is_at = |route: &&Route| route.path == path || route.path.contains('{') && fits(route.path, path);
    match all().find(is_at) {
        Some(route) => Found {
            label: route.path,
            openness: route.openness,
            is_page: route.is_page,
        },
        None => Found {
            label: NOWHERE,
            openness: Openness::Ours,
            is_page: false,
        },
    }
}

/// Whether the path is one of those that the pattern stands for.
fn fits(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    let fit = pattern.split('/').all(|wanted| {
        let part = parts.next();
        part == Some(wanted) || wanted.starts_with('{') && part.is_some_and(|part| !part.is_empty())
    });
    fit && parts.next().is_none()
}

/// The whole surface.
pub(crate) fn router(app: Shared) -> Router {
    let mut router = Router::new();
    for route in all() {
        router = router.route(route.path, (route.answer)());
    }
    router
        .method_not_allowed_fallback(async || Refusal::WrongMethod)
        .fallback(async |request: Request| -> Refusal {
            let hint = if request.uri().path().starts_with("/hook/") {
                "; events without a route of their own go to /hook/event"
            } else {
                ""
            };
            Refusal::NoSuchAddress(format!("there is nothing here{hint}"))
        })
        .with_state(app)
}

/// An answer of this type.
pub(crate) fn typed(kind: &'static str, text: impl Into<Body>) -> Response {
    let mut answer = Response::new(text.into());
    *answer.status_mut() = StatusCode::OK;
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_one_route() {
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
            ("", "other"),
            ("//", "other"),
        ];
        for (path, label) in cases {
            assert_eq!(find(path).label, label, "{path}");
        }
    }

    #[test]
    fn what_is_open_to_more_than_our_own_pages_shows_nothing_without_the_token() {
        let open: Vec<_> = all()
            .filter(|route| route.openness != Openness::Ours)
            .map(|route| (route.method, route.path, route.openness))
            .collect();
        let expected = [
            // A sign of life, what the page is made of, and the way in.
            ("GET", "/healthz", Openness::Anybody),
            ("GET", "/", Openness::Visitors),
            ("GET", "/agents/{id}", Openness::Visitors),
            ("GET", "/logging", Openness::Visitors),
            ("GET", "/logging/{id}", Openness::Visitors),
            ("GET", "/hooks", Openness::Visitors),
            ("GET", "/guard", Openness::Visitors),
            ("GET", "/login", Openness::Door),
            ("POST", "/login", Openness::Door),
            ("POST", "/logout", Openness::Door),
            ("GET", "/assets/{version}/{name}", Openness::Anybody),
        ];
        assert_eq!(open, expected);
    }
}
