//! What an event says about its agent's state. Nothing here looks anywhere: it is told all it needs.

use serde_json::Value;
use snell::{AgentProduct, Event, EventName};

use super::{question_text, tool_calls};
use crate::db::model::AgentState;
use crate::db::workers::to_single_line;
use crate::derive::intent::{self, TurnIntent};
use crate::derive::labels;

/// What an event changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateTransition {
    pub(crate) state: AgentState,
    pub(crate) tool: ToolChange,
    pub(crate) why: String,
    /// Set when the agent ends.
    pub(crate) end_reason: Option<String>,
}

/// What becomes of the current tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToolChange {
    Keep,
    Clear,
    Set(String),
}

/// How much is told of why the user is asked about a call.
const MAX_REASON_CHARS: usize = 300;

/// What is known when an event is judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransitionInput<'a> {
    /// The product that sent the event.
    pub(crate) product: &'static AgentProduct,
    pub(crate) state: AgentState,
    /// What the agent said last, as far as it is known.
    pub(crate) last_words: Option<&'a str>,
    /// The tool that runs or waits for permission.
    pub(crate) current_tool: Option<&'a str>,
    /// What its call is about; told with a notification, which does not say so itself.
    pub(crate) call_summary: Option<&'a str>,
    /// Why it is in its state.
    pub(crate) why: &'a str,
    /// Whether nothing was told yet of what the agent is doing.
    pub(crate) is_unknown: bool,
    /// Whether the event was kept from happening.
    pub(crate) blocked: bool,
    /// Why the user is asked about it, if a hook or the guard wants that.
    pub(crate) ask_reason: Option<&'a str>,
}

/// What the event changes; nothing if it says nothing about the state.
pub(crate) fn compute_transition(event: &Event, before: TransitionInput<'_>) -> Option<StateTransition> {
    if is_irrelevant_to_state(event, before) {
        return None;
    }
    match &event.name {
        EventName::SessionStart => handle_session_start(event, before.state),
        EventName::SessionEnd => handle_session_end(event),
        // Whoever is about to use a tool works, and that is the first that is heard of it.
        EventName::PreToolUse | EventName::PermissionRequest if before.blocked && before.is_unknown => {
            let tool = event.tool_name().unwrap_or("a tool");
            let why = format!("it was about to use {tool}, which was blocked");
            Some(build_transition(AgentState::Processing, ToolChange::Clear, why))
        }
        // A prompt that was blocked never reached the agent, and a tool that was blocked never ran.
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
        // A stop that was blocked makes the agent go on.
        EventName::Stop if before.blocked => {
            Some(build_transition(AgentState::Processing, ToolChange::Clear, "a hook told it to go on"))
        }
        EventName::Stop => Some(handle_stop(before.last_words)),
        EventName::Other(name) => handle_other_event(name, event, before.state),
        EventName::SubagentStart | EventName::SubagentStop | EventName::PreCompact | EventName::PostCompact => None,
    }
}

/// Whether the event is about a tool, and says nothing about what the agent as a whole is doing.
fn is_irrelevant_to_state(event: &Event, before: TransitionInput<'_>) -> bool {
    let in_subagent = event.subagent.as_ref().is_some_and(|subagent| subagent.id.is_some());
    let is_tool_end = matches!(event.name.as_str(), "PostToolUse" | "PostToolUseFailure" | "PermissionDenied");
    let other_tool = before.current_tool.is_some() && before.current_tool != event.tool_name();
    match (&event.name, before.state) {
        // The user has to be asked, whoever wants it.
        (EventName::PermissionRequest, _) => false,
        (name, _) if !name.is_tool_event() && name.as_str() != "PermissionDenied" => false,
        // What a subagent does in the background is no work of an agent that has ended its turn.
        (_, AgentState::Idle) => in_subagent,
        // Tools run side by side. When one ends, the user still has to answer about the other; and what a subagent does
        // answers no question.
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
    // An agent that compacts its conversation in the middle of its work goes on with it.
    if source == Some("compact") && matches!(state, AgentState::Processing | AgentState::AwaitingInput) {
        return None;
    }
    let why = match source {
        Some(source) => labels::describe_session_start(source),
        None => "a session began".to_owned(),
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
        let why = describe_call(format!("the user is asked about {tool}"), event, before.product);
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
            // What it waits for is known already, and better.
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
        // It has waited for a prompt for a while. If it seemed to work, or to wait for permission, its user interrupted
        // it, and no hook told us.
        Some(kind) if kinds.idle.contains(&kind) && (state == AgentState::Processing || waits_for_tool) => {
            Some(build_transition(AgentState::Idle, ToolChange::Clear, "it says that it waits for a prompt"))
        }
        None if kinds.permission_phrases.iter().any(|phrase| message.contains(phrase)) => {
            Some(build_transition(AgentState::AwaitingInput, ToolChange::Keep, describe("permission")))
        }
        _ => None,
    }
}

/// The end of a turn; the last words may be a question.
pub(crate) fn handle_stop(last_words: Option<&str>) -> StateTransition {
    if last_words.map(intent::classify_last_words) == Some(TurnIntent::Question) {
        build_transition(AgentState::AwaitingInput, ToolChange::Clear, explain_question(last_words))
    } else {
        build_transition(AgentState::Idle, ToolChange::Clear, "it ended its turn")
    }
}

/// Why an agent waits whose last words are a question.
pub(crate) fn explain_question(last_words: Option<&str>) -> String {
    match last_words.and_then(question_text::find_question) {
        Some(question) => format!("its last words are a question: {question}"),
        None => "its last words are a question".to_owned(),
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
            Some(build_transition(AgentState::Processing, ToolChange::Clear, format!("{tool} was not permitted")))
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
