//! The new part of a transcript, and its effects on its agent.

use jiff::SignedDuration;
use snell::Timestamp;

use super::transcript_activity::{self, TranscriptNews};
use super::turns;
use crate::db::model::{AgentRow, AgentState, ContextSource, ConversationRow};
use crate::db::rows::Rows;
use crate::derive::context_usage::ContextWindow;
use crate::derive::transcript::{TranscriptChunk, TranscriptCursor};
use crate::error::Result;

/// A turn that began and ended before the first look at a transcript is shown if it is not older.
const NEW_TURN_WINDOW: SignedDuration = SignedDuration::from_secs(5);

/// The new part of the transcript of an event's session, read before the transaction began.
#[derive(Debug)]
pub(crate) struct TranscriptDelta {
    pub(crate) path: String,
    /// The cursor from which it was read. If the store has another one by now, another process was faster.
    pub(crate) from: Option<String>,
    /// Whether the store had another file.
    pub(crate) is_other_file: bool,
    /// Whether it was read because the session starts.
    pub(crate) session_begins: bool,
    /// Nothing if it could not be read.
    pub(crate) read: Option<TranscriptChunk>,
}

impl TranscriptDelta {
    /// Whether there is anything to store.
    pub(crate) fn has_changes(&self) -> bool {
        let from: Option<TranscriptCursor> = self.from.as_deref().and_then(|mark| mark.parse().ok());
        let further = |read: &TranscriptChunk| !from.as_ref().is_some_and(|from| from.is_same_position(&read.cursor));
        self.is_other_file || self.read.as_ref().is_some_and(further)
    }
}

/// Stores the new part of the transcript of the agent's current session, unless another process has done so.
pub(crate) fn apply_transcript_delta(
    rows: &mut dyn Rows,
    agent: &mut AgentRow,
    mut conversation: Option<&mut ConversationRow>,
    caught_up: &TranscriptDelta,
    now: Timestamp,
) -> Result<()> {
    let Some(session_id) = agent.session_id.clone() else {
        return Ok(());
    };
    let mut reached = rows.load_transcript_progress(&session_id)?;
    if reached.cursor != caught_up.from || !caught_up.has_changes() {
        return Ok(());
    }
    reached.path = Some(caught_up.path.clone());
    if caught_up.is_other_file {
        reached.open_calls = None;
    }
    if let Some(read) = &caught_up.read {
        let entries = match caught_up.from {
            // Entries from before a session start belong to an earlier session.
            None if caught_up.session_begins => &[],
            None => turns::skip_finished_entries(&read.entries),
            Some(_) => read.entries.as_slice(),
        };
        let why_before = agent.why.clone();
        turns::record_transcript_entries(rows, agent, entries, now)?;
        // An interruption or an error, which the activities below know only as an end.
        let why_ended = Some(&agent.why).filter(|why| agent.state == AgentState::Idle && **why != why_before).cloned();
        if !caught_up.session_begins {
            let is_appended = caught_up.from.is_some();
            let shown_since = if is_appended { None } else { now.checked_sub(NEW_TURN_WINDOW).ok() };
            let news = TranscriptNews { activities: &read.activities, is_appended, shown_since, now };
            transcript_activity::apply_activities(rows, agent, &mut reached, &news)?;
            if let Some(why) = why_ended.filter(|_| agent.state == AgentState::Idle) {
                agent.why = why;
            }
        }
        reached.cursor = Some(read.cursor.to_string());
    }
    if let (Some(conversation), Some(model)) =
        (&mut conversation, caught_up.read.as_ref().and_then(|read| read.model.as_ref()))
    {
        conversation.model = Some(model.clone());
    }
    if let Some(usage) = caught_up.read.as_ref().and_then(|read| read.usage.as_ref())
        && agent.context_source != Some(ContextSource::StatusLine)
    {
        let window = ContextWindow::of_session(agent, conversation.as_deref());
        agent.context_percent = Some(window.compute_percent(usage));
        agent.context_source = Some(ContextSource::Transcript);
    }
    rows.save_transcript_progress(&session_id, &reached)
}
