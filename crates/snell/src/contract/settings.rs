//! `settings.json`: the file that several agents share in form, `hooks.EVENT[]`, read entry by entry.

use super::{Contract, Read, Shape, for_shape};
use crate::config::{Member, Node, NodeValue, Reading};
use crate::diagnostic::hint;
use crate::event::EventName;

/// The event under which an entry stands.
#[derive(Debug)]
pub(crate) struct EventKey<'a> {
    /// The name as it was written.
    pub(crate) written: &'a str,
    pub(crate) event: EventName,
}

/// Reads the hooks of a settings file that lies where `home`'s files lie. They stand under `hooks`, or, as the flat
/// specification also prints them, under the names of events at the root. Every other key belongs to the agent.
pub(super) fn read(home: &'static Contract, reading: &mut Reading<'_>, node: &Node) {
    let Some(root) = reading.object(node, "a settings file") else {
        return;
    };
    (home.switches)(reading, &root);
    if let Some(hooks) = root.get("hooks")
        && let Some(events) = reading.object(hooks, "\"hooks\"")
    {
        for member in events.distinct() {
            read_event(home, reading, member);
        }
    }
    for member in root.distinct() {
        if EventName::known(&member.key).is_some() {
            read_event(home, reading, member);
        } else if !root.has("hooks") && matches!(member.node.value, NodeValue::Object(_)) {
            // All other keys are the agent's, but one that looks like a slip of the pen would cost every hook.
            let near = hint(&member.key, ["hooks"]);
            if !near.is_empty() {
                reading.warn(
                    member.key_at,
                    format!("no \"hooks\" in this file, but \"{}\"{near}", member.key),
                );
            }
        }
    }
}

fn read_event(home: &'static Contract, reading: &mut Reading<'_>, member: &Member) {
    let Some(entries) = reading.array(&member.node, &format!("\"{}\"", member.key)) else {
        return;
    };
    if entries.is_empty() {
        // Nothing is lost, but a name that nobody knows is still a mistake.
        reading.event(member.key_at, &member.key, home.vocabulary);
    }
    for entry in entries {
        read_entry(home, reading, (&member.key, member.key_at), entry);
    }
}

fn read_entry(home: &'static Contract, reading: &mut Reading<'_>, (written, at): (&str, usize), entry: &Node) {
    let Some(shape) = shape_of(entry) else {
        let keys = match &entry.value {
            NodeValue::Object(members) => members.as_slice(),
            _ => &[],
        };
        let near = keys.iter().map(|member| hint(&member.key, ["hooks", "command"]));
        let near = near.max_by_key(String::len).unwrap_or_default();
        reading.error(
            entry.at,
            format!(
                "an entry for \"{written}\" must be a group with \"hooks\", a hook with \"command\", or the path of a \
                 script, not {}{near}",
                match &entry.value {
                    NodeValue::Object(_) => "an object with neither key",
                    _ => entry.kind(),
                }
            ),
        );
        return;
    };
    let contract = for_shape(home, shape);
    let Some(event) = reading.event(at, written, contract.vocabulary) else {
        return;
    };
    let key = EventKey { written, event };
    if let Read::Entry(read) = contract.read {
        read(reading, &key, entry);
    }
}

fn shape_of(entry: &Node) -> Option<Shape> {
    match &entry.value {
        NodeValue::String(_) => Some(Shape::Script),
        NodeValue::Object(members) => {
            let has = |key: &str| members.iter().any(|member| member.key == key);
            if has("hooks") {
                Some(Shape::Group)
            } else {
                has("command").then_some(Shape::Flat)
            }
        }
        _ => None,
    }
}
