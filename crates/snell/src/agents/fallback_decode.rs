//! Tool calls in the words of agents that cannot be answered in theirs: which tool is about to run, and what it is given.
//!
//! Nothing here depends on who calls: what is found under one of these names is taken for what it says.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::event::{Event, EventName, ToolCall, unpack_json_object};

/// Where payloads say which event it is.
const EVENT_NAME_KEYS: &[&str] = &["hook_event_name", "event", "hookEventName", "hookName", "agent_action_name"];
/// Where they say which tool it is about.
const TOOL_NAME_PATHS: &[&[&str]] =
    &[&["tool_name"], &["toolName"], &["toolCall", "name"], &["preToolUse", "toolName"]];
/// Where they say what the tool is given. Some of them write JSON into a text.
const TOOL_INPUT_PATHS: &[&[&str]] = &[
    &["tool_input"],
    &["toolInput"],
    &["toolArgs"],
    &["toolCall", "args"],
    &["preToolUse", "parameters"],
    &["tool_info", "mcp_tool_arguments"],
    &["tool_info"],
];
/// Where they say in which directory.
const CWD_PATHS: &[&[&str]] = &[
    &["cwd"],
    &["tool_info", "cwd"],
    &["working_directory"],
    &["working_dir"],
    &["workspaceRoot"],
    &["workspace_roots", "0"],
    &["workspaceRoots", "0"],
    &["workspacePaths", "0"],
];
/// What is only there once a tool has run.
const RESULT_KEYS: &[&str] = &["tool_response", "tool_output", "toolResult", "result_json"];

/// Events before a tool runs, in small letters and nothing else; and the tool, where the event itself says which.
const PRE_TOOL_EVENTS: &[(&str, Option<&str>)] = &[
    ("pretooluse", None),
    ("beforetool", None),
    (PERMISSION_EVENT, None),
    ("beforemcpexecution", None),
    ("premcptoolcall", None),
    ("premcptooluse", None),
    ("beforeshellexecution", Some("Bash")),
    ("preruncommand", Some("Bash")),
    ("beforereadfile", Some("Read")),
    ("beforetabfileread", Some("Read")),
    ("prereadcode", Some("Read")),
    ("prewritecode", Some("Write")),
];
const PERMISSION_EVENT: &str = "permissionrequest";

/// The event's name, if one of the known fields holds it.
pub(super) fn find_event_name(payload: &Map<String, Value>) -> Option<&str> {
    let told = EVENT_NAME_KEYS.iter().find_map(|key| payload.get(*key)?.as_str());
    // Copilot does not say it at all.
    told.or_else(|| decode_tool_call(payload).map(|_| EventName::PreToolUse.as_str())).filter(|name| !name.is_empty())
}

/// A call that is about to happen, with the names that Claude Code has for all of this; nothing if the payload does not
/// say what is called, or what it is given.
pub(super) fn decode_tool_call(payload: &Map<String, Value>) -> Option<Event> {
    let (event, tool_of_event) = classify_pre_tool_event(payload)?;
    let told = TOOL_NAME_PATHS.iter().find_map(|path| get_nested(payload, path)?.as_str());
    let tool = build_mcp_tool_name(payload).or_else(|| told.or(tool_of_event).map(str::to_owned))?;
    let input = TOOL_INPUT_PATHS
        .iter()
        .find_map(|path| get_nested(payload, path))
        .map(|input| unpack_json_object(input).into_owned());
    // `beforeShellExecution` has its command at the top.
    let input = input.or_else(|| tool_of_event.map(|_| Value::Object(payload.clone())))?;
    let mut call = Event::new(event);
    call.cwd = CWD_PATHS.iter().find_map(|path| get_nested(payload, path)?.as_str()).map(PathBuf::from);
    call.tool = Some(ToolCall { name: tool, input: Some(input), ..ToolCall::default() });
    Some(call)
}

/// Which event before a tool call it is, and the tool that this alone says.
fn classify_pre_tool_event(payload: &Map<String, Value>) -> Option<(EventName, Option<&'static str>)> {
    let Some(name) = EVENT_NAME_KEYS.iter().find_map(|key| payload.get(*key)?.as_str()) else {
        let is_over = RESULT_KEYS.iter().any(|key| payload.contains_key(*key));
        return (!is_over).then_some((EventName::PreToolUse, None));
    };
    let plain: String = name.chars().filter(char::is_ascii_alphabetic).collect();
    let plain = plain.to_ascii_lowercase();
    let (known, tool) = PRE_TOOL_EVENTS.iter().find(|(known, _)| *known == plain)?;
    let event = match *known {
        PERMISSION_EVENT => EventName::PermissionRequest,
        _ => EventName::PreToolUse,
    };
    Some((event, *tool))
}

/// The tool of an MCP server, where server and tool are named apart.
fn build_mcp_tool_name(payload: &Map<String, Value>) -> Option<String> {
    let text = |key| get_nested(payload, &["tool_info", key])?.as_str();
    Some(format!("mcp__{}__{}", text("mcp_server_name")?, text("mcp_tool_name")?))
}

/// What is found by following keys, and numbers of elements.
fn get_nested<'a>(payload: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let mut found = payload.get(*first)?;
    for step in rest {
        found = match found {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            other => other.get(*step)?,
        };
    }
    Some(found)
}
