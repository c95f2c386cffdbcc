//! Looking after agents of which nothing was heard: their transcripts, processes and terminals tell what no hook does.
//!
//! Whoever looks reads first and writes afterwards, and in between a hook may have told more. So what was seen counts only
//! if nothing newer is known by the time it is written, and it is never more than moderately sure.

mod discovery;
mod panes;

use std::time::{Duration, SystemTime};

use snell::Timestamp;

use crate::error::Result;
use crate::ingest::{self, CaughtUp};
use crate::model::{Agent, Process, Source, State, as_kept};
use crate::rows::{Reached, Rows};
use crate::store::{Store, read_on};

pub use panes::{Pane, PaneServer};

/// A turn of which only the transcript tells may have ended without a word there, if it has been quiet for so long.
const QUIET_TURN: Duration = Duration::from_secs(60);

/// An agent of which no hook ever told, and whose process is not known, is gone if its transcript has been quiet for so
/// long.
const QUIET_AGENT: Duration = Duration::from_secs(30 * 60);

/// Which agents are looked after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Every one that is not ended.
    All,
    /// This one.
    Agent(i64),
}

/// An agent, and what is to be read of it.
struct Candidate {
    agent: Agent,
    reached: Reached,
    ids: Vec<String>,
}

/// What was seen of an agent.
struct Finding {
    before: Agent,
    caught_up: Option<CaughtUp>,
    gone: Option<Process>,
    quiet: Option<Quiet>,
}

/// What follows from a transcript to which nothing is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quiet {
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
    pub fn reconcile(&mut self, which: Which, now: Timestamp) -> Result<()> {
        let now = as_kept(now);
        let candidates = self.candidates(which)?;
        let findings: Vec<_> = candidates
            .into_iter()
            .filter_map(|candidate| self.look_at(candidate))
            .collect();
        if findings.is_empty() {
            return Ok(());
        }
        self.change("reconciled", now, &mut |rows| {
            findings.iter().try_for_each(|finding| finding.apply(rows, now))
        })
    }

    fn candidates(&mut self, which: Which) -> Result<Vec<Candidate>> {
        let mut candidates = Vec::new();
        self.backend.look(&mut |rows| {
            candidates.clear();
            let agents = match which {
                Which::All => rows.agents_at_work()?,
                Which::Agent(agent_id) => rows.agent(agent_id)?.into_iter().collect(),
            };
            for agent in agents {
                let reached = match &agent.session_id {
                    Some(session) => rows.reached(session)?,
                    None => Reached::default(),
                };
                let ids = match agent.conversation_id {
                    Some(conversation) => rows.session_ids(conversation)?,
                    None => Vec::new(),
                };
                candidates.push(Candidate { agent, reached, ids });
            }
            Ok(())
        })?;
        Ok(candidates)
    }

    fn look_at(&self, candidate: Candidate) -> Option<Finding> {
        let Candidate { agent, reached, ids } = candidate;
        let path = reached.path.clone().filter(|_| self.is_here(&agent));
        let caught_up = path.clone().map(|path| read_on(path, reached, &ids));
        let caught_up = caught_up.filter(CaughtUp::is_news);
        let gone = agent.process.filter(|_| self.is_gone(&agent));
        let quiet = path
            .filter(|_| caught_up.is_none())
            .and_then(|path| quiet(&agent, &path));
        let is_news = caught_up.is_some() || gone.is_some() || quiet.is_some();
        is_news.then_some(Finding {
            before: agent,
            caught_up,
            gone,
            quiet,
        })
    }

    /// Whether the agent's process is certainly gone. Only those of this host can be looked for.
    fn is_gone(&self, agent: &Agent) -> bool {
        let known = agent.process.filter(|_| agent.process_is_certain);
        self.is_here(agent) && agent.state != State::Ended && known.is_some_and(Process::is_gone)
    }

    /// Whether the agent runs on this host, as far as is known.
    pub(crate) fn is_here(&self, agent: &Agent) -> bool {
        agent.host.is_none() || agent.host == self.host
    }
}

impl Finding {
    fn apply(&self, rows: &mut dyn Rows, now: Timestamp) -> Result<()> {
        let Some(mut agent) = rows.agent(self.before.agent_id)? else {
            return Ok(());
        };
        if let (Some(session), Some(caught_up)) = (&self.before.session_id, &self.caught_up)
            && agent.session_id.as_ref() == Some(session)
        {
            ingest::catch_up(rows, &mut agent, session, caught_up, now)?;
        }
        // It may have come back in another process meanwhile.
        if self.gone.is_some() && agent.process == self.gone && agent.state != State::Ended {
            let pid = agent.process.map_or(0, |process| process.pid);
            let why = format!("its process ({pid}) is gone, and it did not say goodbye");
            end(rows, &mut agent, Source::Process, &why, "process_gone", now)?;
        }
        // Or it may have been heard of.
        if let Some(quiet) = self.quiet.filter(|_| agent == self.before) {
            quiet.apply(rows, &mut agent, now)?;
        }
        rows.save_agent(&mut agent)
    }
}

impl Quiet {
    fn apply(self, rows: &mut dyn Rows, agent: &mut Agent, now: Timestamp) -> Result<()> {
        match self {
            Self::TurnIsOver => {
                let why = "nothing has been written to its transcript for a while";
                agent.turn_to(State::Idle, Source::Transcript, why, now);
            }
            Self::AgentIsGone => {
                let why = "no hook ever told of it, and nothing has been written to its transcript for long";
                end(rows, agent, Source::Transcript, why, "silent", now)?;
            }
        }
        agent.is_guessed();
        Ok(())
    }
}

/// Ends an agent, and the conversation that it held.
fn end(rows: &mut dyn Rows, agent: &mut Agent, source: Source, why: &str, reason: &str, now: Timestamp) -> Result<()> {
    agent.end(source, why, reason, now);
    if let Some(id) = agent.conversation_id
        && let Some(mut conversation) = rows.conversation(id)?
    {
        conversation.end(reason, now);
        rows.save_conversation(&mut conversation)?;
    }
    Ok(())
}

/// What follows from it that nothing is written to a transcript. Where hooks tell what is going on, nothing does.
fn quiet(agent: &Agent, path: &str) -> Option<Quiet> {
    let written = std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    let since = SystemTime::now().duration_since(written).ok()?;
    let untold = agent.told_at.is_none() && agent.process.is_none();
    if untold && agent.state != State::Ended && since > QUIET_AGENT {
        return Some(Quiet::AgentIsGone);
    }
    let by_transcript = agent.state == State::Processing && agent.state_source == Source::Transcript;
    (by_transcript && agent.current_tool.is_none() && since > QUIET_TURN).then_some(Quiet::TurnIsOver)
}
