//! The queue between requests and the writer thread. The writer is woken once for a batch, not once for an event: on a busy
//! machine, that costs as much as storing it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Adds jobs. When it is dropped, the reader gets what is left, and then the end.
pub(super) struct JobSender<T>(Arc<JobQueue<T>>);

/// Takes jobs. When it is dropped, all jobs that are left are dropped, and no more can be added.
pub(super) struct JobReader<T>(Arc<JobQueue<T>>);

struct JobQueue<T> {
    state: Mutex<JobQueueState<T>>,
    changed: Condvar,
    most: usize,
}

struct JobQueueState<T> {
    jobs: VecDeque<T>,
    /// The reader waits until there are so many.
    wanted: usize,
    is_closed: bool,
}

/// Why a job was not added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PushRefusal {
    Full,
    Closed,
}

/// The jobs for one batch.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum CollectedJobs<T> {
    Batch(Vec<T>),
    /// None came in time.
    Idle,
    /// There are none, and none will come.
    Closed,
}

/// How long the reader waits, and for how many jobs.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchWait {
    /// For the first job.
    pub(super) idle: Duration,
    /// For further jobs after the first.
    pub(super) window: Duration,
    /// How many are expected.
    pub(super) expected: usize,
    /// How many are taken at most.
    pub(super) most: usize,
}

/// A queue for so many jobs.
pub(super) fn job_queue<T>(most: usize) -> (JobSender<T>, JobReader<T>) {
    let state = JobQueueState { jobs: VecDeque::new(), wanted: usize::MAX, is_closed: false };
    let queue = Arc::new(JobQueue { state: Mutex::new(state), changed: Condvar::new(), most });
    (JobSender(queue.clone()), JobReader(queue))
}

impl<T> JobQueue<T> {
    fn lock(&self) -> MutexGuard<'_, JobQueueState<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there are so many jobs, or none will come.
    fn wait_for<'q>(
        &self,
        mut state: MutexGuard<'q, JobQueueState<T>>,
        wanted: usize,
        at_most: Duration,
    ) -> MutexGuard<'q, JobQueueState<T>> {
        state.wanted = wanted;
        let is_waiting = |state: &mut JobQueueState<T>| state.jobs.len() < wanted && !state.is_closed;
        let (mut state, _) =
            self.changed.wait_timeout_while(state, at_most, is_waiting).unwrap_or_else(PoisonError::into_inner);
        // While the reader works, it needs no wake-up.
        state.wanted = usize::MAX;
        state
    }
}

impl<T> JobSender<T> {
    /// Adds a job.
    pub(super) fn push(&self, job: T) -> Result<(), PushRefusal> {
        let mut state = self.0.lock();
        if state.is_closed {
            return Err(PushRefusal::Closed);
        }
        if state.jobs.len() >= self.0.most {
            return Err(PushRefusal::Full);
        }
        state.jobs.push_back(job);
        let is_enough = state.jobs.len() >= state.wanted;
        drop(state);
        if is_enough {
            self.0.changed.notify_one();
        }
        Ok(())
    }
}

impl<T> Drop for JobSender<T> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_one();
    }
}

impl<T> JobReader<T> {
    /// The next jobs, in their order. If several are expected, it waits a moment for them after the first.
    pub(super) fn collect(&self, wait: BatchWait) -> CollectedJobs<T> {
        let mut state = self.0.lock();
        if state.jobs.is_empty() {
            state = self.0.wait_for(state, 1, wait.idle);
        }
        if state.jobs.is_empty() {
            return if state.is_closed { CollectedJobs::Closed } else { CollectedJobs::Idle };
        }
        let expected = wait.expected.min(wait.most);
        if state.jobs.len() < expected {
            state = self.0.wait_for(state, expected, wait.window);
        }
        let count = state.jobs.len().min(wait.most);
        CollectedJobs::Batch(state.jobs.drain(..count).collect())
    }
}

impl<T> Drop for JobReader<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.is_closed = true;
        let left = std::mem::take(&mut state.jobs);
        drop(state);
        drop(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(expected: usize) -> BatchWait {
        BatchWait { idle: Duration::from_secs(60), window: Duration::from_millis(1), expected, most: 4 }
    }

    #[test]
    fn jobs_come_in_their_order_and_in_batches() {
        let (sender, reader) = job_queue(5);
        for number in 1..=5 {
            sender.push(number).unwrap();
        }
        assert_eq!(sender.push(6), Err(PushRefusal::Full));
        assert_eq!(reader.collect(wait(1)), CollectedJobs::Batch(vec![1, 2, 3, 4]));
        assert_eq!(reader.collect(wait(4)), CollectedJobs::Batch(vec![5]), "the others did not come in time");
        let nothing = BatchWait { idle: Duration::ZERO, ..wait(1) };
        assert_eq!(reader.collect(nothing), CollectedJobs::Idle);
        sender.push(7).unwrap();
        drop(sender);
        assert_eq!(reader.collect(wait(4)), CollectedJobs::Batch(vec![7]), "no others will come");
        assert_eq!(reader.collect(wait(4)), CollectedJobs::Closed);
    }

    #[test]
    fn a_reader_that_ends_drops_what_is_left() {
        let (sender, reader) = job_queue(5);
        let job = Arc::new(());
        sender.push(job.clone()).unwrap();
        drop(reader);
        assert_eq!(Arc::strong_count(&job), 1);
        assert_eq!(sender.push(job), Err(PushRefusal::Closed));
    }

    #[test]
    fn a_waiting_reader_gets_every_job_of_many_senders() {
        let (sender, reader) = job_queue(100);
        let collected = std::thread::scope(|scope| {
            let all = scope.spawn(move || {
                let mut all = Vec::new();
                while let CollectedJobs::Batch(jobs) = reader.collect(wait(4)) {
                    all.extend(jobs);
                }
                all
            });
            let sender = &sender;
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    scope.spawn(move || (0..25).for_each(|number| sender.push(thread * 25 + number).unwrap()));
                }
            });
            sender.0.lock().is_closed = true;
            sender.0.changed.notify_one();
            let mut all = all.join().unwrap();
            all.sort_unstable();
            all
        });
        assert_eq!(collected, (0..100).collect::<Vec<_>>());
    }
}
