//! Converts fields to the types that receivers expect. Agents may send any type, and `snell hook` accepts it, so a
//! receiver must not refuse an event for that.

use serde_json::{Map, Value, json};
use snell::Timestamp;

/// The longest id that receivers accept.
const MAX_ID_BYTES: usize = 1024;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyFieldKind {
    Text,
    /// A text for people: other values are kept as JSON text.
    ReadableText,
    /// An id: neither empty nor long.
    Id,
    Flag,
    Object,
    ProcessId,
    /// An RFC 3339 time.
    Time,
}

/// Fields that are not listed may have any type.
const FIELDS: &[(&str, BodyFieldKind)] = &[
    ("session_id", BodyFieldKind::Id),
    ("event_id", BodyFieldKind::Id),
    ("hook_event_name", BodyFieldKind::Id),
    ("cwd", BodyFieldKind::Text),
    ("working_directory", BodyFieldKind::Text),
    ("transcript_path", BodyFieldKind::Text),
    ("prompt", BodyFieldKind::ReadableText),
    ("message", BodyFieldKind::ReadableText),
    ("title", BodyFieldKind::ReadableText),
    ("notification_type", BodyFieldKind::Text),
    ("tool_name", BodyFieldKind::Text),
    ("tool_use_id", BodyFieldKind::Text),
    ("tool_input", BodyFieldKind::Object),
    ("last_assistant_message", BodyFieldKind::ReadableText),
    ("stop_hook_active", BodyFieldKind::Flag),
    ("tmux_pane", BodyFieldKind::Text),
    ("tmux_session", BodyFieldKind::Text),
    ("headspace_session_id", BodyFieldKind::Text),
    ("pid", BodyFieldKind::ProcessId),
    ("host", BodyFieldKind::Text),
    ("reason", BodyFieldKind::ReadableText),
    ("source", BodyFieldKind::Text),
    ("timestamp", BodyFieldKind::Time),
];

/// Converts the fields that a receiver would refuse, and removes those that cannot be converted.
pub(super) fn coerce_fields(body: &mut Map<String, Value>) {
    for (name, kind) in FIELDS {
        let Some(value) = body.get_mut(*name) else {
            continue;
        };
        match kind.coerce_value(value) {
            Some(FieldCoercion::Unchanged) => {}
            Some(FieldCoercion::Replaced(fitting)) => *value = fitting,
            None => drop(body.shift_remove(*name)),
        }
    }
}

/// The conversion of a value.
enum FieldCoercion {
    Unchanged,
    Replaced(Value),
}

impl BodyFieldKind {
    /// Returns nothing if the value cannot be converted.
    fn coerce_value(self, value: &Value) -> Option<FieldCoercion> {
        let fits = match self {
            _ if value.is_null() => true,
            Self::Text | Self::ReadableText => value.is_string(),
            Self::Id => value.as_str().is_some_and(is_valid_id),
            Self::Flag => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::ProcessId => value.as_u64().is_some_and(|pid| pid > 0 && u32::try_from(pid).is_ok()),
            Self::Time => value.as_str().is_some_and(|text| text.parse::<Timestamp>().is_ok()),
        };
        if fits {
            return Some(FieldCoercion::Unchanged);
        }
        let fitting = match self {
            Self::ReadableText => value.to_string().into(),
            Self::Id => truncate_id(value.as_str()?)?.into(),
            Self::Object => json!({"value": value}),
            Self::Text | Self::Flag | Self::ProcessId | Self::Time => return None,
        };
        Some(FieldCoercion::Replaced(fitting))
    }
}

fn is_valid_id(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_ID_BYTES
}

/// The part of an id that receivers accept; nothing if it is empty.
fn truncate_id(id: &str) -> Option<&str> {
    let id = &id[..id.floor_char_boundary(MAX_ID_BYTES)];
    is_valid_id(id).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_a_receiver_would_refuse_are_converted() {
        let long = "ä".repeat(MAX_ID_BYTES);
        let rows = [
            ("prompt", json!("Go."), Some(json!("Go."))),
            ("prompt", json!(""), Some(json!(""))),
            ("prompt", json!(null), Some(json!(null))),
            ("prompt", json!([{"text": "Go."}]), Some(json!("[{\"text\":\"Go.\"}]"))),
            ("reason", json!(5), Some(json!("5"))),
            ("tool_name", json!(5), None),
            ("cwd", json!({}), None),
            ("session_id", json!("s1"), Some(json!("s1"))),
            ("session_id", json!(5), None),
            ("session_id", json!(" "), None),
            ("session_id", json!(long), Some(json!("ä".repeat(MAX_ID_BYTES / 2)))),
            ("tool_input", json!({"a": 1}), Some(json!({"a": 1}))),
            ("tool_input", json!(["ls"]), Some(json!({"value": ["ls"]}))),
            ("tool_input", json!("ls"), Some(json!({"value": "ls"}))),
            ("stop_hook_active", json!(true), Some(json!(true))),
            ("stop_hook_active", json!("yes"), None),
            ("pid", json!(7), Some(json!(7))),
            ("pid", json!(0), None),
            ("pid", json!(-7), None),
            ("pid", json!(5_000_000_000_u64), None),
            ("pid", json!("7"), None),
            ("timestamp", json!("2026-03-01T12:00:00Z"), Some(json!("2026-03-01T12:00:00Z"))),
            ("timestamp", json!("yesterday"), None),
            ("timestamp", json!(1_700_000_000), None),
            ("tool_response", json!([1]), Some(json!([1]))),
            ("anything", json!([1]), Some(json!([1]))),
        ];
        for (name, value, expected) in rows {
            let mut body = Map::from_iter([(name.to_owned(), value.clone())]);
            coerce_fields(&mut body);
            assert_eq!(body.get(name), expected.as_ref(), "{name}: {value}");
        }
    }
}
