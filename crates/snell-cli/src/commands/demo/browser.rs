//! Opens the page in the user's browser, only on request.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use snell::UserMessage;

use crate::output;

/// The program that opens an address.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens an address, without waiting for it.
pub(super) fn open_url(url: &str) {
    let started = Command::new(OPENER)
        .arg(url)
        // The end of the demo must not end the browser.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        let warning = UserMessage::new(format!("cannot open a browser with {OPENER}: {error}"));
        output::print_warning(warning.with_hint(format!("open {url} yourself")));
    }
}
