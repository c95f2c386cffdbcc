//! The data of the view of requests.

use maud::{Markup, html};
use snell::Timestamp;
use snell_store::requests::{RememberedAnswer, RequestFilter, RequestStatus, RequestView};
use snell_store::{AgentView, Result, Store};

use super::card::render_card;
use super::form::FormAccess;
use super::history::render_history;
use super::remembered::{MAX_REMEMBERED, render_remembered};
use crate::web::agents::find_agent;

/// The maximum number of open requests with a card.
const MAX_OPEN: usize = 100;

/// The maximum number of closed requests.
const MAX_CLOSED: usize = 20;

/// Among this many of the newest requests, the view looks for closed ones.
const MAX_READ: u32 = 100;

/// An open request, and its agent.
#[derive(Clone, Debug)]
pub(super) struct OpenRequestEntry {
    pub(super) request: RequestView,
    pub(super) agent: Option<AgentView>,
}

impl OpenRequestEntry {
    pub(super) fn load(store: &mut Store, request: RequestView) -> Result<Self> {
        Ok(Self { agent: find_agent(store, request.agent_id)?, request })
    }
}

/// The requests in the view.
#[derive(Clone, Debug)]
pub(super) struct RequestsOverview {
    /// The longest wait first, so that new ones do not move those that the user reads.
    pub(super) open: Vec<OpenRequestEntry>,
    /// How many open requests are not shown.
    pub(super) hidden: usize,
    /// The latest first.
    pub(super) closed: Vec<RequestView>,
    /// The latest first.
    pub(super) remembered: Vec<RememberedAnswer>,
}

impl RequestsOverview {
    pub(super) fn load(store: &mut Store) -> Result<Self> {
        store.sweep_requests(Timestamp::now())?;
        let mut open = store.list_requests(&RequestFilter::open())?;
        open.reverse();
        let hidden = open.len().saturating_sub(MAX_OPEN);
        open.truncate(MAX_OPEN);
        let open: Result<Vec<_>> = open.into_iter().map(|request| OpenRequestEntry::load(store, request)).collect();
        let mut closed = store.list_requests(&RequestFilter { limit: MAX_READ, ..RequestFilter::default() })?;
        closed.retain(|request| request.status != RequestStatus::Open);
        closed.sort_by_key(|request| std::cmp::Reverse((request.closed_at, request.request_id)));
        closed.truncate(MAX_CLOSED);
        let remembered = store.list_remembered_answers(Timestamp::now(), MAX_REMEMBERED)?;
        Ok(Self { open: open?, hidden, closed, remembered })
    }

    /// All requests, as a region that follows the stream.
    pub(super) fn render(&self, access: &FormAccess, now: Timestamp) -> Markup {
        html! {
            div #requests data-src="/fragments/requests" data-when="request_opened request_closed" data-keyed {
                // Screen readers announce new requests, but not passing times.
                div #open-requests data-keyed aria-live="polite" aria-relevant="additions" {
                    @if self.open.is_empty() { (render_empty_state()) }
                    @for entry in &self.open { (render_card(entry, access, now)) }
                    @if self.hidden > 0 { p #more-requests.quiet { (self.hidden) " more open requests are not shown." } }
                }
                (render_history(&self.closed, now))
                (render_remembered(&self.remembered, access, now))
            }
        }
    }
}

fn render_empty_state() -> Markup {
    html! {
        div #no-requests {
            p { "No agent asks for anything." }
            p.quiet {
                "Permissions and questions of agents appear here if answers are switched on. To switch them on, run "
                code { "snell config set answers.enabled true" } "."
            }
        }
    }
}

#[cfg(test)]
impl RequestsOverview {
    /// Requests with this text in all fields.
    pub(super) fn with_text(text: &str, now: Timestamp) -> Self {
        use serde_json::json;
        use snell_store::requests::{
            AnswerChannel, AnswerChoice, AnswerOrigin, RememberScope, RequestAnswer, RequestKind, RequestOrigin,
        };

        let some = || Some(text.to_owned());
        let request = |uid: &str, kind: RequestKind, input: serde_json::Value| RequestView {
            request_id: 1,
            uid: uid.to_owned(),
            kind,
            origin: RequestOrigin::Guard,
            channel: AnswerChannel::Pane,
            agent_id: 7,
            product: some(),
            project_id: 1,
            project: text.to_owned(),
            project_path: text.to_owned(),
            session_id: some(),
            event_id: some(),
            tool: some(),
            tool_use_id: some(),
            title: text.to_owned(),
            detail: json!({
                "input": input, "cwd": text, "reading": [text],
                "suggestions": [text, {"type": text}, {"type": "setMode", "mode": text, "destination": text}],
                "reasons": [{"author": text, "rule": text, "text": text}],
                "questions": [
                    {"question": text, "header": text, "options": [{"label": text, "description": text}]},
                    {"question": text, "multi_select": true, "options": [{"label": text}]},
                    {"question": text},
                ],
            }),
            opened_at: now,
            expires_at: now,
            host: some(),
            waiter: None,
            status: RequestStatus::Open,
            answerable: true,
            answer: None,
            answered_by: None,
            answered_from: None,
            closed_at: None,
            closed_reason: None,
            delivered_at: None,
        };
        let permission = |uid, input| request(uid, RequestKind::Permission, input);
        let open = [
            permission("a", json!({"command": text, "description": text})),
            permission("b", json!({"file_path": text, "old_string": text, "new_string": format!("{text} b")})),
            permission("c", json!({ "some_key": [text], "other": text })),
            request("d", RequestKind::Question, json!(text)),
        ];
        let answer = RequestAnswer {
            choice: AnswerChoice::Reply,
            replies: vec![text.to_owned()],
            message: some(),
            remember: None,
            suggestion: None,
        };
        let answered = RequestView {
            status: RequestStatus::Answered,
            answer: Some(answer),
            answered_by: some(),
            answered_from: Some(AnswerOrigin::Page),
            closed_at: Some(now),
            ..request("e", RequestKind::Question, json!(null))
        };
        let withdrawn = RequestView {
            status: RequestStatus::Withdrawn,
            closed_at: Some(now),
            closed_reason: some(),
            ..request("f", RequestKind::Permission, json!(null))
        };
        let open = open.map(|request| OpenRequestEntry { request, agent: None });
        let remembered = RememberedAnswer {
            request_uid: "e".to_owned(),
            scope: RememberScope::Project,
            scope_key: text.to_owned(),
            tool: text.to_owned(),
            subject: text.to_owned(),
            title: text.to_owned(),
            asked_by: vec![text.to_owned()],
            created_at: now,
            until: Some(now),
        };
        Self { open: open.into(), hidden: 1, closed: vec![answered, withdrawn], remembered: vec![remembered] }
    }
}
