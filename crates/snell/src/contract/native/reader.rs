//! Reads a `snell.toml`.

use std::time::Duration;

use jiff::SignedDuration;

use super::{NATIVE, filters};
use crate::config::{
    ConfigReader, EventVocabulary, MAX_TIMEOUT, NodeValue, ObjectFields, SETTING_KEYS, SpannedNode, format_duration,
    read_settings,
};
use crate::diagnostic::UserMessage;
use crate::event::{EventName, ToolClass};
use crate::hook::{FailurePolicy, Hook, HookAction, HookCondition, HookTimeout};
use crate::matcher::Matcher;

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// The keys of a `[[hook]]`.
pub(crate) const HOOK_KEYS: &[&str] = &[
    "event",
    "tool",
    "file",
    "command",
    "agent",
    "notification",
    "project",
    "when",
    "run",
    "exec",
    "timeout",
    "on_failure",
    "modify",
    "background",
];

pub(super) fn read_snell_toml(reader: &mut ConfigReader<'_>, node: &SpannedNode) {
    let Some(root) = reader.read_object(node, "snell.toml") else {
        return;
    };
    if let Some(hooks) = root.get("hooks") {
        // An error, because none of these hooks would run.
        let message = UserMessage::new("\"hooks\" is not a key of snell.toml");
        reader.add_error(hooks.offset, message.with_hint("write [[hook]]"));
    }
    reader.warn_of_unknown_keys(&root, &[&["hook", "hooks"], SETTING_KEYS].concat(), "snell.toml");
    read_settings(reader, &root);
    let Some(hooks) = root.get("hook") else {
        return;
    };
    if let NodeValue::Object(_) = hooks.value {
        let message = UserMessage::new("\"hook\" must be a list of tables");
        reader.add_error(hooks.offset, message.with_hint("write [[hook]] with two brackets"));
        return;
    }
    for hook in reader.read_array(hooks, "\"hook\"").unwrap_or_default() {
        read_hook(reader, hook);
    }
}

fn read_hook(reader: &mut ConfigReader<'_>, node: &SpannedNode) {
    let Some(fields) = reader.read_object(node, "a [[hook]]") else {
        return;
    };
    let mut known = HOOK_KEYS.to_vec();
    for name in SETTING_KEYS {
        if let Some(member) = fields.members.iter().find(|member| member.key == *name) {
            // In TOML, a key below [[hook]] belongs to that hook.
            let message = UserMessage::new(format!("\"{name}\" is not a key of [[hook]]"));
            reader.add_error(member.key_offset, message.with_hint("move it above the first [[hook]] of the file"));
            known.push(name);
        }
    }
    reader.warn_of_unknown_keys(&fields, &known, "a [[hook]]");
    let events = read_events(reader, &fields);
    let action = read_action(reader, &fields);
    let (Some(events), Some(action)) = (events, action) else {
        return;
    };
    let Some(matcher) = read_tool_matcher(reader, &fields, &events) else {
        return;
    };
    let Some(filters) = filters::read_filters(reader, &fields, &events) else {
        return;
    };
    let Some((event, more)) = events.split_first() else {
        return;
    };
    let timeout = read_timeout(reader, &fields);
    let mut hook = Hook::new(&NATIVE, event.clone(), action, timeout, reader.locate_offset(fields.offset));
    let command = fields.get("run").or_else(|| fields.get("exec"));
    hook.command_origin = command.map(|node| reader.locate_offset(node.offset));
    hook.events.extend_from_slice(more);
    hook.matcher = matcher;
    hook.filters = filters;
    hook.condition = reader.read_condition(&fields, "when").map(HookCondition::Shell);
    hook.on_failure = read_on_failure(reader, &fields);
    hook.may_modify = reader.read_bool(&fields, "modify").unwrap_or(false);
    hook.background = reader.read_bool(&fields, "background").unwrap_or(false);
    if hook.on_failure == FailurePolicy::Block && !hook.events.iter().any(NATIVE.can_block) {
        let at = fields.get("on_failure").map_or(fields.offset, |node| node.offset);
        reader.add_warning(at, "\"on_failure\" has no effect because a failure cannot block this event");
    }
    if hook.background && hook.on_failure == FailurePolicy::Block {
        reader.add_warning(
            fields.offset,
            UserMessage::new("a background hook cannot block").with_hint("remove \"background\" or \"on_failure\""),
        );
    }
    reader.hooks.push(hook);
}

fn read_events(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<Vec<EventName>> {
    let Some(node) = fields.get("event") else {
        let message = UserMessage::new("a [[hook]] has no \"event\"");
        reader.add_error(fields.offset, message.with_hint("add event = \"PreToolUse\""));
        return None;
    };
    let names = match &node.value {
        NodeValue::Array(items) => items.as_slice(),
        _ => std::slice::from_ref(node),
    };
    let mut events = Vec::new();
    for item in names {
        let Some(name) = reader.expect_text(item, "event") else {
            continue;
        };
        events.extend(reader.read_event_name(item.offset, &name, EventVocabulary::Native));
    }
    if events.is_empty() && names.is_empty() {
        let message = UserMessage::new("\"event\" is an empty list");
        reader.add_error(node.offset, message.with_hint("write the name of an event"));
    }
    (!events.is_empty()).then_some(events)
}

fn read_action(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<HookAction> {
    match (fields.get("run"), fields.get("exec")) {
        (Some(_), Some(exec)) => {
            let message = UserMessage::new("a [[hook]] has both \"run\" and \"exec\"");
            reader.add_error(exec.offset, message.with_hint("remove one of them"));
            None
        }
        (Some(_), None) => {
            let command = reader.read_required_text(fields, "run", "a [[hook]]")?;
            Some(HookAction::posix_shell(command))
        }
        (None, Some(node)) => {
            let mut words = reader.read_texts(fields, "exec")?.into_iter();
            let Some(program) = words.next().filter(|program| !program.is_empty()) else {
                let message = UserMessage::new("\"exec\" has no program");
                reader.add_error(node.offset, message.with_hint("write exec = [\"program\", \"argument\"]"));
                return None;
            };
            Some(HookAction::Exec { program, args: words.collect() })
        }
        (None, None) => {
            let message = UserMessage::new("a [[hook]] has no command");
            reader.add_error(fields.offset, message.with_hint("add run = \"…\" or exec = [\"…\"]"));
            None
        }
    }
}

fn read_tool_matcher(
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
    events: &[EventName],
) -> Option<Matcher> {
    let Some(node) = fields.get("tool") else {
        return Some(Matcher::match_all(None));
    };
    let written = reader.expect_text(node, "tool")?;
    if !events.iter().any(EventName::is_tool_event) {
        reader.add_warning(node.offset, "\"tool\" has no effect on this event");
        return Some(Matcher::match_all(None));
    }
    let message = UserMessage::new(format!("\"{written}\" is read as a regular expression"))
        .with_suggestion(&written, ToolClass::names());
    if written.contains('.') && message.hint.is_some() && ToolClass::parse(&written).is_none() {
        reader.add_warning(node.offset, message);
    }
    Matcher::from_names_classes_or_expression(written)
        .map_err(|fault| {
            let message = fault.map_text(|text| format!("\"tool\" {text} (the hook is ignored)"));
            reader.add_error(node.offset, message);
        })
        .ok()
}

fn read_timeout(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> HookTimeout {
    let Some(node) = fields.get("timeout") else {
        return HookTimeout::Default(DEFAULT_TIMEOUT);
    };
    let parsed = node.text().and_then(|text| text.parse::<SignedDuration>().ok());
    let wanted = if parsed.is_some() { "more than 0" } else { "a duration with a unit" };
    let duration = parsed.and_then(|duration| Duration::try_from(duration).ok());
    match duration.filter(|duration| !duration.is_zero()) {
        Some(duration) => reader.cap_timeout(node.offset, duration, MAX_TIMEOUT),
        None => {
            let default = format_duration(DEFAULT_TIMEOUT);
            let message = UserMessage::new(format!("\"timeout\" must be {wanted} (using the default, {default})"));
            reader.add_error(node.offset, message.with_hint("write \"10s\" or \"500ms\""));
            HookTimeout::Default(DEFAULT_TIMEOUT)
        }
    }
}

/// An invalid value is read as "block", because its author wanted to control failures.
fn read_on_failure(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> FailurePolicy {
    let Some(node) = fields.get("on_failure") else {
        return FailurePolicy::Continue;
    };
    match node.text() {
        Some("continue") => FailurePolicy::Continue,
        Some("block") => FailurePolicy::Block,
        other => {
            let message = UserMessage::new("\"on_failure\" must be \"continue\" or \"block\" (using \"block\")");
            let message = message.with_suggestion(other.unwrap_or_default(), ["continue", "block"]);
            reader.add_error(node.offset, message);
            FailurePolicy::Block
        }
    }
}
