//! The reconciler: checks agents without recent events by their transcripts, processes and terminals.
//!
//! It reads first and writes later, and a hook event may come in between. So a finding is used only if nothing newer is
//! known when it is written, and its confidence is never high.

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

/// A turn that only the transcript reports has ended if nothing was written for this long.
const QUIET_TURN: Duration = Duration::from_secs(60);

/// An agent without hook events and without a known process has ended if its transcript has not changed for this long.
const QUIET_AGENT: Duration = Duration::from_secs(30 * 60);

/// The agents to check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReconcileScope {
    /// All that have not ended.
    All,
    /// This one.
    Agent(i64),
}

/// An agent, and its data to read.
struct ReconcileCandidate {
    agent: AgentRow,
    progress: TranscriptProgress,
    ids: Vec<String>,
}

/// The finding about an agent.
struct ReconcileFinding {
    before: AgentRow,
    delta: Option<TranscriptDelta>,
    gone: Option<ProcessIdentity>,
    quiet: Option<QuietConclusion>,
}

/// The conclusion from a transcript that does not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum QuietConclusion {
    TurnIsOver,
    AgentIsGone,
}

impl Store {
    /// Checks agents without recent events by their transcripts and processes. Running it twice has no further effect.
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

    /// Whether the agent's process is certainly gone. Only processes of this host can be checked.
    fn is_process_gone(&self, agent: &AgentRow) -> bool {
        let known = agent.process.filter(|_| agent.process_is_certain);
        self.is_local_agent(agent) && agent.state != AgentState::Ended && known.is_some_and(ProcessIdentity::is_gone)
    }

    /// Whether the agent runs on this host, as far as known.
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
        // It may run in another process again.
        if self.gone.is_some() && agent.process == self.gone && agent.state != AgentState::Ended {
            let pid = agent.process.map_or(0, |process| process.pid);
            let why = format!("its process ({pid}) exited without a SessionEnd event");
            end_agent(
                rows,
                &mut agent,
                AgentEnding { source: StateSource::Process, why: &why, reason: "process_gone" },
                now,
            )?;
        }
        // It may have sent an event.
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
                let why = "its transcript has not changed for a while";
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

/// The end of an agent without a `SessionEnd` event.
struct AgentEnding<'a> {
    source: StateSource,
    /// For people.
    why: &'a str,
    /// For programs.
    reason: &'a str,
}

/// Ends an agent and its current conversation.
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

/// The conclusion from a transcript that does not change; nothing if hooks report the agent's state.
fn conclude_from_silence(agent: &AgentRow, path: &str) -> Option<QuietConclusion> {
    let written = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    let since = SystemTime::now().duration_since(written).ok()?;
    let is_unreported = agent.state_reported_at.is_none() && agent.process.is_none();
    if is_unreported && agent.state != AgentState::Ended && since > QUIET_AGENT {
        return Some(QuietConclusion::AgentIsGone);
    }
    let by_transcript = agent.state == AgentState::Processing && agent.state_source == StateSource::Transcript;
    (by_transcript && agent.current_tool.is_none() && since > QUIET_TURN).then_some(QuietConclusion::TurnIsOver)
}
