//! What is said when it cannot be played.

use std::fs;
use std::process::Stdio;

use snell_test_support::skip::report_skipped;

use super::DemoSandbox;

#[test]
fn without_a_directory_for_temporary_files_it_says_so() {
    let theatre = DemoSandbox::new();
    let output = theatre.demo_command(&["--fast"]).env("TMPDIR", "/nowhere/at/all").output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with("error: cannot use /nowhere/at/all for the demo: ") && stderr.contains("\nhint: set TMPDIR"),
        "{stderr}"
    );
    assert!(output.stdout.is_empty());
}

#[test]
fn a_full_disk_is_told_and_nothing_is_left() {
    let theatre = DemoSandbox::new();
    let disk = theatre.temp_dir().join("disk");
    fs::create_dir(&disk).unwrap();
    // From one that has no room for its files to one on which its database does not fit.
    for size in ["16k", "100k", "300k", "600k"] {
        let script = format!(
            "mount -t tmpfs -o size={size} none \"$DISK\" || exit 77; TMPDIR=\"$DISK\" \"$0\" demo --fast >&3; \
             code=$?; ls -A \"$DISK\"; exit $code"
        );
        let mut command = theatre.sandbox.shell("exec unshare -m sh -c \"$SCRIPT\" \"$0\" 3>/dev/null", &[]);
        command.env("SCRIPT", script).env("DISK", &disk).stdin(Stdio::null());
        let output = command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        if output.status.code() == Some(77) || stderr.contains("unshare") {
            report_skipped("no disk of its own can be had here");
            return;
        }
        assert_eq!(output.status.code(), Some(1), "{size}: {stderr}");
        assert!(stderr.starts_with("error: ") && stderr.contains("TMPDIR"), "{size}: {stderr}");
        assert_eq!(String::from_utf8(output.stdout).unwrap(), "", "{size}");
    }
}

#[test]
fn a_mistake_on_the_command_line_is_no_block() {
    let theatre = DemoSandbox::new();
    for args in [&["--keep", "--once"][..], &["--slow"]] {
        let output = theatre.demo_command(args).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{args:?}");
    }
    theatre.assert_nothing_left();
}
