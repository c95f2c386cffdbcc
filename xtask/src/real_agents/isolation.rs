//! Agents get no network but loopback, in namespaces of their own, where the machine allows it.

use std::process::Command;

/// Network, processes and mounts of its own. Processes that agents leave running end with it.
const NAMESPACES: &[&str] = &["--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

/// Makes the current user root in the namespaces, because only root can set up loopback.
const MAP_USER: &str = "--map-root-user";

/// Sets up loopback, and becomes the command.
const SET_UP: &[&str] = &["sh", "-c", "ip link set lo up && exec \"$@\"", "sh"];

/// A command that runs a program in isolation. Where that is impossible it runs as usual, and the tests close the network by
/// variables.
pub(crate) fn isolated_command(program: &str) -> Command {
    let wrap = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(NAMESPACES).arg(MAP_USER).args(SET_UP).arg(program).env("SNELL_AGENTS_ISOLATED", "1");
        command
    };
    if wrap("true").output().is_ok_and(|output| output.status.success()) {
        return wrap(program);
    }
    crate::print_message(
        "no namespaces here: the network is closed by variables only (hint: install util-linux and iproute2)",
    );
    Command::new(program)
}
