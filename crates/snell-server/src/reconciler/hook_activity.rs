//! Recent hook events, from this server and from hooks that write to the database.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use snell::Timestamp;
use snell_store::{Result, Store};

use crate::reconciler::poll_mode::{PollMode, PollScheduler};

/// The hook events since the server started.
#[derive(Debug)]
pub(crate) struct HookActivity {
    poll_scheduler: Arc<PollScheduler>,
    state: Mutex<HookActivityState>,
}

#[derive(Debug)]
struct HookActivityState {
    /// The newest event that was counted; none before the first refresh.
    last_row: Option<i64>,
    refreshed_at: Timestamp,
    snapshot: ActivitySnapshot,
}

/// The current hook activity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActivitySnapshot {
    /// The number of events since the server started.
    pub(crate) received: u64,
    /// The time of the last event.
    pub(crate) last_at: Option<Timestamp>,
    /// The name of the last event.
    pub(crate) last_event: Option<String>,
    /// The resulting mode.
    pub(crate) mode: PollMode,
}

impl HookActivity {
    pub(crate) fn new(poll_scheduler: Arc<PollScheduler>, now: Timestamp) -> Self {
        Self {
            poll_scheduler,
            state: Mutex::new(HookActivityState {
                last_row: None,
                refreshed_at: now,
                snapshot: ActivitySnapshot {
                    received: 0,
                    last_at: None,
                    last_event: None,
                    mode: PollMode::PollingFallback,
                },
            }),
        }
    }

    fn lock_state(&self) -> MutexGuard<'_, HookActivityState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the events since the last refresh. Events before the first one do not count as received.
    pub(crate) fn refresh(&self, store: &mut Store, now: Timestamp) -> Result<ActivitySnapshot> {
        let mut state = self.lock_state();
        let new = store.summarize_events_since(state.last_row)?;
        let is_first = state.last_row.is_none();
        // Whatever its time, an event arrived between the last refresh and this one.
        let earliest = if is_first { Timestamp::MIN } else { state.refreshed_at };
        if is_first || new.events > 0 {
            state.snapshot.received += new.events;
            let arrived_at = new.last_at.map(|at| at.max(earliest).min(now));
            state.snapshot.last_at = state.snapshot.last_at.max(arrived_at);
            state.snapshot.last_event = new.last_event;
        }
        state.last_row = Some(new.last_row);
        state.refreshed_at = now;
        state.snapshot.mode = self.poll_scheduler.update_mode(state.snapshot.last_at, now);
        Ok(state.snapshot.clone())
    }

    /// Notes a duplicate event. It is not new, but it shows that its sender is alive.
    pub(crate) fn touch(&self, event: &str, now: Timestamp) {
        let mut state = self.lock_state();
        state.snapshot.last_at = state.snapshot.last_at.max(Some(now));
        state.snapshot.last_event = Some(event.to_owned());
        state.snapshot.mode = self.poll_scheduler.update_mode(Some(now), now);
    }
}
