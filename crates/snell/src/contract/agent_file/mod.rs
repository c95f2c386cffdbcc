//! Hook files of agents that differ in names and constants: one reader, one builder of payloads, and one reader of answers,
//! driven by a table per agent.
//!
//! A hook keeps its agent's names under every other agent: its payload has the agent's own event and tool, rebuilt from the
//! canonical event, and its answer is translated back.

mod answer;
mod entry;
mod payload;
mod program;
mod reader;

use std::borrow::Cow;

use serde_json::Value;

use super::claude::events::{self, MatchTarget};
use super::{BASE_CONTRACT, Contract, ContractReader, EventReaction, react_to_same_name};
use crate::agents::{AgentProduct, ToolDialect};
use crate::event::{Event, EventName, ToolCall, ToolClass};
use crate::hook::Hook;
use crate::matcher::{MatchSubject, tool_aliases};

pub(crate) use answer::{
    AnswerMeaning, AnswerTable, BASE_ANSWER, ExitMeaning, InputChange, JsonExits, TextMeaning, answer_row,
    answer_row_for,
};
pub(crate) use entry::{BASE_ENTRY, CommandKey, EntryRules, HandlerType, TypeKey};
pub(crate) use payload::{EventFilter, PayloadTable, PayloadValue, payload_field};
pub(crate) use program::{is_program_name, read_program};
pub(crate) use reader::read_agent_file;

/// A hook file format of an agent.
pub(crate) struct AgentFileFormat {
    /// The agent's name. Its row has its events and tools.
    pub(crate) agent: &'static str,
    pub(crate) layout: FileLayout,
    /// A key of the root that disables the hooks of the file.
    pub(crate) file_switch: Option<&'static str>,
    /// The keys of the root, if the agent accepts no others.
    pub(crate) root_keys: Option<&'static [&'static str]>,
    pub(crate) entry: EntryRules,
    pub(crate) matcher: MatcherGrammar,
    /// Another agent whose event names it also accepts.
    pub(crate) event_aliases: Option<&'static str>,
    /// The events of its files, if they are not all of the agent's.
    pub(crate) events: Option<&'static [&'static str]>,
    /// Events that are about one class of tools.
    pub(crate) event_classes: &'static [(&'static str, ToolClass)],
    /// Events that only this agent fires, although they are about tools.
    pub(crate) inert_events: &'static [&'static str],
    /// Events whose matchers compare something else than Claude Code's.
    pub(crate) match_targets: &'static [(&'static str, MatchTarget)],
    /// The names of a tool that matchers compare, for an event of this name.
    pub(crate) tool_names: fn(&str) -> ToolNameForm,
    /// Another call with the same effect, for tools that the agent does not have.
    pub(crate) translate_call: fn(&ToolCall) -> Option<ToolCall>,
    pub(crate) payload: PayloadTable,
    pub(crate) variables: &'static [(&'static str, PayloadValue)],
    pub(crate) answer: AnswerTable,
}

/// Where the hooks are in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileLayout {
    /// `hooks.EVENT[]` has groups: `{matcher, hooks: […]}`.
    Groups,
    /// As [`FileLayout::Groups`], and the events may be at the root, without `hooks`.
    RootGroups,
    /// `hooks.EVENT[]` has hooks.
    Flat,
    /// `hooks[]` has hooks, and this key of a hook names its event.
    List(&'static str),
    /// The file is a program.
    Program,
}

/// The grammar of a format's matchers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MatcherGrammar {
    /// The format has no matchers.
    Absent,
    /// A list of exact names, else a regular expression, as Claude Code.
    NamesOrExpression(crate::matcher::NameListCharset),
    /// A regular expression for a part of the name.
    Expression,
    /// The same. An invalid expression is a name, and values that are no tools are compared as a whole.
    ExpressionOrName,
    /// A list of exact names, else a regular expression for the whole name.
    WholeExpression,
    /// Wildcards in any case, or `re:` and a regular expression. Only for events about tools.
    GlobOrMarkedExpression,
}

/// The names of a tool that a matcher compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolNameForm {
    /// The agent's own.
    Native,
    /// The agent's own, and Claude Code's. A patch is also `Edit` and `Write`.
    NativeAndCanonical,
}

/// The base of every table.
pub(crate) const BASE_FORMAT: AgentFileFormat = AgentFileFormat {
    agent: "",
    layout: FileLayout::Groups,
    file_switch: None,
    root_keys: None,
    entry: BASE_ENTRY,
    matcher: MatcherGrammar::Absent,
    event_aliases: None,
    events: None,
    event_classes: &[],
    inert_events: &[],
    match_targets: &[],
    tool_names: |_| ToolNameForm::Native,
    translate_call: |_| None,
    payload: PayloadTable { has_claude_fields: |_| false, fields: &[] },
    variables: &[],
    answer: BASE_ANSWER,
};

/// The base of every contract with a table.
pub(crate) const AGENT_CONTRACT: Contract = Contract {
    find_reaction,
    build_subject,
    build_envelope: payload::build_envelope,
    read_answer: answer::read_answer,
    working_directory: super::WorkingDirectoryPolicy::Event,
    ..BASE_CONTRACT
};

/// An event of a format.
#[derive(Debug)]
pub(crate) struct AgentFileEvent {
    /// The agent's own name.
    pub(crate) native: &'static str,
    /// Canonical names. A hook after a tool also reacts to a failed tool, if the agent has no other event for it.
    pub(crate) canonical: Vec<EventName>,
    pub(crate) tool_class: Option<ToolClass>,
}

impl AgentFileFormat {
    fn product(&self) -> Option<&'static AgentProduct> {
        AgentProduct::find_by_name(self.agent)
    }

    fn tools(&self) -> &'static ToolDialect {
        self.product().map_or(&crate::agents::CANONICAL_TOOLS, |product| product.tool_dialect())
    }

    /// The agent's own names of events.
    pub(crate) fn event_names(&self) -> &'static [&'static str] {
        self.events.or_else(|| self.product().map(|product| product.events)).unwrap_or_default()
    }

    /// The call with the agent's own names.
    fn to_native_call(&self, tool: &ToolCall) -> ToolCall {
        (self.translate_call)(tool).unwrap_or_else(|| self.tools().to_native_call(tool))
    }

    /// A changed input of the agent's call, with canonical keys. `None` if it cannot be translated back.
    fn to_canonical_input(&self, tool: &ToolCall, input: Value) -> Option<Value> {
        let is_translated = (self.translate_call)(tool).is_some();
        (!is_translated).then(|| self.tools().to_canonical_input(tool, input))
    }

    /// The agent's name for people.
    fn title(&self) -> &'static str {
        self.product().map_or(self.agent, |product| product.title)
    }

    /// The agent's own name of a canonical event.
    fn find_native_name(&self, event: &EventName) -> Option<&'static str> {
        let is_event = |name: &&str| self.find_event(name).is_some_and(|found| found.canonical.first() == Some(event));
        self.event_names().iter().copied().find(is_event)
    }

    /// The event with this name of the agent's.
    pub(crate) fn find_event(&self, name: &str) -> Option<AgentFileEvent> {
        let is_known = self.events.is_none_or(|events| events.contains(&name));
        let product = self.product()?;
        let by_alias = || {
            let (_, canonical) = AgentProduct::find_by_name(self.event_aliases?)?.find_canonical_event(name)?;
            product.find_canonical_event(canonical.as_str())
        };
        let found = product.find_canonical_event(name).or_else(by_alias);
        let (native, canonical) = found.filter(|_| is_known)?;
        let is_inert = self.inert_events.contains(&native);
        let canonical = if is_inert { EventName::Other(native.to_owned()) } else { canonical };
        let has_failures = self.event_names().iter().any(|name| name.eq_ignore_ascii_case("PostToolUseFailure"));
        let failures = (canonical == EventName::PostToolUse && !has_failures).then_some(EventName::PostToolUseFailure);
        let tool_class = self.event_classes.iter().find(|(event, _)| *event == native).map(|(_, class)| *class);
        Some(AgentFileEvent { native, canonical: std::iter::once(canonical).chain(failures).collect(), tool_class })
    }

    /// The value that matchers of an event compare.
    fn match_target(&self, native: &str, canonical: &EventName) -> MatchTarget {
        let own = self.match_targets.iter().find(|(event, _)| *event == native).map(|(_, target)| *target);
        let usual = || events::find_event_row(canonical).map_or(MatchTarget::Nothing, |row| row.matcher);
        own.unwrap_or_else(usual)
    }
}

/// The table of a hook's format, if it has one.
fn find_format(hook: &Hook) -> Option<&'static AgentFileFormat> {
    match hook.contract.reader {
        ContractReader::Agent(format) => Some(format),
        _ => None,
    }
}

/// Reacts to events of the same name, if the tool is of the event's class.
fn find_reaction(hook: &Hook, written: &EventName, event: &Event) -> EventReaction {
    let reaction = react_to_same_name(hook, written, event);
    let is_of_class = |class: ToolClass| {
        let tool = event.tool.as_ref();
        let names = tool.map(|tool| tool.name.as_str()).into_iter().chain(tool.into_iter().flat_map(tool_aliases));
        names.into_iter().any(|name| class.contains(name))
    };
    match hook.agent_entry.tool_class {
        Some(class) if reaction == EventReaction::Yes && !is_of_class(class) => {
            EventReaction::Excluded("its event is about tools of another class")
        }
        _ => reaction,
    }
}

fn build_subject<'a>(hook: &Hook, event: &'a Event) -> Option<MatchSubject<'a>> {
    let format = find_format(hook)?;
    let native = hook.agent_entry.native_event.unwrap_or_default();
    match format.match_target(native, &event.name) {
        MatchTarget::Nothing => None,
        MatchTarget::Tool => Some(build_tool_subject(format, native, event.tool.as_ref())),
        other => Some(other.build_subject(event)),
    }
}

fn build_tool_subject<'a>(
    format: &AgentFileFormat,
    native_event: &str,
    tool: Option<&'a ToolCall>,
) -> MatchSubject<'a> {
    let Some(tool) = tool.filter(|tool| !tool.name.is_empty()) else {
        return MatchSubject::from_tool(tool);
    };
    let native = Cow::Owned(format.to_native_call(tool).name);
    let more: Vec<Cow<'a, str>> = match (format.tool_names)(native_event) {
        ToolNameForm::Native => Vec::new(),
        ToolNameForm::NativeAndCanonical => {
            std::iter::once(tool.name.as_str()).chain(tool_aliases(tool)).map(Cow::Borrowed).collect()
        }
    };
    let texts = std::iter::once(native).chain(more).collect();
    MatchSubject { texts, ..MatchSubject::from_tool(Some(tool)) }
}
