//! `[messages]`: the texts that the built-in handlers send to an agent.

use crate::config::reader::ConfigReader;
use crate::config::spanned::SpannedNode;
use crate::diagnostic::UserMessage;

/// The default start of a message. `{level}` stands for its severity.
const PREFIX: &str = "[CLAUDE OS SYS: {level}]: ";

/// A message to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AgentMessage {
    /// At the start of a session: files follow.
    ContextLoaded,
    /// With a prompt: the first threshold of context use is crossed.
    PromptNotice,
    /// With a prompt: the second one is crossed.
    PromptWarning,
    /// With a prompt: the session has no status.
    SetStatus,
    /// When the agent stops: the first threshold of context use is crossed.
    MemoryCheck,
    /// When the agent stops: the second one is crossed.
    Reset,
    /// When the agent stops: the third one is crossed.
    Urgent,
    /// When the agent stops: the last one is crossed.
    Critical,
    /// When a background agent stops without a ping.
    Ping,
    /// The prompt that wakes an agent because its workers have finished.
    WakeUp,
    /// The answer to that prompt: which workers have finished.
    WorkersDone,
    /// The answer to that prompt if no worker has finished.
    NoWorkers,
    /// The answer to that prompt if the workers are unknown.
    WorkersUnknown,
}

struct MessageRow {
    message: AgentMessage,
    key: &'static str,
    level: &'static str,
    text: &'static str,
}

const fn message_row(message: AgentMessage, key: &'static str, level: &'static str, text: &'static str) -> MessageRow {
    MessageRow { message, key, level, text }
}

/// The default texts. `{percent}` stands for the threshold, `{count}` for the number of workers.
const MESSAGES: &[MessageRow] = &[
    message_row(AgentMessage::ContextLoaded, "context_loaded", INFO, "Session context loaded"),
    message_row(
        AgentMessage::PromptNotice,
        "prompt_notice",
        INFO,
        "Context at {percent}% - Consider writing reset notes soon",
    ),
    message_row(
        AgentMessage::PromptWarning,
        "prompt_warning",
        WARNING,
        "Context at {percent}% - Write reset notes and prepare to transition",
    ),
    message_row(
        AgentMessage::SetStatus,
        "set_status",
        INFO,
        "Consider setting a session status with status(\"what you're working on\")",
    ),
    message_row(AgentMessage::MemoryCheck, "memory_check", INFO, "Memory check ({percent}% context used)"),
    message_row(AgentMessage::Reset, "reset", WARNING, "Context at {percent}%"),
    message_row(AgentMessage::Urgent, "urgent", WARNING, "Context at {percent}% - URGENT"),
    message_row(AgentMessage::Critical, "critical", WARNING, "Context at {percent}% - CRITICAL"),
    message_row(AgentMessage::Ping, "ping", INFO, "Reminder - Ping before ending"),
    message_row(AgentMessage::WakeUp, WAKE_UP_KEY, NOTIFICATION, "Workers complete"),
    message_row(AgentMessage::WorkersDone, "workers_done", INFO, "Workers finished: {count}"),
    message_row(AgentMessage::NoWorkers, "no_workers", INFO, "No worker has finished since the last report"),
    message_row(AgentMessage::WorkersUnknown, "workers_unknown", INFO, "The finished workers cannot be read now"),
];

const INFO: &str = "INFO";
const WARNING: &str = "WARNING";
const NOTIFICATION: &str = "NOTIFICATION";

/// The key of what every message begins with.
const PREFIX_KEY: &str = "prefix";

/// The key of the one text that must not be empty.
const WAKE_UP_KEY: &str = "wake_up";

/// The texts that Snell sends to agents.
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

    /// How lines from Snell start, by default and in the user's settings: the prefix up to the level, or the prefix with each
    /// level if the level comes first.
    pub fn line_prefixes(&self) -> Vec<String> {
        let mut beginnings = Vec::new();
        for prefix in [PREFIX, self.template_text(PREFIX_KEY, PREFIX)] {
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
        let row = MESSAGES.iter().find(|row| row.message == message)?;
        let text = self.template_text(row.key, row.text);
        if text.is_empty() {
            return None;
        }
        let prefix = self.template_text(PREFIX_KEY, PREFIX).replace("{level}", row.level);
        if placeholder.is_empty() {
            return Some(format!("{prefix}{text}"));
        }
        Some(format!("{prefix}{}", text.replace(placeholder, &number.to_string())))
    }

    fn template_text<'a>(&'a self, key: &str, default: &'a str) -> &'a str {
        let changed = self.changed.iter().find(|(changed, _)| *changed == key);
        changed.map_or(default, |(_, text)| text)
    }

    /// Fills keys that these settings lack from an earlier file.
    pub(super) fn merge_over(mut self, earlier: Self) -> Self {
        for (key, text) in earlier.changed {
            if self.changed.iter().all(|(changed, _)| *changed != key) {
                self.changed.push((key, text));
            }
        }
        self
    }
}

pub(super) fn list_message_keys() -> Vec<&'static str> {
    [PREFIX_KEY].into_iter().chain(MESSAGES.iter().map(|row| row.key)).collect()
}

pub(super) fn read_messages(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> MessageTemplates {
    let keys = list_message_keys();
    let mut messages = MessageTemplates::default();
    let Some(fields) = reader.read_table(node, "[messages]", &keys) else {
        return messages;
    };
    for key in keys {
        let Some(node) = fields.get(key) else {
            continue;
        };
        let Some(text) = reader.expect_text(node, key) else {
            continue;
        };
        if key == WAKE_UP_KEY && text.trim().is_empty() {
            let text = "\"wake_up\" is empty and would match every prompt (using the default, \"Workers complete\")";
            reader.add_error(node.offset, UserMessage::new(text).with_hint("write the prompt that wakes an agent"));
            continue;
        }
        messages.changed.push((key, text));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::settings::tests::read_config_schema;

    #[test]
    fn the_defaults_of_the_schema_are_the_defaults_of_the_code() {
        let schema = read_config_schema();
        let known = &schema["properties"]["messages"]["properties"];
        assert_eq!(known[PREFIX_KEY]["default"], PREFIX);
        for row in MESSAGES.iter().filter(|row| row.key != WAKE_UP_KEY) {
            assert_eq!(known[row.key]["default"], row.text, "{}", row.key);
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
        for (rendered, expected) in cases {
            assert_eq!(rendered.as_deref(), Some(expected));
        }
    }

    #[test]
    fn an_empty_text_switches_its_message_off() {
        let messages = MessageTemplates { changed: vec![("ping", String::new()), ("prefix", "{level} ".into())] };
        assert_eq!(messages.render_message(AgentMessage::Ping), None);
        assert_eq!(messages.wake_up_prompt(), "NOTIFICATION Workers complete");
    }
}
