//! Errors as HTML pages.

use axum::http::Uri;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use maud::{Markup, html};

use super::format::to_sentences;
use super::{html_response, layout, login};
use crate::http::errors::HttpError;

/// Replaces the body of an error response with a page. Its status and headers stay.
pub(crate) fn render_error_page(refusal: &HttpError, uri: &Uri, answer: Response) -> Response {
    let main = match refusal {
        HttpError::NoToken => login::render_login_form_for(uri),
        other => render_error(other),
    };
    let (head, _) = answer.into_parts();
    let page = match refusal {
        // Without a login, the page has no links to the views.
        HttpError::NoToken => layout::render_static_page(error_title(refusal), &main),
        _ => layout::render_static_page_with_tabs(error_title(refusal), &main),
    };
    let (page, body) = html_response(page).into_parts();
    let mut response = Response::from_parts(head, body);
    response.headers_mut().remove(CONTENT_LENGTH);
    response.headers_mut().extend(page.headers);
    response
}

fn error_title(refusal: &HttpError) -> &'static str {
    match refusal {
        HttpError::NoToken => "Log in",
        HttpError::NotFound(_) | HttpError::UnknownPath(_) => "Not found",
        HttpError::AlreadyAnswered(_) => "Already answered",
        HttpError::RequestOver(_) => "No longer open",
        HttpError::Busy { .. } | HttpError::IngestDisabled => "Not available",
        _ => "Refused",
    }
}

/// A possible reason why an item does not exist.
fn explain_not_found(refusal: &HttpError) -> Option<&'static str> {
    match refusal {
        HttpError::NotFound(_) => {
            Some("It never existed, or Snell removed it because it is older than the records that the server keeps.")
        }
        HttpError::UnknownPath(_) => Some("Check the address for typing errors."),
        _ => None,
    }
}

fn render_error(refusal: &HttpError) -> Markup {
    html! {
        h1 { (error_title(refusal)) }
        p.trouble { (to_sentences(&refusal.message())) }
        @if let Some(why) = explain_not_found(refusal) {
            p { (why) }
            p { "You can open:" }
            ul {
                li { a href="/" { "All agents" } ", each with its timeline" }
                li { a href="/logging" { "All events" } ", with the state of the receiver" }
                li { a href="/hooks" { "Hooks" } ", with their run times" }
                li { a href="/guard" { "Guard" } ", with its decisions" }
            }
        } @else {
            p { a href="/" { "All agents" } }
            p { a href="/requests" { "All requests" } }
        }
    }
}
