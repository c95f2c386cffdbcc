//! What happened in an agent's session: the model type that contracts and matchers look at.

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

/// Something that happened in an agent's session.
///
/// Every field but the name may be missing: a host sends what it knows, and no hook is withheld because of a gap.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// What happened.
    pub name: EventName,
    /// The session it happened in.
    pub session_id: Option<String>,
    /// The directory the agent works in at this moment.
    pub cwd: Option<PathBuf>,
    /// The project's root as the host has it. It is passed on; the engine's own project is what counts.
    pub project_dir: Option<PathBuf>,
    /// The file that holds the conversation.
    pub transcript_path: Option<PathBuf>,
    /// When it happened, by the host's clock. It is passed on; hooks are told the engine's time.
    pub timestamp: Option<Timestamp>,
    /// The tool call, on events about one.
    pub tool: Option<ToolCall>,
    /// What the user wrote.
    pub prompt: Option<String>,
    /// What the agent tells the user (`Notification`).
    pub message: Option<String>,
    /// What started the session (`startup`, `resume`, `clear`, `compact` …).
    pub source: Option<String>,
    /// Why the session ended, or why a tool was refused.
    pub reason: Option<String>,
    /// Whether the agent is already going on because a `Stop` hook asked it to.
    pub stop_hook_active: Option<bool>,
    /// The subagent it happened in.
    pub subagent: Option<SubagentIdentity>,
    /// The model in use.
    pub model: Option<String>,
    /// The agent's permission mode.
    pub permission_mode: Option<String>,
    /// Where the agent's terminal is, under tmux.
    pub tmux: Option<TmuxLocation>,
    /// The user's name.
    pub user_name: Option<String>,
    /// The active agent's name, where a product has several.
    pub agent_name: Option<String>,
    /// The product that fired the event.
    pub platform: Option<String>,
    /// Every field as the host sent it, the ones above included.
    pub raw: Map<String, Value>,
}

/// One tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolCall {
    /// The tool's name as the agent calls it.
    pub name: String,
    /// The arguments.
    pub input: Option<Value>,
    /// What the tool answered, once it ran.
    pub output: Option<Value>,
    /// Whether it succeeded, where the host says so.
    pub success: Option<bool>,
    /// The call's id.
    pub use_id: Option<String>,
    /// How long it ran.
    pub duration_ms: Option<u64>,
}

/// The subagent an event happened in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubagentIdentity {
    /// Its id.
    pub id: Option<String>,
    /// Its kind.
    pub kind: Option<String>,
}

/// Where an agent's terminal is, under tmux.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TmuxLocation {
    /// The pane's id (`%3`).
    pub pane: Option<String>,
    /// The session's name.
    pub session: Option<String>,
}

impl Event {
    /// An event of which only the name is known.
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

    /// A `PreToolUse` event: the tool is about to run with this input.
    pub fn pre_tool_use(tool: impl Into<String>, input: Value) -> Self {
        Self::new(EventName::PreToolUse).with_tool(tool, input)
    }

    /// A `UserPromptSubmit` event.
    pub fn user_prompt(prompt: impl Into<String>) -> Self {
        Self { prompt: Some(prompt.into()), ..Self::new(EventName::UserPromptSubmit) }
    }

    /// The same event, about this tool call.
    #[must_use]
    pub fn with_tool(mut self, name: impl Into<String>, input: Value) -> Self {
        self.tool = Some(ToolCall { name: name.into(), input: Some(input), ..self.tool.unwrap_or_default() });
        self
    }

    /// The same event, with what the tool answered when it succeeded.
    #[must_use]
    pub fn with_tool_output(mut self, output: Value) -> Self {
        let tool = self.tool.get_or_insert_default();
        tool.output = Some(output);
        tool.success = Some(true);
        self
    }

    /// The same event, with what the tool answered when it failed.
    #[must_use]
    pub fn with_tool_failure(mut self, output: Value) -> Self {
        let tool = self.tool.get_or_insert_default();
        tool.output = Some(output);
        tool.success = Some(false);
        self
    }

    /// The same event, in this session.
    #[must_use]
    pub fn in_session(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }

    /// The same event, with the agent in this directory.
    #[must_use]
    pub fn in_directory(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The tool's name, if the event is about a tool whose name is known.
    pub fn tool_name(&self) -> Option<&str> {
        self.tool.as_ref().map(|tool| tool.name.as_str()).filter(|name| !name.is_empty())
    }

    /// Whether the tool failed: the event says so, or the host did.
    pub fn has_tool_failed(&self) -> bool {
        self.name == EventName::PostToolUseFailure || self.tool.as_ref().and_then(|tool| tool.success) == Some(false)
    }
}

/// Which input field says what a tool call is about, by tool.
const PRINCIPAL_ARGUMENTS: &[(&[&str], &str)] = &[
    (&["Bash"], "command"),
    (&["Read", "Write", "Edit"], "file_path"),
    (&["Grep", "Glob"], "pattern"),
    (&["WebFetch"], "url"),
    (&["WebSearch"], "query"),
];

/// For a tool that the table does not name, the first of these that its input has.
const PRINCIPAL_FALLBACK: &[&str] = &["command", "file_path", "path", "url", "pattern", "query"];

impl ToolCall {
    /// The argument that says what the call is about: a shell tool's command, a file tool's path. A list of words, as
    /// some agents send a command, is read as one text.
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

    /// The file that the call is about.
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
