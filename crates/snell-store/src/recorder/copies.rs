//! Copies of events that were stored and may be in the write-ahead log only.

use std::collections::VecDeque;

use crate::prepared::Prepared;

/// So many copies are kept, and so many bytes of payloads. Without readers in its way, the log is folded in long before.
const MAX_COPIES: usize = 1_000;
const MAX_BYTES: usize = 8 * 1024 * 1024;

/// The latest events, the oldest first. Nothing is kept unless it is enabled.
#[derive(Debug, Default)]
pub(super) struct Copies {
    is_enabled: bool,
    kept: VecDeque<Prepared>,
    bytes: usize,
}

impl Copies {
    pub(super) fn enable(&mut self) {
        self.is_enabled = true;
    }

    pub(super) fn add(&mut self, stored: &[Prepared]) {
        if !self.is_enabled {
            return;
        }
        for one in stored {
            self.bytes += one.payload.len();
            self.kept.push_back(one.clone());
        }
        while self.kept.len() > MAX_COPIES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.kept.pop_front() else {
                break;
            };
            self.bytes -= oldest.payload.len();
        }
    }

    pub(super) fn all(&self) -> Vec<Prepared> {
        self.kept.iter().cloned().collect()
    }

    pub(super) fn clear(&mut self) {
        self.kept.clear();
        self.bytes = 0;
    }
}
