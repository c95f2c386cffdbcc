//! What is built into `snell hook`, and speaks before its user's hooks do.
//!
//! Each handler decides on its own, and what it needs is asked for here. Whatever goes wrong with one of them is told on
//! standard error and is no opinion, except where a handler says itself that it fails closed.

mod context;
mod messaging;
mod remind;
mod session_mode;

use std::cell::OnceCell;
use std::path::Path;

use serde_json::Value;
use snell::{BuiltinHandler, Decision, Event, EventName, SnellSettings, Timestamp, Verdict};
use snell_store::EventSender;

use crate::env::ConfigArgs;
use crate::guard::{GuardRun, ProjectGuard};
use crate::output;
use crate::record::record_event::HookRecorder;
pub(crate) use remind::AgentReminder;
pub(crate) use session_mode::SessionMode;

/// An event, and what surrounds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandlerContext<'a> {
    pub(crate) event: &'a Event,
    /// What could not be read of it, if anything.
    pub(crate) decode_problem: Option<&'a DecodeProblem>,
    pub(crate) sender: &'a EventSender,
    /// The directory that the agent has for its project.
    pub(crate) project: &'a Path,
    /// The project's path, as a launcher names it.
    pub(crate) launcher_project_path: Option<&'a str>,
    pub(crate) settings: &'a SnellSettings,
    pub(crate) now: Timestamp,
}

/// Why an event could not be read as a whole.
#[derive(Clone, Debug)]
pub(crate) struct DecodeProblem {
    /// As a sentence without its end.
    pub(crate) why: String,
    /// Whether there is something of what a tool is given.
    pub(crate) has_input: bool,
}

impl DecodeProblem {
    /// Something of it was left out.
    pub(crate) fn truncated(why: String) -> Self {
        Self { why, has_input: true }
    }

    /// There is nothing of it but what happens, and to whom.
    pub(crate) fn unreadable(why: String) -> Self {
        Self { why, has_input: false }
    }
}

impl HandlerContext<'_> {
    /// The time by which allowed commands expire. `SNELL_NOW` does not turn it back: an agent's settings could set that.
    fn expiry_time(&self) -> Timestamp {
        self.now.max(Timestamp::now())
    }

    fn session_mode(&self) -> SessionMode {
        SessionMode::from_name(self.sender.mode.as_deref())
    }
}

/// What the handlers have to say about an event.
#[derive(Debug)]
pub(crate) struct HandlerOutcome<'a> {
    /// What they decided.
    pub(crate) verdict: Verdict,
    /// What the agent is told about itself, if it hears it.
    pub(crate) reminder: AgentReminder,
    /// What the guard has to do with it, if anything.
    pub(crate) guard_run: Option<GuardRun<'a>>,
}

/// Asks every handler that is switched on.
pub(crate) fn run_handlers<'a>(context: &HandlerContext<'a>, recorder: &mut HookRecorder) -> HandlerOutcome<'a> {
    let handlers = &context.settings.handlers;
    let mut said = HandlerOutcome {
        verdict: Verdict::new(context.event.name.clone()),
        reminder: AgentReminder::default(),
        guard_run: start_guard_run(context),
    };
    if let Some(hearing) = &mut said.guard_run {
        if context.decode_problem.is_none_or(|unread| unread.has_input) {
            hearing.judge_original(&mut said.verdict);
        }
        if let Some(unread) = context.decode_problem {
            hearing.mark_unreadable(&unread.why, &mut said.verdict);
        }
    }
    if handlers.is_enabled(BuiltinHandler::Context) && context.event.name == EventName::SessionStart {
        add_context_files(context, &mut said.verdict);
    }
    if handlers.is_enabled(BuiltinHandler::Comms) && context.event.name == EventName::PreToolUse {
        let input = context.event.tool.as_ref().and_then(|tool| tool.input.as_ref());
        judge_message(context, input.unwrap_or(&Value::Null), &mut said.verdict);
    }
    if handlers.is_enabled(BuiltinHandler::Remind)
        && let Some(inquiry) = remind::build_snapshot_query(context)
    {
        let facts = recorder.load_session_snapshot(&inquiry);
        said.reminder = remind::build_reminder(context, facts.as_ref());
    }
    said
}

fn start_guard_run<'a>(context: &HandlerContext<'a>) -> Option<GuardRun<'a>> {
    let is_on = context.settings.handlers.is_enabled(BuiltinHandler::Guard);
    let hearing = || GuardRun::for_event(context.event, context.settings, context.project, context.expiry_time());
    let agent_pid = context.sender.process.map(|process| process.pid);
    is_on.then(hearing).flatten().map(|hearing| hearing.with_agent_process(agent_pid))
}

/// The contacts file, where the user names none: beside their own `snell.toml`.
const CONTACTS_FILE: &str = "contacts.toml";

fn add_context_files(occasion: &HandlerContext<'_>, verdict: &mut Verdict) {
    let event_path = occasion.event.raw.get("project_path").and_then(|path| path.as_str());
    let home = ConfigArgs::new(None, None).home_dir();
    let guard = OnceCell::new();
    let forbidden = |path: &Path| {
        let guard = guard
            .get_or_init(|| ProjectGuard::from_settings(occasion.settings, occasion.project, occasion.expiry_time()));
        guard.find_rule_against_reading(path)
    };
    let request = context::ContextRequest {
        project: occasion.project,
        role: occasion.sender.role.as_deref(),
        project_path: occasion.launcher_project_path.or(event_path),
        home: home.as_deref(),
        settings: &occasion.settings.context,
        messages: &occasion.settings.messages,
    };
    let loaded = context::load_context(&request, &forbidden);
    loaded.faults.iter().for_each(output::print_warning);
    loaded.text.into_iter().for_each(|text| verdict.add_context(text));
}

/// Asks again those who judge a tool's input, because a hook has changed it.
pub(crate) fn rerun_on_changed_input(
    context: &HandlerContext<'_>,
    guard_run: Option<&mut GuardRun<'_>>,
    verdict: &mut Verdict,
) {
    if let Some(hearing) = guard_run {
        hearing.rejudge_if_changed(verdict);
    }
    if let Some(input) = verdict.tool_input.clone()
        && context.settings.handlers.is_enabled(BuiltinHandler::Comms)
        && context.event.name == EventName::PreToolUse
    {
        judge_message(context, &input, verdict);
    }
}

fn judge_message(context: &HandlerContext<'_>, input: &Value, verdict: &mut Verdict) {
    let Some(tool) = context.event.tool_name() else {
        return;
    };
    let contacts =
        ConfigArgs::for_guest(context.project.to_owned()).config_dir().map(|directory| directory.join(CONTACTS_FILE));
    let call = messaging::MessageCall { tool, input, mode: &context.session_mode() };
    let objection = messaging::judge_call(&call, &context.settings.comms, contacts.as_deref());
    match objection.map(|objection| (objection.decision, objection.reason)) {
        Some((Decision::Deny, reason)) => verdict.deny(reason),
        Some((_, reason)) => verdict.ask(reason),
        None => {}
    }
}
