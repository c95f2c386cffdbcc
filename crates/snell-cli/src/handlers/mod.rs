//! The built-in handlers of `snell hook`. They run before the user's hooks.
//!
//! This module passes each handler the values that it needs. If a handler fails, Snell prints a warning and the handler has no
//! opinion, unless it fails closed.

mod context;
mod messaging;
mod remind;
mod session_mode;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde_json::Value;
use snell::{BuiltinHandler, Decision, Event, EventName, HandlerSwitch, SnellSettings, Timestamp, Verdict};
use snell_store::EventSender;

use crate::env::ConfigArgs;
use crate::guard::session::SessionFile;
use crate::guard::{GuardRun, ProjectGuard};
use crate::output;
use crate::record::record_event::HookRecorder;
pub(crate) use context::{ContextTrust, find_project_context_files};
pub(crate) use remind::AgentReminder;
pub(crate) use session_mode::SessionMode;

/// An event and its environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandlerContext<'a> {
    pub(crate) event: &'a Event,
    /// Why part of the event could not be read.
    pub(crate) decode_problem: Option<&'a DecodeProblem>,
    pub(crate) sender: &'a EventSender,
    /// The project directory.
    pub(crate) project: &'a Path,
    /// The project's path from the launcher.
    pub(crate) launcher_project_path: Option<&'a str>,
    pub(crate) settings: &'a SnellSettings,
    /// Whether a session may get files of the project.
    pub(crate) context_trust: ContextTrust,
    pub(crate) now: Timestamp,
    /// The guard's file about the session, if the session is known and the guard uses it.
    pub(crate) session_file: Option<&'a SessionFile>,
}

/// Why an event could not be read completely.
#[derive(Clone, Debug)]
pub(crate) struct DecodeProblem {
    /// A clause without a period.
    pub(crate) why: String,
    /// Whether part of the tool's input was read.
    pub(crate) has_input: bool,
}

impl DecodeProblem {
    /// Part of the event was removed.
    pub(crate) fn truncated(why: String) -> Self {
        Self { why, has_input: true }
    }

    /// Only the event's name and session were read.
    pub(crate) fn unreadable(why: String) -> Self {
        Self { why, has_input: false }
    }
}

impl HandlerContext<'_> {
    /// The time at which allowed commands expire. `SNELL_NOW` cannot turn it back, because an agent's settings could set it.
    fn expiry_time(&self) -> Timestamp {
        self.now.max(Timestamp::now())
    }

    fn session_mode(&self) -> SessionMode {
        SessionMode::from_name(self.sender.mode.as_deref())
    }
}

/// The results of all handlers for an event.
#[derive(Debug)]
pub(crate) struct HandlerOutcome<'a> {
    /// Their combined verdict.
    pub(crate) verdict: Verdict,
    /// Reminders for the agent, if it gets the answer.
    pub(crate) reminder: AgentReminder,
    /// The guard's run, if the guard judges the event.
    pub(crate) guard_run: Option<GuardRun<'a>>,
}

/// Runs every enabled handler.
pub(crate) fn run_handlers<'a>(context: &HandlerContext<'a>, recorder: &mut HookRecorder) -> HandlerOutcome<'a> {
    let handlers = &context.settings.handlers;
    let mut outcome = HandlerOutcome {
        verdict: Verdict::new(context.event.name.clone()),
        reminder: AgentReminder::default(),
        guard_run: start_guard_run(context),
    };
    if let Some(guard_run) = &mut outcome.guard_run {
        if context.decode_problem.is_none_or(|problem| problem.has_input) {
            guard_run.judge_original(&mut outcome.verdict);
        }
        if let Some(problem) = context.decode_problem {
            guard_run.mark_unreadable(&problem.why, &mut outcome.verdict);
        }
    }
    if handlers.is_enabled(BuiltinHandler::Context) && context.event.name == EventName::SessionStart {
        add_context_files(context, &mut outcome.verdict);
    }
    if context.event.name == EventName::PreToolUse && judges_messages(context) {
        let input = context.event.tool.as_ref().and_then(|tool| tool.input.as_ref());
        judge_message(context, input.unwrap_or(&Value::Null), &mut outcome.verdict);
    }
    if let Some(query) = remind::build_snapshot_query(context) {
        let snapshot = recorder.load_session_snapshot(&query);
        outcome.reminder = remind::build_reminder(context, snapshot.as_ref());
    }
    outcome
}

fn start_guard_run<'a>(context: &HandlerContext<'a>) -> Option<GuardRun<'a>> {
    let is_on = context.settings.handlers.is_enabled(BuiltinHandler::Guard);
    let start = || GuardRun::for_event(context.event, context.settings, context.project, context.expiry_time());
    let agent_pid = context.sender.process.map(|process| process.pid);
    is_on
        .then(start)
        .flatten()
        .map(|guard_run| guard_run.with_agent_process(agent_pid).in_session(context.session_file))
}

/// The default contacts file, beside the user's own `snell.toml`.
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
        trust: occasion.context_trust,
    };
    let loaded = context::load_context(&request, &forbidden);
    loaded.faults.into_iter().for_each(output::print_warning);
    loaded.text.into_iter().for_each(|text| verdict.add_context(text));
}

/// Judges the tool's input again after a hook changed it.
pub(crate) fn rerun_on_changed_input(
    context: &HandlerContext<'_>,
    guard_run: Option<&mut GuardRun<'_>>,
    verdict: &mut Verdict,
) {
    if let Some(guard_run) = guard_run {
        guard_run.rejudge_if_changed(verdict);
    }
    if let Some(input) = verdict.tool_input.clone()
        && context.event.name == EventName::PreToolUse
        && judges_messages(context)
    {
        judge_message(context, &input, verdict);
    }
}

/// Whether the rules for messages apply to this call. With a contacts file the user asks for them too, and if the user's settings
/// are unknown, the rules apply as if they were asked for. Only a tool for messages makes Snell look for that file.
fn judges_messages(context: &HandlerContext<'_>) -> bool {
    match context.settings.handlers.switch_of(BuiltinHandler::Comms) {
        HandlerSwitch::Usual | HandlerSwitch::ByUser | HandlerSwitch::ByProject | HandlerSwitch::ByLauncher => true,
        HandlerSwitch::Off => false,
        HandlerSwitch::NotWanted => {
            let tool = context.event.tool_name();
            let is_unknown = context.settings.guard.unreadable_file.is_some();
            tool.is_some_and(|tool| messaging::is_message_tool(tool, &context.settings.comms))
                && (is_unknown || locate_contacts(context).is_none_or(|file| file.exists()))
        }
    }
}

/// The default contacts file.
fn locate_contacts(context: &HandlerContext<'_>) -> Option<PathBuf> {
    Some(ConfigArgs::for_guest(context.project.to_owned()).config_dir()?.join(CONTACTS_FILE))
}

fn judge_message(context: &HandlerContext<'_>, input: &Value, verdict: &mut Verdict) {
    let Some(tool) = context.event.tool_name() else {
        return;
    };
    let contacts = locate_contacts(context);
    let call = messaging::MessageCall { tool, input, mode: &context.session_mode() };
    let objection = messaging::judge_call(&call, &context.settings.comms, contacts.as_deref());
    match objection.map(|objection| (objection.decision, objection.reason)) {
        Some((Decision::Deny, reason)) => verdict.deny(reason),
        Some((_, reason)) => verdict.ask(reason),
        None => {}
    }
}
