//! Reading a `snell.toml`.

use std::time::Duration;

use jiff::SignedDuration;

use super::NATIVE;
use super::keys::{HOOK_KEYS, Key};
use crate::config::{
    Fields, LONGEST_TIMEOUT, Node, NodeValue, Reading, SETTING_KEYS, Vocabulary, read_settings, show_duration,
};
use crate::diagnostic::hint;
use crate::event::{EventName, ToolClass};
use crate::hook::{Action, Condition, Hook, OnFailure, Timeout};
use crate::matcher::Matcher;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

pub(super) fn read(reading: &mut Reading<'_>, node: &Node) {
    let Some(root) = reading.object(node, "snell.toml") else {
        return;
    };
    if let Some(hooks) = root.get("hooks") {
        // A whole file of hooks would have no effect; that is more than a warning.
        reading.error(hooks.at, "there is no \"hooks\" in snell.toml; write [[hook]]");
    }
    let settings = SETTING_KEYS.iter().map(|key| key.name);
    let known: Vec<_> = ["hook", "hooks"].into_iter().chain(settings).collect();
    reading.unknown_keys(&root, &known, "snell.toml");
    read_settings(reading, &root);
    let Some(hooks) = root.get("hook") else {
        return;
    };
    if let NodeValue::Object(_) = hooks.value {
        reading.error(
            hooks.at,
            "\"hook\" must be a list of tables; write [[hook]], with two brackets",
        );
        return;
    }
    for hook in reading.array(hooks, "\"hook\"").unwrap_or_default() {
        read_hook(reading, hook);
    }
}

fn read_hook(reading: &mut Reading<'_>, node: &Node) {
    let Some(fields) = reading.object(node, "a [[hook]]") else {
        return;
    };
    let mut known: Vec<_> = HOOK_KEYS.iter().map(|key| key.name).collect();
    for Key { name, .. } in SETTING_KEYS {
        if let Some(member) = fields.members.iter().find(|member| member.key == *name) {
            // In TOML, what stands below a [[hook]] belongs to it.
            let message = format!("\"{name}\" is no key of a [[hook]]; write it above the first [[hook]] of the file");
            reading.error(member.key_at, message);
            known.push(name);
        }
    }
    reading.unknown_keys(&fields, &known, "a [[hook]]");
    let events = read_events(reading, &fields);
    let action = read_action(reading, &fields);
    let (Some(events), Some(action)) = (events, action) else {
        return;
    };
    let Some(matcher) = read_tool(reading, &fields, &events) else {
        return;
    };
    let Some((event, more)) = events.split_first() else {
        return;
    };
    let timeout = read_timeout(reading, &fields);
    let mut hook = Hook::new(&NATIVE, event.clone(), action, timeout, reading.origin(fields.at));
    let command = fields.get("run").or_else(|| fields.get("exec"));
    hook.command_origin = command.map(|node| reading.origin(node.at));
    hook.events.extend_from_slice(more);
    hook.matcher = matcher;
    hook.condition = reading.condition(&fields, "when").map(Condition::Shell);
    hook.on_failure = read_on_failure(reading, &fields);
    hook.may_modify = reading.boolean(&fields, "modify").unwrap_or(false);
    hook.background = reading.boolean(&fields, "background").unwrap_or(false);
    if hook.on_failure == OnFailure::Block && !hook.events.iter().any(NATIVE.blocks) {
        let at = fields.get("on_failure").map_or(fields.at, |node| node.at);
        reading.warn(at, "a failure cannot block this event; \"on_failure\" has no effect");
    }
    if hook.background && hook.on_failure == OnFailure::Block {
        reading.warn(
            fields.at,
            "a hook that is not awaited cannot block; remove \"background\" or \"on_failure\"",
        );
    }
    reading.hooks.push(hook);
}

fn read_events(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Option<Vec<EventName>> {
    let Some(node) = fields.get("event") else {
        reading.error(fields.at, "a [[hook]] has no \"event\"; add event = \"PreToolUse\"");
        return None;
    };
    let names = match &node.value {
        NodeValue::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut events = Vec::new();
    for item in names {
        let Some(name) = reading.as_text(item, "event") else {
            continue;
        };
        events.extend(reading.event(item.at, &name, Vocabulary::Closed));
    }
    if events.is_empty() && names.is_empty() {
        reading.error(node.at, "\"event\" is an empty list; name at least one event");
    }
    (!events.is_empty()).then_some(events)
}

fn read_action(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Option<Action> {
    match (fields.get("run"), fields.get("exec")) {
        (Some(_), Some(exec)) => {
            reading.error(exec.at, "a [[hook]] has both \"run\" and \"exec\"; keep one of them");
            None
        }
        (Some(_), None) => {
            let command = reading.required_text(fields, "run", "a [[hook]]")?;
            Some(Action::sh(command))
        }
        (None, Some(node)) => {
            let mut words = reading.texts(fields, "exec")?.into_iter();
            let Some(program) = words.next().filter(|program| !program.is_empty()) else {
                reading.error(
                    node.at,
                    "\"exec\" names no program; write exec = [\"program\", \"argument\"]",
                );
                return None;
            };
            Some(Action::Exec {
                program,
                args: words.collect(),
            })
        }
        (None, None) => {
            reading.error(
                fields.at,
                "a [[hook]] has nothing to do; add run = \"…\" or exec = [\"…\"]",
            );
            None
        }
    }
}

fn read_tool(reading: &mut Reading<'_>, fields: &Fields<'_>, events: &[EventName]) -> Option<Matcher> {
    let Some(node) = fields.get("tool") else {
        return Some(Matcher::everything(None));
    };
    let written = reading.as_text(node, "tool")?;
    if !events.iter().any(EventName::is_about_a_tool) {
        reading.warn(node.at, "\"tool\" has no meaning for this event; it is ignored");
        return Some(Matcher::everything(None));
    }
    let near = hint(&written, ToolClass::names());
    if written.contains('.') && !near.is_empty() && ToolClass::parse(&written).is_none() {
        reading.warn(node.at, format!("\"{written}\" is read as a regular expression{near}"));
    }
    match Matcher::names_classes_or_expression(written) {
        Ok(matcher) => Some(matcher),
        Err(fault) => {
            reading.error(node.at, format!("\"tool\" {fault}; the hook is not loaded"));
            None
        }
    }
}

fn read_timeout(reading: &mut Reading<'_>, fields: &Fields<'_>) -> Timeout {
    let Some(node) = fields.get("timeout") else {
        return Timeout::Default(DEFAULT_TIMEOUT);
    };
    let parsed = match &node.value {
        NodeValue::String(text) => text.parse::<SignedDuration>().ok(),
        _ => None,
    };
    let wanted = if parsed.is_some() {
        "more than 0"
    } else {
        "a duration with its unit"
    };
    let duration = parsed.and_then(|duration| Duration::try_from(duration).ok());
    match duration.filter(|duration| !duration.is_zero()) {
        Some(duration) => reading.capped(node.at, duration, LONGEST_TIMEOUT),
        None => {
            let default = show_duration(DEFAULT_TIMEOUT);
            reading.error(
                node.at,
                format!(
                    "\"timeout\" must be {wanted}; write \"10s\" or \"500ms\" (the default of {default} \
                     counts)"
                ),
            );
            Timeout::Default(DEFAULT_TIMEOUT)
        }
    }
}

/// A fault here is read as "block": whoever writes the key wants a guard.
fn read_on_failure(reading: &mut Reading<'_>, fields: &Fields<'_>) -> OnFailure {
    let Some(node) = fields.get("on_failure") else {
        return OnFailure::Continue;
    };
    match &node.value {
        NodeValue::String(text) if text == "continue" => OnFailure::Continue,
        NodeValue::String(text) if text == "block" => OnFailure::Block,
        other => {
            let near = match other {
                NodeValue::String(word) => hint(word, ["continue", "block"]),
                _ => String::new(),
            };
            let message = format!("\"on_failure\" must be \"continue\" or \"block\"{near}; \"block\" counts");
            reading.error(node.at, message);
            OnFailure::Block
        }
    }
}
