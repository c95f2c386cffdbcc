//! Signed links of notices. Programs that preview links fetch them, so a link only shows a form; the form answers.

use axum::Extension;
use axum::extract::State;
use axum::http::Uri;
use maud::{Markup, html};
use snell::{Timestamp, UserMessage};
use snell_store::Store;
use snell_store::requests::{AnswerAuthor, AnswerChoice, AnswerOrigin, RequestAnswer, RequestStatus, RequestView};

use super::card::render_task;
use super::data::OpenRequestEntry;
use super::detail::render_detail;
use super::history::render_end;
use crate::answers::{AnswerLink, describe_peer, find_request, submit_answer, unknown_request_error};
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::HttpError;
use crate::http::gate::RequestTransport;
use crate::web::format::{render_lasting, render_left, truncate_text};
use crate::web::{PageResult, html_response, layout};

/// `GET /answer/{link}`: a form with the only answer that the link can give.
pub(crate) async fn get_link_page(State(app): State<SharedAppState>, uri: Uri) -> PageResult {
    let link = verify_link(&app, &uri)?;
    let (uid, now) = (link.uid.clone(), app.clock.now());
    let ask = move |store: &mut Store| {
        store.sweep_requests(Timestamp::now())?;
        let found = find_request(store, &uid)?;
        found.map(|request| OpenRequestEntry::load(store, request)).transpose()
    };
    let entry = app.store_pool.with_store(ask).await?.ok_or_else(|| unknown_request_error(&link.uid))?;
    let main = match entry.request.status {
        RequestStatus::Open => render_confirmation(&entry, link.choice, now),
        RequestStatus::Answered | RequestStatus::Expired | RequestStatus::Withdrawn => render_closed(&entry.request),
    };
    Ok(html_response(layout::render_static_page("Request", &main)))
}

/// `POST /answer/{link}`: gives the answer.
pub(crate) async fn answer_by_link(
    State(app): State<SharedAppState>,
    Extension(via): Extension<RequestTransport>,
    uri: Uri,
) -> PageResult {
    let link = verify_link(&app, &uri)?;
    let answer = RequestAnswer::new(link.choice);
    let name = format!("a link{}", describe_peer(via));
    let author = AnswerAuthor { name, origin: AnswerOrigin::Notice };
    let answered = submit_answer(&app, &link.uid, answer, author).await?;
    Ok(html_response(layout::render_static_page("Answered", &render_closed(&answered))))
}

/// The link of the path, if the key of this server has signed it and it has not ended.
fn verify_link(app: &AppState, uri: &Uri) -> Result<AnswerLink, HttpError> {
    let signed = uri.path().split('/').nth(2).unwrap_or_default();
    let Some(link) = app.answer_key.get()?.verify_link(signed) else {
        return Err(HttpError::Forbidden(UserMessage::new("this link is not valid")));
    };
    if link.is_expired(Timestamp::now()) {
        return Err(HttpError::RequestOver(UserMessage::new("this link has ended")));
    }
    Ok(link)
}

pub(super) fn render_confirmation(entry: &OpenRequestEntry, choice: AnswerChoice, now: Timestamp) -> Markup {
    let request = &entry.request;
    let (label, class) = match choice {
        AnswerChoice::Allow => ("Allow", "allow"),
        AnswerChoice::Deny | AnswerChoice::Reply => ("Deny", "deny"),
    };
    html! {
        article.request {
            h1 {
                (label) " this request of "
                bdi { (truncate_text(request.product.as_deref().unwrap_or("an agent"), 60)) }
                " in " bdi { (truncate_text(&request.project, 60)) } "?"
            }
            p.since { "waits " (render_lasting(request.opened_at, now)) ", " (render_left(request.expires_at, now)) " left" }
            div.quoted { (render_task(entry)) (render_detail(request)) }
            // The form has no address, so it goes to this one.
            form.answer method="post" aria-label="Your answer" {
                p.choices { button class=(class) { (label) } }
            }
        }
    }
}

pub(super) fn render_closed(request: &RequestView) -> Markup {
    html! {
        h1 { "This request has ended" }
        p { (render_end(request)) }
        p { span.text { (truncate_text(&request.title, 600)) } }
        p { a href="/requests" { "All requests" } }
    }
}
