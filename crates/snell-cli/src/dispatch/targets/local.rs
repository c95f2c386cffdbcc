//! Targets on this machine: the notices of the desktop, and a command of the user's own.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use snell_store::requests::AnswerChoice;

use super::super::notice::Notice;
use super::DeliveryFailure;

/// How long a program may take.
const PROGRAM_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between checks whether a program has ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Texts are arguments of this script, never parts of it.
const APPLE_SCRIPT: &[&str] = &[
    "-e",
    "on run argv",
    "-e",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "-e",
    "end run",
    "--",
];

/// The program that shows notices.
const DESKTOP_PROGRAM: &str = if cfg!(target_os = "macos") { "osascript" } else { "notify-send" };

/// Checks that the program that shows notices is there.
pub(super) fn check_desktop() -> Result<(), String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|directory| directory.join(DESKTOP_PROGRAM).is_file());
    if is_there { Ok(()) } else { Err(format!("{DESKTOP_PROGRAM} is not on the PATH")) }
}

/// Shows a notice on the desktop.
pub(super) fn show_on_desktop(notice: &Notice) -> Result<(), DeliveryFailure> {
    let mut command = Command::new(DESKTOP_PROGRAM);
    let (title, body) = (&notice.title, notice.body_with_link());
    if cfg!(target_os = "macos") {
        command.args(APPLE_SCRIPT).args([title, &body]);
    } else {
        // The body is markup.
        command.args(["--app-name=Snell", "--", title, &escape_markup(&body)]);
    }
    run_program(&mut command, "")
}

/// Runs the user's command line, with the notice on its standard input and in variables.
pub(super) fn run_command(line: &str, notice: &Notice) -> Result<(), DeliveryFailure> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", line]);
    let number = notice.agent_number.map(|number| number.to_string());
    let request = notice.request.as_ref();
    let find_answer = |choice| {
        let button = request.and_then(|request| request.answers.iter().find(|button| button.answer == choice));
        button.map(|button| button.url.as_str())
    };
    let variables = [
        ("SNELL_NOTICE", Some(notice.kind)),
        ("SNELL_NOTICE_ID", Some(notice.id.as_str())),
        ("SNELL_TITLE", Some(notice.title.as_str())),
        ("SNELL_BODY", Some(notice.body.as_str())),
        ("SNELL_LINK", notice.link.as_deref()),
        ("SNELL_AGENT", notice.agent.as_deref()),
        ("SNELL_AGENT_NUMBER", number.as_deref()),
        ("SNELL_SESSION_ID", notice.session_id.as_deref()),
        ("SNELL_PROJECT_DIR", Some(notice.project_dir.as_str())),
        ("SNELL_REQUEST", request.map(|request| request.id.as_str())),
        ("SNELL_ALLOW_LINK", find_answer(AnswerChoice::Allow)),
        ("SNELL_DENY_LINK", find_answer(AnswerChoice::Deny)),
    ];
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let input = serde_json::to_string(notice).unwrap_or_default();
    run_program(&mut command, &format!("{input}\n"))
}

/// Runs a program to its end, within a time limit. The input is shorter than the buffer of a pipe, so writing it never waits.
fn run_program(command: &mut Command, input: &str) -> Result<(), DeliveryFailure> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child =
        command.spawn().map_err(|error| DeliveryFailure::Temporary(format!("cannot run {name} ({error})")))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A program may ignore its input.
        let _ = stdin.write_all(input.as_bytes());
    }
    match wait_for_exit(&mut child) {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(DeliveryFailure::Permanent(format!("{name} failed ({status})"))),
        None => Err(DeliveryFailure::Permanent(format!("{name} took longer than {} s", PROGRAM_TIMEOUT.as_secs()))),
    }
}

/// The status of a program; nothing if it had to be killed, with all that it started.
fn wait_for_exit(child: &mut Child) -> Option<ExitStatus> {
    let started = Instant::now();
    while started.elapsed() < PROGRAM_TIMEOUT {
        match child.try_wait() {
            Ok(None) => std::thread::sleep(CHECK_INTERVAL),
            Ok(status) => return status,
            Err(_) => return None,
        }
    }
    if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let _ = child.wait();
    None
}

fn escape_markup(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
