//! Copies of stored events that may be only in the write-ahead log.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::derive::normalize::NormalizedEvent;

/// The largest number of copies, and of bytes in their payloads. Usually a checkpoint comes long before.
const MAX_COPIES: usize = 1_000;
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The latest events, the oldest first. Empty unless it is enabled.
#[derive(Debug, Default)]
pub(super) struct EventCopies {
    is_enabled: bool,
    events: VecDeque<Arc<NormalizedEvent>>,
    bytes: usize,
}

impl EventCopies {
    pub(super) fn enable(&mut self) {
        self.is_enabled = true;
    }

    /// Adds copies, and returns those that they replace.
    pub(super) fn add(&mut self, stored: &[Arc<NormalizedEvent>]) -> Vec<Arc<NormalizedEvent>> {
        let mut replaced = Vec::new();
        if !self.is_enabled {
            return replaced;
        }
        for one in stored {
            self.bytes += one.payload.len();
            self.events.push_back(one.clone());
        }
        while self.events.len() > MAX_COPIES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.events.pop_front() else {
                break;
            };
            self.bytes -= oldest.payload.len();
            replaced.push(oldest);
        }
        replaced
    }

    pub(super) fn to_vec(&self) -> Vec<Arc<NormalizedEvent>> {
        self.events.iter().cloned().collect()
    }

    pub(super) fn clear(&mut self) {
        self.events.clear();
        self.bytes = 0;
    }
}
