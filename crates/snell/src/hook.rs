//! A configured reaction: what it reacts to, what it does, within which limits, and where it was written.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::contract::Contract;
use crate::diagnostic::{Diagnostic, Severity, UserMessage};
use crate::event::EventName;
use crate::matcher::{Matcher, PermissionRule};

/// One hook, as it was read from a configuration file.
///
/// A hook keeps the contract it was written for, whoever fires the event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hook {
    /// How the hook is spoken to and how its answer is read.
    pub(crate) contract: &'static Contract,
    /// The events it reacts to.
    pub events: Vec<EventName>,
    /// Which of those events it reacts to.
    pub(crate) matcher: Matcher,
    /// What must also hold.
    pub(crate) condition: Option<HookCondition>,
    /// What it does.
    pub(crate) action: HookAction,
    /// How long it may take.
    pub(crate) timeout: HookTimeout,
    /// What its own failure means.
    pub on_failure: FailurePolicy,
    /// Whether it may change the tool's input or output.
    pub may_modify: bool,
    /// Whether it is started and not awaited.
    pub background: bool,
    /// Why it is switched off, if it is.
    pub disabled: Option<String>,
    /// Whether it is off because its file is not trusted: then nothing of it is even looked at.
    pub(crate) is_untrusted: bool,
    /// Whether the caller leaves it out, because it is the caller itself. Then it is off, and no event reports it.
    pub is_excluded: bool,
    /// Where it was written.
    pub origin: SourceLocation,
    /// Where in it its command stands, if that is known.
    pub(crate) command_origin: Option<SourceLocation>,
}

/// How long a hook may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookTimeout {
    /// As its file says.
    Written(Duration),
    /// As its contract has it where the file does not say.
    Default(Duration),
}

impl HookTimeout {
    pub(crate) fn duration(self) -> Duration {
        match self {
            Self::Written(duration) | Self::Default(duration) => duration,
        }
    }
}

/// What a hook's own failure (a crash, a timeout, a missing program) means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The agent goes on.
    Continue,
    /// The event is blocked, where its contract lets a hook block it.
    Block,
}

/// Where a hook was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file.
    pub path: PathBuf,
    /// The file as people are shown it: relative to the project, or with `~/`.
    pub display_path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl SourceLocation {
    /// A warning about what was written there.
    pub fn make_warning(&self, message: impl Into<UserMessage>) -> Diagnostic {
        let at_start = Diagnostic::for_file(Severity::Warning, &self.display_path, message);
        Diagnostic { line: self.line, column: self.column, ..at_start }
    }

    /// With its column, for where several stand on one line.
    pub(crate) fn to_string_with_column(&self) -> String {
        format!("{}:{}:{}", self.display_path, self.line, self.column)
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.display_path, self.line)
    }
}

/// What must hold beside the matcher.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HookCondition {
    /// A shell command that must exit with 0.
    Shell(String),
    /// Claude Code's `if`: a permission rule that the tool call must fall under.
    Rule(PermissionRule),
}

/// What a hook does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HookAction {
    /// A command line for a shell.
    Shell { shell: HookShell, command: String },
    /// A program and its arguments, without a shell between.
    Exec { program: String, args: Vec<String> },
    /// A script, found relative to the project.
    Script { path: String },
    /// A request to an address.
    Http(HttpAction),
    /// Something that Snell cannot do; the text says what. It is kept so that it can be reported whenever it would run.
    Unsupported { kind: String, detail: String },
}

impl HookAction {
    /// A command line for `/bin/sh`.
    pub(crate) fn posix_shell(command: String) -> Self {
        Self::Shell { shell: HookShell::Posix, command }
    }
}

/// Which shell reads a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookShell {
    /// `/bin/sh`.
    Posix,
    /// `bash`.
    Bash,
    /// PowerShell.
    Pwsh,
}

/// A request to an address (Claude Code's `http` hooks).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpAction {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The variables that headers may name.
    pub(crate) allowed_env_vars: Vec<String>,
    /// What the settings as a whole say against this address, if anything.
    pub(crate) refused: Option<String>,
}

impl Hook {
    /// A hook that reacts to every such event, is awaited, and changes and blocks nothing by its failure.
    pub(crate) fn new(
        contract: &'static Contract,
        event: EventName,
        action: HookAction,
        timeout: HookTimeout,
        origin: SourceLocation,
    ) -> Self {
        Self {
            contract,
            events: vec![event],
            matcher: Matcher::match_all(None),
            condition: None,
            action,
            timeout,
            on_failure: FailurePolicy::Continue,
            may_modify: false,
            background: false,
            disabled: None,
            is_untrusted: false,
            is_excluded: false,
            origin,
            command_origin: None,
        }
    }

    /// How long it may take.
    pub fn timeout(&self) -> Duration {
        self.timeout.duration()
    }

    /// The contract's name: `wave`, `microai`, `claude`, `claude-os`, `whale` or `snell`.
    pub fn contract_name(&self) -> &'static str {
        self.contract.name
    }

    /// The matcher as it was written, if one was.
    pub fn matcher_text(&self) -> Option<&str> {
        self.matcher.source_text()
    }

    /// The condition as it was written, if one was.
    pub fn condition_text(&self) -> Option<&str> {
        match self.condition.as_ref()? {
            HookCondition::Shell(command) => Some(command),
            HookCondition::Rule(rule) => Some(rule.source_text()),
        }
    }

    /// The line that it has a shell run, if it does.
    pub fn shell_command(&self) -> Option<&str> {
        match &self.action {
            HookAction::Shell { command, .. } => Some(command),
            _ => None,
        }
    }

    /// The program that it runs without a shell, and its arguments, if it does.
    pub fn program(&self) -> Option<(&str, &[String])> {
        match &self.action {
            HookAction::Exec { program, args } => Some((program, args)),
            _ => None,
        }
    }

    /// What a request to an address carries beside the event: its headers, as they are written.
    pub fn headers(&self) -> &[(String, String)] {
        match &self.action {
            HookAction::Http(call) => &call.headers,
            _ => &[],
        }
    }

    /// The variables of the environment that headers may name, and so may leave the machine.
    pub fn allowed_env_vars(&self) -> &[String] {
        match &self.action {
            HookAction::Http(call) => &call.allowed_env_vars,
            _ => &[],
        }
    }

    /// What it does, in one line for people.
    pub fn command_summary(&self) -> String {
        match &self.action {
            HookAction::Shell { command, .. } => command.clone(),
            HookAction::Exec { program, args } => {
                std::iter::once(program).chain(args).map(|word| quote_shell_word(word)).collect::<Vec<_>>().join(" ")
            }
            HookAction::Script { path } => path.clone(),
            HookAction::Http(call) => format!("POST {}", call.url),
            HookAction::Unsupported { kind, detail } => format!("{kind}: {detail}"),
        }
    }
}

/// A word as a shell would need it written.
fn quote_shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
