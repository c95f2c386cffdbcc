//! The writer thread: stores all queued events in one transaction and acknowledges them after the commit.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use snell_store::{EventRecord, EventRecorder, IngestReceipt, NormalizedEvent, StoreError};
use tokio::sync::oneshot;

use crate::http::errors::{HttpError, ServeError, format_error_chain};
use crate::metrics::SharedMetrics;
use crate::settings::ServeSettings;

/// The maximum length of the queue. Beyond it, requests are refused for now.
const MAX_QUEUED_EVENTS: usize = 4096;

/// The maximum number of events per transaction.
const MAX_BATCH_EVENTS: usize = 256;

/// How long the thread waits for more events if the last batch had several.
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
    event: NormalizedEvent,
    done: oneshot::Sender<WriteResult>,
}

/// Sends events to the writer thread.
#[derive(Debug)]
pub(crate) struct EventWriter {
    queue: SyncSender<WriteJob>,
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
        let (queue, jobs) = sync_channel(MAX_QUEUED_EVENTS);
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
        receipt.await.unwrap_or_else(|_| Err(HttpError::busy("the server is shutting down")))
    }

    /// As [`EventWriter::record`], for threads that may block.
    pub(crate) fn record_blocking(&self, record: EventRecord) -> Result<IngestReceipt, HttpError> {
        let receipt = self.enqueue(record)?;
        receipt.blocking_recv().unwrap_or_else(|_| Err(HttpError::busy("the server is shutting down")))
    }

    fn enqueue(&self, record: EventRecord) -> Result<oneshot::Receiver<WriteResult>, HttpError> {
        // Normalizing here keeps work off the single writer thread.
        let event = NormalizedEvent::from_record(record.into())?;
        let (done, receipt) = oneshot::channel();
        match self.queue.try_send(WriteJob { event, done }) {
            Ok(()) => self.metrics.queued.inc(),
            Err(TrySendError::Full(_)) => return Err(HttpError::busy("too many events wait to be stored")),
            Err(TrySendError::Disconnected(_)) => return Err(HttpError::busy("the server is shutting down")),
        };
        Ok(receipt)
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

/// Collects the queued events. If the last batch had several, it waits a moment for more, because one transaction for
/// all costs little more than one for the first. A single event does not wait.
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
        // A client that has disconnected gets no response, but its event is stored.
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
