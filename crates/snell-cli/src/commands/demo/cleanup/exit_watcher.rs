//! Waits for the end of the demo: a signal, a closed output, or Enter after the last scene.

use std::io::{self, IsTerminal};
use std::time::Duration;

use rustix::process::Signal;
use rustix::termios::QueueSelector;
use tokio::signal::unix::SignalKind;
use tokio::sync::oneshot;

use crate::commands::DONE;
use crate::output;
use crate::process::end_signals::{CaughtSignals, exit_code_after};

const OUTPUT_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// All signals that end a program and can be caught. After others, the next demo removes the directory.
const SIGNALS: &[Signal] = &[
    Signal::HUP,
    Signal::INT,
    Signal::QUIT,
    Signal::TERM,
    Signal::ALARM,
    Signal::USR1,
    Signal::USR2,
    Signal::VTALARM,
    Signal::PROF,
    Signal::XCPU,
    Signal::XFSZ,
];

/// The events that end the demo from outside.
#[derive(Debug)]
pub(in super::super) struct DemoExitWatcher(CaughtSignals);

impl DemoExitWatcher {
    pub(in super::super) fn new() -> io::Result<Self> {
        Ok(Self(CaughtSignals::new(SIGNALS.iter().map(|signal| SignalKind::from_raw(signal.as_raw())))?))
    }

    /// Waits for one of them, and returns the exit code.
    pub(in super::super) async fn wait_for_exit(&mut self) -> u8 {
        tokio::select! {
            signal = self.0.wait() => exit_code_after(signal),
            () = wait_for_closed_output() => DONE,
        }
    }

    /// Waits for one of them, or for Enter.
    pub(in super::super) async fn wait_for_exit_or_enter(&mut self) {
        tokio::select! {
            _ = self.wait_for_exit() => {}
            () = wait_for_enter() => {}
        }
    }
}

/// The key that ends the demo.
pub(in super::super) fn exit_key_name() -> &'static str {
    if is_foreground_terminal() { "Enter" } else { "Ctrl-C" }
}

/// Whether this process may read from the terminal: the system stops a background job that does.
fn is_foreground_terminal() -> bool {
    let stdin = io::stdin();
    let in_foreground = || rustix::termios::tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp());
    stdin.is_terminal() && in_foreground()
}

/// Discards text that was typed before the prompt.
pub(in super::super) fn discard_typed_input() {
    if is_foreground_terminal() {
        // On failure, earlier input may end the page early.
        let _ = rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

async fn wait_for_enter() {
    if !is_foreground_terminal() {
        return std::future::pending().await;
    }
    let (pressed, was_pressed) = oneshot::channel();
    // A blocking read cannot be cancelled; the thread ends with the program.
    std::thread::spawn(move || {
        let _ = io::stdin().read_line(&mut String::new());
        let _ = pressed.send(());
    });
    let _ = was_pressed.await;
}

/// Waits until the other end of standard output is closed.
async fn wait_for_closed_output() {
    while output::is_stdout_open() {
        tokio::time::sleep(OUTPUT_POLL_INTERVAL).await;
    }
}
