//! The data of a session before its agent gets an answer, and the reminders in that answer.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use snell::{Timestamp, TranscriptFormat};

use crate::db::model::{AgentRow, AgentState, ContextSource, ConversationRow};
use crate::db::rows::{Rows, TranscriptProgress};
use crate::db::workers::SessionWorker;
use crate::derive::context_usage::ContextWindow;
use crate::derive::transcript::ContextUsage;
use crate::error::{Result, StoreError, format_error_chain};
use crate::store::{Store, read_transcript_delta, transcript_may_have_grown};

/// How many workers one answer reports. The others are reported later.
const MAX_REPORTED_WORKERS: u32 = 100;

/// A question about the session of an event that is not recorded yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotQuery {
    /// The ids of the session, the launcher's first.
    pub session_ids: Vec<String>,
    /// The agent's own id of the session, which is the transcript's.
    pub own_session_id: Option<String>,
    /// The transcript, which may have grown since the last event.
    pub transcript_path: Option<PathBuf>,
    /// The size of the context in tokens, if the user set it.
    pub context_window: Option<u32>,
    /// Whether to include finished workers.
    pub workers: bool,
}

/// The data of a session. For an unknown session it is only the transcript's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionSnapshot {
    /// The time of its first event.
    pub started_at: Option<Timestamp>,
    /// Its context usage, in percent.
    pub context_percent: Option<f64>,
    /// The highest threshold of context usage, in percent, that a reminder at a stop named.
    pub stop_level: u8,
    /// The same, with a prompt.
    pub prompt_level: u8,
    /// Its agent's own report of its work.
    pub status_text: Option<String>,
    /// Whether the agent got the reminder to report a status.
    pub status_reminded: bool,
    /// Whether the agent has sent a ping.
    pub pinged: bool,
    /// Whether the agent got the reminder to ping before it ends.
    pub ping_reminded: bool,
    /// Finished workers that are not reported to the agent yet, the earliest first.
    pub workers: Vec<FinishedWorker>,
}

/// A finished worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FinishedWorker {
    /// Its id.
    pub worker_id: i64,
    /// Its kind: `subagent`, `task` or `other`.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// A short description.
    pub label: Option<String>,
    /// Whether it succeeded.
    pub succeeded: bool,
    /// Its duration, if known.
    pub took_us: Option<u64>,
    /// Its last message.
    pub summary: Option<String>,
}

/// The reminders in the answer to an event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReminderRecord {
    /// The threshold of context usage in the reminder at a stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_level: Option<u8>,
    /// The same, with a prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_level: Option<u8>,
    /// The reminder to report a status.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub status: bool,
    /// The reminder to ping before the session ends.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ping: bool,
    /// The ids of the finished workers in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<i64>,
}

impl ReminderRecord {
    /// Whether there were no reminders.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// Loads the data of a session before its event is recorded. Writes nothing.
    ///
    /// # Errors
    ///
    /// When the database cannot be read. A transcript that cannot be read is ignored.
    pub fn load_session_snapshot(&mut self, query: &SnapshotQuery) -> Result<SessionSnapshot> {
        let known = self.read_rows(&mut |rows| StoredSession::load(rows, query))?;
        // Outside of a transaction, so that other processes do not wait while a file is read.
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

/// The warning about an answer without the session's data.
pub fn format_snapshot_error(error: &StoreError) -> String {
    let error = format_error_chain(error);
    format!("cannot read the session ({error}), so Snell gives no reminders")
}

/// The database's data of a session.
#[derive(Debug, Default)]
struct StoredSession {
    conversation: Option<ConversationRow>,
    /// Its agent, unless that left it for another session.
    agent: Option<AgentRow>,
    /// The position in its transcript.
    progress: TranscriptProgress,
    /// The session ids that its transcript may use.
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

    /// The percentage of the agent's status line, else the last count.
    fn compute_context_percent(&self, query: &SnapshotQuery) -> Option<f64> {
        let path = query.transcript_path.as_deref().and_then(|path| path.to_str());
        let Some(agent) = &self.agent else {
            // The stored position is that of an agent that is elsewhere now.
            let usage = path.and_then(|path| read_last_usage(path, &TranscriptProgress::default(), &self.ids));
            let window = ContextWindow { configured: query.context_window, ..ContextWindow::default() };
            return usage.map(|usage| window.compute_percent(&usage));
        };
        if agent.context_source == Some(ContextSource::StatusLine) {
            return agent.context_percent;
        }
        let usage = path.and_then(|path| read_last_usage(path, &self.progress, &self.ids));
        let stored = ContextWindow::of_session(agent, self.conversation.as_ref());
        let window = ContextWindow { configured: query.context_window.or(stored.configured), ..stored };
        let newest = usage.map(|usage| window.compute_percent(&usage));
        newest.or(agent.context_percent)
    }
}

/// The conversation with these ids, and its agent. The agent's own id comes first: the launcher's may be inherited, and
/// it is if its agent is busy under another id.
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

/// The last token count in a transcript after this position. If there is very much new content, only its end is read.
fn read_last_usage(path: &str, reached: &TranscriptProgress, ids: &[String]) -> Option<ContextUsage> {
    if !transcript_may_have_grown(path, reached) {
        return None;
    }
    // Only Claude Code's transcripts have counts.
    let read_after = |reached| read_transcript_delta(path.to_owned(), TranscriptFormat::ClaudeJsonl, reached, ids).read;
    let read = read_after(reached.clone())?;
    if read.more {
        return read_after(TranscriptProgress::default())?.usage;
    }
    read.usage
}
