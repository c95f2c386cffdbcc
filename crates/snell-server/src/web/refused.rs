//! A refusal as a page, for those who look at one.

use axum::http::Uri;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use maud::{Markup, html};

use super::words::sentence;
use super::{html as html_answer, layout, login};
use crate::error::Refusal;

/// The same refusal as a page: what is wrong, and where to go from here. Its status and headers stay.
pub(crate) fn refused(refusal: &Refusal, uri: &Uri, answer: Response) -> Response {
    let main = match refusal {
        Refusal::NoToken => login::asked(uri),
        other => told(other),
    };
    let (head, _) = answer.into_parts();
    let page = match refusal {
        // Who is not let in is not shown where else to go.
        Refusal::NoToken => layout::still(title(refusal), &main),
        _ => layout::lost(title(refusal), &main),
    };
    let (page, body) = html_answer(page).into_parts();
    let mut told = Response::from_parts(head, body);
    told.headers_mut().remove(CONTENT_LENGTH);
    told.headers_mut().extend(page.headers);
    told
}

fn title(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::NoToken => "Log in",
        Refusal::NotFound(_) | Refusal::NoSuchAddress(_) => "Not found",
        Refusal::Busy { .. } | Refusal::SwitchedOff => "Not now",
        _ => "Refused",
    }
}

/// Why something may not be there, as far as that can be told.
fn why_not_there(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::NotFound(_) => Some(
            "Either it never was, or it is no longer kept: what is older than the server keeps is removed, and so are agents \
             of which nothing is left.",
        ),
        Refusal::NoSuchAddress(_) => Some("No page has this address; perhaps it is mistyped."),
        _ => None,
    }
}

fn told(refusal: &Refusal) -> Markup {
    html! {
        h1 { (title(refusal)) }
        p.trouble { (sentence(&refusal.message())) }
        @if let Some(why) = why_not_there(refusal) {
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
