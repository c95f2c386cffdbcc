//! Shows long texts in a pager.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::signal::unix::{SignalKind, signal};

use super::display_width;

/// The variables that name the pager; the first one that is set counts.
const PAGER_VARIABLES: [&str; 2] = ["SNELL_PAGER", "PAGER"];

/// The pager if no variable is set.
const DEFAULT_PAGER: &str = "less";

/// Variables of `less`, unless they are set: its flags (exit if the text fits on the screen, keep colours, and leave the text on the
/// screen), and the encoding of Snell's output, even in the C locale.
const LESS_DEFAULTS: [(&str, &str); 2] = [("LESS", "FRX"), ("LESSCHARSET", "utf-8")];

/// The lines of a terminal that does not report its size.
const DEFAULT_LINES: usize = 24;

/// The exit codes of a shell that cannot run the program.
const COMMAND_NOT_FOUND_CODES: [i32; 2] = [126, 127];

/// The text for the pager so far; nothing while the output is not paged.
static PAGED_TEXT: Mutex<Option<String>> = Mutex::new(None);

static IS_PAGER_OFF: AtomicBool = AtomicBool::new(false);

/// Prints all output directly.
pub(crate) fn disable_pager() {
    IS_PAGER_OFF.store(true, Ordering::Relaxed);
}

/// Collects the output of the command from now on, if standard output is a terminal. When the command ends, a text that does not
/// fit on the screen is shown in a pager.
pub(crate) fn start_paging() {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if io::stdout().is_terminal() && !is_dumb && !IS_PAGER_OFF.load(Ordering::Relaxed) {
        lock_paged_text().get_or_insert_default();
    }
}

/// Shows the collected output: in a pager if it does not fit on the screen and there is one.
pub(crate) fn finish_paging() {
    let Some(text) = lock_paged_text().take() else {
        return;
    };
    if fits_on_screen(&text) || !show_in_pager(&text) {
        super::write_stdout(&text);
    }
}

/// Collects a text for the pager. Returns whether the output is paged.
pub(super) fn collect_text(text: &str) -> bool {
    let mut paged = lock_paged_text();
    if let Some(collected) = paged.as_mut() {
        collected.push_str(text);
    }
    paged.is_some()
}

/// Collects a message between the lines of the output, so that it does not precede lines that come before it. Returns `false`
/// for a message that is printed at once: there is no output yet, or standard error is not the terminal.
pub(super) fn collect_message(text: &str) -> bool {
    let mut paged = lock_paged_text();
    match paged.as_mut().filter(|collected| !collected.is_empty()) {
        Some(collected) if io::stderr().is_terminal() => collected.push_str(text),
        _ => return false,
    }
    true
}

fn lock_paged_text() -> MutexGuard<'static, Option<String>> {
    PAGED_TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the text leaves a line for the next prompt. Styles count as text, so a coloured line may count as two; `less` then
/// exits at once.
fn fits_on_screen(text: &str) -> bool {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let known = |size: u16, default: usize| if size > 0 { usize::from(size) } else { default };
    let columns = known(size.map_or(0, |size| size.ws_col), usize::MAX);
    let screen = known(size.map_or(0, |size| size.ws_row), DEFAULT_LINES);
    let lines: usize = text.lines().map(|line| display_width(line).div_ceil(columns).max(1)).sum();
    lines < screen
}

/// Shows a text in the user's pager, and waits for the pager. Returns whether there was one.
fn show_in_pager(text: &str) -> bool {
    build_pager_command().is_some_and(|command| run_pager(command, text).unwrap_or(false))
}

/// The user's pager; nothing if its variable is empty.
fn build_pager_command() -> Option<Command> {
    let chosen: Option<OsString> = PAGER_VARIABLES.iter().find_map(std::env::var_os);
    let mut command = match chosen {
        Some(chosen) if chosen.is_empty() => return None,
        Some(chosen) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(chosen);
            shell
        }
        None => Command::new(DEFAULT_PAGER),
    };
    let unset = LESS_DEFAULTS.iter().filter(|(name, _)| std::env::var_os(name).is_none());
    command.envs(unset.copied());
    Some(command)
}

fn run_pager(mut command: Command, text: &str) -> io::Result<bool> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    // Ctrl-C is for the pager: if it ended Snell, the pager would keep the terminal.
    let _interrupts = signal(SignalKind::interrupt())?;
    let mut pager = command.stdin(Stdio::piped()).spawn()?;
    if let Some(mut pages) = pager.stdin.take() {
        // Fails if the user closes the pager early.
        let _ = pages.write_all(text.as_bytes());
    }
    let ended = pager.wait()?;
    Ok(!ended.code().is_some_and(|code| COMMAND_NOT_FOUND_CODES.contains(&code)))
}
