//! Claude Code's `settings.json`: groups, handlers of every type, and the switches beside them.

use super::events::{self, MatchTarget};
use super::{CLAUDE, CLAUDE_OS};
use crate::config::{ConfigReader, MAX_TIMEOUT, NodeValue, ObjectFields, SpannedNode, TimeoutUnit};
use crate::contract::settings_json::HookEventKey;
use crate::diagnostic::format_suggestion;
use crate::hook::{Hook, HookAction, HookCondition, HookShell, HookTimeout, HttpAction};
use crate::matcher::{Matcher, NameListCharset, PermissionRule};

/// A type of handler: its own keys, and whether Snell can do it.
struct ClaudeHandlerType {
    name: &'static str,
    keys: &'static [&'static str],
    /// Why Snell cannot do it, where it cannot.
    obstacle: Option<&'static str>,
}

const COMMON_KEYS: &[&str] = &["type", "if", "timeout", "statusMessage", "once"];

const HANDLER_TYPES: &[ClaudeHandlerType] = &[
    ClaudeHandlerType { name: "command", keys: &["command", "args", "async", "asyncRewake", "shell"], obstacle: None },
    ClaudeHandlerType { name: "http", keys: &["url", "headers", "allowedEnvVars", "async"], obstacle: None },
    ClaudeHandlerType {
        name: "mcp_tool",
        keys: &["server", "tool", "input"],
        obstacle: Some("it needs the agent's MCP connections"),
    },
    ClaudeHandlerType {
        name: "prompt",
        keys: &["prompt", "model", "continueOnBlock"],
        obstacle: Some("it needs the agent's model"),
    },
    ClaudeHandlerType { name: "agent", keys: &["prompt", "model"], obstacle: Some("it needs the agent's model") },
];

/// What a settings file says about all hooks.
pub(super) fn read_switches(reading: &mut ConfigReader<'_>, root: &ObjectFields<'_>) {
    if let Some(disabled) = reading.read_bool(root, "disableAllHooks") {
        let at = root.get("disableAllHooks").map_or(root.offset, |node| node.offset);
        if disabled {
            reading.add_warning(at, "\"disableAllHooks\" switches off the hooks of every Claude Code settings file, unless a nearer file says false");
        }
        reading.switches.disable_all = Some((disabled, reading.locate_offset(at)));
    }
    reading.switches.allowed_http_urls = reading.read_restriction(root, "allowedHttpHookUrls");
    reading.switches.http_env_vars = reading.read_restriction(root, "httpHookAllowedEnvVars");
}

pub(super) fn read_group(reading: &mut ConfigReader<'_>, key: &HookEventKey<'_>, node: &SpannedNode) {
    let what = format!("an entry for \"{}\"", key.written);
    let Some(group) = reading.read_object(node, &what) else {
        return;
    };
    reading.warn_of_unknown_keys(&group, &["matcher", "hooks", "description"], &what);
    let Some(matcher) = read_matcher(reading, key, &group) else {
        return;
    };
    let Some(handlers) = group.get("hooks").and_then(|hooks| reading.read_array(hooks, "\"hooks\"")) else {
        return;
    };
    for handler in handlers {
        read_handler(reading, key, &matcher, handler);
    }
}

/// A string entry: the path of a script.
pub(super) fn read_script(reading: &mut ConfigReader<'_>, key: &HookEventKey<'_>, node: &SpannedNode) {
    let Some(path) = reading.expect_text(node, "the path of a script") else {
        return;
    };
    if path.trim().is_empty() {
        reading.add_error(node.offset, "the path of a script is empty; write the path, or remove the entry");
        return;
    }
    let timeout = HookTimeout::Default(events::default_timeout(&key.event));
    let origin = reading.locate_offset(node.offset);
    reading.hooks.push(Hook {
        may_modify: true,
        ..Hook::new(&CLAUDE_OS, key.event.clone(), HookAction::Script { path }, timeout, origin)
    });
}

fn read_matcher(reading: &mut ConfigReader<'_>, key: &HookEventKey<'_>, group: &ObjectFields<'_>) -> Option<Matcher> {
    let Some(node) = group.get("matcher") else {
        return Some(Matcher::match_all(None));
    };
    let written = reading.expect_text(node, "matcher")?;
    let matched_on = events::find_event_row(&key.event).map_or(MatchTarget::Tool, |row| row.matcher);
    if matched_on == MatchTarget::Nothing {
        if !matches!(written.as_str(), "" | "*") {
            reading.add_warning(node.offset, format!("\"matcher\" has no meaning for {}; it is ignored", key.event));
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
        reading.add_warning(
            node.offset,
            format!("\"{written}\" matches no tool; for every tool of that server write \"{written}__.*\""),
        );
    }
    if matched_on == MatchTarget::Tool && written.contains('(') && written.ends_with(')') && !written.starts_with('(') {
        reading.add_warning(
            node.offset,
            format!(
                "a matcher compares the tool's name; for a rule about the call write \"if\": \"{written}\" in the hook"
            ),
        );
    }
    match Matcher::from_names_or_expression(written, list) {
        Ok(matcher) => Some(matcher),
        Err(fault) => {
            reading.add_error(node.offset, format!("\"matcher\" {fault}; the entry is not loaded"));
            None
        }
    }
}

fn read_handler(reading: &mut ConfigReader<'_>, key: &HookEventKey<'_>, matcher: &Matcher, node: &SpannedNode) {
    let Some(fields) = reading.read_object(node, "a hook") else {
        return;
    };
    let Some(kind) = read_handler_type(reading, &fields) else {
        return;
    };
    let known: Vec<_> = COMMON_KEYS.iter().chain(kind.keys).copied().collect();
    reading.warn_of_unknown_keys(&fields, &known, &format!("a {} hook", kind.name));
    let action = match kind.name {
        "command" => read_command_action(reading, &fields),
        "http" => read_http_action(reading, key, &fields),
        _ => {
            let reason = kind.obstacle.unwrap_or_default();
            reading.add_warning(
                fields.offset,
                format!("hooks of type \"{}\" are not supported: {reason}; this one is never run", kind.name),
            );
            let detail = ["prompt", "tool"].iter().find_map(|key| match &fields.get(key)?.value {
                NodeValue::String(text) => Some(text.clone()),
                _ => None,
            });
            Some(HookAction::Unsupported { kind: kind.name.to_owned(), detail: detail.unwrap_or_default() })
        }
    };
    let Some(action) = action else {
        return;
    };
    let Ok(condition) = read_if_rule(reading, key, &fields) else {
        return;
    };
    let disabled = kind.obstacle.map(|_| format!("hooks of type \"{}\" are not supported", kind.name));
    let background = read_async(reading, &fields);
    let default = events::default_timeout(&key.event);
    let timeout = reading.read_timeout(&fields, TimeoutUnit::Seconds, default, MAX_TIMEOUT);
    let origin = reading.locate_offset(fields.offset);
    reading.hooks.push(Hook {
        matcher: matcher.clone(),
        condition,
        may_modify: true,
        background,
        disabled,
        ..Hook::new(&CLAUDE, key.event.clone(), action, timeout, origin)
    });
}

fn read_handler_type(reading: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<&'static ClaudeHandlerType> {
    let Some(node) = fields.get("type") else {
        reading.add_error(fields.offset, "a hook has no \"type\"; add \"type\": \"command\"");
        return None;
    };
    let written = reading.expect_text(node, "type")?;
    let found = HANDLER_TYPES.iter().find(|kind| kind.name == written);
    if found.is_none() {
        let names = HANDLER_TYPES.iter().map(|kind| kind.name);
        reading.add_error(
            node.offset,
            format!("unknown hook type \"{written}\"{}; the hook is not loaded", format_suggestion(&written, names)),
        );
    }
    found
}

fn read_command_action(reading: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<HookAction> {
    let command = reading.read_required_text(fields, "command", "a command hook")?;
    if fields.contains_key("args") {
        let args = reading.read_texts(fields, "args")?;
        return Some(HookAction::Exec { program: command, args });
    }
    let shell = match (fields.get("shell"), reading.read_text(fields, "shell").as_deref()) {
        (None, _) => HookShell::Posix,
        (Some(_), Some("bash")) => HookShell::Bash,
        (Some(_), Some("powershell")) => HookShell::Pwsh,
        (Some(node), written) => {
            if let Some(written) = written {
                reading.add_error(
                    node.offset,
                    format!("\"shell\" must be \"bash\" or \"powershell\", not \"{written}\"; /bin/sh counts"),
                );
            }
            HookShell::Posix
        }
    };
    Some(HookAction::Shell { shell, command })
}

fn read_http_action(
    reading: &mut ConfigReader<'_>,
    key: &HookEventKey<'_>,
    fields: &ObjectFields<'_>,
) -> Option<HookAction> {
    let url = reading.read_required_text(fields, "url", "an http hook")?;
    let at = fields.get("url").map_or(fields.offset, |node| node.offset);
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        reading.add_error(
            at,
            format!("\"url\" must begin with http:// or https://, not \"{url}\"; the hook is not loaded"),
        );
        return None;
    }
    if matches!(key.event.as_str(), "SessionStart" | "Setup") {
        reading
            .add_error(fields.offset, format!("http hooks are not allowed on {}; the hook is not loaded", key.event));
        return None;
    }
    let mut headers = Vec::new();
    if let Some(node) = fields.get("headers")
        && let Some(object) = reading.read_object(node, "\"headers\"")
    {
        for member in object.distinct_members() {
            if let Some(value) = reading.expect_text(&member.node, &member.key) {
                headers.push((member.key.clone(), value));
            }
        }
    }
    Some(HookAction::Http(HttpAction {
        url,
        headers,
        allowed_env_vars: reading.read_texts(fields, "allowedEnvVars").unwrap_or_default(),
        refused: None,
    }))
}

/// The `if` of a handler; an unreadable one keeps the handler from being loaded.
fn read_if_rule(
    reading: &mut ConfigReader<'_>,
    key: &HookEventKey<'_>,
    fields: &ObjectFields<'_>,
) -> Result<Option<HookCondition>, ()> {
    let Some(node) = fields.get("if") else {
        return Ok(None);
    };
    let written = reading.expect_text(node, "if").ok_or(())?;
    if !events::accepts_if(&key.event) {
        reading.add_warning(
            node.offset,
            format!("\"if\" is only looked at on tool events; on {} this hook never runs", key.event),
        );
    }
    match PermissionRule::parse(&written) {
        Ok(rule) => Ok(Some(HookCondition::Rule(rule))),
        Err(fault) => {
            reading.add_error(node.offset, format!("\"if\" {fault}; the hook is not loaded"));
            Err(())
        }
    }
}

fn read_async(reading: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> bool {
    let rewake = reading.read_bool(fields, "asyncRewake").unwrap_or(false);
    if rewake {
        let at = fields.get("asyncRewake").map_or(fields.offset, |node| node.offset);
        reading.add_warning(at, "\"asyncRewake\" needs an agent that can be woken; the hook runs as \"async\"");
    }
    reading.read_bool(fields, "async").unwrap_or(false) || rewake
}
