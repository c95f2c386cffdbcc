//! Contracts: how a hook is spoken to and how its answer is read. One file per source system, one row per contract.
//!
//! What varies is data where it can be (files, order, working directory, what a failure is shown as, which events can be
//! blocked) and code where it cannot: reading a file or an entry of one, choosing what a matcher compares, building what
//! the hook receives, and reading what it answers.

mod claude;
mod envelope;
mod microai;
mod native;
mod settings_json;
mod wave;
mod whale;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::config::{ConfigReader, EventVocabulary, NodeValue, ObjectFields, SpannedNode};
use crate::event::{Event, EventName};
use crate::hook::{FailurePolicy, Hook};
use crate::matcher::MatchSubject;
use crate::outcome::{Outcome, RunEnd};
use crate::runner::{EnvVariable, HookRunner, SpilledVariable};
use crate::verdict::{Decision, HookAnswer, HookRunStatus};

pub(crate) use claude::{CLAUDE, EVENT_NAMES as CLAUDE_EVENTS};
#[cfg(test)]
pub(crate) use native::HOOK_KEYS;
pub(crate) use native::NATIVE;

/// Every contract, in the order in which their hooks run.
pub(crate) static CONTRACTS: &[&Contract] =
    &[&NATIVE, &wave::WAVE, &microai::MICROAI, &claude::CLAUDE, &claude::CLAUDE_OS, &whale::WHALE];

/// How the hooks of one source system are found, run, spoken to and understood.
pub(crate) struct Contract {
    /// What it is called in files, options and results.
    pub(crate) name: &'static str,
    /// Contracts of one lane run together; lanes run one after the other in the order of [`CONTRACTS`].
    pub(crate) lane: &'static str,
    /// Its files, in the order in which their hooks run.
    pub(crate) locations: &'static [HookFileLocation],
    /// The language of its files.
    pub(crate) syntax: FileSyntax,
    /// Which kinds of entry in a `settings.json` are its own.
    pub(crate) shapes: &'static [EntryShape],
    /// Which names of events its files may use beside the ones that every contract knows.
    pub(crate) vocabulary: EventVocabulary,
    /// Reads what a settings file of its own says about all hooks.
    pub(crate) read_switches: fn(&mut ConfigReader<'_>, &ObjectFields<'_>),
    /// Whether hooks that match run one after the other or together.
    pub(crate) execution_mode: fn(&EventName) -> ExecutionMode,
    /// Whether its later hooks run after one that blocked.
    pub(crate) after_block: AfterBlock,
    /// What a condition means that gave no answer: it timed out, or died.
    pub(crate) condition_failure: ConditionFailure,
    /// Whether hooks that would do the same run once or each.
    pub(crate) dedup: DedupPolicy,
    /// Whether a second change to the input or output counts.
    pub(crate) changes: ChangePolicy,
    pub(crate) working_directory: WorkingDirectoryPolicy,
    /// The variable by which its hooks know the project.
    pub(crate) project_variable: Option<&'static str>,
    /// Where a hook's own failure is shown.
    pub(crate) failure_display: FailureDisplay,
    /// Whether a hook may block the event.
    pub(crate) can_block: fn(&EventName) -> bool,
    /// Whether a hook written for this event reacts to that one.
    pub(crate) find_reaction: fn(&EventName, &Event) -> EventReaction,
    /// Whether a permission rule (`if`) can hold on the event.
    pub(crate) accepts_rules: fn(&EventName) -> bool,
    /// Reads a file, or one entry for an event of a `settings.json`.
    pub(crate) reader: ContractReader,
    /// What a matcher is held against; nothing on events where a matcher has no meaning.
    pub(crate) build_subject: for<'a> fn(&'a Event) -> Option<MatchSubject<'a>>,
    /// What a hook receives.
    pub(crate) build_envelope: fn(&Event, &HookContext<'_>) -> Envelope,
    /// What a hook's answer means.
    pub(crate) read_answer: fn(&Hook, &Event, &Outcome) -> HookAnswer,
}

/// The row that contracts start from, with what most of them share. Each row names what differs, and at least its name,
/// lane, reader, envelope and answer.
const BASE_CONTRACT: Contract = Contract {
    name: "",
    lane: "",
    locations: &[],
    syntax: FileSyntax::Json,
    shapes: &[],
    vocabulary: EventVocabulary::Closed,
    read_switches: |_, _| {},
    execution_mode: |_| ExecutionMode::InOrder,
    after_block: AfterBlock::Continue,
    condition_failure: ConditionFailure::No,
    dedup: DedupPolicy::RunEach,
    changes: ChangePolicy::All,
    working_directory: WorkingDirectoryPolicy::Project,
    project_variable: None,
    failure_display: FailureDisplay::Message,
    can_block: is_preventable,
    find_reaction: react_to_same_name,
    accepts_rules: |_| false,
    reader: ContractReader::File(|_, _| {}),
    build_subject: build_tool_subject,
    build_envelope: |_, _| Envelope::default(),
    read_answer: |_, _, _| HookAnswer::default(),
};

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
pub(crate) struct HookFileLocation {
    pub(crate) base: BaseDirectory,
    pub(crate) path: &'static str,
}

/// Where a place's path begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BaseDirectory {
    Home,
    Project,
    /// The user's configuration directory.
    Config,
}

/// The language of a contract's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileSyntax {
    /// JSON, with comments and trailing commas.
    Json,
    Toml,
}

/// The kinds of entry that a `settings.json` may hold for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryShape {
    /// `{matcher?, hooks: […]}`.
    Group,
    /// `{matcher?, command, …}`.
    Flat,
    /// `"path/to/script"`.
    Script,
}

/// How a contract reads its files.
#[derive(Clone, Copy)]
pub(crate) enum ContractReader {
    /// A whole file.
    File(fn(&mut ConfigReader<'_>, &SpannedNode)),
    /// One entry for an event of a `settings.json`.
    Entry(fn(&mut ConfigReader<'_>, &settings_json::HookEventKey<'_>, &SpannedNode)),
}

/// How the hooks of one event run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExecutionMode {
    /// One after the other.
    InOrder,
    /// All at once.
    Together {
        /// How long all of them may take, however long each may.
        budget: Option<SharedTimeBudget>,
    },
    /// Started, and not awaited.
    Unattended,
}

/// Time that all hooks of an event share: this much, or the longest timeout that a file gives, up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedTimeBudget {
    /// A variable that says otherwise, in milliseconds.
    pub(crate) variable: &'static str,
    pub(crate) at_least: Duration,
    pub(crate) at_most: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterBlock {
    Continue,
    Stop,
}

/// What a condition means that gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConditionFailure {
    /// It does not hold.
    No,
    /// The hook has failed, with what that means for it.
    Failure,
}

/// What becomes of hooks that would do the same for one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DedupPolicy {
    /// One run serves all.
    RunOnce,
    RunEach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangePolicy {
    /// The first one stands.
    First,
    /// Each one counts, in configured order.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkingDirectoryPolicy {
    Project,
    /// The event's, else the project.
    Event,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureDisplay {
    Message,
    Warning,
}

/// Whether a hook written for an event reacts to this one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventReaction {
    Yes,
    No,
    /// The names agree, but the contract has a reason not to.
    Excluded(&'static str),
}

/// What is known around an event while its hooks run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookContext<'a> {
    pub(crate) project: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) now: Timestamp,
    pub(crate) runner: &'a HookRunner,
}

/// What a hook receives.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    /// Shared, because many hooks may receive the same.
    pub(crate) stdin: Option<Arc<str>>,
    pub(crate) variables: Vec<EnvVariable>,
    pub(crate) spills: Vec<SpilledVariable>,
    /// What had to be cut, in words.
    pub(crate) truncations: Vec<String>,
}

/// Whether an event of this name is known to any contract, though it is not in the canonical vocabulary.
pub(crate) fn is_known_event(name: &str) -> bool {
    CONTRACTS
        .iter()
        .any(|contract| matches!(contract.vocabulary, EventVocabulary::Open(names) if names.contains(&name)))
}

/// The contract of this name; our own also answers to "native".
pub(crate) fn find_contract(name: &str) -> Option<&'static Contract> {
    let name = if name == "native" { NATIVE.name } else { name };
    CONTRACTS.iter().copied().find(|contract| contract.name == name)
}

/// The contract whose entry this shape is in a file of `home`: its own where it has such entries, else the usual one.
pub(crate) fn find_contract_for_shape(home: &'static Contract, shape: EntryShape) -> &'static Contract {
    if home.shapes.contains(&shape) {
        return home;
    }
    match shape {
        EntryShape::Group => &claude::CLAUDE,
        EntryShape::Flat => &microai::MICROAI,
        EntryShape::Script => &claude::CLAUDE_OS,
    }
}

/// The contract of a document that lies nowhere in particular, by what it looks like.
pub(crate) fn find_contract_for_document(node: &SpannedNode) -> &'static Contract {
    match node.value {
        NodeValue::Array(_) => &whale::WHALE,
        _ => &claude::CLAUDE,
    }
}

/// Reads a document that belongs to `contract`.
pub(crate) fn read_document(contract: &'static Contract, reader: &mut ConfigReader<'_>, node: &SpannedNode) {
    match contract.reader {
        ContractReader::File(read) => read(reader, node),
        ContractReader::Entry(_) => settings_json::read_settings_json(contract, reader, node),
    }
}

/// Whether the event announces something that can still be kept from happening.
fn is_preventable(event: &EventName) -> bool {
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
fn react_to_same_name(written: &EventName, event: &Event) -> EventReaction {
    if *written == event.name { EventReaction::Yes } else { EventReaction::No }
}

/// As [`react_to_same_name`], but a hook for "after a tool" also reacts to a tool that failed.
fn react_to_name_or_failed_tool(written: &EventName, event: &Event) -> EventReaction {
    let after_any_tool = *written == EventName::PostToolUse && event.name == EventName::PostToolUseFailure;
    if after_any_tool { EventReaction::Yes } else { react_to_same_name(written, event) }
}

/// The tool's name is what a matcher is held against.
fn build_tool_subject(event: &Event) -> Option<MatchSubject<'_>> {
    event.name.is_tool_event().then(|| MatchSubject {
        what: "tool",
        text: event.tool_name(),
        tool: event.tool.as_ref(),
    })
}

/// The answer of a hook whose output is plain text: context, where the event takes any.
fn build_text_answer(event: &Event, text: &str) -> HookAnswer {
    let is_context = matches!(event.name, EventName::SessionStart | EventName::UserPromptSubmit);
    let context = nonblank_text(text).filter(|_| is_context).into_iter().collect();
    HookAnswer { context, ..HookAnswer::default() }
}

/// A hook's own failure: no opinion, unless the hook is declared to fail closed.
fn build_failure_answer(hook: &Hook, outcome: &Outcome) -> HookAnswer {
    let status = if outcome.has_timed_out() { HookRunStatus::TimedOut } else { HookRunStatus::Failed };
    build_failure_answer_with(hook, status, format_failure(hook, outcome))
}

fn build_failure_answer_with(hook: &Hook, status: HookRunStatus, text: String) -> HookAnswer {
    let mut answer = HookAnswer { status: Some(status), ..HookAnswer::default() };
    match (hook.on_failure, hook.contract.failure_display) {
        (FailurePolicy::Block, _) => {
            answer.decision = Decision::Deny;
            answer.reason = Some(text);
        }
        (FailurePolicy::Continue, FailureDisplay::Message) => answer.messages.push(text),
        (FailurePolicy::Continue, FailureDisplay::Warning) => answer.warnings.push(text),
    }
    answer
}

/// `wave hook failed: "npx eslint" exited with 1: <what it wrote to stderr>`.
fn format_failure(hook: &Hook, outcome: &Outcome) -> String {
    let detail = match outcome.end {
        RunEnd::NotStarted(_) => "",
        _ => outcome.stderr.trim(),
    };
    let separator = if detail.is_empty() { "" } else { ": " };
    format!(
        "{} hook failed: \"{}\" {}{separator}{detail}",
        hook.contract_name(),
        hook.command_summary(),
        outcome.describe_end(),
    )
}

/// The reason of a hook that blocks and gives none.
fn default_block_reason(hook: &Hook) -> String {
    format!("Blocked by hook: {}", hook.command_summary())
}

/// What a hook printed, without what surrounds it: blanks, and the mark that some editors and shells put before it.
fn trim_stdout(outcome: &Outcome) -> &str {
    let text = outcome.stdout.trim_start();
    text.strip_prefix('\u{feff}').unwrap_or(text).trim()
}

/// A text that says something, without the line end that every command leaves.
fn nonblank_text(text: &str) -> Option<String> {
    let text = text.trim_end();
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// One line of JSON, with its end.
fn to_json_line(value: &Value) -> String {
    format!("{value}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contract_has_its_own_name_and_every_shape_a_home() {
        for (index, contract) in CONTRACTS.iter().enumerate() {
            assert_eq!(find_contract(contract.name), Some(*contract));
            assert!(CONTRACTS[..index].iter().all(|earlier| earlier.name != contract.name));
            for shape in contract.shapes {
                assert!(find_contract_for_shape(contract, *shape) == *contract);
            }
        }
    }
}
