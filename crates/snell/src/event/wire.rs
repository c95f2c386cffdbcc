//! Reads an `Event` from the JSON of a host, with tolerance.

use std::borrow::Cow;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{Event, EventName, SubagentIdentity, TmuxLocation, ToolCall};
use crate::diagnostic::{Diagnostic, UserMessage};

/// Why a text could not be read as JSON.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// It is not JSON.
    #[error(transparent)]
    Syntax(#[from] serde_json::Error),
    /// It is nested so deeply that reading it could exhaust the stack.
    #[error("it is nested more than {MAX_JSON_DEPTH} levels deep")]
    TooDeep,
    /// It has so many values that reading it could exhaust the memory.
    #[error("it has more than {MAX_JSON_VALUES} values")]
    TooManyValues,
}

/// How deeply JSON from other programs may be nested. Reading, writing and dropping it recurse.
pub const MAX_JSON_DEPTH: usize = 256;

/// How many values JSON from other programs may have. Each value takes up to 800 bytes while Snell handles an event, so
/// this limits the memory to 80 MB. Payloads of agents have some thousand values at most.
pub const MAX_JSON_VALUES: usize = 100_000;

/// Why a payload is not an event at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The text is not JSON.
    #[error("the event is not valid JSON")]
    NotJson(#[source] JsonError),
    /// The text is JSON, but no object.
    #[error("the event must be a JSON object such as {{\"tool_name\": …}}, not {0}")]
    NotAnObject(&'static str),
    /// It has no event name.
    #[error("the event has no name: pass one such as PreToolUse, or add \"hook_event_name\"")]
    NoName,
}

impl Event {
    /// Reads an event from the JSON text of a host.
    ///
    /// `name` is the host's name of the event. Without it, the payload's `hook_event_name` or `event` is used. Empty text is
    /// an event without details. A field of the wrong type is ignored and reported; it stays in [`Event::raw`].
    ///
    /// # Errors
    ///
    /// When the text is not a JSON object, or the event has no name.
    pub fn from_json(name: Option<&str>, text: &[u8]) -> Result<(Self, Vec<Diagnostic>), EventError> {
        Self::from_object(name, parse_payload_object(text)?)
    }

    /// As [`Event::from_json`], from a parsed object.
    ///
    /// # Errors
    ///
    /// When the event has no name.
    pub fn from_object(name: Option<&str>, raw: Map<String, Value>) -> Result<(Self, Vec<Diagnostic>), EventError> {
        let mut fields = PayloadFields { raw: &raw, notes: Vec::new() };
        let own_name = fields.read_text(EVENT_NAME_FIELDS);
        if let (Some(name), Some(own_name)) = (name, &own_name)
            && EventName::parse(name) != EventName::parse(own_name)
        {
            fields.add_note(format!(
                "the payload has the event name \"{own_name}\" instead of \"{name}\" (using \"{name}\")"
            ));
        }
        let name =
            name.map(str::to_owned).or(own_name).filter(|name| !name.trim().is_empty()).ok_or(EventError::NoName)?;

        let mut event = Self::new(EventName::parse(name.trim()));
        event.session_id = fields.read_text(&["session_id"]);
        event.cwd = fields.read_path(&["cwd", "working_directory"]);
        event.project_dir = fields.read_path(&["project_dir"]);
        event.transcript_path = fields.read_path(&["transcript_path"]);
        event.timestamp = fields.read_timestamp();
        event.tool = fields.read_tool_call();
        event.prompt = fields.read_text(&["prompt", "user_prompt"]);
        event.message = fields.read_text(&["message"]);
        event.source = fields.read_text(&["source"]);
        event.reason = fields.read_text(&["reason"]);
        event.stop_hook_active = fields.read_bool("stop_hook_active");
        event.model = fields.read_text(&["model"]);
        event.permission_mode = fields.read_text(&["permission_mode"]);
        event.user_name = fields.read_text(&["user_name"]);
        event.agent_name = fields.read_text(&["agent_name"]);
        event.platform = fields.read_text(&["platform"]);
        event.subagent = either_present(fields.read_text(&["agent_id"]), fields.read_text(&["agent_type"]))
            .map(|(id, kind)| SubagentIdentity { id, kind });
        event.tmux = either_present(fields.read_text(&["tmux_pane"]), fields.read_text(&["tmux_session"]))
            .map(|(pane, session)| TmuxLocation { pane, session });
        let notes = fields.notes;
        event.raw = raw;
        Ok((event, notes))
    }

    /// The event as JSON, with the names that [`Event::from_json`] reads and the host's other fields.
    pub fn to_json(&self) -> Value {
        let path = |path: &Option<std::path::PathBuf>| path.as_ref().map(|path| Value::from(path.to_string_lossy()));
        let text = |value: Option<&String>| value.map(|text| Value::from(text.as_str()));
        let tmux = self.tmux.as_ref();
        let mut object = self.raw.clone();
        // Remove aliases of modelled fields, whose values may have changed.
        for alias in ["tool_output", "user_prompt", "working_directory"] {
            object.shift_remove(alias);
        }
        object.insert("event".into(), self.name.as_str().into());
        object.insert("hook_event_name".into(), self.name.as_str().into());
        let mut put = |key: &str, value: Option<Value>| {
            object.extend(value.map(|value| (key.to_owned(), value)));
        };
        put("cwd", path(&self.cwd));
        put("project_dir", path(&self.project_dir));
        put("transcript_path", path(&self.transcript_path));
        put("timestamp", self.timestamp.map(|time| time.to_string().into()));
        put("user_name", text(self.user_name.as_ref()));
        put("agent_name", text(self.agent_name.as_ref()));
        put("platform", text(self.platform.as_ref()));
        put("tmux_pane", text(tmux.and_then(|tmux| tmux.pane.as_ref())));
        put("tmux_session", text(tmux.and_then(|tmux| tmux.session.as_ref())));
        put("tool_success", self.tool.as_ref().and_then(|tool| tool.success).map(Value::Bool));
        for key in MODELLED_FIELDS {
            put(key, self.wire_field(key));
        }
        Value::Object(object)
    }

    /// A field by its wire name: from the model if it has one, else as the host sent it.
    pub(crate) fn wire_field(&self, name: &str) -> Option<Value> {
        let text = |value: &Option<String>| value.clone().map(Value::String);
        let tool = self.tool.as_ref();
        let modelled = match name {
            "session_id" => text(&self.session_id),
            "prompt" => text(&self.prompt),
            "message" => text(&self.message),
            "source" => text(&self.source),
            "reason" => text(&self.reason),
            "model" => text(&self.model),
            "permission_mode" => text(&self.permission_mode),
            "stop_hook_active" => self.stop_hook_active.map(Value::Bool),
            "agent_id" => self.subagent.as_ref().and_then(|agent| text(&agent.id)),
            "agent_type" => self.subagent.as_ref().and_then(|agent| text(&agent.kind)),
            "tool_name" => self.tool_name().map(Value::from),
            "tool_input" => tool.and_then(|tool| tool.input.clone()),
            "tool_response" => tool.and_then(|tool| tool.output.clone()),
            "tool_use_id" => tool.and_then(|tool| text(&tool.use_id)),
            "duration_ms" => tool.and_then(|tool| tool.duration_ms.map(Value::from)),
            _ => None,
        };
        modelled.or_else(|| self.raw.get(name).cloned())
    }
}

/// The fields that name the event.
const EVENT_NAME_FIELDS: &[&str] = &["hook_event_name", "event"];

/// The name that a payload gives its event.
pub(crate) fn read_event_name(raw: &Map<String, Value>) -> Option<String> {
    PayloadFields { raw, notes: Vec::new() }.read_text(EVENT_NAME_FIELDS)
}

/// Reads the JSON object of a payload. Empty text is an empty object.
///
/// # Errors
///
/// When the text is not a JSON object.
pub fn parse_payload_object(text: &[u8]) -> Result<Map<String, Value>, EventError> {
    let text = String::from_utf8_lossy(text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    match parse_json(text).map_err(EventError::NotJson)? {
        Value::Object(fields) => Ok(fields),
        other => Err(EventError::NotAnObject(json_kind_name(&other))),
    }
}

/// The fields that [`Event::wire_field`] takes from the model.
const MODELLED_FIELDS: &[&str] = &[
    "session_id",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "duration_ms",
    "prompt",
    "message",
    "source",
    "reason",
    "stop_hook_active",
    "agent_id",
    "agent_type",
    "model",
    "permission_mode",
];

fn either_present(a: Option<String>, b: Option<String>) -> Option<(Option<String>, Option<String>)> {
    (a.is_some() || b.is_some()).then_some((a, b))
}

/// Reads typed fields of a payload, and notes those of the wrong type.
struct PayloadFields<'a> {
    raw: &'a Map<String, Value>,
    notes: Vec<Diagnostic>,
}

impl PayloadFields<'_> {
    fn add_note(&mut self, message: impl Into<UserMessage>) {
        self.notes.push(Diagnostic::for_event(message));
    }

    /// The first of `names` that is a string, a number or a boolean.
    fn read_text(&mut self, names: &[&str]) -> Option<String> {
        for name in names {
            match self.raw.get(*name) {
                None | Some(Value::Null) => {}
                Some(Value::String(text)) => return Some(text.clone()),
                Some(value @ (Value::Number(_) | Value::Bool(_))) => return Some(value.to_string()),
                Some(other) => {
                    let kind = json_kind_name(other);
                    self.add_note(format!("\"{name}\" must be a string, not {kind} (it is ignored)"));
                }
            }
        }
        None
    }

    /// A path. A number is none, and no path is empty: an agent without a directory may send that.
    fn read_path(&mut self, names: &[&str]) -> Option<PathBuf> {
        let is_scalar = |name: &&&str| matches!(self.raw.get(**name), Some(Value::Number(_) | Value::Bool(_)));
        if let Some(name) = names.iter().find(is_scalar) {
            self.add_note(format!("\"{name}\" must be a path (it is ignored)"));
            return None;
        }
        self.read_text(names).filter(|path| !path.is_empty()).map(Into::into)
    }

    fn read_bool(&mut self, name: &str) -> Option<bool> {
        match self.raw.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::Bool(value)) => Some(*value),
            Some(other) => {
                let kind = json_kind_name(other);
                self.add_note(format!("\"{name}\" must be true or false, not {kind} (it is ignored)"));
                None
            }
        }
    }

    fn read_timestamp(&mut self) -> Option<jiff::Timestamp> {
        let text = self.read_text(&["timestamp"])?;
        let parsed = text.parse().ok();
        if parsed.is_none() {
            let message = UserMessage::new(format!("\"timestamp\" must be an RFC 3339 time, not \"{text}\""));
            self.add_note(message.with_hint("write a time such as 2025-12-31T10:30:00Z"));
        }
        parsed
    }

    fn read_tool_call(&mut self) -> Option<ToolCall> {
        let name = self.read_text(&["tool_name"]);
        let input = self.raw.get("tool_input").cloned();
        if let Some(other) = input.as_ref().filter(|input| !(input.is_object() || input.is_null())) {
            let kind = json_kind_name(other);
            self.add_note(format!(
                "\"tool_input\" must be an object, not {kind} (matchers for an argument do not match it)"
            ));
        }
        let output = ["tool_response", "tool_output"].iter().find_map(|name| self.raw.get(*name).cloned());
        if name.is_none() && input.is_none() && output.is_none() {
            return None;
        }
        Some(ToolCall {
            name: name.unwrap_or_default(),
            input,
            output,
            success: self.read_bool("tool_success"),
            use_id: self.read_text(&["tool_use_id"]),
            native_name: None,
            duration_ms: self.raw.get("duration_ms").and_then(Value::as_u64),
        })
    }
}

/// The kind of a JSON value, for a sentence.
fn json_kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Reads JSON, with each lone surrogate escape (`\ud800`) taken as U+FFFD, and numbers as they are written.
///
/// Agents written in JavaScript send such escapes when they cut a text in the middle of a character. A strict parser
/// would reject the whole payload.
pub(crate) fn parse_json(text: &str) -> Result<Value, JsonError> {
    let extent = JsonExtent::measure(text.as_bytes());
    if extent.depth > MAX_JSON_DEPTH {
        return Err(JsonError::TooDeep);
    }
    if extent.values > MAX_JSON_VALUES {
        return Err(JsonError::TooManyValues);
    }
    deserialize_json(text).or_else(|error| {
        let repaired = replace_lone_surrogates(text);
        if repaired == text {
            return Err(error.into());
        }
        Ok(deserialize_json(&repaired)?)
    })
}

/// The object inside a JSON string, else the value itself. Some agents send a tool's input as such a string.
pub fn unpack_json_object(value: &Value) -> Cow<'_, Value> {
    let text = value.as_str().filter(|text| text.trim_start().starts_with('{'));
    let object = text.and_then(|text| parse_json(text).ok()).filter(Value::is_object);
    object.map_or(Cow::Borrowed(value), Cow::Owned)
}

fn deserialize_json(text: &str) -> Result<Value, serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(text);
    // The depth was checked before. It may be greater than the limit of serde_json.
    reader.disable_recursion_limit();
    let value = serde::Deserialize::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// The nesting depth of brackets outside strings in a JSON text.
pub fn measure_json_depth(text: &str) -> usize {
    JsonExtent::measure(text.as_bytes()).depth
}

/// Separates bytes of JSON syntax from bytes in strings.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonStringScanner {
    in_string: bool,
    escaped: bool,
}

impl JsonStringScanner {
    /// Takes the next byte of a text. Returns whether it is outside strings. A quotation mark is not.
    pub fn is_outside_string(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            _ => return !self.in_string,
        }
        false
    }
}

/// The depth and size of a JSON text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct JsonExtent {
    /// The nesting depth of brackets outside strings.
    depth: usize,
    /// The number of brackets and commas outside strings: at least half the number of values.
    values: usize,
}

impl JsonExtent {
    fn measure(text: &[u8]) -> Self {
        let mut extent = Self::default();
        let mut depth = 0_usize;
        let mut strings = JsonStringScanner::default();
        for byte in text.iter().copied().filter(|byte| strings.is_outside_string(*byte)) {
            match byte {
                b'[' | b'{' => {
                    depth += 1;
                    extent.values += 1;
                    extent.depth = extent.depth.max(depth);
                }
                b',' => extent.values += 1,
                b']' | b'}' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        extent
    }
}

/// The text with each lone surrogate escape replaced by that of U+FFFD, which has the same length.
pub fn replace_lone_surrogates(text: &str) -> String {
    let mut mended = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        mended.push_str(&rest[..at]);
        rest = &rest[at..];
        let taken = match parse_escaped_unit(rest) {
            Some(0xD800..=0xDBFF) if matches!(rest.get(6..).and_then(parse_escaped_unit), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                mended.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            // Any other escape: skip the backslash and the character after it.
            _ => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    mended.push_str(rest);
    mended
}

/// The UTF-16 unit of a `\uXXXX` at the start of `text`.
fn parse_escaped_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lone_surrogates_do_not_cost_the_payload() {
        let cases = [
            (r#""a\ud800b""#, "a\u{fffd}b"),
            (r#""\udc00""#, "\u{fffd}"),
            (r#""\ud83d\ude00""#, "\u{1f600}"),
            (r#""\ud800\ud83d\ude00""#, "\u{fffd}\u{1f600}"),
            (r#""\\ud800 \ud800""#, "\\ud800 \u{fffd}"),
        ];
        for (json, expected) in cases {
            assert_eq!(parse_json(json).unwrap(), Value::from(expected), "{json}");
        }
    }

    #[test]
    fn depth_and_values_are_bounded_and_numbers_stay_as_they_are_written() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse_json(&nested(256)).is_ok());
        assert!(matches!(parse_json(&nested(257)), Err(JsonError::TooDeep)));
        assert!(matches!(parse_json(&"[".repeat(1_000_000)), Err(JsonError::TooDeep)));
        let listed = |values: usize| format!("[\",[{{\"{}]", ",0".repeat(values));
        assert!(parse_json(&listed(MAX_JSON_VALUES - 1)).is_ok());
        assert!(matches!(parse_json(&listed(MAX_JSON_VALUES)), Err(JsonError::TooManyValues)));
        for number in ["12345678901234567890123456789", "1e+999", "0.1000", "-0"] {
            assert_eq!(parse_json(number).unwrap().to_string(), number);
        }
    }

    #[test]
    fn a_working_directory_that_is_no_path_stands_for_none() {
        for (cwd, expected) in [(r#""""#, None), ("5", None), ("true", None), ("[]", None), (r#""/w""#, Some("/w"))] {
            let payload = format!(r#"{{"tool_name": "Bash", "cwd": {cwd}}}"#);
            let (event, _) = Event::from_json(Some("PreToolUse"), payload.as_bytes()).unwrap();
            assert_eq!(event.cwd.as_deref(), expected.map(std::path::Path::new), "{cwd:?}");
        }
    }

    #[test]
    fn a_field_of_the_wrong_type_is_noted_and_the_rest_is_read() {
        let (event, notes) = Event::from_json(
            Some("pre-tool-use"),
            br#"{"session_id": ["x"], "tool_name": "Bash", "tool_success": "yes", "cwd": "/w"}"#,
        )
        .unwrap();
        assert_eq!(event.name, EventName::PreToolUse);
        assert_eq!(event.session_id, None);
        assert_eq!(event.tool_name(), Some("Bash"));
        assert_eq!(event.cwd.as_deref(), Some(std::path::Path::new("/w")));
        let messages: Vec<_> = notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "\"session_id\" must be a string, not an array (it is ignored)",
                "\"tool_success\" must be true or false, not a string (it is ignored)",
            ]
        );
    }

    proptest! {
        #[test]
        fn no_payload_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Event::from_json(Some("Stop"), &bytes);
        }

        #[test]
        fn mending_leaves_valid_json_as_it_is(text in r#"[a-z\\u0-9d"]{0,40}"#) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(replace_lone_surrogates(&json), json);
        }
    }
}
