//! What is cleared away if somebody ends the doctor in the middle of a proof.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, exit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::signal::unix::{SignalKind, signal};

use super::run::SelfTestSandbox;

/// What would be left behind.
#[derive(Debug, Default)]
struct PendingCleanup {
    sandbox_dir: Option<PathBuf>,
    /// The processes that are being tried.
    group: Option<Pid>,
}

/// Whoever ends the doctor ends what it tries, too.
#[derive(Clone, Debug, Default)]
pub(super) struct SelfTestCleanup(Arc<Mutex<PendingCleanup>>);

impl SelfTestCleanup {
    /// Begins to watch. Where that cannot be done, the doctor works all the same.
    pub(super) fn listen() -> Self {
        let watch = Self::default();
        let own = watch.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
        if let Ok(runtime) = runtime {
            let inside = runtime.enter();
            // Whoever ends it at once must be heard, too, so it listens before anything is tried.
            let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
            drop(inside);
            if let [Ok(terminated), Ok(interrupted), Ok(hung_up)] = signals {
                // It is left behind when nobody waits any more, and ends with the program.
                thread::spawn(move || runtime.block_on(own.clean_up_on_signal([terminated, interrupted, hung_up])));
            }
        }
        watch
    }

    /// A room that is cleared away with everything in it.
    pub(super) fn create_sandbox(
        &self,
        make: impl FnOnce() -> io::Result<SelfTestSandbox>,
    ) -> io::Result<SelfTestSandbox> {
        let mut underway = self.lock_pending();
        let room = make()?;
        underway.sandbox_dir = Some(room.home_dir().to_owned());
        Ok(room)
    }

    /// Starts processes that are ended with it.
    pub(super) fn spawn_process(&self, command: &mut Command) -> io::Result<Child> {
        let mut underway = self.lock_pending();
        let child = command.spawn()?;
        underway.group = Some(Pid::from_child(&child));
        Ok(child)
    }

    pub(super) fn mark_ended(&self) {
        self.lock_pending().group = None;
    }

    fn lock_pending(&self) -> MutexGuard<'_, PendingCleanup> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn clean_up_on_signal(
        self,
        [mut terminated, mut interrupted, mut hung_up]: [tokio::signal::unix::Signal; 3],
    ) {
        let ended_by = tokio::select! {
            _ = terminated.recv() => Signal::TERM,
            _ = interrupted.recv() => Signal::INT,
            _ = hung_up.recv() => Signal::HUP,
        };
        let underway = self.lock_pending();
        if let Some(group) = underway.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        if let Some(room) = &underway.sandbox_dir {
            let _ = fs::remove_dir_all(room);
        }
        // As a shell says it.
        exit(128 + ended_by.as_raw());
    }
}
