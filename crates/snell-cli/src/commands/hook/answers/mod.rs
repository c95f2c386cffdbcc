//! Answers from elsewhere: if the agent is about to ask its user, the hook opens a request and waits for its answer.
//!
//! It waits only if the user wants that, and while any process can pass on an answer. A call is let through only by an answer
//! that this process reads from the database. After any error, the agent does what it would have done without a request.

mod call_subject;
mod request_detail;
mod wait;

use std::borrow::Cow;
use std::cell::Cell;
use std::time::{Duration, Instant};

use snell::{Decision, DialogDuringHook, Event, EventName, Timestamp, UnansweredChoice, UserAnswer, Verdict};
use snell_store::requests::{
    AnswerChannel, AnswerChoice, NewRequest, RememberScope, RememberedAnswer, RememberedCall, RequestAnswer,
    RequestKind, RequestOrigin, RequestView, WatcherLock,
};
use snell_store::{EventRecord, EventRecorder, MaskedRecord, ProcessIdentity, Store, StoreError};

use super::pipeline::{HookPipeline, print_reply};
use crate::commands::BLOCKED;
use crate::env::once_markers::OnceMarkers;
use crate::guard::GuardRun;
use crate::output;
use call_subject::CallSubject;
use wait::{RequestWait, WaitEnd};

/// A marker that exists once any answer is remembered, so that other hooks need no database to know that none is.
const REMEMBERED_MARKER: &[&str] = &["remembered answers"];

/// The default reason of a denial.
const DENIED: &str = "The user denied this call.";

/// The reason of a denial without an answer.
const UNANSWERED: &str =
    "The user did not answer in time, so Snell denied the call (no_answer = \"deny\" in [answers] of snell.toml).";

/// The event for an answer that was given here. Some agents have an event of this name for their own dialog.
const ANSWER_EVENT: &str = "PermissionResult";

/// Fields of the call, which the event for its answer has not.
const CALL_FIELDS: &[&str] = &["event_id", "tool_input", "permission_suggestions"];

/// How a request is answered.
#[derive(Debug)]
pub(super) enum RequestPlan {
    /// By an answer that the user gave to the same call before.
    Remembered(RememberedAnswer),
    /// By an answer that the user gives now.
    Ask,
}

impl HookPipeline<'_> {
    /// Whether the agent is about to ask its user, and an answer can come from elsewhere.
    pub(super) fn plan_request(&self) -> Option<RequestPlan> {
        let (call, setup) = (self.call, self.setup);
        if self.is_approved() {
            return None;
        }
        let answers = &setup.settings.answers;
        // The cheapest conditions come first: most events end here.
        let is_asked = match call.event.name {
            EventName::PermissionRequest => self.verdict.decision != Decision::Deny,
            EventName::PreToolUse => self.verdict.decision == Decision::Ask,
            _ => false,
        };
        if !is_asked
            || !answers.is_enabled_for(call.product.name, &call.project)
            || !self.recorder.is_enabled()
            || self.verdict.stop.is_some()
            || call.decode_problem.is_some()
        {
            return None;
        }
        let dialog = call.product.answer_channel(&call.event)?;
        if let Some(remembered) = self.find_remembered_answer() {
            return Some(RequestPlan::Remembered(remembered));
        }
        let may_wait = dialog == DialogDuringHook::Usable || answers.hold() || self.is_headless();
        (may_wait && WatcherLock::is_held(&setup.caller.data)).then_some(RequestPlan::Ask)
    }

    /// The event with the input with which its call would run: hooks may have changed it.
    fn event_to_run(&self) -> Cow<'_, Event> {
        let mut event = Cow::Borrowed(&self.call.event);
        if let (Some(changed), EventName::PreToolUse) = (&self.verdict.tool_input, &event.name)
            && let Some(tool) = &mut event.to_mut().tool
        {
            tool.input = Some(changed.clone());
        }
        event
    }

    /// An answer of the user that allows the same call again. None allows a call that touches Snell's own files or secrets.
    fn find_remembered_answer(&self) -> Option<RememberedAnswer> {
        let data = &self.setup.caller.data;
        let is_grave = self.guard_run.as_ref().is_some_and(GuardRun::asks_about_own_or_secret_files);
        if is_grave || OnceMarkers::lasting_in_data_dir(data).read_count(REMEMBERED_MARKER) == Some(0) {
            return None;
        }
        let subject = CallSubject::of_event(&self.event_to_run())?;
        let project = self.call.project.to_string_lossy();
        let remembered = RememberedCall {
            session_id: self.call.event.session_id.as_deref(),
            project_path: &project,
            tool: &subject.tool,
            subject: &subject.text,
            asked_by: &self.list_asking_sources(),
        };
        let mut store = open_store(self)?;
        store.find_remembered_answer(&remembered, Timestamp::now()).ok().flatten()
    }

    /// Records the event, gets the user's answer, and passes it on. Returns the exit code.
    pub(super) fn ask_elsewhere(mut self, plan: RequestPlan, started: Instant, replied: &Cell<Option<u8>>) -> u8 {
        self.append_notices();
        // The agent is asking now, whatever comes after.
        let decision = self.build_decision(&snell::AgentReply::default(), started);
        self.record.set_decision(decision);
        if matches!(plan, RequestPlan::Ask) {
            self.record.mark_attended();
        }
        let pending = self.pending.take();
        self.recorder.record_at_once(self.record.clone(), pending);
        let given = match &plan {
            RequestPlan::Remembered(remembered) => Some(GivenAnswer::from_remembered(remembered)),
            RequestPlan::Ask => self.wait_for_answer(started),
        };
        if given.is_some() {
            self.retract_questions(&plan);
        }
        let code = self.reply_to_request(given.as_ref());
        replied.set(Some(code));
        self.prune_backups();
        if let Some(given) = given {
            self.record_answer(&given);
        }
        code
    }

    /// The agent shows no question that has its answer. If the answer is an old one, it says so in its place.
    fn retract_questions(&mut self, plan: &RequestPlan) {
        let was_asked = self.guard_run.as_ref().is_some_and(|run| run.retract_questions(&mut self.verdict));
        if let (true, RequestPlan::Remembered(remembered)) = (was_asked, plan) {
            let uid = &remembered.request_uid;
            let text = format!(
                "Snell: allowed, as you remembered with request {uid}; to end that: snell answer --forget {uid}"
            );
            self.verdict.add_message(text);
        }
    }

    /// Opens a request and waits for its answer; nothing if the agent must go on by itself.
    fn wait_for_answer(&self, started: Instant) -> Option<GivenAnswer> {
        let answers = &self.setup.settings.answers;
        let mut store = open_store(self)?;
        let limit = answers.wait().saturating_sub(started.elapsed());
        let request = match self.open_request(&mut store, limit) {
            Ok(request) => request?,
            Err(error) => {
                output::print_warning(format!("cannot ask elsewhere: {error}"));
                return None;
            }
        };
        let agent = self.setup.sender.process;
        match RequestWait::new(&self.setup.caller.data, store, &request, agent).run() {
            (WaitEnd::Answered(answer), mut store) => {
                self.remember(&mut store, &request, &answer);
                Some(GivenAnswer::from_request(&mut store, &request, answer, self.list_suggestions()))
            }
            (WaitEnd::TimedOut, _) if answers.no_answer() == UnansweredChoice::Deny => {
                Some(GivenAnswer { answer: UserAnswer::Deny(UNANSWERED.to_owned()), author: None })
            }
            (WaitEnd::TimedOut | WaitEnd::Withdrawn, _) => None,
        }
    }

    fn open_request(&self, store: &mut Store, limit: Duration) -> Result<Option<RequestView>, StoreError> {
        let event = &self.call.event;
        // An event that is not stored yet cannot be shown, so it could not be answered.
        let Some(agent_id) = store.find_agent_of_event(&self.record.event_id)? else {
            return Ok(None);
        };
        let opened_at = Timestamp::now();
        let asks_questions = self.call.product.asks_questions(event);
        let shown = request_detail::ShownCall::from_pipeline(self);
        store
            .open_request(&NewRequest {
                kind: if asks_questions { RequestKind::Question } else { RequestKind::Permission },
                origin: self.find_origin(),
                channel: AnswerChannel::Reply,
                agent_id,
                session_id: event.session_id.clone(),
                event_id: Some(self.record.event_id.clone()),
                tool: event.tool_name().map(str::to_owned),
                tool_use_id: event.tool.as_ref().and_then(|tool| tool.use_id.clone()),
                title: shown.title(),
                detail: shown.detail(),
                opened_at,
                expires_at: opened_at + limit,
                waiter: Some(ProcessIdentity::from_pid(std::process::id())),
            })
            .map(Some)
    }

    /// The agent's own suggestions, as they came.
    fn list_suggestions(&self) -> &[serde_json::Value] {
        self.call.product.list_suggestions(&self.call.event)
    }

    /// The rules of the guard and the hooks that ask about the call.
    fn list_asking_sources(&self) -> Vec<String> {
        let rules = self.guard_run.iter().flat_map(GuardRun::list_asking_rules).map(|rule| format!("rule {rule}"));
        let asking_runs = self.verdict.hooks.iter().filter(|run| run.decision == Decision::Ask);
        let mut sources: Vec<_> = rules.chain(asking_runs.map(|run| format!("hook {}", run.hook.origin))).collect();
        if sources.is_empty() && self.verdict.decision == Decision::Ask {
            sources.push("Snell".to_owned());
        }
        sources
    }

    fn find_origin(&self) -> RequestOrigin {
        if self.guard_run.as_ref().is_some_and(|run| run.list_asking_rules().next().is_some()) {
            RequestOrigin::Guard
        } else if self.verdict.decision == Decision::Ask {
            RequestOrigin::Hook
        } else {
            RequestOrigin::Agent
        }
    }

    /// Keeps an answer for the same call in the future.
    fn remember(&self, store: &mut Store, request: &RequestView, answer: &RequestAnswer) {
        let Some(term) = answer.remember.as_ref().filter(|_| answer.choice == AnswerChoice::Allow) else {
            return;
        };
        let scope_key = match term.scope {
            RememberScope::Session => self.call.event.session_id.clone(),
            RememberScope::Project => Some(self.call.project.to_string_lossy().into_owned()),
        };
        let (Some(scope_key), Some(subject)) = (scope_key, CallSubject::of_event(&self.event_to_run())) else {
            return;
        };
        let remembered = RememberedAnswer {
            scope: term.scope,
            scope_key,
            tool: subject.tool,
            subject: subject.text,
            title: request.title.clone(),
            asked_by: self.list_asking_sources(),
            request_uid: request.uid.clone(),
            created_at: Timestamp::now(),
            until: term.until,
        };
        let is_marked = OnceMarkers::lasting_in_data_dir(&self.setup.caller.data).write_count(REMEMBERED_MARKER, 1);
        if let Err(error) = store.remember_answer(&remembered) {
            output::print_warning(format!("the answer is not remembered: {error}"));
        } else if !is_marked {
            output::print_warning("the answer is not remembered: cannot write to the data directory");
        }
    }

    /// Gives the agent the user's answer, or what it would have got without a request.
    fn reply_to_request(&mut self, given: Option<&GivenAnswer>) -> u8 {
        let (product, event) = (self.call.product, &self.call.event);
        let Some(given) = given else {
            self.settle_headless_question();
            self.save_lost_files();
            let reply = product.encode(event, &self.verdict);
            let exit_code = reply.exit_code;
            return if print_reply(reply, &self.verdict).is_some() { BLOCKED } else { exit_code };
        };
        if !matches!(given.answer, UserAnswer::Deny(_)) {
            self.save_lost_files();
        }
        let reply = product.encode_answer(event, &self.verdict, &given.answer);
        let exit_code = reply.exit_code;
        // If it cannot be written, a denial blocks by the exit code, and an allowed call is asked about as usual.
        let mut verdict = Verdict::new(event.name.clone());
        if let UserAnswer::Deny(reason) = &given.answer {
            verdict.deny(reason.clone());
        }
        if print_reply(reply, &verdict).is_some() { BLOCKED } else { exit_code }
    }

    /// Records the event, and that the guard answered it, so that the agent is not shown as waiting while its call runs.
    pub(super) fn record_approved_request(mut self) {
        let pending = self.pending.take();
        self.recorder.record(self.record.clone(), pending);
        let author = Some(("the guard".to_owned(), "approval"));
        self.record_answer(&GivenAnswer { answer: UserAnswer::Allow, author });
    }

    /// Records that the request was answered, so that the agent is not shown as waiting while its call runs.
    fn record_answer(&mut self, given: &GivenAnswer) {
        let mut event = self.call.event.clone();
        event.name = EventName::parse(ANSWER_EVENT);
        event.raw.retain(|key, _| !CALL_FIELDS.contains(&key.as_str()));
        event.raw.insert("hook_event_name".to_owned(), ANSWER_EVENT.into());
        event.raw.insert("snell_answer".to_owned(), given.to_json());
        let mut record = EventRecord::new(&event, Timestamp::now());
        record.sender = self.record.sender.clone();
        self.recorder.record(MaskedRecord::from(record), None);
    }
}

/// An answer for the agent.
#[derive(Debug)]
struct GivenAnswer {
    answer: UserAnswer,
    /// Who gave it, and from where.
    author: Option<(String, &'static str)>,
}

impl GivenAnswer {
    fn from_remembered(remembered: &RememberedAnswer) -> Self {
        let author = format!("the answer to request {}", remembered.request_uid);
        Self { answer: UserAnswer::Allow, author: Some((author, "remembered")) }
    }

    fn from_request(
        store: &mut Store,
        request: &RequestView,
        answer: RequestAnswer,
        suggestions: &[serde_json::Value],
    ) -> Self {
        let closed = store.find_request(request.request_id).ok().flatten();
        let author = closed.and_then(|closed| Some((closed.answered_by?, closed.answered_from?.as_str())));
        let answer = match answer.choice {
            AnswerChoice::Allow => {
                let chosen = answer.suggestion.and_then(|number| suggestions.get(number.checked_sub(1)?));
                chosen.cloned().map_or(UserAnswer::Allow, UserAnswer::AllowWith)
            }
            AnswerChoice::Deny => UserAnswer::Deny(answer.message.unwrap_or_else(|| DENIED.to_owned())),
            AnswerChoice::Reply => UserAnswer::Replies(answer.replies),
        };
        Self { answer, author }
    }

    fn to_json(&self) -> serde_json::Value {
        let choice = match &self.answer {
            UserAnswer::Allow | UserAnswer::AllowWith(_) => "allow",
            UserAnswer::Deny(_) => "deny",
            UserAnswer::Replies(_) => "reply",
        };
        let (by, from) = self.author.as_ref().map(|(by, from)| (by.as_str(), *from)).unzip();
        serde_json::json!({"choice": choice, "by": by, "from": from})
    }
}

/// The store; nothing if it cannot be used. A hook that only records has other ways then.
fn open_store(run: &HookPipeline<'_>) -> Option<Store> {
    let path = EventRecorder::database_path(&run.setup.caller.data);
    // A database is made by the first event that is recorded.
    path.exists().then(|| Store::open(&path).ok()).flatten().map(|opened| opened.store)
}
