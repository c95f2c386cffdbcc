//! The known fields of a body and their types. All other fields are stored unchanged.

use serde_json::{Map, Value};
use snell::UserMessage;

use crate::http::errors::HttpError;
use crate::http::rfc3339;

/// The longest id.
const MAX_ID_BYTES: usize = 1024;

/// The type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HookFieldKind {
    Text,
    /// A non-empty string of limited length.
    Id,
    Flag,
    Object,
    ProcessId,
    /// An RFC 3339 time.
    Time,
    Anything,
}

const FIELDS: &[(&str, HookFieldKind)] = &[
    ("session_id", HookFieldKind::Id),
    ("event_id", HookFieldKind::Id),
    ("hook_event_name", HookFieldKind::Id),
    ("cwd", HookFieldKind::Text),
    ("working_directory", HookFieldKind::Text),
    ("transcript_path", HookFieldKind::Text),
    ("prompt", HookFieldKind::Text),
    ("message", HookFieldKind::Text),
    ("title", HookFieldKind::Text),
    ("notification_type", HookFieldKind::Text),
    ("tool_name", HookFieldKind::Text),
    ("tool_use_id", HookFieldKind::Text),
    ("tool_input", HookFieldKind::Object),
    ("tool_response", HookFieldKind::Anything),
    ("last_assistant_message", HookFieldKind::Text),
    ("stop_hook_active", HookFieldKind::Flag),
    ("tmux_pane", HookFieldKind::Text),
    ("tmux_session", HookFieldKind::Text),
    ("headspace_session_id", HookFieldKind::Text),
    ("pid", HookFieldKind::ProcessId),
    ("host", HookFieldKind::Text),
    ("reason", HookFieldKind::Text),
    ("source", HookFieldKind::Text),
    ("timestamp", HookFieldKind::Time),
    ("snell", HookFieldKind::Anything),
];

impl HookFieldKind {
    /// Whether the value has this type. Null means that the field is missing.
    fn matches_value(self, value: &Value) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::Text => value.is_string(),
            Self::Id => value.as_str().is_some_and(|id| !id.trim().is_empty() && id.len() <= MAX_ID_BYTES),
            Self::Flag => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::ProcessId => value.as_u64().is_some_and(|pid| pid > 0 && u32::try_from(pid).is_ok()),
            Self::Time => value.as_str().is_some_and(|text| rfc3339::parse_timestamp(text).is_some()),
            Self::Anything => true,
        }
    }

    fn expected_text(self) -> String {
        match self {
            Self::Text => "a string".into(),
            Self::Id => format!("a non-empty string of at most {MAX_ID_BYTES} bytes"),
            Self::Flag => "true or false".into(),
            Self::Object => "an object".into(),
            Self::ProcessId => "a process id".into(),
            Self::Time => "an RFC 3339 time such as 2025-12-31T10:30:00Z".into(),
            Self::Anything => "anything".into(),
        }
    }
}

/// The static form of a known name.
pub(super) fn find_known_name(name: &str) -> Option<&'static str> {
    FIELDS.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// Checks every known field.
pub(super) fn check_fields(fields: &Map<String, Value>) -> Result<(), HttpError> {
    for (name, value) in fields {
        let known = FIELDS.iter().find(|(known, _)| known == name);
        if let Some((name, kind)) = known.filter(|(_, kind)| !kind.matches_value(value)) {
            return Err(HttpError::bad_request(format!("\"{name}\" must be {}", kind.expected_text())));
        }
    }
    require_field(fields, "session_id", "send the id of the agent's session")
}

/// Refuses a body without this field.
pub(super) fn require_field(fields: &Map<String, Value>, name: &str, hint: &str) -> Result<(), HttpError> {
    match fields.get(name) {
        Some(Value::String(_)) => Ok(()),
        _ => Err(HttpError::bad_request(UserMessage::new(format!("\"{name}\" is missing")).with_hint(hint))),
    }
}
