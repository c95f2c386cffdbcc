//! Claude Code's events as data: what a matcher compares, the fields of the payload, and the effect of answers.

use std::time::Duration;

use serde_json::Value;

use crate::event::{Event, EventName, ToolCall};
use crate::matcher::MatchSubject;

/// One event of Claude Code.
#[derive(Debug)]
pub(crate) struct ClaudeEventRow {
    pub(crate) name: &'static str,
    pub(crate) matcher: MatchTarget,
    /// Its fields beside the common ones.
    pub(crate) fields: &'static [&'static str],
    /// Whether exit code 2, or a blocking answer, blocks something.
    pub(crate) blocks: bool,
}

/// The value that a matcher of an event compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MatchTarget {
    /// Nothing: every hook of the event runs.
    Nothing,
    Tool,
    /// A field of the payload.
    Field(&'static str),
    /// The last part of `file_path`.
    FileName,
    /// The command of a shell tool.
    Command,
}

impl MatchTarget {
    /// The value of an event. [`MatchTarget::Nothing`] matches everything.
    pub(crate) fn build_subject(self, event: &Event) -> MatchSubject<'_> {
        match self {
            Self::Nothing => MatchSubject::from_text("event", None),
            Self::Tool => MatchSubject::from_tool(event.tool.as_ref()),
            Self::Field(field) => MatchSubject::from_text(field, get_text_field(event, field)),
            Self::FileName => {
                let path = get_text_field(event, "file_path");
                MatchSubject::from_text("file", path.map(|path| path.rsplit(['/', '\\']).next().unwrap_or(path)))
            }
            Self::Command => {
                let command = event.tool.as_ref().and_then(ToolCall::command);
                let texts = command.into_iter().collect();
                MatchSubject { texts, ..MatchSubject::from_text("command", None) }
            }
        }
    }
}

fn get_text_field<'a>(event: &'a Event, name: &str) -> Option<&'a str> {
    match name {
        "source" => event.source.as_deref(),
        "reason" => event.reason.as_deref(),
        "agent_type" => event.subagent.as_ref().and_then(|agent| agent.kind.as_deref()),
        other => event.raw.get(other).and_then(Value::as_str),
    }
}

use MatchTarget::{Field, FileName, Nothing, Tool};

const TOOL_FIELDS: &[&str] = &["tool_name", "tool_input", "tool_use_id"];

/// The rows are in the order of Claude Code's own documentation.
pub(crate) const EVENT_ROWS: &[ClaudeEventRow] = &[
    event_row("SessionStart", Field("source"), &["source", "model", "agent_type", "session_title"], false),
    event_row("Setup", Field("trigger"), &["trigger"], false),
    event_row(
        "InstructionsLoaded",
        Field("load_reason"),
        &["file_path", "memory_type", "load_reason", "globs", "trigger_file_path", "parent_file_path"],
        false,
    ),
    event_row("UserPromptSubmit", Nothing, &["prompt"], true),
    event_row(
        "UserPromptExpansion",
        Field("command_name"),
        &["expansion_type", "command_name", "command_args", "command_source", "prompt"],
        true,
    ),
    event_row("MessageDisplay", Nothing, &["turn_id", "message_id", "index", "final", "delta"], false),
    event_row("PreToolUse", Tool, TOOL_FIELDS, true),
    event_row("PermissionRequest", Tool, &["tool_name", "tool_input", "permission_suggestions"], true),
    event_row("PermissionDenied", Tool, &["tool_name", "tool_input", "tool_use_id", "reason"], false),
    event_row("PostToolUse", Tool, &["tool_name", "tool_input", "tool_use_id", "tool_response", "duration_ms"], false),
    event_row(
        "PostToolUseFailure",
        Tool,
        &["tool_name", "tool_input", "tool_use_id", "error", "is_interrupt", "duration_ms"],
        false,
    ),
    event_row("PostToolBatch", Nothing, &["tool_calls"], true),
    event_row("Notification", Field("notification_type"), &["message", "title", "notification_type"], false),
    event_row("SubagentStart", Field("agent_type"), &["agent_id", "agent_type"], false),
    event_row(
        "SubagentStop",
        Field("agent_type"),
        &[
            "stop_hook_active",
            "agent_id",
            "agent_type",
            "agent_transcript_path",
            "last_assistant_message",
            "background_tasks",
            "session_crons",
        ],
        true,
    ),
    event_row("TaskCreated", Nothing, TASK_FIELDS, true),
    event_row("TaskCompleted", Nothing, TASK_FIELDS, true),
    event_row("TeammateIdle", Nothing, &["teammate_name", "team_name"], true),
    event_row(
        "Stop",
        Nothing,
        &["stop_hook_active", "last_assistant_message", "background_tasks", "session_crons"],
        true,
    ),
    event_row("StopFailure", Field("error"), &["error", "error_details", "last_assistant_message"], false),
    event_row("ConfigChange", Field("source"), &["source", "file_path"], true),
    event_row("CwdChanged", Nothing, &["old_cwd", "new_cwd"], false),
    event_row("DirectoryAdded", Field("source"), &["directory", "source"], false),
    event_row("FileChanged", FileName, &["file_path", "event"], false),
    event_row("WorktreeCreate", Nothing, &["name"], true),
    event_row("WorktreeRemove", Nothing, &["worktree_path"], false),
    event_row("PreCompact", Field("trigger"), &["trigger", "custom_instructions"], true),
    event_row("PostCompact", Field("trigger"), &["trigger", "compact_summary"], false),
    event_row(
        "Elicitation",
        Field("mcp_server_name"),
        &["mcp_server_name", "message", "mode", "url", "elicitation_id", "requested_schema"],
        true,
    ),
    event_row(
        "ElicitationResult",
        Field("mcp_server_name"),
        &["mcp_server_name", "action", "mode", "elicitation_id", "content"],
        true,
    ),
    event_row("SessionEnd", Field("reason"), &["reason"], false),
];

const TASK_FIELDS: &[&str] = &["task_id", "task_subject", "task_description", "teammate_name", "team_name"];

/// The common fields, on every event that has them.
pub(crate) const COMMON_FIELDS: &[&str] = &["prompt_id", "permission_mode", "effort"];

/// The names of all rows.
pub(crate) const EVENT_NAMES: &[&str] = &{
    let mut names = [""; EVENT_ROWS.len()];
    let mut index = 0;
    while index < EVENT_ROWS.len() {
        names[index] = EVENT_ROWS[index].name;
        index += 1;
    }
    names
};

const fn event_row(
    name: &'static str,
    matcher: MatchTarget,
    fields: &'static [&'static str],
    blocks: bool,
) -> ClaudeEventRow {
    ClaudeEventRow { name, matcher, fields, blocks }
}

pub(crate) fn find_event_row(event: &EventName) -> Option<&'static ClaudeEventRow> {
    EVENT_ROWS.iter().find(|row| row.name == event.as_str())
}

/// The default timeout of a hook.
pub(crate) fn default_timeout(event: &EventName) -> Duration {
    match event.as_str() {
        "UserPromptSubmit" => Duration::from_secs(30),
        "MessageDisplay" => Duration::from_secs(10),
        _ => Duration::from_secs(600),
    }
}

/// Whether plain text output becomes context on this event.
pub(crate) fn takes_text_as_context(event: &EventName) -> bool {
    matches!(event.as_str(), "SessionStart" | "UserPromptSubmit" | "UserPromptExpansion")
}

/// Whether `if` works on this event. On others, a hook with `if` never runs.
pub(crate) fn accepts_if(event: &EventName) -> bool {
    find_event_row(event).is_some_and(|row| row.matcher == Tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_canonical_event_but_none_else_twice_is_a_row() {
        assert_eq!(EVENT_ROWS.len(), 31);
        for name in EventName::canonical_names().filter(|name| !EventName::parse(name).is_derived()) {
            assert_eq!(EVENT_ROWS.iter().filter(|row| row.name == name).count(), 1, "{name}");
        }
    }
}
