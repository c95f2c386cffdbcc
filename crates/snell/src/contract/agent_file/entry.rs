//! Reads one hook of an agent's hook file.

use std::time::Duration;

use super::AgentFileEvent;
use super::reader::FormatContract;
use crate::config::{ConfigReader, MAX_TIMEOUT, ObjectFields, TimeoutField};
use crate::contract::claude::reader::{read_http_action, read_shell};
use crate::diagnostic::UserMessage;
use crate::event::EventName;
use crate::hook::{AgentHookEntry, FailurePolicy, Hook, HookAction, HookCondition, HookShell};
use crate::matcher::Matcher;

/// The keys of a hook, and their meaning.
#[derive(Clone, Copy)]
pub(crate) struct EntryRules {
    /// All keys that the agent knows.
    pub(crate) keys: &'static [&'static str],
    /// The keys of a command line. The first one that a hook has counts.
    pub(crate) commands: &'static [CommandKey],
    pub(crate) type_key: TypeKey,
    pub(crate) types: &'static [HandlerType],
    pub(crate) timeout: fn(&EventName) -> TimeoutField,
    /// The timeout of hooks of type `http`, if it differs.
    pub(crate) http_timeout: Option<TimeoutField>,
    /// The key with which a failure blocks.
    pub(crate) fail_closed: Option<&'static str>,
    /// Whether a hook needs a `name` of its own.
    pub(crate) needs_name: bool,
    /// The key of the working directory.
    pub(crate) directory: Option<&'static str>,
}

/// A key of a command line, and the shell that runs it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandKey {
    pub(crate) key: &'static str,
    pub(crate) shell: HookShell,
}

/// Whether a hook has a `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeKey {
    Absent,
    /// Without it, the hook is a command.
    Optional,
    Required,
}

/// A type of hooks, and why Snell does not support it, if so.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HandlerType {
    pub(crate) name: &'static str,
    pub(crate) obstacle: Option<&'static str>,
}

impl HandlerType {
    pub(crate) const COMMAND: Self = Self { name: "command", obstacle: None };
    pub(crate) const HTTP: Self = Self { name: "http", obstacle: None };
    pub(crate) const PROMPT: Self = Self { name: "prompt", obstacle: Some("they need the agent's model") };
    pub(crate) const AGENT: Self = Self { name: "agent", obstacle: Some("they need the agent's model") };
    pub(crate) const MCP_TOOL: Self =
        Self { name: "mcp_tool", obstacle: Some("they need the agent's MCP connections") };
}

const COMMAND: CommandKey = CommandKey { key: "command", shell: HookShell::Posix };

pub(crate) const BASE_ENTRY: EntryRules = EntryRules {
    keys: &[],
    commands: &[COMMAND],
    type_key: TypeKey::Required,
    types: &[HandlerType::COMMAND],
    timeout: |_| TimeoutField::seconds(Duration::from_secs(60), MAX_TIMEOUT),
    http_timeout: None,
    fail_closed: None,
    needs_name: false,
    directory: None,
};

/// The event and the group of a hook.
pub(crate) struct EntrySurroundings<'a> {
    pub(crate) event: &'a AgentFileEvent,
    pub(crate) matcher: Matcher,
    pub(crate) condition: Option<HookCondition>,
    pub(crate) runs_in_order: bool,
}

impl<'a> EntrySurroundings<'a> {
    pub(crate) fn new(event: &'a AgentFileEvent) -> Self {
        Self { event, matcher: Matcher::match_all(None), condition: None, runs_in_order: false }
    }
}

/// Reads a hook and adds it.
pub(crate) fn read_entry(
    target: FormatContract,
    around: EntrySurroundings<'_>,
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
) {
    let rules = &target.format.entry;
    reader.warn_of_unknown_keys(fields, rules.keys, "a hook");
    if rules.needs_name && !has_unique_name(reader, fields) {
        return;
    }
    let Some(kind) = read_type(rules, reader, fields) else {
        return;
    };
    let Some(action) = read_action(rules, kind, reader, fields) else {
        return;
    };
    let Some((first, more)) = around.event.canonical.split_first() else {
        return;
    };
    let http_timeout = rules.http_timeout.filter(|_| kind.name == "http");
    let timeout = reader.read_timeout(fields, &http_timeout.unwrap_or_else(|| (rules.timeout)(first)));
    let origin = reader.locate_offset(fields.offset);
    let mut hook = Hook::new(target.contract, first.clone(), action, timeout, origin);
    hook.events.extend_from_slice(more);
    hook.matcher = around.matcher;
    hook.condition = around.condition;
    hook.may_modify = true;
    hook.background = has_key(rules, "async") && reader.read_bool(fields, "async").unwrap_or(false);
    hook.disabled = kind.obstacle.map(|_| format!("hooks of type \"{}\" are not supported", kind.name));
    if rules.fail_closed.is_some_and(|key| reader.read_bool(fields, key).unwrap_or(false)) {
        hook.on_failure = FailurePolicy::Block;
    }
    hook.agent_entry = AgentHookEntry {
        native_event: Some(around.event.native),
        tool_class: around.event.tool_class,
        name: if has_key(rules, "name") { reader.read_text(fields, "name") } else { None },
        variables: if has_key(rules, "env") { read_variables(reader, fields) } else { Vec::new() },
        directory: rules.directory.and_then(|key| reader.read_text(fields, key)),
        runs_in_order: around.runs_in_order,
    };
    reader.hooks.push(hook);
}

/// Whether a hook has a name that no earlier hook of the file has.
fn has_unique_name(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> bool {
    let Some(name) = reader.read_required_text(fields, "name", "a hook") else {
        return false;
    };
    let is_taken = reader.hooks.iter().any(|hook| hook.agent_entry.name.as_ref() == Some(&name));
    if is_taken {
        let at = fields.get("name").map_or(fields.offset, |node| node.offset);
        let message = UserMessage::new(format!("two hooks have the name \"{name}\" (the second one is ignored)"));
        reader.add_error(at, message.with_hint("rename one of them"));
    }
    !is_taken
}

fn has_key(rules: &EntryRules, key: &str) -> bool {
    rules.keys.contains(&key)
}

fn read_type(rules: &EntryRules, reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<HandlerType> {
    let Some(node) = fields.get("type").filter(|_| rules.type_key != TypeKey::Absent) else {
        if rules.type_key == TypeKey::Required {
            let message = UserMessage::new("a hook has no \"type\"");
            reader.add_error(fields.offset, message.with_hint("add \"type\": \"command\""));
            return None;
        }
        return Some(HandlerType::COMMAND);
    };
    let written = reader.expect_text(node, "type")?;
    let found = rules.types.iter().find(|kind| kind.name == written).copied();
    if found.is_none() {
        let names = rules.types.iter().map(|kind| kind.name);
        let message = UserMessage::new(format!("unknown hook type \"{written}\" (the hook is ignored)"));
        reader.add_error(node.offset, message.with_suggestion(&written, names));
    }
    found
}

fn read_action(
    rules: &EntryRules,
    kind: HandlerType,
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
) -> Option<HookAction> {
    if let Some(reason) = kind.obstacle {
        let name = kind.name;
        let text = format!("hooks of type \"{name}\" are not supported because {reason} (the hook never runs)");
        reader.add_warning(fields.offset, text);
        let detail = ["prompt", "tool"].iter().find_map(|key| fields.get(key)?.text()).unwrap_or_default();
        return Some(HookAction::Unsupported { kind: name.to_owned(), detail: detail.to_owned() });
    }
    if kind.name == "http" {
        return read_http_action(reader, fields);
    }
    if has_key(rules, "exec") && fields.contains_key("exec") {
        let program = reader.read_required_text(fields, "exec", "a command hook")?;
        let args = reader.read_texts(fields, "args").unwrap_or_default();
        return Some(HookAction::Exec { program, args });
    }
    let present = rules.commands.iter().find(|command| fields.contains_key(command.key));
    if present.is_none() && ["powershell", "commandWindows"].iter().any(|key| fields.contains_key(key)) {
        let message = UserMessage::new("this hook only has a command for Windows (the hook is ignored)");
        let usual = rules.commands.first().map_or("command", |command| command.key);
        reader.add_warning(fields.offset, message.with_hint(format!("add \"{usual}\"")));
        return None;
    }
    let CommandKey { key, shell } = present.copied().unwrap_or(COMMAND);
    let command = reader.read_required_text(fields, key, "a hook")?;
    let shell = if has_key(rules, "shell") { read_shell(reader, fields) } else { shell };
    Some(HookAction::Shell { shell, command })
}

fn read_variables(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Vec<(String, String)> {
    let object = fields.get("env").and_then(|node| reader.read_object(node, "\"env\""));
    let members: Vec<_> = object.iter().flat_map(ObjectFields::distinct_members).collect();
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    let value = |member: &&crate::config::SpannedMember| is_name(&member.key);
    members
        .into_iter()
        .filter(value)
        .filter_map(|member| Some((member.key.clone(), reader.expect_text(&member.node, &member.key)?)))
        .collect()
}
