//! What becomes of workers by what an event tells of them.

use snell::Timestamp;

use super::news::{How, News, Told};
use crate::error::Result;
use crate::rows::Rows;
use crate::workers::{Worker, WorkerKind};

/// Notes what an event of a conversation tells of its workers.
pub(super) fn note(rows: &mut dyn Rows, conversation_id: i64, news: &News, at: Timestamp) -> Result<()> {
    if news.no_others {
        for mut worker in rows.running_in_background(conversation_id)? {
            let is_told = news.workers.iter().any(|told| told.name == worker.name);
            // It may have begun since, if the event comes late.
            if !is_told && worker.started_at.is_none_or(|started| started <= at) {
                worker.finish(true, None, at);
                rows.save_worker(&mut worker)?;
            }
        }
    }
    for told in &news.workers {
        let known = known(rows, conversation_id, told)?;
        let mut worker = match &known {
            Some(known) => known.clone(),
            None => Worker::heard_of(conversation_id, told.kind, &told.name),
        };
        learn(&mut worker, told, known.is_some(), at);
        if known.as_ref() != Some(&worker) {
            rows.save_worker(&mut worker)?;
        }
    }
    Ok(())
}

/// A subagent in the background is told of as both, under one id.
fn known(rows: &mut dyn Rows, conversation_id: i64, told: &Told) -> Result<Option<Worker>> {
    for kind in [WorkerKind::Subagent, WorkerKind::Task] {
        if let Some(worker) = rows.worker(conversation_id, kind, &told.name)? {
            return Ok(Some(worker));
        }
    }
    Ok(None)
}

/// What is known of a worker, once this is told of it. Events may come late, so their times count, not their order.
fn learn(worker: &mut Worker, told: &Told, was_known: bool, at: Timestamp) {
    if told.kind == WorkerKind::Subagent {
        worker.kind = WorkerKind::Subagent;
    }
    worker.label = worker.label.take().or_else(|| told.label.clone());
    worker.in_background |= told.in_background;
    match &told.how {
        How::Begins if !was_known || runs_again(worker, told, at) => worker.begin(at),
        // It was heard of before it was told that it began.
        How::Begins if begins_earlier(worker, at) => worker.started_at = Some(at),
        How::Begins | How::Runs => {}
        How::Finished { succeeded, summary } => {
            // What finished before it began is an earlier run.
            let is_this_run = worker.started_at.is_none_or(|started| started <= at);
            // Its agent was told how it ended; that stays.
            if is_this_run && worker.reported_at.is_none() {
                let first = worker.finished_at.map_or(at, |finished| finished.min(at));
                worker.finish(*succeeded, summary.as_deref(), first);
            }
        }
    }
}

fn begins_earlier(worker: &Worker, at: Timestamp) -> bool {
    worker.started_at.is_none_or(|started| at < started) && worker.finished_at.is_none_or(|finished| at <= finished)
}

/// Whether a worker that had finished begins once more. What runs in the background has an id of its own each time.
fn runs_again(worker: &Worker, told: &Told, at: Timestamp) -> bool {
    !told.in_background && !worker.is_running() && worker.finished_at.is_none_or(|finished| finished <= at)
}
