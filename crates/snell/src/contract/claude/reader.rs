//! Claude Code's `settings.json`: groups, handlers of every type, and the switches beside them.

use super::events::{self, MatchTarget};
use super::{CLAUDE, CLAUDE_OS};
use crate::config::{ConfigReader, DisableSwitch, MAX_TIMEOUT, ObjectFields, SpannedNode, TimeoutField};
use crate::contract::settings_json::HookEventKey;
use crate::diagnostic::UserMessage;
use crate::hook::{Hook, HookAction, HookCondition, HookShell, HookTimeout, HttpAction};
use crate::matcher::{Matcher, NameListCharset, PermissionRule};

/// A type of handler.
struct ClaudeHandlerType {
    name: &'static str,
    keys: &'static [&'static str],
    /// Why Snell does not support it, if so.
    obstacle: Option<&'static str>,
}

const COMMON_KEYS: &[&str] = &["type", "if", "timeout", "statusMessage", "once"];

const HANDLER_TYPES: &[ClaudeHandlerType] = &[
    ClaudeHandlerType { name: "command", keys: &["command", "args", "async", "asyncRewake", "shell"], obstacle: None },
    ClaudeHandlerType { name: "http", keys: &["url", "headers", "allowedEnvVars", "async"], obstacle: None },
    ClaudeHandlerType {
        name: "mcp_tool",
        keys: &["server", "tool", "input"],
        obstacle: Some("they need the agent's MCP connections"),
    },
    ClaudeHandlerType {
        name: "prompt",
        keys: &["prompt", "model", "continueOnBlock"],
        obstacle: Some("they need the agent's model"),
    },
    ClaudeHandlerType { name: "agent", keys: &["prompt", "model"], obstacle: Some("they need the agent's model") },
];

/// Reads the keys that apply to all hooks.
pub(super) fn read_switches(reader: &mut ConfigReader<'_>, root: &ObjectFields<'_>) {
    if let Some(disabled) = reader.read_bool(root, "disableAllHooks") {
        let at = root.get("disableAllHooks").map_or(root.offset, |node| node.offset);
        if disabled {
            reader.add_warning(at, "\"disableAllHooks\" disables the hooks of all Claude Code settings files, unless a settings file with higher priority sets it to false");
        }
        let origin = reader.locate_offset(at);
        reader.switches.disable_all = Some(DisableSwitch { written: "disableAllHooks", is_disabled: disabled, origin });
    }
    reader.switches.allowed_http_urls = reader.read_restriction(root, "allowedHttpHookUrls");
    reader.switches.http_env_vars = reader.read_restriction(root, "httpHookAllowedEnvVars");
}

pub(super) fn read_group(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, node: &SpannedNode) {
    let what = format!("an entry for \"{}\"", key.written);
    let Some(group) = reader.read_table(node, &what, &["matcher", "hooks", "description"]) else {
        return;
    };
    let Some(matcher) = read_matcher(reader, key, &group) else {
        return;
    };
    let Some(handlers) = group.get("hooks").and_then(|hooks| reader.read_array(hooks, "\"hooks\"")) else {
        return;
    };
    for handler in handlers {
        read_handler(reader, key, &matcher, handler);
    }
}

/// A string entry: the path of a script.
pub(super) fn read_script(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, node: &SpannedNode) {
    let Some(path) = reader.expect_text(node, "the path of a script") else {
        return;
    };
    if path.trim().is_empty() {
        let message = UserMessage::new("the path of a script is empty");
        reader.add_error(node.offset, message.with_hint("write the path, or remove the entry"));
        return;
    }
    let timeout = HookTimeout::Default(events::default_timeout(&key.event));
    let origin = reader.locate_offset(node.offset);
    reader.hooks.push(Hook {
        may_modify: true,
        ..Hook::new(&CLAUDE_OS, key.event.clone(), HookAction::Script { path }, timeout, origin)
    });
}

fn read_matcher(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, group: &ObjectFields<'_>) -> Option<Matcher> {
    let Some(node) = group.get("matcher") else {
        return Some(Matcher::match_all(None));
    };
    let written = reader.expect_text(node, "matcher")?;
    let matched_on = events::find_event_row(&key.event).map_or(MatchTarget::Tool, |row| row.matcher);
    if matched_on == MatchTarget::Nothing {
        if !matches!(written.as_str(), "" | "*") {
            reader.add_warning(node.offset, format!("\"matcher\" has no effect on {}", key.event));
        }
        return Some(Matcher::match_all(Some(written)));
    }
    if matched_on == MatchTarget::FileName {
        return Some(Matcher::from_names(written, &['|']));
    }
    let list = match key.event.as_str() {
        "StopFailure" => NameListCharset::Narrow,
        _ => NameListCharset::Wide,
    };
    let is_server = written.starts_with("mcp__")
        && !written["mcp__".len()..].contains("__")
        && written.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if matched_on == MatchTarget::Tool && is_server {
        reader.add_warning(
            node.offset,
            UserMessage::new(format!("\"{written}\" matches no tool"))
                .with_hint(format!("for every tool of that server, write \"{written}__.*\"")),
        );
    }
    if matched_on == MatchTarget::Tool && written.contains('(') && written.ends_with(')') && !written.starts_with('(') {
        reader.add_warning(
            node.offset,
            UserMessage::new("\"matcher\" only compares the name of the tool")
                .with_hint(format!("for a rule about the call, write \"if\": \"{written}\" in the hook")),
        );
    }
    Matcher::from_names_or_expression(written, list)
        .map_err(|fault| {
            let message = fault.map_text(|text| format!("\"matcher\" {text} (the entry is ignored)"));
            reader.add_error(node.offset, message);
        })
        .ok()
}

fn read_handler(reader: &mut ConfigReader<'_>, key: &HookEventKey<'_>, matcher: &Matcher, node: &SpannedNode) {
    let Some(fields) = reader.read_object(node, "a hook") else {
        return;
    };
    let Some(kind) = read_handler_type(reader, &fields) else {
        return;
    };
    let known: Vec<_> = COMMON_KEYS.iter().chain(kind.keys).copied().collect();
    reader.warn_of_unknown_keys(&fields, &known, &format!("a {} hook", kind.name));
    let action = match kind.name {
        "command" => read_command_action(reader, &fields),
        "http" if matches!(key.event.as_str(), "SessionStart" | "Setup") => {
            reader.add_error(fields.offset, format!("http hooks cannot run on {} (the hook is ignored)", key.event));
            None
        }
        "http" => read_http_action(reader, &fields),
        _ => {
            let reason = kind.obstacle.unwrap_or_default();
            reader.add_warning(
                fields.offset,
                format!("hooks of type \"{}\" are not supported because {reason} (the hook never runs)", kind.name),
            );
            let detail = ["prompt", "tool"].iter().find_map(|key| fields.get(key)?.text()).unwrap_or_default();
            Some(HookAction::Unsupported { kind: kind.name.to_owned(), detail: detail.to_owned() })
        }
    };
    let Some(action) = action else {
        return;
    };
    let Ok(condition) = read_if_rule(reader, key, &fields) else {
        return;
    };
    let disabled = kind.obstacle.map(|_| format!("hooks of type \"{}\" are not supported", kind.name));
    let background = read_async(reader, &fields);
    let default = events::default_timeout(&key.event);
    let timeout = reader.read_timeout(&fields, &TimeoutField::seconds(default, MAX_TIMEOUT));
    let origin = reader.locate_offset(fields.offset);
    reader.hooks.push(Hook {
        matcher: matcher.clone(),
        condition,
        may_modify: true,
        background,
        disabled,
        ..Hook::new(&CLAUDE, key.event.clone(), action, timeout, origin)
    });
}

fn read_handler_type(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<&'static ClaudeHandlerType> {
    let Some(node) = fields.get("type") else {
        let message = UserMessage::new("a hook has no \"type\"");
        reader.add_error(fields.offset, message.with_hint("add \"type\": \"command\""));
        return None;
    };
    let written = reader.expect_text(node, "type")?;
    let found = HANDLER_TYPES.iter().find(|kind| kind.name == written);
    if found.is_none() {
        let names = HANDLER_TYPES.iter().map(|kind| kind.name);
        let message = UserMessage::new(format!("unknown hook type \"{written}\" (the hook is ignored)"));
        reader.add_error(node.offset, message.with_suggestion(&written, names));
    }
    found
}

fn read_command_action(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<HookAction> {
    let command = reader.read_required_text(fields, "command", "a command hook")?;
    if fields.contains_key("args") {
        let args = reader.read_texts(fields, "args")?;
        return Some(HookAction::Exec { program: command, args });
    }
    let shell = read_shell(reader, fields);
    Some(HookAction::Shell { shell, command })
}

/// The shell of a command line.
pub(crate) fn read_shell(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> HookShell {
    match (fields.get("shell"), reader.read_text(fields, "shell").as_deref()) {
        (None, _) => HookShell::Posix,
        (Some(_), Some("bash")) => HookShell::Bash,
        (Some(_), Some("powershell")) => HookShell::Pwsh,
        (Some(node), written) => {
            if let Some(written) = written {
                reader.add_error(
                    node.offset,
                    format!("\"shell\" must be \"bash\" or \"powershell\", not \"{written}\" (using /bin/sh)"),
                );
            }
            HookShell::Posix
        }
    }
}

/// An HTTP request.
pub(crate) fn read_http_action(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<HookAction> {
    let url = reader.read_required_text(fields, "url", "an http hook")?;
    let at = fields.get("url").map_or(fields.offset, |node| node.offset);
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        reader
            .add_error(at, format!("\"url\" must start with http:// or https://, not \"{url}\" (the hook is ignored)"));
        return None;
    }
    let mut headers = Vec::new();
    if let Some(node) = fields.get("headers")
        && let Some(object) = reader.read_object(node, "\"headers\"")
    {
        for member in object.distinct_members() {
            if let Some(value) = reader.expect_text(&member.node, &member.key) {
                headers.push((member.key.clone(), value));
            }
        }
    }
    Some(HookAction::Http(HttpAction {
        url,
        headers,
        allowed_env_vars: reader.read_texts(fields, "allowedEnvVars").unwrap_or_default(),
        refused: None,
    }))
}

/// The `if` of a handler. A handler with an invalid one is ignored.
fn read_if_rule(
    reader: &mut ConfigReader<'_>,
    key: &HookEventKey<'_>,
    fields: &ObjectFields<'_>,
) -> Result<Option<HookCondition>, ()> {
    let Some(node) = fields.get("if") else {
        return Ok(None);
    };
    let written = reader.expect_text(node, "if").ok_or(())?;
    if !events::accepts_if(&key.event) {
        reader.add_warning(
            node.offset,
            format!("\"if\" only works on tool events, so this hook never runs on {}", key.event),
        );
    }
    PermissionRule::parse(&written).map(|rule| Some(HookCondition::Rule(rule))).map_err(|fault| {
        let message = fault.map_text(|text| format!("\"if\" {text} (the hook is ignored)"));
        reader.add_error(node.offset, message);
    })
}

fn read_async(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> bool {
    let rewake = reader.read_bool(fields, "asyncRewake").unwrap_or(false);
    if rewake {
        let at = fields.get("asyncRewake").map_or(fields.offset, |node| node.offset);
        reader.add_warning(at, "Snell cannot wake an agent, so \"asyncRewake\" works like \"async\"");
    }
    reader.read_bool(fields, "async").unwrap_or(false) || rewake
}
