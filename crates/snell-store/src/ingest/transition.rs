//! What an event says about its agent's state. Nothing here looks anywhere: it is told all it needs.

use serde_json::Value;
use snell::{Event, EventName};

use super::{asked, tools};
use crate::intent::{self, Intent};
use crate::model::State;
use crate::spoken;
use crate::workers::one_line;

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

/// How much is told of why the user is asked about a call.
const MAX_REASON_CHARS: usize = 300;

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
    /// What its call is about; told with a notification, which does not say so itself.
    pub(crate) call: Option<&'a str>,
    /// Why it is in its state.
    pub(crate) why: &'a str,
    /// Whether nothing was told yet of what the agent is doing.
    pub(crate) is_unknown: bool,
    /// Whether the event was kept from happening.
    pub(crate) blocked: bool,
    /// Why the user is asked about it, if a hook or the guard wants that.
    pub(crate) asked: Option<&'a str>,
}

/// What the event changes; nothing if it says nothing about the state.
pub(crate) fn transition(event: &Event, before: Before<'_>) -> Option<Change> {
    if is_beside_the_point(event, before) {
        return None;
    }
    match &event.name {
        EventName::SessionStart => session_start(event, before.state),
        EventName::SessionEnd => session_end(event),
        // Whoever is about to use a tool works, and that is the first that is heard of it.
        EventName::PreToolUse | EventName::PermissionRequest if before.blocked && before.is_unknown => {
            let tool = event.tool_name().unwrap_or("a tool");
            let why = format!("it was about to use {tool}, which was blocked");
            Some(change(State::Processing, ToolChange::None, why))
        }
        // A prompt that was blocked never reached the agent, and a tool that was blocked never ran.
        EventName::UserPromptSubmit | EventName::PreToolUse | EventName::PermissionRequest if before.blocked => None,
        EventName::UserPromptSubmit => Some(change(
            State::Processing,
            ToolChange::None,
            "the user submitted a prompt",
        )),
        EventName::PreToolUse => Some(pre_tool(event, before.asked)),
        EventName::PermissionRequest => {
            let tool = event.tool_name().unwrap_or("a tool");
            let why = about(format!("it asks for permission to use {tool}"), event);
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

/// What an agent does, with what the call is about.
fn about(does: String, event: &Event) -> String {
    match tools::summary(event) {
        Some(summary) => format!("{does}: {summary}"),
        None => does,
    }
}

fn session_start(event: &Event, state: State) -> Option<Change> {
    let source = event.source.as_deref();
    // An agent that compacts its conversation in the middle of its work goes on with it.
    if source == Some("compact") && matches!(state, State::Processing | State::AwaitingInput) {
        return None;
    }
    let why = match source {
        Some(source) => spoken::session_began(source),
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
        ..change(State::Ended, ToolChange::None, spoken::session_ended(reason))
    })
}

fn pre_tool(event: &Event, asked: Option<&str>) -> Change {
    let tool = event.tool_name().unwrap_or("a tool");
    let now = ToolChange::Is(tool.to_owned());
    if let Some(reason) = asked {
        let why = about(format!("the user is asked about {tool}"), event);
        let reason = one_line(reason, MAX_REASON_CHARS);
        let why = if reason.is_empty() {
            why
        } else {
            format!("{why} ({reason})")
        };
        return change(State::AwaitingInput, now, why);
    }
    if asked::is_question(tool) {
        let why = about(format!("it asks the user ({tool})"), event);
        change(State::AwaitingInput, now, why)
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
        let is_permission = kind.starts_with("permission");
        match (message, before.call.filter(|_| is_permission)) {
            // What it waits for is known already, and better.
            _ if waits_for_tool && is_permission => before.why.to_owned(),
            ("", _) => spoken::needs(kind),
            (message, Some(call)) => format!("{message}: {call}"),
            (message, None) => message.to_owned(),
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
        change(State::AwaitingInput, ToolChange::None, question(last_words))
    } else {
        change(State::Idle, ToolChange::None, "it ended its turn")
    }
}

/// Why an agent waits whose last words are a question.
pub(crate) fn question(last_words: Option<&str>) -> String {
    let found = last_words.and_then(asked::question_in);
    let told = |question| format!("its last words are a question: {question}");
    found.map_or_else(|| "its last words are a question".to_owned(), told)
}

fn other(name: &str, event: &Event, state: State) -> Option<Change> {
    let text = |field: &str| event.raw.get(field).and_then(Value::as_str);
    match name {
        "StopFailure" => {
            let error = text("error").unwrap_or("unknown");
            Some(change(State::Idle, ToolChange::None, spoken::turn_failed(error)))
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
            let message = event.message.as_deref().filter(|message| !message.trim().is_empty());
            let why = match message {
                Some(message) => format!("{server} asks the user: {message}"),
                None => format!("{server} asks the user"),
            };
            Some(change(State::AwaitingInput, ToolChange::Keep, why))
        }
        "ElicitationResult" if state == State::AwaitingInput => {
            Some(change(State::Processing, ToolChange::Keep, "the user answered"))
        }
        _ => None,
    }
}
