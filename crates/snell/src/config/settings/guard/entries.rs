//! `[[guard.deny]]`, `[[guard.ask]]` and `[[guard.allow]]`: rules of the user's own.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::super::values::read_checked_text;
use super::reader::read_date;
use super::{GuardAuthor, GuardChoice, UNKNOWN_AUTHOR, resolve_path};
use crate::agents::AgentProduct;
use crate::config::discovery::FileOwner;
use crate::config::reader::{ConfigReader, ObjectFields};
use crate::config::source::ConfigSource;
use crate::config::spanned::{NodeValue, SpannedNode};
use crate::diagnostic::{Diagnostic, UserMessage};
use crate::event::ToolCall;
use crate::hook::SourceLocation;
use crate::matcher::{MatchSubject, Matcher};

/// The tables of entries, strictest first.
pub(super) const ENTRY_TABLES: &[(&str, GuardChoice)] =
    &[("deny", GuardChoice::Deny), ("ask", GuardChoice::Ask), ("allow", GuardChoice::Allow)];

/// The keys of an entry.
pub(in super::super) const ENTRY_KEYS: &[&str] =
    &["command", "tool", "path", "host", "agent", "reason", "until", "match", "not_match"];

/// The conditions of an entry.
const CONDITION_KEYS: &[&str] = &["command", "tool", "path", "host", "agent"];

/// A call that is denied, asked about or allowed. All conditions must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GuardEntry {
    /// The reaction.
    pub action: GuardChoice,
    /// The words of a command. `*` and `**` are wildcards.
    pub command: Option<String>,
    /// The tools.
    pub tool: Option<ToolCondition>,
    /// A path that the call reads or changes: absolute if the home directory is known. `*`, `?` and `**` are wildcards.
    pub path: Option<PathBuf>,
    /// A host that the call names. `*` and `?` are wildcards.
    pub host: Option<String>,
    /// The agents, by the names of their products; empty for all.
    pub agents: Vec<String>,
    /// Why.
    pub reason: Option<String>,
    /// The last day on which it applies.
    pub until: Option<Date>,
    /// Its author.
    pub author: GuardAuthor,
    /// Its position.
    pub origin: SourceLocation,
}

impl GuardEntry {
    /// Whether its last day is over, in UTC.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        let today = now.to_zoned(TimeZone::UTC).date();
        self.until.is_some_and(|until| until < today)
    }

    /// The same with an absolute path. A denied path that begins with `**` is in any directory.
    pub(super) fn with_resolved_path(&self, base: Option<&Path>, home: Option<&Path>) -> Self {
        let is_anywhere = |path: &Path| self.action != GuardChoice::Allow && path.starts_with("**");
        let resolve = |path: &Path| {
            let base = if is_anywhere(path) { Some(Path::new("/")) } else { base };
            resolve_path(path, base, home)
        };
        Self { path: self.path.as_deref().map(resolve), ..self.clone() }
    }

    /// Whether it is for this tool and this agent.
    pub fn applies_to(&self, tool: &ToolCall, agent: Option<&str>) -> bool {
        let is_agent =
            self.agents.is_empty() || agent.is_some_and(|agent| self.agents.iter().any(|name| name == agent));
        is_agent && self.tool.as_ref().is_none_or(|condition| condition.matches(tool))
    }

    /// Whether it is for some tools or agents only.
    pub fn is_for_some_callers(&self) -> bool {
        self.tool.is_some() || !self.agents.is_empty()
    }

    /// Its conditions, as people read them.
    pub fn describe_conditions(&self) -> String {
        let tool = self.tool.as_ref().map(|tool| format!("tool {}", tool.source_text()));
        let path = self.path.as_ref().map(|path| format!("path {}", path.display()));
        let host = self.host.as_ref().map(|host| format!("host {host}"));
        let agent = (!self.agents.is_empty()).then(|| format!("agent {}", self.agents.join(", ")));
        let all = [self.command.clone(), tool, path, host, agent];
        all.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }
}

/// Names, classes or expressions of tools, as a hook's `tool`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCondition {
    matcher: Matcher,
}

/// Conditions are compared by their texts.
impl Eq for ToolCondition {}

impl ToolCondition {
    /// As it is written.
    pub fn source_text(&self) -> &str {
        self.matcher.source_text().unwrap_or_default()
    }

    fn matches(&self, tool: &ToolCall) -> bool {
        self.matcher.matches(&MatchSubject::from_tool(Some(tool)))
    }
}

/// A test case of an entry: a command, or `Tool {json}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardCase {
    /// As it is written.
    pub text: String,
    /// Its position.
    pub origin: SourceLocation,
}

/// The test cases of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardEntryCases {
    /// The position of the entry, as in [`GuardEntry::origin`].
    pub entry: SourceLocation,
    /// Calls that the entry matches.
    pub matches: Vec<GuardCase>,
    /// Calls that it does not match.
    pub not_match: Vec<GuardCase>,
}

/// The test cases of all entries of a `snell.toml`, and problems with them. Only `snell guard test` needs them, so the
/// settings do not contain them.
pub fn read_guard_cases(display_path: &str, text: &str) -> (Vec<GuardEntryCases>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let diagnostics = read_guard_table(display_path, text, |reader, tables| {
        let lists = ENTRY_TABLES.iter().filter_map(|(table, _)| tables.get(table)).map(|node| &node.value);
        let items = lists.filter_map(|list| if let NodeValue::Array(items) = list { Some(items) } else { None });
        for item in items.flatten() {
            let Some(fields) = reader.read_object(item, "an entry") else {
                continue;
            };
            found.push(GuardEntryCases {
                entry: locate_entry(reader, item, &fields),
                matches: read_cases(reader, &fields, "match"),
                not_match: read_cases(reader, &fields, "not_match"),
            });
        }
    });
    (found, diagnostics)
}

/// The entries of a text that may become the user's own `snell.toml`, and the problems of its `[guard]`.
pub fn read_user_guard_entries(
    display_path: &str,
    text: &str,
    home: Option<&Path>,
) -> (Vec<GuardEntry>, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let diagnostics = read_guard_table(display_path, text, |reader, tables| found = read_entries(reader, tables));
    let entries =
        found.into_iter().map(|entry| GuardEntry { author: GuardAuthor::User, ..entry.with_resolved_path(home, home) });
    (entries.collect(), diagnostics)
}

/// Reads the `[guard]` table of a text. A text that is not TOML is one problem.
fn read_guard_table(
    display_path: &str,
    text: &str,
    read: impl FnOnce(&mut ConfigReader<'_>, &ObjectFields<'_>),
) -> Vec<Diagnostic> {
    let source = ConfigSource::from_text(display_path.to_owned(), text.to_owned());
    let mut reader = ConfigReader::new(&source, FileOwner::User);
    match SpannedNode::from_toml(text) {
        Ok(root) => {
            let guard = reader.read_object(&root, "snell.toml").and_then(|root| root.get("guard"));
            if let Some(tables) = guard.and_then(|guard| reader.read_object(guard, "[guard]")) {
                read(&mut reader, &tables);
            }
        }
        Err(fault) => reader.add_error(fault.offset, fault.message),
    }
    reader.diagnostics
}

fn read_cases(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>, key: &str) -> Vec<GuardCase> {
    let items = fields.get(key).and_then(|node| reader.read_array(node, &format!("\"{key}\""))).unwrap_or_default();
    let read = |item: &SpannedNode| {
        let text = reader.expect_text(item, key)?;
        Some(GuardCase { text, origin: reader.locate_offset(item.offset) })
    };
    items.iter().filter_map(read).collect()
}

/// The position of an entry: its first condition.
fn locate_entry(reader: &ConfigReader<'_>, item: &SpannedNode, fields: &ObjectFields<'_>) -> SourceLocation {
    let first = CONDITION_KEYS.iter().find_map(|key| fields.get(key));
    reader.locate_offset(first.map_or(item.offset, |node| node.offset))
}

/// The entries of all tables of a file.
pub(super) fn read_entries(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Vec<GuardEntry> {
    let mut entries = Vec::new();
    for (table, action) in ENTRY_TABLES {
        let Some(node) = fields.get(table) else {
            continue;
        };
        let NodeValue::Array(items) = &node.value else {
            let kind = reader.kind_name(node);
            let message = UserMessage::new(format!("\"{table}\" must be a list of tables, not {kind}"));
            let hint = format!("write [[guard.{table}]] with \"command\" and \"reason\"");
            reader.add_error(node.offset, message.with_hint(hint));
            continue;
        };
        entries.extend(items.iter().filter_map(|item| read_entry(reader, item, *action)));
    }
    entries
}

fn read_entry(reader: &mut ConfigReader<'_>, item: &SpannedNode, action: GuardChoice) -> Option<GuardEntry> {
    let what = format!("a [[guard.{}]]", action.name());
    let fields = reader.read_table(item, &what, ENTRY_KEYS)?;
    // Report all problems of an entry at once.
    let is_unconditional = !CONDITION_KEYS.iter().any(|key| fields.contains_key(key));
    if is_unconditional {
        let message = UserMessage::new(format!("{what} has no \"command\" or other condition (the entry is ignored)"));
        reader.add_error(fields.offset, message.with_hint("write command = \"sudo systemctl restart nginx\""));
    }
    let command = read_entry_text(reader, &fields, "command", "\"sudo systemctl restart nginx\"");
    let path = read_entry_text(reader, &fields, "path", "\"secrets/**\"");
    let host = read_entry_text(reader, &fields, "host", "\"*.example.com\"");
    let tool = fields.get("tool").map(|node| read_tool(reader, node));
    let agents = fields.get("agent").map(|node| read_agents(reader, node));
    let reason = match (fields.get("reason"), action) {
        (None, GuardChoice::Allow) => {
            let message = UserMessage::new(format!("{what} has no \"reason\" (the entry is ignored)"));
            reader.add_error(fields.offset, message.with_hint("write reason = \"why it may run\""));
            Some(None)
        }
        _ => read_entry_text(reader, &fields, "reason", "\"why it may run\""),
    };
    let until = fields.get("until").map(|node| read_date(reader, node));
    let origin = locate_entry(reader, item, &fields);
    if is_unconditional {
        return None;
    }
    Some(GuardEntry {
        action,
        command: transpose_field(command)?,
        tool: transpose_field(tool)?,
        path: transpose_field(path)?.map(PathBuf::from),
        host: transpose_field(host)?,
        agents: transpose_field(agents)?.unwrap_or_default(),
        reason: transpose_field(reason)?,
        // An invalid date may be in the past.
        until: transpose_field(until)?,
        author: UNKNOWN_AUTHOR,
        origin,
    })
}

/// A field that is absent, or valid. `None` if it is invalid.
fn transpose_field<T>(field: Option<Option<T>>) -> Option<Option<T>> {
    match field {
        Some(None) => None,
        Some(value) => Some(value),
        None => Some(None),
    }
}

/// A text that is not blank: `Some(None)` if it is invalid, `None` if it is absent.
fn read_entry_text(
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
    key: &str,
    example: &str,
) -> Option<Option<String>> {
    let node = fields.get(key)?;
    Some(read_checked_text(reader, node, key, |text| match text.trim() {
        "" => Err(UserMessage::new("is empty (the entry is ignored)").with_hint(format!("write {key} = {example}"))),
        text => Ok(text.to_owned()),
    }))
}

fn read_tool(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Option<ToolCondition> {
    let matcher = read_checked_text(reader, node, "tool", |text| {
        Matcher::from_names_classes_or_expression(text)
            .map_err(|fault| fault.map_text(|text| format!("{text} (the entry is ignored)")))
    })?;
    Some(ToolCondition { matcher })
}

/// One agent or a list of agents, by the names of their products. An unknown name makes it invalid.
fn read_agents(reader: &mut ConfigReader<'_>, node: &SpannedNode) -> Option<Vec<String>> {
    read_agent_names(reader, node, "the entry is ignored")
}

/// One agent or a list of agents. `consequence` tells what an invalid one means.
pub(crate) fn read_agent_names(
    reader: &mut ConfigReader<'_>,
    node: &SpannedNode,
    consequence: &str,
) -> Option<Vec<String>> {
    let items = match &node.value {
        NodeValue::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut names = Vec::new();
    let mut is_valid = !items.is_empty();
    if items.is_empty() {
        let message = UserMessage::new(format!("\"agent\" is an empty list ({consequence})"));
        reader.add_error(node.offset, message.with_hint("write agent = \"claude\""));
    }
    for item in items {
        let name = reader.expect_text(item, "agent");
        match name {
            Some(name) if AgentProduct::find_by_name(&name).is_some() => names.push(name),
            Some(name) => {
                is_valid = false;
                let known = AgentProduct::all().iter().map(|product| product.name);
                let mut message = UserMessage::new(format!("unknown agent \"{name}\" ({consequence})"));
                message = message.with_suggestion(&name, known);
                if message.hint.is_none() {
                    message = message.with_hint("run `snell list --agents` for the names");
                }
                reader.add_error(item.offset, message);
            }
            None => is_valid = false,
        }
    }
    is_valid.then_some(names)
}
