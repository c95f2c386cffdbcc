//! Reads new changes from the database and adds them to the hub.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use snell_store::{ChangeWatcher, DatabaseLocation, StoreError, WatcherWaker};

use super::hub::StreamHub;
use super::sse_frame::SseBatch;
use crate::clock::ServerClock;
use crate::http::errors::format_error_chain;
use crate::reconciler::hook_activity::HookActivity;
use crate::store_pool::{PooledStore, StoreFileStatus};

/// The maximum number of changes per read.
const MAX_CHANGES_PER_READ: u32 = 256;

/// The longest time between two reads, even without a notification of the system.
const MAX_WAIT_FOR_CHANGE: Duration = Duration::from_secs(5);

/// The shortest interval between two refreshes of the hook activity.
const ACTIVITY_INTERVAL: Duration = Duration::from_millis(200);

/// Changes are collected for this long, plus a little for each client.
const BATCH_WINDOW: Duration = Duration::from_millis(1);
const BATCH_WINDOW_PER_SUBSCRIBER: Duration = Duration::from_micros(10);

/// The thread that follows the database.
pub(crate) struct ChangeFollower {
    pub(crate) hub: Arc<StreamHub>,
    pub(crate) hook_activity: Arc<HookActivity>,
    pub(crate) clock: ServerClock,
    pub(crate) store: PooledStore,
    pub(crate) database: DatabaseLocation,
    pub(crate) watcher: ChangeWatcher,
    /// Ends a wait of this thread.
    pub(crate) waker: Arc<Mutex<WatcherWaker>>,
    /// Set when the server ends.
    pub(crate) stopping: Arc<AtomicBool>,
}

impl ChangeFollower {
    /// Runs until the server ends.
    pub(crate) fn run(mut self) {
        self.hub.set_follower(std::thread::current());
        let mut refreshed: Option<Instant> = None;
        while !self.stopping.load(Ordering::Relaxed) {
            let is_time = refreshed.is_none_or(|at| at.elapsed() >= ACTIVITY_INTERVAL);
            if is_time {
                refreshed = Some(Instant::now());
            }
            match self.publish_changes(is_time) {
                // The shutdown may have woken an earlier wait.
                Ok(0) if self.stopping.load(Ordering::Relaxed) => {}
                Ok(0) => self.wait_for_change(if is_time { MAX_WAIT_FOR_CHANGE } else { ACTIVITY_INTERVAL }),
                Ok(_) => {}
                Err(error) => {
                    if !matches!(error, StoreError::Locked) {
                        tracing::warn!(error = format_error_chain(&error), "cannot read changes");
                    }
                    self.wait_for_change(ACTIVITY_INTERVAL);
                }
            }
            self.pause_for_batch();
        }
    }

    /// Publishes new changes and returns their number.
    fn publish_changes(&mut self, refresh_activity: bool) -> Result<usize, StoreError> {
        let position = self.hub.position();
        if position.is_none() && !refresh_activity {
            return Ok(0);
        }
        let (store, which) = self.store.get_or_open()?;
        if which == StoreFileStatus::Replaced {
            self.handle_replaced_database();
            return Ok(0);
        }
        if refresh_activity {
            self.hook_activity.refresh(store, self.clock.now())?;
        }
        let Some(after) = position else {
            return Ok(0);
        };
        // Read first, so that the database has every change up to it.
        let furthest = self.hub.furthest_seen();
        let changes = store.list_changes_after(after, MAX_CHANGES_PER_READ)?;
        if !changes.is_empty() {
            self.hub.publish(after, SseBatch::from_changes(&changes));
        } else if store.change_range()?.newest < furthest {
            // The newest change is never removed, so the content of the file was replaced.
            self.handle_replaced_database();
        }
        Ok(changes.len())
    }

    /// Handles a database that was replaced, perhaps with its directory.
    fn handle_replaced_database(&mut self) {
        tracing::warn!("the database was replaced; stream clients get a gap");
        self.hub.reset_for_new_database();
        let watched = ChangeWatcher::open_at(&self.database).and_then(|tail| Ok((tail.waker()?, tail)));
        match watched {
            Ok((waker, tail)) => {
                self.watcher = tail;
                *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = waker;
            }
            // Without a watcher, the thread polls.
            Err(error) => tracing::warn!(%error, "cannot watch the database"),
        }
    }

    /// Waits a moment, so that many changes are read at once and wake each client once. A commit is many writes, and
    /// waking up for each would cost as much as storing it. Without clients it waits longer.
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
            tracing::warn!(%error, "cannot wait for changes of the database");
            std::thread::sleep(ACTIVITY_INTERVAL);
        }
    }
}
