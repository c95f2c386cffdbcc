//! Gives answers to the database.

use snell::{Timestamp, UserMessage};
use snell_store::requests::{AnswerAuthor, AnswerOutcome, RequestAnswer, RequestFilter, RequestStatus, RequestView};
use snell_store::{Result, Store};

use crate::app_state::AppState;
use crate::http::errors::HttpError;
use crate::pane_input;

/// The request with exactly this id.
pub(crate) fn find_request(store: &mut Store, uid: &str) -> Result<Option<RequestView>> {
    let filter = RequestFilter { uid_prefix: Some(uid.to_owned()), limit: 2, ..RequestFilter::default() };
    let mut found = store.list_requests(&filter)?;
    found.retain(|request| request.uid == uid);
    Ok(found.pop())
}

/// Answers a request. Only the first answer to a request is accepted.
pub(crate) async fn submit_answer(
    app: &AppState,
    uid: &str,
    answer: RequestAnswer,
    author: AnswerAuthor,
) -> std::result::Result<RequestView, HttpError> {
    let (uid, now) = (uid.to_owned(), Timestamp::now());
    let work = move |store: &mut Store| {
        let Some(request) = find_request(store, &uid)? else {
            return Ok(Err(unknown_request_error(&uid)));
        };
        if request.status == RequestStatus::Open
            && let Err(problem) = request.check_answer(&answer, now)
        {
            return Ok(Err(HttpError::BadRequest(problem)));
        }
        Ok(match pane_input::answer_request(store, &uid, &answer, &author, now)? {
            AnswerOutcome::Accepted(request) => Ok(*request),
            AnswerOutcome::TooLate(request) => Err(too_late_error(&request)),
            AnswerOutcome::Refused(_, problem) => Err(HttpError::AnswerNotDelivered(problem)),
            AnswerOutcome::Unknown => Err(unknown_request_error(&uid)),
        })
    };
    app.store_pool.with_store(work).await?
}

pub(crate) fn unknown_request_error(uid: &str) -> HttpError {
    let shown: String = uid.chars().take(40).collect();
    HttpError::NotFound(format!("there is no request \"{shown}\"").into())
}

/// The error about an answer that is not remembered.
pub(crate) fn unknown_remembered_error(uid: &str) -> HttpError {
    let shown: String = uid.chars().take(40).collect();
    HttpError::NotFound(format!("no answer to request \"{shown}\" is remembered").into())
}

fn too_late_error(request: &RequestView) -> HttpError {
    let message = UserMessage::new(describe_end(request));
    match request.status {
        RequestStatus::Answered => HttpError::AlreadyAnswered(message),
        RequestStatus::Open | RequestStatus::Expired | RequestStatus::Withdrawn => HttpError::RequestOver(message),
    }
}

/// How a request ended, for people.
fn describe_end(request: &RequestView) -> String {
    let at = request.closed_at.unwrap_or(request.opened_at).strftime("%Y-%m-%d %H:%M:%S UTC");
    match (&request.answer, &request.answered_by, request.answered_from) {
        (Some(answer), Some(by), Some(from)) => {
            let answered = format!("this request was answered with \"{}\" by {by} ({from}) at {at}", answer.choice);
            match &request.closed_reason {
                Some(why) => format!("{answered}, but the agent did not get the answer: {why}"),
                None => answered,
            }
        }
        _ => {
            let why = request.closed_reason.as_deref().unwrap_or("it is over");
            format!("this request ended without an answer at {at}: {why}")
        }
    }
}
