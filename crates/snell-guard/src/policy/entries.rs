//! Entries of the settings: calls that their author denies, asks about or allows.
//!
//! An `allow` entry is compared exactly (`allow_list`), the others loosely (`word_pattern`): a mistake must never allow
//! more than was meant, nor deny less.

use crate::interpret::ExpandedCommand;
use crate::judge::context::JudgeContext;
use crate::paths::matches_glob;
use crate::policy::GuardDecision;
use crate::policy::allow_list::CommandPattern;
use crate::policy::hosts::find_command_hosts;
use crate::policy::word_pattern::WordPattern;

/// An entry of the settings. A call matches it if all its conditions hold for one command, or for the tool itself. An
/// entry without conditions matches every call: the caller omits entries that are for other tools or agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyEntry {
    /// The decision about calls that match.
    pub action: GuardDecision,
    /// The words of one simple command.
    pub command: Option<String>,
    /// Absolute paths that the call reads or changes, with `*`, `?` and `**`. One of them must match; the caller gives
    /// one, and the guard adds its real path. Empty if any path matches.
    pub paths: Vec<String>,
    /// A host that the call names, with `*` and `?`.
    pub host: Option<String>,
    /// Why; may be empty.
    pub reason: String,
    /// Its name in verdicts: the position in its file.
    pub id: String,
}

impl PolicyEntry {
    /// An entry that allows a command.
    pub fn allow(command: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { command: Some(command.into()), reason: reason.into(), ..Self::new(GuardDecision::Allow) }
    }

    /// An entry without conditions.
    pub fn new(action: GuardDecision) -> Self {
        Self { action, command: None, paths: Vec::new(), host: None, reason: String::new(), id: String::new() }
    }

    /// Why its command can match nothing, as the end of a sentence; `None` if it is valid.
    pub fn pattern_error(&self) -> Option<&'static str> {
        let command = self.command.as_deref()?;
        CommandTest::parse(self.action, command, "").err()
    }

    /// Whether it is an `allow` entry for a command that allows every command that the other one allows.
    pub fn covers(&self, other: &Self) -> bool {
        let (Some(command), Some(other_command)) = (&self.command, &other.command) else {
            return false;
        };
        if self.action != GuardDecision::Allow || (&self.paths, &self.host) != (&other.paths, &other.host) {
            return false;
        }
        match (CommandPattern::parse(command, ""), CommandPattern::parse(other_command, "")) {
            (Ok(permit), Ok(other)) => permit.covers(&other),
            _ => false,
        }
    }

    /// Whether only its paths, or no condition at all, decide whether a call matches.
    pub(crate) fn is_independent_of_commands(&self) -> bool {
        self.command.is_none() && self.host.is_none()
    }

    /// Whether a host matches.
    pub(crate) fn matches_host(&self, host: &str) -> bool {
        self.host.as_deref().is_some_and(|pattern| matches_glob(host, &pattern.to_ascii_lowercase()))
    }

    /// Its reason, or else a sentence with its name.
    pub(crate) fn format_reason(&self) -> String {
        let does = match self.action {
            GuardDecision::Deny => "forbids this call",
            GuardDecision::Ask => "asks about this call",
            GuardDecision::Allow => "allows this call",
        };
        match self.reason.as_str() {
            "" => format!("[[guard.{}]] in {} {does}.", self.action.name(), self.id),
            reason => reason.to_owned(),
        }
    }
}

/// The part of an entry that is compared with single commands.
#[derive(Clone, Debug)]
pub(crate) struct EntryPattern {
    action: GuardDecision,
    command: Option<CommandTest>,
    host: Option<String>,
    /// Whether it also has a condition on paths, which is checked later.
    pub(crate) has_path: bool,
}

/// The grammar of a command, by the action of its entry.
#[derive(Clone, Debug)]
enum CommandTest {
    Exact(CommandPattern),
    Loose(WordPattern),
}

impl CommandTest {
    fn parse(action: GuardDecision, command: &str, home: &str) -> Result<Self, &'static str> {
        match action {
            GuardDecision::Allow => CommandPattern::parse(command, home).map(Self::Exact),
            GuardDecision::Ask | GuardDecision::Deny => WordPattern::parse_in_home(command, home).map(Self::Loose),
        }
    }
}

/// The patterns of all entries, by their index in the policy. Invalid ones match nothing; entries that are independent
/// of commands have none.
pub(crate) fn parse_entries(entries: &[PolicyEntry], context: &JudgeContext) -> Vec<Option<EntryPattern>> {
    let read = |entry: &PolicyEntry| {
        if entry.is_independent_of_commands() {
            return None;
        }
        let command = match &entry.command {
            Some(command) => Some(CommandTest::parse(entry.action, command, &context.home).ok()?),
            None => None,
        };
        Some(EntryPattern {
            action: entry.action,
            command,
            host: entry.host.as_deref().map(str::to_ascii_lowercase),
            has_path: !entry.paths.is_empty(),
        })
    };
    entries.iter().map(read).collect()
}

/// The patterns that deny or ask, by the same index. Nothing that code of another language runs is allowed.
pub(crate) fn keep_watching_patterns(patterns: &[Option<EntryPattern>]) -> Vec<Option<EntryPattern>> {
    let watches = |pattern: &&EntryPattern| pattern.action != GuardDecision::Allow;
    patterns.iter().map(|pattern| pattern.as_ref().filter(watches).cloned()).collect()
}

impl EntryPattern {
    /// A pattern that watches for a command.
    pub(crate) fn from_words(pattern: &WordPattern) -> Self {
        let command = Some(CommandTest::Loose(pattern.clone()));
        Self { action: GuardDecision::Ask, command, host: None, has_path: false }
    }

    /// Whether it is an `allow` entry that matches the command for certain.
    pub(crate) fn permits_command(&self, command: &ExpandedCommand) -> bool {
        let is_host_allowed = || {
            let Some(pattern) = self.host.as_deref() else {
                return true;
            };
            let hosts = find_command_hosts(&command.argv);
            !hosts.is_empty() && hosts.iter().all(|host| matches_glob(host, pattern))
        };
        let fits = match &self.command {
            Some(CommandTest::Exact(pattern)) => pattern.matches_command(&command.argv, &command.variables),
            Some(CommandTest::Loose(_)) => false,
            None => command.argv.iter().all(|word| word.as_text().is_some()),
        };
        self.action == GuardDecision::Allow && fits && is_host_allowed()
    }

    /// Whether it is another entry that matches the command.
    pub(crate) fn watches_command(&self, command: &ExpandedCommand) -> bool {
        let is_host_named = || {
            let is_meant =
                |pattern: &str| find_command_hosts(&command.argv).iter().any(|host| matches_glob(host, pattern));
            self.host.as_deref().is_none_or(is_meant)
        };
        let fits = match &self.command {
            Some(CommandTest::Loose(pattern)) => pattern.matches_command(&command.argv, &command.variables),
            Some(CommandTest::Exact(_)) => false,
            None => true,
        };
        self.action != GuardDecision::Allow && fits && is_host_named()
    }
}
