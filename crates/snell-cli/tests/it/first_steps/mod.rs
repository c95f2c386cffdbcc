//! The first steps: `snell init`, `snell config`, `snell service`.

mod config;
mod init;
mod service;

use std::fs;

use crate::support::CliSandbox;

/// The user's own file, below the home directory.
const OWN_FILE: &str = ".config/snell/snell.toml";

/// A sandbox that finds no agents of this machine.
fn sandbox_without_agents() -> CliSandbox {
    CliSandbox::new().env("PATH", "/usr/bin:/bin")
}

fn read_own_file(sandbox: &CliSandbox) -> String {
    fs::read_to_string(sandbox.home().join(OWN_FILE)).unwrap()
}
