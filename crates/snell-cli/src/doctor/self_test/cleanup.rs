//! Cleans up a self-test if a signal ends the doctor.

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

/// Things to remove.
#[derive(Debug, Default)]
struct PendingCleanup {
    sandbox_dir: Option<PathBuf>,
    /// The process group under test.
    group: Option<Pid>,
}

/// Ends the program under test if a signal ends the doctor.
#[derive(Clone, Debug, Default)]
pub(super) struct SelfTestCleanup(Arc<Mutex<PendingCleanup>>);

impl SelfTestCleanup {
    /// Starts to listen for signals. If that fails, the doctor still works.
    pub(super) fn listen() -> Self {
        let cleanup = Self::default();
        let own = cleanup.clone();
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
            // They are caught before anything runs, so that no signal comes too early.
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

    /// Creates a sandbox that is removed after a signal.
    pub(super) fn create_sandbox(
        &self,
        make: impl FnOnce() -> io::Result<SelfTestSandbox>,
    ) -> io::Result<SelfTestSandbox> {
        let mut pending = self.lock_pending();
        let sandbox = make()?;
        pending.sandbox_dir = Some(sandbox.home_dir().to_owned());
        Ok(sandbox)
    }

    /// Starts a process group that is ended after a signal.
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
