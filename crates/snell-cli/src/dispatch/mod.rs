//! Reacts to changes of agents' states: runs hooks on derived events, notifies the user, and opens requests of agents that wait.
//!
//! The store records each change together with the state. A [`Dispatcher`] runs in the daemon and in `snell serve`, on a
//! thread of its own: it plans the deliveries of each change, claims those that are due, makes them on further threads and
//! stores the results. Several may run at once: a delivery is claimed by one process at a time.
//!
//! Order: claim, deliver, store the result. If a process is killed between the last two, another one delivers again once the
//! claim has expired, so each delivery is made at least once. Receivers get an id to recognise a repetition.

mod derived_event;
mod in_flight;
mod link;
mod notice;
mod pass;
mod plan;
mod request_notice;
pub(crate) mod secret;
mod targets;
mod waits;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

pub(crate) use link::PageLink;
pub(crate) use notice::Notice;
pub(crate) use pass::ConnectionLifetime;
use pass::DispatchPass;
pub(crate) use targets::{DeliveryTarget, NoticeSender, check_target};

/// How often the database is checked for changes. A query of a partial index takes microseconds.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How long deliveries may take after a process was asked to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Signals between the dispatcher and its process.
#[derive(Debug, Default)]
pub(crate) struct DispatchSignals {
    /// Whether deliveries are open, so that the process should not end.
    pub(crate) is_busy: AtomicBool,
    /// Whether the dispatcher should end.
    should_stop: AtomicBool,
}

/// A running dispatcher.
#[derive(Debug)]
pub(crate) struct Dispatcher {
    signals: Arc<DispatchSignals>,
    waker: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Dispatcher {
    /// Starts a dispatcher for this database.
    pub(crate) fn start(
        database: PathBuf,
        lifetime: ConnectionLifetime,
        link: PageLink,
        signals: Arc<DispatchSignals>,
    ) -> std::io::Result<Self> {
        let (waker, wake_ups) = channel();
        let shared = signals.clone();
        let pass = DispatchPass::new(database, lifetime, link, waker.clone());
        let run = move || run_passes(pass, &wake_ups, &shared);
        let thread = std::thread::Builder::new().name("dispatcher".into()).spawn(run)?;
        Ok(Self { signals, waker, thread: Some(thread) })
    }

    /// Ends it after the deliveries that are under way, within a time limit.
    pub(crate) fn stop(mut self) {
        self.signals.should_stop.store(true, Ordering::Relaxed);
        let _ = self.waker.send(());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run_passes(mut pass: DispatchPass, wake_ups: &Receiver<()>, signals: &DispatchSignals) {
    let mut stop_at: Option<Instant> = None;
    loop {
        let is_stopping = signals.should_stop.load(Ordering::Relaxed);
        if is_stopping {
            let stop_at = *stop_at.get_or_insert_with(|| Instant::now() + SHUTDOWN_TIMEOUT);
            pass.collect_results();
            if !pass.is_delivering() || Instant::now() > stop_at {
                pass.finish();
                return;
            }
        } else {
            let is_busy = pass.run();
            signals.is_busy.store(is_busy, Ordering::Relaxed);
        }
        match wake_ups.recv_timeout(POLL_INTERVAL) {
            Ok(()) | Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}
