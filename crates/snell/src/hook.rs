//! A configured hook: its events, its action, its limits, and its position in a file.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::contract::Contract;
use crate::diagnostic::{Diagnostic, Severity, UserMessage};
use crate::event::{EventName, ToolClass};
use crate::matcher::{HookFilters, Matcher, PermissionRule};

/// One hook of a configuration file.
///
/// A hook keeps the contract of its file, for every agent that fires the event.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Hook {
    /// The contract: the input of the hook and the meaning of its answer.
    pub(crate) contract: &'static Contract,
    /// Its events.
    pub events: Vec<EventName>,
    /// Chooses tools or other values of those events.
    pub(crate) matcher: Matcher,
    /// A further condition.
    pub(crate) condition: Option<HookCondition>,
    /// Conditions on files, commands, agents, notifications and projects, if it has any.
    pub(crate) filters: Option<Box<HookFilters>>,
    /// Its action.
    pub(crate) action: HookAction,
    /// Its timeout.
    pub(crate) timeout: HookTimeout,
    /// The handling of its failure.
    pub on_failure: FailurePolicy,
    /// Whether it may change the tool's input or output.
    pub may_modify: bool,
    /// Whether it runs in the background.
    pub background: bool,
    /// Why it is disabled, if it is.
    pub disabled: Option<String>,
    /// Whether it is disabled because its file is not trusted. Then Snell does not evaluate its matcher.
    pub(crate) is_untrusted: bool,
    /// Whether the caller excludes it, because it would call the caller itself. Then it is disabled, and no event
    /// reports it.
    pub is_excluded: bool,
    /// Details of an entry in a hook file of an agent.
    pub(crate) agent_entry: AgentHookEntry,
    /// Its position.
    pub origin: SourceLocation,
    /// The position of its command, if known.
    pub(crate) command_origin: Option<SourceLocation>,
}

/// Details that only entries in hook files of agents have.
#[derive(Clone, Debug, Default)]
pub(crate) struct AgentHookEntry {
    /// The agent's own name of the event.
    pub(crate) native_event: Option<&'static str>,
    /// The tools of the event, if it is about one class only.
    pub(crate) tool_class: Option<ToolClass>,
    /// The name of the hook. Hooks with different names are not duplicates.
    pub(crate) name: Option<String>,
    /// Its own environment variables.
    pub(crate) variables: Vec<(String, String)>,
    /// Its own working directory, relative to the usual one.
    pub(crate) directory: Option<String>,
    /// Whether all hooks of the event run one after the other because of this one.
    pub(crate) runs_in_order: bool,
}

/// The timeout of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookTimeout {
    /// From its file.
    Written(Duration),
    /// The default of its contract.
    Default(Duration),
}

impl HookTimeout {
    pub(crate) fn duration(self) -> Duration {
        match self {
            Self::Written(duration) | Self::Default(duration) => duration,
        }
    }
}

/// The handling of a hook's failure (a crash, a timeout, a missing program).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePolicy {
    /// The agent continues.
    Continue,
    /// The event is blocked, if its contract allows that.
    Block,
}

/// The position of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file.
    pub path: PathBuf,
    /// The file for people: relative to the project, or with `~/`.
    pub display_path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl SourceLocation {
    /// A warning about this position.
    pub fn make_warning(&self, message: impl Into<UserMessage>) -> Diagnostic {
        let at_start = Diagnostic::for_file(Severity::Warning, &self.display_path, message);
        Diagnostic { line: self.line, column: self.column, ..at_start }
    }

    /// With its column, because several hooks may be on one line.
    pub(crate) fn to_string_with_column(&self) -> String {
        format!("{}:{}:{}", self.display_path, self.line, self.column)
    }
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.display_path, self.line)
    }
}

/// The condition of a hook beside its matcher.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HookCondition {
    /// A shell command that must exit with 0.
    Shell(String),
    /// Claude Code's `if`: a permission rule that must cover the tool call.
    Rule(PermissionRule),
    /// A pattern for the command of a shell tool.
    Command(Matcher),
}

/// The action of a hook.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum HookAction {
    /// A command line for a shell.
    Shell { shell: HookShell, command: String },
    /// A program and its arguments, without a shell.
    Exec { program: String, args: Vec<String> },
    /// A script, relative to the project.
    Script { path: String },
    /// An HTTP request.
    Http(HttpAction),
    /// An unsupported action, with its description. It is kept so that Snell can report it.
    Unsupported { kind: String, detail: String },
}

impl HookAction {
    /// A command line for `/bin/sh`.
    pub(crate) fn posix_shell(command: String) -> Self {
        Self::Shell { shell: HookShell::Posix, command }
    }
}

/// The shell of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HookShell {
    /// `/bin/sh`.
    Posix,
    /// `bash`.
    Bash,
    /// PowerShell.
    Pwsh,
}

/// An HTTP request (Claude Code's `http` hooks).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HttpAction {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The variables that its headers may use.
    pub(crate) allowed_env_vars: Vec<String>,
    /// Why the settings refuse this address, if they do.
    pub(crate) refused: Option<String>,
}

impl Hook {
    /// A foreground hook for all events of this name, which does not block if it fails and changes nothing.
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
            filters: None,
            action,
            timeout,
            on_failure: FailurePolicy::Continue,
            may_modify: false,
            background: false,
            disabled: None,
            is_untrusted: false,
            is_excluded: false,
            agent_entry: AgentHookEntry::default(),
            origin,
            command_origin: None,
        }
    }

    /// Its timeout.
    pub fn timeout(&self) -> Duration {
        self.timeout.duration()
    }

    /// The contract's name: `claude`, `codex`, `snell` …
    pub fn contract_name(&self) -> &'static str {
        self.contract.name
    }

    /// The text of its matcher, if it has one.
    pub fn matcher_text(&self) -> Option<&str> {
        self.matcher.source_text()
    }

    /// The text of its condition, if it has one.
    pub fn condition_text(&self) -> Option<&str> {
        match self.condition.as_ref()? {
            HookCondition::Shell(command) => Some(command),
            HookCondition::Rule(rule) => Some(rule.source_text()),
            HookCondition::Command(pattern) => pattern.source_text(),
        }
    }

    /// Its command line, if it runs a shell.
    pub fn shell_command(&self) -> Option<&str> {
        match &self.action {
            HookAction::Shell { command, .. } => Some(command),
            _ => None,
        }
    }

    /// Its program and arguments, if it runs one without a shell.
    pub fn program(&self) -> Option<(&str, &[String])> {
        match &self.action {
            HookAction::Exec { program, args } => Some((program, args)),
            _ => None,
        }
    }

    /// The headers of its request, as written.
    pub fn headers(&self) -> &[(String, String)] {
        match &self.action {
            HookAction::Http(call) => &call.headers,
            _ => &[],
        }
    }

    /// The environment variables that its headers may use, and so may leave the machine.
    pub fn allowed_env_vars(&self) -> &[String] {
        match &self.action {
            HookAction::Http(call) => &call.allowed_env_vars,
            _ => &[],
        }
    }

    /// Whether a finding is about this hook: it has the hook's position.
    pub fn has_position_of(&self, found: &Diagnostic) -> bool {
        let origins = [Some(&self.origin), self.command_origin.as_ref()];
        let position = (found.path.as_str(), found.line, found.column);
        origins.into_iter().flatten().any(|at| (at.display_path.as_str(), at.line, at.column) == position)
    }

    /// Its action, in one line for people.
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

/// A word with shell quotes if it needs them.
fn quote_shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
