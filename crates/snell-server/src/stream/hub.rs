//! The queue of changes for all stream clients. Each client has its own cursor. If the queue is full, the oldest
//! changes are dropped, and clients that still needed them get a gap.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::sse_frame::SseBatch;

/// The maximum size of the queue.
const MAX_QUEUED_BYTES: usize = 8 * 1024 * 1024;

/// The queue of changes.
#[derive(Debug)]
pub(crate) struct StreamHub {
    queue: Mutex<HubQueue>,
    /// The number of batches so far, for clients that wait for the next one.
    batch_count: watch::Sender<u64>,
    permits: Arc<Semaphore>,
    max_changes: usize,
    /// The thread that adds changes.
    follower: OnceLock<Thread>,
}

#[derive(Debug, Default)]
struct HubQueue {
    batches: VecDeque<Arc<SseBatch>>,
    /// The number of batches before the first one in the queue.
    dropped_batches: u64,
    changes: usize,
    bytes: usize,
    subscribers: usize,
    /// The last change that was added; `None` without clients, so that the follower reads nothing.
    position: Option<i64>,
    /// The newest change that a client has read directly from the database.
    read_ahead: i64,
    /// The number of times that the database was replaced.
    database: u64,
}

/// The position of a client in the queue.
#[derive(Debug)]
pub(super) struct HubCursor {
    hub: Arc<StreamHub>,
    next: u64,
    database: u64,
    batch_count: watch::Receiver<u64>,
    _room: OwnedSemaphorePermit,
}

/// The item at a cursor.
#[derive(Debug)]
pub(super) enum CursorItem {
    /// Changes.
    Batch(Arc<SseBatch>),
    /// No new changes.
    Nothing,
    /// The changes were dropped; the next item is later.
    Gone,
    /// The database was replaced.
    Replaced,
}

impl StreamHub {
    pub(crate) fn new(max_subscribers: usize, max_changes: usize) -> Self {
        Self {
            queue: Mutex::default(),
            batch_count: watch::Sender::new(0),
            permits: Arc::new(Semaphore::new(max_subscribers)),
            max_changes,
            follower: OnceLock::new(),
        }
    }

    /// Sets the thread that adds changes. The hub wakes it when the first client arrives.
    pub(super) fn set_follower(&self, follower: Thread) {
        // There is only one follower.
        let _ = self.follower.set(follower);
    }

    fn lock_queue(&self) -> MutexGuard<'_, HubQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A cursor at the end of the queue; `None` if there are too many clients.
    pub(super) fn subscribe(self: &Arc<Self>) -> Option<HubCursor> {
        let room = self.permits.clone().try_acquire_owned().ok()?;
        let mut queue = self.lock_queue();
        queue.subscribers += 1;
        Some(HubCursor {
            hub: self.clone(),
            next: queue.end_index(),
            database: queue.database,
            batch_count: self.batch_count.subscribe(),
            _room: room,
        })
    }

    /// Starts after this change, if there were no clients before.
    pub(super) fn start_after(&self, newest: i64) {
        let mut queue = self.lock_queue();
        queue.position = queue.position.or(Some(newest));
        drop(queue);
        if let Some(follower) = self.follower.get() {
            follower.unpark();
        }
    }

    /// The change after which to continue; `None` without clients.
    pub(super) fn position(&self) -> Option<i64> {
        self.lock_queue().position
    }

    /// Notes that a client has read the database up to this change.
    pub(super) fn record_read_ahead(&self, change: i64) {
        let mut queue = self.lock_queue();
        queue.read_ahead = queue.read_ahead.max(change);
    }

    /// The newest change that any client has seen. A database that ends before it is another one.
    pub(super) fn furthest_seen(&self) -> i64 {
        let queue = self.lock_queue();
        queue.position.unwrap_or_default().max(queue.read_ahead)
    }

    /// Adds changes that follow `after`. They are ignored if the queue has moved on.
    pub(super) fn publish(&self, after: i64, batch: SseBatch) {
        let mut queue = self.lock_queue();
        let Some(last) = batch.last_id().filter(|_| queue.position == Some(after)) else {
            return;
        };
        queue.position = Some(last);
        queue.changes += batch.len();
        queue.bytes += batch.byte_len();
        queue.batches.push_back(Arc::new(batch));
        while queue.batches.len() > 1 && (queue.changes > self.max_changes || queue.bytes > MAX_QUEUED_BYTES) {
            queue.drop_oldest();
        }
        let end = queue.end_index();
        drop(queue);
        self.batch_count.send_replace(end);
    }

    /// Drops all changes after the database was replaced. Clients start again.
    pub(super) fn reset_for_new_database(&self) {
        let mut queue = self.lock_queue();
        queue.clear();
        queue.database += 1;
        drop(queue);
        // Waiting clients check again.
        self.batch_count.send_modify(|_| {});
    }

    /// The number of clients.
    pub(super) fn subscriber_count(&self) -> usize {
        self.lock_queue().subscribers
    }
}

impl HubQueue {
    /// The number of batches so far.
    fn end_index(&self) -> u64 {
        self.dropped_batches + self.batches.len() as u64
    }

    fn drop_oldest(&mut self) {
        if let Some(batch) = self.batches.pop_front() {
            self.dropped_batches += 1;
            self.changes -= batch.len();
            self.bytes -= batch.byte_len();
        }
    }

    /// Drops all changes and positions.
    fn clear(&mut self) {
        self.position = None;
        self.read_ahead = 0;
        while !self.batches.is_empty() {
            self.drop_oldest();
        }
        self.batches.shrink_to(0);
    }
}

impl HubCursor {
    /// The item at the cursor. The cursor moves to the next item or, after dropped changes, to the oldest one left.
    pub(super) fn next_item(&mut self) -> CursorItem {
        let queue = self.hub.lock_queue();
        if queue.database != self.database {
            return CursorItem::Replaced;
        }
        let Some(index) = self.next.checked_sub(queue.dropped_batches) else {
            self.next = queue.dropped_batches;
            return CursorItem::Gone;
        };
        let found = usize::try_from(index).ok().and_then(|index| queue.batches.get(index));
        match found {
            Some(batch) => {
                self.next += 1;
                CursorItem::Batch(batch.clone())
            }
            None => CursorItem::Nothing,
        }
    }

    /// Moves to the end of the queue of the current database.
    pub(super) fn jump_to_end(&mut self) {
        let queue = self.hub.lock_queue();
        self.next = queue.end_index();
        self.database = queue.database;
    }

    /// If changes were dropped before the cursor could read them, moves to the end of the queue. Returns whether that
    /// happened.
    pub(super) fn skip_if_gone(&mut self) -> bool {
        let queue = self.hub.lock_queue();
        let is_gone = self.next < queue.dropped_batches;
        if is_gone {
            self.next = queue.end_index();
        }
        is_gone
    }

    /// Waits for a new batch.
    pub(super) async fn wait_for_change(&mut self) {
        // The hub outlives its cursors.
        let _ = self.batch_count.changed().await;
    }
}

impl Drop for HubCursor {
    fn drop(&mut self) {
        let mut queue = self.hub.lock_queue();
        queue.subscribers -= 1;
        if queue.subscribers == 0 {
            queue.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snell::Timestamp;
    use snell_store::{ChangeKind, ChangeRow};

    fn sample_batch(ids: std::ops::RangeInclusive<i64>) -> SseBatch {
        let changes: Vec<_> = ids
            .map(|id| ChangeRow {
                id,
                kind: ChangeKind::CardRefresh,
                agent_id: 1,
                project_id: 1,
                at: Timestamp::UNIX_EPOCH,
                data: "{}".into(),
            })
            .collect();
        SseBatch::from_changes(&changes)
    }

    fn describe_next(place: &mut HubCursor) -> String {
        match place.next_item() {
            CursorItem::Batch(batch) => format!("{}-{}", batch.first_id().unwrap(), batch.last_id().unwrap()),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn each_client_reads_at_its_own_pace_and_slow_ones_learn_about_dropped_changes() {
        let hub = Arc::new(StreamHub::new(2, 4));
        let (mut fast, mut slow) = (hub.subscribe().unwrap(), hub.subscribe().unwrap());
        assert!(hub.subscribe().is_none(), "there is no room for a third");
        hub.start_after(0);
        hub.publish(0, sample_batch(1..=2));
        assert_eq!(describe_next(&mut fast), "1-2");
        assert_eq!(describe_next(&mut fast), "Nothing");
        hub.publish(2, sample_batch(3..=4));
        hub.publish(4, sample_batch(5..=6));
        assert_eq!(describe_next(&mut fast), "3-4");
        assert_eq!(describe_next(&mut slow), "Gone");
        assert_eq!(describe_next(&mut slow), "3-4");
        assert_eq!(describe_next(&mut slow), "5-6");
        drop(slow);
        assert!(hub.subscribe().is_some(), "there is room again");
    }

    #[test]
    fn changes_that_do_not_follow_the_last_one_are_ignored() {
        let hub = Arc::new(StreamHub::new(1, 100));
        hub.publish(0, sample_batch(1..=1));
        assert_eq!(hub.position(), None, "there are no clients");
        let mut place = hub.subscribe().unwrap();
        hub.start_after(7);
        hub.start_after(9);
        hub.publish(6, sample_batch(7..=7));
        assert_eq!(describe_next(&mut place), "Nothing");
        hub.publish(7, sample_batch(8..=8));
        assert_eq!(describe_next(&mut place), "8-8");
        hub.reset_for_new_database();
        assert_eq!(describe_next(&mut place), "Replaced");
        place.jump_to_end();
        hub.start_after(2);
        hub.publish(2, sample_batch(3..=3));
        assert_eq!(describe_next(&mut place), "3-3");
        drop(place);
        assert_eq!(hub.position(), None);
    }
}
