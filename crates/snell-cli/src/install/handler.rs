//! Handlers: those that Snell registers, and how a handler is started.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use snell::SpannedNode;

use super::agents::InstallAgent;
use super::notify_script;

/// How a file calls Snell: in one way, or events would be recorded twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum InstallMode {
    /// `snell hook` judges, answers and records.
    Hook,
    /// A script only forwards what happens.
    Notify,
}

impl InstallMode {
    /// Its command, for messages.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Hook => "snell hook",
            Self::Notify => notify_script::SCRIPT_NAME,
        }
    }
}

/// A handler to register on an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HandlerEntry {
    pub(crate) event: &'static str,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) timeout: Option<u32>,
}

/// The script takes two seconds at most.
const NOTIFY_TIMEOUT: u32 = 5;

/// Names the calling agent, so that variables of another agent do not matter.
pub(super) const AGENT_FLAG: &str = "--agent";

impl HandlerEntry {
    /// All handlers of an agent; `command` is the program or the script.
    pub(crate) fn all_for_agent(agent: InstallAgent, way: InstallMode, command: &str) -> Vec<Self> {
        let entry = |event, args: &[&str], timeout| Self {
            event,
            command: command.to_owned(),
            args: args.iter().map(|&argument| argument.to_owned()).collect(),
            timeout,
        };
        match way {
            InstallMode::Hook => agent
                .events()
                .map(|event| entry(event, &["hook", AGENT_FLAG, agent.name], agent.timeout(event)))
                .collect(),
            InstallMode::Notify => agent
                .forwarded
                .iter()
                .map(|(event, argument)| entry(*event, &[argument], Some(NOTIFY_TIMEOUT)))
                .collect(),
        }
    }

    /// As a handler. With `args` no shell is involved, so the path may contain blanks.
    pub(crate) fn to_handler(&self) -> Value {
        let mut handler = json!({"type": "command", "command": self.command, "args": self.args});
        if let (Some(timeout), Some(fields)) = (self.timeout, handler.as_object_mut()) {
            fields.insert("timeout".into(), timeout.into());
        }
        handler
    }

    /// As an element of an event's array. Without a matcher, it matches everything.
    pub(crate) fn to_group(&self) -> Value {
        json!({"hooks": [self.to_handler()]})
    }
}

/// How a handler is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum HandlerCommand {
    /// A program and its arguments.
    Exec { command: String, args: Vec<String> },
    /// A line of shell.
    Shell { command: String },
}

impl HandlerCommand {
    /// How a handler is started; nothing if it starts no program.
    pub(crate) fn from_handler(handler: &SpannedNode) -> Option<Self> {
        let text = |key| handler.get(key).and_then(SpannedNode::text);
        let command = text("command").filter(|_| text("type") == Some("command"))?.to_owned();
        Some(match handler.get("args") {
            Some(args) => Self::Exec { command, args: args.texts()? },
            None => Self::Shell { command },
        })
    }

    /// The program and its arguments; nothing for a command that needs a shell.
    pub(super) fn split_words(&self, home: &str) -> Option<Vec<String>> {
        match self {
            Self::Exec { command, args } => Some(std::iter::once(command).chain(args).cloned().collect()),
            Self::Shell { command } => split_shell_words(command, home),
        }
    }
}

impl std::fmt::Display for HandlerCommand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Shell { command } => f.write_str(command),
            Self::Exec { command, args } => {
                f.write_str(command)?;
                args.iter().try_for_each(|argument| write!(f, " {argument}"))
            }
        }
    }
}

/// Prefixes for the home directory in a path, and whether they work in quotes.
const HOME_PREFIXES: &[(&str, bool)] = &[("~/", false), ("$HOME/", true), ("${HOME}/", true)];

/// The words of a simple shell command: a program and its arguments, plain or quoted. Of all expansions, only the home directory at
/// the beginning of a word is supported.
fn split_shell_words(line: &str, home: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = line.trim();
    while let Some(c) = rest.chars().next() {
        let begins_word = word.as_ref().is_none_or(String::is_empty);
        let known = HOME_PREFIXES.iter().find(|(sign, in_quotes)| {
            rest.starts_with(sign) && (quote.is_none() || (*in_quotes && quote == Some('"')))
        });
        if let Some((sign, _)) = known.filter(|_| begins_word) {
            word.get_or_insert_default().push_str(home);
            rest = &rest[sign.len() - 1..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '$' | '`' | '\\') => return None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') => {
                let escaped = rest.chars().next().filter(|c| *c != '\n')?;
                word.get_or_insert_default().push(escaped);
                rest = &rest[escaped.len_utf8()..];
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, c) if is_plain_char(c) => word.get_or_insert_default().push(c),
            (None, _) => return None,
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Whether every shell takes this character literally.
fn is_plain_char(c: char) -> bool {
    c.is_alphanumeric() || "/._-+@%:,".contains(c)
}
