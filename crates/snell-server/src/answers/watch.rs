//! Shows hooks that this server can pass on answers, as long as it can.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use snell_store::requests::WatcherLock;

/// The clients that may answer, and the lock that hooks test.
#[derive(Debug)]
pub(crate) struct AnswerWatch {
    directory: PathBuf,
    state: Mutex<WatchState>,
}

#[derive(Debug, Default)]
struct WatchState {
    clients: usize,
    lock: Option<WatcherLock>,
}

/// A client that may answer, as long as this exists.
#[derive(Debug)]
pub(crate) struct WatchGuard(Arc<AnswerWatch>);

impl AnswerWatch {
    pub(crate) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), state: Mutex::default() }
    }

    /// Adds a client that may answer.
    pub(crate) fn join(self: &Arc<Self>) -> WatchGuard {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clients += 1;
        if state.lock.is_none() {
            match WatcherLock::hold(&self.directory) {
                Ok(lock) => state.lock = Some(lock),
                Err(error) => tracing::warn!(%error, "cannot show hooks that requests can be answered here"),
            }
        }
        WatchGuard(self.clone())
    }
}

impl Drop for WatchGuard {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clients -= 1;
        if state.clients == 0 {
            state.lock = None;
        }
    }
}
