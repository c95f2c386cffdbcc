//! The writer thread: all events that wait go into one transaction, and are acknowledged once that is committed.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use snell_store::{EventRecord, EventRecorder, IngestReceipt, NormalizedEvent, StoreError};
use tokio::sync::oneshot;

use crate::http::errors::{HttpError, ServeError, format_error_chain};
use crate::metrics::SharedMetrics;

/// How many events may wait. A further request is asked to come again.
const MAX_QUEUED_EVENTS: usize = 4096;

/// How many events are stored with one transaction.
const MAX_BATCH_EVENTS: usize = 256;

/// How long the thread waits for further events if several came together the last time.
const BATCH_WINDOW: Duration = Duration::from_micros(500);

/// When nothing has come for so long, there is time to tidy up.
const IDLE_TIMEOUT: Duration = Duration::from_millis(500);

/// So many events come at most before the log is folded into the database. That waits for the disk, so it is left for a
/// lull if there is one.
const CHECKPOINT_AFTER_EVENTS: usize = 32_768;

/// How many pending events of other processes are stored at a time while requests may come.
const MAX_PENDING_PER_PASS: usize = 1000;

/// The result for one event.
type WriteResult = Result<IngestReceipt, HttpError>;

/// An event, and the request that waits until it is stored.
struct WriteJob {
    event: NormalizedEvent,
    done: oneshot::Sender<WriteResult>,
}

/// Hands events to the thread that writes.
#[derive(Debug)]
pub(crate) struct EventWriter {
    queue: SyncSender<WriteJob>,
    metrics: SharedMetrics,
}

impl EventWriter {
    /// Opens the database, and starts the thread that writes to it. It ends once the writer is gone and everything is
    /// stored.
    pub(crate) fn start(database: &Path, metrics: SharedMetrics) -> Result<(Self, JoinHandle<()>), ServeError> {
        let mut recorder = EventRecorder::with_database(database).with_copies();
        match recorder.open_store() {
            // Another process holds it just now. Requests that come meanwhile are answered so.
            Ok(_) | Err(StoreError::Locked) => {}
            Err(source) => {
                return Err(ServeError::Store { path: database.to_owned(), source });
            }
        }
        let (queue, jobs) = sync_channel(MAX_QUEUED_EVENTS);
        let writer = WriterThread { recorder, since_checkpoint: 0, last_batch_len: 1, metrics: metrics.clone() };
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || writer.run(&jobs))
            .map_err(|source| ServeError::System { what: "the thread that writes", source })?;
        Ok((Self { queue, metrics }, thread))
    }

    /// Records an event. The answer comes when it is committed.
    pub(crate) async fn record(&self, record: EventRecord) -> Result<IngestReceipt, HttpError> {
        let receipt = self.enqueue(record)?;
        receipt.await.unwrap_or_else(|_| Err(HttpError::busy("the server ends")))
    }

    /// As [`EventWriter::record`], for a thread that can wait.
    pub(crate) fn record_blocking(&self, record: EventRecord) -> Result<IngestReceipt, HttpError> {
        let receipt = self.enqueue(record)?;
        receipt.blocking_recv().unwrap_or_else(|_| Err(HttpError::busy("the server ends")))
    }

    fn enqueue(&self, record: EventRecord) -> Result<oneshot::Receiver<WriteResult>, HttpError> {
        // Work that is done here does not keep the one thread that writes.
        let event = NormalizedEvent::from_record(record.into())?;
        let (done, receipt) = oneshot::channel();
        match self.queue.try_send(WriteJob { event, done }) {
            Ok(()) => self.metrics.queued.inc(),
            Err(TrySendError::Full(_)) => return Err(HttpError::busy("too many events wait to be stored")),
            Err(TrySendError::Disconnected(_)) => return Err(HttpError::busy("the server ends")),
        };
        Ok(receipt)
    }
}

/// The thread that writes.
struct WriterThread {
    recorder: EventRecorder,
    /// Events since the log was last folded in.
    since_checkpoint: usize,
    /// How many events came together the last time.
    last_batch_len: usize,
    metrics: SharedMetrics,
}

/// Takes what waits. If several came together the last time, as many may come again in a moment, and one transaction for
/// all of them costs little more than one for the first. An event that comes alone does not wait.
fn collect_batch(first: WriteJob, jobs: &Receiver<WriteJob>, expected: usize) -> Vec<WriteJob> {
    let deadline = Instant::now() + BATCH_WINDOW;
    let mut batch = vec![first];
    while batch.len() < MAX_BATCH_EVENTS {
        let next = match jobs.try_recv() {
            Ok(job) => Ok(job),
            Err(_) if batch.len() < expected => jobs.recv_timeout(deadline.saturating_duration_since(Instant::now())),
            Err(_) => break,
        };
        match next {
            Ok(job) => batch.push(job),
            Err(_) => break,
        }
    }
    batch
}

impl WriterThread {
    fn run(mut self, jobs: &Receiver<WriteJob>) {
        // Events that other processes could not store.
        self.ingest_pending(usize::MAX);
        loop {
            match jobs.recv_timeout(IDLE_TIMEOUT) {
                Ok(first) => {
                    let batch = collect_batch(first, jobs, self.last_batch_len);
                    self.last_batch_len = batch.len();
                    self.store_batch(batch);
                    if self.since_checkpoint >= CHECKPOINT_AFTER_EVENTS {
                        self.checkpoint();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.since_checkpoint > 0 {
                        self.checkpoint();
                    }
                    self.ingest_pending(MAX_PENDING_PER_PASS);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.recorder.close();
    }

    fn store_batch(&mut self, batch: Vec<WriteJob>) {
        let started = Instant::now();
        let (events, waiting): (Vec<_>, Vec<_>) = batch.into_iter().map(|job| (job.event, job.done)).unzip();
        let stored = self.recorder.try_record_events(&events);
        let count = waiting.len();
        self.since_checkpoint += count;
        self.metrics.queued.dec_by(i64::try_from(count).unwrap_or(i64::MAX));
        self.metrics.batch_events.observe(count as f64);
        self.metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
        // A client that has gone meanwhile gets no answer; its event is stored all the same.
        match stored {
            Ok(receipts) => {
                for (done, receipt) in waiting.into_iter().zip(receipts) {
                    let _ = done.send(receipt.map_err(HttpError::from));
                }
            }
            Err(error) => {
                let refusal = HttpError::from(error);
                for done in waiting {
                    let _ = done.send(Err(refusal.clone()));
                }
            }
        }
        self.log_warnings();
    }

    /// Stores events that wait on disk. Those that cannot be stored now go on waiting.
    fn ingest_pending(&mut self, at_most: usize) {
        if let Err(error) = self.recorder.reopen_if_replaced() {
            tracing::warn!(error = format_error_chain(&error), "cannot open the database again");
        }
        self.log_warnings();
        if self.recorder.pending().is_empty() && self.recorder.spool().is_empty() {
            return;
        }
        if let Err(error) = self.recorder.drain_pending(at_most) {
            tracing::warn!(error = format_error_chain(&error), "cannot store what waits on disk");
        }
        self.log_warnings();
    }

    fn checkpoint(&mut self) {
        self.since_checkpoint = 0;
        if let Err(error) = self.recorder.run_maintenance() {
            tracing::debug!(error = format_error_chain(&error), "cannot tidy up now");
        }
    }

    fn log_warnings(&mut self) {
        for remark in self.recorder.take_warnings() {
            tracing::warn!("{remark}");
        }
    }
}
