//! What ends the demo: a signal, nobody who reads it, or Enter once everything is played.

use std::io::{self, IsTerminal};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use super::DONE;
use crate::output;

/// How often it is looked whether somebody still reads.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Everything was played.
    Played,
    /// Nobody reads it any more.
    Unheard,
    /// By this signal.
    By(SignalKind),
}

impl Ended {
    /// The exit code; after a signal, as a shell says it.
    pub(super) fn code(self) -> u8 {
        match self {
            Self::Played | Self::Unheard => DONE,
            Self::By(signal) => u8::try_from(128 + signal.as_raw_value()).unwrap_or(u8::MAX),
        }
    }
}

/// Everything that may end it from outside.
#[derive(Debug)]
pub(super) struct Endings {
    terminate: Signal,
    interrupt: Signal,
    hangup: Signal,
}

impl Endings {
    pub(super) fn watch() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for any of them.
    pub(super) async fn any(&mut self) -> Ended {
        tokio::select! {
            _ = self.terminate.recv() => Ended::By(SignalKind::terminate()),
            _ = self.interrupt.recv() => Ended::By(SignalKind::interrupt()),
            _ = self.hangup.recv() => Ended::By(SignalKind::hangup()),
            () = unheard() => Ended::Unheard,
        }
    }

    /// Waits for any of them, or for Enter.
    pub(super) async fn any_or_enter(&mut self) {
        tokio::select! {
            _ = self.any() => {}
            () = enter() => {}
        }
    }
}

/// What a person has to press.
pub(super) fn key() -> &'static str {
    if is_typed_to() { "Enter" } else { "Ctrl-C" }
}

/// Whether what is typed comes to us: a job in the background that reads is stopped.
fn is_typed_to() -> bool {
    let stdin = io::stdin();
    let in_foreground = || rustix::termios::tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp());
    stdin.is_terminal() && in_foreground()
}

async fn enter() {
    if !is_typed_to() {
        return std::future::pending().await;
    }
    let (pressed, was_pressed) = oneshot::channel();
    // A thread that reads cannot be called back. It ends with the program.
    std::thread::spawn(move || {
        let _ = io::stdin().read_line(&mut String::new());
        let _ = pressed.send(());
    });
    let _ = was_pressed.await;
}

/// Ends when nobody reads what is printed.
async fn unheard() {
    while output::is_heard() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
