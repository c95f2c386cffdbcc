//! The steps from a decoded event to its record. `handle_call` in the parent module lists them.

use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

use anyhow::anyhow;
use snell::{
    AgentReply, ApprovalReach, BuiltinHandler, Decision, Diagnostic, Engine, Event, EventName, HeadlessChoice,
    SnellSettings, SupportLevel, Timestamp, Verdict,
};
use snell_store::{DecisionRecord, EventRecord, EventSender, MaskedRecord, PendingEvent};

use snell_guard::ApprovalClass;

use super::headless::{self, HeadlessOrigin, SettledQuestion};
use super::notices::NOTICES;
use super::{HookCall, failure};
use crate::commands::{BLOCKED, DONE, adopt_orphans, block_on, has_hook_for_event};
use crate::env::caller::CallerEnv;
use crate::env::once_markers::OnceMarkers;
use crate::env::sender::build_sender;
use crate::env::transcripts;
use crate::guard::session::{self, SessionFile};
use crate::guard::{APPROVAL_START, GuardRun, ProjectGuard, catch_panic};
use crate::handlers::{self, AgentReminder, ContextTrust, HandlerContext};
use crate::output;
use crate::process::faults;
use crate::record::record_event::HookRecorder;

/// A variable that launchers set.
const PROJECT_PATH: &str = "PROJECT_PATH";

/// The configuration for a call, and other values that do not change while it is handled.
pub(super) struct HookSetup<'a> {
    pub(super) caller: CallerEnv,
    pub(super) markers: OnceMarkers,
    pub(super) engine: Engine,
    pub(super) findings: Vec<Diagnostic>,
    pub(super) settings: SnellSettings,
    pub(super) sender: EventSender,
    pub(super) now: Timestamp,
    /// The event that handlers judge; none if there is nothing to judge.
    pub(super) judged: Option<Cow<'a, Event>>,
    launcher_project_path: Option<String>,
    context_trust: ContextTrust,
    /// Whether hooks may run for the event.
    has_hooks: bool,
    /// The guard's file about the session, if the session is known and the guard uses it.
    session_file: Option<SessionFile>,
}

impl<'a> HookSetup<'a> {
    pub(super) fn load_config(call: &'a HookCall) -> Self {
        let caller = CallerEnv::from_env();
        let (engine, findings) = load_engine(call);
        let settings = engine.settings();
        let sender = EventSender {
            cwd: call.added_cwd.clone(),
            transcript_path: transcripts::find_session_transcript(call.product, call.session_id()),
            context_window: settings.context_window,
            ..build_sender(&call.vars, Some(call.product))
        };
        Self {
            markers: OnceMarkers::in_data_dir(&caller.data),
            session_file: find_session_file(call, &settings, &caller.data),
            has_hooks: call.product.support == SupportLevel::Full && has_hook_for_event(&engine, &call.event),
            judged: select_judged_event(call),
            launcher_project_path: call.vars.text(PROJECT_PATH),
            context_trust: determine_context_trust(call, &engine, &settings),
            now: caller.now.unwrap_or_else(Timestamp::now),
            caller,
            engine,
            findings,
            settings,
            sender,
        }
    }

    fn handler_context(&'a self, call: &'a HookCall, event: &'a Event) -> HandlerContext<'a> {
        HandlerContext {
            event,
            decode_problem: call.decode_problem.as_ref(),
            sender: &self.sender,
            project: &call.project,
            launcher_project_path: self.launcher_project_path.as_deref(),
            settings: &self.settings,
            context_trust: self.context_trust,
            now: self.now,
            session_file: self.session_file.as_ref(),
        }
    }
}

/// The guard's file about the session of a call.
fn find_session_file(call: &HookCall, settings: &SnellSettings, data: &Path) -> Option<SessionFile> {
    let is_used = settings.guard.session && settings.handlers.is_enabled(BuiltinHandler::Guard);
    is_used.then(|| SessionFile::for_session(data, call.session_id())).flatten()
}

/// Whether a session that starts may get files of its project. The pins are read only if that matters.
fn determine_context_trust(call: &HookCall, engine: &Engine, settings: &SnellSettings) -> ContextTrust {
    let is_asked = call.event.name == EventName::SessionStart && settings.handlers.is_enabled(BuiltinHandler::Context);
    if is_asked && settings.context_needs_trust() && !engine.is_project_trusted() {
        return ContextTrust::Missing;
    }
    ContextTrust::Sufficient
}

/// The engine with Snell's own files and those that they borrow. If none can be read, the guard judges by its defaults.
fn load_engine(call: &HookCall) -> (Engine, Vec<Diagnostic>) {
    let builder = CallerEnv::engine_builder(call.project.clone())
        .or_else(|error| {
            faults::report_fault(format!("{error:#}"));
            CallerEnv::engine_builder("/".into())
        })
        .unwrap_or_else(|_| Engine::builder());
    let builder = match call.product.support {
        SupportLevel::Full => builder.guest(call.product),
        // No hook runs, because the agent cannot receive a hook's answer. The settings still apply.
        SupportLevel::DenyOnly => builder.survey(),
    };
    builder.load()
}

/// The event that handlers judge. An unreadable tool call is judged as it is.
fn select_judged_event(call: &HookCall) -> Option<Cow<'_, Event>> {
    let event = &call.event;
    if call.decode_problem.is_some() && matches!(event.name, EventName::PreToolUse | EventName::PermissionRequest) {
        return Some(Cow::Borrowed(event));
    }
    call.product.announced_call(event)
}

/// The state of a call between two steps.
pub(super) struct HookPipeline<'a> {
    pub(super) call: &'a HookCall,
    pub(super) setup: &'a HookSetup<'a>,
    pub(super) recorder: HookRecorder,
    pub(super) record: MaskedRecord,
    /// The copy of the record on disk, once there is one.
    pub(super) pending: Option<PendingEvent>,
    pub(super) verdict: Verdict,
    pub(super) reminder: AgentReminder,
    pub(super) guard_run: Option<GuardRun<'a>>,
    /// Whether files were saved that the call would delete or overwrite.
    pub(super) has_saved_files: bool,
    settled_question: Option<SettledQuestion>,
}

impl<'a> HookPipeline<'a> {
    pub(super) fn new(call: &'a HookCall, setup: &'a HookSetup<'a>) -> Self {
        let mut record = EventRecord::new(&call.event, setup.now);
        record.sender = setup.sender.clone();
        let record = MaskedRecord::from(record);
        let recorder = HookRecorder::new(&setup.caller, &setup.settings, &setup.findings);
        if let (SupportLevel::Full, Some(problem)) = (call.product.support, &call.decode_problem) {
            output::print_warning(format!(
                "cannot read all of the event {}: {}",
                call.event.name.as_str(),
                problem.why
            ));
        }
        Self {
            // Hooks take time, and the agent may end this process meanwhile.
            pending: setup.has_hooks.then(|| recorder.write_pending(&record)).flatten(),
            verdict: Verdict::new(call.event.name.clone()),
            reminder: AgentReminder::default(),
            guard_run: None,
            has_saved_files: false,
            settled_question: None,
            call,
            setup,
            recorder,
            record,
        }
    }

    pub(super) fn run_builtin_handlers(&mut self) {
        let Some(event) = self.setup.judged.as_deref() else {
            return;
        };
        let context = self.setup.handler_context(self.call, event);
        let outcome = handlers::run_handlers(&context, &mut self.recorder);
        (self.verdict, self.reminder, self.guard_run) = (outcome.verdict, outcome.reminder, outcome.guard_run);
    }

    pub(super) fn fire_hooks(&mut self) {
        let (setup, event) = (self.setup, &self.call.event);
        if !setup.has_hooks {
            return;
        }
        adopt_orphans();
        // Without free descriptors the runtime panics. The guard's verdict must survive that.
        let failure = match catch_panic::catch_panic(|| block_on(setup.engine.fire(event.clone()))) {
            Ok(Ok(verdict)) => {
                let before = std::mem::replace(&mut self.verdict, Verdict::new(event.name.clone()));
                self.verdict = before.merge_later(verdict);
                let is_too_deep = setup.engine.is_too_deep();
                is_too_deep.then(|| anyhow!("hooks started other hooks too many levels deep (SNELL_DEPTH)"))
            }
            Ok(Err(error)) => Some(error),
            Err(place) => Some(anyhow!("Snell failed at {place}")),
        };
        if let Some(error) = failure {
            failure::ask_after_hook_failure(&error, &mut self.verdict);
        }
        let context = setup.handler_context(self.call, event);
        handlers::rerun_on_changed_input(&context, self.guard_run.as_mut(), &mut self.verdict);
    }

    /// Writes what the session should remember of the event. The agent may run the call as soon as it has the answer.
    pub(super) fn note_session(&self) {
        let Some(file) = &self.setup.session_file else {
            return;
        };
        let event = self.setup.judged.as_deref().unwrap_or(&self.call.event);
        session::note_event(file, event, self.call.product);
        if let Some(guard_run) = &self.guard_run {
            return guard_run.note_session();
        }
        let guard = || ProjectGuard::from_settings(&self.setup.settings, &self.call.project, self.setup.now);
        session::follow_call(file, event, &guard);
    }

    /// Whether no user can answer, by the agent's variables or its command line.
    pub(super) fn is_headless(&self) -> bool {
        let sender = &self.setup.sender;
        sender.unattended || sender.process.is_some_and(|process| process.has_argument(self.call.product.headless_args))
    }

    /// Decides a question that no user can answer.
    pub(super) fn settle_headless_question(&mut self) {
        // The command line of the agent is read only if there is a question.
        if self.verdict.decision != Decision::Ask || !self.is_headless() {
            return;
        }
        let is_grave = self.guard_run.as_ref().is_some_and(GuardRun::asks_about_own_or_secret_files);
        let guard = &self.setup.settings.guard;
        let choice = if is_grave { HeadlessChoice::Deny } else { guard.headless };
        let origin = match guard.headless_origin {
            Some(_) => HeadlessOrigin::File,
            None => HeadlessOrigin::Default,
        };
        self.settled_question = headless::settle_question(&mut self.verdict, choice, origin);
    }

    /// Adds notices, if the agent can show them.
    pub(super) fn append_notices(&mut self) {
        if self.call.product.support == SupportLevel::Full {
            NOTICES.iter().for_each(|add_notice| add_notice(self));
        }
    }

    /// Answers the agent. Returns the exit code.
    pub(super) fn reply(&mut self, started: Instant) -> u8 {
        let Some(event) = self.setup.judged.as_deref() else {
            self.print_caller_note("event recorded");
            return DONE;
        };
        let approved = self.encode_approval(event);
        let reply = match &approved {
            Some((reply, _)) => reply.clone(),
            None => self.call.product.encode(event, &self.verdict),
        };
        let mut decision = self.build_decision(&reply, started);
        if let Some((_, reason)) = approved {
            decision.override_with_permission(&reason);
        }
        self.record.set_decision(decision);
        // Other events may have been stored while hooks ran.
        if self.setup.has_hooks {
            self.record.mark_delayed();
        }
        if reply != AgentReply::default() {
            self.write_pending_decision();
        } else if self.call.product.support == SupportLevel::DenyOnly {
            self.print_caller_note("call allowed");
        }
        let exit_code = reply.exit_code;
        let Some(reason) = print_reply(reply, &self.verdict) else {
            return exit_code;
        };
        self.record.override_with_refusal(&reason);
        BLOCKED
    }

    /// The guard's approval of the call, if the agent takes one: its answer, and the reason for the record.
    fn encode_approval(&self, event: &Event) -> Option<(AgentReply, String)> {
        let approval = self.guard_run.as_ref()?.find_approval(&self.verdict)?;
        let can_be = self.call.decode_problem.is_none()
            && self.settled_question.is_none()
            && self.call.product.support == SupportLevel::Full;
        let reach = match approval.class {
            ApprovalClass::Reads => ApprovalReach::Nothing,
            ApprovalClass::Edits | ApprovalClass::Runs => ApprovalReach::Project,
        };
        let reason = format!("{APPROVAL_START} {approval}");
        let reply = self.call.product.encode_approval(event, &self.verdict, (reach, &reason)).filter(|_| can_be)?;
        Some((reply, reason))
    }

    /// Whether the agent gets an approval of the guard, so that no user need be asked.
    pub(super) fn is_approved(&self) -> bool {
        self.setup.judged.as_deref().is_some_and(|event| self.encode_approval(event).is_some())
    }

    /// The decision as the agent gets it.
    pub(super) fn build_decision(&mut self, reply: &AgentReply, started: Instant) -> DecisionRecord {
        let mut decision = DecisionRecord::from_verdict(&self.verdict, started.elapsed());
        decision.reminded = std::mem::take(&mut self.reminder.record);
        decision.guard = self.guard_run.as_ref().map(GuardRun::to_records).unwrap_or_default();
        decision.goes_on = reply.continues_turn;
        match self.settled_question {
            Some(SettledQuestion::Denied) => {
                decision.override_with_refusal(self.verdict.reason.as_deref().unwrap_or_default())
            }
            Some(SettledQuestion::Allowed) => decision.override_with_permission(headless::ALLOWED_RECORD),
            None => {}
        }
        reply.refusal.iter().for_each(|reason| decision.override_with_refusal(reason));
        decision
    }

    /// Once the agent has its answer, it may end this process at any moment.
    fn write_pending_decision(&mut self) {
        if let Some(pending) = self.recorder.write_pending(&self.record) {
            self.pending.replace(pending).into_iter().for_each(PendingEvent::remove);
        }
    }

    fn print_caller_note(&self, outcome: &str) {
        let problem = self.call.decode_problem.as_ref();
        let problem = problem.map_or(String::new(), |problem| format!(" (cannot read all of it: {})", problem.why));
        let title = self.call.product.title;
        output::print_warning(format!("called by {title}, where Snell can only deny calls; {outcome}{problem}"));
    }

    pub(super) fn record(mut self) {
        self.recorder.record(self.record, self.pending);
    }
}

/// Gives the agent its answer. Returns the reason if the exit code must block, as [`write_reply`] does.
pub(super) fn print_reply(reply: AgentReply, verdict: &Verdict) -> Option<String> {
    reply.stderr.iter().for_each(|reason| output::print_denial(reason));
    reply.stdout.and_then(|line| write_reply(&line, verdict))
}

/// Writes the answer. If a decision or a change cannot be delivered this way, the exit code must block, and this returns the
/// reason.
pub(super) fn write_reply(line: &str, verdict: &Verdict) -> Option<String> {
    let matters = verdict.decision > Decision::Allow || verdict.tool_input.is_some();
    let error = if matters && output::is_stdout_discarded() {
        anyhow!("cannot write the answer: standard output is closed or discarded")
    } else {
        output::write_answer(line).err()?
    };
    if !matters {
        output::print_error(&error);
        return None;
    }
    let default_reason = match verdict.decision {
        Decision::Deny => "blocked",
        Decision::Ask => "blocked, because the user cannot be asked",
        Decision::None | Decision::Allow => "blocked, because a hook changed the tool's input",
    };
    let reason = verdict.reason.clone().unwrap_or_else(|| default_reason.into());
    output::print_denial(&reason);
    output::print_error(&error);
    Some(reason)
}
