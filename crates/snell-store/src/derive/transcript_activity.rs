//! The agent's state by its transcript, if no hook has reported a newer one.

use snell::Timestamp;

use super::transition;
use super::turns::{self, MAX_WRITE_DELAY};
use crate::db::model::{AgentRow, AgentState, StateSource};
use crate::db::rows::Rows;
use crate::derive::intent::TurnIntent;
use crate::derive::transcript::{ActivityKind, TranscriptActivity};
use crate::error::Result;

/// Sets the agent's state from its transcript, unless a hook reported a newer one. `read_before` is the cursor from
/// which the transcript was read: with one, the activity is new.
pub(super) fn apply_activity(
    rows: &mut dyn Rows,
    agent: &mut AgentRow,
    activity: &TranscriptActivity,
    read_before: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    if !is_newer_than_hook(activity.at, agent.state_reported_at, read_before.is_some())
        || agent.state == AgentState::Ended
    {
        return Ok(());
    }
    let by_transcript = agent.state_source == StateSource::Transcript;
    match (&activity.kind, agent.state) {
        (ActivityKind::Works, AgentState::Idle | AgentState::AwaitingInput) => {
            agent.set_state(AgentState::Processing, StateSource::Transcript, "its transcript shows activity", now);
            agent.current_tool = None;
        }
        // Tools run in parallel: the start of one does not answer a question about another.
        (ActivityKind::UsesTool(tool), AgentState::Idle) => {
            let why = format!("its transcript shows that it uses {tool}");
            agent.set_state(AgentState::Processing, StateSource::Transcript, why, now);
            agent.current_tool = Some(tool.clone());
        }
        (ActivityKind::Works, AgentState::Processing) if by_transcript => agent.current_tool = None,
        (ActivityKind::UsesTool(tool), AgentState::Processing) if by_transcript => {
            agent.current_tool = Some(tool.clone())
        }
        (ActivityKind::EndedTurn, _) if is_in_turn(agent) => {
            turns::conclude_turn(rows, agent, now)?;
            let words = turns::find_last_agent_turn(rows, agent)?;
            let (state, why) = match words.filter(|turn| turn.intent == TurnIntent::Question) {
                Some(turn) => (AgentState::AwaitingInput, transition::explain_question(Some(&turn.text))),
                None => (AgentState::Idle, "its transcript shows the end of its turn".to_owned()),
            };
            agent.set_state(state, StateSource::Transcript, why, now);
            agent.current_tool = None;
        }
        _ => {}
    }
    Ok(())
}

/// Whether the agent is in a turn that its transcript can end. If it waits for permission to use a tool, the user may have
/// refused and interrupted it: no event reports that. A question at the end of a turn stays open.
fn is_in_turn(agent: &AgentRow) -> bool {
    let is_at_work = match agent.state {
        AgentState::Processing => true,
        AgentState::AwaitingInput => agent.current_tool.is_some(),
        AgentState::Idle | AgentState::Ended => false,
    };
    is_at_work && agent.background.is_none()
}

fn is_newer_than_hook(at: Option<Timestamp>, reported_at: Option<Timestamp>, is_appended: bool) -> bool {
    match (at, reported_at) {
        (Some(at), Some(reported_at)) => {
            at > reported_at || (is_appended && reported_at.duration_since(at) > MAX_WRITE_DELAY)
        }
        (_, reported_at) => reported_at.is_none(),
    }
}
