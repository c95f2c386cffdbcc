//! Reminders for an agent: its context fills up, its status is missing, it should ping before it ends, or its workers have
//! finished.
//!
//! These functions are pure: the caller reads the session's state before, and records each reminder after, so that the agent
//! gets it once.

mod context_threshold;
mod wake_up;

use jiff::SignedDuration;
use snell::{AgentMessage, BuiltinHandler, EventName, HandlerSwitch};
use snell_store::{ReminderRecord, SessionSnapshot, SnapshotQuery};

use super::{HandlerContext, SessionMode};
use context_threshold::ThresholdStep;

/// Messages with a prompt, one for each threshold, the lowest first. There is none for the last two.
const PROMPT_MESSAGES: [AgentMessage; 2] = [AgentMessage::PromptNotice, AgentMessage::PromptWarning];
/// Messages at a stop, one for each threshold.
const STOP_MESSAGES: [AgentMessage; 4] =
    [AgentMessage::MemoryCheck, AgentMessage::Reset, AgentMessage::Urgent, AgentMessage::Critical];

/// Reminders for one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentReminder {
    pub(crate) texts: Vec<String>,
    /// The same, for the record.
    pub(crate) record: ReminderRecord,
}

/// Which reminders an agent gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReminderScope {
    All,
    /// Only the answer to a wake-up, which a command typed because a person or a program asked for it.
    WakeUps,
    Nothing,
}

impl ReminderScope {
    fn from_context(context: &HandlerContext<'_>) -> Self {
        match context.settings.handlers.switch_of(BuiltinHandler::Remind) {
            HandlerSwitch::Usual | HandlerSwitch::ByUser | HandlerSwitch::ByProject | HandlerSwitch::ByLauncher => {
                Self::All
            }
            HandlerSwitch::NotWanted => Self::WakeUps,
            HandlerSwitch::Off => Self::Nothing,
        }
    }
}

/// The query for the session's state; nothing if this event has no reminders.
pub(super) fn build_snapshot_query(context: &HandlerContext<'_>) -> Option<SnapshotQuery> {
    let event = context.event;
    let counts = match event.name {
        _ if ReminderScope::from_context(context) == ReminderScope::Nothing => false,
        _ if ReminderScope::from_context(context) == ReminderScope::WakeUps => is_wake_up_prompt(context),
        EventName::UserPromptSubmit => true,
        // An agent that goes on because of a hook has had its reminders.
        EventName::Stop => event.stop_hook_active != Some(true),
        _ => false,
    };
    if !counts {
        return None;
    }
    let launcher = context.sender.launcher_session_id.iter();
    Some(SnapshotQuery {
        session_ids: launcher.chain(&event.session_id).cloned().collect(),
        own_session_id: event.session_id.clone(),
        transcript_path: event.transcript_path.clone(),
        context_window: context.settings.context_window,
        workers: is_wake_up_prompt(context),
    })
}

/// The reminders for this event. Without the session's state there are none, because they would repeat.
pub(super) fn build_reminder(context: &HandlerContext<'_>, snapshot: Option<&SessionSnapshot>) -> AgentReminder {
    let mut reminder = AgentReminder::default();
    let messages = &context.settings.messages;
    match (&context.event.name, snapshot) {
        (EventName::UserPromptSubmit, Some(facts)) => {
            if ReminderScope::from_context(context) == ReminderScope::All {
                add_context_level(&mut reminder, context, facts, &PROMPT_MESSAGES);
                add_status_request(&mut reminder, context, facts);
            }
            if is_wake_up_prompt(context) {
                add_finished_workers(&mut reminder, context, facts);
            }
        }
        // The agent was woken up for this, so it needs an answer.
        (EventName::UserPromptSubmit, None) if is_wake_up_prompt(context) => {
            reminder.texts.extend(messages.render_message(AgentMessage::WorkersUnknown));
        }
        (EventName::Stop, Some(facts)) => {
            add_context_level(&mut reminder, context, facts, &STOP_MESSAGES);
            if context.session_mode() == SessionMode::Background && !facts.pinged && !facts.ping_reminded {
                reminder.texts.extend(messages.render_message(AgentMessage::Ping));
                reminder.record.ping = true;
            }
        }
        _ => {}
    }
    reminder
}

/// Whether this prompt is the wake-up prompt. Background sessions are never woken up.
fn is_wake_up_prompt(context: &HandlerContext<'_>) -> bool {
    let prompt = context.event.prompt.as_deref().unwrap_or_default();
    context.event.name == EventName::UserPromptSubmit
        && context.session_mode() != SessionMode::Background
        && context.settings.messages.wake_up_prompts().iter().any(|line| wake_up::is_wake_up_trigger(prompt, line))
}

fn add_context_level(
    reminder: &mut AgentReminder,
    context: &HandlerContext<'_>,
    snapshot: &SessionSnapshot,
    messages: &[AgentMessage],
) {
    let thresholds = context.settings.remind.thresholds(context.session_mode().name());
    let at_stop = context.event.name == EventName::Stop;
    let told = if at_stop { snapshot.stop_level } else { snapshot.prompt_level };
    let Some(percent) = snapshot.context_percent else {
        return;
    };
    let level = match context_threshold::next_threshold_step(percent, told, &thresholds[..messages.len()]) {
        ThresholdStep::Stay => return,
        ThresholdStep::Rise { index, level } => {
            let message = context.settings.messages.render_percent(messages[index], level);
            reminder.texts.extend(message);
            level
        }
        ThresholdStep::Fall { level } => level,
    };
    let slot = if at_stop { &mut reminder.record.stop_level } else { &mut reminder.record.prompt_level };
    *slot = Some(level);
}

fn add_status_request(reminder: &mut AgentReminder, context: &HandlerContext<'_>, snapshot: &SessionSnapshot) {
    let Some(started_at) = snapshot.started_at else {
        return;
    };
    let age = context.now.duration_since(started_at);
    let is_due = age >= SignedDuration::try_from(context.settings.remind.status_after()).unwrap_or(age);
    if is_due && snapshot.status_text.is_none() && !snapshot.status_reminded {
        reminder.texts.extend(context.settings.messages.render_message(AgentMessage::SetStatus));
        reminder.record.status = true;
    }
}

fn add_finished_workers(reminder: &mut AgentReminder, context: &HandlerContext<'_>, snapshot: &SessionSnapshot) {
    let messages = &context.settings.messages;
    if snapshot.workers.is_empty() {
        reminder.texts.extend(messages.render_message(AgentMessage::NoWorkers));
        return;
    }
    let (list, told) = wake_up::format_worker_list(&snapshot.workers);
    let heading = messages.render_count(AgentMessage::WorkersDone, told.len());
    let parts: Vec<_> = heading.into_iter().chain([list]).collect();
    reminder.texts.push(parts.join("\n\n"));
    reminder.record.workers = told;
}

#[cfg(test)]
mod tests;
