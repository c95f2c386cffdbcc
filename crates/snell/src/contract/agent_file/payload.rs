//! Builds the payload that an agent would send, from the canonical event and the agent's table.

use serde_json::{Map, Value, json};

use super::find_format;
use crate::contract::claude::{self, events};
use crate::contract::envelope::EnvelopeBuilder;
use crate::contract::{Envelope, HookContext, to_json_line};
use crate::event::{Event, EventName, ToolCall};
use crate::hook::Hook;

/// The fields of an agent's payloads.
pub(crate) struct PayloadTable {
    /// Whether payloads of an event of this name have Claude Code's fields, with the agent's own names of events and tools.
    pub(crate) has_claude_fields: fn(&str) -> bool,
    /// Further fields. A field without a value is left out.
    pub(crate) fields: &'static [PayloadField],
}

/// A field of a payload.
pub(crate) struct PayloadField {
    on: EventFilter,
    /// Keys, separated by dots.
    path: &'static str,
    value: PayloadValue,
}

/// A row of a table.
pub(crate) const fn payload_field(on: EventFilter, path: &'static str, value: PayloadValue) -> PayloadField {
    PayloadField { on, path, value }
}

/// Events by the agent's own names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum EventFilter {
    All,
    Only(&'static [&'static str]),
    /// Names that begin with a small letter.
    Camel,
    /// Names that begin with a capital letter.
    Pascal,
}

impl EventFilter {
    pub(crate) fn contains(self, native: &str) -> bool {
        let is_pascal = native.starts_with(|c: char| c.is_ascii_uppercase());
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(&native),
            Self::Camel => !is_pascal,
            Self::Pascal => is_pascal,
        }
    }
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PayloadValue {
    /// A field of the canonical event.
    Field(&'static str),
    /// The same, or `null`.
    FieldOrNull(&'static str),
    /// The same, or an empty string.
    FieldOrEmpty(&'static str),
    /// A field of the canonical tool input.
    InputField(&'static str),
    /// The agent's own name of the event.
    Event,
    /// The canonical name of the event in `snake_case`.
    SnakeEvent,
    /// Another word for each event.
    EventWord(&'static [(&'static str, &'static str)]),
    /// The agent's own name of the tool.
    ToolName,
    /// Claude Code's name of the tool.
    CanonicalToolName,
    /// The tool's input with the agent's own keys.
    ToolInput,
    /// The same as a string of JSON.
    ToolInputText,
    /// The same with every value as a string.
    ToolInputStrings,
    /// The server of an MCP tool.
    McpServer,
    /// The name of an MCP tool without its server.
    McpTool,
    /// The replacements of the tool: a list of `old_string` and `new_string`.
    Edits,
    ToolOutput,
    /// The output as text.
    ToolOutputText,
    /// The output as a string of JSON.
    ToolOutputJson,
    /// `success` or this word.
    ToolStatus(&'static str),
    ToolSucceeded,
    /// The error of a failed tool, or `null`.
    ToolError,
    Cwd,
    Project,
    /// A list with the project.
    ProjectList,
    /// A list of text parts with the prompt.
    PromptParts,
    /// The time in RFC 3339.
    Time,
    /// The time in milliseconds since 1970.
    TimeMilliseconds,
    Word(&'static str),
    Flag(bool),
    Null,
    /// An object without fields, which later rows fill.
    Object,
}

/// An event in the agent's own names.
struct NativeEvent<'a> {
    event: &'a Event,
    /// The event with the agent's own tool.
    translated: Event,
    native: &'a str,
    scene: &'a HookContext<'a>,
}

pub(crate) fn build_envelope(hook: &Hook, event: &Event, scene: &HookContext<'_>) -> Envelope {
    let Some(format) = find_format(hook) else {
        return Envelope::default();
    };
    let native = hook.agent_entry.native_event.unwrap_or_default();
    let mut translated = event.clone();
    translated.tool = event.tool.as_ref().map(|tool| format.to_native_call(tool));
    let view = NativeEvent { event, translated, native, scene };
    let written = hook.events.first().unwrap_or(&event.name);
    let mut payload = match (format.payload.has_claude_fields)(native) {
        true => build_claude_fields(&view, written),
        false => Map::new(),
    };
    for field in format.payload.fields.iter().filter(|field| field.on.contains(native)) {
        if let Some(value) = view.value(field.value) {
            set_path(&mut payload, field.path, value);
        }
    }
    let mut made = EnvelopeBuilder::default();
    for (name, value) in format.variables {
        made = match value {
            PayloadValue::Project => made.set_path(name, scene.project),
            other => made.set_var(name, view.value(*other).map(to_text).as_deref()),
        };
    }
    made.into_envelope(Some(to_json_line(&Value::Object(payload))))
}

/// Claude Code's fields for the event that the hook was written for.
fn build_claude_fields(view: &NativeEvent<'_>, written: &EventName) -> Map<String, Value> {
    // Other fields of an unknown event belong to another agent.
    let mut event = view.translated.clone();
    if events::find_event_row(written).is_none() {
        event.raw = Map::new();
    }
    let mut fields = claude::build_fields(&event, written, view.scene);
    fields.insert("hook_event_name".into(), view.native.into());
    fields
}

fn set_path(object: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            object.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = object.entry(first.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                set_path(inner, rest, value);
            }
        }
    }
}

impl NativeEvent<'_> {
    fn value(&self, value: PayloadValue) -> Option<Value> {
        let event = &self.translated;
        let tool = event.tool.as_ref();
        match value {
            PayloadValue::Field(name) => self.field(name),
            PayloadValue::FieldOrNull(name) => Some(self.field(name).unwrap_or_default()),
            PayloadValue::FieldOrEmpty(name) => Some(self.field(name).unwrap_or_else(|| "".into())),
            PayloadValue::InputField(key) => self.event.tool.as_ref()?.input.as_ref()?.get(key).cloned(),
            PayloadValue::Event => Some(self.native.into()),
            PayloadValue::SnakeEvent => Some(to_snake_case(event.name.as_str()).into()),
            PayloadValue::EventWord(words) => {
                words.iter().find(|(event, _)| *event == self.native).map(|(_, word)| (*word).into())
            }
            PayloadValue::ToolName => Some(event.tool_name()?.into()),
            PayloadValue::CanonicalToolName => Some(self.event.tool_name()?.into()),
            PayloadValue::ToolInput => tool?.input.clone(),
            PayloadValue::ToolInputText => Some(tool?.input.as_ref()?.to_string().into()),
            PayloadValue::ToolInputStrings => Some(with_text_values(tool?.input.as_ref()?)),
            PayloadValue::McpServer => Some(self.mcp_parts()?.0.into()),
            PayloadValue::McpTool => Some(self.mcp_parts()?.1.into()),
            PayloadValue::Edits => Some(list_edits(self.event.tool.as_ref()?)),
            PayloadValue::ToolOutput => self.output(),
            PayloadValue::ToolOutputText => self.output().map(|output| find_output_text(&output).into()),
            PayloadValue::ToolOutputJson => self.output().map(|output| output.to_string().into()),
            PayloadValue::ToolStatus(failed) => Some(if event.has_tool_failed() { failed } else { "success" }.into()),
            PayloadValue::ToolSucceeded => Some((!event.has_tool_failed()).into()),
            PayloadValue::ToolError => Some(self.output().filter(|_| event.has_tool_failed()).unwrap_or_default()),
            PayloadValue::Cwd => Some(event.cwd.as_deref().unwrap_or(self.scene.project).to_string_lossy().into()),
            PayloadValue::Project => Some(self.scene.project.to_string_lossy().into()),
            PayloadValue::ProjectList => Some(json!([self.scene.project.to_string_lossy()])),
            PayloadValue::PromptParts => Some(json!([{"type": "text", "text": event.prompt.as_deref()?}])),
            PayloadValue::Time => Some(self.scene.now.to_string().into()),
            PayloadValue::TimeMilliseconds => Some(self.scene.now.as_millisecond().into()),
            PayloadValue::Word(word) => Some(word.into()),
            PayloadValue::Flag(flag) => Some(flag.into()),
            PayloadValue::Null => Some(Value::Null),
            PayloadValue::Object => Some(json!({})),
        }
    }

    fn field(&self, name: &str) -> Option<Value> {
        match name {
            "transcript_path" => {
                self.event.transcript_path.as_ref().map(|path| path.to_string_lossy().into_owned().into())
            }
            other => self.translated.wire_field(other),
        }
    }

    /// The tool's output, or the error of a failed tool.
    fn output(&self) -> Option<Value> {
        self.translated.wire_field("tool_response").or_else(|| self.translated.wire_field("error"))
    }

    fn mcp_parts(&self) -> Option<(&str, &str)> {
        self.event.tool_name()?.strip_prefix("mcp__")?.split_once("__")
    }
}

/// `PreToolUse` to `pre_tool_use`.
fn to_snake_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

fn to_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn with_text_values(input: &Value) -> Value {
    match input {
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (key.clone(), Value::from(to_text(value.clone())))).collect()
        }
        other => other.clone(),
    }
}

/// The text of an output: a string, or a field that is the text of a result.
pub(crate) fn find_output_text(output: &Value) -> String {
    const TEXT_KEYS: &[&str] = &["stdout", "output", "content", "text", "llmContent", "textResultForLlm", "result"];
    match output {
        Value::String(text) => text.clone(),
        other => {
            let text = TEXT_KEYS.iter().find_map(|key| other.get(key)?.as_str());
            text.map_or_else(|| other.to_string(), str::to_owned)
        }
    }
}

/// The replacements of a tool that changes a file. Writing a file replaces nothing by its content.
fn list_edits(tool: &ToolCall) -> Value {
    let input = tool.input.as_ref();
    let get = |key: &str| input.and_then(|input| input.get(key));
    let text = |key: &str| get(key).and_then(Value::as_str).unwrap_or_default();
    match get("edits") {
        Some(edits) => edits.clone(),
        None if get("content").is_some() => json!([{"old_string": "", "new_string": text("content")}]),
        None => json!([{"old_string": text("old_string"), "new_string": text("new_string")}]),
    }
}
