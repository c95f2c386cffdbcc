//! A refusal as a page, for those who look at one.

use axum::http::Uri;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use maud::{Markup, html};

use super::format::to_sentence;
use super::{html_response, layout, login};
use crate::http::errors::HttpError;

/// The same refusal as a page: what is wrong, and where to go from here. Its status and headers stay.
pub(crate) fn render_error_page(refusal: &HttpError, uri: &Uri, answer: Response) -> Response {
    let main = match refusal {
        HttpError::NoToken => login::render_login_form_for(uri),
        other => render_error(other),
    };
    let (head, _) = answer.into_parts();
    let page = match refusal {
        // Who is not let in is not shown where else to go.
        HttpError::NoToken => layout::render_static_page(error_title(refusal), &main),
        _ => layout::render_static_page_with_tabs(error_title(refusal), &main),
    };
    let (page, body) = html_response(page).into_parts();
    let mut told = Response::from_parts(head, body);
    told.headers_mut().remove(CONTENT_LENGTH);
    told.headers_mut().extend(page.headers);
    told
}

fn error_title(refusal: &HttpError) -> &'static str {
    match refusal {
        HttpError::NoToken => "Log in",
        HttpError::NotFound(_) | HttpError::UnknownPath(_) => "Not found",
        HttpError::Busy { .. } | HttpError::IngestDisabled => "Not now",
        _ => "Refused",
    }
}

/// Why something may not be there, as far as that can be told.
fn explain_not_found(refusal: &HttpError) -> Option<&'static str> {
    match refusal {
        HttpError::NotFound(_) => Some(
            "Either it never was, or it is no longer kept: what is older than the server keeps is removed, and so are agents \
             of which nothing is left.",
        ),
        HttpError::UnknownPath(_) => Some("No page has this address; perhaps it is mistyped."),
        _ => None,
    }
}

fn render_error(refusal: &HttpError) -> Markup {
    html! {
        h1 { (error_title(refusal)) }
        p.trouble { (to_sentence(&refusal.message())) }
        @if let Some(why) = explain_not_found(refusal) {
            p { (why) }
            p { "There is:" }
            ul {
                li { a href="/" { "All agents" } ", each with its timeline" }
                li { a href="/logging" { "All events" } ", and how the receiver is" }
                li { a href="/hooks" { "Hooks" } ", and what they cost" }
                li { a href="/guard" { "Guard" } ", and what it said" }
            }
        } @else {
            p { a href="/" { "All agents" } }
        }
    }
}
