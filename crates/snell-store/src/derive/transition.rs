//! The effect of an event on its agent's state. Pure: the caller passes in all data.

use serde_json::Value;
use snell::{AgentProduct, Event, EventName};

use super::background_work::{self, BackgroundList};
use super::{question_text, tool_calls, worker_signals};
use crate::db::agent_activity::BackgroundWork;
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
    /// The work that runs although its turn has ended.
    pub(crate) background: Option<BackgroundWork>,
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
    /// Whether its turn has ended, and only its background tasks run.
    pub(crate) in_background: bool,
    /// Whether no user can answer it.
    pub(crate) unattended: bool,
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
        EventName::UserPromptSubmit => Some(handle_prompt(event)),
        EventName::PreToolUse => Some(handle_pre_tool(event, before)),
        EventName::PermissionRequest => Some(handle_permission_request(event, before)),
        EventName::PostToolUse | EventName::PostToolUseFailure => Some(handle_post_tool(event)),
        EventName::Notification => handle_notification(event, before),
        // A blocked stop makes the agent continue.
        EventName::Stop if before.blocked => {
            Some(build_transition(AgentState::Processing, ToolChange::Clear, "a hook made it continue"))
        }
        EventName::Stop => handle_stop(event, before),
        EventName::SubagentStop if before.in_background && !before.blocked => {
            background_work::list_background_work(event).map(|list| end_turn_beside(&list))
        }
        EventName::Other(name) => handle_other_event(name, event, before),
        EventName::SubagentStart | EventName::SubagentStop | EventName::PreCompact | EventName::PostCompact => None,
        // They follow from a state, and change none.
        EventName::NeedsUser | EventName::AgentIdle | EventName::AgentEnded => None,
    }
}

/// Whether the event is about a tool, and not about the state of the agent as a whole.
fn is_irrelevant_to_state(event: &Event, before: TransitionInput<'_>) -> bool {
    let in_subagent = event.is_in_subagent();
    let is_tool_end = matches!(event.name.as_str(), "PostToolUse" | "PostToolUseFailure" | "PermissionDenied");
    let other_tool = before.current_tool.is_some() && before.current_tool != event.tool_name();
    match (&event.name, before.state) {
        // The user must answer, even for a sub-agent.
        (EventName::PermissionRequest, _) => false,
        // Some agents send the prompt of a sub-agent too.
        (EventName::UserPromptSubmit, _) => in_subagent,
        (name, _) if !name.is_tool_event() && name.as_str() != "PermissionDenied" => false,
        // Background work of a sub-agent is not work of an agent that has ended its turn.
        (_, AgentState::Idle) => in_subagent,
        (_, AgentState::Processing) if before.in_background => in_subagent,
        // Tools run in parallel. When one ends, the user still has to answer about the other, and a sub-agent's
        // activity answers no question.
        (_, AgentState::AwaitingInput) => {
            (in_subagent && before.current_tool.is_none()) || (other_tool && (is_tool_end || in_subagent))
        }
        _ => false,
    }
}

fn build_transition(state: AgentState, tool: ToolChange, why: impl Into<String>) -> StateTransition {
    StateTransition { state, tool, why: why.into(), end_reason: None, background: None }
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

/// A prompt of the user, or the result of a background task, which comes as a prompt.
fn handle_prompt(event: &Event) -> StateTransition {
    let why = match event.prompt.as_deref().and_then(worker_signals::summarize_task_notification) {
        Some(result) => format!("a background task reported: {result}"),
        None => "the user submitted a prompt".to_owned(),
    };
    build_transition(AgentState::Processing, ToolChange::Clear, why)
}

fn handle_permission_request(event: &Event, before: TransitionInput<'_>) -> StateTransition {
    let tool = event.tool_name().unwrap_or("a tool");
    if before.unattended {
        return deny_unattended(tool);
    }
    let activity = match question_text::find_question_tool(before.product, tool) {
        Some(_) => format!("it asks the user ({tool})"),
        None => format!("it asks for permission to use {tool}"),
    };
    let why = describe_call(activity, event, before.product);
    build_transition(AgentState::AwaitingInput, ToolChange::Set(tool.to_owned()), why)
}

/// A call that needs an approval which no user can give: the agent gets a denial and continues.
fn deny_unattended(tool: &str) -> StateTransition {
    let why = format!("{tool} was denied, because it needs an approval and no user can answer");
    build_transition(AgentState::Processing, ToolChange::Clear, why)
}

fn handle_pre_tool(event: &Event, before: TransitionInput<'_>) -> StateTransition {
    let tool = event.tool_name().unwrap_or("a tool");
    let tool_change = ToolChange::Set(tool.to_owned());
    if before.ask_reason.is_some() && before.unattended {
        return deny_unattended(tool);
    }
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
    if is_interruption(event) {
        return build_transition(AgentState::Idle, ToolChange::Clear, format!("the user interrupted {tool}"));
    }
    let how = if event.has_tool_failed() { "failed" } else { "ended" };
    build_transition(AgentState::Processing, ToolChange::Clear, format!("{tool} {how}"))
}

/// Whether the user interrupted the tool or the turn whose end the event reports.
fn is_interruption(event: &Event) -> bool {
    event.raw.get("is_interrupt") == Some(&Value::Bool(true))
}

fn handle_interruption() -> StateTransition {
    build_transition(AgentState::Idle, ToolChange::Clear, "the user interrupted it")
}

fn handle_notification(event: &Event, before: TransitionInput<'_>) -> Option<StateTransition> {
    let state = before.state;
    let waits_for_tool = state == AgentState::AwaitingInput && before.current_tool.is_some();
    let message = event.message.as_deref().unwrap_or_default();
    let kinds = before.product.notifications;
    let describe = |kind: Option<&str>| {
        // Without a kind, its message is about a permission.
        let is_permission = kind.is_none_or(|kind| kinds.permission.contains(&kind));
        match (message, before.call_summary.filter(|_| is_permission)) {
            // The known reason is more precise.
            _ if waits_for_tool && is_permission => before.why.to_owned(),
            ("", _) => labels::describe_needed_input(kind.unwrap_or_default()),
            (message, Some(call)) => format!("{message}: {call}"),
            (message, None) => message.to_owned(),
        }
    };
    let kind = event.raw.get("notification_type").and_then(Value::as_str);
    match kind {
        Some(kind) if kinds.needs_input.contains(&kind) => {
            Some(build_transition(AgentState::AwaitingInput, ToolChange::Keep, describe(Some(kind))))
        }
        Some(kind) if kinds.input_given.contains(&kind) && state == AgentState::AwaitingInput => {
            Some(build_transition(AgentState::Processing, ToolChange::Keep, "the user answered"))
        }
        // It has waited for a prompt for a while. If its state was working or waiting for permission, the user
        // interrupted it without a hook event, unless background tasks run.
        Some(kind)
            if kinds.idle.contains(&kind)
                && !before.in_background
                && (state == AgentState::Processing || waits_for_tool) =>
        {
            Some(build_transition(AgentState::Idle, ToolChange::Clear, "it waits for a prompt"))
        }
        None if kinds.permission_phrases.iter().any(|phrase| message.contains(phrase)) => {
            Some(build_transition(AgentState::AwaitingInput, ToolChange::Keep, describe(None)))
        }
        _ => None,
    }
}

/// The end of a turn; the last message may be a question, and background tasks may still run.
fn handle_stop(event: &Event, before: TransitionInput<'_>) -> Option<StateTransition> {
    let last_words = before.last_words;
    if last_words.map(intent::classify_last_words) == Some(TurnIntent::Question) {
        return Some(build_transition(AgentState::AwaitingInput, ToolChange::Clear, explain_question(last_words)));
    }
    match background_work::list_background_work(event) {
        Some(list) if !list.counts.is_empty() => Some(end_turn_beside(&list)),
        // The event has no such list, and the transcript shows sub-agents that run on.
        None if before.in_background => None,
        _ => Some(build_transition(AgentState::Idle, ToolChange::Clear, "it ended its turn")),
    }
}

/// The state after a turn, beside this work in the background.
fn end_turn_beside(list: &BackgroundList) -> StateTransition {
    if list.counts.is_empty() {
        return build_transition(AgentState::Idle, ToolChange::Clear, "its background tasks ended");
    }
    let why = to_single_line(&format!("its turn ended; {}", list.describe()), MAX_REASON_CHARS);
    StateTransition {
        background: Some(list.counts),
        ..build_transition(AgentState::Processing, ToolChange::Clear, why)
    }
}

/// The reason of an agent that waits for an answer at its prompt.
pub(super) const QUESTION_REASON: &str = "its last message is a question";

/// Why an agent waits whose last message is a question.
pub(crate) fn explain_question(last_words: Option<&str>) -> String {
    match last_words.and_then(question_text::find_question) {
        Some(question) => format!("{QUESTION_REASON}: {question}"),
        None => QUESTION_REASON.to_owned(),
    }
}

fn handle_other_event(name: &str, event: &Event, before: TransitionInput<'_>) -> Option<StateTransition> {
    let state = before.state;
    let text = |field: &str| event.raw.get(field).and_then(Value::as_str);
    match name {
        "Interrupt" | "StopCancelled" => Some(handle_interruption()),
        "StopFailure" if is_interruption(event) => Some(handle_interruption()),
        "StopFailure" => {
            let error = text("error").or(event.message.as_deref()).unwrap_or("unknown");
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
        // All calls of a batch have ended. A call that was denied has no end of its own.
        "PostToolBatch" if state == AgentState::AwaitingInput => {
            let tool = before.current_tool.filter(|tool| is_call_in_batch(event, tool))?;
            Some(build_transition(AgentState::Processing, ToolChange::Clear, format!("{tool} ended")))
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
        "ElicitationResult" | "PermissionResult" if state == AgentState::AwaitingInput => {
            Some(build_transition(AgentState::Processing, ToolChange::Keep, "the user answered"))
        }
        _ => None,
    }
}

/// Whether the tool is among the calls of a batch.
fn is_call_in_batch(event: &Event, tool: &str) -> bool {
    let calls = event.raw.get("tool_calls").and_then(Value::as_array);
    calls.is_some_and(|calls| calls.iter().any(|call| call.get("tool_name").and_then(Value::as_str) == Some(tool)))
}
