//! Stores one event: find its agent, compute the changes, store its turns, store the event.
//!
//! The event itself is always stored, even if it changes nothing.

mod background_work;
pub(crate) mod context_usage;
mod correlate;
pub mod intent;
pub(crate) mod labels;
pub(crate) mod normalize;
mod open_calls;
pub(crate) mod open_requests;
pub(crate) mod process;
pub mod project;
pub(crate) mod prompt_wait;
mod question_text;
pub(crate) mod tool_calls;
pub mod transcript;
mod transcript_activity;
mod transcript_delta;
mod transition;
pub(crate) mod turns;
mod worker_signals;
mod workers;

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use snell::{AgentProduct, Event, EventName, NoticeKind, Timestamp};

use crate::db::dispatches::NewDispatch;
use crate::db::model::{AgentRow, AgentState, CorrelationMethod, ReminderHistory, StateSource};
use crate::db::rows::{EventReference, EventRow, Rows};
use crate::derive::context_usage::ContextReset;
use crate::derive::intent::TurnIntent;
use crate::derive::normalize::NormalizedEvent;
use crate::error::Result;
use crate::record::event_record::{DecisionRecord, EventSender};
use crate::record::json;
use crate::record::words::event_decision_word;

pub(crate) use correlate::SessionCache;
use correlate::{CorrelatedAgent, EventOrigin, correlate_event, enter_conversation};
pub(crate) use transcript_delta::{TranscriptDelta, apply_transcript_delta};
use transition::{StateTransition, ToolChange, TransitionInput, compute_transition};
use turns::TurnTime;

/// A permission request comes within this time after the `PreToolUse` event of its call.
const SAME_CALL_WINDOW: Duration = Duration::from_secs(10 * 60);

/// The result of storing an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IngestReceipt {
    /// Its agent.
    pub agent_id: i64,
    /// The agent's project.
    pub project_id: i64,
    /// The agent's state after the event.
    pub state: AgentState,
    /// Whether the event changed the state.
    pub state_changed: bool,
    /// Whether the agent is new.
    pub is_new_agent: bool,
    /// How the agent was found.
    pub correlation_method: CorrelationMethod,
    /// Whether the event was stored before, so that nothing changed.
    pub duplicate: bool,
}

impl IngestReceipt {
    fn for_duplicate(agent: &AgentRow, correlation_method: CorrelationMethod) -> Self {
        Self {
            agent_id: agent.agent_id,
            project_id: agent.project_id,
            is_new_agent: false,
            correlation_method,
            state: agent.state,
            state_changed: false,
            duplicate: true,
        }
    }
}

/// The data that all events of a transaction share.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IngestContext<'a> {
    /// The host of this program.
    pub(crate) host: Option<&'a str>,
}

/// Whether an event comes in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventOrder {
    Current,
    /// It is late: a newer event has already set the agent's state.
    Outrun,
}

/// Stores one event.
pub(crate) fn ingest_event(
    rows: &mut dyn Rows,
    seen: &mut SessionCache,
    observed: &NormalizedEvent,
    transcript: Option<&TranscriptDelta>,
    context: IngestContext<'_>,
) -> Result<IngestReceipt> {
    let event = &observed.event;
    if let Some(agent_id) = rows.find_event_agent(&observed.event_id)?
        && let Some(agent) = rows.find_agent(agent_id)?
    {
        return Ok(IngestReceipt::for_duplicate(&agent, CorrelationMethod::DbSessionId));
    }
    let origin = EventOrigin { event, sender: &observed.sender, at: observed.at, host: context.host };
    let mut found = correlate_event(rows, seen, &origin)?;
    correlate::bind_subagent_session(rows, seen, &origin, &found)?;
    if let Some(conversation) = &found.conversation
        && is_duplicate_tool_event(rows, event, conversation.conversation_id)?
    {
        return Ok(IngestReceipt::for_duplicate(&found.agent, found.correlation));
    }
    let is_outrun = observed.delayed && found.agent.state_reported_at > Some(observed.at);
    let order = if is_outrun { EventOrder::Outrun } else { EventOrder::Current };
    found.may_change_agent &= order == EventOrder::Current;
    let before = found.agent.state;
    if found.may_change_agent {
        enter_session(rows, &origin, &mut found, transcript)?;
    }
    save_reminders_shown(rows, observed, &mut found, order)?;
    let state = record_state_and_turns(rows, observed, &mut found, order)?;
    update_workers(rows, observed, &found)?;
    Ok(IngestReceipt {
        state_changed: found.is_new_agent || state != before,
        state,
        is_new_agent: found.is_new_agent,
        duplicate: false,
        ..IngestReceipt::for_duplicate(&found.agent, found.correlation)
    })
}

/// Updates the session of an event: its conversation, a restart, and the transcript.
fn enter_session(
    rows: &mut dyn Rows,
    origin: &EventOrigin<'_>,
    found: &mut CorrelatedAgent,
    transcript: Option<&TranscriptDelta>,
) -> Result<()> {
    enter_conversation(rows, origin, found)?;
    let reset = context_usage::detect_context_reset(origin.event);
    if reset == Some(ContextReset::Restarted) {
        reset_session(found);
    }
    // The transcript's entries are older than this event.
    if let Some(transcript) = transcript.filter(|_| origin.session_id().is_some()) {
        apply_transcript_delta(rows, &mut found.agent, found.conversation.as_mut(), transcript, origin.at)?;
    }
    if reset == Some(ContextReset::Emptied) {
        reset_context(found);
    }
    Ok(())
}

/// Stores the event and its effects on its agent. Returns the agent's state after it.
fn record_state_and_turns(
    rows: &mut dyn Rows,
    observed: &NormalizedEvent,
    found: &mut CorrelatedAgent,
    order: EventOrder,
) -> Result<AgentState> {
    let event = &observed.event;
    let change = if found.may_change_agent { derive_state_change(rows, found, observed)? } else { None };
    let state = change.as_ref().map_or(found.agent.state, |change| change.state);
    let event_row = insert_event_row(rows, observed, found, state)?;
    if found.may_change_agent {
        record_event_turn(rows, &mut found.agent, observed)?;
        apply_state_change(found, change, observed.at);
        let is_over = state != AgentState::Processing || found.agent.background.is_some();
        if event.name == EventName::Stop && is_over {
            turns::conclude_turn(rows, &mut found.agent, observed.at)?;
        }
        save_correlated_agent(rows, found)?;
    } else if order == EventOrder::Outrun && event.name == EventName::UserPromptSubmit {
        turns::record_late_prompt(rows, &found.agent, find_user_prompt(event), observed.at)?;
    }
    insert_runs_and_verdicts(rows, observed, found, event_row)?;
    insert_blocked_call(rows, observed, found)?;
    Ok(state)
}

/// Whether a tool of the product asks the user a question.
pub(crate) fn is_question_tool(product: &AgentProduct, tool: &str) -> bool {
    question_text::find_question_tool(product, tool).is_some()
}

/// Stores that a tool call was blocked, for notices.
fn insert_blocked_call(rows: &mut dyn Rows, observed: &NormalizedEvent, found: &CorrelatedAgent) -> Result<()> {
    let is_call = matches!(observed.event.name, EventName::PreToolUse | EventName::PermissionRequest);
    let Some(judgement) = observed.judgement.as_ref().filter(|judgement| is_call && judgement.is_block()) else {
        return Ok(());
    };
    let tool = observed.event.tool_name().unwrap_or("a tool");
    let mut text = match &observed.tool_summary {
        Some(summary) => format!("{tool} was blocked: {summary}"),
        None => format!("{tool} was blocked"),
    };
    if let Some(reason) = judgement.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()) {
        text.push_str(&format!(" ({reason})"));
    }
    let agent_id = found.agent.agent_id;
    rows.insert_dispatch(&NewDispatch { uid: None, kind: NoticeKind::Blocked, agent_id, at: observed.at, text: &text })
}

/// Stores an event that Snell derived from a change of an agent. Returns whether the agent is known, and the event was not
/// stored before.
pub(crate) fn store_derived_event(rows: &mut dyn Rows, agent_id: i64, observed: &NormalizedEvent) -> Result<bool> {
    let agent = rows.find_agent(agent_id)?;
    let Some(agent) = agent.filter(|_| rows.find_event_agent(&observed.event_id).is_ok_and(|known| known.is_none()))
    else {
        return Ok(false);
    };
    let conversation = agent.conversation_id.map(|id| rows.find_conversation(id)).transpose()?.flatten();
    let found = CorrelatedAgent {
        conversation,
        correlation: CorrelationMethod::DbSessionId,
        is_new_agent: false,
        may_change_agent: false,
        agent,
    };
    let event_row = insert_event_row(rows, observed, &found, found.agent.state)?;
    insert_runs_and_verdicts(rows, observed, &found, event_row)?;
    Ok(true)
}

/// Whether the same event about the same tool call is stored already. The id of a call alone is not enough, because
/// some models reuse ids.
fn is_duplicate_tool_event(rows: &mut dyn Rows, event: &Event, conversation_id: i64) -> Result<bool> {
    let Some(tool_use) = tool_calls::get_tool_call_id(event) else {
        return Ok(false);
    };
    let input = event.raw.get("tool_input");
    let same = |payload: &String| {
        let kept: Option<Value> = json::parse_stored_json(payload.as_bytes()).ok();
        kept.is_some_and(|kept| kept.get("tool_input") == input)
    };
    let known = rows.list_tool_event_payloads(conversation_id, event.name.as_str(), tool_use)?;
    Ok(known.iter().any(same))
}

fn save_correlated_agent(rows: &mut dyn Rows, found: &mut CorrelatedAgent) -> Result<()> {
    rows.save_agent(&mut found.agent)?;
    match &mut found.conversation {
        Some(conversation) => rows.save_conversation(conversation),
        None => Ok(()),
    }
}

/// The summary of a tool call, or of the result of a background task, which comes as a prompt.
pub(crate) fn summarize_event(product: &AgentProduct, event: &Event) -> Option<String> {
    let result = event.prompt.as_deref().filter(|_| event.name == EventName::UserPromptSubmit);
    match result.and_then(worker_signals::summarize_task_notification) {
        Some(result) => Some(format!("background result: {result}")),
        None => tool_calls::summarize_tool_call(product, event),
    }
}

/// The sender: from the process that recorded it, else from the payload.
pub(crate) fn complete_sender(mut sender: EventSender, event: &Event) -> EventSender {
    let text = |field: &str| event.raw.get(field).and_then(Value::as_str).map(str::to_owned);
    let tmux = event.tmux.as_ref();
    sender.tmux_pane = sender.tmux_pane.or_else(|| tmux?.pane.clone()).filter(|pane| !pane.is_empty());
    sender.tmux_session = sender.tmux_session.or_else(|| tmux?.session.clone()).filter(|session| !session.is_empty());
    sender.headspace_session_id = sender.headspace_session_id.or_else(|| text("headspace_session_id"));
    sender.host = sender.host.or_else(|| text("host"));
    if sender.process.is_none() {
        sender.process = correlate::parse_sender_process(event);
        sender.process_is_told = sender.process.is_some();
    }
    sender.product = sender.product.or_else(|| event.platform.clone());
    sender
}

fn derive_state_change(
    rows: &mut dyn Rows,
    found: &CorrelatedAgent,
    observed: &NormalizedEvent,
) -> Result<Option<StateTransition>> {
    let (event, judgement) = (&observed.event, observed.judgement.as_ref());
    let sent = event.raw.get("last_assistant_message").and_then(Value::as_str);
    let remembered = if event.name == EventName::Stop && sent.is_none() {
        turns::find_last_agent_turn(rows, &found.agent)?.map(|turn| turn.text)
    } else {
        None
    };
    let current_tool = found.agent.current_tool.as_deref();
    let call = match current_tool.filter(|_| event.name == EventName::Notification) {
        Some(tool) => rows.find_last_call_summary(found.agent.agent_id, tool)?,
        None => None,
    };
    let before = TransitionInput {
        product: observed.product(),
        state: found.agent.state,
        last_words: sent.or(remembered.as_deref()),
        current_tool,
        call_summary: call.as_deref(),
        why: &found.agent.why,
        in_background: found.agent.background.is_some(),
        unattended: observed.sender.unattended,
        is_unknown: found.agent.state_reported_at.is_none(),
        blocked: judgement.is_some_and(|judgement| judgement.is_block() || judgement.goes_on),
        ask_reason: judgement.and_then(DecisionRecord::ask_reason),
    };
    let revival = StateTransition {
        state: AgentState::Idle,
        tool: ToolChange::Clear,
        why: "a new event arrived".into(),
        end_reason: None,
        background: None,
    };
    let revived = found.agent.state == AgentState::Ended;
    match compute_transition(event, before).or(revived.then_some(revival)) {
        Some(transition) => open_requests::keep_waiting_for_others(rows, &found.agent, event, transition),
        None => Ok(None),
    }
}

/// Stores the event itself, and returns its row.
fn insert_event_row(
    rows: &mut dyn Rows,
    observed: &NormalizedEvent,
    found: &CorrelatedAgent,
    state: AgentState,
) -> Result<i64> {
    let (event, judgement) = (&observed.event, observed.judgement.as_ref());
    let conversation = found.conversation.as_ref();
    let conversation_id = conversation.map(|conversation| conversation.conversation_id);
    let ended = tool_calls::resolve_call_end(rows, event, (found.agent.agent_id, conversation_id), observed.at)?;
    let error = tool_calls::extract_tool_error(event);
    let changed = judgement.and_then(|judgement| judgement.changed_input.as_ref());
    let changed_input = changed.map(Value::to_string);
    let changed = judgement.and_then(|judgement| judgement.changed_output.as_ref());
    let changed_output = changed.map(Value::to_string);
    let added_context = judgement.map(|judgement| judgement.told.join("\n\n"));
    rows.insert_event(&EventRow {
        event_id: &observed.event_id,
        agent_id: found.agent.agent_id,
        conversation_id,
        name: &observed.name,
        tool: event.tool_name(),
        tool_use_id: tool_calls::get_tool_call_id(event),
        tool_summary: observed.tool_summary.as_deref(),
        tool_us: ended.took_us,
        ends: ended.began_by,
        error: error.as_deref(),
        decision: judgement.and_then(|judgement| event_decision_word(judgement.decision)),
        reason: judgement.and_then(|judgement| judgement.reason.as_deref()),
        changed_input: changed_input.as_deref(),
        changed_output: changed_output.as_deref(),
        added_context: added_context.as_deref().filter(|text| !text.is_empty()),
        state,
        correlation: found.correlation,
        at: observed.at,
        took_us: judgement.map(|judgement| judgement.took_us),
        payload: &observed.payload,
        input: event.raw.get("tool_input"),
    })
}

fn insert_runs_and_verdicts(
    rows: &mut dyn Rows,
    observed: &NormalizedEvent,
    found: &CorrelatedAgent,
    event_row: i64,
) -> Result<()> {
    let Some(judgement) = &observed.judgement else {
        return Ok(());
    };
    let owner = EventReference {
        event_row: Some(event_row),
        agent_id: Some(found.agent.agent_id),
        event: &observed.name,
        at: observed.at,
    };
    for run in &judgement.runs {
        rows.insert_hook_run(owner, run)?;
    }
    let since = observed.at.checked_sub(SAME_CALL_WINDOW).unwrap_or(Timestamp::UNIX_EPOCH);
    for verdict in &judgement.guard {
        // A permission request is about a call that was judged before.
        if observed.name == "PermissionRequest" && rows.repeats_guard_verdict(owner, verdict, since)? {
            continue;
        }
        rows.insert_guard_verdict(owner, verdict)?;
    }
    Ok(())
}

/// Updates the workers that the event names, and marks those that were reported to the agent. Late events count too.
fn update_workers(rows: &mut dyn Rows, observed: &NormalizedEvent, found: &CorrelatedAgent) -> Result<()> {
    let Some(conversation) = &found.conversation else {
        return Ok(());
    };
    let judgement = observed.judgement.as_ref();
    let news = worker_signals::extract_worker_signals(&observed.event, judgement);
    workers::apply_worker_signals(rows, conversation.conversation_id, &news, observed.at)?;
    let reported = judgement.map_or(&[][..], |judgement| &judgement.reminded.workers);
    for worker_id in reported {
        rows.mark_worker_reported(conversation.conversation_id, *worker_id, observed.at)?;
    }
    Ok(())
}

/// The prompt of an event, if its user wrote it.
fn find_user_prompt(event: &Event) -> Option<&str> {
    let prompt = event.prompt.as_deref().filter(|_| !event.is_in_subagent());
    prompt.filter(|prompt| !worker_signals::is_task_notification(prompt))
}

/// Stores the turn in the event itself.
fn record_event_turn(rows: &mut dyn Rows, agent: &mut AgentRow, observed: &NormalizedEvent) -> Result<()> {
    let event = &observed.event;
    let blocked = observed.judgement.as_ref().is_some_and(DecisionRecord::is_block);
    let time = TurnTime::from_server_clock(observed.at);
    let tool = event.tool.as_ref().filter(|_| !event.is_in_subagent());
    match event.name {
        EventName::UserPromptSubmit if !blocked => match find_user_prompt(event) {
            Some(prompt) => turns::record_prompt(rows, agent, prompt, time),
            None => Ok(()),
        },
        EventName::PreToolUse if !blocked => {
            match tool.and_then(|tool| question_text::extract_full_question(observed.product(), tool)) {
                Some(question) => turns::record_agent_text(rows, agent, &question, TurnIntent::Question, time),
                None => Ok(()),
            }
        }
        EventName::PostToolUse => match tool.and_then(|tool| question_text::extract_answer(observed.product(), tool)) {
            Some(answer) => turns::record_answer(rows, agent, &answer, time),
            None => Ok(()),
        },
        EventName::Stop => {
            let Some(text) = event.raw.get("last_assistant_message").and_then(Value::as_str) else {
                return Ok(());
            };
            let intent = if blocked { TurnIntent::Progress } else { intent::classify_last_words(text) };
            turns::record_agent_text(rows, agent, text, intent, time)
        }
        _ => Ok(()),
    }
}

/// Notes the reminders in the conversation. Late events count too.
fn save_reminders_shown(
    rows: &mut dyn Rows,
    observed: &NormalizedEvent,
    found: &mut CorrelatedAgent,
    order: EventOrder,
) -> Result<()> {
    let reminded = observed.judgement.as_ref().map(|judgement| &judgement.reminded);
    let reminded = reminded.filter(|reminded| !reminded.is_empty());
    let (Some(reminded), Some(conversation)) = (reminded, &mut found.conversation) else {
        return Ok(());
    };
    match order {
        EventOrder::Current => conversation.reminders.record_shown(reminded),
        EventOrder::Outrun => conversation.reminders.record_outrun(reminded),
    }
    // If the event changes anything else, all of it is saved together.
    if found.may_change_agent {
        return Ok(());
    }
    rows.save_conversation(conversation)
}

/// Resets a session that starts, perhaps again under its launcher's id: its agent has no reminders and no messages yet.
fn reset_session(found: &mut CorrelatedAgent) {
    found.agent.clear_context();
    if let Some(conversation) = &mut found.conversation {
        conversation.reminders = ReminderHistory::default();
        conversation.pinged_at = None;
    }
}

/// The context is empty, so it may fill again, and the agent may get the same warnings again.
fn reset_context(found: &mut CorrelatedAgent) {
    found.agent.clear_context();
    if let Some(conversation) = &mut found.conversation {
        (conversation.reminders.stop_level, conversation.reminders.prompt_level) = (0, 0);
    }
}

fn apply_state_change(found: &mut CorrelatedAgent, change: Option<StateTransition>, at: Timestamp) {
    let Some(change) = change else {
        return;
    };
    let agent = &mut found.agent;
    agent.state_reported_at = agent.state_reported_at.max(Some(at));
    match change.background {
        Some(work) => agent.set_background_work(work, StateSource::Hook, change.why, at),
        None => agent.set_state(change.state, StateSource::Hook, change.why, at),
    }
    match change.tool {
        ToolChange::Keep => {}
        ToolChange::Clear => agent.current_tool = None,
        ToolChange::Set(tool) => agent.current_tool = Some(tool),
    }
    agent.end_reason.clone_from(&change.end_reason);
    if let (Some(reason), Some(conversation)) = (&change.end_reason, &mut found.conversation) {
        conversation.mark_ended(reason, at);
    }
}
