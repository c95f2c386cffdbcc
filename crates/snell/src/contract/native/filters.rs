//! Reads the conditions of a `[[hook]]` beside `event`, `tool` and `when`.

use crate::config::{ConfigReader, ObjectFields, read_agent_names};
use crate::diagnostic::UserMessage;
use crate::event::EventName;
use crate::matcher::{HookFilters, Matcher, find_command_pattern_fault};

/// The consequence of an invalid condition: the hook would run too often without it.
const IGNORED: &str = "the hook is ignored";

/// A condition that some events cannot meet.
type EventCondition = (&'static str, fn(&EventName) -> bool);

/// The conditions that depend on the event.
const EVENT_CONDITIONS: &[EventCondition] = &[
    ("file", EventName::is_tool_event),
    ("command", EventName::is_tool_event),
    ("notification", |event| *event == EventName::Notification),
];

/// The conditions of a hook; `None` if one of them is invalid.
pub(super) fn read_filters(
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
    events: &[EventName],
) -> Option<Option<Box<HookFilters>>> {
    for (key, can_apply) in EVENT_CONDITIONS {
        if let Some(node) = fields.get(key).filter(|_| !events.iter().any(can_apply)) {
            let message = UserMessage::new(format!("\"{key}\" never matches this event, so the hook never runs"));
            reader.add_warning(node.offset, message.with_hint(format!("remove \"{key}\" or change \"event\"")));
        }
    }
    let filters = HookFilters {
        file: read_pattern(reader, fields, "file", "\"**/*.rs\"")?,
        command: read_command(reader, fields)?,
        agents: match fields.get("agent") {
            Some(node) => read_agent_names(reader, node, IGNORED)?,
            None => Vec::new(),
        },
        notification: read_pattern(reader, fields, "notification", "\"permission_prompt\"")?
            .map(Matcher::from_caseless_globs),
        project: read_pattern(reader, fields, "project", "\"~/work/**\"")?,
    };
    Some((filters != HookFilters::default()).then(|| Box::new(filters)))
}

/// A pattern that is not blank: `None` if it is invalid.
fn read_pattern(
    reader: &mut ConfigReader<'_>,
    fields: &ObjectFields<'_>,
    key: &str,
    example: &str,
) -> Option<Option<String>> {
    let Some(node) = fields.get(key) else {
        return Some(None);
    };
    let text = reader.expect_text(node, key)?;
    if text.trim().is_empty() {
        let message = UserMessage::new(format!("\"{key}\" is empty ({IGNORED})"));
        reader.add_error(node.offset, message.with_hint(format!("write {key} = {example}")));
        return None;
    }
    Some(Some(text.trim().to_owned()))
}

fn read_command(reader: &mut ConfigReader<'_>, fields: &ObjectFields<'_>) -> Option<Option<String>> {
    let pattern = read_pattern(reader, fields, "command", "\"git push **\"")?;
    let fault = pattern.as_deref().and_then(find_command_pattern_fault);
    if let Some((fault, node)) = fault.zip(fields.get("command")) {
        let message = UserMessage::new(format!("\"command\" {fault} ({IGNORED})"));
        reader.add_error(node.offset, message.with_hint("write the words of one command, such as \"git push **\""));
        return None;
    }
    Some(pattern)
}
