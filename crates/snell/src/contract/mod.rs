//! Contracts: how a hook is spoken to and how its answer is read. One file per source system, one row per contract.
//!
//! What varies is data where it can be (files, order, working directory, what a failure is shown as, which events can be
//! blocked) and code where it cannot: reading a file or an entry of one, choosing what a matcher compares, building what
//! the hook receives, and reading what it answers.

mod claude;
mod environment;
mod microai;
mod native;
mod settings;
mod wave;
mod whale;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::config::{Fields, Node, NodeValue, Reading, Vocabulary};
use crate::event::{Event, EventName};
use crate::hook::{Hook, OnFailure};
use crate::matcher::Subject;
use crate::outcome::{End, Outcome};
use crate::runner::{Runner, Spill, Variable};
use crate::verdict::{Answer, Decision, Status};

pub(crate) use claude::{CLAUDE, EVENT_NAMES as CLAUDE_EVENTS};
pub(crate) use native::{HOOK_KEYS, Key, Kind, NATIVE, key};

/// Every contract, in the order in which their hooks run.
pub(crate) static CONTRACTS: &[&Contract] = &[
    &NATIVE,
    &wave::WAVE,
    &microai::MICROAI,
    &claude::CLAUDE,
    &claude::CLAUDE_OS,
    &whale::WHALE,
];

/// How the hooks of one source system are found, run, spoken to and understood.
pub(crate) struct Contract {
    /// What it is called in files, options and results.
    pub(crate) name: &'static str,
    /// Contracts of one lane run together; lanes run one after the other in the order of [`CONTRACTS`].
    pub(crate) lane: &'static str,
    /// Its files, in the order in which their hooks run.
    pub(crate) places: &'static [Place],
    /// The language of its files.
    pub(crate) syntax: Syntax,
    /// Which kinds of entry in a `settings.json` are its own.
    pub(crate) shapes: &'static [Shape],
    /// Which names of events its files may use beside the ones that every contract knows.
    pub(crate) vocabulary: Vocabulary,
    /// Reads what a settings file of its own says about all hooks.
    pub(crate) switches: fn(&mut Reading<'_>, &Fields<'_>),
    /// Whether hooks that match run one after the other or together.
    pub(crate) flow: fn(&EventName) -> Flow,
    /// Whether its later hooks run after one that blocked.
    pub(crate) after_block: AfterBlock,
    /// What a condition means that gave no answer: it timed out, or died.
    pub(crate) mute_condition: MuteCondition,
    /// Whether hooks that would do the same run once or each.
    pub(crate) twins: Twins,
    /// Whether a second change to the input or output counts.
    pub(crate) changes: Changes,
    pub(crate) working_directory: WorkingDirectory,
    /// The variable by which its hooks know the project.
    pub(crate) project_variable: Option<&'static str>,
    /// Where a hook's own failure is shown.
    pub(crate) failures: ShownAs,
    /// Whether a hook may block the event.
    pub(crate) blocks: fn(&EventName) -> bool,
    /// Whether a hook written for this event reacts to that one.
    pub(crate) reacts: fn(&EventName, &Event) -> Reacts,
    /// Whether a permission rule (`if`) can hold on the event.
    pub(crate) takes_rules: fn(&EventName) -> bool,
    /// Reads a file, or one entry for an event of a `settings.json`.
    pub(crate) read: Read,
    /// What a matcher is held against; nothing on events where a matcher has no meaning.
    pub(crate) subject: for<'a> fn(&'a Event) -> Option<Subject<'a>>,
    /// What a hook receives.
    pub(crate) envelope: fn(&Event, &Scene<'_>) -> Envelope,
    /// What a hook's answer means.
    pub(crate) answer: fn(&Hook, &Event, &Outcome) -> Answer,
}

impl std::fmt::Debug for Contract {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Contract {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A file of a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) base: Base,
    pub(crate) path: &'static str,
}

/// Where a place's path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    Home,
    Project,
    /// The user's configuration directory.
    Config,
}

/// The language of a contract's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// JSON, with comments and trailing commas.
    Json,
    Toml,
}

/// The kinds of entry that a `settings.json` may hold for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{matcher?, hooks: […]}`.
    Group,
    /// `{matcher?, command, …}`.
    Flat,
    /// `"path/to/script"`.
    Script,
}

/// How a contract reads its files.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// A whole file.
    File(fn(&mut Reading<'_>, &Node)),
    /// One entry for an event of a `settings.json`.
    Entry(fn(&mut Reading<'_>, &settings::EventKey<'_>, &Node)),
}

/// How the hooks of one event run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// One after the other.
    InOrder,
    /// All at once.
    Together {
        /// How long all of them may take, however long each may.
        budget: Option<SharedBudget>,
    },
    /// Started, and not awaited.
    Unattended,
}

/// Time that all hooks of an event share: this much, or the longest timeout that a file gives, up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedBudget {
    /// A variable that says otherwise, in milliseconds.
    pub(crate) variable: &'static str,
    pub(crate) at_least: Duration,
    pub(crate) at_most: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterBlock {
    GoOn,
    Stop,
}

/// What a condition means that gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MuteCondition {
    /// It does not hold.
    No,
    /// The hook has failed, with what that means for it.
    Failure,
}

/// What becomes of hooks that would do the same for one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Twins {
    /// One run serves all.
    RunOnce,
    RunEach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changes {
    /// The first one stands.
    First,
    /// Each one counts, in configured order.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkingDirectory {
    Project,
    /// The event's, else the project.
    Event,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ShownAs {
    Message,
    Warning,
}

/// Whether a hook written for an event reacts to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reacts {
    Yes,
    No,
    /// The names agree, but the contract has a reason not to.
    Not(&'static str),
}

/// What is known around an event while its hooks run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scene<'a> {
    pub(crate) project: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) now: Timestamp,
    pub(crate) runner: &'a Runner,
}

/// What a hook receives.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    /// Shared, because many hooks may receive the same.
    pub(crate) stdin: Option<Arc<str>>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) spills: Vec<Spill>,
    /// What had to be cut, in words.
    pub(crate) cut: Vec<String>,
}

/// Whether an event of this name is known to any contract, though it is not in the canonical vocabulary.
pub(crate) fn is_known_event(name: &str) -> bool {
    CONTRACTS
        .iter()
        .any(|contract| matches!(contract.vocabulary, Vocabulary::Open(names) if names.contains(&name)))
}

/// The contract of this name; our own also answers to "native".
pub(crate) fn by_name(name: &str) -> Option<&'static Contract> {
    let name = if name == "native" { NATIVE.name } else { name };
    CONTRACTS.iter().copied().find(|contract| contract.name == name)
}

/// The contract whose entry this shape is in a file of `home`: its own where it has such entries, else the usual one.
pub(crate) fn for_shape(home: &'static Contract, shape: Shape) -> &'static Contract {
    if home.shapes.contains(&shape) {
        return home;
    }
    match shape {
        Shape::Group => &claude::CLAUDE,
        Shape::Flat => &microai::MICROAI,
        Shape::Script => &claude::CLAUDE_OS,
    }
}

/// The contract of a document that lies nowhere in particular, by what it looks like.
pub(crate) fn for_document(node: &Node) -> &'static Contract {
    match node.value {
        NodeValue::Array(_) => &whale::WHALE,
        _ => &claude::CLAUDE,
    }
}

/// Reads a document that belongs to `contract`.
pub(crate) fn read(contract: &'static Contract, reading: &mut Reading<'_>, node: &Node) {
    match contract.read {
        Read::File(read) => read(reading, node),
        Read::Entry(_) => settings::read(contract, reading, node),
    }
}

/// Its files say nothing about all hooks.
fn no_switches(_reading: &mut Reading<'_>, _root: &Fields<'_>) {}

/// Whether the event announces something that can still be kept from happening.
fn is_yet_to_happen(event: &EventName) -> bool {
    matches!(
        event,
        EventName::PreToolUse
            | EventName::PermissionRequest
            | EventName::UserPromptSubmit
            | EventName::Stop
            | EventName::SubagentStop
    )
}

/// Hooks react to the event they are written for, and to no other.
fn same_name(written: &EventName, event: &Event) -> Reacts {
    if *written == event.name {
        Reacts::Yes
    } else {
        Reacts::No
    }
}

/// As [`same_name`], but a hook for "after a tool" also reacts to a tool that failed.
fn same_name_or_failed_tool(written: &EventName, event: &Event) -> Reacts {
    let after_any_tool = *written == EventName::PostToolUse && event.name == EventName::PostToolUseFailure;
    if after_any_tool {
        Reacts::Yes
    } else {
        same_name(written, event)
    }
}

/// It has no permission rules.
fn no_rules(_event: &EventName) -> bool {
    false
}

/// The tool's name is what a matcher is held against.
fn tool_subject(event: &Event) -> Option<Subject<'_>> {
    event.name.is_about_a_tool().then(|| Subject {
        what: "tool",
        text: event.tool_name(),
        tool: event.tool.as_ref(),
    })
}

/// A hook's own failure: no opinion, unless the hook is declared to fail closed.
fn own_failure(hook: &Hook, outcome: &Outcome) -> Answer {
    let status = if outcome.timed_out() {
        Status::TimedOut
    } else {
        Status::Failed
    };
    failed(hook, status, failure_text(hook, outcome))
}

fn failed(hook: &Hook, status: Status, text: String) -> Answer {
    let mut answer = Answer {
        status: Some(status),
        ..Answer::default()
    };
    match (hook.on_failure, hook.contract.failures) {
        (OnFailure::Block, _) => {
            answer.decision = Decision::Deny;
            answer.reason = Some(text);
        }
        (OnFailure::Continue, ShownAs::Message) => answer.messages.push(text),
        (OnFailure::Continue, ShownAs::Warning) => answer.warnings.push(text),
    }
    answer
}

/// `wave hook failed: "npx eslint" exited with 1: <what it wrote to stderr>`.
fn failure_text(hook: &Hook, outcome: &Outcome) -> String {
    let detail = match outcome.end {
        End::NotStarted(_) => "",
        _ => outcome.stderr.trim(),
    };
    let separator = if detail.is_empty() { "" } else { ": " };
    format!(
        "{} hook failed: \"{}\" {}{separator}{detail}",
        hook.contract(),
        hook.command(),
        outcome.ending(),
    )
}

/// The reason of a hook that blocks and gives none.
fn blocked_by(hook: &Hook) -> String {
    format!("Blocked by hook: {}", hook.command())
}

/// What a hook printed, without what surrounds it: blanks, and the mark that some editors and shells put before it.
fn printed(outcome: &Outcome) -> &str {
    let text = outcome.stdout.trim_start();
    text.strip_prefix('\u{feff}').unwrap_or(text).trim()
}

/// A text that says something, without the line end that every command leaves.
fn said(text: &str) -> Option<String> {
    let text = text.trim_end();
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// One line of JSON, with its end.
fn json_line(value: &Value) -> String {
    format!("{value}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contract_has_its_own_name_and_every_shape_a_home() {
        for (index, contract) in CONTRACTS.iter().enumerate() {
            assert_eq!(by_name(contract.name), Some(*contract));
            assert!(CONTRACTS[..index].iter().all(|earlier| earlier.name != contract.name));
            for shape in contract.shapes {
                assert!(for_shape(contract, *shape) == *contract);
            }
        }
    }
}
