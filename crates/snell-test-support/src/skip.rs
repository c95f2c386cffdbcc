//! Tests that need a program or a right that not every machine has.

use std::path::PathBuf;
use std::process::Command;

/// Says that a test could not be done here.
#[allow(clippy::print_stderr, reason = "a test that was not done should not look as if it was")]
pub fn report_skipped(why: &str) {
    eprintln!("skipped: {why}");
}

/// The path of a program that is in `PATH`.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(name)).find(|program| program.is_file())
}

/// As [`find_program`]; reports that the test is skipped if the program is missing.
pub fn require_program(name: &str) -> Option<PathBuf> {
    let program = find_program(name);
    if program.is_none() {
        report_skipped(&format!("there is no {name}"));
    }
    program
}

/// `script` of util-linux, which runs a command in a terminal. Reports that the test is skipped if it is missing.
pub fn require_util_linux_script() -> Option<PathBuf> {
    let version = Command::new("script").arg("--version").output();
    if version.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("util-linux")) {
        return find_program("script");
    }
    report_skipped("there is no util-linux script");
    None
}

/// Proof that this process runs as root, and so can act as other users.
#[derive(Clone, Copy, Debug)]
pub struct RootUser(());

/// Reports that the test is skipped if this process does not run as root.
pub fn require_root() -> Option<RootUser> {
    if rustix::process::geteuid().is_root() {
        return Some(RootUser(()));
    }
    report_skipped("only root can act as another user");
    None
}
