//! The writer thread: stores all queued events in one transaction and acknowledges them after the commit.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use snell_store::{EventRecord, EventRecorder, IngestReceipt, NormalizedEvent, StoreError};
use tokio::sync::oneshot;

use super::job_queue::{BatchWait, CollectedJobs, JobReader, JobSender, PushRefusal, job_queue};
use crate::http::errors::{HttpError, ServeError, format_error_chain};
use crate::metrics::SharedMetrics;
use crate::settings::ServeSettings;

/// The maximum length of the queue. Beyond it, requests are refused for now.
const MAX_QUEUED_EVENTS: usize = 4096;

/// The maximum number of events per transaction.
const MAX_BATCH_EVENTS: usize = 256;

/// How long the thread waits for more events if the last batch had several, because one transaction for all costs little more
/// than one for the first. A single event does not wait.
const BATCH_WINDOW: Duration = Duration::from_micros(500);

/// After this time without events, the thread runs maintenance.
const IDLE_TIMEOUT: Duration = Duration::from_millis(500);

/// The number of events after which the write-ahead log is merged into the database even without a pause. The merge
/// waits for the disk.
const CHECKPOINT_AFTER_EVENTS: usize = 32_768;

/// The maximum number of pending events of other processes per pass.
const MAX_PENDING_PER_PASS: usize = 1000;

/// The result for one event.
type WriteResult = Result<IngestReceipt, HttpError>;

/// An event, and the request that waits until it is stored.
struct WriteJob {
    event: Arc<NormalizedEvent>,
    done: oneshot::Sender<WriteOutcome>,
}

/// The result for one event, and an earlier event that is no longer needed: the thread of a request frees it faster than the
/// writer, because such threads made it.
struct WriteOutcome {
    result: WriteResult,
    _replaced: Option<Arc<NormalizedEvent>>,
}

impl WriteOutcome {
    fn shutting_down() -> Self {
        Self { result: Err(HttpError::busy("the server is shutting down")), _replaced: None }
    }
}

/// Sends events to the writer thread.
pub(crate) struct EventWriter {
    queue: JobSender<WriteJob>,
    metrics: SharedMetrics,
}

impl EventWriter {
    /// Opens the database and starts the writer thread. The thread ends when this is dropped and everything is stored.
    pub(crate) fn start(
        settings: &ServeSettings,
        metrics: SharedMetrics,
    ) -> Result<(Self, JoinHandle<()>), ServeError> {
        let database = settings.database_location();
        let mut recorder = EventRecorder::with_location(&settings.directory, &database).with_copies();
        match recorder.open_store() {
            // Another process holds the lock. Meanwhile, requests get an error.
            Ok(_) | Err(StoreError::Locked) => {}
            Err(source) => {
                return Err(ServeError::Store { database: database.to_string(), source });
            }
        }
        let (queue, jobs) = job_queue(MAX_QUEUED_EVENTS);
        let writer = WriterThread { recorder, since_checkpoint: 0, last_batch_len: 1, metrics: metrics.clone() };
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || writer.run(&jobs))
            .map_err(|source| ServeError::System { what: "the writer thread", source })?;
        Ok((Self { queue, metrics }, thread))
    }

    /// Records an event. Returns after the commit.
    pub(crate) async fn record(&self, record: EventRecord) -> Result<IngestReceipt, HttpError> {
        let receipt = self.enqueue(record)?;
        receipt.await.unwrap_or_else(|_| WriteOutcome::shutting_down()).result
    }

    /// As [`EventWriter::record`], for threads that may block.
    pub(crate) fn record_blocking(&self, record: EventRecord) -> Result<IngestReceipt, HttpError> {
        let receipt = self.enqueue(record)?;
        receipt.blocking_recv().unwrap_or_else(|_| WriteOutcome::shutting_down()).result
    }

    fn enqueue(&self, record: EventRecord) -> Result<oneshot::Receiver<WriteOutcome>, HttpError> {
        // Normalizing here keeps work off the single writer thread.
        let event = Arc::new(NormalizedEvent::from_record(record.into())?);
        let (done, receipt) = oneshot::channel();
        self.metrics.queued.inc();
        let refused = match self.queue.push(WriteJob { event, done }) {
            Ok(()) => return Ok(receipt),
            Err(PushRefusal::Full) => "too many events wait to be stored",
            Err(PushRefusal::Closed) => "the server is shutting down",
        };
        self.metrics.queued.dec();
        Err(HttpError::busy(refused))
    }
}

/// The state of the writer thread.
struct WriterThread {
    recorder: EventRecorder,
    /// Events since the last merge of the write-ahead log.
    since_checkpoint: usize,
    /// The size of the last batch.
    last_batch_len: usize,
    metrics: SharedMetrics,
}

impl WriterThread {
    fn run(mut self, jobs: &JobReader<WriteJob>) {
        // Events that other processes could not store.
        self.ingest_pending(usize::MAX);
        loop {
            let wait = BatchWait {
                idle: IDLE_TIMEOUT,
                window: BATCH_WINDOW,
                expected: self.last_batch_len,
                most: MAX_BATCH_EVENTS,
            };
            match jobs.collect(wait) {
                CollectedJobs::Batch(batch) => {
                    self.last_batch_len = batch.len();
                    self.store_batch(batch);
                    if self.since_checkpoint >= CHECKPOINT_AFTER_EVENTS {
                        self.checkpoint();
                    }
                }
                CollectedJobs::Idle => {
                    if self.since_checkpoint > 0 {
                        self.checkpoint();
                    }
                    self.ingest_pending(MAX_PENDING_PER_PASS);
                }
                CollectedJobs::Closed => break,
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
        let results: Vec<_> = match stored {
            Ok(receipts) => receipts.into_iter().map(|receipt| receipt.map_err(HttpError::from)).collect(),
            Err(error) => vec![Err(HttpError::from(error)); count],
        };
        let mut replaced = self.recorder.take_replaced_copies().into_iter();
        // A client that has disconnected gets no response, but its event is stored.
        for (done, result) in waiting.into_iter().zip(results) {
            let _ = done.send(WriteOutcome { result, _replaced: replaced.next() });
        }
        self.log_warnings();
    }

    /// Stores pending events. Those that cannot be stored now stay pending.
    fn ingest_pending(&mut self, at_most: usize) {
        if let Err(error) = self.recorder.reopen_if_replaced() {
            tracing::warn!(error = format_error_chain(&error), "cannot reopen the database");
        }
        self.log_warnings();
        if self.recorder.pending().is_empty() && self.recorder.spool().is_empty() {
            return;
        }
        if let Err(error) = self.recorder.drain_pending(at_most) {
            tracing::warn!(error = format_error_chain(&error), "cannot store pending events");
        }
        self.log_warnings();
    }

    fn checkpoint(&mut self) {
        self.since_checkpoint = 0;
        if let Err(error) = self.recorder.run_maintenance() {
            tracing::debug!(error = format_error_chain(&error), "cannot run maintenance now");
        }
    }

    fn log_warnings(&mut self) {
        for warning in self.recorder.take_warnings() {
            tracing::warn!("{warning}");
        }
    }
}
