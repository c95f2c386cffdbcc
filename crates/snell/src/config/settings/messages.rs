//! `[messages]`: what an agent is told by the built-in handlers, word for word.

use crate::config::node::Node;
use crate::config::reading::Reading;
use crate::contract::{Key, Kind, key};

/// What a message begins with, unless the user says otherwise. `{level}` stands for how grave it is.
const PREFIX: &str = "[CLAUDE OS SYS: {level}]: ";

/// Something that an agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// At the start: what follows are files.
    ContextLoaded,
    /// With a prompt: the first threshold of context use is crossed.
    PromptNotice,
    /// With a prompt: the second is.
    PromptWarning,
    /// With a prompt: the session has no status.
    SetStatus,
    /// When the agent stops: the first threshold of context use is crossed.
    MemoryCheck,
    /// The second is.
    Reset,
    /// The third is.
    Urgent,
    /// The last is.
    Critical,
    /// When an agent in the background stops, and has not given a sign of itself.
    Ping,
    /// The prompt that wakes an agent because its workers have finished.
    WakeUp,
    /// The answer to that: which workers have finished.
    WorkersDone,
    /// The answer to that, when there are none.
    NoWorkers,
    /// The answer to that, when it cannot be known.
    WorkersUnknown,
}

struct Row {
    message: Message,
    level: &'static str,
    text: &'static str,
}

const fn row(message: Message, level: &'static str, text: &'static str) -> Row {
    Row { message, level, text }
}

/// What each message says, unless the user says otherwise. `{percent}` stands for the threshold, `{count}` for how many.
const MESSAGES: &[Row] = &[
    row(Message::ContextLoaded, INFO, texts::CONTEXT_LOADED),
    row(Message::PromptNotice, INFO, texts::PROMPT_NOTICE),
    row(Message::PromptWarning, WARNING, texts::PROMPT_WARNING),
    row(Message::SetStatus, INFO, texts::SET_STATUS),
    row(Message::MemoryCheck, INFO, texts::MEMORY_CHECK),
    row(Message::Reset, WARNING, texts::RESET),
    row(Message::Urgent, WARNING, texts::URGENT),
    row(Message::Critical, WARNING, texts::CRITICAL),
    row(Message::Ping, INFO, texts::PING),
    row(Message::WakeUp, NOTIFICATION, texts::WAKE_UP),
    row(Message::WorkersDone, INFO, texts::WORKERS_DONE),
    row(Message::NoWorkers, INFO, texts::NO_WORKERS),
    row(Message::WorkersUnknown, INFO, texts::WORKERS_UNKNOWN),
];

const INFO: &str = "INFO";
const WARNING: &str = "WARNING";
const NOTIFICATION: &str = "NOTIFICATION";

mod texts {
    pub(super) const CONTEXT_LOADED: &str = "Session context loaded";
    pub(super) const PROMPT_NOTICE: &str = "Context at {percent}% - Consider writing reset notes soon";
    pub(super) const PROMPT_WARNING: &str = "Context at {percent}% - Write reset notes and prepare to transition";
    pub(super) const SET_STATUS: &str = "Consider setting a session status with status(\"what you're working on\")";
    pub(super) const MEMORY_CHECK: &str = "Memory check ({percent}% context used)";
    pub(super) const RESET: &str = "Context at {percent}%";
    pub(super) const URGENT: &str = "Context at {percent}% - URGENT";
    pub(super) const CRITICAL: &str = "Context at {percent}% - CRITICAL";
    pub(super) const PING: &str = "Reminder - Ping before ending";
    pub(super) const WAKE_UP: &str = "Workers complete";
    pub(super) const WORKERS_DONE: &str = "Workers finished: {count}";
    pub(super) const NO_WORKERS: &str = "No worker has finished since the last report";
    pub(super) const WORKERS_UNKNOWN: &str = "Which workers have finished cannot be looked up now";
}

/// The keys of `[messages]`, in the order of [`MESSAGES`] after the prefix.
pub(crate) const MESSAGE_KEYS: &[Key] = &[
    key(
        "prefix",
        Kind::Words(PREFIX),
        "What every message begins with. {level} becomes INFO, WARNING or NOTIFICATION.",
    ),
    key(
        "context_loaded",
        Kind::Words(texts::CONTEXT_LOADED),
        "At the start, before the files.",
    ),
    key(
        "prompt_notice",
        Kind::Words(texts::PROMPT_NOTICE),
        "With a prompt, when the first threshold of context use is crossed. {percent} is the threshold.",
    ),
    key(
        "prompt_warning",
        Kind::Words(texts::PROMPT_WARNING),
        "With a prompt, when the second is crossed.",
    ),
    key(
        "set_status",
        Kind::Words(texts::SET_STATUS),
        "With a prompt, when the session has no status.",
    ),
    key(
        "memory_check",
        Kind::Words(texts::MEMORY_CHECK),
        "When the agent stops and the first threshold is crossed.",
    ),
    key(
        "reset",
        Kind::Words(texts::RESET),
        "When the agent stops and the second threshold is crossed.",
    ),
    key(
        "urgent",
        Kind::Words(texts::URGENT),
        "When the agent stops and the third threshold is crossed.",
    ),
    key(
        "critical",
        Kind::Words(texts::CRITICAL),
        "When the agent stops and the last threshold is crossed.",
    ),
    key(
        "ping",
        Kind::Words(texts::PING),
        "When an agent in the background stops and has not given a sign of itself.",
    ),
    key(
        "wake_up",
        Kind::Text,
        "The prompt that wakes an agent because its workers have finished. Default: \"Workers complete\".",
    ),
    key(
        "workers_done",
        Kind::Words(texts::WORKERS_DONE),
        "The answer to that, before the list of workers. {count} is how many there are.",
    ),
    key(
        "no_workers",
        Kind::Words(texts::NO_WORKERS),
        "The answer to that, when no worker has finished.",
    ),
    key(
        "workers_unknown",
        Kind::Words(texts::WORKERS_UNKNOWN),
        "The answer to that, when it cannot be known.",
    ),
];

/// What agents are told. Only what the user changed is held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    changed: Vec<(&'static str, String)>,
}

impl Messages {
    /// The whole message; nothing if the user has switched it off by leaving it empty.
    pub fn say(&self, message: Message) -> Option<String> {
        self.with(message, "", 0)
    }

    /// The same, with the percentage it is about.
    pub fn say_percent(&self, message: Message, percent: u8) -> Option<String> {
        self.with(message, "{percent}", percent.into())
    }

    /// The same, with how many there are.
    pub fn say_count(&self, message: Message, count: usize) -> Option<String> {
        self.with(message, "{count}", count)
    }

    /// The prompt that wakes an agent because its workers have finished.
    pub fn wake_up(&self) -> String {
        self.say(Message::WakeUp).unwrap_or_default()
    }

    /// What a line begins with that Snell itself says, as it is meant to be and as the user has it: up to the level, or with
    /// each of them if nothing stands before it.
    pub fn beginnings(&self) -> Vec<String> {
        let mut beginnings = Vec::new();
        for prefix in [PREFIX, self.text(MESSAGE_KEYS[0].name, PREFIX)] {
            let (before, _) = prefix.split_once("{level}").unwrap_or((prefix, ""));
            if before.trim().is_empty() {
                let levels = [INFO, WARNING, NOTIFICATION];
                beginnings.extend(levels.map(|level| prefix.replace("{level}", level)));
            } else {
                beginnings.push(before.to_owned());
            }
        }
        beginnings.retain(|beginning| !beginning.trim().is_empty());
        beginnings.dedup();
        beginnings
    }

    fn with(&self, message: Message, placeholder: &str, number: usize) -> Option<String> {
        let at = MESSAGES.iter().position(|row| row.message == message)?;
        let row = &MESSAGES[at];
        let text = self.text(MESSAGE_KEYS[at + 1].name, row.text);
        if text.is_empty() {
            return None;
        }
        let prefix = self.text(MESSAGE_KEYS[0].name, PREFIX).replace("{level}", row.level);
        if placeholder.is_empty() {
            return Some(format!("{prefix}{text}"));
        }
        Some(format!("{prefix}{}", text.replace(placeholder, &number.to_string())))
    }

    fn text<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        let changed = self.changed.iter().find(|(changed, _)| *changed == key);
        changed.map_or(default, |(_, text)| text)
    }

    /// These, and those of an earlier file where these say nothing.
    pub(super) fn over(mut self, earlier: Self) -> Self {
        for (key, text) in earlier.changed {
            if self.changed.iter().all(|(changed, _)| *changed != key) {
                self.changed.push((key, text));
            }
        }
        self
    }
}

pub(super) fn read(reading: &mut Reading<'_>, node: &Node) -> Messages {
    let Some(fields) = reading.object(node, "[messages]") else {
        return Messages::default();
    };
    let known: Vec<_> = MESSAGE_KEYS.iter().map(|key| key.name).collect();
    reading.unknown_keys(&fields, &known, "[messages]");
    let mut messages = Messages::default();
    for key in MESSAGE_KEYS {
        let Some(node) = fields.get(key.name) else {
            continue;
        };
        let Some(text) = reading.as_text(node, key.name) else {
            continue;
        };
        if matches!(key.kind, Kind::Text) && text.trim().is_empty() {
            let message = format!(
                "\"{}\" must not be empty: every prompt would be one; write \"{}\" (which counts now)",
                key.name,
                texts::WAKE_UP
            );
            reading.error(node.at, message);
            continue;
        }
        messages.changed.push((key.name, text));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_has_a_key_in_the_same_place() {
        assert_eq!(MESSAGE_KEYS.len(), MESSAGES.len() + 1);
        for (row, key) in MESSAGES.iter().zip(&MESSAGE_KEYS[1..]) {
            let default = match key.kind {
                Kind::Words(default) => default,
                _ => texts::WAKE_UP,
            };
            assert_eq!(default, row.text, "{}", key.name);
        }
    }

    #[test]
    fn messages_are_those_of_the_document() {
        let messages = Messages::default();
        let cases = [
            (
                messages.say(Message::ContextLoaded),
                "[CLAUDE OS SYS: INFO]: Session context loaded",
            ),
            (
                messages.say_percent(Message::PromptNotice, 60),
                "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon",
            ),
            (
                messages.say_percent(Message::PromptWarning, 80),
                "[CLAUDE OS SYS: WARNING]: Context at 80% - Write reset notes and prepare to transition",
            ),
            (
                messages.say(Message::SetStatus),
                "[CLAUDE OS SYS: INFO]: Consider setting a session status with status(\"what you're working on\")",
            ),
            (
                messages.say_percent(Message::MemoryCheck, 60),
                "[CLAUDE OS SYS: INFO]: Memory check (60% context used)",
            ),
            (
                messages.say_percent(Message::Reset, 80),
                "[CLAUDE OS SYS: WARNING]: Context at 80%",
            ),
            (
                messages.say_percent(Message::Urgent, 90),
                "[CLAUDE OS SYS: WARNING]: Context at 90% - URGENT",
            ),
            (
                messages.say_percent(Message::Critical, 95),
                "[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL",
            ),
            (
                messages.say(Message::Ping),
                "[CLAUDE OS SYS: INFO]: Reminder - Ping before ending",
            ),
            (
                Some(messages.wake_up()),
                "[CLAUDE OS SYS: NOTIFICATION]: Workers complete",
            ),
        ];
        for (said, expected) in cases {
            assert_eq!(said.as_deref(), Some(expected));
        }
    }

    #[test]
    fn an_empty_text_switches_its_message_off() {
        let messages = Messages {
            changed: vec![("ping", String::new()), ("prefix", "{level} ".into())],
        };
        assert_eq!(messages.say(Message::Ping), None);
        assert_eq!(messages.wake_up(), "NOTIFICATION Workers complete");
    }
}
