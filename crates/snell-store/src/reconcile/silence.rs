//! The conclusions from an agent that is silent: no event, and a transcript that does not change.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use snell::{AgentProduct, Timestamp, ToolClass};

use super::session_file::SessionFileStatus;
use super::{AgentEnding, end_agent};
use crate::db::model::{AgentRow, AgentState, StateSource};
use crate::db::rows::Rows;
use crate::derive::is_question_tool;
use crate::error::Result;

/// A turn that only the transcript reports has ended if nothing was written for this long.
const QUIET_TURN: Duration = Duration::from_secs(120);

/// A prompt that nothing followed for this long was taken back, unless the agent's session file shows that it works.
const QUIET_PROMPT: Duration = Duration::from_secs(10 * 60);

/// An agent without hook events and without a known process has ended if its transcript has not changed for this long.
const QUIET_AGENT: Duration = Duration::from_secs(30 * 60);

/// A question tool waits from its call on.
const QUIET_QUESTION: Duration = Duration::from_secs(3);

/// A call of these classes that is open for this long waits for permission, if no event of the agent would report that. Files
/// are written at once, and the line of a result comes up to three seconds later. Commands may run for a while.
const ASKING_CLASSES: &[(ToolClass, Duration)] = &[
    (ToolClass::FileWrite, Duration::from_secs(5)),
    (ToolClass::Shell, Duration::from_secs(30)),
    (ToolClass::Web, Duration::from_secs(30)),
    (ToolClass::Mcp, Duration::from_secs(30)),
];

/// An agent that works shows a sign of life within this time: an event, a line of a transcript, a new process.
const QUIET_WORK: Duration = Duration::from_secs(5 * 60);

/// The conclusion from a transcript that does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuietConclusion {
    TurnIsOver,
    AsksUser,
    PromptIsTakenBack,
    AgentIsGone,
}

impl QuietConclusion {
    pub(super) fn apply(self, rows: &mut dyn Rows, agent: &mut AgentRow, now: Timestamp) -> Result<()> {
        match self {
            Self::TurnIsOver => {
                let why = "its transcript has not changed for a while";
                agent.set_state(AgentState::Idle, StateSource::Transcript, why, now);
            }
            Self::AsksUser => {
                let tool = agent.current_tool.as_deref().unwrap_or("a tool");
                let why = format!("its call to {tool} has been open for a while, so it may ask the user");
                agent.set_state(AgentState::AwaitingInput, StateSource::Transcript, why, now);
            }
            Self::PromptIsTakenBack => {
                let why = "nothing has followed its last event for a long time, so its prompt may have been taken back";
                agent.set_state(AgentState::Idle, StateSource::Transcript, why, now);
            }
            Self::AgentIsGone => {
                let why = "no hook events, and its transcript has not changed for a long time";
                end_agent(rows, agent, AgentEnding { source: StateSource::Transcript, why, reason: "silent" }, now)?;
            }
        }
        agent.mark_low_confidence();
        Ok(())
    }
}

/// An agent whose transcript does not change.
pub(super) struct TranscriptSilence<'a> {
    pub(super) agent: &'a AgentRow,
    pub(super) status: SessionFileStatus,
    pub(super) now: Timestamp,
}

impl TranscriptSilence<'_> {
    /// The conclusion from it; nothing if something else shows the agent's state.
    pub(super) fn conclude(&self, path: &str) -> Option<QuietConclusion> {
        let agent = self.agent;
        let written = Timestamp::try_from(read_write_time(Path::new(path))?).ok()?;
        let since = Duration::try_from(self.now.duration_since(written)).ok()?;
        let is_unreported = agent.state_reported_at.is_none();
        if is_unreported && agent.process.is_none() && agent.state != AgentState::Ended && since > QUIET_AGENT {
            return Some(QuietConclusion::AgentIsGone);
        }
        if agent.state != AgentState::Processing || agent.background.is_some() {
            return None;
        }
        if let Some(tool) = &agent.current_tool {
            let runs = || agent.process.is_some_and(|process| process.has_child_younger_than(since + QUIET_QUESTION));
            return (self.may_ask(tool, since) && !runs()).then_some(QuietConclusion::AsksUser);
        }
        if agent.state_source == StateSource::Transcript {
            return (since > QUIET_TURN).then_some(QuietConclusion::TurnIsOver);
        }
        let reported = agent.state_reported_at.and_then(|at| Duration::try_from(self.now.duration_since(at)).ok());
        let is_silent = since > QUIET_PROMPT && reported.is_some_and(|reported| reported > QUIET_PROMPT);
        (is_silent && self.status == SessionFileStatus::Unknown).then_some(QuietConclusion::PromptIsTakenBack)
    }

    /// Whether the open call of a tool may wait for the user, after this silence of the transcript.
    fn may_ask(&self, tool: &str, silence: Duration) -> bool {
        let agent = self.agent;
        let product = AgentProduct::for_recorded_name(agent.product.as_deref());
        let reported = agent.state_reported_at.map(|at| self.now.duration_since(at).unsigned_abs());
        if reported.is_some() && product.reports_permissions() {
            return false;
        }
        if is_question_tool(product, tool) {
            return reported.is_none() && silence > QUIET_QUESTION;
        }
        let class = ASKING_CLASSES.iter().find(|(class, _)| class.contains(tool));
        let Some((class, delay)) = class.filter(|_| product.asks_permission) else {
            return false;
        };
        let delay = match (agent.process, reported) {
            _ if *class == ToolClass::FileWrite => *delay,
            (Some(_), _) => *delay,
            // Nothing shows whether a command runs.
            (None, Some(_)) => return false,
            (None, None) => delay.saturating_mul(2),
        };
        silence.min(reported.unwrap_or(silence)) > delay
    }

    /// The last sign of life of an agent that works, if that was long ago.
    pub(super) fn find_last_sign(&self, transcript: Option<&str>) -> Option<Timestamp> {
        let agent = self.agent;
        if agent.state != AgentState::Processing || agent.background.is_some() {
            return None;
        }
        let written = transcript.and_then(|path| find_last_write(Path::new(path)));
        let written = written.and_then(|at| Timestamp::try_from(at).ok());
        let last = agent.last_seen_at.max(agent.state_since).max(written.unwrap_or(Timestamp::MIN));
        let silence = Duration::try_from(self.now.duration_since(last)).ok()?;
        let works = || agent.process.is_some_and(|process| process.has_child_younger_than(silence + QUIET_QUESTION));
        (silence > QUIET_WORK && !works()).then_some(last)
    }
}

/// When an agent or one of its sub-agents last wrote to a transcript. Those of sub-agents are in `SESSION/subagents`,
/// beside `SESSION.jsonl`.
fn find_last_write(transcript: &Path) -> Option<SystemTime> {
    let subagents = fs::read_dir(transcript.with_extension("").join("subagents"));
    let subagents = subagents.into_iter().flatten().flatten().map(|entry| entry.path());
    subagents.filter_map(|path| read_write_time(&path)).chain(read_write_time(transcript)).max()
}

fn read_write_time(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
