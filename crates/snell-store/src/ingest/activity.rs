//! What a transcript shows of what its agent is doing, where no hook has told since.

use snell::Timestamp;

use super::transition;
use super::turns::{self, WRITTEN_LATE};
use crate::error::Result;
use crate::intent::Intent;
use crate::model::{Agent, Source, State};
use crate::rows::Rows;
use crate::transcript::{Activity, Doing};

/// Changes the agent's state to what its transcript shows, unless a hook told of it later. `is_appended` says that it was
/// not there when the transcript was last read.
pub(super) fn show(
    rows: &mut dyn Rows,
    agent: &mut Agent,
    activity: &Activity,
    is_appended: bool,
    now: Timestamp,
) -> Result<()> {
    if !is_newer(activity.at, agent.told_at, is_appended) || agent.state == State::Ended {
        return Ok(());
    }
    let by_transcript = agent.state_source == Source::Transcript;
    match (&activity.doing, agent.state) {
        (Doing::Works, State::Idle | State::AwaitingInput) => {
            agent.turn_to(
                State::Processing,
                Source::Transcript,
                "its transcript shows it at work",
                now,
            );
            agent.current_tool = None;
        }
        // Tools run side by side: that one begins does not answer about another.
        (Doing::UsesTool(tool), State::Idle) => {
            let why = format!("its transcript shows that it uses {tool}");
            agent.turn_to(State::Processing, Source::Transcript, why, now);
            agent.current_tool = Some(tool.clone());
        }
        (Doing::Works, State::Processing) if by_transcript => agent.current_tool = None,
        (Doing::UsesTool(tool), State::Processing) if by_transcript => agent.current_tool = Some(tool.clone()),
        (Doing::EndedTurn, State::Processing) => {
            turns::conclude(rows, agent, now)?;
            let words = turns::last_words(rows, agent)?;
            let (state, why) = match words.filter(|turn| turn.intent == Intent::Question) {
                Some(turn) => (State::AwaitingInput, transition::question(Some(&turn.text))),
                None => (State::Idle, "its transcript shows the end of its turn".to_owned()),
            };
            agent.turn_to(state, Source::Transcript, why, now);
            agent.current_tool = None;
        }
        _ => {}
    }
    Ok(())
}

fn is_newer(at: Option<Timestamp>, told: Option<Timestamp>, is_appended: bool) -> bool {
    match (at, told) {
        (Some(at), Some(told)) => at > told || (is_appended && told.duration_since(at) > WRITTEN_LATE),
        (_, told) => told.is_none(),
    }
}
