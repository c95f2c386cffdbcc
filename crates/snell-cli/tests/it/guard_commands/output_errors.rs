//! Output errors: a closed pipe is not an error, a full disk is.

use std::fs::File;
use std::process::Stdio;

use snell_test_support::process::CommandOutput;

use crate::support::CliSandbox;

const COMMANDS: &[&[&str]] = &[
    &["guard", "rules"],
    &["guard", "rules", "--json"],
    &["guard", "rules", "git.push-force"],
    &["guard", "check", "ls"],
    &["guard", "check", "--json", "ls"],
    &["guard", "explain", "ls"],
    &["guard", "explain", "--json", "ls"],
    &["guard", "replay"],
    &["guard", "replay", "--json"],
];

fn run_with_stdout(sandbox: &CliSandbox, args: &[&str], stdout: Stdio) -> CommandOutput {
    let mut command = sandbox.command(args);
    command.stdin(Stdio::null()).stdout(stdout).stderr(Stdio::piped());
    command.spawn().unwrap().wait_with_output().unwrap().into()
}

#[test]
fn a_full_disk_is_a_failure_that_says_so() {
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        return;
    };
    let sandbox = CliSandbox::with_frozen_clock();
    for args in COMMANDS {
        let ran = run_with_stdout(&sandbox, args, full.try_clone().unwrap().into());
        assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains("No space left on device"), "{args:?}: {ran:?}");
    }
}

#[test]
fn a_reader_who_has_gone_is_no_failure() {
    let sandbox = CliSandbox::with_frozen_clock();
    for args in COMMANDS {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ran = run_with_stdout(&sandbox, args, writer.into());
        assert_eq!(ran.code, 0, "{args:?}: {ran:?}");
        assert!(!ran.stderr.contains("cannot write"), "{args:?}: {ran:?}");
    }
}
