//! What ends the demo: a signal, nobody who reads it, or Enter once everything is played.

use std::future::poll_fn;
use std::io::{self, IsTerminal};
use std::task::Poll;
use std::time::Duration;

use rustix::process::Signal as RawSignal;
use rustix::termios::QueueSelector;
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

/// Every signal that ends a program and can be caught. What cannot be caught is cleared away by the next demo.
const SIGNALS: &[RawSignal] = &[
    RawSignal::HUP,
    RawSignal::INT,
    RawSignal::QUIT,
    RawSignal::TERM,
    RawSignal::ALARM,
    RawSignal::USR1,
    RawSignal::USR2,
    RawSignal::VTALARM,
    RawSignal::PROF,
    RawSignal::XCPU,
    RawSignal::XFSZ,
];

/// Everything that may end it from outside.
#[derive(Debug)]
pub(super) struct Endings {
    signals: Vec<(SignalKind, Signal)>,
}

impl Endings {
    pub(super) fn watch() -> io::Result<Self> {
        let kinds = SIGNALS.iter().map(|raw| SignalKind::from_raw(raw.as_raw()));
        let signals = kinds.map(|kind| Ok((kind, signal(kind)?)));
        Ok(Self {
            signals: signals.collect::<io::Result<_>>()?,
        })
    }

    /// Waits for any of them.
    pub(super) async fn any(&mut self) -> Ended {
        let signals = &mut self.signals;
        let signalled = poll_fn(|context| {
            let came = signals.iter_mut().find_map(|(kind, signal)| {
                let has_come = matches!(signal.poll_recv(context), Poll::Ready(Some(())));
                has_come.then_some(*kind)
            });
            came.map_or(Poll::Pending, Poll::Ready)
        });
        tokio::select! {
            signal = signalled => Ended::By(signal),
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

/// Forgets what was typed before there was a question: it is no answer.
pub(super) fn forget_what_was_typed() {
    if is_typed_to() {
        // Where it cannot be forgotten it counts, and the page ends early.
        let _ = rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush);
    }
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
