//! Reads payloads: fields under other names than Claude Code's, and the tables of a product.
//!
//! The names of fields do not depend on the product: a field with one of these names has the meaning of that name. The names
//! of events and tools do: the row of the product has them.

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::AgentProduct;
use crate::event::{Event, EventError, EventName, SubagentIdentity, ToolCall, read_event_name, unpack_json_object};

/// A path of keys and array indexes.
type FieldPath = &'static [&'static str];

/// Fields with the event's name.
const EVENT_NAME_KEYS: &[&str] = &["hook_event_name", "event", "hookEventName", "hookName", "agent_action_name"];

/// Fields under Claude Code's names, which other code reads from [`Event::raw`], and the fields of other products that mean the
/// same. The first one that exists counts.
const FIELD_ALIASES: &[(&str, &[FieldPath])] = &[
    (
        "session_id",
        &[
            &["sessionId"],
            &["conversation_id"],
            &["conversationId"],
            &["trajectory_id"],
            &["sessionContext", "rootSessionId"],
            &["taskId"],
        ],
    ),
    ("transcript_path", &[&["transcriptPath"]]),
    ("permission_mode", &[&["permissionMode"]]),
    ("prompt", &[&["tool_info", "user_prompt"], &["userPromptSubmit", "prompt"]]),
    ("parent_agent_id", &[&["parentAgentId"]]),
    ("prompt_id", &[&["promptId"]]),
    ("tool_use_id", &[&["toolUseId"], &["tool_call_id"], &["tool_call", "id"], &["tool_result", "id"]]),
    ("duration_ms", &[&["tool_result", "durationMs"]]),
    ("stop_hook_active", &[&["stopHookActive"]]),
    ("last_assistant_message", &[&["lastAssistantMessage"], &["prompt_response"], &["turn", "outputText"]]),
    ("agent_id", &[&["subagentId"], &["subagent_id"], &["agentId"]]),
    ("agent_type", &[&["subagentType"], &["subagent_type"], &["agentName"]]),
    ("agent_transcript_path", &[&["agentTranscriptPath"]]),
    ("background_tasks", &[&["backgroundTasks"]]),
    ("session_crons", &[&["sessionCrons"], &["crons"]]),
    ("notification_type", &[&["notificationType"]]),
    ("error", &[&["error_message"], &["tool_error"]]),
];

/// Fields with the tool's name.
const TOOL_NAME_PATHS: &[FieldPath] = &[
    &["tool_name"],
    &["toolName"],
    &["toolCall", "name"],
    &["tool_call", "name"],
    &["tool_result", "name"],
    &["preToolUse", "toolName"],
    &["postToolUse", "toolName"],
];
/// Fields with the tool's input. Some products send it as a string of JSON.
const TOOL_INPUT_PATHS: &[FieldPath] = &[
    &["tool_input"],
    &["toolInput"],
    &["toolArgs"],
    &["toolCall", "args"],
    &["tool_call", "input"],
    &["tool_result", "input"],
    &["preToolUse", "parameters"],
    &["postToolUse", "parameters"],
    &["tool_info", "mcp_tool_arguments"],
    &["tool_info"],
];
/// Arguments of tools that some payloads have at the top.
const TOP_LEVEL_ARGUMENTS: &[&str] =
    &["command", "cwd", "sandbox", "file_path", "content", "edits", "attachments", "url", "path"];
/// Fields with the tool's output.
const TOOL_OUTPUT_PATHS: &[FieldPath] = &[
    &["tool_response"],
    &["tool_output"],
    &["toolResult"],
    &["tool_result", "output"],
    &["tool_result"],
    &["postToolUse", "result"],
    &["result_json"],
    &["tool_info", "mcp_result"],
];
/// Fields with the working directory.
const CWD_PATHS: &[FieldPath] = &[
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
const RESULT_KEYS: &[&str] = &["tool_response", "tool_output", "toolResult", "tool_result", "result_json"];
/// Fields with the session of the agent that started this one as a sub-agent.
const PARENT_SESSION_KEYS: &[&str] = &["parent_session_id", "parentSessionId"];
/// The field with the agent that started this one as a sub-agent.
const PARENT_AGENT_KEY: &str = "parent_agent_id";

/// Events before a tool runs, in lowercase letters only, and the tool if the event is about one tool.
const PRE_TOOL_EVENTS: &[(&str, Option<&str>)] = &[
    ("pretooluse", None),
    ("pretool", None),
    ("beforetool", None),
    ("toolcall", None),
    ("toolexecutebefore", None),
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
/// An event about a tool that has no [`EventName`] of its own.
const PERMISSION_DENIED: &str = "PermissionDenied";

/// Reads a payload of the product. `name` is used if the payload names no event.
pub(super) fn decode_payload(
    product: &AgentProduct,
    name: Option<&str>,
    mut payload: Map<String, Value>,
) -> Result<Event, EventError> {
    (product.adapt)(&mut payload);
    let native = product.find_event_name(&payload);
    let find_row = |name: Option<&str>| name.and_then(|name| product.find_event_row(name));
    let row = find_row(name).or_else(|| find_row(native.as_deref()));
    let respelled = native.as_deref().filter(|_| row.is_none()).and_then(|native| find_respelled_call(product, native));
    // A recorded event has its canonical name, and its payload has the product's own.
    let canonical = match name {
        Some(name) => Some(find_row(Some(name)).map_or(name, |row| row.canonical)),
        None => {
            row.map(|row| row.canonical).or(respelled.as_ref().map(|(event, _)| event.as_str())).or(native.as_deref())
        }
    };
    add_missing_fields(&mut payload);
    let (mut event, _) = Event::from_object(canonical, payload)?;
    let implied_tool = row.and_then(|row| row.tool).or(respelled.and_then(|(_, tool)| tool));
    if let Some(call) = read_tool_call(&mut event, implied_tool) {
        add_tool_fields(&mut event.raw, &call);
        event.tool = Some(product.tools.to_canonical(call));
    }
    if event.cwd.is_none() {
        let found = CWD_PATHS.iter().find_map(|path| get_path(&event.raw, path)?.as_str()).map(PathBuf::from);
        event.cwd = found.filter(|cwd| cwd.is_absolute());
    }
    adopt_parent_session(&mut event);
    Ok(event)
}

/// An event before a tool call whose name the product spells otherwise: an older or newer version. The call must be judged.
fn find_respelled_call(product: &AgentProduct, native: &str) -> Option<(EventName, Option<&'static str>)> {
    let is_known = product.events.contains(&native) || EventName::parse_known(native).is_some();
    if is_known { None } else { classify_event_name(native) }
}

/// Adds fields under Claude Code's names.
fn add_missing_fields(payload: &mut Map<String, Value>) {
    for (key, paths) in FIELD_ALIASES {
        if payload.get(*key).is_none_or(Value::is_null)
            && let Some(value) = paths.iter().find_map(|path| get_path(payload, path).filter(|value| !value.is_null()))
        {
            let value = value.clone();
            payload.insert((*key).to_owned(), value);
        }
    }
}

/// Adds the fields of a tool call under Claude Code's names, with the product's own values.
fn add_tool_fields(raw: &mut Map<String, Value>, call: &ToolCall) {
    let name = Value::from(call.name.as_str());
    let fields = [
        ("tool_name", Some(&name)),
        ("tool_input", call.input.as_ref()),
        ("tool_response", call.output.as_ref().filter(|_| !raw.contains_key("tool_output"))),
    ];
    for (key, value) in fields {
        if let (false, Some(value)) = (raw.contains_key(key), value) {
            raw.insert(key.to_owned(), value.clone());
        }
    }
}

/// The tool call of an event, with the product's own names. `implied_tool` is the tool of an event that is about one tool.
fn read_tool_call(event: &mut Event, implied_tool: Option<&str>) -> Option<ToolCall> {
    if !event.name.is_tool_event() && event.name.as_str() != PERMISSION_DENIED {
        return event.tool.take();
    }
    let mut call = event.tool.take().unwrap_or_default();
    let raw = &event.raw;
    let find = |paths: &[FieldPath]| paths.iter().find_map(|path| get_path(raw, path));
    if call.name.is_empty() {
        let named = find(TOOL_NAME_PATHS).and_then(Value::as_str).or(implied_tool).map(str::to_owned);
        call.name = build_mcp_tool_name(raw).or(named).unwrap_or_default();
    }
    if call.input.as_ref().is_none_or(Value::is_string) {
        let input = find(TOOL_INPUT_PATHS).map(|input| unpack_json_object(input).into_owned());
        // `beforeShellExecution` has its command at the top.
        call.input = input.or_else(|| implied_tool.map(|_| pick_arguments(raw)));
    }
    call.use_id = call.use_id.or_else(|| raw.get("tool_use_id")?.as_str().map(str::to_owned));
    call.duration_ms = call.duration_ms.or_else(|| raw.get("duration_ms")?.as_u64());
    call.success = call.success.or_else(|| raw.get("tool_success")?.as_bool());
    let is_over = matches!(event.name, EventName::PostToolUse | EventName::PostToolUseFailure);
    if is_over && call.output.is_none() {
        call.output = find(TOOL_OUTPUT_PATHS).cloned();
    }
    let is_empty = call.name.is_empty() && call.input.is_none() && call.output.is_none();
    (!is_empty).then_some(call)
}

/// The arguments of a call at the top of a payload.
fn pick_arguments(payload: &Map<String, Value>) -> Value {
    let fields = TOP_LEVEL_ARGUMENTS.iter().filter_map(|key| Some(((*key).to_owned(), payload.get(*key)?.clone())));
    Value::Object(fields.collect())
}

/// A session with a parent, or with the id of a sub-agent, is a sub-agent's. It belongs to the parent's session, if that is known.
fn adopt_parent_session(event: &mut Event) {
    let text = |key: &str| event.raw.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let is_own_session = event.session_id.is_some() && event.session_id.as_deref() == text("agent_id");
    let parent = PARENT_SESSION_KEYS.iter().find_map(|key| text(key));
    // Copilot gives a sub-agent's session and the sub-agent the same id.
    let parent = parent.or_else(|| text(PARENT_AGENT_KEY).filter(|_| is_own_session)).map(str::to_owned);
    if parent.is_some() || is_own_session {
        let kind = event.subagent.take().and_then(|subagent| subagent.kind);
        event.subagent = Some(SubagentIdentity { id: event.session_id.clone(), kind });
        event.session_id = parent.or(event.session_id.take());
    }
    if event.is_in_subagent() {
        event.name = match &event.name {
            EventName::SessionStart => EventName::SubagentStart,
            EventName::Stop | EventName::SessionEnd => EventName::SubagentStop,
            other => other.clone(),
        };
    }
}

/// The event's name, if one of the known fields has it, or if it looks like a tool call.
pub(super) fn find_event_name(payload: &Map<String, Value>) -> Option<String> {
    let by_shape = || decode_tool_call(payload).map(|_| EventName::PreToolUse.as_str().to_owned());
    find_named_event(payload).or_else(by_shape)
}

/// The event's name, if one of the known fields has it.
pub(super) fn find_named_event(payload: &Map<String, Value>) -> Option<String> {
    let by_key = || EVENT_NAME_KEYS.iter().find_map(|key| payload.get(*key)?.as_str().map(str::to_owned));
    read_event_name(payload).or_else(by_key).filter(|name| !name.trim().is_empty())
}

/// Whether it is a tool call under an event name that no supported product has.
pub(super) fn is_foreign_call(payload: &Map<String, Value>) -> bool {
    let is_foreign = |name: String| EventName::parse_known(name.trim()).is_none();
    read_event_name(payload).is_some_and(is_foreign) && decode_tool_call(payload).is_some()
}

/// The call that an event of an unknown product announces, with canonical names, in the event's session and directory.
pub(super) fn decode_announced_call(event: &Event) -> Option<Event> {
    let mut call = decode_tool_call(&event.raw)?;
    call.session_id.clone_from(&event.session_id);
    call.cwd = event.cwd.clone().or(call.cwd);
    Some(call)
}

/// A call that is about to run. `None` if the payload lacks the tool or its input.
fn decode_tool_call(payload: &Map<String, Value>) -> Option<Event> {
    let (event, tool_of_event) = classify_pre_tool_event(payload)?;
    let mut call = Event::new(event);
    call.raw.clone_from(payload);
    let tool = read_tool_call(&mut call, tool_of_event)?;
    tool.input.as_ref().filter(|_| !tool.name.is_empty())?;
    call.raw = Map::new();
    let named = CWD_PATHS.iter().find_map(|path| get_path(payload, path)?.as_str());
    call.cwd = named.filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
    call.tool = Some(tool);
    Some(call)
}

/// The canonical name of an event before a tool call, and the tool if the event is about one tool.
fn classify_pre_tool_event(payload: &Map<String, Value>) -> Option<(EventName, Option<&'static str>)> {
    let Some(name) = EVENT_NAME_KEYS.iter().find_map(|key| payload.get(*key)?.as_str()) else {
        let is_over = RESULT_KEYS.iter().any(|key| payload.contains_key(*key));
        return (!is_over).then_some((EventName::PreToolUse, None));
    };
    classify_event_name(name)
}

/// As [`classify_pre_tool_event`], by the event's name in any spelling.
fn classify_event_name(name: &str) -> Option<(EventName, Option<&'static str>)> {
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
    let text = |key| get_path(payload, &["tool_info", key])?.as_str();
    Some(format!("mcp__{}__{}", text("mcp_server_name")?, text("mcp_tool_name")?))
}

/// The value at a path of keys and array indexes.
pub(super) fn get_path<'a>(payload: &'a Map<String, Value>, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(payload.get(*first)?, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(*step),
    })
}
