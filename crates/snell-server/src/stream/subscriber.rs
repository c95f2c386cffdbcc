//! One stream client: first it gets missed changes from the database, then live ones.

use std::time::Duration;

use axum::body::Bytes;
use snell_store::{ChangeRange, ChangeRow};
use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior, interval_at};

use super::filter::StreamFilter;
use super::hub::{CursorItem, HubCursor};
use super::sse_frame::{HEARTBEAT, SseBatch, encode_database_gap, encode_gap, encode_greeting};
use crate::answers::WatchGuard;
use crate::app_state::{AppState, SharedAppState};
use crate::http::acceptor::{ShutdownPhase, wait_for_shutdown};
use crate::http::errors::HttpError;
use crate::metrics::GaugeGuard;

/// The maximum number of changes per read of the database.
const MAX_CHANGES_PER_PAGE: u32 = 256;

/// The value of `Retry-After` if there are too many clients.
const FULL_RETRY_AFTER: Duration = Duration::from_secs(5);

/// One stream client.
pub(super) struct StreamSubscriber {
    app: SharedAppState,
    filter: StreamFilter,
    cursor: HubCursor,
    /// The last change that was sent or skipped on purpose.
    last_seen: i64,
    /// Whether the client connects for the first time.
    is_new: bool,
    /// Whether changes after `last_seen` were dropped.
    is_behind: bool,
    stage: SubscriberStage,
    heartbeat: Interval,
    phase: watch::Receiver<ShutdownPhase>,
    _counted: GaugeGuard,
    /// Present if the client may answer requests of agents.
    _watch: Option<WatchGuard>,
}

#[derive(Debug)]
enum SubscriberStage {
    /// Send the greeting, and a gap if changes are missing.
    Greeting { gap_from: Option<i64> },
    /// Send missed changes.
    CatchingUp,
    /// Send live changes.
    Live,
}

impl StreamSubscriber {
    /// Opens a stream for a client that has seen everything up to a change, or wants only new changes.
    pub(super) async fn subscribe(
        app: SharedAppState,
        filter: StreamFilter,
        seen: Option<i64>,
    ) -> Result<Self, HttpError> {
        // Subscribe before reading the range, so that no change is lost in between.
        let place = app
            .hub
            .subscribe()
            .ok_or_else(|| HttpError::Busy { why: "too many stream clients".into(), retry_after: FULL_RETRY_AFTER })?;
        let range = app.store_pool.with_store(|store| store.change_range()).await?;
        app.hub.start_after(range.newest);
        let is_new = seen.is_none();
        let (seen, gap_from) = find_resume_position(seen, range);
        let every = app.settings.heartbeat;
        let mut heartbeat = interval_at(tokio::time::Instant::now() + every, every);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let counted = GaugeGuard::new(&app.metrics.stream_clients);
        Ok(Self {
            filter,
            cursor: place,
            last_seen: seen,
            is_new,
            is_behind: false,
            stage: SubscriberStage::Greeting { gap_from },
            heartbeat,
            phase: app.shutdown_phase.clone(),
            _counted: counted,
            _watch: None,
            app,
        })
    }

    /// The same for a client that may answer requests.
    pub(super) fn with_watch(self, watch: Option<WatchGuard>) -> Self {
        Self { _watch: watch, ..self }
    }

    /// The next chunk; `None` when the stream ends.
    pub(super) async fn next_chunk(mut self) -> Option<(Bytes, Self)> {
        let mut phase = self.phase.clone();
        let chunk = tokio::select! {
            biased;
            () = wait_for_shutdown(&mut phase) => None,
            chunk = self.produce_chunk() => chunk,
        };
        chunk.map(|chunk| (chunk, self))
    }

    async fn produce_chunk(&mut self) -> Option<Bytes> {
        loop {
            let chunk = match &self.stage {
                SubscriberStage::Greeting { gap_from } => {
                    let greeting = self.greeting_chunk(*gap_from);
                    self.stage = SubscriberStage::CatchingUp;
                    Some(greeting)
                }
                SubscriberStage::CatchingUp => self.catch_up().await?,
                SubscriberStage::Live => self.next_live_chunk().await?,
            };
            if chunk.is_some() {
                return chunk;
            }
        }
    }

    fn greeting_chunk(&self, gap_from: Option<i64>) -> Bytes {
        let Some(from) = gap_from else {
            return encode_greeting(self.is_new.then_some(self.last_seen));
        };
        let mut greeting = encode_greeting(None).to_vec();
        greeting.extend_from_slice(&self.gap_chunk(from));
        greeting.into()
    }

    /// A gap from this change to the last seen one.
    fn gap_chunk(&self, from: i64) -> Bytes {
        self.app.metrics.gaps.inc();
        encode_gap(from, self.last_seen)
    }

    /// The next page of missed changes. The stream ends (`None`) if reading fails; the client reconnects.
    async fn catch_up(&mut self) -> Option<Option<Bytes>> {
        let page = read_missed_changes(&self.app, self.last_seen).await.ok()?;
        let is_last = page.changes.len() < MAX_CHANGES_PER_PAGE as usize;
        let mut text = Vec::new();
        if page.pruned_up_to > self.last_seen {
            let from = std::mem::replace(&mut self.last_seen, page.pruned_up_to);
            text.extend_from_slice(&self.gap_chunk(from));
        }
        let batch = SseBatch::from_changes(&page.changes);
        text.extend(self.take_wanted(&batch).unwrap_or_default());
        // Otherwise the follower could not notice that the database was replaced before it has read this far.
        self.app.hub.record_read_ahead(batch.last_id().unwrap_or(0));
        // If the queue has moved on meanwhile, continue reading here.
        if is_last && !self.cursor.skip_if_gone() {
            self.stage = SubscriberStage::Live;
        }
        Some(Some(Bytes::from(text)).filter(|text| !text.is_empty()))
    }

    /// The next live chunk or heartbeat. The stream ends (`None`) if it cannot continue; the client reconnects.
    async fn next_live_chunk(&mut self) -> Option<Option<Bytes>> {
        match self.cursor.next_item() {
            CursorItem::Batch(batch) if self.is_behind => Some(self.resume_after_gap(&batch)),
            CursorItem::Batch(batch) => Some(self.take_wanted(&batch)),
            CursorItem::Gone => {
                self.is_behind = true;
                Some(None)
            }
            CursorItem::Replaced => self.restart_on_new_database().await.map(Some),
            CursorItem::Nothing => {
                tokio::select! {
                    () = self.cursor.wait_for_change() => Some(None),
                    _ = self.heartbeat.tick() => Some(Some(Bytes::from_static(HEARTBEAT.as_bytes()))),
                }
            }
        }
    }

    /// Continues with the new database. The changes in between are unknown.
    async fn restart_on_new_database(&mut self) -> Option<Bytes> {
        // Move the cursor first, as in `subscribe`.
        self.cursor.jump_to_end();
        let range = self.app.store_pool.with_store(|store| store.change_range()).await.ok()?;
        self.app.hub.start_after(range.newest);
        let from = std::mem::replace(&mut self.last_seen, range.newest);
        self.is_behind = false;
        self.stage = SubscriberStage::CatchingUp;
        self.app.metrics.gaps.inc();
        Some(encode_database_gap(from, self.last_seen))
    }

    /// Sends a gap up to the oldest batch that is left, and continues there.
    fn resume_after_gap(&mut self, batch: &SseBatch) -> Option<Bytes> {
        self.is_behind = false;
        let before = (batch.first_id()? - 1).max(self.last_seen);
        let from = std::mem::replace(&mut self.last_seen, before);
        let mut text = self.gap_chunk(from).to_vec();
        text.extend(self.take_wanted(batch).unwrap_or_default());
        Some(text.into())
    }

    /// The matching changes of a batch, which then counts as seen.
    fn take_wanted(&mut self, batch: &SseBatch) -> Option<Bytes> {
        let wanted = batch.filter_frames(&self.filter, self.last_seen);
        self.last_seen = batch.last_id().unwrap_or(0).max(self.last_seen);
        wanted
    }
}

/// The resume position, and the start of a gap if changes are missing.
fn find_resume_position(seen: Option<i64>, range: ChangeRange) -> (i64, Option<i64>) {
    match seen {
        None => (range.newest, None),
        // The client comes from another database.
        Some(seen) if seen > range.newest => (range.newest, Some(seen)),
        // The missed changes were removed.
        Some(seen) if seen + 1 < range.oldest => (range.oldest - 1, Some(seen)),
        Some(seen) => (seen, None),
    }
}

/// A page of missed changes.
struct MissedChanges {
    changes: Vec<ChangeRow>,
    /// Changes up to this one were removed.
    pruned_up_to: i64,
}

async fn read_missed_changes(app: &AppState, seen: i64) -> Result<MissedChanges, HttpError> {
    let ask = move |store: &mut snell_store::Store| {
        let changes = store.list_changes_after(seen, MAX_CHANGES_PER_PAGE)?;
        let skips = changes.first().is_some_and(|first| first.id > seen + 1);
        let forgotten_up_to = if skips { store.change_range()?.oldest - 1 } else { 0 };
        Ok(MissedChanges { changes, pruned_up_to: forgotten_up_to })
    };
    app.store_pool.with_store(ask).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_resume_position_depends_on_the_last_seen_change_and_the_stored_range() {
        let range = ChangeRange { oldest: 10, newest: 20 };
        let none = ChangeRange::default();
        let cases = [
            (None, range, (20, None)),
            (Some(15), range, (15, None)),
            (Some(20), range, (20, None)),
            (Some(9), range, (9, None)),
            (Some(8), range, (9, Some(8))),
            (Some(0), range, (9, Some(0))),
            (Some(21), range, (20, Some(21))),
            (Some(i64::MAX), range, (20, Some(i64::MAX))),
            (None, none, (0, None)),
            (Some(0), none, (0, None)),
            (Some(5), none, (0, Some(5))),
        ];
        for (seen, range, expected) in cases {
            assert_eq!(find_resume_position(seen, range), expected, "{seen:?} {range:?}");
        }
    }
}
