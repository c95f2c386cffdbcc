//! The thread that counts the tokens of agents. It has no haste: after each step it rests for longer than the step took.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use snell_store::StoreError;
use snell_store::usage::{UsageDirectory, UsageScan};

use crate::http::errors::format_error_chain;
use crate::store_pool::PooledStore;

/// The pause between two looks at the files, at least.
const MIN_PAUSE: Duration = Duration::from_secs(2);

/// A pause is so many times as long as the work before it. So the thread never uses more than a small part of a core.
const LOOK_PAUSE_FACTOR: u32 = 50;
const STEP_PAUSE_FACTOR: u32 = 2;

/// The thread that counts tokens.
pub(crate) struct UsageCounter {
    pub(crate) store: PooledStore,
    pub(crate) directories: Vec<UsageDirectory>,
    pub(crate) stopping: Arc<AtomicBool>,
}

impl UsageCounter {
    /// Runs until the server ends and unparks the thread.
    pub(crate) fn run(mut self) {
        while !self.is_stopping() {
            let began = Instant::now();
            match self.start_scan() {
                Ok(scan) => {
                    let pause = MIN_PAUSE.max(began.elapsed() * LOOK_PAUSE_FACTOR);
                    self.run_steps(scan);
                    self.pause(pause);
                }
                Err(error) => {
                    report_error(&error);
                    self.pause(MIN_PAUSE);
                }
            }
        }
    }

    fn start_scan(&mut self) -> Result<UsageScan, StoreError> {
        let (store, _) = self.store.get_or_open()?;
        UsageScan::start(store, &self.directories)
    }

    fn run_steps(&mut self, mut scan: UsageScan) {
        while !self.is_stopping() {
            let began = Instant::now();
            match self.store.get_or_open().and_then(|(store, _)| scan.run_step(store)) {
                Ok(true) => self.pause(began.elapsed() * STEP_PAUSE_FACTOR),
                Ok(false) => return,
                Err(error) => return report_error(&error),
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    fn pause(&self, pause: Duration) {
        if !self.is_stopping() {
            thread::park_timeout(pause);
        }
    }
}

fn report_error(error: &StoreError) {
    // Another process is writing; the next attempt may succeed.
    if !matches!(error, StoreError::Locked) {
        tracing::warn!(error = format_error_chain(error), "cannot count tokens");
    }
}
