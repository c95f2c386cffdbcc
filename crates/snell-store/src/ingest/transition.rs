//! What an event says about its agent's state. Nothing here looks anywhere: it is told all it needs.

use serde_json::Value;
use snell::{Event, EventName};

use crate::intent::{self, Intent};
use crate::model::State;

/// What an event changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) state: State,
    pub(crate) tool: ToolChange,
    pub(crate) why: String,
    /// Set when the agent ends.
    pub(crate) end_reason: Option<String>,
}

/// What becomes of the current tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolChange {
    Keep,
    None,
    Is(String),
}

/// Tools by which an agent asks its user something.
const QUESTIONS: &[&str] = &["AskUserQuestion", "ExitPlanMode"];

/// Notifications that say that the agent cannot go on without its user.
const NEEDS_INPUT: &[&str] = &[
    "permission_prompt",
    "elicitation_dialog",
    "elicitation_url_dialog",
    "agent_needs_input",
];

/// Notifications that say that what was asked for has been given.
const INPUT_GIVEN: &[&str] = &["elicitation_complete", "elicitation_response"];

/// What is known when an event is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before<'a> {
    pub(crate) state: State,
    /// What the agent said last, as far as it is known.
    pub(crate) last_words: Option<&'a str>,
    /// The tool that runs or waits for permission.
    pub(crate) current_tool: Option<&'a str>,
    /// Whether the event was kept from happening.
    pub(crate) blocked: bool,
}

/// What the event changes; nothing if it says nothing about the state.
pub(crate) fn transition(event: &Event, before: Before<'_>) -> Option<Change> {
    if is_beside_the_point(event, before) {
        return None;
    }
    match &event.name {
        EventName::SessionStart => session_start(event, before.state),
        EventName::SessionEnd => session_end(event),
        // A prompt that was blocked never reached the agent, and a tool that was blocked never ran.
        EventName::UserPromptSubmit | EventName::PreToolUse | EventName::PermissionRequest if before.blocked => None,
        EventName::UserPromptSubmit => Some(change(
            State::Processing,
            ToolChange::None,
            "the user submitted a prompt",
        )),
        EventName::PreToolUse => Some(pre_tool(event)),
        EventName::PermissionRequest => {
            let tool = event.tool_name().unwrap_or("a tool");
            let why = format!("it asks for permission to use {tool}");
            Some(change(State::AwaitingInput, ToolChange::Is(tool.to_owned()), why))
        }
        EventName::PostToolUse | EventName::PostToolUseFailure => Some(post_tool(event)),
        EventName::Notification => notification(event, before),
        // A stop that was blocked makes the agent go on.
        EventName::Stop if before.blocked => {
            Some(change(State::Processing, ToolChange::None, "a hook told it to go on"))
        }
        EventName::Stop => Some(stop(before.last_words)),
        EventName::Other(name) => other(name, event, before.state),
        EventName::SubagentStart | EventName::SubagentStop | EventName::PreCompact | EventName::PostCompact => None,
    }
}

/// Whether the event is about a tool, and says nothing about what the agent as a whole is doing.
fn is_beside_the_point(event: &Event, before: Before<'_>) -> bool {
    let in_subagent = event.subagent.as_ref().is_some_and(|subagent| subagent.id.is_some());
    let ends = matches!(
        event.name.as_str(),
        "PostToolUse" | "PostToolUseFailure" | "PermissionDenied"
    );
    let other_tool = before.current_tool.is_some() && before.current_tool != event.tool_name();
    match (&event.name, before.state) {
        // The user has to be asked, whoever wants it.
        (EventName::PermissionRequest, _) => false,
        (name, _) if !name.is_about_a_tool() && name.as_str() != "PermissionDenied" => false,
        // What a subagent does in the background is no work of an agent that has ended its turn.
        (_, State::Idle) => in_subagent,
        // Tools run side by side. When one ends, the user still has to answer about the other; and what a subagent does
        // answers no question.
        (_, State::AwaitingInput) => {
            (in_subagent && before.current_tool.is_none()) || (other_tool && (ends || in_subagent))
        }
        _ => false,
    }
}

fn change(state: State, tool: ToolChange, why: impl Into<String>) -> Change {
    Change {
        state,
        tool,
        why: why.into(),
        end_reason: None,
    }
}

fn session_start(event: &Event, state: State) -> Option<Change> {
    let source = event.source.as_deref();
    // An agent that compacts its conversation in the middle of its work goes on with it.
    if source == Some("compact") && matches!(state, State::Processing | State::AwaitingInput) {
        return None;
    }
    let why = match source {
        Some(source) => format!("a session began ({source})"),
        None => "a session began".to_owned(),
    };
    Some(change(State::Idle, ToolChange::None, why))
}

fn session_end(event: &Event) -> Option<Change> {
    let reason = event.reason.as_deref().unwrap_or("other");
    if reason == "clear" {
        return None;
    }
    Some(Change {
        end_reason: Some(reason.to_owned()),
        ..change(State::Ended, ToolChange::None, format!("the session ended ({reason})"))
    })
}

fn pre_tool(event: &Event) -> Change {
    let tool = event.tool_name().unwrap_or("a tool");
    let now = ToolChange::Is(tool.to_owned());
    if QUESTIONS.contains(&tool) {
        change(State::AwaitingInput, now, format!("it asks the user ({tool})"))
    } else {
        change(State::Processing, now, format!("it uses {tool}"))
    }
}

fn post_tool(event: &Event) -> Change {
    let tool = event.tool_name().unwrap_or("a tool");
    if event.raw.get("is_interrupt") == Some(&Value::Bool(true)) {
        return change(State::Idle, ToolChange::None, format!("the user interrupted {tool}"));
    }
    let how = if event.tool_failed() { "failed" } else { "ended" };
    change(State::Processing, ToolChange::None, format!("{tool} {how}"))
}

fn notification(event: &Event, before: Before<'_>) -> Option<Change> {
    let state = before.state;
    let waits_for_tool = state == State::AwaitingInput && before.current_tool.is_some();
    let message = event.message.as_deref().unwrap_or_default();
    let told = |kind: &str| {
        if message.is_empty() {
            format!("it says that it needs input ({kind})")
        } else {
            message.to_owned()
        }
    };
    let kind = event.raw.get("notification_type").and_then(Value::as_str);
    match kind {
        Some(kind) if NEEDS_INPUT.contains(&kind) => Some(change(State::AwaitingInput, ToolChange::Keep, told(kind))),
        Some(kind) if INPUT_GIVEN.contains(&kind) && state == State::AwaitingInput => {
            Some(change(State::Processing, ToolChange::Keep, "the user answered"))
        }
        // It has waited for a prompt for a while. If it seemed to work, or to wait for permission, its user interrupted
        // it, and no hook told us.
        Some("idle_prompt") if state == State::Processing || waits_for_tool => Some(change(
            State::Idle,
            ToolChange::None,
            "it says that it waits for a prompt",
        )),
        // Earlier versions gave no type.
        None if message.contains("needs your permission") || message.contains("needs your approval") => {
            Some(change(State::AwaitingInput, ToolChange::Keep, told("permission")))
        }
        _ => None,
    }
}

/// The end of a turn; the last words may be a question.
pub(crate) fn stop(last_words: Option<&str>) -> Change {
    if last_words.map(intent::of_last_words) == Some(Intent::Question) {
        change(State::AwaitingInput, ToolChange::None, "its last words are a question")
    } else {
        change(State::Idle, ToolChange::None, "it ended its turn")
    }
}

fn other(name: &str, event: &Event, state: State) -> Option<Change> {
    let text = |field: &str| event.raw.get(field).and_then(Value::as_str);
    match name {
        "StopFailure" => {
            let error = text("error").unwrap_or("unknown");
            let why = format!("its turn ended with an error ({error})");
            Some(change(State::Idle, ToolChange::None, why))
        }
        "PermissionDenied" => {
            let tool = event.tool_name().unwrap_or("a tool");
            Some(change(
                State::Processing,
                ToolChange::None,
                format!("{tool} was not permitted"),
            ))
        }
        "Elicitation" => {
            let server = text("mcp_server_name").unwrap_or("a server");
            let why = format!("{server} asks the user");
            Some(change(State::AwaitingInput, ToolChange::Keep, why))
        }
        "ElicitationResult" if state == State::AwaitingInput => {
            Some(change(State::Processing, ToolChange::Keep, "the user answered"))
        }
        _ => None,
    }
}
