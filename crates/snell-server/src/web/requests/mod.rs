//! The view of requests: those that wait for an answer, each with a form, and the last answers.

mod card;
mod data;
mod detail;
mod form;
mod history;
mod link;
mod remembered;

use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::State;
use axum::http::Uri;
#[cfg(test)]
use maud::Markup;
use maud::html;
use snell::{Timestamp, UserMessage};
use snell_store::requests::{AnswerAuthor, AnswerOrigin};

use super::layout::{NavTab, PageContent, render_page};
use super::login::redirect_to;
use super::{PageResult, html_response, load_with_frame};
use crate::answers::{AnswerRight, find_request, submit_answer, unknown_remembered_error, unknown_request_error};
use crate::app_state::{AppState, SharedAppState};
use crate::http::errors::HttpError;
use crate::http::gate::RequestTransport;

use data::RequestsOverview;
use form::{AnswerFields, FormAccess};

pub(crate) use link::{answer_by_link, get_link_page};

/// The maximum size of a form's data.
const MAX_FORM_BYTES: usize = 256 * 1024;

/// `GET /requests`
pub(crate) async fn get_requests_page(
    State(app): State<SharedAppState>,
    Extension(right): Extension<AnswerRight>,
) -> PageResult {
    let (frame, requests) = load_with_frame(&app, RequestsOverview::load).await?;
    let access = FormAccess::for_client(&app, &right)?;
    let main = html! {
        h1 { "Requests" }
        (access.render_note())
        (requests.render(&access, app.clock.now()))
    };
    Ok(render_page(&frame, &PageContent { tab: Some(NavTab::Requests), title: "Requests", main }))
}

/// `GET /fragments/requests`
pub(crate) async fn get_requests_fragment(
    State(app): State<SharedAppState>,
    Extension(right): Extension<AnswerRight>,
) -> PageResult {
    let requests = app.store_pool.with_store(RequestsOverview::load).await?;
    let access = FormAccess::for_client(&app, &right)?;
    Ok(html_response(requests.render(&access, app.clock.now())))
}

/// `POST /requests/{id}/answer`
pub(crate) async fn answer_by_form(
    State(app): State<SharedAppState>,
    Extension(right): Extension<AnswerRight>,
    Extension(via): Extension<RequestTransport>,
    uri: Uri,
    body: Body,
) -> PageResult {
    let fields = read_form(&app, &right, body).await?;
    let uid = uri.path().split('/').nth(2).unwrap_or_default().to_owned();
    let wanted = uid.clone();
    let request = app.store_pool.with_store(move |store| find_request(store, &wanted)).await?;
    let request = request.ok_or_else(|| unknown_request_error(&uid))?;
    let answer = fields.to_answer(&request, Timestamp::now())?;
    let author = AnswerAuthor { name: right.describe_author(via, &app.settings), origin: AnswerOrigin::Page };
    let answered = submit_answer(&app, &uid, answer, author).await?;
    Ok(redirect_to(&format!("/requests#closed-{}", answered.uid)))
}

/// `POST /remembered/{id}/forget`
pub(crate) async fn forget_by_form(
    State(app): State<SharedAppState>,
    Extension(right): Extension<AnswerRight>,
    uri: Uri,
    body: Body,
) -> PageResult {
    read_form(&app, &right, body).await?;
    let uid = uri.path().split('/').nth(2).unwrap_or_default().to_owned();
    let wanted = uid.clone();
    let forgotten = app.store_pool.with_store(move |store| store.forget_answer(&wanted, Timestamp::now())).await?;
    forgotten.ok_or_else(|| unknown_remembered_error(&uid))?;
    Ok(redirect_to("/requests#remembered-answers"))
}

/// The fields of a form that this server has made for a client with the right to answer.
async fn read_form(app: &AppState, right: &AnswerRight, body: Body) -> Result<AnswerFields, HttpError> {
    let body = tokio::time::timeout(app.settings.body_timeout, to_bytes(body, MAX_FORM_BYTES)).await;
    let body = body.map_err(|_| HttpError::BodyTimeout)?;
    let body = body.map_err(|_| HttpError::BodyTooLarge { most: MAX_FORM_BYTES })?;
    let fields = AnswerFields::parse(&body);
    let is_ours = app.answer_key.get()?.accepts_form_value(&right.form_client(), fields.form_value());
    if !right.is_granted() || !is_ours {
        let message = UserMessage::new("this form is not valid any more");
        return Err(HttpError::Forbidden(message.with_hint("open the page of requests again")));
    }
    Ok(fields)
}

/// Every part that shows a request, for tests.
#[cfg(test)]
pub(super) fn render_samples(text: &str, now: Timestamp) -> Vec<(&'static str, Markup)> {
    let overview = RequestsOverview::with_text(text, now);
    let closed = overview.closed.first().cloned();
    vec![
        ("requests", overview.render(&FormAccess::Granted { value: "0".into() }, now)),
        ("requests for readers", overview.render(&FormAccess::Refused { can_log_in: true }, now)),
        ("link", link::render_confirmation(&overview.open[0], snell_store::requests::AnswerChoice::Allow, now)),
        ("closed link", link::render_closed(&closed.unwrap_or_else(|| overview.open[0].request.clone()))),
    ]
}
