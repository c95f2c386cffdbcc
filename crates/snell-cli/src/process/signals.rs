//! Signals that must not end this process before it has reported its verdict.
//!
//! Each listed signal gets a handler that does nothing, not `SIG_IGN`: `exec` resets a handler to the default, so hooks and
//! other child processes start with default actions, even if the parent of this process ignored the signal. With a handler
//! in place the failing system call returns its error (`EFBIG` for `SIGXFSZ`), which existing code reports.
//!
//! Not listed, on purpose:
//! - `SIGTERM`, `SIGINT`, `SIGHUP`, `SIGQUIT`: a request to end. An agent that sends one has stopped waiting for the answer.
//!   While hooks run, [`crate::commands::block_on`] catches the first three, so a deny is still reported.
//! - `SIGPIPE`: the Rust runtime ignores it, and resets it for child processes.
//! - `SIGTTIN`, `SIGTTOU`: the terminal driver repeats the system call after a handler returns, so a handler would spin.
//! - `SIGSEGV`, `SIGBUS`, `SIGILL`, `SIGFPE`, `SIGABRT`: memory or program state is damaged. `SIGSYS` too: the system call did
//!   not run, and its result is meaningless.
//! - Real-time signals: there are 31, each would cost every hook two system calls, and a process that sends one could send
//!   `SIGKILL` as well.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[cfg(target_os = "linux")]
use rustix::process::Signal;
use signal_hook::consts::{SIGALRM, SIGIO, SIGPROF, SIGTRAP, SIGUSR1, SIGUSR2, SIGVTALRM, SIGXCPU, SIGXFSZ};

/// Signals that end a process by default although no user asked for it:
/// - limits on file size or processor time, which may hit while recording;
/// - timers, which survive `exec`;
/// - messages for another program, for a debugger, or from a power supply.
const UNSOLICITED: &[i32] = &[SIGXFSZ, SIGXCPU, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGTRAP];

/// Signals of the same kind that only Linux has.
#[cfg(target_os = "linux")]
const UNSOLICITED_ON_LINUX: &[i32] = &[Signal::STKFLT.as_raw(), Signal::POWER.as_raw()];
#[cfg(not(target_os = "linux"))]
const UNSOLICITED_ON_LINUX: &[i32] = &[];

/// Keeps the listed signals from ending this process.
pub(crate) fn survive_unsolicited_signals() {
    let was_received = Arc::new(AtomicBool::new(false));
    for signal in UNSOLICITED.iter().chain(UNSOLICITED_ON_LINUX) {
        // If a handler cannot be installed, the default action stays.
        let _ = signal_hook::flag::register(*signal, Arc::clone(&was_received));
    }
}
