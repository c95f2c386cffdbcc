//! The user's browser, if it is asked for. It is the one thing here that is theirs.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::output;

/// What opens an address.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Opens an address, without waiting for it.
pub(super) fn open_url(url: &str) {
    let started = Command::new(OPENER)
        .arg(url)
        // A browser that it starts is none of ours to end.
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        output::print_warning(format!("cannot open a browser with {OPENER} ({error}); open {url} yourself"));
    }
}
