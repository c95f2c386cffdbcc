//! Opens a page in the user's browser, only on request.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use snell::UserMessage;

use crate::output;

/// The program that opens an address.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens an address, without waiting for it. A failure is only a warning.
pub(crate) fn open_url(url: &str) {
    let started = Command::new(OPENER)
        .arg(url)
        // The end of this process must not end the browser.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    match started {
        Ok(mut child) => {
            // Reaps it: a receiver runs for days. Without a thread, a zombie stays until this process ends.
            let _ = std::thread::Builder::new().spawn(move || child.wait());
        }
        Err(error) => {
            let warning = UserMessage::new(format!("cannot open a browser with {OPENER}: {error}"));
            output::print_warning(warning.with_hint(format!("open {url} yourself")));
        }
    }
}
