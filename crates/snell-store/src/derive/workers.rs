//! Updates workers from an event.

use snell::Timestamp;

use super::worker_signals::{WorkerPhase, WorkerSignal, WorkerSignals};
use crate::db::rows::Rows;
use crate::db::workers::{SessionWorker, WorkerKind, WorkerStatus};
use crate::error::Result;

/// Updates the workers of a conversation from an event.
pub(super) fn apply_worker_signals(
    rows: &mut dyn Rows,
    conversation_id: i64,
    news: &WorkerSignals,
    at: Timestamp,
) -> Result<()> {
    if news.no_others {
        for mut worker in rows.list_background_workers(conversation_id)? {
            let is_listed = news.workers.iter().any(|signal| signal.name == worker.name);
            // If the event is late, the worker may have started after it.
            if !is_listed && worker.started_at.is_none_or(|started| started <= at) {
                worker.mark_finished(WorkerStatus::Done, None, at);
                rows.save_worker(&mut worker)?;
            }
        }
    }
    for signal in &news.workers {
        let known = find_known_worker(rows, conversation_id, signal)?;
        let mut worker = match &known {
            Some(known) => known.clone(),
            None => SessionWorker::new(conversation_id, signal.kind, &signal.name),
        };
        apply_worker_signal(&mut worker, signal, known.is_some(), at);
        if known.as_ref() != Some(&worker) {
            rows.save_worker(&mut worker)?;
        }
    }
    Ok(())
}

/// A background sub-agent appears as both kinds, with one id.
fn find_known_worker(
    rows: &mut dyn Rows,
    conversation_id: i64,
    signal: &WorkerSignal,
) -> Result<Option<SessionWorker>> {
    for kind in [WorkerKind::Subagent, WorkerKind::Task] {
        if let Some(worker) = rows.find_worker(conversation_id, kind, &signal.name)? {
            return Ok(Some(worker));
        }
    }
    Ok(None)
}

/// Updates a worker. Events may come late, so their times count, not their order.
fn apply_worker_signal(worker: &mut SessionWorker, signal: &WorkerSignal, was_known: bool, at: Timestamp) {
    if signal.kind == WorkerKind::Subagent {
        worker.kind = WorkerKind::Subagent;
    }
    worker.label = worker.label.take().or_else(|| signal.label.clone());
    worker.in_background |= signal.in_background;
    match &signal.phase {
        WorkerPhase::Begins if !was_known || is_restart(worker, signal, at) => worker.mark_started(at),
        // An earlier signal did not have the start.
        WorkerPhase::Begins if is_earlier_start(worker, at) => worker.started_at = Some(at),
        WorkerPhase::Begins | WorkerPhase::Runs => {}
        WorkerPhase::Finished { succeeded, summary } => {
            // An end before the start belongs to an earlier run.
            let is_this_run = worker.started_at.is_none_or(|started| started <= at);
            // Its agent got the report of its end, which stays.
            if is_this_run && worker.reported_at.is_none() {
                let first = worker.finished_at.map_or(at, |finished| finished.min(at));
                let status = if *succeeded { WorkerStatus::Done } else { WorkerStatus::Failed };
                worker.mark_finished(status, summary.as_deref(), first);
            }
        }
    }
}

fn is_earlier_start(worker: &SessionWorker, at: Timestamp) -> bool {
    worker.started_at.is_none_or(|started| at < started) && worker.finished_at.is_none_or(|finished| at <= finished)
}

/// Whether a finished worker starts again. Background work has a new id each time.
fn is_restart(worker: &SessionWorker, signal: &WorkerSignal, at: Timestamp) -> bool {
    !signal.in_background && !worker.is_running() && worker.finished_at.is_none_or(|finished| finished <= at)
}
