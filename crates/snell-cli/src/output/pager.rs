//! Shows long texts in a pager.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use tokio::signal::unix::{SignalKind, signal};

/// The pager if `PAGER` is not set.
const DEFAULT_PAGER: &str = "less";

/// Flags for `less`: exit if the text fits on the screen, keep colours, and leave the text on the screen.
const LESS_DEFAULTS: (&str, &str) = ("LESS", "FRX");

/// The exit codes of a shell that cannot run the program.
const COMMAND_NOT_FOUND_CODES: [i32; 2] = [126, 127];

/// Shows a text in the user's pager, and waits for the pager. Returns whether there was one.
pub(super) fn show_in_pager(text: &str) -> bool {
    build_pager_command().is_some_and(|command| run_pager(command, text).unwrap_or(false))
}

/// The user's pager; nothing if `PAGER` is empty.
fn build_pager_command() -> Option<Command> {
    let mut command = match std::env::var_os("PAGER") {
        Some(chosen) if chosen.is_empty() => return None,
        Some(chosen) => {
            let mut shell = Command::new("/bin/sh");
            shell.arg("-c").arg(chosen);
            shell
        }
        None => Command::new(DEFAULT_PAGER),
    };
    if std::env::var_os(LESS_DEFAULTS.0).is_none() {
        command.env(LESS_DEFAULTS.0, LESS_DEFAULTS.1);
    }
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
