//! `[messages]`: the texts that the built-in handlers send to an agent.

use super::profile::{ActiveProfile, WorkProfile};
use crate::config::reader::ConfigReader;
use crate::config::spanned::SpannedNode;
use crate::diagnostic::UserMessage;

/// Whose words the default texts are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MessageVoice {
    /// Snell's own. They name Snell and its commands.
    #[default]
    Snell,
    /// Those of the profile `claude-os`.
    ClaudeOs,
}

impl MessageVoice {
    /// The default start of a message. `{level}` stands for its severity.
    fn prefix(self) -> &'static str {
        match self {
            Self::Snell => "[Snell: {level}]: ",
            Self::ClaudeOs => "[CLAUDE OS SYS: {level}]: ",
        }
    }
}

const VOICES: [MessageVoice; 2] = [MessageVoice::ClaudeOs, MessageVoice::Snell];

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
    /// Snell's own text.
    own: &'static str,
    /// The text of the profile `claude-os`.
    claude_os: &'static str,
}

impl MessageRow {
    const fn new(message: AgentMessage, key: &'static str, level: &'static str, texts: [&'static str; 2]) -> Self {
        Self { message, key, level, own: texts[0], claude_os: texts[1] }
    }

    /// A text that is the same in both.
    const fn shared(message: AgentMessage, key: &'static str, level: &'static str, text: &'static str) -> Self {
        Self::new(message, key, level, [text, text])
    }

    fn text(&self, voice: MessageVoice) -> &'static str {
        match voice {
            MessageVoice::Snell => self.own,
            MessageVoice::ClaudeOs => self.claude_os,
        }
    }
}

/// The default texts. `{percent}` stands for the threshold, `{count}` for the number of workers.
const MESSAGES: &[MessageRow] = &[
    MessageRow::shared(AgentMessage::ContextLoaded, "context_loaded", INFO, "Session context loaded"),
    MessageRow::new(
        AgentMessage::PromptNotice,
        "prompt_notice",
        INFO,
        [
            "Context at {percent}%: consider writing notes for a new session soon",
            "Context at {percent}% - Consider writing reset notes soon",
        ],
    ),
    MessageRow::new(
        AgentMessage::PromptWarning,
        "prompt_warning",
        WARNING,
        [
            "Context at {percent}%: write notes for a new session now",
            "Context at {percent}% - Write reset notes and prepare to transition",
        ],
    ),
    MessageRow::new(
        AgentMessage::SetStatus,
        "set_status",
        INFO,
        [
            "Consider setting a status of this session: snell session status \"what you are working on\"",
            "Consider setting a session status with status(\"what you're working on\")",
        ],
    ),
    MessageRow::new(
        AgentMessage::MemoryCheck,
        "memory_check",
        INFO,
        ["Context at {percent}%: write down what must not be lost", "Memory check ({percent}% context used)"],
    ),
    MessageRow::new(
        AgentMessage::Reset,
        "reset",
        WARNING,
        ["Context at {percent}%: finish this step and write notes for a new session", "Context at {percent}%"],
    ),
    MessageRow::new(
        AgentMessage::Urgent,
        "urgent",
        WARNING,
        ["Context at {percent}%: stop the task and write down its state", "Context at {percent}% - URGENT"],
    ),
    MessageRow::new(
        AgentMessage::Critical,
        "critical",
        WARNING,
        ["Context at {percent}%: write down the state at once and stop", "Context at {percent}% - CRITICAL"],
    ),
    MessageRow::new(
        AgentMessage::Ping,
        "ping",
        INFO,
        ["Before you end, run: snell session ping", "Reminder - Ping before ending"],
    ),
    MessageRow::shared(AgentMessage::WakeUp, WAKE_UP_KEY, NOTIFICATION, "Workers complete"),
    MessageRow::shared(AgentMessage::WorkersDone, "workers_done", INFO, "Workers finished: {count}"),
    MessageRow::shared(AgentMessage::NoWorkers, "no_workers", INFO, "No worker has finished since the last report"),
    MessageRow::shared(
        AgentMessage::WorkersUnknown,
        "workers_unknown",
        INFO,
        "The finished workers cannot be read now",
    ),
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
    voice: MessageVoice,
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

    /// Every prompt that wakes an agent: a launcher gives its profile only to its agents, and not to the shell that wakes them.
    pub fn wake_up_prompts(&self) -> Vec<String> {
        let mut prompts: Vec<_> =
            VOICES.iter().map(|voice| Self { voice: *voice, ..self.clone() }.wake_up_prompt()).collect();
        prompts.dedup();
        prompts
    }

    /// Whether the user changed a text.
    pub fn has_changes(&self) -> bool {
        !self.changed.is_empty()
    }

    /// Whether the user changed the start of every message.
    pub fn has_own_prefix(&self) -> bool {
        self.changed.iter().any(|(key, _)| *key == PREFIX_KEY)
    }

    /// The same with the default texts of a profile.
    pub(super) fn with_texts_of(self, profile: Option<ActiveProfile>) -> Self {
        let voice = match profile.map(|active| active.profile) {
            Some(WorkProfile::ClaudeOs) => MessageVoice::ClaudeOs,
            None => MessageVoice::Snell,
        };
        Self { voice, ..self }
    }

    /// How lines from Snell start, by default, in each profile and in the user's settings: the prefix up to the level, or the prefix with each
    /// level if the level comes first.
    pub fn line_prefixes(&self) -> Vec<String> {
        let mut beginnings = Vec::new();
        let own = self.template_text(PREFIX_KEY, self.voice.prefix());
        for prefix in VOICES.iter().map(|voice| voice.prefix()).chain([own]) {
            let (before, _) = prefix.split_once("{level}").unwrap_or((prefix, ""));
            if before.trim().is_empty() {
                let levels = [INFO, WARNING, NOTIFICATION];
                beginnings.extend(levels.map(|level| prefix.replace("{level}", level)));
            } else {
                beginnings.push(before.to_owned());
            }
        }
        beginnings.retain(|beginning| !beginning.trim().is_empty());
        beginnings.sort();
        beginnings.dedup();
        beginnings
    }

    fn render_with(&self, message: AgentMessage, placeholder: &str, number: usize) -> Option<String> {
        let row = MESSAGES.iter().find(|row| row.message == message)?;
        let text = self.template_text(row.key, row.text(self.voice));
        if text.is_empty() {
            return None;
        }
        let prefix = self.template_text(PREFIX_KEY, self.voice.prefix()).replace("{level}", row.level);
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
        assert_eq!(known[PREFIX_KEY]["default"], MessageVoice::Snell.prefix());
        for row in MESSAGES.iter().filter(|row| row.key != WAKE_UP_KEY) {
            assert_eq!(known[row.key]["default"], row.own, "{}", row.key);
        }
    }

    #[test]
    fn messages_of_the_profile_are_those_of_the_document() {
        let messages = MessageTemplates { voice: MessageVoice::ClaudeOs, ..MessageTemplates::default() };
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
        let messages = MessageTemplates {
            changed: vec![("ping", String::new()), ("prefix", "{level} ".into())],
            ..MessageTemplates::default()
        };
        assert_eq!(messages.render_message(AgentMessage::Ping), None);
        assert_eq!(messages.wake_up_prompt(), "NOTIFICATION Workers complete");
    }

    #[test]
    fn own_messages_name_snell_and_not_another_system() {
        let messages = MessageTemplates::default();
        for row in MESSAGES {
            let text = messages.render_message(row.message).unwrap();
            assert!(text.starts_with(&format!("[Snell: {}]: ", row.level)), "{text}");
            assert!(!text.contains("CLAUDE OS"), "{text}");
        }
    }

    #[test]
    fn a_wake_up_prompt_of_either_voice_wakes() {
        let both = ["[CLAUDE OS SYS: NOTIFICATION]: Workers complete", "[Snell: NOTIFICATION]: Workers complete"];
        assert_eq!(MessageTemplates::default().wake_up_prompts(), both);
        let changed = MessageTemplates { changed: vec![("prefix", String::new())], ..MessageTemplates::default() };
        assert_eq!(changed.wake_up_prompts(), ["Workers complete"]);
    }
}
