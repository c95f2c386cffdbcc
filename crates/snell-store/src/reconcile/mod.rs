//! The reconciler: checks agents without recent events by their transcripts, processes and terminals.
//!
//! It reads first and writes later, and a hook event may come in between. So a finding is used only if nothing newer is
//! known when it is written, and its confidence is never high.

mod discovery;
mod panes;
mod session_file;
mod silence;
mod watch_targets;

use std::time::Duration;

use snell::{AgentProduct, Timestamp};

use crate::db::model::{AgentRow, AgentState, ProcessIdentity, StateSource, to_stored_precision};
use crate::db::rows::{Rows, TranscriptProgress};
use crate::derive::transcript::{ActivityKind, TranscriptEntry};
use crate::derive::{self, TranscriptDelta};
use crate::error::Result;
use crate::store::{Store, read_transcript_delta};

pub use discovery::TranscriptDirectory;
pub use panes::{TmuxPane, TmuxServerPanes};
use session_file::SessionFileStatus;
use silence::{QuietConclusion, TranscriptSilence};
pub use watch_targets::{FileFingerprint, WatchTarget};

/// A line that ends a turn is read before the `Stop` event arrives, and a `Stop` hook may make the agent continue. Without
/// hooks, a queued prompt or the call of the same message may follow. So the end counts only after this time.
const STOP_EVENT_GRACE: Duration = Duration::from_millis(450);

/// Hooks of a `Stop` event run at most this long.
const MAX_STOP_HOOKS: Duration = Duration::from_secs(10 * 60);

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
    /// Since when the agent waits for a prompt by its session file, if an older event said that it works.
    idle_since: Option<Timestamp>,
    quiet: Option<QuietConclusion>,
    /// The last sign of life of an agent that works, if that was long ago.
    silent_since: Option<Timestamp>,
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
            candidates.into_iter().filter_map(|candidate| self.inspect_candidate(candidate, now)).collect();
        if findings.is_empty() {
            return Ok(());
        }
        self.run_transaction("reconciled", now, &mut |rows| {
            findings.iter().try_for_each(|finding| finding.apply(rows, now))
        })
    }

    /// Ends agents whose terminal was closed. Their processes may need a while to end.
    ///
    /// # Errors
    ///
    /// When the database cannot be read or written.
    pub fn end_hung_up_agents(&mut self, agents: &[i64], now: Timestamp) -> Result<()> {
        let now = to_stored_precision(now);
        self.run_transaction("reconciled", now, &mut |rows| {
            for agent_id in agents {
                let Some(mut agent) = rows.find_agent(*agent_id)?.filter(ends_with_terminal) else {
                    continue;
                };
                let why = "its terminal was closed";
                let ending = AgentEnding { source: StateSource::Process, why, reason: "terminal_closed" };
                end_agent(rows, &mut agent, ending, now)?;
                rows.save_agent(&mut agent)?;
            }
            Ok(())
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

    fn inspect_candidate(&self, candidate: ReconcileCandidate, now: Timestamp) -> Option<ReconcileFinding> {
        let ReconcileCandidate { agent, progress: reached, ids } = candidate;
        let path = reached.path.clone().filter(|_| self.is_local_agent(&agent));
        let format = AgentProduct::for_recorded_name(agent.product.as_deref()).transcript;
        let caught_up = path.clone().map(|path| read_transcript_delta(path, format, reached, &ids));
        let gone = agent.process.filter(|_| self.is_process_gone(&agent));
        let status = path.as_deref().map_or(SessionFileStatus::Unknown, |path| session_file::read_status(&agent, path));
        let caught_up = caught_up
            .filter(|delta| delta.has_changes() && !(gone.is_none() && awaits_stop_event(&agent, delta, status, now)));
        let idle_since = match status {
            SessionFileStatus::IdleSince(since) if is_interruptible(&agent, since) => Some(since),
            _ => None,
        };
        let silence = TranscriptSilence { agent: &agent, status, now };
        let silent_since = self.is_local_agent(&agent).then(|| silence.find_last_sign(path.as_deref())).flatten();
        let quiet = path.filter(|_| caught_up.is_none()).and_then(|path| silence.conclude(&path));
        let is_news = caught_up.is_some() || gone.is_some() || idle_since.is_some() || quiet.is_some();
        let is_news = is_news || silent_since != agent.silent_since;
        is_news.then_some(ReconcileFinding { before: agent, delta: caught_up, gone, idle_since, quiet, silent_since })
    }

    /// Whether the agent's process is certainly gone. Only processes of this host can be checked.
    fn is_process_gone(&self, agent: &AgentRow) -> bool {
        let known = agent.process.filter(|_| agent.process_is_certain);
        self.is_local_agent(agent) && agent.state != AgentState::Ended && known.is_some_and(ProcessIdentity::is_gone)
    }

    /// Whether the agent runs on this host, as far as known.
    pub(crate) fn is_local_agent(&self, agent: &AgentRow) -> bool {
        self.is_local_host(agent.host.as_deref())
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
            let conversation = agent.conversation_id.map(|id| rows.find_conversation(id)).transpose()?.flatten();
            let mut current = conversation.clone();
            derive::apply_transcript_delta(rows, &mut agent, current.as_mut(), caught_up, now)?;
            if let Some(current) = current.as_mut().filter(|current| Some(&**current) != conversation.as_ref()) {
                rows.save_conversation(current)?;
            }
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
        let is_same_session = agent.session_id == self.before.session_id;
        if self.idle_since.is_some_and(|since| is_same_session && is_interruptible(&agent, since)) {
            let why = "it waits for a prompt, and no event reported the end of its turn";
            agent.set_state(AgentState::Idle, StateSource::Process, why, now);
        }
        // It may have sent an event.
        if let Some(quiet) = self.quiet.filter(|_| agent == self.before) {
            quiet.apply(rows, &mut agent, now)?;
        }
        // It may have done so meanwhile.
        let has_slept = agent.last_seen_at == self.before.last_seen_at && agent.state == AgentState::Processing;
        agent.silent_since = self.silent_since.filter(|_| has_slept);
        rows.save_agent(&mut agent)
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

/// Whether the agent ends when its terminal is closed.
fn ends_with_terminal(agent: &AgentRow) -> bool {
    agent.state != AgentState::Ended && agent.process.is_some_and(|process| !process.ignores_hangup())
}

/// Whether the agent's state is outdated if it has waited for a prompt since then. A question at the end of a turn is
/// not: the agent waits for the answer as it does for a prompt.
fn is_interruptible(agent: &AgentRow, since: Timestamp) -> bool {
    // While a wake-up is scheduled, Claude Code waits for a prompt.
    let sleeps = agent.background.is_some_and(|work| work.wakeups > 0);
    let is_at_work = match agent.state {
        AgentState::Processing => !sleeps,
        AgentState::AwaitingInput => agent.current_tool.is_some(),
        AgentState::Idle | AgentState::Ended => false,
    };
    is_at_work && agent.state_reported_at.is_none_or(|reported_at| reported_at < since)
}

/// Whether the transcript shows the end of a turn that a `Stop` event may still report, or that may go on. An interruption or
/// an API error fires none. The session file shows that hooks of the event still run; without one, the processes that the
/// agent has started since.
fn awaits_stop_event(agent: &AgentRow, delta: &TranscriptDelta, status: SessionFileStatus, now: Timestamp) -> bool {
    let Some(read) = &delta.read else {
        return false;
    };
    let is_unknown = status == SessionFileStatus::Unknown;
    let is_cut_off =
        matches!(read.entries.last(), Some(TranscriptEntry::Interrupted { .. } | TranscriptEntry::ApiError { .. }));
    let is_end = |kind: &ActivityKind| matches!(kind, ActivityKind::EndedTurn | ActivityKind::LeftSubagents(_));
    let ended_at = read.last_activity().filter(|activity| is_end(&activity.kind));
    let age = ended_at.and_then(|activity| activity.at).map(|at| now.duration_since(at).unsigned_abs());
    let is_reported = agent.state_reported_at.is_some();
    let is_recent = age.is_some_and(|age| {
        let runs_hooks = || is_unknown && is_reported && runs_hooks_since(agent, age);
        age < STOP_EVENT_GRACE || status == SessionFileStatus::Busy || runs_hooks()
    });
    agent.state == AgentState::Processing && !is_cut_off && is_recent
}

/// Whether a process runs that the agent has started since the end of its turn, so long ago.
fn runs_hooks_since(agent: &AgentRow, age: Duration) -> bool {
    age < MAX_STOP_HOOKS && agent.process.is_some_and(|process| process.has_child_younger_than(age))
}
