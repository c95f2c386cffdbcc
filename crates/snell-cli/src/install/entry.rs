//! What Snell registers, and how it knows what it registered before.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::agents::Agent;
use super::document::Node;
use super::script;

/// How Snell takes part. A file has it one way at a time, or events would be told twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Way {
    /// `snell hook` judges, answers and records.
    Hook,
    /// A script only forwards what happens.
    Notify,
}

impl Way {
    /// What it looks like on a command line.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Hook => "snell hook",
            Self::Notify => script::NAME,
        }
    }
}

/// A handler that is to be registered on an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) event: &'static str,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) timeout: Option<u32>,
}

/// Two seconds are what the script takes at most.
const NOTIFY_TIMEOUT: u32 = 5;

impl Entry {
    /// Everything that is registered in an agent one way; `command` is the program, or the script.
    pub(crate) fn all(agent: &Agent, way: Way, command: &str) -> Vec<Self> {
        let entry = |event, argument: &str, timeout| Self {
            event,
            command: command.to_owned(),
            args: vec![argument.to_owned()],
            timeout,
        };
        match way {
            Way::Hook => agent
                .events()
                .map(|event| entry(event, "hook", agent.timeout(event)))
                .collect(),
            Way::Notify => agent
                .forwarded
                .iter()
                .map(|(event, argument)| entry(*event, argument, Some(NOTIFY_TIMEOUT)))
                .collect(),
        }
    }

    /// As a handler. With `args` there is no shell in between, so a path may have blanks in it.
    pub(crate) fn handler(&self) -> Value {
        let mut handler = json!({"type": "command", "command": self.command, "args": self.args});
        if let (Some(timeout), Some(fields)) = (self.timeout, handler.as_object_mut()) {
            fields.insert("timeout".into(), timeout.into());
        }
        handler
    }

    /// As an element of an event's array. Without a matcher it is for everything.
    pub(crate) fn group(&self) -> Value {
        json!({"hooks": [self.handler()]})
    }
}

/// How a handler is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Call {
    /// A program and its arguments.
    Exec { command: String, args: Vec<String> },
    /// A line of shell.
    Shell { command: String },
}

impl Call {
    /// What a handler says about how it is started; nothing if it starts no program.
    pub(crate) fn of(handler: &Node) -> Option<Self> {
        let command = handler.get("command")?.text()?.to_owned();
        Some(match handler.get("args").and_then(Node::texts) {
            Some(args) => Self::Exec { command, args },
            None => Self::Shell { command },
        })
    }

    /// The program that is started, as far as that can be told from a line of shell.
    pub(crate) fn program(&self) -> String {
        self.words().into_iter().next().unwrap_or_default()
    }

    fn words(&self) -> Vec<String> {
        match self {
            Self::Exec { command, args } => std::iter::once(command).chain(args).cloned().collect(),
            Self::Shell { command } => words_of(command),
        }
    }

    /// The way in which Snell is called by it; nothing if it is somebody else's. A program that was renamed is still ours
    /// if it is the one that would be registered now.
    pub(crate) fn way(&self, own_program: &str) -> Option<Way> {
        let words = self.words();
        let program = words.first()?;
        let name = Path::new(program).file_name()?.to_str()?;
        if name == script::NAME {
            return Some(Way::Notify);
        }
        if name != "snell" && program != own_program {
            return None;
        }
        match words.get(1)?.as_str() {
            "hook" => Some(Way::Hook),
            "notify" => Some(Way::Notify),
            _ => None,
        }
    }
}

impl std::fmt::Display for Call {
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

/// The words of a simple line of shell. Quotes and backslashes keep blanks together; nothing is expanded.
fn words_of(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('\''), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (_, '\\') => word.get_or_insert_default().extend(characters.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_snell_registered_is_known_however_it_was_written() {
        let exec = |command: &str, args: &[&str]| Call::Exec {
            command: command.into(),
            args: args.iter().map(|&argument| argument.to_owned()).collect(),
        };
        let shell = |command: &str| Call::Shell {
            command: command.into(),
        };
        let cases = [
            (exec("/usr/local/bin/snell", &["hook"]), Some(Way::Hook)),
            (exec("/old/snell", &["hook", "--agent", "claude"]), Some(Way::Hook)),
            (exec("snell", &["hook"]), Some(Way::Hook)),
            (exec("/opt/snell-next", &["hook"]), Some(Way::Hook)),
            (exec("/opt/snell-other", &["hook"]), None),
            (exec("/bin/snell", &["statusline"]), None),
            (exec("/bin/snell", &[]), None),
            (exec("/bin/snell", &["notify", "stop"]), Some(Way::Notify)),
            (
                exec("/h/.claude/hooks/notify-headspace.sh", &["stop"]),
                Some(Way::Notify),
            ),
            (shell("snell hook"), Some(Way::Hook)),
            (shell("  /a/b/snell   hook"), Some(Way::Hook)),
            (shell("\"/a b/snell\" hook"), Some(Way::Hook)),
            (shell("'/a b/snell' hook"), Some(Way::Hook)),
            (shell("/a\\ b/snell hook"), Some(Way::Hook)),
            (
                shell("~/.claude/hooks/notify-headspace.sh session-start"),
                Some(Way::Notify),
            ),
            (shell("/x/notify-headspace.sh.bak stop"), None),
            (shell("echo snell hook"), None),
            (shell("snellx hook"), None),
            (shell("snell"), None),
            (shell(""), None),
            (shell("'"), None),
        ];
        for (call, way) in cases {
            assert_eq!(call.way("/opt/snell-next"), way, "{call}");
        }
    }
}
