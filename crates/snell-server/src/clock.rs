//! What time it is.

use snell::Timestamp;

/// The clock, which tests and replays may stop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServerClock {
    pub(crate) fixed: Option<Timestamp>,
}

impl ServerClock {
    /// The time, no finer than the store keeps it: what is told at once and what is read later are the same.
    pub(crate) fn now(self) -> Timestamp {
        let now = self.fixed.unwrap_or_else(Timestamp::now);
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}
