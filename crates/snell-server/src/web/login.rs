//! The login: the user enters the token once, and the browser keeps a cookie. Without a token, the login redirects to
//! the page.

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::header::{LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::{PageResult, html_response, layout};
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::HttpError;
use crate::http::token::{AccessToken, SessionCookie};
use crate::tokens::{self, AccessTask};

/// The maximum size of the form's data.
const MAX_FORM_BYTES: usize = 16 * 1024;

/// How long a browser keeps the cookie.
const COOKIE_MAX_AGE_SECONDS: u32 = 90 * 24 * 60 * 60;

/// `GET /login`
pub(crate) async fn get_login_page(State(app): State<SharedAppState>) -> PageResult {
    if !app.has_login() {
        return Ok(redirect_to("/"));
    }
    Ok(html_response(layout::render_static_page("Log in", &render_login_form("/", ""))))
}

/// The form instead of a page that needs the token.
pub(super) fn render_login_form_for(uri: &Uri) -> Markup {
    render_login_form(uri.path_and_query().map_or("/", |path| path.as_str()), "")
}

fn render_login_form(next: &str, error: &str) -> Markup {
    html! {
        h1 { "Log in" }
        @if !error.is_empty() { p.trouble role="alert" { (error) } }
        form.login method="post" action="/login" {
            label for="token" { "Token" }
            input #token type="password" name="token" autocomplete="current-password" required autofocus;
            input type="hidden" name="next" value=(next);
            button { "Log in" }
        }
        p {
            "Use your own token, which " code { "snell token create" } " printed on the server, or the one in the file that was passed to the server with "
            code { "--token-file" } ", or with " code { "--answer-token-file" } " to answer agents, too."
        }
        // A browser that follows a link from another site does not send the cookie; from this link it does.
        p { a href=(sanitize_redirect(next)) { "I am already logged in" } }
    }
}

/// `POST /login`
pub(crate) async fn log_in(State(app): State<SharedAppState>, headers: HeaderMap, body: Body) -> PageResult {
    let body = tokio::time::timeout(app.settings.body_timeout, to_bytes(body, MAX_FORM_BYTES)).await;
    let body = body.map_err(|_| HttpError::BodyTimeout)?;
    let body = body.map_err(|_| HttpError::BodyTooLarge { most: MAX_FORM_BYTES })?;
    let field = |name: &str| {
        let mut pairs = form_urlencoded::parse(&body);
        pairs.find(|(other, _)| other == name).map(|(_, value)| value.into_owned())
    };
    let next = field("next").unwrap_or_default();
    if !app.has_login() {
        return Ok(redirect_to(sanitize_redirect(&next)));
    }
    match find_session_cookie(&app, field("token").unwrap_or_default().trim()) {
        Ok(cookie) => {
            Ok(set_session_cookie(redirect_to(sanitize_redirect(&next)), &cookie, COOKIE_MAX_AGE_SECONDS, &headers))
        }
        Err(problem) => {
            let mut refused = html_response(layout::render_static_page("Log in", &render_login_form(&next, problem)));
            *refused.status_mut() = StatusCode::UNAUTHORIZED;
            Ok(refused)
        }
    }
}

/// The cookie of a login with this token, or why there is none.
fn find_session_cookie(app: &AppState, shown: &str) -> Result<SessionCookie, &'static str> {
    if let Some(token) = list_tokens(app).find(|token| token.matches(shown.as_bytes())) {
        return Ok(token.session_cookie());
    }
    match tokens::find_by_text(&app.named_tokens.load(), shown.as_bytes()) {
        Some(known) if known.role.allows(AccessTask::Look) => Ok(known.session_cookie(shown)),
        Some(_) => Err("This token may send events, but not read."),
        None => Err("The token is wrong."),
    }
}

/// `POST /logout`
///
/// The name of the cookie is derived from the token, so only a browser that has the cookie gets it.
pub(crate) async fn log_out(State(app): State<SharedAppState>, headers: HeaderMap) -> PageResult {
    if !app.has_login() {
        return Ok(redirect_to("/"));
    }
    let shared = list_tokens(&app).map(AccessToken::session_cookie).filter(|cookie| cookie.is_in_headers(&headers));
    let named = app.named_tokens.load();
    let named = tokens::find_by_cookie(&named, &headers).map(|known| known.expired_cookie());
    let given = shared.chain(named);
    Ok(given.fold(redirect_to("/login"), |answer, cookie| set_session_cookie(answer, &cookie, 0, &headers)))
}

/// The token that reads, and the one that also answers requests of agents.
fn list_tokens(app: &AppState) -> impl Iterator<Item = &AccessToken> {
    [&app.settings.token, &app.settings.answer_token].into_iter().flatten()
}

/// Sets the cookie: scripts cannot read it, and requests of other sites do not send it. After a login over TLS, it is
/// only sent over TLS.
fn set_session_cookie(mut answer: Response, session: &SessionCookie, seconds: u32, headers: &HeaderMap) -> Response {
    let value = if seconds == 0 { "" } else { session.value.as_str() };
    let over_tls = |origin: &HeaderValue| origin.as_bytes().starts_with(b"https://");
    let secure = if headers.get(ORIGIN).is_some_and(over_tls) { "; Secure" } else { "" };
    let cookie = format!("{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}", session.name);
    // Both have only letters and digits.
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        answer.headers_mut().append(SET_COOKIE, cookie);
    }
    answer
}

/// A path of this server, or `/` if it is not one.
fn sanitize_redirect(path: &str) -> &str {
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_own = path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/login");
    if is_plain && is_own { path } else { "/" }
}

pub(super) fn redirect_to(path: &str) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    let place = HeaderValue::try_from(path).unwrap_or_else(|_| HeaderValue::from_static("/"));
    answer.headers_mut().insert(LOCATION, place);
    answer
}

#[cfg(test)]
mod tests {
    use super::sanitize_redirect;

    #[test]
    fn a_login_redirects_only_to_this_server() {
        let cases = [
            ("/", "/"),
            ("/agents/7?tools=1&before=e3", "/agents/7?tools=1&before=e3"),
            ("", "/"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example/", "/"),
            ("javascript:alert(1)", "/"),
            ("agents/7", "/"),
            ("/a\r\nSet-Cookie: x=y", "/"),
            ("/ä", "/"),
            ("/login", "/"),
        ];
        for (path, expected) in cases {
            assert_eq!(sanitize_redirect(path), expected, "{path}");
        }
    }
}
