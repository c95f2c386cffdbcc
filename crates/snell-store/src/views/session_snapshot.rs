//! What is known of a session before its agent is answered, and what the agent was then told about itself.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use snell::Timestamp;

use crate::db::model::{AgentRow, AgentState, ContextSource, ConversationRow};
use crate::db::rows::{Rows, TranscriptProgress};
use crate::db::workers::SessionWorker;
use crate::derive::context_usage;
use crate::derive::transcript::ContextUsage;
use crate::error::{Result, StoreError, format_error_chain};
use crate::store::{Store, read_transcript_delta, transcript_may_have_grown};

/// Of more workers than this an agent is told another time.
const MAX_REPORTED_WORKERS: u32 = 100;

/// A question about the session of an event that is not recorded yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotQuery {
    /// The ids of the session, the launcher's first.
    pub session_ids: Vec<String>,
    /// The agent's own id of the session, to which the transcript belongs.
    pub own_session_id: Option<String>,
    /// The transcript, which may have grown since the last event.
    pub transcript_path: Option<PathBuf>,
    /// How many tokens fit into the context, where the user says so.
    pub context_window: Option<u32>,
    /// Whether finished workers are asked for as well.
    pub workers: bool,
}

/// What is known of a session. Of one that nobody has heard of, nothing but what its transcript shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionSnapshot {
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// How full its context is, in percent.
    pub context_percent: Option<f64>,
    /// The highest threshold of context use, in percent, that its agent was told of when it stopped.
    pub stop_level: u8,
    /// The same, with a prompt.
    pub prompt_level: u8,
    /// What its agent says that it is working on.
    pub status_text: Option<String>,
    /// Whether the agent was told to say what it is working on.
    pub status_reminded: bool,
    /// Whether the agent has given a sign of itself.
    pub pinged: bool,
    /// Whether the agent was told to give a sign of itself before it ends.
    pub ping_reminded: bool,
    /// Workers that have finished and of which the agent was not told, the earliest first.
    pub workers: Vec<FinishedWorker>,
}

/// A worker that has finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedWorker {
    /// Its number.
    pub worker_id: i64,
    /// What it is: `subagent`, `task` or `other`.
    pub kind: String,
    /// By which it is told from others.
    pub name: String,
    /// What it is or does, in a few words.
    pub label: Option<String>,
    /// Whether it did what it should.
    pub succeeded: bool,
    /// How long it took, if that is known.
    pub took_us: Option<u64>,
    /// Its last words.
    pub summary: Option<String>,
}

/// What an agent was told about itself with the answer to an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReminderRecord {
    /// The threshold of context use that counts as told when it stops, from now on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_level: Option<u8>,
    /// The same, with a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_level: Option<u8>,
    /// That it should say what it is working on.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub status: bool,
    /// That it should give a sign of itself before it ends.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ping: bool,
    /// Workers that have finished, by their numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<i64>,
}

impl ReminderRecord {
    /// Whether the agent was told nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// What is known of a session, before an event of it is recorded. Nothing is written.
    ///
    /// # Errors
    ///
    /// When the database cannot be read. A transcript that cannot be read says nothing.
    pub fn load_session_snapshot(&mut self, query: &SnapshotQuery) -> Result<SessionSnapshot> {
        let known = self.read_rows(&mut |rows| StoredSession::load(rows, query))?;
        // Nobody waits for the database while a file is read.
        let context_percent = known.compute_context_percent(query);
        let Some(conversation) = known.conversation else {
            return Ok(SessionSnapshot { context_percent, ..SessionSnapshot::default() });
        };
        Ok(SessionSnapshot {
            started_at: Some(conversation.started_at),
            context_percent,
            stop_level: conversation.reminders.stop_level,
            prompt_level: conversation.reminders.prompt_level,
            status_text: conversation.status_text,
            status_reminded: conversation.reminders.status,
            pinged: conversation.pinged_at.is_some(),
            ping_reminded: conversation.reminders.ping,
            workers: known.workers.into_iter().map(SessionWorker::into_finished_worker).collect(),
        })
    }
}

/// What people are told when an agent is answered without what is known of its session.
pub fn format_snapshot_error(error: &StoreError) -> String {
    let error = format_error_chain(error);
    format!("cannot look up what is known of the session ({error}); no reminders are given")
}

/// What the database has about a session.
#[derive(Debug, Default)]
struct StoredSession {
    conversation: Option<ConversationRow>,
    /// Its agent, unless that has left it for another one.
    agent: Option<AgentRow>,
    /// How far its transcript was read.
    progress: TranscriptProgress,
    /// The ids under which its transcript may speak of it.
    ids: Vec<String>,
    workers: Vec<SessionWorker>,
}

impl StoredSession {
    fn load(rows: &mut dyn Rows, query: &SnapshotQuery) -> Result<Self> {
        let own = query.own_session_id.as_deref();
        let mut ids: Vec<_> = own.map(str::to_owned).into_iter().collect();
        let Some((agent, conversation)) = find_conversation(rows, query)? else {
            return Ok(Self { ids, ..Self::default() });
        };
        let id = conversation.conversation_id;
        ids.extend(rows.list_session_ids(id)?);
        let workers = if query.workers { rows.list_unreported_workers(id, MAX_REPORTED_WORKERS)? } else { Vec::new() };
        Ok(Self {
            agent: Some(agent).filter(|agent| agent.conversation_id == Some(id)),
            conversation: Some(conversation),
            progress: own.map_or(Ok(TranscriptProgress::default()), |own| rows.load_transcript_progress(own))?,
            ids,
            workers,
        })
    }

    /// What the agent's status line says, else what was counted last.
    fn compute_context_percent(&self, query: &SnapshotQuery) -> Option<f64> {
        let path = query.transcript_path.as_deref().and_then(|path| path.to_str());
        let Some(agent) = &self.agent else {
            // What the store has read of it was about an agent that is elsewhere now.
            let usage = path.and_then(|path| read_last_usage(path, &TranscriptProgress::default(), &self.ids));
            return usage.map(|usage| context_usage::compute_context_percent(&usage, query.context_window));
        };
        if agent.context_source == Some(ContextSource::StatusLine) {
            return agent.context_percent;
        }
        let usage = path.and_then(|path| read_last_usage(path, &self.progress, &self.ids));
        let window = query.context_window.or(agent.context_window);
        let newest = usage.map(|usage| context_usage::compute_context_percent(&usage, window));
        newest.or(agent.context_percent)
    }
}

/// The conversation that the ids lead to, and its agent. The agent's own id comes first: the launcher's may have been
/// inherited, and it was if whoever has it is in the middle of something under another id.
fn find_conversation(rows: &mut dyn Rows, query: &SnapshotQuery) -> Result<Option<(AgentRow, ConversationRow)>> {
    let own = query.own_session_id.as_deref();
    for id in own.into_iter().chain(query.session_ids.iter().map(String::as_str)) {
        let Some(known) = rows.find_session_binding(id)? else {
            continue;
        };
        let (agent, conversation) = (rows.find_agent(known.agent_id)?, rows.find_conversation(known.conversation_id)?);
        let (Some(agent), Some(conversation)) = (agent, conversation) else {
            continue;
        };
        let is_at_work = matches!(agent.state, AgentState::Processing | AgentState::AwaitingInput);
        if own.is_none() || own == Some(id) || !is_at_work {
            return Ok(Some((agent, conversation)));
        }
    }
    Ok(None)
}

/// What was counted last in a transcript after this. Of very much that is new, the end counts.
fn read_last_usage(path: &str, reached: &TranscriptProgress, ids: &[String]) -> Option<ContextUsage> {
    if !transcript_may_have_grown(path, reached) {
        return None;
    }
    let read = read_transcript_delta(path.to_owned(), reached.clone(), ids).read?;
    if read.more {
        return read_transcript_delta(path.to_owned(), TranscriptProgress::default(), ids).read?.usage;
    }
    read.usage
}
