//! An agent with several open requests, of itself and its sub-agents: an event of one of them answers only its own.

use serde_json::Value;
use snell::{Event, EventName, Timestamp};

use crate::db::model::{AgentRow, AgentState};
use crate::db::rows::Rows;
use crate::derive::transition::StateTransition;
use crate::error::Result;
use crate::requests::{AnswerChannel, RequestEnd, RequestStatus, RequestView};

/// The event for an answer in an agent's dialog, or through Snell.
const ANSWER_EVENT: &str = "PermissionResult";

/// Why a request is closed whose agent goes on.
pub(crate) const NO_LONGER_WAITS: &str = "the agent no longer waits";

/// The transition after an event; nothing if the agent still waits because of another request, for which a hook waits. Requests of the (sub-)agent
/// whose event it is are closed then.
pub(super) fn keep_waiting_for_others(
    rows: &mut dyn Rows,
    agent: &AgentRow,
    event: &Event,
    transition: StateTransition,
) -> Result<Option<StateTransition>> {
    let is_about_call = event.name.is_tool_event() || event.name.as_str() == ANSWER_EVENT;
    if agent.state != AgentState::AwaitingInput || transition.state != AgentState::Processing || !is_about_call {
        return Ok(Some(transition));
    }
    let subagent = event.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
    // The answered request is closed already, and a call that begins answers none: calls may run at the same time.
    let ends_call = event.name != EventName::PreToolUse && event.name.as_str() != ANSWER_EVENT;
    let is_own =
        |request: &RequestView| ends_call && request.detail.get("subagent").and_then(Value::as_str) == subagent;
    let (own, others): (Vec<_>, Vec<_>) =
        rows.list_open_requests(agent.agent_id)?.into_iter().partition(|request| is_own(request));
    if others.iter().all(|request| request.channel != AnswerChannel::Reply) {
        return Ok(Some(transition));
    }
    for request in own {
        let end = RequestEnd::without_answer(RequestStatus::Withdrawn, NO_LONGER_WAITS, Timestamp::now());
        rows.close_request(request.request_id, &end)?;
    }
    Ok(None)
}
