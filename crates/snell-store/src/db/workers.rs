//! Workers: work that an agent has started and does not wait for. Their rows, and the operations on them in a database.

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

/// The longest name and the longest label, in characters.
const MAX_NAME_CHARS: usize = 200;

/// The longest stored summary.
const MAX_SUMMARY_BYTES: usize = 2 * 1024;

words! {
    /// The kind of a worker.
    WorkerKind {
        /// A sub-agent.
        Subagent = "subagent",
        /// A task of the agent, or a background command.
        Task = "task",
        /// A worker that `snell worker` reported.
        Other = "other",
    }
}

words! {
    /// The status of a worker.
    WorkerStatus {
        /// It works.
        Running = "running",
        /// It succeeded.
        Done = "done",
        /// It failed.
        Failed = "failed",
    }
}

/// One worker of a session, as the table `workers` has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SessionWorker {
    /// Its id; 0 before it is stored.
    pub worker_id: i64,
    /// The id of its session.
    #[serde(skip)]
    pub conversation_id: i64,
    /// Its kind.
    pub kind: WorkerKind,
    /// Its name among the workers of its kind: an id, or a name from the user.
    pub name: String,
    /// A short description.
    pub label: Option<String>,
    /// Its status.
    pub status: WorkerStatus,
    /// Whether the agent lists it among its background tasks while it runs.
    #[serde(skip)]
    pub(crate) in_background: bool,
    /// Its start time, if known.
    pub started_at: Option<Timestamp>,
    /// Its end time.
    pub finished_at: Option<Timestamp>,
    /// Its last message, or another summary.
    pub summary: Option<String>,
    /// The time when its agent got the report that it finished.
    pub reported_at: Option<Timestamp>,
}

/// A report about a worker that has no events.
#[derive(Clone, Debug)]
pub struct WorkerUpdate<'a> {
    /// The id of the session.
    pub conversation_id: i64,
    /// The worker's name among those of the session.
    pub name: &'a str,
    /// A short description.
    pub label: Option<&'a str>,
    /// Its status.
    pub status: WorkerStatus,
    /// Its last message.
    pub summary: Option<&'a str>,
}

impl SessionWorker {
    /// A new worker without an id, whose start time is unknown.
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

    /// Marks it as started, perhaps again.
    pub(crate) fn mark_started(&mut self, at: Timestamp) {
        self.status = WorkerStatus::Running;
        self.started_at = Some(to_stored_precision(at));
        (self.finished_at, self.summary, self.reported_at) = (None, None, None);
    }

    /// Marks it as finished, and adds the summary if it has none.
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

    /// The report for its agent.
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
    /// Stores a report about a worker, and returns the worker. After its agent got the report of its end, the same name
    /// means a new worker.
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
            // Its session may have been replaced since the reporting process started.
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

/// Updates the last worker of this name, or creates a new one. Pure.
fn apply_worker_update(
    known: Option<SessionWorker>,
    name: &str,
    note: &WorkerUpdate<'_>,
    at: Timestamp,
) -> SessionWorker {
    let starts = note.status == WorkerStatus::Running;
    // A finished worker that is not reported yet must not be lost when the next one of this name starts.
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

/// A name or a label as it is stored: one line of limited length; nothing if it is blank.
pub(crate) fn normalize_name(text: &str) -> Option<String> {
    let line = to_single_line(text, MAX_NAME_CHARS);
    (!line.is_empty()).then_some(line)
}

/// The start of a text as one line, with at most so many characters. Invisible characters stay, to be shown as such.
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
    /// The latest worker of this kind and name.
    fn find_worker(&mut self, conversation_id: i64, kind: WorkerKind, name: &str) -> Result<Option<SessionWorker>>;
    /// Running background workers.
    fn list_background_workers(&mut self, conversation_id: i64) -> Result<Vec<SessionWorker>>;
    /// Finished workers that are not reported to their agent yet, the earliest first.
    fn list_unreported_workers(&mut self, conversation_id: i64, at_most: u32) -> Result<Vec<SessionWorker>>;
    /// Writes the worker, and sets its id if it is new.
    fn save_worker(&mut self, worker: &mut SessionWorker) -> Result<()>;
    /// Moves the unreported workers to another conversation.
    fn transfer_workers(&mut self, from: i64, to: i64) -> Result<()>;
    /// Marks this worker as reported, if it is the conversation's, finished and unreported.
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
    fn an_update_continues_a_worker_or_creates_one() {
        use WorkerStatus::{Done, Failed, Running};
        // Columns: the known worker, the update, whether it is the same worker, whether its duration is known.
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
    fn a_line_never_exceeds_its_limit() {
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
