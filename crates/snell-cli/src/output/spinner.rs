//! A line on standard error that shows a long operation, with a moving sign.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::{escape_invisible, truncate_to_width};

/// The time before the line appears: shorter operations need none.
const DELAY: Duration = Duration::from_millis(500);

/// The time between two pictures.
const FRAME_TIME: Duration = Duration::from_millis(100);

/// The pictures of the moving sign.
const FRAMES: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The width if the terminal does not report one.
const DEFAULT_WIDTH: usize = 80;

/// Erases the line of the cursor.
const ERASE_LINE: &str = "\r\u{1b}[K";

/// Whether the line is on the screen. Other output erases it first.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// Whether there is a spinner. Only the outermost one of nested operations is shown.
static IS_ACTIVE: AtomicBool = AtomicBool::new(false);

/// Shows a text with a moving sign on standard error, if that is a terminal, until it is dropped.
#[derive(Debug)]
pub(crate) struct Spinner {
    shared: Arc<SpinnerState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct SpinnerState {
    line: Mutex<SpinnerLine>,
    has_ended: Condvar,
}

#[derive(Debug, Default)]
struct SpinnerLine {
    text: String,
    has_ended: bool,
}

impl Spinner {
    /// `text` names the operation: `running self-tests`.
    pub(crate) fn start(text: &str) -> Self {
        let shared = Arc::new(SpinnerState::default());
        shared.lock_line().text = text.to_owned();
        let is_dumb = || std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let is_shown = io::stderr().is_terminal() && !is_dumb() && !IS_ACTIVE.swap(true, Ordering::Relaxed);
        let thread = is_shown.then(|| {
            let shared = Arc::clone(&shared);
            thread::Builder::new().name("spinner".into()).spawn(move || shared.draw_until_end())
        });
        let thread = match thread {
            Some(Ok(thread)) => Some(thread),
            // Without a thread there is no line.
            Some(Err(_)) => {
                IS_ACTIVE.store(false, Ordering::Relaxed);
                None
            }
            None => None,
        };
        Self { shared, thread }
    }

    /// Shows another text from now on.
    pub(crate) fn set_text(&self, text: String) {
        self.shared.lock_line().text = text;
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.shared.lock_line().has_ended = true;
        self.shared.has_ended.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
            erase_spinner();
            IS_ACTIVE.store(false, Ordering::Relaxed);
        }
    }
}

impl SpinnerState {
    fn lock_line(&self) -> MutexGuard<'_, SpinnerLine> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn draw_until_end(&self) {
        let mut pause = DELAY;
        let mut line = self.lock_line();
        for frame in FRAMES.iter().cycle() {
            let waited = self.has_ended.wait_timeout_while(line, pause, |line| !line.has_ended);
            line = waited.unwrap_or_else(PoisonError::into_inner).0;
            if line.has_ended {
                return;
            }
            draw_line(&format!("{frame} {} …", escape_invisible(&line.text)));
            pause = FRAME_TIME;
        }
    }
}

fn draw_line(text: &str) {
    let stderr = io::stderr();
    let size = rustix::termios::tcgetwinsize(&stderr).map_or(0, |size| usize::from(size.ws_col));
    let width = if size > 1 { size - 1 } else { DEFAULT_WIDTH };
    let mut stderr = stderr.lock();
    IS_DRAWN.store(true, Ordering::Relaxed);
    // A failure to print cannot be reported.
    let _ = stderr.write_all(format!("{ERASE_LINE}{}", truncate_to_width(text, width)).as_bytes());
}

/// Shows no spinner from now on, because other output is written to the terminal directly.
pub(super) fn forbid_spinners() {
    IS_ACTIVE.store(true, Ordering::Relaxed);
}

/// Erases the line if it is on the screen.
pub(super) fn erase_spinner() {
    if IS_DRAWN.load(Ordering::Relaxed) {
        let mut stderr = io::stderr().lock();
        if IS_DRAWN.swap(false, Ordering::Relaxed) {
            let _ = stderr.write_all(ERASE_LINE.as_bytes());
        }
    }
}
