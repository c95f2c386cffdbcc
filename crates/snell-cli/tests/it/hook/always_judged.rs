//! No variable, argument or descriptor that cannot be used keeps a call from being judged.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};

use rustix::fs::{CWD, FileType, Mode as FileMode, mknodat};
use serde_json::{Value, json};
use snell_test_support::payload::merge_fields;
use snell_test_support::process::{CommandOutput, send_signal, spawn_with_stdin, wait_for_output};
use snell_test_support::wait::wait_until;

use super::{HookSandbox, RecordingMode};
use crate::support::CliSandbox;

/// Every variable that is read on the way to a verdict, and some that are not.
const VARIABLES: &[&str] = &[
    "CARGO_HOME",
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_HEADSPACE_SESSION_ID",
    "CLAUDE_HEADSPACE_TMUX_SESSION",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_SESSION_ID",
    "CLAUDE_SESSION_MODE",
    "CLAUDE_SESSION_ROLE",
    "HOME",
    "LANG",
    "LOGNAME",
    "MISSION_EXECUTION_ID",
    "NO_COLOR",
    "PATH",
    "PROJECT_PATH",
    "PWD",
    "SNELL_DAEMON",
    "SNELL_DEPTH",
    "SNELL_HOME",
    "SNELL_NOW",
    "SNELL_SCRIBE",
    "SNELL_TOKEN_FILE",
    "SNELL_URL",
    "TERM",
    "TMPDIR",
    "TMUX",
    "TMUX_PANE",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
];

/// A string of the environment, with its name, may have so many bytes.
const MAX_VARIABLE_BYTES: usize = 128 * 1024 - 1;

/// Where something could be made, it is made in the sandbox.
fn build_variable_values(variable: &str, sandbox: &CliSandbox) -> Vec<Option<OsString>> {
    let missing = sandbox.home().join("missing/directory");
    let not_text = sandbox.home().join(OsStr::from_bytes(b"\xff\xfe"));
    let fifo = sandbox.home().join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, FileMode::RWXU, 0).unwrap();
    let enormous = "x".repeat(MAX_VARIABLE_BYTES - variable.len() - 1);
    let too_long = format!("/{}", "a/".repeat(2_100));
    let texts: &[&str] = &[
        "",
        &too_long,
        "x",
        "relative/directory",
        "two\nlines",
        "\u{1b}[31m",
        "/dev/null",
        "/proc",
        "off",
        "99999999999999999999",
        "9999-12-30T22:00:00Z",
        "-009999-01-02T01:59:59Z",
        "2026-02-30T00:00:00Z",
        &enormous,
    ];
    let texts = texts.iter().map(|text| Some(OsString::from(text)));
    let paths = [fifo, missing, not_text].map(|path| Some(path.into_os_string()));
    let root = (variable != "SNELL_HOME").then(|| Some("/".into()));
    let others = [None].into_iter().chain(root);
    texts.chain(paths).chain(others).collect()
}

fn build_bash_payload(watched: &HookSandbox, command: &str) -> Value {
    let input = json!({"tool_name": "Bash", "tool_input": {"command": command}, "transcript_path": "/t.jsonl"});
    watched.build_payload("s1", "PreToolUse", input)
}

/// Starts a hook with this call on its standard input, and answers how it ended.
fn run_to_end(command: &mut Command, payload: &Value) -> Output {
    spawn_with_stdin(command, payload.to_string()).wait_with_output().unwrap()
}

fn is_denied(output: &Output) -> bool {
    let answer: Option<Value> = serde_json::from_slice(&output.stdout).ok();
    let decision = answer.map(|answer| answer["hookSpecificOutput"]["permissionDecision"].clone());
    output.status.code() == Some(2) || (output.status.success() && decision == Some("deny".into()))
}

#[test]
fn no_value_of_a_variable_keeps_a_call_from_being_judged() {
    for variable in VARIABLES {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let values = build_variable_values(variable, &watched.sandbox);
        let payload = build_bash_payload(&watched, "rm -rf ~/");
        for value in &values {
            let mut command = watched.sandbox.command(&["hook", "--agent", "claude"]);
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
            let output = run_to_end(&mut command, &payload);
            let shown = value.as_ref().map(|value| value.to_string_lossy().chars().take(40).collect::<String>());
            assert!(is_denied(&output), "{variable} = {shown:?}: {output:?}");
        }
        // Where it leads elsewhere, or is stored by another process, the database here does not have it.
        if !["SNELL_HOME", "SNELL_DAEMON", "SNELL_SCRIBE"].contains(variable) {
            assert_eq!(watched.count_rows("events"), values.len() as i64, "{variable}");
        }
    }
}

#[test]
fn a_clock_that_cannot_be_used_is_told_once_in_each_session_and_the_real_one_counts() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    for session in ["s1", "s2"] {
        for is_first in [true, false] {
            let payload = watched.build_payload(session, "UserPromptSubmit", json!({"prompt": "Go on"}));
            let ran = watched.run_hook_with_env(&[("SNELL_NOW", "2026-02-30T00:00:00Z")], &payload);
            assert_eq!(ran.code, 0, "{ran:?}");
            assert_eq!(ran.stderr.lines().count(), 2, "{ran:?}");
            assert!(ran.stderr.contains("invalid SNELL_NOW \"2026-02-30T00:00:00Z\""), "{ran:?}");
            assert_eq!(ran.stdout.contains("using the real time"), is_first, "{ran:?}");
        }
    }
    let last_year = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * 365);
    let recent = format!("events WHERE at > {}", last_year.as_millisecond());
    assert_eq!(watched.count_rows(&recent), 4);
}

#[test]
fn no_argument_keeps_a_call_from_being_judged() {
    let enormous = OsString::from("x".repeat(MAX_VARIABLE_BYTES));
    let not_text = OsStr::from_bytes(b"\xff");
    let word = OsStr::new;
    let (hook, agent) = (word("hook"), word("--agent"));
    // The arguments, and how many of them cannot be understood.
    let cases: &[(&[&OsStr], usize)] = &[
        (&[], 0),
        (&[hook], 0),
        (&[hook, word("--agent=claude")], 0),
        (&[hook, agent], 1),
        (&[hook, agent, word("nonsense")], 1),
        (&[hook, agent, not_text], 1),
        (&[hook, word("--agent=")], 1),
        (&[hook, agent, word("claude"), word("extra")], 1),
        (&[hook, word("--unknown"), word("-x")], 2),
        (&[hook, word("--"), word("extra")], 2),
        (&[hook, word("")], 1),
        (&[hook, not_text], 1),
        (&[hook, word("two\nlines \u{1b}[31m")], 1),
        (&[hook, &enormous], 1),
    ];
    for (arguments, mistakes) in cases {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let mut command = watched.sandbox.command(&[]);
        let output = run_to_end(command.args(*arguments), &build_bash_payload(&watched, "rm -rf ~"));
        assert!(is_denied(&output), "{output:?}");
        let ran = CommandOutput::from(output);
        assert_eq!(ran.stderr.matches("snell: warning: ").count(), *mistakes, "{ran:?}");
        assert!(ran.stderr.len() < 400, "{ran:?}");
        assert_eq!(watched.count_rows("events"), 1, "{ran:?}");
        let harmless = run_to_end(command.args(*arguments), &build_bash_payload(&watched, "ls"));
        assert_eq!(harmless.status.code(), Some(0), "{harmless:?}");
    }
}

#[test]
fn no_form_of_a_payload_keeps_a_call_from_being_judged() {
    let input = json!({"command": "rm -rf ~/"});
    let cases = [
        json!({"hook_event_name": "pretooluse"}),
        json!({"hook_event_name": "pre_tool_use"}),
        json!({"hook_event_name": "PreToolUse "}),
        json!({"tool_name": "bash"}),
        json!({"tool_input": {"command": ["rm", "-rf", "~/"]}}),
        json!({"tool_input": {"command": ["rm", "-rf", "$HOME"]}}),
        json!({"tool_input": {"command": ["bash", "-c", "rm -rf ~/"]}}),
        json!({"tool_input": ["rm", "-rf", "~/"]}),
        json!({"tool_input": input.to_string()}),
        json!({"tool_input": format!(" \n{input}")}),
        json!({"tool_input": "rm -rf ~/"}),
    ];
    for fields in cases {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let payload = merge_fields(build_bash_payload(&watched, "rm -rf ~/"), &fields);
        for arguments in [&["hook", "--agent", "claude"][..], &["hook"]] {
            let output = run_to_end(&mut watched.sandbox.command(arguments), &payload);
            assert!(is_denied(&output), "{fields} {arguments:?}: {output:?}");
        }
    }
    for input in [json!(7), json!({"command": 7}), json!({"command": ["rm", 7]}), json!({})] {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let fields = json!({"tool_name": "Bash", "tool_input": input});
        let ran = watched.run_hook(&watched.build_payload("s1", "PreToolUse", fields));
        assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{input}: {ran:?}");
    }
}

#[test]
fn a_person_at_a_terminal_is_told_of_a_mistake_in_the_arguments() {
    let sandbox = CliSandbox::new();
    let help = sandbox.run_snell(&["hook", "--help"], "{\"hook_event_name\": \"Stop\"}");
    assert!(help.code == 0 && help.stdout.contains("Usage: snell hook"), "{help:?}");
    if let Some((shown, is_success)) = sandbox.try_run_in_terminal(100, "hook --unknown") {
        assert!(shown.contains("unexpected argument") && !is_success, "{shown}");
    }
}

#[test]
fn no_descriptor_and_no_directory_keeps_a_call_from_being_judged() {
    // A line of shell, and whether the answer can be read.
    let cases = [
        ("exec \"$0\" \"$@\" 2>&-", true),
        ("exec \"$0\" \"$@\" >&-", false),
        ("exec \"$0\" \"$@\" >&- 2>&-", false),
        ("exec \"$0\" \"$@\" >/dev/full", false),
        ("exec \"$0\" \"$@\" >/dev/zero", false),
        ("exec \"$0\" \"$@\" 1</dev/null", false),
        ("exec \"$0\" \"$@\" 1</etc/passwd", false),
        ("exec \"$0\" \"$@\" 1</", false),
        ("mkfifo f; exec 3<>f 1<f; exec \"$0\" \"$@\" 3<&-", false),
        ("mkdir gone; cd gone; rmdir ../gone; exec \"$0\" \"$@\"", true),
    ];
    for (line, is_read) in cases {
        let watched = HookSandbox::new(RecordingMode::Alone);
        let mut command = watched.sandbox.shell(line, &["hook", "--agent", "claude"]);
        let output = run_to_end(&mut command, &build_bash_payload(&watched, "rm -rf ~"));
        assert!(is_denied(&output), "{line}: {output:?}");
        assert_eq!(output.status.success(), is_read, "{line}: {output:?}");
        assert_eq!(watched.count_rows("events"), 1, "{line}");
    }
}

#[test]
fn a_payload_that_comes_late_is_judged_although_standard_input_does_not_block() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    let payload = build_bash_payload(&watched, "rm -rf ~").to_string();
    // How much of it is there when the hook starts to read.
    for early in [0, 100] {
        let (theirs, mut ours) = UnixStream::pair().unwrap();
        theirs.set_nonblocking(true).unwrap();
        ours.write_all(&payload.as_bytes()[..early]).unwrap();
        let mut command = watched.hook_command();
        command.stdin(OwnedFd::from(theirs)).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        drop(command);
        wait_until(|| is_waiting(child.id()).then_some(()));
        ours.write_all(&payload.as_bytes()[early..]).unwrap();
        drop(ours);
        let output = child.wait_with_output().unwrap();
        assert!(is_denied(&output), "{early}: {output:?}");
    }
}

/// Whether each thread of this process waits, or the process has ended.
fn is_waiting(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let stats = threads.filter_map(|thread| fs::read_to_string(thread.path().join("stat")).ok());
    let is_idle = |stat: String| stat.contains(") S ") || stat.contains(") Z ");
    stats.into_iter().all(is_idle)
}

#[test]
fn a_full_standard_error_does_not_hold_up_the_answer() {
    let watched = HookSandbox::new(RecordingMode::Alone);
    let (unread, mut full) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&full, true).unwrap();
    while full.write(&[b'x'; 4096]).is_ok() {}
    while full.write(b"x").is_ok() {}
    rustix::io::ioctl_fionbio(&full, false).unwrap();
    let mut command = watched.hook_command();
    command.env("SNELL_NOW", "x").arg("unknown");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(full);
    let mut child = command.spawn().unwrap();
    drop(command);
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(build_bash_payload(&watched, "rm -rf ~").to_string().as_bytes()).unwrap();
    drop(stdin);
    wait_until(|| child.try_wait().unwrap());
    drop(unread);
    let output = child.wait_with_output().unwrap();
    assert!(is_denied(&output), "{output:?}");
}

#[test]
fn hooks_that_are_ended_before_they_have_spoken_leave_a_question() {
    use rustix::process::Signal;

    let hook = "[[hook]]\nevent = 'PreToolUse'\nrun = 'touch began; sleep 60'\ntimeout = '70s'\n";
    let sandbox = CliSandbox::new().home_file(".config/snell/snell.toml", hook);
    let watched = HookSandbox::with_sandbox(RecordingMode::Alone, sandbox);
    let child = spawn_with_stdin(&mut watched.hook_command(), build_bash_payload(&watched, "ls").to_string());
    watched.sandbox.wait_for_file("began");
    send_signal(child.id(), Signal::TERM);
    let ran = wait_for_output(child);
    assert_eq!(ran.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{ran:?}");
    assert_eq!(watched.count_rows("events"), 1);
}
