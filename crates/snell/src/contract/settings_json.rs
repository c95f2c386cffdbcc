//! Reads `settings.json`, whose form several agents share: `hooks.EVENT[]`.

use super::{Contract, ContractReader, EntryShape, find_contract_for_shape};
use crate::config::{ConfigReader, NodeValue, SpannedMember, SpannedNode};
use crate::diagnostic::UserMessage;
use crate::event::EventName;

/// The key of an entry.
#[derive(Debug)]
pub(crate) struct HookEventKey<'a> {
    /// The name as it was written.
    pub(crate) written: &'a str,
    pub(crate) event: EventName,
}

/// Reads the hooks of a settings file at a path of the contract `home`. They are under `hooks`, or, as in the flat
/// specification, under event names at the root. Every other key belongs to the agent.
pub(super) fn read_settings_json(home: &'static Contract, reader: &mut ConfigReader<'_>, node: &SpannedNode) {
    let Some(root) = reader.read_object(node, "a settings file") else {
        return;
    };
    (home.read_switches)(reader, &root);
    if let Some(hooks) = root.get("hooks")
        && let Some(events) = reader.read_object(hooks, "\"hooks\"")
    {
        for member in events.distinct_members() {
            read_event(home, reader, member);
        }
    }
    for member in root.distinct_members() {
        if EventName::parse_known(&member.key).is_some() {
            read_event(home, reader, member);
        } else if !root.contains_key("hooks") && matches!(member.node.value, NodeValue::Object(_)) {
            // Other keys belong to the agent, but a typo of "hooks" would disable every hook.
            let message = UserMessage::new(format!("this file has \"{}\" but no \"hooks\"", member.key));
            let message = message.with_suggestion(&member.key, ["hooks"]);
            if message.hint.is_some() {
                reader.add_warning(member.key_offset, message);
            }
        }
    }
}

fn read_event(home: &'static Contract, reader: &mut ConfigReader<'_>, member: &SpannedMember) {
    let Some(entries) = reader.read_array(&member.node, &format!("\"{}\"", member.key)) else {
        return;
    };
    if entries.is_empty() {
        // Report an unknown event even if it has no entries.
        reader.read_event_name(member.key_offset, &member.key, home.vocabulary);
    }
    for entry in entries {
        read_entry(home, reader, (&member.key, member.key_offset), entry);
    }
}

fn read_entry(
    home: &'static Contract,
    reader: &mut ConfigReader<'_>,
    (written, at): (&str, usize),
    entry: &SpannedNode,
) {
    let Some(shape) = detect_shape(entry) else {
        let keys = match &entry.value {
            NodeValue::Object(members) => members.as_slice(),
            _ => &[],
        };
        let kind = match &entry.value {
            NodeValue::Object(_) => "an object without \"hooks\" or \"command\"",
            _ => entry.kind_name(),
        };
        let message = UserMessage::new(format!(
            "an entry for \"{written}\" must be a group with \"hooks\", a hook with \"command\", or the path of a script, \
             not {kind}"
        ));
        let suggest =
            |message: UserMessage, key: &SpannedMember| message.with_suggestion(&key.key, ["hooks", "command"]);
        reader.add_error(entry.offset, keys.iter().fold(message, suggest));
        return;
    };
    let contract = find_contract_for_shape(home, shape);
    let Some(event) = reader.read_event_name(at, written, contract.vocabulary) else {
        return;
    };
    let key = HookEventKey { written, event };
    if let ContractReader::Entry(read) = contract.reader {
        read(reader, &key, entry);
    }
}

fn detect_shape(entry: &SpannedNode) -> Option<EntryShape> {
    match &entry.value {
        NodeValue::String(_) => Some(EntryShape::Script),
        NodeValue::Object(members) => {
            let has = |key: &str| members.iter().any(|member| member.key == key);
            if has("hooks") { Some(EntryShape::Group) } else { has("command").then_some(EntryShape::Flat) }
        }
        _ => None,
    }
}
