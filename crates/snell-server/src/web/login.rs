//! The way in for browsers where a token is required: its user shows the token once, and the browser keeps a pass for it.
//! Without a token there is nothing to log in to, and whoever comes here is shown in.

use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::header::{LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::Response;
use maud::{Markup, html};
use url::form_urlencoded;

use super::{Answer, html as answer, layout};
use crate::app::Shared;
use crate::error::Refusal;
use crate::token::Token;

/// What the form sends is no longer.
const MAX_BYTES: usize = 16 * 1024;

/// How long a browser keeps the pass.
const KEPT_FOR: u32 = 90 * 24 * 60 * 60;

/// `GET /login`
pub(crate) async fn login(State(app): State<Shared>) -> Answer {
    if app.settings.token.is_none() {
        return Ok(sent_to("/"));
    }
    Ok(answer(layout::still("Log in", &form("/", ""))))
}

/// The form in place of a page that needs the token.
pub(super) fn asked(uri: &Uri) -> Markup {
    form(uri.path_and_query().map_or("/", |path| path.as_str()), "")
}

fn form(next: &str, trouble: &str) -> Markup {
    html! {
        h1 { "Log in" }
        @if !trouble.is_empty() { p.trouble role="alert" { (trouble) } }
        form.login method="post" action="/login" {
            label for="token" { "Token" }
            input #token type="password" name="token" autocomplete="current-password" required autofocus;
            input type="hidden" name="next" value=(next);
            button { "Log in" }
        }
        p { "The token is in the file that the server was started with: " code { "--token-file" } "." }
        // A browser that follows a link from elsewhere does not show what it keeps; from here it does.
        p { a href=(own(next)) { "I have logged in already" } }
    }
}

/// `POST /login`
pub(crate) async fn log_in(State(app): State<Shared>, headers: HeaderMap, body: Body) -> Answer {
    let body = tokio::time::timeout(app.settings.body_timeout, to_bytes(body, MAX_BYTES)).await;
    let body = body.map_err(|_| Refusal::TooSlow)?;
    let body = body.map_err(|_| Refusal::TooLarge { most: MAX_BYTES })?;
    let field = |name: &str| {
        let mut pairs = form_urlencoded::parse(&body);
        pairs
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.into_owned())
    };
    let next = field("next").unwrap_or_default();
    let Some(token) = &app.settings.token else {
        return Ok(sent_to(own(&next)));
    };
    let shown = field("token").unwrap_or_default();
    if !token.is(shown.trim().as_bytes()) {
        let mut refused = answer(layout::still("Log in", &form(&next, "That is not the token.")));
        *refused.status_mut() = StatusCode::UNAUTHORIZED;
        return Ok(refused);
    }
    Ok(with_cookie(sent_to(own(&next)), token, KEPT_FOR, &headers))
}

/// `POST /logout`
///
/// The name of the cookie follows from the token, so only a browser that has the cookie already gets to see it.
pub(crate) async fn log_out(State(app): State<Shared>, headers: HeaderMap) -> Answer {
    Ok(match &app.settings.token {
        Some(token) if token.pass().is_in_headers(&headers) => with_cookie(sent_to("/login"), token, 0, &headers),
        Some(_) => sent_to("/login"),
        None => sent_to("/"),
    })
}

/// The pass as a cookie that no script can read and no other site makes a browser send. Where the browser has come over TLS
/// it is never sent without.
fn with_cookie(mut answer: Response, token: &Token, seconds: u32, headers: &HeaderMap) -> Response {
    let pass = token.pass();
    let value = if seconds == 0 { "" } else { pass.value.as_str() };
    let over_tls = |origin: &HeaderValue| origin.as_bytes().starts_with(b"https://");
    let secure = if headers.get(ORIGIN).is_some_and(over_tls) {
        "; Secure"
    } else {
        ""
    };
    let cookie = format!(
        "{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}",
        pass.name
    );
    // Both are letters and figures.
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        answer.headers_mut().insert(SET_COOKIE, cookie);
    }
    answer
}

/// A path of this server, or the first page if it is none.
fn own(path: &str) -> &str {
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let is_own = path.starts_with('/') && !path.starts_with("//") && !path.starts_with("/login");
    if is_plain && is_own { path } else { "/" }
}

fn sent_to(path: &str) -> Response {
    let mut answer = Response::new(Body::empty());
    *answer.status_mut() = StatusCode::SEE_OTHER;
    let place = HeaderValue::try_from(path).unwrap_or_else(|_| HeaderValue::from_static("/"));
    answer.headers_mut().insert(LOCATION, place);
    answer
}

#[cfg(test)]
mod tests {
    use super::own;

    #[test]
    fn after_logging_in_nobody_is_sent_elsewhere() {
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
            assert_eq!(own(path), expected, "{path}");
        }
    }
}
