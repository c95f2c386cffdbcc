//! Looking after agents of which nothing was heard: their transcripts, processes and terminals tell what no hook does.
//!
//! Whoever looks reads first and writes afterwards, and in between a hook may have told more. So what was seen counts only
//! if nothing newer is known by the time it is written, and it is never more than moderately sure.

mod discovery;
mod panes;

use std::time::{Duration, SystemTime};

use snell::Timestamp;

use crate::db::model::{AgentRow, AgentState, ProcessIdentity, StateSource, to_stored_precision};
use crate::db::rows::{Rows, TranscriptProgress};
use crate::derive::{self, TranscriptDelta};
use crate::error::Result;
use crate::store::{Store, read_transcript_delta};

pub use panes::{TmuxPane, TmuxServerPanes};

/// A turn of which only the transcript tells may have ended without a word there, if it has been quiet for so long.
const QUIET_TURN: Duration = Duration::from_secs(60);

/// An agent of which no hook ever told, and whose process is not known, is gone if its transcript has been quiet for so
/// long.
const QUIET_AGENT: Duration = Duration::from_secs(30 * 60);

/// Which agents are looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReconcileScope {
    /// Every one that is not ended.
    All,
    /// This one.
    Agent(i64),
}

/// An agent, and what is to be read of it.
struct ReconcileCandidate {
    agent: AgentRow,
    progress: TranscriptProgress,
    ids: Vec<String>,
}

/// What was seen of an agent.
struct ReconcileFinding {
    before: AgentRow,
    delta: Option<TranscriptDelta>,
    gone: Option<ProcessIdentity>,
    quiet: Option<QuietConclusion>,
}

/// What follows from a transcript to which nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuietConclusion {
    TurnIsOver,
    AgentIsGone,
}

impl Store {
    /// Looks after agents of which nothing was heard: their transcripts and their processes tell what no hook does.
    /// Doing it twice changes nothing.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written.
    pub fn reconcile_agents(&mut self, which: ReconcileScope, now: Timestamp) -> Result<()> {
        let now = to_stored_precision(now);
        let candidates = self.load_candidates(which)?;
        let findings: Vec<_> =
            candidates.into_iter().filter_map(|candidate| self.inspect_candidate(candidate)).collect();
        if findings.is_empty() {
            return Ok(());
        }
        self.run_transaction("reconciled", now, &mut |rows| {
            findings.iter().try_for_each(|finding| finding.apply(rows, now))
        })
    }

    fn load_candidates(&mut self, which: ReconcileScope) -> Result<Vec<ReconcileCandidate>> {
        self.read_rows(&mut |rows| {
            let mut candidates = Vec::new();
            let agents = match which {
                ReconcileScope::All => rows.list_live_agents()?,
                ReconcileScope::Agent(agent_id) => rows.find_agent(agent_id)?.into_iter().collect(),
            };
            for agent in agents {
                let reached = match &agent.session_id {
                    Some(session) => rows.load_transcript_progress(session)?,
                    None => TranscriptProgress::default(),
                };
                let ids = match agent.conversation_id {
                    Some(conversation) => rows.list_session_ids(conversation)?,
                    None => Vec::new(),
                };
                candidates.push(ReconcileCandidate { agent, progress: reached, ids });
            }
            Ok(candidates)
        })
    }

    fn inspect_candidate(&self, candidate: ReconcileCandidate) -> Option<ReconcileFinding> {
        let ReconcileCandidate { agent, progress: reached, ids } = candidate;
        let path = reached.path.clone().filter(|_| self.is_local_agent(&agent));
        let caught_up = path.clone().map(|path| read_transcript_delta(path, reached, &ids));
        let caught_up = caught_up.filter(TranscriptDelta::has_changes);
        let gone = agent.process.filter(|_| self.is_process_gone(&agent));
        let quiet = path.filter(|_| caught_up.is_none()).and_then(|path| conclude_from_silence(&agent, &path));
        let is_news = caught_up.is_some() || gone.is_some() || quiet.is_some();
        is_news.then_some(ReconcileFinding { before: agent, delta: caught_up, gone, quiet })
    }

    /// Whether the agent's process is certainly gone. Only those of this host can be looked for.
    fn is_process_gone(&self, agent: &AgentRow) -> bool {
        let known = agent.process.filter(|_| agent.process_is_certain);
        self.is_local_agent(agent) && agent.state != AgentState::Ended && known.is_some_and(ProcessIdentity::is_gone)
    }

    /// Whether the agent runs on this host, as far as is known.
    pub(crate) fn is_local_agent(&self, agent: &AgentRow) -> bool {
        agent.host.is_none() || agent.host == self.host
    }
}

impl ReconcileFinding {
    fn apply(&self, rows: &mut dyn Rows, now: Timestamp) -> Result<()> {
        let Some(mut agent) = rows.find_agent(self.before.agent_id)? else {
            return Ok(());
        };
        if let (Some(session), Some(caught_up)) = (&self.before.session_id, &self.delta)
            && agent.session_id.as_ref() == Some(session)
        {
            derive::apply_transcript_delta(rows, &mut agent, session, caught_up, now)?;
        }
        // It may have come back in another process meanwhile.
        if self.gone.is_some() && agent.process == self.gone && agent.state != AgentState::Ended {
            let pid = agent.process.map_or(0, |process| process.pid);
            let why = format!("its process ({pid}) is gone, and it did not say goodbye");
            end_agent(
                rows,
                &mut agent,
                AgentEnding { source: StateSource::Process, why: &why, reason: "process_gone" },
                now,
            )?;
        }
        // Or it may have been heard of.
        if let Some(quiet) = self.quiet.filter(|_| agent == self.before) {
            quiet.apply(rows, &mut agent, now)?;
        }
        rows.save_agent(&mut agent)
    }
}

impl QuietConclusion {
    fn apply(self, rows: &mut dyn Rows, agent: &mut AgentRow, now: Timestamp) -> Result<()> {
        match self {
            Self::TurnIsOver => {
                let why = "nothing has been written to its transcript for a while";
                agent.set_state(AgentState::Idle, StateSource::Transcript, why, now);
            }
            Self::AgentIsGone => {
                let why = "no hook ever told of it, and nothing has been written to its transcript for long";
                end_agent(rows, agent, AgentEnding { source: StateSource::Transcript, why, reason: "silent" }, now)?;
            }
        }
        agent.mark_low_confidence();
        Ok(())
    }
}

/// How an agent ended that did not say so itself.
struct AgentEnding<'a> {
    source: StateSource,
    /// For people.
    why: &'a str,
    /// For programs.
    reason: &'a str,
}

/// Ends an agent, and the conversation that it held.
fn end_agent(rows: &mut dyn Rows, agent: &mut AgentRow, ending: AgentEnding<'_>, now: Timestamp) -> Result<()> {
    agent.mark_ended(ending.source, ending.why, ending.reason, now);
    if let Some(id) = agent.conversation_id
        && let Some(mut conversation) = rows.find_conversation(id)?
    {
        conversation.mark_ended(ending.reason, now);
        rows.save_conversation(&mut conversation)?;
    }
    Ok(())
}

/// What follows from it that nothing is written to a transcript. Where hooks tell what is going on, nothing does.
fn conclude_from_silence(agent: &AgentRow, path: &str) -> Option<QuietConclusion> {
    let written = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    let since = SystemTime::now().duration_since(written).ok()?;
    let untold = agent.state_reported_at.is_none() && agent.process.is_none();
    if untold && agent.state != AgentState::Ended && since > QUIET_AGENT {
        return Some(QuietConclusion::AgentIsGone);
    }
    let by_transcript = agent.state == AgentState::Processing && agent.state_source == StateSource::Transcript;
    (by_transcript && agent.current_tool.is_none() && since > QUIET_TURN).then_some(QuietConclusion::TurnIsOver)
}
