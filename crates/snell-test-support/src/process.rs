//! Processes that a test starts, looks at and ends.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, kill_process, kill_process_group};
use serde_json::Value;

pub use rustix::process::Signal;

use crate::wait::wait_until_within;

/// The output of a program that ended by itself.
#[derive(Debug)]
pub struct CommandOutput {
    /// The exit code.
    pub code: i32,
    /// The standard output.
    pub stdout: String,
    /// The standard error.
    pub stderr: String,
}

impl From<Output> for CommandOutput {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl CommandOutput {
    /// The JSON on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

/// Starts a command with this standard input. Its output is piped.
#[track_caller]
pub fn spawn_with_stdin(command: &mut Command, stdin: impl AsRef<[u8]>) -> Child {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that ends early closes its standard input, which is no fault.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_ref());
    child
}

/// Runs a command with this standard input to its end.
#[track_caller]
pub fn run_with_stdin(command: &mut Command, stdin: impl AsRef<[u8]>) -> CommandOutput {
    wait_for_output(spawn_with_stdin(command, stdin))
}

/// Waits until a process ends.
#[track_caller]
pub fn wait_for_output(child: Child) -> CommandOutput {
    child.wait_with_output().unwrap().into()
}

/// As [`run_with_stdin`]; `None` if the command does not end within the limit, after which it is killed.
#[track_caller]
pub fn run_within(limit: Duration, command: &mut Command, stdin: impl AsRef<[u8]>) -> Option<CommandOutput> {
    let mut child = spawn_with_stdin(command, stdin);
    if wait_until_within(limit, || child.try_wait().unwrap()).is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
        return None;
    }
    Some(wait_for_output(child))
}

/// A process that is killed when it is dropped.
#[derive(Debug)]
pub struct ChildGuard(pub Child);

impl ChildGuard {
    /// Starts a command.
    #[track_caller]
    pub fn spawn(command: &mut Command) -> Self {
        Self(command.spawn().unwrap())
    }

    /// Sends a signal.
    #[track_caller]
    pub fn send_signal(&self, signal: Signal) {
        send_signal(self.0.id(), signal);
    }
}

impl Drop for ChildGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A process that lives until it is dropped or terminated, as the process of an agent does.
#[derive(Debug)]
pub struct LiveProcess(Child);

impl LiveProcess {
    /// Starts it.
    #[allow(clippy::new_without_default, reason = "it starts a process")]
    pub fn new() -> Self {
        Self(Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Ends it, and waits until it is gone.
    pub fn terminate(&mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

impl Drop for LiveProcess {
    fn drop(&mut self) {
        self.terminate();
    }
}

/// The id of a process that has ended.
pub fn spawn_dead_pid() -> u32 {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

/// Sends a signal to a process.
#[track_caller]
pub fn send_signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Sends a signal to all processes of a group. Its id is that of its first process.
#[track_caller]
pub fn send_signal_to_group(group: u32, signal: Signal) {
    kill_process_group(Pid::from_raw(group.cast_signed()).unwrap(), signal).unwrap();
}

/// Whether a process runs. One that ended and was not yet reaped does not.
pub fn is_process_running(pid: u32) -> bool {
    read_process_state(pid).is_some_and(|state| !"ZX".contains(state))
}

/// The state letter of a process.
pub fn read_process_state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it may contain anything.
    stat.rsplit_once(") ")?.1.chars().next()
}

/// The resident memory of a process; 0 if the system does not tell.
pub fn read_resident_kib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// A process of this machine, as `/proc` shows it. A part that cannot be read is empty.
#[derive(Debug)]
pub struct ProcessEntry {
    /// Its id.
    pub pid: u32,
}

impl ProcessEntry {
    /// The words of its command line.
    pub fn command_line(&self) -> Vec<String> {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
    }

    /// Its environment.
    pub fn environment(&self) -> String {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        String::from_utf8_lossy(&environment).into_owned()
    }

    /// Its program.
    pub fn executable(&self) -> PathBuf {
        fs::read_link(format!("/proc/{}/exe", self.pid)).unwrap_or_default()
    }

    /// Its working directory.
    pub fn working_directory(&self) -> PathBuf {
        fs::read_link(format!("/proc/{}/cwd", self.pid)).unwrap_or_default()
    }
}

/// Whether any process has this file open.
pub fn is_open_in_a_process(path: &Path) -> bool {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let descriptors =
        processes.flat_map(|process| fs::read_dir(process.path().join("fd")).into_iter().flatten().flatten());
    descriptors.filter_map(|descriptor| fs::read_link(descriptor.path()).ok()).any(|target| target == path)
}

/// The ids of the processes that match.
pub fn find_processes(matches: impl Fn(&ProcessEntry) -> bool) -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.map(|pid| ProcessEntry { pid }).filter(|process| matches(process)).map(|process| process.pid).collect()
}
