//! Where changes wait for those who listen: one queue for all, in which each has a place of its own. What does not fit is
//! dropped from its front, and whoever was still there is told of a gap.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::frame::Batch;

/// How long what waits may be in all.
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// Where changes wait.
#[derive(Debug)]
pub(crate) struct Hub {
    queue: Mutex<Queue>,
    /// How many batches there have ever been, for those who wait for another.
    news: watch::Sender<u64>,
    room: Arc<Semaphore>,
    max_changes: usize,
    /// Whoever puts changes in.
    follower: OnceLock<Thread>,
}

#[derive(Debug, Default)]
struct Queue {
    batches: VecDeque<Arc<Batch>>,
    /// How many batches were there before the first of these.
    gone: u64,
    changes: usize,
    bytes: usize,
    listeners: usize,
    /// The last change that was put in. None while nobody listens, so that nothing need be read for nobody.
    position: Option<i64>,
    /// The furthest change that somebody has read from the database without waiting for it here.
    read_ahead: i64,
    /// Which database the changes are from: how often it was replaced.
    database: u64,
}

/// A place in the queue.
#[derive(Debug)]
pub(super) struct Place {
    hub: Arc<Hub>,
    next: u64,
    database: u64,
    news: watch::Receiver<u64>,
    _room: OwnedSemaphorePermit,
}

/// What is at a place.
#[derive(Debug)]
pub(super) enum Found {
    /// Changes.
    Batch(Arc<Batch>),
    /// None yet.
    Nothing,
    /// What was there is gone; what comes next is from another time.
    Gone,
    /// Everything is of a database that is no more.
    Replaced,
}

impl Hub {
    pub(crate) fn new(max_listeners: usize, max_changes: usize) -> Self {
        Self {
            queue: Mutex::default(),
            news: watch::Sender::new(0),
            room: Arc::new(Semaphore::new(max_listeners)),
            max_changes,
            follower: OnceLock::new(),
        }
    }

    /// Says who puts changes in, and is to be woken when somebody begins to listen.
    pub(super) fn is_followed_by(&self, follower: Thread) {
        // There is one.
        let _ = self.follower.set(follower);
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place at the end of the queue, if there is room for another listener.
    pub(super) fn join(self: &Arc<Self>) -> Option<Place> {
        let room = self.room.clone().try_acquire_owned().ok()?;
        let mut queue = self.queue();
        queue.listeners += 1;
        Some(Place {
            hub: self.clone(),
            next: queue.end(),
            database: queue.database,
            news: self.news.subscribe(),
            _room: room,
        })
    }

    /// Begins to follow after this change, if nobody has listened so far.
    pub(super) fn begin_after(&self, newest: i64) {
        let mut queue = self.queue();
        queue.position = queue.position.or(Some(newest));
        drop(queue);
        if let Some(follower) = self.follower.get() {
            follower.unpark();
        }
    }

    /// After which change to read on; nothing if nobody listens.
    pub(super) fn position(&self) -> Option<i64> {
        self.queue().position
    }

    /// Somebody has read up to this change in the database, which may be more than was put in.
    pub(super) fn is_known_up_to(&self, change: i64) {
        let mut queue = self.queue();
        queue.read_ahead = queue.read_ahead.max(change);
    }

    /// The furthest change that anybody has seen. A database that ends before it is another one.
    pub(super) fn furthest(&self) -> i64 {
        let queue = self.queue();
        queue.position.unwrap_or_default().max(queue.read_ahead)
    }

    /// Puts changes in that come after this one. If that is not where the queue ends any more, nobody wants them.
    pub(super) fn put(&self, after: i64, batch: Batch) {
        let mut queue = self.queue();
        let Some(last) = batch.last().filter(|_| queue.position == Some(after)) else {
            return;
        };
        queue.position = Some(last);
        queue.changes += batch.len();
        queue.bytes += batch.bytes();
        queue.batches.push_back(Arc::new(batch));
        while queue.batches.len() > 1 && (queue.changes > self.max_changes || queue.bytes > MAX_BYTES) {
            queue.drop_first();
        }
        let end = queue.end();
        drop(queue);
        self.news.send_replace(end);
    }

    /// Everything that comes from now on is from another database. Who listens has to begin anew.
    pub(super) fn replace(&self) {
        let mut queue = self.queue();
        queue.clear();
        queue.database += 1;
        drop(queue);
        // Whoever waits looks again.
        self.news.send_modify(|_| {});
    }

    /// How many listen.
    pub(super) fn listeners(&self) -> usize {
        self.queue().listeners
    }
}

impl Queue {
    /// How many batches there have ever been.
    fn end(&self) -> u64 {
        self.gone + self.batches.len() as u64
    }

    fn drop_first(&mut self) {
        if let Some(batch) = self.batches.pop_front() {
            self.gone += 1;
            self.changes -= batch.len();
            self.bytes -= batch.bytes();
        }
    }

    /// Nothing is held, and nothing is known of the database any more.
    fn clear(&mut self) {
        self.position = None;
        self.read_ahead = 0;
        while !self.batches.is_empty() {
            self.drop_first();
        }
        self.batches.shrink_to(0);
    }
}

impl Place {
    /// What is at this place. The next look is at the one after it; after something is gone, at the oldest that is left.
    pub(super) fn look(&mut self) -> Found {
        let queue = self.hub.queue();
        if queue.database != self.database {
            return Found::Replaced;
        }
        let Some(index) = self.next.checked_sub(queue.gone) else {
            self.next = queue.gone;
            return Found::Gone;
        };
        let found = usize::try_from(index).ok().and_then(|index| queue.batches.get(index));
        match found {
            Some(batch) => {
                self.next += 1;
                Found::Batch(batch.clone())
            }
            None => Found::Nothing,
        }
    }

    /// Goes to the end of the queue, in whatever database that is now.
    pub(super) fn move_over(&mut self) {
        let queue = self.hub.queue();
        self.next = queue.end();
        self.database = queue.database;
    }

    /// Goes to the end of the queue. Answers whether anything was gone that was not looked at.
    pub(super) fn skip_if_gone(&mut self) -> bool {
        let queue = self.hub.queue();
        let is_gone = self.next < queue.gone;
        if is_gone {
            self.next = queue.end();
        }
        is_gone
    }

    /// Waits until there may be something.
    pub(super) async fn wait(&mut self) {
        // The hub outlives its places.
        let _ = self.news.changed().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut queue = self.hub.queue();
        queue.listeners -= 1;
        if queue.listeners == 0 {
            queue.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use snell::Timestamp;
    use snell_store::{Change, ChangeKind};

    fn batch(ids: std::ops::RangeInclusive<i64>) -> Batch {
        let changes: Vec<_> = ids
            .map(|id| Change {
                id,
                kind: ChangeKind::CardRefresh,
                agent_id: 1,
                project_id: 1,
                at: Timestamp::UNIX_EPOCH,
                data: "{}".into(),
            })
            .collect();
        Batch::of(&changes)
    }

    fn look(place: &mut Place) -> String {
        match place.look() {
            Found::Batch(batch) => format!("{}-{}", batch.first().unwrap(), batch.last().unwrap()),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn each_reads_at_its_own_pace_and_the_slow_are_told_what_is_gone() {
        let hub = Arc::new(Hub::new(2, 4));
        let (mut fast, mut slow) = (hub.join().unwrap(), hub.join().unwrap());
        assert!(hub.join().is_none(), "there is no room for a third");
        hub.begin_after(0);
        hub.put(0, batch(1..=2));
        assert_eq!(look(&mut fast), "1-2");
        assert_eq!(look(&mut fast), "Nothing");
        hub.put(2, batch(3..=4));
        hub.put(4, batch(5..=6));
        assert_eq!(look(&mut fast), "3-4");
        assert_eq!(look(&mut slow), "Gone");
        assert_eq!(look(&mut slow), "3-4");
        assert_eq!(look(&mut slow), "5-6");
        drop(slow);
        assert!(hub.join().is_some(), "there is room again");
    }

    #[test]
    fn what_does_not_follow_is_not_put_in() {
        let hub = Arc::new(Hub::new(1, 100));
        hub.put(0, batch(1..=1));
        assert_eq!(hub.position(), None, "nobody listens");
        let mut place = hub.join().unwrap();
        hub.begin_after(7);
        hub.begin_after(9);
        hub.put(6, batch(7..=7));
        assert_eq!(look(&mut place), "Nothing");
        hub.put(7, batch(8..=8));
        assert_eq!(look(&mut place), "8-8");
        hub.replace();
        assert_eq!(look(&mut place), "Replaced");
        place.move_over();
        hub.begin_after(2);
        hub.put(2, batch(3..=3));
        assert_eq!(look(&mut place), "3-3");
        drop(place);
        assert_eq!(hub.position(), None);
    }
}
