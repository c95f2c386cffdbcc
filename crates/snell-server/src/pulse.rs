//! What was heard of hooks, whoever wrote it down: this server, or a hook beside it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use snell::Timestamp;
use snell_store::{Result, Store};

use crate::hybrid::{Hybrid, Mode};

/// What was heard of hooks since the server started.
#[derive(Debug)]
pub(crate) struct Pulse {
    hybrid: Arc<Hybrid>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The newest event that was counted; none before the first look.
    row: Option<i64>,
    looked_at: Timestamp,
    beat: Beat,
}

/// What is known of hooks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Beat {
    /// How many events came since the server started.
    pub(crate) received: u64,
    /// When the last one came.
    pub(crate) last_at: Option<Timestamp>,
    /// Which one it was.
    pub(crate) last_event: Option<String>,
    /// What follows from that.
    pub(crate) mode: Mode,
}

impl Pulse {
    pub(crate) fn new(hybrid: Arc<Hybrid>, now: Timestamp) -> Self {
        Self {
            hybrid,
            state: Mutex::new(State {
                row: None,
                looked_at: now,
                beat: Beat {
                    received: 0,
                    last_at: None,
                    last_event: None,
                    mode: Mode::PollingFallback,
                },
            }),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks what has come since the last look. What was there before the first one does not count as received.
    pub(crate) fn feel(&self, store: &mut Store, now: Timestamp) -> Result<Beat> {
        let mut state = self.state();
        let heard = store.heard_since(state.row)?;
        let is_first = state.row.is_none();
        // Whatever its sender says, it came between the last look and this one.
        let earliest = if is_first { Timestamp::MIN } else { state.looked_at };
        if is_first || heard.events > 0 {
            state.beat.received += heard.events;
            let heard_at = heard.last_at.map(|at| at.max(earliest).min(now));
            state.beat.last_at = state.beat.last_at.max(heard_at);
            state.beat.last_event = heard.last_event;
        }
        state.row = Some(heard.last_row);
        state.looked_at = now;
        state.beat.mode = self.hybrid.turn(state.beat.last_at, now);
        Ok(state.beat.clone())
    }

    /// Notes that an event came once more which is stored already. It is not new, but whoever sent it lives.
    pub(crate) fn feel_again(&self, event: &str, now: Timestamp) {
        let mut state = self.state();
        state.beat.last_at = state.beat.last_at.max(Some(now));
        state.beat.last_event = Some(event.to_owned());
        state.beat.mode = self.hybrid.turn(Some(now), now);
    }
}
