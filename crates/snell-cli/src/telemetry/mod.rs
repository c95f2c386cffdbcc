//! Sends traces, logs and metrics to an OpenTelemetry collector, from the record and never from a hook.
//!
//! A [`TelemetryExporter`] runs in the daemon and in `snell serve`, on a thread of its own. It reads events in their order,
//! builds spans, log records and measurements, and stores them together with its position in one transaction. Then it sends
//! what is stored, and removes what the collector has accepted. Several may run at once: of two that read the same events only
//! one can store the result, and one at a time sends a signal.
//!
//! If a process is killed after the collector has accepted a request and before that is stored, the request is sent again, with
//! the same ids.

mod attributes;
mod client;
mod measurements;
mod open_spans;
mod pass;
mod report;
mod request;
mod span;
mod span_builder;
mod verdict_log;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::guard::catch_panic::catch_panic;
pub(crate) use client::{CollectorAnswer, post_telemetry};
use pass::ExportPass;
pub(crate) use report::TelemetryReport;
pub(crate) use request::build_empty_request;

/// How often the database is checked for changes.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// How long the last request may take after a process was asked to end.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// A running exporter.
#[derive(Debug)]
pub(crate) struct TelemetryExporter {
    should_stop: Arc<AtomicBool>,
    waker: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl TelemetryExporter {
    /// Starts an exporter for this database.
    pub(crate) fn start(database: PathBuf) -> std::io::Result<Self> {
        let (waker, wake_ups) = channel();
        let should_stop = Arc::new(AtomicBool::new(false));
        let stops = should_stop.clone();
        let run = move || {
            let mut pass = ExportPass::new(database, stops.clone());
            loop {
                let is_last = stops.load(Ordering::Relaxed);
                // A fault of the exporter must not end the process that records events.
                let _ = catch_panic(|| pass.run());
                if is_last || wake_ups.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Disconnected) {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("telemetry".into()).spawn(run)?;
        Ok(Self { should_stop, waker, thread: Some(thread) })
    }

    /// Ends it after a last pass, within a time limit.
    pub(crate) fn stop(mut self) {
        self.should_stop.store(true, Ordering::Relaxed);
        let _ = self.waker.send(());
        let stop_at = Instant::now() + SHUTDOWN_TIMEOUT;
        let Some(thread) = self.thread.take() else {
            return;
        };
        while !thread.is_finished() && Instant::now() < stop_at {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
