//! `[messages]`: what an agent is told by the built-in handlers, word for word.

use crate::config::reader::ConfigReader;
use crate::config::spanned::SpannedNode;
use crate::contract::{ConfigKey, ConfigValueKind, config_key};

/// What a message begins with, unless the user says otherwise. `{level}` stands for how grave it is.
const PREFIX: &str = "[CLAUDE OS SYS: {level}]: ";

/// Something that an agent is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentMessage {
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

struct MessageRow {
    message: AgentMessage,
    level: &'static str,
    text: &'static str,
}

const fn message_row(message: AgentMessage, level: &'static str, text: &'static str) -> MessageRow {
    MessageRow { message, level, text }
}

/// What each message says, unless the user says otherwise. `{percent}` stands for the threshold, `{count}` for how many.
const MESSAGES: &[MessageRow] = &[
    message_row(AgentMessage::ContextLoaded, INFO, texts::CONTEXT_LOADED),
    message_row(AgentMessage::PromptNotice, INFO, texts::PROMPT_NOTICE),
    message_row(AgentMessage::PromptWarning, WARNING, texts::PROMPT_WARNING),
    message_row(AgentMessage::SetStatus, INFO, texts::SET_STATUS),
    message_row(AgentMessage::MemoryCheck, INFO, texts::MEMORY_CHECK),
    message_row(AgentMessage::Reset, WARNING, texts::RESET),
    message_row(AgentMessage::Urgent, WARNING, texts::URGENT),
    message_row(AgentMessage::Critical, WARNING, texts::CRITICAL),
    message_row(AgentMessage::Ping, INFO, texts::PING),
    message_row(AgentMessage::WakeUp, NOTIFICATION, texts::WAKE_UP),
    message_row(AgentMessage::WorkersDone, INFO, texts::WORKERS_DONE),
    message_row(AgentMessage::NoWorkers, INFO, texts::NO_WORKERS),
    message_row(AgentMessage::WorkersUnknown, INFO, texts::WORKERS_UNKNOWN),
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
pub(crate) const MESSAGE_KEYS: &[ConfigKey] = &[
    config_key(
        "prefix",
        ConfigValueKind::Words(PREFIX),
        "What every message begins with. {level} becomes INFO, WARNING or NOTIFICATION.",
    ),
    config_key("context_loaded", ConfigValueKind::Words(texts::CONTEXT_LOADED), "At the start, before the files."),
    config_key(
        "prompt_notice",
        ConfigValueKind::Words(texts::PROMPT_NOTICE),
        "With a prompt, when the first threshold of context use is crossed. {percent} is the threshold.",
    ),
    config_key(
        "prompt_warning",
        ConfigValueKind::Words(texts::PROMPT_WARNING),
        "With a prompt, when the second is crossed.",
    ),
    config_key(
        "set_status",
        ConfigValueKind::Words(texts::SET_STATUS),
        "With a prompt, when the session has no status.",
    ),
    config_key(
        "memory_check",
        ConfigValueKind::Words(texts::MEMORY_CHECK),
        "When the agent stops and the first threshold is crossed.",
    ),
    config_key(
        "reset",
        ConfigValueKind::Words(texts::RESET),
        "When the agent stops and the second threshold is crossed.",
    ),
    config_key(
        "urgent",
        ConfigValueKind::Words(texts::URGENT),
        "When the agent stops and the third threshold is crossed.",
    ),
    config_key(
        "critical",
        ConfigValueKind::Words(texts::CRITICAL),
        "When the agent stops and the last threshold is crossed.",
    ),
    config_key(
        "ping",
        ConfigValueKind::Words(texts::PING),
        "When an agent in the background stops and has not given a sign of itself.",
    ),
    config_key(
        "wake_up",
        ConfigValueKind::Text,
        "The prompt that wakes an agent because its workers have finished. Default: \"Workers complete\".",
    ),
    config_key(
        "workers_done",
        ConfigValueKind::Words(texts::WORKERS_DONE),
        "The answer to that, before the list of workers. {count} is how many there are.",
    ),
    config_key(
        "no_workers",
        ConfigValueKind::Words(texts::NO_WORKERS),
        "The answer to that, when no worker has finished.",
    ),
    config_key(
        "workers_unknown",
        ConfigValueKind::Words(texts::WORKERS_UNKNOWN),
        "The answer to that, when it cannot be known.",
    ),
];

/// What agents are told. Only what the user changed is held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageTemplates {
    changed: Vec<(&'static str, String)>,
}

impl MessageTemplates {
    /// The whole message; nothing if the user has switched it off by leaving it empty.
    pub fn render_message(&self, message: AgentMessage) -> Option<String> {
        self.render_with(message, "", 0)
    }

    /// The same, with the percentage it is about.
    pub fn render_percent(&self, message: AgentMessage, percent: u8) -> Option<String> {
        self.render_with(message, "{percent}", percent.into())
    }

    /// The same, with how many there are.
    pub fn render_count(&self, message: AgentMessage, count: usize) -> Option<String> {
        self.render_with(message, "{count}", count)
    }

    /// The prompt that wakes an agent because its workers have finished.
    pub fn wake_up_prompt(&self) -> String {
        self.render_message(AgentMessage::WakeUp).unwrap_or_default()
    }

    /// What a line begins with that Snell itself says, as it is meant to be and as the user has it: up to the level, or with
    /// each of them if nothing stands before it.
    pub fn line_prefixes(&self) -> Vec<String> {
        let mut beginnings = Vec::new();
        for prefix in [PREFIX, self.template_text(MESSAGE_KEYS[0].name, PREFIX)] {
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

    fn render_with(&self, message: AgentMessage, placeholder: &str, number: usize) -> Option<String> {
        let at = MESSAGES.iter().position(|row| row.message == message)?;
        let row = &MESSAGES[at];
        let text = self.template_text(MESSAGE_KEYS[at + 1].name, row.text);
        if text.is_empty() {
            return None;
        }
        let prefix = self.template_text(MESSAGE_KEYS[0].name, PREFIX).replace("{level}", row.level);
        if placeholder.is_empty() {
            return Some(format!("{prefix}{text}"));
        }
        Some(format!("{prefix}{}", text.replace(placeholder, &number.to_string())))
    }

    fn template_text<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        let changed = self.changed.iter().find(|(changed, _)| *changed == key);
        changed.map_or(default, |(_, text)| text)
    }

    /// These, and those of an earlier file where these say nothing.
    pub(super) fn merge_over(mut self, earlier: Self) -> Self {
        for (key, text) in earlier.changed {
            if self.changed.iter().all(|(changed, _)| *changed != key) {
                self.changed.push((key, text));
            }
        }
        self
    }
}

pub(super) fn read_messages(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> MessageTemplates {
    let Some(fields) = reader.read_object(node, "[messages]") else {
        return MessageTemplates::default();
    };
    let known: Vec<_> = MESSAGE_KEYS.iter().map(|key| key.name).collect();
    reader.warn_of_unknown_keys(&fields, &known, "[messages]");
    let mut messages = MessageTemplates::default();
    for key in MESSAGE_KEYS {
        let Some(node) = fields.get(key.name) else {
            continue;
        };
        let Some(text) = reader.expect_text(node, key.name) else {
            continue;
        };
        if matches!(key.kind, ConfigValueKind::Text) && text.trim().is_empty() {
            let message = format!(
                "\"{}\" must not be empty: every prompt would be one; write \"{}\" (which counts now)",
                key.name,
                texts::WAKE_UP
            );
            reader.add_error(node.offset, message);
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
                ConfigValueKind::Words(default) => default,
                _ => texts::WAKE_UP,
            };
            assert_eq!(default, row.text, "{}", key.name);
        }
    }

    #[test]
    fn messages_are_those_of_the_document() {
        let messages = MessageTemplates::default();
        let cases = [
            (messages.render_message(AgentMessage::ContextLoaded), "[CLAUDE OS SYS: INFO]: Session context loaded"),
            (
                messages.render_percent(AgentMessage::PromptNotice, 60),
                "[CLAUDE OS SYS: INFO]: Context at 60% - Consider writing reset notes soon",
            ),
            (
                messages.render_percent(AgentMessage::PromptWarning, 80),
                "[CLAUDE OS SYS: WARNING]: Context at 80% - Write reset notes and prepare to transition",
            ),
            (
                messages.render_message(AgentMessage::SetStatus),
                "[CLAUDE OS SYS: INFO]: Consider setting a session status with status(\"what you're working on\")",
            ),
            (
                messages.render_percent(AgentMessage::MemoryCheck, 60),
                "[CLAUDE OS SYS: INFO]: Memory check (60% context used)",
            ),
            (messages.render_percent(AgentMessage::Reset, 80), "[CLAUDE OS SYS: WARNING]: Context at 80%"),
            (messages.render_percent(AgentMessage::Urgent, 90), "[CLAUDE OS SYS: WARNING]: Context at 90% - URGENT"),
            (
                messages.render_percent(AgentMessage::Critical, 95),
                "[CLAUDE OS SYS: WARNING]: Context at 95% - CRITICAL",
            ),
            (messages.render_message(AgentMessage::Ping), "[CLAUDE OS SYS: INFO]: Reminder - Ping before ending"),
            (Some(messages.wake_up_prompt()), "[CLAUDE OS SYS: NOTIFICATION]: Workers complete"),
        ];
        for (said, expected) in cases {
            assert_eq!(said.as_deref(), Some(expected));
        }
    }

    #[test]
    fn an_empty_text_switches_its_message_off() {
        let messages = MessageTemplates { changed: vec![("ping", String::new()), ("prefix", "{level} ".into())] };
        assert_eq!(messages.render_message(AgentMessage::Ping), None);
        assert_eq!(messages.wake_up_prompt(), "NOTIFICATION Workers complete");
    }
}
