//! What ends the demo: a signal, nobody who reads it, or Enter once everything is played.

use std::future::poll_fn;
use std::io::{self, IsTerminal};
use std::task::Poll;
use std::time::Duration;

use rustix::process::Signal as RawSignal;
use rustix::termios::QueueSelector;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::commands::demo::DONE;
use crate::output;

/// How often it is looked whether somebody still reads.
const OUTPUT_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DemoExit {
    /// Everything was played.
    Played,
    /// Nobody reads it any more.
    OutputClosed,
    /// By this signal.
    Signalled(SignalKind),
}

impl DemoExit {
    /// The exit code; after a signal, as a shell says it.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Played | Self::OutputClosed => DONE,
            Self::Signalled(signal) => u8::try_from(128 + signal.as_raw_value()).unwrap_or(u8::MAX),
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
pub(crate) struct DemoExitWatcher {
    signals: Vec<(SignalKind, Signal)>,
}

impl DemoExitWatcher {
    pub(crate) fn new() -> io::Result<Self> {
        let kinds = SIGNALS.iter().map(|raw| SignalKind::from_raw(raw.as_raw()));
        let signals = kinds.map(|kind| Ok((kind, signal(kind)?)));
        Ok(Self { signals: signals.collect::<io::Result<_>>()? })
    }

    /// Waits for any of them.
    pub(crate) async fn wait_for_exit(&mut self) -> DemoExit {
        let signals = &mut self.signals;
        let signalled = poll_fn(|context| {
            let came = signals.iter_mut().find_map(|(kind, signal)| {
                let has_come = matches!(signal.poll_recv(context), Poll::Ready(Some(())));
                has_come.then_some(*kind)
            });
            came.map_or(Poll::Pending, Poll::Ready)
        });
        tokio::select! {
            signal = signalled => DemoExit::Signalled(signal),
            () = wait_for_closed_output() => DemoExit::OutputClosed,
        }
    }

    /// Waits for any of them, or for Enter.
    pub(crate) async fn wait_for_exit_or_enter(&mut self) {
        tokio::select! {
            _ = self.wait_for_exit() => {}
            () = wait_for_enter() => {}
        }
    }
}

/// What a person has to press.
pub(crate) fn exit_key_name() -> &'static str {
    if is_foreground_terminal() { "Enter" } else { "Ctrl-C" }
}

/// Whether what is typed comes to us: a job in the background that reads is stopped.
fn is_foreground_terminal() -> bool {
    let stdin = io::stdin();
    let in_foreground = || rustix::termios::tcgetpgrp(&stdin).is_ok_and(|group| group == rustix::process::getpgrp());
    stdin.is_terminal() && in_foreground()
}

/// Forgets what was typed before there was a question: it is no answer.
pub(crate) fn discard_typed_input() {
    if is_foreground_terminal() {
        // Where it cannot be forgotten it counts, and the page ends early.
        let _ = rustix::termios::tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

async fn wait_for_enter() {
    if !is_foreground_terminal() {
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
async fn wait_for_closed_output() {
    while output::is_stdout_open() {
        tokio::time::sleep(OUTPUT_POLL_INTERVAL).await;
    }
}
