//! What is built into `snell hook`, and speaks before its user's hooks do.
//!
//! Each handler decides on its own, and what it needs is asked for here. Whatever goes wrong with one of them is told on
//! standard error and is no opinion, except where a handler says itself that it fails closed.

mod comms;
mod context;
mod mode;
mod remind;

use std::cell::OnceCell;
use std::path::Path;

use serde_json::Value;
use snell::{Decision, Event, EventName, Handler, Settings, Timestamp, Verdict};
use snell_store::Sender;

use crate::around::{Around, variable};
use crate::guard::{Guard, Hearing};
use crate::output;
use crate::recording::Recording;
pub(crate) use mode::Mode;
pub(crate) use remind::Reminder;

/// An event, and what surrounds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Occasion<'a> {
    pub(crate) event: &'a Event,
    /// What could not be read of it, if anything.
    pub(crate) unread: Option<&'a Unread>,
    pub(crate) sender: &'a Sender,
    /// The directory that the agent has for its project.
    pub(crate) project: &'a Path,
    pub(crate) settings: &'a Settings,
    pub(crate) now: Timestamp,
}

/// Why an event could not be read as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Unread {
    /// As a sentence without its end.
    pub(crate) why: String,
    /// Whether there is something of what a tool is given.
    pub(crate) has_input: bool,
}

impl Unread {
    /// Something of it was left out.
    pub(crate) fn partly(why: String) -> Self {
        Self { why, has_input: true }
    }

    /// There is nothing of it but what happens, and to whom.
    pub(crate) fn wholly(why: String) -> Self {
        Self { why, has_input: false }
    }
}

impl Occasion<'_> {
    /// The time by which allowed commands expire. `SNELL_NOW` does not turn it back: an agent's settings could set that.
    fn expiry_time(&self) -> Timestamp {
        self.now.max(Timestamp::now())
    }

    fn mode(&self) -> Mode {
        Mode::of(self.sender.mode.as_deref())
    }
}

/// What the handlers have to say about an event.
#[derive(Debug)]
pub(crate) struct Said<'a> {
    /// What they decided.
    pub(crate) verdict: Verdict,
    /// What the agent is told about itself, if it hears it.
    pub(crate) reminder: Reminder,
    /// What the guard has to do with it, if anything.
    pub(crate) hearing: Option<Hearing<'a>>,
}

/// Asks every handler that is switched on.
pub(crate) fn ask<'a>(occasion: &Occasion<'a>, recording: &mut Recording) -> Said<'a> {
    let handlers = &occasion.settings.handlers;
    let mut said = Said {
        verdict: Verdict::new(occasion.event.name.clone()),
        reminder: Reminder::default(),
        hearing: hearing(occasion),
    };
    if let Some(hearing) = &mut said.hearing {
        if occasion.unread.is_none_or(|unread| unread.has_input) {
            hearing.hear(&mut said.verdict);
        }
        if let Some(unread) = occasion.unread {
            hearing.is_unread(&unread.why, &mut said.verdict);
        }
    }
    if handlers.is_on(Handler::Context) && occasion.event.name == EventName::SessionStart {
        load_files(occasion, &mut said.verdict);
    }
    if handlers.is_on(Handler::Comms) && occasion.event.name == EventName::PreToolUse {
        let input = occasion.event.tool.as_ref().and_then(|tool| tool.input.as_ref());
        judge_message(occasion, input.unwrap_or(&Value::Null), &mut said.verdict);
    }
    if handlers.is_on(Handler::Remind)
        && let Some(inquiry) = remind::inquiry(occasion)
    {
        let facts = recording.facts(&inquiry);
        said.reminder = remind::reminder(occasion, facts.as_ref());
    }
    said
}

fn hearing<'a>(occasion: &Occasion<'a>) -> Option<Hearing<'a>> {
    let is_on = occasion.settings.handlers.is_on(Handler::Guard);
    let hearing = || {
        Hearing::of(
            occasion.event,
            occasion.settings,
            occasion.project,
            occasion.expiry_time(),
        )
    };
    let agent_pid = occasion.sender.process.map(|process| process.pid);
    is_on
        .then(hearing)
        .flatten()
        .map(|hearing| hearing.with_agent_process(agent_pid))
}

/// Variables that launchers set.
const PROJECT_PATH: &str = "PROJECT_PATH";

/// The contacts file, where the user names none: beside their own `snell.toml`.
const CONTACTS: &str = "contacts.toml";

fn load_files(occasion: &Occasion<'_>, verdict: &mut Verdict) {
    let told = occasion.event.raw.get("project_path").and_then(|path| path.as_str());
    let project_path = variable(PROJECT_PATH).or_else(|| told.map(str::to_owned));
    let home = Around::of(None, None).home();
    let guard = OnceCell::new();
    let forbidden = |path: &Path| {
        let guard = guard.get_or_init(|| Guard::of(occasion.settings, occasion.project, occasion.expiry_time()));
        guard.forbids_reading(path)
    };
    let request = context::Request {
        project: occasion.project,
        role: occasion.sender.role.as_deref(),
        project_path: project_path.as_deref(),
        home: home.as_deref(),
        settings: &occasion.settings.context,
        messages: &occasion.settings.messages,
    };
    let loaded = context::load(&request, &forbidden);
    loaded.faults.iter().for_each(|fault| output::note(fault));
    loaded.text.into_iter().for_each(|text| verdict.add_context(text));
}

/// Asks again those who judge a tool's input, because a hook has changed it.
pub(crate) fn ask_again(occasion: &Occasion<'_>, hearing: Option<&mut Hearing<'_>>, verdict: &mut Verdict) {
    if let Some(hearing) = hearing {
        hearing.hear_again(verdict);
    }
    if let Some(input) = verdict.tool_input.clone()
        && occasion.settings.handlers.is_on(Handler::Comms)
        && occasion.event.name == EventName::PreToolUse
    {
        judge_message(occasion, &input, verdict);
    }
}

fn judge_message(occasion: &Occasion<'_>, input: &Value, verdict: &mut Verdict) {
    let Some(tool) = occasion.event.tool_name() else {
        return;
    };
    let contacts = Around::of_guest(occasion.project.to_owned())
        .config_dir()
        .map(|directory| directory.join(CONTACTS));
    let call = comms::Call {
        tool,
        input,
        mode: &occasion.mode(),
    };
    let objection = comms::judge(&call, &occasion.settings.comms, contacts.as_deref());
    match objection.map(|objection| (objection.decision, objection.reason)) {
        Some((Decision::Deny, reason)) => verdict.deny(reason),
        Some((_, reason)) => verdict.ask(reason),
        None => {}
    }
}
