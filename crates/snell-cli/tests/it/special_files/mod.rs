//! FIFOs, devices, directories, sockets and symlinks in the places of files: no command blocks, no verdict is lost.

mod sources;

use std::fs::{self, File};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat};
use serde_json::json;
use snell_test_support::process::{CommandOutput, run_within};

use crate::support::CliSandbox;

/// A command that takes longer hangs, however busy the machine is.
const DEADLINE: Duration = Duration::from_secs(20);

/// Something else than a file. The answer is held for as long as the test needs it.
type SpecialFileMaker = fn(&Path) -> Option<File>;

const KINDS: &[(&str, SpecialFileMaker)] = &[
    ("a FIFO", |path| {
        make_fifo(path);
        None
    }),
    ("a FIFO with a writer that writes nothing", |path| {
        make_fifo(path);
        // To read as well, because a writer alone would wait for a reader.
        let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
        let mut options = File::options();
        Some(options.read(true).write(true).custom_flags(nonblocking).open(path).unwrap())
    }),
    ("/dev/zero", |path| make_symlink("/dev/zero", path)),
    ("/dev/full", |path| make_symlink("/dev/full", path)),
    ("/proc/kmsg", |path| make_symlink("/proc/kmsg", path)),
    ("a directory", |path| {
        fs::create_dir(path).unwrap();
        None
    }),
    ("a dangling symlink", |path| make_symlink("/nowhere/at/all", path)),
    ("a socket", |path| {
        UnixListener::bind(path).unwrap();
        None
    }),
];

fn make_fifo(path: &Path) {
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn make_symlink(target: &str, path: &Path) -> Option<File> {
    symlink(target, path).unwrap();
    None
}

/// Runs a command to its end, which must come in time.
#[track_caller]
fn run_in_time(command: &mut Command, stdin: &str, about: &str) -> CommandOutput {
    run_within(DEADLINE, command, stdin).unwrap_or_else(|| panic!("it hangs: {about}"))
}

/// Puts each kind at each path, and calls what hooks and people call. Answers nothing: the output must name the path.
fn try_every_kind(paths: &[&str], kinds: &[(&str, SpecialFileMaker)], scribe: &str) {
    for path in paths {
        for (what, make) in kinds {
            let sandbox = CliSandbox::new().env("SNELL_SCRIBE", scribe).file(".git/HEAD", "");
            // There is something to look at, and every directory is there.
            let ran = run_hook(&sandbox, "UserPromptSubmit", "first");
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
            let place = resolve_path(&sandbox, path);
            clear_path(&place);
            // In one step, because a scribe may put its own file there.
            let made = sandbox.data().join("made");
            let held = make(&made);
            fs::rename(&made, &place).unwrap();
            let about = format!("{what} as {path}, scribe {scribe}");
            let mut said = String::new();
            for command in ["denied", "start", "status", "log", "lint", "list", "doctor"] {
                let about = format!("{command} with {about}");
                let ran = run_checked_command(&sandbox, command, &about);
                said.push_str(&format!("{command}: {}{}\n", ran.stdout, ran.stderr));
            }
            // The name, because what was put aside is elsewhere by now.
            let name = place.file_name().unwrap().to_str().unwrap();
            assert!(said.contains(name) || said.contains("/unreadable"), "{about}: {said}");
            drop(held);
        }
    }
}

fn run_checked_command(sandbox: &CliSandbox, command: &str, about: &str) -> CommandOutput {
    match command {
        "denied" => {
            let ran = run_hook(sandbox, "PreToolUse", about);
            let decision = ran.json()["hookSpecificOutput"]["permissionDecision"].clone();
            // A guard whose file cannot be read asks.
            assert!(ran.code == 0 && (decision == "deny" || decision == "ask"), "{about}: {ran:?}");
            ran
        }
        "start" => {
            let ran = run_hook(sandbox, "SessionStart", about);
            assert_eq!(ran.code, 0, "{about}: {ran:?}");
            ran
        }
        other => run_in_time(&mut sandbox.command(&[other]), "", about),
    }
}

/// What Claude Code sends. The tool call is one that the guard denies.
fn run_hook(sandbox: &CliSandbox, event: &str, about: &str) -> CommandOutput {
    let payload = json!({
        "session_id": "s1",
        "hook_event_name": event,
        "cwd": sandbox.project(),
        "prompt": "Go.",
        "source": "startup",
        "tool_name": "Bash",
        "tool_input": {"command": "rm -rf /"},
    });
    let mut command = sandbox.command(&["hook", "--agent", "claude"]);
    run_in_time(&mut command, &payload.to_string(), about)
}

fn resolve_path(sandbox: &CliSandbox, path: &str) -> PathBuf {
    let (root, rest) = path.split_once(':').unwrap();
    let root = match root {
        "project" => sandbox.project(),
        "home" => sandbox.home(),
        _ => sandbox.data(),
    };
    root.join(rest)
}

/// Removes whatever is there, and makes the directories above it.
fn clear_path(place: &Path) {
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    match fs::symlink_metadata(place) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(place).unwrap(),
        Ok(_) => fs::remove_file(place).unwrap(),
        Err(_) => {}
    }
}

#[test]
fn no_kind_of_file_in_place_of_a_configuration_blocks_a_command() {
    let paths = [
        "project:snell.toml",
        "project:.claude/settings.json",
        "home:.config/snell/snell.toml",
        "home:.claude/settings.json",
    ];
    try_every_kind(&paths, KINDS, "off");
}

#[test]
fn no_kind_of_file_in_place_of_the_database_blocks_a_command() {
    let paths = ["data:snell.db", "data:snell.db-wal", "data:snell.db-shm", "data:snell.db-journal"];
    try_every_kind(&paths, KINDS, "off");
}

#[test]
fn no_kind_of_file_in_a_queue_blocks_a_command() {
    let paths = [
        "data:pending/00000000000000000001-0-0-0.json",
        "data:handed/0.jsonl",
        "data:outbox/00000000000000000001-1-9-0123456789abcdef.json",
        "data:outbox/order",
        "data:outbox/lock",
    ];
    try_every_kind(&paths, KINDS, "off");
}

#[test]
fn no_kind_of_file_in_place_of_locks_and_marks_blocks_a_command() {
    let paths = ["data:snell.db.lock", "data:scribe.lock", "data:scribe.trouble", "data:trust.json", "data:trust.lock"];
    try_every_kind(&paths, KINDS, "off");
}

#[test]
fn no_kind_of_file_in_place_of_a_directory_or_a_socket_blocks_a_command() {
    let is_other = |kind: &&(&str, SpecialFileMaker)| kind.0 != "a directory" && kind.0 != "a socket";
    let kinds: Vec<_> = KINDS.iter().filter(is_other).copied().collect();
    let paths = ["data:pending", "data:handed", "data:outbox", "data:told", "data:scribe.sock", "data:snell.sock"];
    try_every_kind(&paths, &kinds, "off");
}

#[test]
fn with_a_scribe_no_kind_of_file_blocks_a_hook() {
    let paths = ["data:snell.db", "data:snell.db-wal", "data:scribe.lock", "data:handed/0.jsonl"];
    let kinds = [KINDS[0], KINDS[2], KINDS[4]];
    try_every_kind(&paths, &kinds, "on");
}

#[test]
fn a_server_says_which_file_it_cannot_use() {
    for path in ["data:snell.db", "data:snell.db-wal", "data:snell.sock.lock"] {
        for (what, make) in KINDS {
            let sandbox = CliSandbox::new();
            let place = resolve_path(&sandbox, path);
            let held = make(&place);
            let about = format!("serve with {what} as {path}");
            let ran = run_in_time(&mut sandbox.command(&["serve", "--addr", "127.0.0.1:0"]), "", &about);
            assert!(ran.code != 0 && ran.stderr.contains(place.to_str().unwrap()), "{about}: {ran:?}");
            drop(held);
        }
    }
}

#[test]
fn a_socket_that_accepts_no_connection_does_not_block_a_hook() {
    let sandbox = CliSandbox::new().env("SNELL_SCRIBE", "wait").file(".git/HEAD", "");
    let socket = sandbox.data().join("scribe.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    rustix::net::listen(&listener, 0).unwrap();
    // One waits to be accepted, so there is no room for another.
    let _waiting = UnixStream::connect(&socket).unwrap();
    let about = "a full backlog";
    run_checked_command(&sandbox, "denied", about);
    for command in ["start", "status", "log", "doctor"] {
        run_checked_command(&sandbox, command, about);
    }
}
