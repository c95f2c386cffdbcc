//! Reads changes as soon as anybody has written some, and puts them where listeners find them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use snell_store::{ChangeWatcher, StoreError, WatcherWaker};

use super::hub::StreamHub;
use super::sse_frame::SseBatch;
use crate::clock::ServerClock;
use crate::http::errors::format_error_chain;
use crate::reconciler::hook_activity::HookActivity;
use crate::store_pool::{PooledStore, StoreFileStatus};

/// How many changes are read at a time.
const MAX_CHANGES_PER_READ: u32 = 256;

/// How long to wait at most before looking, whatever the system tells.
const MAX_WAIT_FOR_CHANGE: Duration = Duration::from_secs(5);

/// How often it is looked at most whether hooks were heard.
const ACTIVITY_INTERVAL: Duration = Duration::from_millis(200);

/// What is new is gathered for a moment: for so long, and for so much longer with each listener.
const BATCH_WINDOW: Duration = Duration::from_millis(1);
const BATCH_WINDOW_PER_SUBSCRIBER: Duration = Duration::from_micros(10);

/// The thread that follows the database.
pub(crate) struct ChangeFollower {
    pub(crate) hub: Arc<StreamHub>,
    pub(crate) hook_activity: Arc<HookActivity>,
    pub(crate) clock: ServerClock,
    pub(crate) store: PooledStore,
    pub(crate) database: PathBuf,
    pub(crate) watcher: ChangeWatcher,
    /// Ends a wait of this thread.
    pub(crate) waker: Arc<Mutex<WatcherWaker>>,
    /// Set when the server ends.
    pub(crate) stopping: Arc<AtomicBool>,
}

impl ChangeFollower {
    /// Works until the server ends.
    pub(crate) fn run(mut self) {
        self.hub.set_follower(std::thread::current());
        let mut felt: Option<Instant> = None;
        while !self.stopping.load(Ordering::Relaxed) {
            let is_time = felt.is_none_or(|felt| felt.elapsed() >= ACTIVITY_INTERVAL);
            if is_time {
                felt = Some(Instant::now());
            }
            match self.publish_changes(is_time) {
                // Whoever ends the server may have woken a wait that is not ours any more.
                Ok(0) if self.stopping.load(Ordering::Relaxed) => {}
                Ok(0) => self.wait_for_change(if is_time { MAX_WAIT_FOR_CHANGE } else { ACTIVITY_INTERVAL }),
                Ok(_) => {}
                Err(error) => {
                    if !matches!(error, StoreError::Locked) {
                        tracing::warn!(error = format_error_chain(&error), "cannot read what has changed");
                    }
                    self.wait_for_change(ACTIVITY_INTERVAL);
                }
            }
            self.pause_for_batch();
        }
    }

    /// Tells listeners what is new; answers how much that was.
    fn publish_changes(&mut self, feel: bool) -> Result<usize, StoreError> {
        let position = self.hub.position();
        if position.is_none() && !feel {
            return Ok(0);
        }
        let (store, which) = self.store.get_or_open()?;
        if which == StoreFileStatus::Replaced {
            self.handle_replaced_database();
            return Ok(0);
        }
        if feel {
            self.hook_activity.refresh(store, self.clock.now())?;
        }
        let Some(after) = position else {
            return Ok(0);
        };
        // Asked for first: whatever was seen by then is there when the database is read.
        let furthest = self.hub.furthest_seen();
        let changes = store.list_changes_after(after, MAX_CHANGES_PER_READ)?;
        if !changes.is_empty() {
            self.hub.publish(after, SseBatch::from_changes(&changes));
        } else if store.change_range()?.newest < furthest {
            // The newest change is never removed, so the file is the same but what is in it is another's.
            self.handle_replaced_database();
        }
        Ok(changes.len())
    }

    /// Another database has taken the place of the one that was followed, perhaps with its whole directory.
    fn handle_replaced_database(&mut self) {
        tracing::warn!("the database was replaced; those who listen are told of a gap");
        self.hub.reset_for_new_database();
        let watched = ChangeWatcher::open(&self.database).and_then(|tail| Ok((tail.waker()?, tail)));
        match watched {
            Ok((waker, tail)) => {
                self.watcher = tail;
                *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
            }
            // Then it is looked at now and then.
            Err(error) => tracing::warn!(%error, "cannot watch the database"),
        }
    }

    /// Lets a moment pass, so that many changes are read at once and wake each listener once. A commit is many writes,
    /// and being woken by each would cost as much as storing it. While nobody listens there is time.
    fn pause_for_batch(&self) {
        if self.hub.position().is_none() {
            std::thread::park_timeout(ACTIVITY_INTERVAL);
            return;
        }
        let each = u32::try_from(self.hub.subscriber_count()).unwrap_or(u32::MAX);
        std::thread::sleep(BATCH_WINDOW + BATCH_WINDOW_PER_SUBSCRIBER.saturating_mul(each));
    }

    fn wait_for_change(&mut self, at_most: Duration) {
        if let Err(error) = self.watcher.wait(at_most) {
            tracing::warn!(%error, "cannot wait for the database to change");
            std::thread::sleep(ACTIVITY_INTERVAL);
        }
    }
}
