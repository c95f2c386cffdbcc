//! Everything that can be asked of the server, in one table.

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use snell::EventName;

use crate::api;
use crate::app::Shared;
use crate::error::Refusal;
use crate::gate::Openness;
use crate::hook;
use crate::stream;

/// The description of all routes for programs, as the server tells it.
pub const OPENAPI: &str = include_str!("../openapi.json");

/// What is told to somebody who comes with a browser.
const WELCOME: &str = "This is a Snell receiver. `snell docs server` says what can be asked of it; \
    /api/openapi.json says it to programs.\n";

/// One route.
struct Route {
    method: &'static str,
    path: &'static str,
    openness: Openness,
    answer: fn() -> MethodRouter<Shared>,
}

const fn receives(path: &'static str, answer: fn() -> MethodRouter<Shared>) -> Route {
    Route {
        method: "POST",
        path,
        openness: Openness::Ours,
        answer,
    }
}

const fn shows(path: &'static str, answer: fn() -> MethodRouter<Shared>) -> Route {
    Route {
        method: "GET",
        path,
        openness: Openness::Ours,
        answer,
    }
}

impl Route {
    const fn to(mut self, openness: Openness) -> Self {
        self.openness = openness;
        self
    }
}

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
    shows("/", || get(async || typed("text/plain; charset=utf-8", WELCOME))).to(Openness::Visitors),
];

/// Method and path of every route.
pub fn surface() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROUTES.iter().map(|route| (route.method, route.path))
}

/// What is known of a path before it is answered.
pub(crate) struct Found {
    /// The route, for those who count.
    pub(crate) label: &'static str,
    pub(crate) openness: Openness,
}

/// The route that a path leads to.
pub(crate) fn find(path: &str) -> Found {
    let is_at = |route: &&Route| route.path == path || route.path.contains('{') && fits(route.path, path);
    match ROUTES.iter().find(is_at) {
        Some(route) => Found {
            label: route.path,
            openness: route.openness,
        },
        None => Found {
            label: "other",
            openness: Openness::Ours,
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
    for route in ROUTES {
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
            Refusal::NotFound(format!("there is nothing here{hint}"))
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
            ("", "other"),
            ("//", "other"),
        ];
        for (path, label) in cases {
            assert_eq!(find(path).label, label, "{path}");
        }
    }

    #[test]
    fn nothing_but_a_sign_of_life_is_open_to_anybody() {
        let open: Vec<_> = ROUTES
            .iter()
            .filter(|route| route.openness != Openness::Ours)
            .map(|route| (route.path, route.openness))
            .collect();
        assert_eq!(open, [("/healthz", Openness::Anybody), ("/", Openness::Visitors)]);
    }
}
