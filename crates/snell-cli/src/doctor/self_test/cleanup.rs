//! Removes what a self-test has made if a signal ends the doctor in the middle of it.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, exit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::signal::unix::SignalKind;

use super::run::SelfTestSandbox;
use crate::process::end_signals::{CaughtSignals, exit_code_after};

/// What would be left behind.
#[derive(Debug, Default)]
struct PendingCleanup {
    sandbox_dir: Option<PathBuf>,
    /// The process group under test.
    group: Option<Pid>,
}

/// A signal that ends the doctor also ends the program under test.
#[derive(Clone, Debug, Default)]
pub(super) struct SelfTestCleanup(Arc<Mutex<PendingCleanup>>);

impl SelfTestCleanup {
    /// Begins to listen for signals. The doctor works as well if that fails.
    pub(super) fn listen() -> Self {
        let cleanup = Self::default();
        let own = cleanup.clone();
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
            // They are caught before anything runs, so that none of them comes too early.
            let requests = {
                let _inside = runtime.enter();
                CaughtSignals::end_requests()
            };
            if let Ok(mut requests) = requests {
                // The thread ends with the program.
                thread::spawn(move || own.clean_up_and_exit(runtime.block_on(requests.wait())));
            }
        }
        cleanup
    }

    /// Makes a sandbox that a signal removes with everything in it.
    pub(super) fn create_sandbox(
        &self,
        make: impl FnOnce() -> io::Result<SelfTestSandbox>,
    ) -> io::Result<SelfTestSandbox> {
        let mut pending = self.lock_pending();
        let sandbox = make()?;
        pending.sandbox_dir = Some(sandbox.home_dir().to_owned());
        Ok(sandbox)
    }

    /// Starts a process group that a signal ends.
    pub(super) fn spawn_process(&self, command: &mut Command) -> io::Result<Child> {
        let mut pending = self.lock_pending();
        let child = command.spawn()?;
        pending.group = Some(Pid::from_child(&child));
        Ok(child)
    }

    pub(super) fn mark_ended(&self) {
        self.lock_pending().group = None;
    }

    fn lock_pending(&self) -> MutexGuard<'_, PendingCleanup> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn clean_up_and_exit(self, signal: SignalKind) {
        let pending = self.lock_pending();
        if let Some(group) = pending.group {
            let _ = kill_process_group(group, Signal::KILL);
        }
        if let Some(directory) = &pending.sandbox_dir {
            let _ = fs::remove_dir_all(directory);
        }
        exit(exit_code_after(signal).into());
    }
}
