//! The agent's state by its transcript, if no hook has reported a newer one.

use snell::{AgentProduct, Timestamp};

use super::open_calls::{AwaitedResult, OpenCalls};
use super::turns::{self, MAX_WRITE_DELAY};
use super::{question_text, transition};
use crate::db::agent_activity::BackgroundWork;
use crate::db::model::{AgentRow, AgentState, StateSource};
use crate::db::rows::{Rows, TranscriptProgress};
use crate::derive::intent::TurnIntent;
use crate::derive::transcript::{ActivityKind, TranscriptActivity};
use crate::error::Result;

/// The part of a transcript that was read.
pub(super) struct TranscriptNews<'a> {
    pub(super) activities: &'a [TranscriptActivity],
    /// Whether it was appended to a part that was read before.
    pub(super) is_appended: bool,
    /// A turn that ended before this is not shown.
    pub(super) shown_since: Option<Timestamp>,
    pub(super) now: Timestamp,
}

impl TranscriptNews<'_> {
    /// Whether the state after this activity is shown although a later activity changes it: the start of a turn that is over,
    /// and the end of a turn before a prompt that was not queued.
    fn shows_state_after(&self, index: usize, state: AgentState) -> bool {
        let Some(next) = self.activities.get(index + 1) else {
            return false;
        };
        let is_over = || next.kind == ActivityKind::Prompted && !next.follows_at_once(&self.activities[index]);
        (state == AgentState::Processing || is_over()) && self.shows_turn_from(index)
    }

    /// Whether the turn of this activity is shown although it is over: all new ones are, but of a transcript that is read
    /// for the first time only the last one, if it ended just now.
    fn shows_turn_from(&self, index: usize) -> bool {
        let Some(since) = self.shown_since else {
            return true;
        };
        let later = &self.activities[index + 1..];
        let is_last_turn = !later.iter().any(|activity| activity.kind == ActivityKind::Prompted);
        is_last_turn && later.last().and_then(|last| last.at).is_some_and(|at| at >= since)
    }
}

/// Sets the agent's state from its transcript, one activity after the other, unless a hook reported a newer one.
pub(super) fn apply_activities(
    rows: &mut dyn Rows,
    agent: &mut AgentRow,
    reached: &mut TranscriptProgress,
    news: &TranscriptNews<'_>,
) -> Result<()> {
    let mut open = OpenCalls::parse(reached.open_calls.as_deref());
    for (index, activity) in news.activities.iter().enumerate() {
        let before = agent.state;
        let applies = is_newer_than_hook(activity.at, agent.state_reported_at, news.is_appended)
            && agent.state != AgentState::Ended;
        let is_shown = news.shown_since.is_none_or(|since| activity.at.is_some_and(|at| at >= since));
        let mut update = ActivityUpdate { rows, agent, open: &mut open, applies, is_shown, now: news.now };
        update.apply(&activity.kind)?;
        if before != agent.state && news.shows_state_after(index, agent.state) {
            rows.save_agent(agent)?;
        }
    }
    reached.open_calls = open.to_stored();
    Ok(())
}

/// An activity that is applied to an agent and its open calls.
struct ActivityUpdate<'a> {
    rows: &'a mut dyn Rows,
    agent: &'a mut AgentRow,
    open: &'a mut OpenCalls,
    /// Whether it may change the agent's state.
    applies: bool,
    /// Whether it is not too old to be shown although it is over.
    is_shown: bool,
    now: Timestamp,
}

impl ActivityUpdate<'_> {
    fn apply(&mut self, kind: &ActivityKind) -> Result<()> {
        match kind {
            ActivityKind::Prompted => {
                self.open.clear();
                self.set_working(None, "its transcript shows a prompt");
            }
            ActivityKind::Works if self.agent.current_tool.is_none() => {
                self.set_working(None, "its transcript shows activity");
            }
            ActivityKind::UsesTool(call) => {
                let product = AgentProduct::for_recorded_name(self.agent.product.as_deref());
                let tool = self.open.begin(product, call);
                if question_text::find_question_tool(product, &tool).is_some() {
                    self.open.await_answer(call);
                    self.set_waiting(&tool, format!("its transcript shows that it asks the user ({tool})"));
                } else if self.agent.state != AgentState::AwaitingInput {
                    // Tools run in parallel: the start of one does not answer a question about another.
                    let why = format!("its transcript shows that it uses {tool}");
                    self.set_working(Some(tool), why);
                }
            }
            ActivityKind::AsksPermission(call) => {
                let tool = self.open.await_answer(call);
                self.set_waiting(&tool, format!("its transcript shows that it asks for permission to use {tool}"));
            }
            ActivityKind::EndedTool(call) => {
                let awaited = self.agent.current_tool.clone().filter(|_| self.agent.state == AgentState::AwaitingInput);
                let result = self.open.end(call, awaited.as_deref());
                if self.agent.state != AgentState::AwaitingInput || result == AwaitedResult::Answered {
                    self.set_working(None, "its transcript shows the result of a tool");
                }
            }
            ActivityKind::EndedTurn => {
                let subagents = self.open.end_turn();
                if self.applies && is_in_turn(self.agent) {
                    self.end_turn()?;
                }
                if subagents > 0 {
                    self.set_background(subagents);
                }
            }
            ActivityKind::LeftSubagents(count) => self.set_background(*count),
            ActivityKind::StartedSubagents(ids) => self.open.begin_subagents(ids),
            ActivityKind::HeardSubagents(ids) => {
                if self.open.end_subagents(ids) {
                    self.set_working(None, "its transcript shows the report of a sub-agent");
                }
            }
            ActivityKind::Compacted => self.show_compaction()?,
            ActivityKind::Works | ActivityKind::Speaks => {}
        }
        Ok(())
    }

    fn set_working(&mut self, tool: Option<String>, why: impl Into<String>) {
        let agent = &mut *self.agent;
        // Work in the background is over, or goes on beside the new turn.
        let works = agent.state == AgentState::Processing && agent.background.is_none();
        if !self.applies || (works && agent.state_source != StateSource::Transcript) {
            return;
        }
        if !works {
            agent.set_state(AgentState::Processing, StateSource::Transcript, why, self.now);
        }
        agent.current_tool = tool;
    }

    fn set_waiting(&mut self, tool: &str, why: String) {
        if self.applies && self.agent.state != AgentState::AwaitingInput {
            self.agent.set_state(AgentState::AwaitingInput, StateSource::Transcript, why, self.now);
            self.agent.current_tool = Some(tool.to_owned());
        }
    }

    fn set_background(&mut self, subagents: u32) {
        if self.applies && self.agent.state == AgentState::Idle {
            let work = BackgroundWork { subagents, ..BackgroundWork::default() };
            let why = format!("its turn ended; its transcript shows {subagents} sub-agents that run on");
            self.agent.set_background_work(work, StateSource::Transcript, why, self.now);
        }
    }

    /// A line shows the end of a compaction. The user started it if the agent waited for a prompt; else its turn goes on.
    fn show_compaction(&mut self) -> Result<()> {
        if self.agent.state == AgentState::Idle && self.applies && self.is_shown {
            self.set_working(None, "its transcript shows a compaction");
            self.rows.save_agent(self.agent)?;
            self.agent.set_state(AgentState::Idle, StateSource::Transcript, "it compacted its conversation", self.now);
        }
        Ok(())
    }

    fn end_turn(&mut self) -> Result<()> {
        let agent = &mut *self.agent;
        turns::conclude_turn(self.rows, agent, self.now)?;
        let words = turns::find_last_agent_turn(self.rows, agent)?;
        let (state, why) = match words.filter(|turn| turn.intent == TurnIntent::Question) {
            Some(turn) => (AgentState::AwaitingInput, transition::explain_question(Some(&turn.text))),
            None => (AgentState::Idle, "its transcript shows the end of its turn".to_owned()),
        };
        agent.set_state(state, StateSource::Transcript, why, self.now);
        agent.current_tool = None;
        Ok(())
    }
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
