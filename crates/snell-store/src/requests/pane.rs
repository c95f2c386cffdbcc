//! Requests that no hook can answer: a question at the agent's prompt is answered by typing into its tmux pane, and a dialog
//! must be answered in the agent's own terminal.
//!
//! Any number of dispatchers see the same wait. The transaction that opens its request tests that there is none yet, and the
//! transaction that takes an answer marks it before it is typed: each wait has one request, and each answer is typed at most
//! once, also if a process is killed in between.

use std::time::Duration;

use serde_json::{Value, json};
use snell::{NoticeKind, Timestamp};

use super::{
    AnswerChannel, NewRequest, RequestKind, RequestOrigin, RequestRows, RequestStatus, RequestView, pane_text,
};
use crate::db::dispatches::DispatchView;
use crate::db::model::{AgentRow, AgentState, to_stored_precision};
use crate::db::rows::Rows;
use crate::db::workers::to_single_line;
use crate::derive::prompt_wait;
use crate::error::Result;
use crate::record::text_limits::sanitize_text_within;
use crate::store::Store;
use crate::views::sessions::AgentLocation;

/// How long a question at a prompt can be answered.
pub(crate) const PANE_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);

/// The longest title, in characters, and the longest text of a question.
const MAX_TITLE_CHARS: usize = 300;
const MAX_QUESTION_BYTES: usize = 4000;

/// The note on a taken answer until it is typed. It stays if the process is killed.
const BEGAN: &str = "Snell began to type the answer, and has not reported the end: look at the agent's terminal";

/// An answer that was taken to be typed.
#[derive(Clone, Debug, PartialEq)]
pub enum PaneAnswer {
    /// Type this line into the terminal of this agent.
    Line(Box<AgentLocation>, String),
    /// The agent does not wait for it any more, for this reason.
    Over(String),
    /// There is none: no answer, or another process has taken it.
    Missing,
}

impl Store {
    /// Opens the request of an agent that waits, unless the wait is over or has a request. Returns the new request.
    ///
    /// # Errors
    ///
    /// When the database cannot be written.
    pub fn open_wait_request(&mut self, change: &DispatchView, now: Timestamp) -> Result<Option<RequestView>> {
        let is_needless = |rows: &mut dyn Rows| {
            let is_open = !rows.list_open_requests(change.agent_id)?.is_empty();
            Ok(is_open || rows.has_request_of_event(change.agent_id, &change.uid)?)
        };
        if change.kind != NoticeKind::NeedsUser
            || !change.is_current()
            || self.read_rows(&mut |rows| is_needless(rows))?
        {
            return Ok(None);
        }
        let own_host = self.host().map(str::to_owned);
        self.run_transaction("request", now, &mut |journal| {
            let agent = journal.find_agent(change.agent_id)?;
            let agent = agent.filter(|agent| is_waiting_since(agent, change.at));
            let Some(agent) = agent else {
                return Ok(None);
            };
            if is_needless(journal)? {
                return Ok(None);
            }
            let request = build_wait_request(&agent, change, own_host.as_deref(), now);
            let request_id = journal.insert_request(&request, own_host.as_deref())?;
            journal.require_request(request_id).map(Some)
        })
    }

    /// Takes an answer that is to be typed. Only the first call gets it; from then on the request says that Snell
    /// began to type it, until [`Store::finish_pane_answer`] stores the result.
    ///
    /// # Errors
    ///
    /// When the database cannot be written. Then nothing must be typed.
    pub fn take_pane_answer(&mut self, request_id: i64, now: Timestamp) -> Result<PaneAnswer> {
        let taken = self.run_transaction("request", now, &mut |journal| {
            let Some(request) = journal.find_request(request_id)?.filter(RequestView::has_untyped_answer) else {
                return Ok(None);
            };
            let agent = journal.find_agent(request.agent_id)?;
            let line = match (&request.answer, agent.filter(|agent| request.is_about_wait_of(agent))) {
                (Some(answer), Some(_)) => pane_text::compose_line(answer).map_err(|problem| problem.text),
                _ => Err("the agent no longer waits for this answer".to_owned()),
            };
            let reason = line.as_ref().map_or_else(String::as_str, |_| BEGAN);
            journal.save_request_delivery(request_id, None, Some(reason))?;
            if line.is_err() {
                journal.record_request_delivery(request_id)?;
            }
            Ok(Some((request.agent_id, line)))
        })?;
        Ok(match taken {
            None => PaneAnswer::Missing,
            Some((_, Err(why))) => PaneAnswer::Over(why),
            Some((agent_id, Ok(line))) => match self.find_agent_location(agent_id)? {
                Some(agent) => PaneAnswer::Line(Box::new(agent), line),
                None => PaneAnswer::Missing,
            },
        })
    }

    /// Stores that a taken answer was typed, or why not.
    ///
    /// # Errors
    ///
    /// When the database cannot be written. Then the request still says that Snell began to type.
    pub fn finish_pane_answer(
        &mut self,
        request_id: i64,
        typed: std::result::Result<(), &str>,
        now: Timestamp,
    ) -> Result<RequestView> {
        self.run_transaction("request", now, &mut |journal| {
            journal.save_request_delivery(request_id, typed.is_ok().then_some(now), typed.err())?;
            journal.record_request_delivery(request_id)
        })
    }

    /// Whether the agent of a request still waits for its answer: at its prompt, about the same question.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn still_waits_for(&mut self, request: &RequestView) -> Result<bool> {
        let agent = self.read_rows(&mut |rows| rows.find_agent(request.agent_id))?;
        Ok(agent.is_some_and(|agent| request.is_about_wait_of(&agent)))
    }

    /// Answers that wait to be typed.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn find_untyped_answers(&mut self, now: Timestamp) -> Result<Vec<RequestView>> {
        // An hour more than any of them can be open.
        let opened_after = now.checked_sub(PANE_LIFETIME + Duration::from_secs(60 * 60)).unwrap_or(Timestamp::MIN);
        self.list_untyped_answers(opened_after)
    }
}

impl RequestView {
    fn has_untyped_answer(&self) -> bool {
        let is_taken = self.delivered_at.is_some() || self.closed_reason.is_some();
        self.channel == AnswerChannel::Pane && self.status == RequestStatus::Answered && !is_taken
    }

    /// Whether the agent still waits at its prompt, for the answer to this question.
    fn is_about_wait_of(&self, agent: &AgentRow) -> bool {
        prompt_wait::find_prompt_question(agent).is_some() && self.detail.get("wait") == Some(&describe_wait(agent))
    }
}

fn is_waiting_since(agent: &AgentRow, since: Timestamp) -> bool {
    agent.state == AgentState::AwaitingInput && to_stored_precision(agent.state_since) == since
}

/// A value that no other wait of the agent has.
fn describe_wait(agent: &AgentRow) -> Value {
    json!({"since": to_stored_precision(agent.state_since), "why": agent.why})
}

fn build_wait_request(agent: &AgentRow, change: &DispatchView, own_host: Option<&str>, now: Timestamp) -> NewRequest {
    let is_here = agent.host.is_none() || agent.host.as_deref() == own_host;
    let question = prompt_wait::find_prompt_question(agent);
    let is_typed = question.is_some() && is_here && agent.tmux_pane.is_some();
    let is_question = question.is_some() || prompt_wait::shows_choices(agent);
    let mut detail = json!({"cwd": change.project_path, "wait": describe_wait(agent), "place": describe_place(agent)});
    if let (Some(_), Some(words)) = (&question, &agent.last_words) {
        let text = sanitize_text_within(words, MAX_QUESTION_BYTES);
        detail["questions"] = json!([{"question": text, "options": []}]);
    }
    NewRequest {
        kind: if is_question { RequestKind::Question } else { RequestKind::Permission },
        origin: RequestOrigin::Agent,
        channel: if is_typed { AnswerChannel::Pane } else { AnswerChannel::Elsewhere },
        agent_id: agent.agent_id,
        session_id: change.session_id.clone(),
        event_id: Some(change.uid.clone()),
        tool: agent.current_tool.clone(),
        tool_use_id: None,
        title: to_single_line(question.unwrap_or(&agent.why), MAX_TITLE_CHARS),
        detail,
        opened_at: now,
        expires_at: now.checked_add(PANE_LIFETIME).unwrap_or(now),
        waiter: None,
    }
}

/// Where the agent runs, for people.
fn describe_place(agent: &AgentRow) -> String {
    let pane = agent.tmux_pane.as_deref().map(|pane| match agent.tmux_session.as_deref() {
        Some(session) => format!("tmux pane {pane} (session {session})"),
        None => format!("tmux pane {pane}"),
    });
    let host = agent.host.as_deref().map(|host| format!("host {host}"));
    let known: Vec<_> = pane.into_iter().chain(host).collect();
    if known.is_empty() { "no tmux pane is known".to_owned() } else { known.join(", ") }
}
