//! Payloads with other field names than Claude Code's: the event, the tool that is about to run, and its input.
//!
//! This does not depend on the product: a field with one of these names has the meaning of that name.

use std::path::PathBuf;

use serde_json::{Map, Value};

use crate::event::{Event, EventError, EventName, ToolCall, read_event_name, unpack_json_object};

/// Fields with the event's name.
const EVENT_NAME_KEYS: &[&str] = &["hook_event_name", "event", "hookEventName", "hookName", "agent_action_name"];
/// Fields with the tool's name.
const TOOL_NAME_PATHS: &[&[&str]] =
    &[&["tool_name"], &["toolName"], &["toolCall", "name"], &["preToolUse", "toolName"]];
/// Fields with the tool's input. Some products send it as a string of JSON.
const TOOL_INPUT_PATHS: &[&[&str]] = &[
    &["tool_input"],
    &["toolInput"],
    &["toolArgs"],
    &["toolCall", "args"],
    &["preToolUse", "parameters"],
    &["tool_info", "mcp_tool_arguments"],
    &["tool_info"],
];
/// Fields with the working directory.
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
/// Keys that exist only after a tool has run.
const RESULT_KEYS: &[&str] = &["tool_response", "tool_output", "toolResult", "result_json"];

/// Events before a tool runs, in lowercase letters only, and the tool if the event is about one tool.
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

/// Decodes an event, with the name from a field of another product if neither the caller nor the usual fields have it.
pub(super) fn decode_event(name: Option<&str>, payload: Map<String, Value>) -> Result<Event, EventError> {
    let found = if name.is_none() { find_event_name(&payload) } else { None };
    Event::from_object(name.or(found.as_deref()), payload).map(|(event, _)| event)
}

/// The same, with the working directory from a field of another product if the event announces a tool call.
pub(super) fn decode_foreign_event(name: Option<&str>, payload: Map<String, Value>) -> Result<Event, EventError> {
    let mut event = decode_event(name, payload)?;
    let call_cwd = || decode_tool_call(&event.raw)?.cwd;
    event.cwd = event.cwd.take().or_else(call_cwd).filter(|cwd| cwd.is_absolute());
    Ok(event)
}

/// The event's name, if one of the known fields has it.
pub(super) fn find_event_name(payload: &Map<String, Value>) -> Option<String> {
    let by_key = || EVENT_NAME_KEYS.iter().find_map(|key| payload.get(*key)?.as_str().map(str::to_owned));
    // Copilot sends no name at all.
    let by_shape = || decode_tool_call(payload).map(|_| EventName::PreToolUse.as_str().to_owned());
    let name = read_event_name(payload).or_else(by_key).or_else(by_shape);
    name.filter(|name| !name.trim().is_empty())
}

/// Whether it is a tool call under an event name that no supported product has.
pub(super) fn is_foreign_call(payload: &Map<String, Value>) -> bool {
    let is_foreign = |name: String| EventName::parse_known(name.trim()).is_none();
    read_event_name(payload).is_some_and(is_foreign) && decode_tool_call(payload).is_some()
}

/// The call that an event announces, with canonical names, in the event's session and directory.
pub(super) fn decode_announced_call(event: &Event) -> Option<Event> {
    let mut call = decode_tool_call(&event.raw)?;
    call.session_id.clone_from(&event.session_id);
    call.cwd = event.cwd.clone().or(call.cwd);
    Some(call)
}

/// A call that is about to run, with canonical names. `None` if the payload lacks the tool or its input.
fn decode_tool_call(payload: &Map<String, Value>) -> Option<Event> {
    let (event, tool_of_event) = classify_pre_tool_event(payload)?;
    let name = TOOL_NAME_PATHS.iter().find_map(|path| get_nested(payload, path)?.as_str());
    let name = build_mcp_tool_name(payload).or_else(|| name.or(tool_of_event).map(str::to_owned))?;
    let input = TOOL_INPUT_PATHS
        .iter()
        .find_map(|path| get_nested(payload, path))
        .map(|input| unpack_json_object(input).into_owned());
    // `beforeShellExecution` has its command at the top.
    let input = input.or_else(|| tool_of_event.map(|_| Value::Object(payload.clone())))?;
    let mut call = Event::new(event);
    call.cwd = CWD_PATHS.iter().find_map(|path| get_nested(payload, path)?.as_str()).map(PathBuf::from);
    call.tool = Some(ToolCall { name, input: Some(input), ..ToolCall::default() });
    Some(call)
}

/// The canonical name of an event before a tool call, and the tool if the event is about one tool.
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

/// The tool of an MCP server, if the payload names server and tool apart.
fn build_mcp_tool_name(payload: &Map<String, Value>) -> Option<String> {
    let text = |key| get_nested(payload, &["tool_info", key])?.as_str();
    Some(format!("mcp__{}__{}", text("mcp_server_name")?, text("mcp_tool_name")?))
}

/// The value at a path of keys and array indexes.
fn get_nested<'a>(payload: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(payload.get(*first)?, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(*step),
    })
}
