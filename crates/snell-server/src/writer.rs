//! The one who writes: everything that waits goes into one transaction, and is acknowledged once that is committed.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use snell_store::{Observation, Prepared, Receipt, Recorder, StoreError};
use tokio::sync::oneshot;

use crate::error::{Refusal, ServeError, with_causes};
use crate::metrics::SharedMetrics;

/// How many events may wait. Whoever comes then is told to come again.
const MAX_WAITING: usize = 4096;

/// How many events are stored with one transaction.
const MAX_TOGETHER: usize = 256;

/// How long others are waited for who came together the last time.
const GATHER: Duration = Duration::from_micros(500);

/// When nothing has come for so long, there is time to tidy up.
const LULL: Duration = Duration::from_millis(500);

/// So many events come at most before the log is folded into the database. That waits for the disk, so it is left for a
/// lull if there is one.
const TIDY_AFTER: usize = 32_768;

/// How many notes of others are taken in while requests may come.
const NOTES_IN_A_MOMENT: usize = 1000;

/// An event, and whom to tell that it is stored.
struct Job {
    observed: Prepared,
    done: oneshot::Sender<Result<Receipt, Refusal>>,
}

/// Hands events to the thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: SyncSender<Job>,
    metrics: SharedMetrics,
}

impl Writer {
    /// Opens the database, and starts the thread that writes to it. It ends once the writer is gone and everything is
    /// stored.
    pub(crate) fn start(database: &Path, metrics: SharedMetrics) -> Result<(Self, JoinHandle<()>), ServeError> {
        let mut recorder = Recorder::at(database).keep_copies();
        match recorder.store() {
            // Somebody else holds it just now. Those who come meanwhile are told so.
            Ok(_) | Err(StoreError::Locked) => {}
            Err(source) => {
                return Err(ServeError::Store {
                    path: database.to_owned(),
                    source,
                });
            }
        }
        let (queue, jobs) = sync_channel(MAX_WAITING);
        let scribe = Scribe {
            recorder,
            untidy: 0,
            expected: 1,
            metrics: metrics.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("writer".into())
            .spawn(move || scribe.work(&jobs))
            .map_err(|source| ServeError::System {
                what: "the thread that writes",
                source,
            })?;
        Ok((Self { queue, metrics }, thread))
    }

    /// Records an event. The answer comes when it is committed.
    pub(crate) async fn record(&self, observation: Observation) -> Result<Receipt, Refusal> {
        let receipt = self.hand_in(observation)?;
        receipt.await.unwrap_or_else(|_| Err(Refusal::busy("the server ends")))
    }

    /// As [`Writer::record`], for a thread that can wait.
    pub(crate) fn record_now(&self, observation: Observation) -> Result<Receipt, Refusal> {
        let receipt = self.hand_in(observation)?;
        receipt
            .blocking_recv()
            .unwrap_or_else(|_| Err(Refusal::busy("the server ends")))
    }

    fn hand_in(&self, observation: Observation) -> Result<oneshot::Receiver<Result<Receipt, Refusal>>, Refusal> {
        // Whatever can be done here does not keep the one thread that writes.
        let observed = Prepared::of(observation)?;
        let (done, receipt) = oneshot::channel();
        match self.queue.try_send(Job { observed, done }) {
            Ok(()) => self.metrics.queued.inc(),
            Err(TrySendError::Full(_)) => return Err(Refusal::busy("too many events wait to be stored")),
            Err(TrySendError::Disconnected(_)) => return Err(Refusal::busy("the server ends")),
        };
        Ok(receipt)
    }
}

/// The thread that writes.
struct Scribe {
    recorder: Recorder,
    /// Events since the log was last folded in.
    untidy: usize,
    /// How many events came together the last time.
    expected: usize,
    metrics: SharedMetrics,
}

/// Takes what waits. If several came together the last time, as many may come again in a moment, and one transaction for
/// all of them costs little more than one for the first. Whoever comes alone does not wait.
fn gather(first: Job, jobs: &Receiver<Job>, expected: usize) -> Vec<Job> {
    let deadline = Instant::now() + GATHER;
    let mut batch = vec![first];
    while batch.len() < MAX_TOGETHER {
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

impl Scribe {
    fn work(mut self, jobs: &Receiver<Job>) {
        // Whatever others could not store.
        self.catch_up(usize::MAX);
        loop {
            match jobs.recv_timeout(LULL) {
                Ok(first) => {
                    let batch = gather(first, jobs, self.expected);
                    self.expected = batch.len();
                    self.store(batch);
                    if self.untidy >= TIDY_AFTER {
                        self.tidy();
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.untidy > 0 {
                        self.tidy();
                    }
                    self.catch_up(NOTES_IN_A_MOMENT);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        self.recorder.close();
    }

    fn store(&mut self, batch: Vec<Job>) {
        let started = Instant::now();
        let (observed, waiting): (Vec<_>, Vec<_>) = batch.into_iter().map(|job| (job.observed, job.done)).unzip();
        let stored = self.recorder.try_record(&observed);
        let count = waiting.len();
        self.untidy += count;
        self.metrics.queued.dec_by(i64::try_from(count).unwrap_or(i64::MAX));
        self.metrics.batch_events.observe(count as f64);
        self.metrics.commit_seconds.observe(started.elapsed().as_secs_f64());
        // Whoever has gone meanwhile does not hear it; the event is stored all the same.
        match stored {
            Ok(receipts) => {
                for (done, receipt) in waiting.into_iter().zip(receipts) {
                    let _ = done.send(receipt.map_err(Refusal::from));
                }
            }
            Err(error) => {
                let refusal = Refusal::from(error);
                for done in waiting {
                    let _ = done.send(Err(refusal.clone()));
                }
            }
        }
        self.tell_remarks();
    }

    /// Takes in what waits on disk. What cannot be taken in now goes on waiting.
    fn catch_up(&mut self, at_most: usize) {
        if let Err(error) = self.recorder.keep_in_place() {
            tracing::warn!(error = with_causes(&error), "cannot open the database again");
        }
        self.tell_remarks();
        if self.recorder.notes().is_empty() && self.recorder.spool().is_empty() {
            return;
        }
        if let Err(error) = self.recorder.take_in(at_most) {
            tracing::warn!(error = with_causes(&error), "cannot store what waits on disk");
        }
        self.tell_remarks();
    }

    fn tidy(&mut self) {
        self.untidy = 0;
        if let Err(error) = self.recorder.tidy() {
            tracing::debug!(error = with_causes(&error), "cannot tidy up now");
        }
    }

    fn tell_remarks(&mut self) {
        for remark in self.recorder.take_remarks() {
            tracing::warn!("{remark}");
        }
    }
}
