//! Handlers: those that Snell registers, and how a handler is started.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use snell::{CommandStyle, EntryNesting, JsonRegistration, RegistrationFormat, SpannedNode};

use super::agents::InstallAgent;
use super::notify_script::{self, shell_quote};

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
    pub(crate) call: HandlerCommand,
    /// In seconds.
    pub(crate) timeout: Option<u32>,
}

/// The script takes two seconds at most.
const NOTIFY_TIMEOUT: u32 = 5;

/// Names the calling agent, so that variables of another agent do not matter.
pub(super) const AGENT_FLAG: &str = "--agent";

/// The argument of Snell as a hook.
pub(super) const HOOK_COMMAND: &str = "hook";

impl HandlerEntry {
    /// The handlers of an agent on these events; `command` is the program or the script.
    pub(crate) fn for_events(
        agent: InstallAgent,
        events: &[&'static str],
        way: InstallMode,
        command: &str,
    ) -> Vec<Self> {
        let entry = |event, args: &[&str], timeout| Self {
            event,
            call: HandlerCommand::for_format(&agent.format, command, args),
            timeout,
        };
        match way {
            InstallMode::Hook => {
                let args = [HOOK_COMMAND, AGENT_FLAG, agent.name];
                events.iter().map(|event| entry(event, &args, agent.timeout_on(event))).collect()
            }
            InstallMode::Notify => agent
                .forwarded
                .iter()
                .map(|(event, argument)| entry(*event, &[argument], Some(NOTIFY_TIMEOUT)))
                .collect(),
        }
    }

    /// As an element of an event's list.
    pub(crate) fn to_element(&self, form: &JsonRegistration) -> Value {
        match form.nesting {
            // Without a matcher, it matches everything.
            EntryNesting::Groups => json!({"hooks": [self.to_handler(form)]}),
            EntryNesting::Handlers => self.to_handler(form),
        }
    }

    /// As a handler.
    pub(crate) fn to_handler(&self, form: &JsonRegistration) -> Value {
        let mut handler = Map::new();
        for (key, value) in form.members {
            handler.insert((*key).to_owned(), parse_constant(value));
        }
        match (&self.call, form.command) {
            (HandlerCommand::Shell { command }, CommandStyle::ShellLine(key)) => {
                handler.insert(key.to_owned(), command.as_str().into());
            }
            (HandlerCommand::Shell { command }, CommandStyle::ProgramAndArgs) => {
                handler.insert("command".to_owned(), command.as_str().into());
            }
            // With `args` no shell is involved, so the path may contain blanks.
            (HandlerCommand::Exec { command, args }, _) => {
                handler.insert("command".to_owned(), command.as_str().into());
                handler.insert("args".to_owned(), args.as_slice().into());
            }
        }
        if let (Some(timeout), Some(key)) = (self.timeout, form.timeout) {
            handler.insert(key.name().to_owned(), key.convert(timeout).into());
        }
        handler.into()
    }
}

/// A JSON value of a recipe.
pub(super) fn parse_constant(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
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
    /// A command in the way that the files of this format start it.
    fn for_format(format: &RegistrationFormat, command: &str, args: &[&str]) -> Self {
        let in_shell = match format {
            RegistrationFormat::Json(form) => form.command != CommandStyle::ProgramAndArgs,
            RegistrationFormat::Toml(_) => true,
            RegistrationFormat::OwnFile(_) => false,
        };
        if in_shell {
            Self::Shell { command: join_shell_words(std::iter::once(command).chain(args.iter().copied())) }
        } else {
            Self::Exec { command: command.to_owned(), args: args.iter().map(|&word| word.to_owned()).collect() }
        }
    }

    /// How a handler of a JSON file is started; nothing if it starts no program.
    pub(crate) fn from_handler(handler: &SpannedNode, form: &JsonRegistration) -> Option<Self> {
        let text = |key| handler.get(key).and_then(SpannedNode::text);
        let is_typed = form.members.iter().any(|(key, _)| *key == "type");
        let is_command = text("type").map_or(!is_typed, |kind| kind == "command");
        let shell_key = match form.command {
            CommandStyle::ShellLine(key) => key,
            CommandStyle::ProgramAndArgs => "command",
        };
        let command = text(shell_key).or_else(|| text("command")).filter(|_| is_command)?.to_owned();
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

/// Words as a line of shell: the program in quotes, because it is a path.
pub(super) fn join_shell_words<'a>(mut words: impl Iterator<Item = &'a str>) -> String {
    let program = words.next().map(shell_quote).unwrap_or_default();
    words.fold(program, |line, word| {
        let is_plain = !word.is_empty() && word.chars().all(is_plain_char);
        if is_plain { format!("{line} {word}") } else { format!("{line} {}", shell_quote(word)) }
    })
}

/// Prefixes for the home directory in a path, and whether they work in quotes.
const HOME_PREFIXES: &[(&str, bool)] = &[("~/", false), ("$HOME/", true), ("${HOME}/", true)];

/// The words of a simple shell command: a program and its arguments, plain or quoted. Of all expansions, only the home directory at
/// the beginning of a word is supported.
pub(crate) fn split_shell_words(line: &str, home: &str) -> Option<Vec<String>> {
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
            // In the first word it would set a variable.
            (None, '=') if !words.is_empty() => word.get_or_insert_default().push('='),
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
