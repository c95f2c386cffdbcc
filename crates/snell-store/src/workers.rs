//! Workers: what an agent has started and does not wait for. What is known of one, and what a database must be able to do
//! with them.

use serde::Serialize;
use snell::Timestamp;

use crate::error::{Result, StoreError};
use crate::facts::FinishedWorker;
use crate::journal::Journal;
use crate::mask::mask;
use crate::model::{as_kept, words};
use crate::observation::{cut_within, kept_within};
use crate::query::cut_short;
use crate::rows::Rows;
use crate::store::Store;

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
pub struct Worker {
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
pub struct WorkerNote<'a> {
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

impl Worker {
    /// One that was just heard of, and of which it is not known since when it runs. It has no number yet.
    pub(crate) fn heard_of(conversation_id: i64, kind: WorkerKind, name: &str) -> Self {
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
    pub(crate) fn begin(&mut self, at: Timestamp) {
        self.status = WorkerStatus::Running;
        self.started_at = Some(as_kept(at));
        (self.finished_at, self.summary, self.reported_at) = (None, None, None);
    }

    /// Notes that it has finished. What is said of it that was not known before is added.
    pub(crate) fn finish(&mut self, succeeded: bool, summary: Option<&str>, at: Timestamp) {
        self.status = if succeeded {
            WorkerStatus::Done
        } else {
            WorkerStatus::Failed
        };
        self.finished_at = Some(as_kept(at));
        if let Some(summary) = summary.map(str::trim).filter(|summary| !summary.is_empty()) {
            self.summary = Some(cut_within(summary, MAX_SUMMARY_BYTES).into_owned());
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        self.status == WorkerStatus::Running
    }

    /// What its agent is told of it.
    pub(crate) fn finished(self) -> FinishedWorker {
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
    /// The workers of a session, the earliest first.
    ///
    /// # Errors
    ///
    /// When the database cannot be read.
    pub fn workers_of(&mut self, conversation_id: i64) -> Result<Vec<Worker>> {
        self.backend.queries().workers_of(conversation_id)
    }

    /// Notes what somebody says about a worker, and answers the worker. One that its agent was told of is over: from then
    /// on, a worker of the same name is another one.
    ///
    /// # Errors
    ///
    /// When there is no such session, or the database cannot be written.
    pub fn note_worker(&mut self, note: &WorkerNote<'_>, at: Timestamp) -> Result<Worker> {
        let at = as_kept(at);
        let name = named(&mask(note.name)).unwrap_or_default();
        let mut noted = None;
        self.change("Worker", at, &mut |journal: &mut Journal<'_>| {
            let conversation = journal.conversation_there(note.conversation_id)?;
            let mut known = journal.worker(note.conversation_id, WorkerKind::Other, &name)?;
            // It may have been handed on since whoever speaks of it was started.
            if known.is_none()
                && let Some(current) = journal
                    .agent(conversation.agent_id)?
                    .and_then(|agent| agent.conversation_id)
            {
                known = journal
                    .worker(current, WorkerKind::Other, &name)?
                    .filter(Worker::is_running);
            }
            let mut worker = noted_on(known, &name, note, at);
            journal.save_worker(&mut worker)?;
            noted = Some(worker);
            journal.refresh_card(conversation.agent_id)
        })?;
        noted.ok_or_else(|| StoreError::Database("nothing was noted".into()))
    }
}

/// What becomes of the last worker of this name, or a new one. Nothing here looks anywhere.
fn noted_on(known: Option<Worker>, name: &str, note: &WorkerNote<'_>, at: Timestamp) -> Worker {
    let starts = note.status == WorkerStatus::Running;
    // What has finished and was not told yet must not be lost because the next one of this name begins.
    let goes_on = |worker: &Worker| worker.reported_at.is_none() && (!starts || worker.is_running());
    let mut worker = known
        .filter(goes_on)
        .unwrap_or_else(|| Worker::heard_of(note.conversation_id, WorkerKind::Other, name));
    worker.label = note.label.and_then(|label| named(&mask(label))).or(worker.label);
    if starts {
        worker.begin(at);
    } else {
        let summary = note.summary.map(|text| kept_within(text, MAX_SUMMARY_BYTES));
        worker.finish(note.status == WorkerStatus::Done, summary.as_deref(), at);
    }
    worker
}

/// A name or a label as it is kept: on one line, and not too long. Nothing if nothing is left of it.
pub(crate) fn named(text: &str) -> Option<String> {
    let line = one_line(text, MAX_NAME_CHARS);
    (!line.is_empty()).then_some(line)
}

/// The beginning of a text on one line, of at most so many characters. Breaks that nobody sees stay, to be shown as such.
pub(crate) fn one_line(text: &str, most: usize) -> String {
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
            return cut_short(&line, end);
        }
    }
    line
}

/// Workers, read and written inside one transaction.
pub(crate) trait WorkerRows {
    /// The worker of this kind and name that was heard of last.
    fn worker(&mut self, conversation_id: i64, kind: WorkerKind, name: &str) -> Result<Option<Worker>>;
    /// Workers in the background that run.
    fn running_in_background(&mut self, conversation_id: i64) -> Result<Vec<Worker>>;
    /// Workers that have finished and of which their agent was not told, the earliest first.
    fn unreported_workers(&mut self, conversation_id: i64, at_most: u32) -> Result<Vec<Worker>>;
    /// Writes the worker, and gives it a number if it has none.
    fn save_worker(&mut self, worker: &mut Worker) -> Result<()>;
    /// Lets another conversation have the workers of which the agent was not told.
    fn hand_on_workers(&mut self, from: i64, to: i64) -> Result<()>;
    /// Notes that the agent was told of this one, if it is the conversation's, has finished, and was not told before.
    fn report_worker(&mut self, conversation_id: i64, worker_id: i64, at: Timestamp) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "2026-03-01T12:00:00Z";
    const LATER: &str = "2026-03-01T12:05:00Z";

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn note(status: WorkerStatus) -> WorkerNote<'static> {
        WorkerNote {
            conversation_id: 1,
            name: "build",
            label: None,
            status,
            summary: None,
        }
    }

    fn known(status: WorkerStatus, reported: bool) -> Worker {
        let mut worker = noted_on(None, "build", &note(WorkerStatus::Running), at(FIRST));
        if status != WorkerStatus::Running {
            worker = noted_on(Some(worker), "build", &note(status), at(FIRST));
        }
        worker.worker_id = 7;
        worker.summary = Some("before".into());
        worker.reported_at = reported.then(|| at(FIRST));
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
            let before = before.map(|(status, reported)| known(status, reported));
            let case = format!("{before:?} {status}");
            let worker = noted_on(before, "build", &note(status), at(LATER));
            assert_eq!((worker.worker_id, worker.status), (expected, status), "{case}");
            assert_eq!(worker.started_at.is_some(), has_begun, "{case}");
            assert_eq!(worker.finished_at, (status != Running).then(|| at(LATER)), "{case}");
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
            assert_eq!(one_line(text, 5), expected, "{text}");
        }
    }
}
