//! The clock of the server.

use snell::Timestamp;

/// The clock, which tests and replays can fix.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ServerClock {
    pub(crate) fixed: Option<Timestamp>,
}

impl ServerClock {
    /// The time with the precision of the store, so that live and stored values are equal.
    pub(crate) fn now(self) -> Timestamp {
        let now = self.fixed.unwrap_or_else(Timestamp::now);
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}
