//! Workers: what an agent has started and does not wait for. What is known of one, and what a database must be able to do
//! with them.

use serde::Serialize;
use snell::Timestamp;

use crate::db::journal::Journal;
use crate::db::model::{to_stored_precision, words};
use crate::db::rows::Rows;
use crate::error::Result;
use crate::record::redaction::mask_secrets;
use crate::record::text_limits::{sanitize_text_within, truncate_middle};
use crate::store::Store;
use crate::views::query_types::truncate_with_ellipsis;
use crate::views::session_snapshot::FinishedWorker;

/// The longest name, in characters, and the longest label.
const MAX_NAME_CHARS: usize = 200;

/// The longest summary that is kept.
const MAX_SUMMARY_BYTES: usize = 2 * 1024;

words! {
    /// What a worker is.
    WorkerKind {
        /// An agent inside the agent.
        Subagent = "subagent",
        /// A task of the agent, or a command in the background.
        Task = "task",
        /// Anything else that says so.
        Other = "other",
    }
}

words! {
    /// How a worker stands.
    WorkerStatus {
        /// It works.
        Running = "running",
        /// It did what it should.
        Done = "done",
        /// It did not.
        Failed = "failed",
    }
}

/// One worker of a session, as the table `workers` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionWorker {
    /// Its number. Zero while it has none.
    pub worker_id: i64,
    /// The session that has it, by its number.
    #[serde(skip)]
    pub conversation_id: i64,
    /// What it is.
    pub kind: WorkerKind,
    /// By which it is told from others of its kind: an id, or what its user calls it.
    pub name: String,
    /// What it is or does, in a few words.
    pub label: Option<String>,
    /// How it stands.
    pub status: WorkerStatus,
    /// Whether the agent lists it among its tasks in the background for as long as it runs.
    #[serde(skip)]
    pub(crate) in_background: bool,
    /// When it began, if that is known.
    pub started_at: Option<Timestamp>,
    /// When it finished.
    pub finished_at: Option<Timestamp>,
    /// Its last words, or what else there is to say.
    pub summary: Option<String>,
    /// When its agent was told that it has finished.
    pub reported_at: Option<Timestamp>,
}

/// What somebody says about a worker of a session that no event tells of.
#[derive(Clone, Debug)]
pub struct WorkerUpdate<'a> {
    /// The session, by its number.
    pub conversation_id: i64,
    /// By which it is told from the session's other workers.
    pub name: &'a str,
    /// What it is or does, in a few words.
    pub label: Option<&'a str>,
    /// How it stands.
    pub status: WorkerStatus,
    /// Its last words.
    pub summary: Option<&'a str>,
}

impl SessionWorker {
    /// One that was just heard of, and of which it is not known since when it runs. It has no number yet.
    pub(crate) fn new(conversation_id: i64, kind: WorkerKind, name: &str) -> Self {
        Self {
            worker_id: 0,
            conversation_id,
            kind,
            name: name.to_owned(),
            label: None,
            status: WorkerStatus::Running,
            in_background: false,
            started_at: None,
            finished_at: None,
            summary: None,
            reported_at: None,
        }
    }

    /// Notes that it begins, perhaps once more.
    pub(crate) fn mark_started(&mut self, at: Timestamp) {
        self.status = WorkerStatus::Running;
        self.started_at = Some(to_stored_precision(at));
        (self.finished_at, self.summary, self.reported_at) = (None, None, None);
    }

    /// Notes that it has finished. What is said of it that was not known before is added.
    pub(crate) fn mark_finished(&mut self, status: WorkerStatus, summary: Option<&str>, at: Timestamp) {
        self.status = status;
        self.finished_at = Some(to_stored_precision(at));
        if let Some(summary) = summary.map(str::trim).filter(|summary| !summary.is_empty()) {
            self.summary = Some(truncate_middle(summary, MAX_SUMMARY_BYTES).into_owned());
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.status == WorkerStatus::Running
    }

    /// What its agent is told of it.
    pub(crate) fn into_finished_worker(self) -> FinishedWorker {
        let took = self.started_at.zip(self.finished_at);
        let took = took.map(|(from, to)| to.as_microsecond() - from.as_microsecond());
        FinishedWorker {
            worker_id: self.worker_id,
            kind: self.kind.as_str().to_owned(),
            name: self.name,
            label: self.label,
            succeeded: self.status == WorkerStatus::Done,
            took_us: took.and_then(|took| u64::try_from(took).ok()),
            summary: self.summary,
        }
    }
}

impl Store {
    /// Notes what somebody says about a worker, and answers the worker. One that its agent was told of is over: from then
    /// on, a worker of the same name is another one.
    ///
    /// # Errors
    ///
    /// When there is no such session, or the database cannot be written.
    pub fn record_worker_update(&mut self, note: &WorkerUpdate<'_>, at: Timestamp) -> Result<SessionWorker> {
        let at = to_stored_precision(at);
        let name = normalize_name(&mask_secrets(note.name)).unwrap_or_default();
        self.run_transaction("Worker", at, &mut |journal: &mut Journal<'_>| {
            let conversation = journal.require_conversation(note.conversation_id)?;
            let mut known = journal.find_worker(note.conversation_id, WorkerKind::Other, &name)?;
            // It may have been handed on since whoever speaks of it was started.
            if known.is_none()
                && let Some(current) =
                    journal.find_agent(conversation.agent_id)?.and_then(|agent| agent.conversation_id)
            {
                known = journal.find_worker(current, WorkerKind::Other, &name)?.filter(SessionWorker::is_running);
            }
            let mut worker = apply_worker_update(known, &name, note, at);
            journal.save_worker(&mut worker)?;
            journal.refresh_card(conversation.agent_id)?;
            Ok(worker)
        })
    }
}

/// What becomes of the last worker of this name, or a new one. Nothing here looks anywhere.
fn apply_worker_update(
    known: Option<SessionWorker>,
    name: &str,
    note: &WorkerUpdate<'_>,
    at: Timestamp,
) -> SessionWorker {
    let starts = note.status == WorkerStatus::Running;
    // What has finished and was not told yet must not be lost because the next one of this name begins.
    let goes_on = |worker: &SessionWorker| worker.reported_at.is_none() && (!starts || worker.is_running());
    let mut worker =
        known.filter(goes_on).unwrap_or_else(|| SessionWorker::new(note.conversation_id, WorkerKind::Other, name));
    worker.label = note.label.and_then(|label| normalize_name(&mask_secrets(label))).or(worker.label);
    if starts {
        worker.mark_started(at);
    } else {
        let summary = note.summary.map(|text| sanitize_text_within(text, MAX_SUMMARY_BYTES));
        worker.mark_finished(note.status, summary.as_deref(), at);
    }
    worker
}

/// A name or a label as it is kept: on one line, and not too long. Nothing if nothing is left of it.
pub(crate) fn normalize_name(text: &str) -> Option<String> {
    let line = to_single_line(text, MAX_NAME_CHARS);
    (!line.is_empty()).then_some(line)
}

/// The beginning of a text on one line, of at most so many characters. Breaks that nobody sees stay, to be shown as such.
pub(crate) fn to_single_line(text: &str, most: usize) -> String {
    let is_unseen = |c: char| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
    let words = text.split(|c: char| c.is_whitespace() && !is_unseen(c));
    let mut line = String::new();
    let mut length = 0;
    for word in words.filter(|word| !word.is_empty()) {
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += word.chars().count();
        if length > most {
            let end = line.char_indices().nth(most - 1).map_or(line.len(), |(end, _)| end);
            return truncate_with_ellipsis(&line, end);
        }
    }
    line
}

/// Workers, read and written inside one transaction.
pub(crate) trait WorkerRows {
    /// The worker of this kind and name that was heard of last.
    fn find_worker(&mut self, conversation_id: i64, kind: WorkerKind, name: &str) -> Result<Option<SessionWorker>>;
    /// Workers in the background that run.
    fn list_background_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>>;
    /// Workers that have finished and of which their agent was not told, the earliest first.
    fn list_unreported_workers(&mut self, conversation_id: i64, at_most: u32) -> Result<Vec<SessionWorker>>;
    /// Writes the worker, and gives it a number if it has none.
    fn save_worker(&mut self, worker: &mut SessionWorker) -> Result<()>;
    /// Lets another conversation have the workers of which the agent was not told.
    fn transfer_workers(&mut self, from: i64, to: i64) -> Result<()>;
    /// Notes that the agent was told of this one, if it is the conversation's, has finished, and was not told before.
    fn mark_worker_reported(&mut self, conversation_id: i64, worker_id: i64, at: Timestamp) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "2026-03-01T12:00:00Z";
    const LATER: &str = "2026-03-01T12:05:00Z";

    fn parse_time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn build_update(status: WorkerStatus) -> WorkerUpdate<'static> {
        WorkerUpdate { conversation_id: 1, name: "build", label: None, status, summary: None }
    }

    fn build_stored_worker(status: WorkerStatus, reported: bool) -> SessionWorker {
        let mut worker = apply_worker_update(None, "build", &build_update(WorkerStatus::Running), parse_time(FIRST));
        if status != WorkerStatus::Running {
            worker = apply_worker_update(Some(worker), "build", &build_update(status), parse_time(FIRST));
        }
        worker.worker_id = 7;
        worker.summary = Some("before".into());
        worker.reported_at = reported.then(|| parse_time(FIRST));
        worker
    }

    #[test]
    fn what_is_noted_goes_on_with_a_worker_or_begins_another() {
        use WorkerStatus::{Done, Failed, Running};
        // What is known, what is noted, whether it is the same worker, and whether its duration is known.
        let rows = [
            (None, Done, 0, false),
            (None, Running, 0, true),
            (Some((Running, false)), Done, 7, true),
            (Some((Running, false)), Running, 7, true),
            (Some((Done, false)), Failed, 7, true),
            (Some((Done, true)), Done, 0, false),
            (Some((Failed, true)), Running, 0, true),
            (Some((Done, false)), Running, 0, true),
        ];
        for (before, status, expected, has_begun) in rows {
            let before = before.map(|(status, reported)| build_stored_worker(status, reported));
            let case = format!("{before:?} {status}");
            let worker = apply_worker_update(before, "build", &build_update(status), parse_time(LATER));
            assert_eq!((worker.worker_id, worker.status), (expected, status), "{case}");
            assert_eq!(worker.started_at.is_some(), has_begun, "{case}");
            assert_eq!(worker.finished_at, (status != Running).then(|| parse_time(LATER)), "{case}");
            assert_eq!(worker.reported_at, None, "{case}");
            let keeps_words = expected == 7 && status != Running;
            assert_eq!(worker.summary.is_some(), keeps_words, "{case}");
        }
    }

    #[test]
    fn a_line_is_never_longer_than_it_may_be() {
        let cases = [
            ("", ""),
            (" a \n b\t", "a b"),
            ("12345", "12345"),
            ("123 5", "123 5"),
            ("123456", "1234…"),
            ("1234 6", "1234…"),
            ("123 56", "123 …"),
            ("äöüßäöü", "äöüß…"),
        ];
        for (text, expected) in cases {
            assert_eq!(to_single_line(text, 5), expected, "{text}");
        }
    }
}
