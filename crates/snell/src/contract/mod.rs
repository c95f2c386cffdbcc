//! Contracts: the input of a hook and the meaning of its answer. One file per source system, one row per contract.
//!
//! Differences are data if possible (files, order, working directory, how failures are shown, which events can be
//! blocked) and functions otherwise: reading a file or an entry, choosing what a matcher compares, building the input
//! of the hook, and reading its answer.

mod agent_file;
mod claude;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod envelope;
mod gemini;
mod grok;
mod kimi;
mod location;
mod microai;
mod native;
mod qwen;
mod settings_json;
mod vibe;
mod wave;
mod whale;
mod windsurf;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::config::{ConfigReader, EventVocabulary, NodeValue, ObjectFields, SpannedNode};
use crate::event::{Event, EventName};
use crate::hook::{FailurePolicy, Hook};
use crate::matcher::{CommandMatcher, FilterScene, MatchSubject};
use crate::outcome::{Outcome, RunEnd};
use crate::runner::{EnvVariable, HookRunner, SpilledVariable};
use crate::verdict::{Decision, HookAnswer, HookRunStatus};

use agent_file::AgentFileFormat;
pub(crate) use agent_file::{is_program_name, read_program};
pub(crate) use claude::{CLAUDE, EVENT_NAMES as CLAUDE_EVENTS};
pub(crate) use location::{BaseDirectory, HookFileLocation, LocationForm};
#[cfg(test)]
pub(crate) use native::HOOK_KEYS;
pub(crate) use native::NATIVE;

/// Every contract, in the order in which their hooks run.
pub(crate) static CONTRACTS: &[&Contract] = &[
    &NATIVE,
    &wave::WAVE,
    &microai::MICROAI,
    &claude::CLAUDE,
    &claude::CLAUDE_OS,
    &whale::WHALE,
    &codex::CODEX,
    &gemini::GEMINI,
    &qwen::QWEN,
    &copilot::COPILOT,
    &cursor::CURSOR,
    &cline::CLINE,
    &kimi::KIMI,
    &grok::GROK,
    &vibe::VIBE,
    &windsurf::WINDSURF,
    &droid::DROID,
];

/// How the hooks of one source system are found and run.
pub(crate) struct Contract {
    /// Its name in files, options and results.
    pub(crate) name: &'static str,
    /// Contracts of one lane run together. Lanes run one after the other in the order of [`CONTRACTS`].
    pub(crate) lane: &'static str,
    /// Its files, in the order in which their hooks run.
    pub(crate) locations: &'static [HookFileLocation],
    /// The syntax of its files.
    pub(crate) syntax: FileSyntax,
    /// The kinds of entries in a `settings.json` that belong to it.
    pub(crate) shapes: &'static [EntryShape],
    /// The event names of its files beyond the canonical ones.
    pub(crate) vocabulary: EventVocabulary,
    /// Reads the keys of its settings file that apply to all hooks.
    pub(crate) read_switches: fn(&mut ConfigReader<'_>, &ObjectFields<'_>),
    /// Whether matching hooks run one after the other or together.
    pub(crate) execution_mode: fn(&EventName) -> ExecutionMode,
    /// Whether later hooks run after a block.
    pub(crate) after_block: AfterBlock,
    /// The meaning of a condition that timed out or was killed.
    pub(crate) condition_failure: ConditionFailure,
    /// Whether duplicate hooks run once or each.
    pub(crate) dedup: DedupPolicy,
    /// Whether a second change to the input or output applies.
    pub(crate) changes: ChangePolicy,
    pub(crate) working_directory: WorkingDirectoryPolicy,
    /// The environment variable with the project.
    pub(crate) project_variable: Option<&'static str>,
    /// Where a hook's own failure is shown.
    pub(crate) failure_display: FailureDisplay,
    /// Whether a hook may block the event.
    pub(crate) can_block: fn(&EventName) -> bool,
    /// Whether a hook written for this event reacts to that one.
    pub(crate) find_reaction: fn(&Hook, &EventName, &Event) -> EventReaction,
    /// Whether a permission rule (`if`) works on the event.
    pub(crate) accepts_rules: fn(&EventName) -> bool,
    /// Reads a file, or one entry for an event of a `settings.json`.
    pub(crate) reader: ContractReader,
    /// The value that a matcher compares. `None` on events without matchers.
    pub(crate) build_subject: for<'a> fn(&Hook, &'a Event) -> Option<MatchSubject<'a>>,
    /// The input of a hook.
    pub(crate) build_envelope: fn(&Hook, &Event, &HookContext<'_>) -> Envelope,
    /// The meaning of a hook's answer.
    pub(crate) read_answer: fn(&Hook, &Event, &Outcome) -> HookAnswer,
}

/// The base row. Each contract sets its differences, and at least its name, lane, reader, envelope and answer.
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
    build_envelope: |_, _, _| Envelope::default(),
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

/// The syntax of a contract's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileSyntax {
    /// JSON, with comments and trailing commas. A file of such a contract whose name ends with `.toml` is TOML.
    Json,
    Toml,
    /// The file is the hook itself.
    Program,
}

/// The kinds of entries that a `settings.json` may have for an event.
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
    /// A hook file of an agent, by its table.
    Agent(&'static AgentFileFormat),
}

/// How the hooks of one event run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ExecutionMode {
    /// One after the other.
    InOrder,
    /// All at once.
    Together {
        /// The time that all of them share.
        budget: Option<SharedTimeBudget>,
    },
    /// In the background.
    Unattended,
}

/// The time that all hooks of an event share: this much, or the longest timeout in a file, up to a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedTimeBudget {
    /// The environment variable that overrides it, in milliseconds.
    pub(crate) variable: &'static str,
    pub(crate) at_least: Duration,
    pub(crate) at_most: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterBlock {
    Continue,
    Stop,
}

/// The meaning of a condition that could not be evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConditionFailure {
    /// The condition is false.
    No,
    /// The hook has failed.
    Failure,
}

/// The handling of duplicate hooks of one event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DedupPolicy {
    /// Only one of them runs.
    RunOnce,
    RunEach,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangePolicy {
    /// Only the first change applies.
    First,
    /// Every change applies, in configured order.
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkingDirectoryPolicy {
    Project,
    /// The event's directory, else the project.
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
    /// The names are equal, but the contract excludes the event for this reason.
    Excluded(&'static str),
}

/// The surroundings of an event while its hooks run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HookContext<'a> {
    pub(crate) project: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) now: Timestamp,
    pub(crate) runner: &'a HookRunner,
    pub(crate) commands: &'a dyn CommandMatcher,
}

impl<'a> HookContext<'a> {
    /// The part that further conditions of hooks need.
    pub(crate) fn filter_scene(&self) -> FilterScene<'a> {
        FilterScene { project: self.project, home: self.home, commands: self.commands }
    }
}

/// The input of a hook.
#[derive(Debug, Default)]
pub(crate) struct Envelope {
    /// Shared, because many hooks may receive the same input.
    pub(crate) stdin: Option<Arc<str>>,
    pub(crate) variables: Vec<EnvVariable>,
    pub(crate) spills: Vec<SpilledVariable>,
    /// Warnings about values that had to be cut.
    pub(crate) truncations: Vec<String>,
}

/// Whether any contract knows an event of this name beyond the canonical ones.
pub(crate) fn is_known_event(name: &str) -> bool {
    CONTRACTS
        .iter()
        .any(|contract| matches!(contract.vocabulary, EventVocabulary::Open(names) if names.contains(&name)))
}

/// The contract of this name. The native one also has the name "native".
pub(crate) fn find_contract(name: &str) -> Option<&'static Contract> {
    let name = if name == "native" { NATIVE.name } else { name };
    CONTRACTS.iter().copied().find(|contract| contract.name == name)
}

/// The contract of an entry with this shape in a file of `home`: `home` itself if it has such entries, else the usual
/// one.
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

/// The contract of a document at an unknown path, by its content.
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
        ContractReader::Agent(format) => agent_file::read_agent_file(contract, format, reader, node),
    }
}

/// Whether the event can still be prevented.
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

/// Hooks react only to the event that they are written for.
fn react_to_same_name(_hook: &Hook, written: &EventName, event: &Event) -> EventReaction {
    if *written == event.name { EventReaction::Yes } else { EventReaction::No }
}

/// As [`react_to_same_name`], but a hook for "after a tool" also reacts to a tool that failed.
fn react_to_name_or_failed_tool(hook: &Hook, written: &EventName, event: &Event) -> EventReaction {
    let after_any_tool = *written == EventName::PostToolUse && event.name == EventName::PostToolUseFailure;
    if after_any_tool { EventReaction::Yes } else { react_to_same_name(hook, written, event) }
}

/// A matcher compares the tool's name.
fn build_tool_subject<'a>(_hook: &Hook, event: &'a Event) -> Option<MatchSubject<'a>> {
    event.name.is_tool_event().then(|| MatchSubject::from_tool(event.tool.as_ref()))
}

/// The answer of a hook with plain text output: context, if the event accepts any.
fn build_text_answer(event: &Event, text: &str) -> HookAnswer {
    let is_context = matches!(event.name, EventName::SessionStart | EventName::UserPromptSubmit);
    let context = nonblank_text(text).filter(|_| is_context).into_iter().collect();
    HookAnswer { context, ..HookAnswer::default() }
}

/// The answer of a failed hook: no decision, unless the hook is configured to fail closed.
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

/// The reason of a block without a reason.
fn default_block_reason(hook: &Hook) -> String {
    format!("Blocked by hook: {}", hook.command_summary())
}

/// The output of a hook, without surrounding blanks and without a byte order mark.
fn trim_stdout(outcome: &Outcome) -> &str {
    let text = outcome.stdout.trim_start();
    text.strip_prefix('\u{feff}').unwrap_or(text).trim()
}

/// The text without its line end, if it is not blank.
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
