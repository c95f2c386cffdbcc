//! Signals that ask this process to end: they are caught and awaited.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that a user, a service manager or a closed terminal sends to end a process.
const END_REQUESTS: [SignalKind; 3] = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()];

/// Signals that are caught until this process ends.
#[derive(Debug)]
pub(crate) struct CaughtSignals(Vec<(SignalKind, Signal)>);

impl CaughtSignals {
    /// Catches these signals. Call it inside a runtime.
    pub(crate) fn new(kinds: impl IntoIterator<Item = SignalKind>) -> io::Result<Self> {
        let caught = kinds.into_iter().map(|kind| Ok((kind, signal(kind)?)));
        Ok(Self(caught.collect::<io::Result<_>>()?))
    }

    /// Catches requests to end.
    pub(crate) fn end_requests() -> io::Result<Self> {
        Self::new(END_REQUESTS)
    }

    /// Waits for the next signal.
    pub(crate) async fn wait(&mut self) -> SignalKind {
        poll_fn(|context| {
            let received = self
                .0
                .iter_mut()
                .find_map(|(kind, signal)| matches!(signal.poll_recv(context), Poll::Ready(Some(()))).then_some(*kind));
            received.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// The exit code after a signal, as a shell reports it.
pub(crate) fn exit_code_after(signal: SignalKind) -> u8 {
    u8::try_from(128 + signal.as_raw_value()).unwrap_or(u8::MAX)
}
