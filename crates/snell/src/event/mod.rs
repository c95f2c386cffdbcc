//! Events of an agent's session: the type that contracts and matchers read.

mod name;
mod tool_class;
mod wire;

use std::borrow::Cow;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::{Map, Value};

pub use name::EventName;
pub use tool_class::ToolClass;
pub use wire::{
    EventError, JsonError, JsonStringScanner, MAX_JSON_DEPTH, MAX_JSON_VALUES, measure_json_depth,
    parse_payload_object, replace_lone_surrogates, unpack_json_object,
};
pub(crate) use wire::{parse_json, read_event_name};

/// An event of an agent's session.
///
/// Every field but the name may be missing: a host sends what it has, and no hook is skipped because of a missing
/// field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The name of the event.
    pub name: EventName,
    /// The session.
    pub session_id: Option<String>,
    /// The agent's working directory.
    pub cwd: Option<PathBuf>,
    /// The project's root according to the host. It is passed on, but the engine uses its own project.
    pub project_dir: Option<PathBuf>,
    /// The transcript of the conversation.
    pub transcript_path: Option<PathBuf>,
    /// The time of the event by the host's clock. It is passed on, but hooks get the engine's time.
    pub timestamp: Option<Timestamp>,
    /// The tool call, if the event is about one.
    pub tool: Option<ToolCall>,
    /// The user's prompt.
    pub prompt: Option<String>,
    /// The agent's message to the user (`Notification`).
    pub message: Option<String>,
    /// How the session started (`startup`, `resume`, `clear`, `compact` …).
    pub source: Option<String>,
    /// Why the session ended, or why a tool was refused.
    pub reason: Option<String>,
    /// Whether the agent already continues because of a `Stop` hook.
    pub stop_hook_active: Option<bool>,
    /// The sub-agent, if the event is inside one.
    pub subagent: Option<SubagentIdentity>,
    /// The model in use.
    pub model: Option<String>,
    /// The agent's permission mode.
    pub permission_mode: Option<String>,
    /// The agent's terminal in tmux.
    pub tmux: Option<TmuxLocation>,
    /// The user's name.
    pub user_name: Option<String>,
    /// The active agent's name, if a product has several.
    pub agent_name: Option<String>,
    /// The product that fired the event.
    pub platform: Option<String>,
    /// Every field as the host sent it, also the ones above.
    pub raw: Map<String, Value>,
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// The canonical name of the tool, which is Claude Code's. A tool without one has the agent's name.
    pub name: String,
    /// The arguments.
    pub input: Option<Value>,
    /// The output of the tool, after it ran.
    pub output: Option<Value>,
    /// Whether it succeeded, if the host reports that.
    pub success: Option<bool>,
    /// The call's id.
    pub use_id: Option<String>,
    /// The agent's own name of the tool, if the name above is another.
    pub native_name: Option<String>,
    /// How long it ran, in milliseconds.
    pub duration_ms: Option<u64>,
}

/// The sub-agent of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubagentIdentity {
    /// Its id.
    pub id: Option<String>,
    /// Its kind.
    pub kind: Option<String>,
}

/// An agent's terminal in tmux.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TmuxLocation {
    /// The pane's id (`%3`).
    pub pane: Option<String>,
    /// The session's name.
    pub session: Option<String>,
}

impl Event {
    /// An event with only a name.
    pub fn new(name: EventName) -> Self {
        Self {
            name,
            session_id: None,
            cwd: None,
            project_dir: None,
            transcript_path: None,
            timestamp: None,
            tool: None,
            prompt: None,
            message: None,
            source: None,
            reason: None,
            stop_hook_active: None,
            subagent: None,
            model: None,
            permission_mode: None,
            tmux: None,
            user_name: None,
            agent_name: None,
            platform: None,
            raw: Map::new(),
        }
    }

    /// A `PreToolUse` event for a tool with this input.
    pub fn pre_tool_use(tool: impl Into<String>, input: Value) -> Self {
        Self::new(EventName::PreToolUse).with_tool(tool, input)
    }

    /// A `UserPromptSubmit` event.
    pub fn user_prompt(prompt: impl Into<String>) -> Self {
        Self { prompt: Some(prompt.into()), ..Self::new(EventName::UserPromptSubmit) }
    }

    /// The same event with this tool call.
    #[must_use]
    pub fn with_tool(mut self, name: impl Into<String>, input: Value) -> Self {
        self.tool = Some(ToolCall { name: name.into(), input: Some(input), ..self.tool.unwrap_or_default() });
        self
    }

    /// The same event with the output of a tool that succeeded.
    #[must_use]
    pub fn with_tool_output(mut self, output: Value) -> Self {
        let tool = self.tool.get_or_insert_default();
        tool.output = Some(output);
        tool.success = Some(true);
        self
    }

    /// The same event with the output of a tool that failed.
    #[must_use]
    pub fn with_tool_failure(mut self, output: Value) -> Self {
        let tool = self.tool.get_or_insert_default();
        tool.output = Some(output);
        tool.success = Some(false);
        self
    }

    /// The same event with this session.
    #[must_use]
    pub fn in_session(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }

    /// The same event with this working directory.
    #[must_use]
    pub fn in_directory(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The tool's name, if the event is about a tool whose name is known.
    pub fn tool_name(&self) -> Option<&str> {
        self.tool.as_ref().map(|tool| tool.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Whether the event is about the work of a sub-agent.
    pub fn is_in_subagent(&self) -> bool {
        self.subagent.as_ref().is_some_and(|subagent| subagent.id.is_some())
    }

    /// Whether the tool failed, by the event's name or its fields.
    pub fn has_tool_failed(&self) -> bool {
        self.name == EventName::PostToolUseFailure || self.tool.as_ref().and_then(|tool| tool.success) == Some(false)
    }
}

/// The principal input field of each tool.
const PRINCIPAL_ARGUMENTS: &[(&[&str], &str)] = &[
    (&["Bash"], "command"),
    (&["Read", "Write", "Edit"], "file_path"),
    (&["Grep", "Glob"], "pattern"),
    (&["WebFetch"], "url"),
    (&["WebSearch"], "query"),
];

/// For other tools, the first of these fields that the input has.
const PRINCIPAL_FALLBACK: &[&str] = &["command", "file_path", "path", "url", "pattern", "query"];

impl ToolCall {
    /// The principal argument: a shell tool's command, a file tool's path. A list of words, as some agents send a
    /// command, is joined.
    pub fn principal_argument(&self) -> Option<Cow<'_, str>> {
        let text = |field: &str| join_text(self.input.as_ref()?.get(field)?);
        match PRINCIPAL_ARGUMENTS.iter().find(|(tools, _)| tools.contains(&self.name.as_str())) {
            Some((_, field)) => text(field),
            None => PRINCIPAL_FALLBACK.iter().find_map(|field| text(field)),
        }
    }

    /// The command that a shell tool would run.
    pub fn command(&self) -> Option<Cow<'_, str>> {
        join_text(self.input.as_ref()?.get("command")?)
    }

    /// The file of a file tool.
    pub fn file_path(&self) -> Option<&str> {
        let input = self.input.as_ref()?;
        ["file_path", "notebook_path", "path"].iter().find_map(|field| input.get(field)?.as_str())
    }
}

fn join_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(text.into()),
        Value::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(Value::as_str).collect();
            Some(words?.join(" ").into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_principal_argument_depends_on_the_tool() {
        let everything =
            json!({"command": "c", "file_path": "f", "path": "p", "url": "u", "pattern": "g", "query": "q"});
        let cases = [
            ("Bash", Some("c")),
            ("Read", Some("f")),
            ("Write", Some("f")),
            ("Edit", Some("f")),
            ("Grep", Some("g")),
            ("Glob", Some("g")),
            ("WebFetch", Some("u")),
            ("WebSearch", Some("q")),
            ("mcp__x__y", Some("c")),
        ];
        for (name, expected) in cases {
            let tool = ToolCall { name: name.into(), input: Some(everything.clone()), ..ToolCall::default() };
            assert_eq!(tool.principal_argument().as_deref(), expected, "{name}");
        }
        let other =
            ToolCall { name: "read_file".into(), input: Some(json!({"url": "u", "path": "p"})), ..ToolCall::default() };
        assert_eq!(other.principal_argument().as_deref(), Some("p"));
        let words =
            ToolCall { name: "Bash".into(), input: Some(json!({"command": ["git", "push"]})), ..ToolCall::default() };
        assert_eq!(words.command().as_deref(), Some("git push"));
    }
}
