//! Requests of agents to their user: permissions and questions that can be answered from anywhere.
//!
//! A hook that may wait opens a request, and waits until it is closed. The first answer closes it: answers are given in one
//! transaction that changes open requests only. Requests whose hook is gone, or whose time is over, are closed by the next
//! process that lists them, so that none stays open. The agent gets an answer only from its hook, which reads it here.

mod answer_check;
mod pane;
mod pane_text;
mod remembered;
mod settlement;
mod suggestion;
mod watcher_lock;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use snell::{Timestamp, UserMessage};

pub use answer_check::{MAX_ANSWER_CHARS, QuestionOption, RequestQuestion};
pub use pane::PaneAnswer;
pub use remembered::{RememberedAnswer, RememberedCall};
pub(crate) use settlement::UnsettledRequest;
pub use watcher_lock::WatcherLock;

use crate::db::model::{ProcessIdentity, words};
use crate::db::rows::Rows;
use crate::error::Result;
use crate::store::Store;

words! {
    /// The kind of a request.
    RequestKind {
        /// May a call run?
        Permission = "permission",
        /// A question with choices, or for a text.
        Question = "question",
    }
}

words! {
    /// The program that asks.
    RequestOrigin {
        /// The agent itself.
        Agent = "agent",
        /// Snell's guard.
        Guard = "guard",
        /// A hook of the user.
        Hook = "hook",
    }
}

words! {
    /// The way of an answer to the agent.
    AnswerChannel {
        /// A hook waits, and answers in the agent's protocol.
        Reply = "reply",
        /// Snell types it into the agent's tmux pane.
        Pane = "pane",
        /// None: the user must answer in the agent's own terminal.
        Elsewhere = "elsewhere",
    }
}

words! {
    /// Whether a request can still be answered.
    RequestStatus {
        /// It waits for an answer.
        Open = "open",
        /// It was answered through Snell.
        Answered = "answered",
        /// No answer came in time.
        Expired = "expired",
        /// It was answered elsewhere, or its hook or agent ended.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// The place where an answer was given.
    AnswerOrigin {
        /// A command in a terminal.
        Terminal = "terminal",
        /// The page.
        Page = "page",
        /// The HTTP API.
        Api = "api",
        /// A button or link of a notice.
        Notice = "notice",
    }
}

words! {
    /// Whether a call may run.
    AnswerChoice {
        /// It may run.
        Allow = "allow",
        /// It must not run.
        Deny = "deny",
        /// An answer to a question: see its texts.
        Reply = "reply",
    }
}

words! {
    /// For which calls an answer is given again.
    RememberScope {
        /// The same call in this session.
        Session = "session",
        /// The same call in this project.
        Project = "project",
    }
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestAnswer {
    /// The choice.
    pub choice: AnswerChoice,
    /// Answers to the questions, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replies: Vec<String>,
    /// A message to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the same call is allowed again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<RememberTerm>,
    /// The number of the agent's own suggestion that it shall apply from now on, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<usize>,
}

impl RequestAnswer {
    /// An answer with only a choice.
    pub fn new(choice: AnswerChoice) -> Self {
        Self { choice, replies: Vec::new(), message: None, remember: None, suggestion: None }
    }
}

/// How long an answer is remembered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberTerm {
    /// For which calls.
    pub scope: RememberScope,
    /// Until when; without an end if not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// The author of an answer, and where it was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnswerAuthor {
    /// The person or client, as known.
    pub name: String,
    /// The place.
    pub origin: AnswerOrigin,
}

/// A request to store.
#[derive(Clone, Debug)]
pub struct NewRequest {
    /// Its kind.
    pub kind: RequestKind,
    /// The program that asks.
    pub origin: RequestOrigin,
    /// The way of the answer.
    pub channel: AnswerChannel,
    /// The agent.
    pub agent_id: i64,
    /// The agent's session.
    pub session_id: Option<String>,
    /// The event that asks.
    pub event_id: Option<String>,
    /// The tool of the call.
    pub tool: Option<String>,
    /// The id of the call.
    pub tool_use_id: Option<String>,
    /// One line that says what the agent asks for.
    pub title: String,
    /// Everything that a person needs to decide, masked.
    pub detail: Value,
    /// When it was opened, by the real clock.
    pub opened_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The process that waits, on this host.
    pub waiter: Option<ProcessIdentity>,
}

/// A request, and its agent.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RequestView {
    /// Its number in this database.
    #[serde(skip)]
    pub request_id: i64,
    /// Its id, as people see it.
    pub uid: String,
    /// Its kind.
    pub kind: RequestKind,
    /// The program that asks.
    pub origin: RequestOrigin,
    /// The way of the answer.
    pub channel: AnswerChannel,
    /// The agent.
    pub agent_id: i64,
    /// The agent's product.
    pub product: Option<String>,
    /// Its project's id.
    pub project_id: i64,
    /// Its project's name.
    pub project: String,
    /// Its project's directory.
    pub project_path: String,
    /// The session.
    pub session_id: Option<String>,
    /// The event that asks.
    pub event_id: Option<String>,
    /// The tool of the call.
    pub tool: Option<String>,
    /// The id of the call.
    pub tool_use_id: Option<String>,
    /// One line that says what the agent asks for.
    pub title: String,
    /// Everything that a person needs to decide.
    pub detail: Value,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// The host of the process that waits.
    pub host: Option<String>,
    /// The process that waits.
    #[serde(skip)]
    pub waiter: Option<ProcessIdentity>,
    /// Whether it is still open.
    pub status: RequestStatus,
    /// Whether it is open, and an answer from elsewhere has a way to the agent.
    pub answerable: bool,
    /// The answer.
    pub answer: Option<RequestAnswer>,
    /// The author of the answer.
    pub answered_by: Option<String>,
    /// Where the answer was given.
    pub answered_from: Option<AnswerOrigin>,
    /// When it was closed.
    pub closed_at: Option<Timestamp>,
    /// Why it was closed without an answer, or why the agent did not get the answer.
    pub closed_reason: Option<String>,
    /// When the agent got the answer.
    pub delivered_at: Option<Timestamp>,
}

/// Selects requests.
#[derive(Clone, Debug, Default)]
pub struct RequestFilter {
    /// Only requests with an id that has this prefix.
    pub uid_prefix: Option<String>,
    /// Only requests with this status.
    pub status: Option<RequestStatus>,
    /// Only requests of this agent.
    pub agent_id: Option<i64>,
    /// Only requests that were opened before the one with this number.
    pub before_id: Option<i64>,
    /// The largest number of results.
    pub limit: u32,
}

impl RequestFilter {
    /// All open requests, within a generous limit.
    pub fn open() -> Self {
        Self { status: Some(RequestStatus::Open), limit: 1000, ..Self::default() }
    }
}

/// The end of a request.
#[derive(Clone, Debug)]
pub(crate) struct RequestEnd {
    pub(crate) status: RequestStatus,
    pub(crate) answer: Option<(RequestAnswer, AnswerAuthor)>,
    pub(crate) reason: Option<String>,
    pub(crate) at: Timestamp,
}

impl RequestEnd {
    pub(crate) fn without_answer(status: RequestStatus, reason: &str, at: Timestamp) -> Self {
        Self { status, answer: None, reason: Some(reason.to_owned()), at }
    }
}

/// The result of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerOutcome {
    /// The request has this answer now.
    Accepted(Box<RequestView>),
    /// The request was closed before.
    TooLate(Box<RequestView>),
    /// The agent does not get this answer, for this reason. The request shows whether another answer is possible.
    Refused(Box<RequestView>, UserMessage),
    /// No request has this id.
    Unknown,
}

/// The operations on requests inside one transaction.
pub(crate) trait RequestRows {
    /// Stores a request, and returns its number.
    fn insert_request(&mut self, request: &NewRequest, host: Option<&str>) -> Result<i64>;
    fn find_request(&mut self, request_id: i64) -> Result<Option<RequestView>>;
    fn find_request_by_uid(&mut self, uid: &str) -> Result<Option<RequestView>>;
    fn list_open_requests(&mut self, agent_id: i64) -> Result<Vec<RequestView>>;
    /// Closes a request that is open.
    fn close_request(&mut self, request_id: i64, end: &RequestEnd) -> Result<()>;
    /// Stores whether the agent got the answer, or why not.
    fn save_request_delivery(
        &mut self,
        request_id: i64,
        delivered_at: Option<Timestamp>,
        reason: Option<&str>,
    ) -> Result<()>;
    /// Whether this event of the agent has opened a request.
    fn has_request_of_event(&mut self, agent_id: i64, event_id: &str) -> Result<bool>;
    fn save_remembered_answer(&mut self, remembered: &RememberedAnswer) -> Result<()>;
    /// Removes the answer that was given to this request. Returns it, if there was one.
    fn delete_remembered_answer(&mut self, request_uid: &str) -> Result<Option<RememberedAnswer>>;
}

impl Store {
    /// Opens a request.
    ///
    /// # Errors
    ///
    /// When the database cannot be written, or the agent is not known.
    pub fn open_request(&mut self, request: &NewRequest) -> Result<RequestView> {
        let host = self.host().map(str::to_owned);
        self.run_transaction("request", request.opened_at, &mut |journal| {
            if request.channel == AnswerChannel::Reply {
                journal.close_requests_elsewhere(request.agent_id)?;
            }
            let request_id = journal.insert_request(request, host.as_deref())?;
            journal.require_request(request_id)
        })
    }

    /// The agent of a stored event.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn find_agent_of_event(&mut self, event_id: &str) -> Result<Option<i64>> {
        self.read_rows(&mut |rows| rows.find_event_agent(event_id))
    }

    /// The request with this number.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn find_request(&mut self, request_id: i64) -> Result<Option<RequestView>> {
        self.read_rows(&mut |rows| rows.find_request(request_id))
    }

    /// Answers the request with this id, if it is open.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn answer_request(
        &mut self,
        uid: &str,
        answer: &RequestAnswer,
        author: &AnswerAuthor,
        now: Timestamp,
    ) -> Result<AnswerOutcome> {
        self.sweep_requests(now)?;
        self.run_transaction("request", now, &mut |journal| {
            let Some(found) = journal.find_request_by_uid(uid)? else {
                return Ok(AnswerOutcome::Unknown);
            };
            if found.status != RequestStatus::Open {
                return Ok(AnswerOutcome::TooLate(Box::new(found)));
            }
            if let Err(why) = found.check_channel(answer) {
                return Ok(AnswerOutcome::Refused(Box::new(found), why));
            }
            let answer = Some((answer.clone(), author.clone()));
            let end = RequestEnd { status: RequestStatus::Answered, answer, reason: None, at: now };
            journal.close_request(found.request_id, &end)?;
            journal.require_request(found.request_id).map(|view| AnswerOutcome::Accepted(Box::new(view)))
        })
    }

    /// Takes the answer of a request for its agent: the first call returns it, and marks it as delivered. An answer that was
    /// given up is not delivered any more.
    ///
    /// # Errors
    ///
    /// When the database cannot be written. Then the agent must not get the answer.
    pub fn take_answer(&mut self, request_id: i64, now: Timestamp) -> Result<Option<RequestAnswer>> {
        let is_answered = |rows: &mut dyn Rows| {
            let found = rows.find_request(request_id)?;
            Ok(found.filter(|found| {
                let is_settled = found.delivered_at.is_some() || found.closed_reason.is_some();
                found.status == RequestStatus::Answered && !is_settled
            }))
        };
        // A process that waits asks often, and mostly has no answer yet.
        if self.read_rows(&mut |rows| is_answered(rows))?.is_none() {
            return Ok(None);
        }
        self.run_transaction("request", now, &mut |journal| {
            let Some(found) = is_answered(journal)? else {
                return Ok(None);
            };
            journal.save_request_delivery(request_id, Some(now), None)?;
            journal.record_request_delivery(request_id)?;
            Ok(found.answer)
        })
    }

    /// Closes a request that is open, without an answer. Returns the request as it is now.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn close_request(
        &mut self,
        request_id: i64,
        status: RequestStatus,
        reason: &str,
        now: Timestamp,
    ) -> Result<RequestView> {
        self.run_transaction("request", now, &mut |journal| {
            let found = journal.require_request(request_id)?;
            if found.status != RequestStatus::Open {
                return Ok(found);
            }
            journal.close_request(request_id, &RequestEnd::without_answer(status, reason, now))?;
            journal.require_request(request_id)
        })
    }
}
