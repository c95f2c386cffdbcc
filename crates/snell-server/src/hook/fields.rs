//! The fields of a body that mean something here, and what each must be. All others are kept as they are.

use serde_json::{Map, Value};

use crate::error::Refusal;
use crate::time;

/// The longest id.
const MAX_ID_BYTES: usize = 1024;

/// What a field must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    /// A text that names something, so it is neither empty nor long.
    Id,
    Flag,
    Object,
    ProcessId,
    /// An RFC 3339 time.
    Time,
    Anything,
}

/// One field.
struct Field {
    name: &'static str,
    kind: Kind,
}

const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind }
}

const FIELDS: &[Field] = &[
    field("session_id", Kind::Id),
    field("event_id", Kind::Id),
    field("hook_event_name", Kind::Id),
    field("cwd", Kind::Text),
    field("working_directory", Kind::Text),
    field("transcript_path", Kind::Text),
    field("prompt", Kind::Text),
    field("message", Kind::Text),
    field("title", Kind::Text),
    field("notification_type", Kind::Text),
    field("tool_name", Kind::Text),
    field("tool_use_id", Kind::Text),
    field("tool_input", Kind::Object),
    field("tool_response", Kind::Anything),
    field("last_assistant_message", Kind::Text),
    field("stop_hook_active", Kind::Flag),
    field("tmux_pane", Kind::Text),
    field("tmux_session", Kind::Text),
    field("headspace_session_id", Kind::Text),
    field("pid", Kind::ProcessId),
    field("host", Kind::Text),
    field("reason", Kind::Text),
    field("source", Kind::Text),
    field("timestamp", Kind::Time),
    field("snell", Kind::Anything),
];

impl Kind {
    /// Whether the value is one. Where a field may be missing it may also be null.
    fn fits(self, value: &Value) -> bool {
        match self {
            _ if value.is_null() => true,
            Self::Text => value.is_string(),
            Self::Id => value
                .as_str()
                .is_some_and(|id| !id.trim().is_empty() && id.len() <= MAX_ID_BYTES),
            Self::Flag => value.is_boolean(),
            Self::Object => value.is_object(),
            Self::ProcessId => value.as_u64().is_some_and(|pid| pid > 0 && u32::try_from(pid).is_ok()),
            Self::Time => value.as_str().is_some_and(|text| time::read(text).is_some()),
            Self::Anything => true,
        }
    }

    fn expected(self) -> String {
        match self {
            Self::Text => "a string".into(),
            Self::Id => format!("a string that is not empty, of at most {MAX_ID_BYTES} bytes"),
            Self::Flag => "true or false".into(),
            Self::Object => "an object".into(),
            Self::ProcessId => "the number of a process".into(),
            Self::Time => "an RFC 3339 time such as 2025-12-31T10:30:00Z".into(),
            Self::Anything => "anything".into(),
        }
    }
}

/// The name as the table has it, if it is there.
pub(super) fn known(name: &str) -> Option<&'static str> {
    FIELDS.iter().find(|field| field.name == name).map(|field| field.name)
}

/// Checks every field that means something.
pub(super) fn check(fields: &Map<String, Value>) -> Result<(), Refusal> {
    for (name, value) in fields {
        let known = FIELDS.iter().find(|field| field.name == name);
        if let Some(Field { name, kind }) = known.filter(|field| !field.kind.fits(value)) {
            return Err(Refusal::bad(format!("\"{name}\" must be {}", kind.expected())));
        }
    }
    require(fields, "session_id", "it names the agent's session")
}

/// Refuses a body without this field.
pub(super) fn require(fields: &Map<String, Value>, name: &str, why: &str) -> Result<(), Refusal> {
    match fields.get(name) {
        Some(Value::String(_)) => Ok(()),
        _ => Err(Refusal::bad(format!("\"{name}\" is missing: {why}"))),
    }
}
