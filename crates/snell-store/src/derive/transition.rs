//! The effect of an event on its agent's state. Pure: the caller passes in all data.

use serde_json::Value;
use snell::{AgentProduct, Event, EventName};

use super::{question_text, tool_calls};
use crate::db::model::AgentState;
use crate::db::workers::to_single_line;
use crate::derive::intent::{self, TurnIntent};
use crate::derive::labels;

/// The effect of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateTransition {
    pub(crate) state: AgentState,
    pub(crate) tool: ToolChange,
    pub(crate) why: String,
    /// Set when the agent ends.
    pub(crate) end_reason: Option<String>,
}

/// The change of the current tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolChange {
    Keep,
    Clear,
    Set(String),
}

/// The longest reason for a question to the user.
const MAX_REASON_CHARS: usize = 300;

/// The data for a transition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransitionInput<'a> {
    /// The product that sent the event.
    pub(crate) product: &'static AgentProduct,
    pub(crate) state: AgentState,
    /// The agent's last message, if known.
    pub(crate) last_words: Option<&'a str>,
    /// The tool that runs or waits for permission.
    pub(crate) current_tool: Option<&'a str>,
    /// The summary of its call, added to notifications, which have none.
    pub(crate) call_summary: Option<&'a str>,
    /// The reason for its state.
    pub(crate) why: &'a str,
    /// Whether the agent's state is unknown so far.
    pub(crate) is_unknown: bool,
    /// Whether a hook or the guard blocked the event.
    pub(crate) blocked: bool,
    /// Why the user must approve it, if a hook or the guard asks for that.
    pub(crate) ask_reason: Option<&'a str>,
}

/// Computes the effect of the event; nothing if it does not change the state.
pub(crate) fn compute_transition(event: &Event, before: TransitionInput<'_>) -> Option<StateTransition> {
    if is_irrelevant_to_state(event, before) {
        return None;
    }
    match &event.name {
        EventName::SessionStart => handle_session_start(event, before.state),
        EventName::SessionEnd => handle_session_end(event),
        // An agent that calls a tool works, and this is its first event.
        EventName::PreToolUse | EventName::PermissionRequest if before.blocked && before.is_unknown => {
            let tool = event.tool_name().unwrap_or("a tool");
            let why = format!("its call to {tool} was blocked");
            Some(build_transition(AgentState::Processing, ToolChange::Clear, why))
        }
        // A blocked prompt never reached the agent, and a blocked tool never ran.
        EventName::UserPromptSubmit | EventName::PreToolUse | EventName::PermissionRequest if before.blocked => None,
        EventName::UserPromptSubmit => {
            Some(build_transition(AgentState::Processing, ToolChange::Clear, "the user submitted a prompt"))
        }
        EventName::PreToolUse => Some(handle_pre_tool(event, before)),
        EventName::PermissionRequest => {
            let tool = event.tool_name().unwrap_or("a tool");
            let why = describe_call(format!("it asks for permission to use {tool}"), event, before.product);
            Some(build_transition(AgentState::AwaitingInput, ToolChange::Set(tool.to_owned()), why))
        }
        EventName::PostToolUse | EventName::PostToolUseFailure => Some(handle_post_tool(event)),
        EventName::Notification => handle_notification(event, before),
        // A blocked stop makes the agent continue.
        EventName::Stop if before.blocked => {
            Some(build_transition(AgentState::Processing, ToolChange::Clear, "a hook made it continue"))
        }
        EventName::Stop => Some(handle_stop(before.last_words)),
        EventName::Other(name) => handle_other_event(name, event, before.state),
        EventName::SubagentStart | EventName::SubagentStop | EventName::PreCompact | EventName::PostCompact => None,
    }
}

/// Whether the event is about a tool, and not about the state of the agent as a whole.
fn is_irrelevant_to_state(event: &Event, before: TransitionInput<'_>) -> bool {
    let in_subagent = event.subagent.as_ref().is_some_and(|subagent| subagent.id.is_some());
    let is_tool_end = matches!(event.name.as_str(), "PostToolUse" | "PostToolUseFailure" | "PermissionDenied");
    let other_tool = before.current_tool.is_some() && before.current_tool != event.tool_name();
    match (&event.name, before.state) {
        // The user must answer, even for a sub-agent.
        (EventName::PermissionRequest, _) => false,
        (name, _) if !name.is_tool_event() && name.as_str() != "PermissionDenied" => false,
        // Background work of a sub-agent is not work of an agent that has ended its turn.
        (_, AgentState::Idle) => in_subagent,
        // Tools run in parallel. When one ends, the user still has to answer about the other, and a sub-agent's
        // activity answers no question.
        (_, AgentState::AwaitingInput) => {
            (in_subagent && before.current_tool.is_none()) || (other_tool && (is_tool_end || in_subagent))
        }
        _ => false,
    }
}

fn build_transition(state: AgentState, tool: ToolChange, why: impl Into<String>) -> StateTransition {
    StateTransition { state, tool, why: why.into(), end_reason: None }
}

/// An agent's activity, with a summary of the call.
fn describe_call(activity: String, event: &Event, product: &AgentProduct) -> String {
    match tool_calls::summarize_tool_call(product, event) {
        Some(summary) => format!("{activity}: {summary}"),
        None => activity,
    }
}

fn handle_session_start(event: &Event, state: AgentState) -> Option<StateTransition> {
    let source = event.source.as_deref();
    // An agent that compacts its conversation during its work continues afterwards.
    if source == Some("compact") && matches!(state, AgentState::Processing | AgentState::AwaitingInput) {
        return None;
    }
    let why = match source {
        Some(source) => labels::describe_session_start(source),
        None => "a session started".to_owned(),
    };
    Some(build_transition(AgentState::Idle, ToolChange::Clear, why))
}

fn handle_session_end(event: &Event) -> Option<StateTransition> {
    let reason = event.reason.as_deref().unwrap_or("other");
    if reason == "clear" {
        return None;
    }
    Some(StateTransition {
        end_reason: Some(reason.to_owned()),
        ..build_transition(AgentState::Ended, ToolChange::Clear, labels::describe_session_end(reason))
    })
}

fn handle_pre_tool(event: &Event, before: TransitionInput<'_>) -> StateTransition {
    let tool = event.tool_name().unwrap_or("a tool");
    let tool_change = ToolChange::Set(tool.to_owned());
    if let Some(reason) = before.ask_reason {
        let why = describe_call(format!("the user must approve {tool}"), event, before.product);
        let reason = to_single_line(reason, MAX_REASON_CHARS);
        let why = if reason.is_empty() { why } else { format!("{why} ({reason})") };
        return build_transition(AgentState::AwaitingInput, tool_change, why);
    }
    if question_text::find_question_tool(before.product, tool).is_some() {
        let why = describe_call(format!("it asks the user ({tool})"), event, before.product);
        build_transition(AgentState::AwaitingInput, tool_change, why)
    } else {
        build_transition(AgentState::Processing, tool_change, format!("it uses {tool}"))
    }
}

fn handle_post_tool(event: &Event) -> StateTransition {
    let tool = event.tool_name().unwrap_or("a tool");
    if event.raw.get("is_interrupt") == Some(&Value::Bool(true)) {
        return build_transition(AgentState::Idle, ToolChange::Clear, format!("the user interrupted {tool}"));
    }
    let how = if event.has_tool_failed() { "failed" } else { "ended" };
    build_transition(AgentState::Processing, ToolChange::Clear, format!("{tool} {how}"))
}

fn handle_notification(event: &Event, before: TransitionInput<'_>) -> Option<StateTransition> {
    let state = before.state;
    let waits_for_tool = state == AgentState::AwaitingInput && before.current_tool.is_some();
    let message = event.message.as_deref().unwrap_or_default();
    let describe = |kind: &str| {
        let is_permission = kind.starts_with("permission");
        match (message, before.call_summary.filter(|_| is_permission)) {
            // The known reason is more precise.
            _ if waits_for_tool && is_permission => before.why.to_owned(),
            ("", _) => labels::describe_needed_input(kind),
            (message, Some(call)) => format!("{message}: {call}"),
            (message, None) => message.to_owned(),
        }
    };
    let kinds = before.product.notifications;
    let kind = event.raw.get("notification_type").and_then(Value::as_str);
    match kind {
        Some(kind) if kinds.needs_input.contains(&kind) => {
            Some(build_transition(AgentState::AwaitingInput, ToolChange::Keep, describe(kind)))
        }
        Some(kind) if kinds.input_given.contains(&kind) && state == AgentState::AwaitingInput => {
            Some(build_transition(AgentState::Processing, ToolChange::Keep, "the user answered"))
        }
        // It has waited for a prompt for a while. If its state was working or waiting for permission, the user
        // interrupted it without a hook event.
        Some(kind) if kinds.idle.contains(&kind) && (state == AgentState::Processing || waits_for_tool) => {
            Some(build_transition(AgentState::Idle, ToolChange::Clear, "it waits for a prompt"))
        }
        None if kinds.permission_phrases.iter().any(|phrase| message.contains(phrase)) => {
            Some(build_transition(AgentState::AwaitingInput, ToolChange::Keep, describe("permission")))
        }
        _ => None,
    }
}

/// The end of a turn; the last message may be a question.
pub(crate) fn handle_stop(last_words: Option<&str>) -> StateTransition {
    if last_words.map(intent::classify_last_words) == Some(TurnIntent::Question) {
        build_transition(AgentState::AwaitingInput, ToolChange::Clear, explain_question(last_words))
    } else {
        build_transition(AgentState::Idle, ToolChange::Clear, "it ended its turn")
    }
}

/// Why an agent waits whose last message is a question.
pub(crate) fn explain_question(last_words: Option<&str>) -> String {
    match last_words.and_then(question_text::find_question) {
        Some(question) => format!("its last message is a question: {question}"),
        None => "its last message is a question".to_owned(),
    }
}

fn handle_other_event(name: &str, event: &Event, state: AgentState) -> Option<StateTransition> {
    let text = |field: &str| event.raw.get(field).and_then(Value::as_str);
    match name {
        "StopFailure" => {
            let error = text("error").unwrap_or("unknown");
            Some(build_transition(AgentState::Idle, ToolChange::Clear, labels::describe_turn_error(error)))
        }
        "PermissionDenied" => {
            let tool = event.tool_name().unwrap_or("a tool");
            Some(build_transition(
                AgentState::Processing,
                ToolChange::Clear,
                format!("permission for {tool} was denied"),
            ))
        }
        "Elicitation" => {
            let server = text("mcp_server_name").unwrap_or("a server");
            let message = event.message.as_deref().filter(|message| !message.trim().is_empty());
            let why = match message {
                Some(message) => format!("{server} asks the user: {message}"),
                None => format!("{server} asks the user"),
            };
            Some(build_transition(AgentState::AwaitingInput, ToolChange::Keep, why))
        }
        "ElicitationResult" if state == AgentState::AwaitingInput => {
            Some(build_transition(AgentState::Processing, ToolChange::Keep, "the user answered"))
        }
        _ => None,
    }
}
