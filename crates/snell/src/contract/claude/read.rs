//! Claude Code's `settings.json`: groups, handlers of every type, and the switches beside them.

use super::events::{self, MatchedOn};
use super::{CLAUDE, CLAUDE_OS};
use crate::config::{Fields, LONGEST_TIMEOUT, Node, NodeValue, Reading, Unit};
use crate::contract::settings::EventKey;
use crate::diagnostic::hint;
use crate::hook::{Action, Condition, Hook, HttpCall, Shell, Timeout};
use crate::matcher::{ListCharacters, Matcher, PermissionRule};

/// A type of handler: its own keys, and whether Snell can do it.
struct HandlerType {
    name: &'static str,
    keys: &'static [&'static str],
    /// Why Snell cannot do it, where it cannot.
    obstacle: Option<&'static str>,
}

const COMMON_KEYS: &[&str] = &["type", "if", "timeout", "statusMessage", "once"];

const TYPES: &[HandlerType] = &[
    HandlerType {
        name: "command",
        keys: &["command", "args", "async", "asyncRewake", "shell"],
        obstacle: None,
    },
    HandlerType {
        name: "http",
        keys: &["url", "headers", "allowedEnvVars", "async"],
        obstacle: None,
    },
    HandlerType {
        name: "mcp_tool",
        keys: &["server", "tool", "input"],
        obstacle: Some("it needs the agent's MCP connections"),
    },
    HandlerType {
        name: "prompt",
        keys: &["prompt", "model", "continueOnBlock"],
        obstacle: Some("it needs the agent's model"),
    },
    HandlerType {
        name: "agent",
        keys: &["prompt", "model"],
        obstacle: Some("it needs the agent's model"),
    },
];

/// What a settings file says about all hooks.
pub(super) fn read_switches(reading: &mut Reading<'_>, root: &Fields<'_>) {
    if let Some(disabled) = reading.boolean(root, "disableAllHooks") {
        let at = root.get("disableAllHooks").map_or(root.at, |node| node.at);
        if disabled {
            reading.warn(at, "\"disableAllHooks\" switches off the hooks of every Claude Code settings file, unless a nearer file says false");
        }
        reading.switches.disable_all = Some((disabled, reading.origin(at)));
    }
    reading.switches.allowed_http_urls = reading.restriction(root, "allowedHttpHookUrls");
    reading.switches.http_env_vars = reading.restriction(root, "httpHookAllowedEnvVars");
}

pub(super) fn read_group(reading: &mut Reading<'_>, key: &EventKey<'_>, node: &Node) {
    let what = format!("an entry for \"{}\"", key.written);
    let Some(group) = reading.object(node, &what) else {
        return;
    };
    reading.unknown_keys(&group, &["matcher", "hooks", "description"], &what);
    let Some(matcher) = read_matcher(reading, key, &group) else {
        return;
    };
    let Some(handlers) = group.get("hooks").and_then(|hooks| reading.array(hooks, "\"hooks\"")) else {
        return;
    };
    for handler in handlers {
        read_handler(reading, key, &matcher, handler);
    }
}

/// A string entry: the path of a script.
pub(super) fn read_script(reading: &mut Reading<'_>, key: &EventKey<'_>, node: &Node) {
    let Some(path) = reading.as_text(node, "the path of a script") else {
        return;
    };
    if path.trim().is_empty() {
        reading.error(
            node.at,
            "the path of a script is empty; write the path, or remove the entry",
        );
        return;
    }
    let timeout = Timeout::Default(events::default_timeout(&key.event));
    let origin = reading.origin(node.at);
    reading.hooks.push(Hook {
        may_modify: true,
        ..Hook::new(&CLAUDE_OS, key.event.clone(), Action::Script { path }, timeout, origin)
    });
}

fn read_matcher(reading: &mut Reading<'_>, key: &EventKey<'_>, group: &Fields<'_>) -> Option<Matcher> {
    let Some(node) = group.get("matcher") else {
        return Some(Matcher::everything(None));
    };
    let written = reading.as_text(node, "matcher")?;
    let matched_on = events::row_of(&key.event).map_or(MatchedOn::Tool, |row| row.matcher);
    if matched_on == MatchedOn::Nothing {
        if !matches!(written.as_str(), "" | "*") {
            reading.warn(
                node.at,
                format!("\"matcher\" has no meaning for {}; it is ignored", key.event),
            );
        }
        return Some(Matcher::everything(Some(written)));
    }
    if matched_on == MatchedOn::FileName {
        return Some(Matcher::names(written, &['|']));
    }
    let list = match key.event.as_str() {
        "StopFailure" => ListCharacters::Narrow,
        _ => ListCharacters::Wide,
    };
    let is_server = written.starts_with("mcp__")
        && !written["mcp__".len()..].contains("__")
        && written
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if matched_on == MatchedOn::Tool && is_server {
        reading.warn(
            node.at,
            format!("\"{written}\" matches no tool; for every tool of that server write \"{written}__.*\""),
        );
    }
    if matched_on == MatchedOn::Tool && written.contains('(') && written.ends_with(')') && !written.starts_with('(') {
        reading.warn(
            node.at,
            format!(
                "a matcher compares the tool's name; for a rule about the call write \"if\": \"{written}\" in the hook"
            ),
        );
    }
    match Matcher::names_or_expression(written, list) {
        Ok(matcher) => Some(matcher),
        Err(fault) => {
            reading.error(node.at, format!("\"matcher\" {fault}; the entry is not loaded"));
            None
        }
    }
}

fn read_handler(reading: &mut Reading<'_>, key: &EventKey<'_>, matcher: &Matcher, node: &Node) {
    let Some(fields) = reading.object(node, "a hook") else {
        return;
    };
    let Some(kind) = read_type(reading, &fields) else {
        return;
    };
    let known: Vec<_> = COMMON_KEYS.iter().chain(kind.keys).copied().collect();
    reading.unknown_keys(&fields, &known, &format!("a {} hook", kind.name));
    let action = match kind.name {
        "command" => read_command(reading, &fields),
        "http" => read_http(reading, key, &fields),
        _ => {
            let reason = kind.obstacle.unwrap_or_default();
            reading.warn(
                fields.at,
                format!(
                    "hooks of type \"{}\" are not supported: {reason}; this one is never run",
                    kind.name
                ),
            );
            let detail = ["prompt", "tool"].iter().find_map(|key| match &fields.get(key)?.value {
                NodeValue::String(text) => Some(text.clone()),
                _ => None,
            });
            Some(Action::Unsupported {
                kind: kind.name.to_owned(),
                detail: detail.unwrap_or_default(),
            })
        }
    };
    let Some(action) = action else {
        return;
    };
    let Ok(condition) = read_if(reading, key, &fields) else {
        return;
    };
    let disabled = kind
        .obstacle
        .map(|_| format!("hooks of type \"{}\" are not supported", kind.name));
    let background = read_async(reading, &fields);
    let default = events::default_timeout(&key.event);
    let timeout = reading.timeout(&fields, Unit::Seconds, default, LONGEST_TIMEOUT);
    let origin = reading.origin(fields.at);
    reading.hooks.push(Hook {
        matcher: matcher.clone(),
        condition,
        may_modify: true,
        background,
        disabled,
        ..Hook::new(&CLAUDE, key.event.clone(), action, timeout, origin)
    });
}

fn read_type(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Option<&'static HandlerType> {
    let Some(node) = fields.get("type") else {
        reading.error(fields.at, "a hook has no \"type\"; add \"type\": \"command\"");
        return None;
    };
    let written = reading.as_text(node, "type")?;
    let found = TYPES.iter().find(|kind| kind.name == written);
    if found.is_none() {
        let names = TYPES.iter().map(|kind| kind.name);
        reading.error(
            node.at,
            format!(
                "unknown hook type \"{written}\"{}; the hook is not loaded",
                hint(&written, names)
            ),
        );
    }
    found
}

fn read_command(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Option<Action> {
    let command = reading.required_text(fields, "command", "a command hook")?;
    if fields.has("args") {
        let args = reading.texts(fields, "args")?;
        return Some(Action::Exec { program: command, args });
    }
    let shell = match (fields.get("shell"), reading.text(fields, "shell").as_deref()) {
        (None, _) => Shell::Posix,
        (Some(_), Some("bash")) => Shell::Bash,
        (Some(_), Some("powershell")) => Shell::Pwsh,
        (Some(node), written) => {
            if let Some(written) = written {
                reading.error(
                    node.at,
                    format!("\"shell\" must be \"bash\" or \"powershell\", not \"{written}\"; /bin/sh counts"),
                );
            }
            Shell::Posix
        }
    };
    Some(Action::Shell { shell, command })
}

fn read_http(reading: &mut Reading<'_>, key: &EventKey<'_>, fields: &Fields<'_>) -> Option<Action> {
    let url = reading.required_text(fields, "url", "an http hook")?;
    let at = fields.get("url").map_or(fields.at, |node| node.at);
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        reading.error(
            at,
            format!("\"url\" must begin with http:// or https://, not \"{url}\"; the hook is not loaded"),
        );
        return None;
    }
    if matches!(key.event.as_str(), "SessionStart" | "Setup") {
        reading.error(
            fields.at,
            format!("http hooks are not allowed on {}; the hook is not loaded", key.event),
        );
        return None;
    }
    let mut headers = Vec::new();
    if let Some(node) = fields.get("headers")
        && let Some(object) = reading.object(node, "\"headers\"")
    {
        for member in object.distinct() {
            if let Some(value) = reading.as_text(&member.node, &member.key) {
                headers.push((member.key.clone(), value));
            }
        }
    }
    Some(Action::Http(HttpCall {
        url,
        headers,
        allowed_env_vars: reading.texts(fields, "allowedEnvVars").unwrap_or_default(),
        refused: None,
    }))
}

/// The `if` of a handler; an unreadable one keeps the handler from being loaded.
fn read_if(reading: &mut Reading<'_>, key: &EventKey<'_>, fields: &Fields<'_>) -> Result<Option<Condition>, ()> {
    let Some(node) = fields.get("if") else {
        return Ok(None);
    };
    let written = reading.as_text(node, "if").ok_or(())?;
    if !events::takes_if(&key.event) {
        reading.warn(
            node.at,
            format!(
                "\"if\" is only looked at on tool events; on {} this hook never runs",
                key.event
            ),
        );
    }
    match PermissionRule::parse(&written) {
        Ok(rule) => Ok(Some(Condition::Rule(rule))),
        Err(fault) => {
            reading.error(node.at, format!("\"if\" {fault}; the hook is not loaded"));
            Err(())
        }
    }
}

fn read_async(reading: &mut Reading<'_>, fields: &Fields<'_>) -> bool {
    let rewake = reading.boolean(fields, "asyncRewake").unwrap_or(false);
    if rewake {
        let at = fields.get("asyncRewake").map_or(fields.at, |node| node.at);
        reading.warn(
            at,
            "\"asyncRewake\" needs an agent that can be woken; the hook runs as \"async\"",
        );
    }
    reading.boolean(fields, "async").unwrap_or(false) || rewake
}
