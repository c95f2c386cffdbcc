//! A refusal as a page, for those who look at one.

use axum::http::Uri;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use maud::{Markup, html};

use super::{html as html_answer, layout, login};
use crate::error::Refusal;

/// The same refusal as a page: what is wrong, and where to go from here. Its status and headers stay.
pub(crate) fn refused(refusal: &Refusal, uri: &Uri, answer: Response) -> Response {
    let main = match refusal {
        Refusal::NoToken => login::asked(uri),
        other => told(other),
    };
    let (head, _) = answer.into_parts();
    let (page, body) = html_answer(layout::still(title(refusal), &main)).into_parts();
    let mut told = Response::from_parts(head, body);
    told.headers_mut().remove(CONTENT_LENGTH);
    told.headers_mut().extend(page.headers);
    told
}

fn title(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoToken => "Log in",
        Refusal::NotFound(_) => "Not found",
        Refusal::Busy { .. } | Refusal::SwitchedOff => "Not now",
        _ => "Refused",
    }
}

fn told(refusal: &Refusal) -> Markup {
    html! {
        h1 { (title(refusal)) }
        p.trouble { (refusal.message()) "." }
        @if matches!(refusal, Refusal::NotFound(_)) {
            p { "What is older than the server keeps is removed, and so are agents of which nothing is left." }
        }
        p { a href="/" { "All agents" } }
    }
}
