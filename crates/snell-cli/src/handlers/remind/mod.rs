//! What an agent is reminded of: how full its context is, that it should say what it is working on, that it should give
//! a sign of itself before it ends, and which of its workers have finished.
//!
//! Nothing here looks anywhere: what is known of the session is asked for beforehand, and what the agent was told is
//! recorded afterwards, so that it is told once.

mod level;
mod wake_up;

use jiff::SignedDuration;
use snell::{EventName, Message};
use snell_store::{Facts, Inquiry, Reminded};

use super::{Mode, Occasion};
use level::Step;

/// What an agent is told with a prompt when a threshold is crossed, the lowest first. There is no message for the last two.
const WITH_PROMPT: [Message; 2] = [Message::PromptNotice, Message::PromptWarning];
/// The same when it stops.
const AT_STOP: [Message; 4] = [Message::MemoryCheck, Message::Reset, Message::Urgent, Message::Critical];

/// What the agent is told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reminder {
    pub(crate) texts: Vec<String>,
    /// The same, for the record.
    pub(crate) reminded: Reminded,
}

/// What must be known of the session; nothing if there is nothing to be reminded of.
pub(super) fn inquiry(occasion: &Occasion<'_>) -> Option<Inquiry> {
    let event = occasion.event;
    let counts = match event.name {
        EventName::UserPromptSubmit => true,
        // An agent that goes on because of a hook has been told already.
        EventName::Stop => event.stop_hook_active != Some(true),
        _ => false,
    };
    if !counts {
        return None;
    }
    let launcher = occasion.sender.launcher_session_id.iter();
    Some(Inquiry {
        session_ids: launcher.chain(&event.session_id).cloned().collect(),
        own_session_id: event.session_id.clone(),
        transcript_path: event.transcript_path.clone(),
        context_window: occasion.settings.context_window,
        workers: is_wake_up(occasion),
    })
}

/// What the agent is told, from what is known of its session. Without that, nothing could be told once.
pub(super) fn reminder(occasion: &Occasion<'_>, facts: Option<&Facts>) -> Reminder {
    let mut reminder = Reminder::default();
    let messages = &occasion.settings.messages;
    match (&occasion.event.name, facts) {
        (EventName::UserPromptSubmit, Some(facts)) => {
            add_level(&mut reminder, occasion, facts, &WITH_PROMPT);
            add_status(&mut reminder, occasion, facts);
            if is_wake_up(occasion) {
                add_workers(&mut reminder, occasion, facts);
            }
        }
        // It was woken for this, so it must hear something.
        (EventName::UserPromptSubmit, None) if is_wake_up(occasion) => {
            reminder.texts.extend(messages.say(Message::WorkersUnknown));
        }
        (EventName::Stop, Some(facts)) => {
            add_level(&mut reminder, occasion, facts, &AT_STOP);
            if occasion.mode() == Mode::Background && !facts.pinged && !facts.ping_reminded {
                reminder.texts.extend(messages.say(Message::Ping));
                reminder.reminded.ping = true;
            }
        }
        _ => {}
    }
    reminder
}

/// Whether this prompt is the one by which an agent is woken. Sessions in the background are not.
fn is_wake_up(occasion: &Occasion<'_>) -> bool {
    let prompt = occasion.event.prompt.as_deref().unwrap_or_default();
    occasion.event.name == EventName::UserPromptSubmit
        && occasion.mode() != Mode::Background
        && wake_up::is_trigger(prompt, &occasion.settings.messages.wake_up())
}

fn add_level(reminder: &mut Reminder, occasion: &Occasion<'_>, facts: &Facts, messages: &[Message]) {
    let thresholds = occasion.settings.remind.thresholds(occasion.mode().name());
    let at_stop = occasion.event.name == EventName::Stop;
    let told = if at_stop { facts.stop_level } else { facts.prompt_level };
    let Some(percent) = facts.context_percent else {
        return;
    };
    let level = match level::step(percent, told, &thresholds[..messages.len()]) {
        Step::Stay => return,
        Step::Rise { index, level } => {
            let message = occasion.settings.messages.say_percent(messages[index], level);
            reminder.texts.extend(message);
            level
        }
        Step::Fall { level } => level,
    };
    let slot = if at_stop {
        &mut reminder.reminded.stop_level
    } else {
        &mut reminder.reminded.prompt_level
    };
    *slot = Some(level);
}

fn add_status(reminder: &mut Reminder, occasion: &Occasion<'_>, facts: &Facts) {
    let Some(started_at) = facts.started_at else {
        return;
    };
    let age = occasion.now.duration_since(started_at);
    let is_due = age >= SignedDuration::try_from(occasion.settings.remind.status_after()).unwrap_or(age);
    if is_due && facts.status_text.is_none() && !facts.status_reminded {
        reminder
            .texts
            .extend(occasion.settings.messages.say(Message::SetStatus));
        reminder.reminded.status = true;
    }
}

fn add_workers(reminder: &mut Reminder, occasion: &Occasion<'_>, facts: &Facts) {
    let messages = &occasion.settings.messages;
    if facts.workers.is_empty() {
        reminder.texts.extend(messages.say(Message::NoWorkers));
        return;
    }
    let (list, told) = wake_up::list(&facts.workers);
    let heading = messages.say_count(Message::WorkersDone, told.len());
    let parts: Vec<_> = heading.into_iter().chain([list]).collect();
    reminder.texts.push(parts.join("\n\n"));
    reminder.reminded.workers = told;
}

#[cfg(test)]
mod tests;
