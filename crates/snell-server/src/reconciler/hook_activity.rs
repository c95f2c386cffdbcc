//! What was heard of hooks, whoever wrote it down: this server, or a hook beside it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use snell::Timestamp;
use snell_store::{Result, Store};

use crate::reconciler::poll_mode::{PollMode, PollScheduler};

/// What was heard of hooks since the server started.
#[derive(Debug)]
pub(crate) struct HookActivity {
    poll_scheduler: Arc<PollScheduler>,
    state: Mutex<HookActivityState>,
}

#[derive(Debug)]
struct HookActivityState {
    /// The newest event that was counted; none before the first look.
    last_row: Option<i64>,
    refreshed_at: Timestamp,
    snapshot: ActivitySnapshot,
}

/// What is known of hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ActivitySnapshot {
    /// How many events came since the server started.
    pub(crate) received: u64,
    /// When the last one came.
    pub(crate) last_at: Option<Timestamp>,
    /// Which one it was.
    pub(crate) last_event: Option<String>,
    /// What follows from that.
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

    /// Looks what has come since the last look. What was there before the first one does not count as received.
    pub(crate) fn refresh(&self, store: &mut Store, now: Timestamp) -> Result<ActivitySnapshot> {
        let mut state = self.lock_state();
        let heard = store.summarize_events_since(state.last_row)?;
        let is_first = state.last_row.is_none();
        // Whatever its sender says, it came between the last look and this one.
        let earliest = if is_first { Timestamp::MIN } else { state.refreshed_at };
        if is_first || heard.events > 0 {
            state.snapshot.received += heard.events;
            let heard_at = heard.last_at.map(|at| at.max(earliest).min(now));
            state.snapshot.last_at = state.snapshot.last_at.max(heard_at);
            state.snapshot.last_event = heard.last_event;
        }
        state.last_row = Some(heard.last_row);
        state.refreshed_at = now;
        state.snapshot.mode = self.poll_scheduler.update_mode(state.snapshot.last_at, now);
        Ok(state.snapshot.clone())
    }

    /// Notes that an event came once more which is stored already. It is not new, but whoever sent it lives.
    pub(crate) fn touch(&self, event: &str, now: Timestamp) {
        let mut state = self.lock_state();
        state.snapshot.last_at = state.snapshot.last_at.max(Some(now));
        state.snapshot.last_event = Some(event.to_owned());
        state.snapshot.mode = self.poll_scheduler.update_mode(Some(now), now);
    }
}
