//! Runs one process: the deadline starts before the spawn, pipes are drained during the wait, and the whole group ends
//! at the deadline.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpgid, kill_process, kill_process_group, test_kill_process_group, waitpgid,
};
use serde::{Deserialize, Serialize};
use tempfile::TempPath;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep, sleep_until};

use super::pipes::HookPipes;
use crate::outcome::{Outcome, RunEnd};

/// The time between TERM and KILL.
const KILL_GRACE: Duration = Duration::from_millis(300);
/// How long child processes may keep the output of an ended hook open.
const LEAK_WINDOW: Duration = Duration::from_millis(100);
/// The directory of temporary files if the configured one does not work.
pub(super) const FALLBACK_TEMP_DIR: &str = "/tmp";
/// The poll interval for a group that received TERM.
const PROBE_INTERVAL: Duration = Duration::from_millis(5);

/// The parameters of one process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProcessRequest {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) variables: Vec<EnvVariable>,
    pub(crate) spills: Vec<SpilledVariable>,
    /// Not a `PathBuf`, because that would have to be UTF-8 in JSON.
    pub(crate) cwd: OsString,
    /// The standard input. Without it the hook reads an empty one.
    pub(crate) stdin: Option<Arc<str>>,
    pub(crate) timeout: Duration,
    /// The directory of spilled values.
    pub(crate) temp_dir: OsString,
}

/// A variable to set, or to remove if it has no value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EnvVariable {
    pub(crate) name: String,
    pub(crate) value: Option<OsString>,
}

/// A value that is too long for the environment. It is in a file, whose path this variable has while the process runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SpilledVariable {
    pub(crate) variable: String,
    pub(crate) content: String,
}

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessPhase {
    /// It runs until its deadline.
    Running,
    /// It exited, but another process still has its output open.
    Leaking,
    /// It received TERM.
    Ending,
    /// It received KILL.
    Killed,
}

/// Runs a process to its end or its deadline. `environment` replaces the inherited one.
pub(super) async fn run_process(
    request: &ProcessRequest,
    environment: Option<&BTreeMap<OsString, OsString>>,
) -> Outcome {
    let started = Instant::now();
    let deadline = started + request.timeout;
    let cwd = Path::new(&request.cwd);
    if !cwd.is_dir() {
        let why = format!("the working directory {} does not exist", cwd.display());
        return Outcome::not_started(why, started.elapsed());
    }
    let (mut command, spilled) = build_command(request, environment);
    let mut child = match spawn_with_retry(&mut command, deadline).await {
        Ok(child) => child,
        Err(error) => return outcome_from_spawn_error(request, &error, started.elapsed()),
    };
    let mut group = ProcessGroup::from_child(&child);
    let mut pipes = HookPipes::from_child(&mut child, request.stdin.as_deref().unwrap_or_default());
    let (phase, status) = wait_for_process(&mut child, &mut pipes, &group, deadline).await;
    group.release();
    drop(spilled);
    let end = match (phase, status) {
        (ProcessPhase::Ending | ProcessPhase::Killed, _) | (_, None) => RunEnd::TimedOut(request.timeout),
        (_, Some(status)) => match status.code() {
            Some(code) => RunEnd::Exited(code),
            None => RunEnd::Signaled(status.signal().unwrap_or_default()),
        },
    };
    Outcome { end, duration: started.elapsed(), ..pipes.into_outcome() }
}

/// Waits for a process, writes its input and drains its output, and ends it at its deadline. Returns the last phase,
/// and the exit status if it is known.
async fn wait_for_process(
    child: &mut Child,
    pipes: &mut HookPipes<'_>,
    group: &ProcessGroup,
    deadline: Instant,
) -> (ProcessPhase, Option<ExitStatus>) {
    let mut phase = ProcessPhase::Running;
    let mut status: Option<ExitStatus> = None;
    let timer = sleep_until(deadline);
    tokio::pin!(timer);
    loop {
        let over = status.is_some() && pipes.are_drained();
        match phase {
            ProcessPhase::Running | ProcessPhase::Leaking if over => break,
            ProcessPhase::Ending | ProcessPhase::Killed if over && group.is_gone() => break,
            _ => {}
        }
        tokio::select! {
            ended = child.wait(), if status.is_none() => {
                // Waiting for a child fails only if it was reaped elsewhere. Then its status is unknown.
                status = Some(ended.unwrap_or_else(|_| unknown_exit_status()));
                if phase == ProcessPhase::Running {
                    phase = ProcessPhase::Leaking;
                    timer.as_mut().reset(Instant::now() + LEAK_WINDOW);
                }
            }
            () = pipes.stdin.advance(), if pipes.stdin.is_open() => {}
            () = pipes.stdout.advance(), if pipes.stdout.is_open() => {}
            () = pipes.stderr.advance(), if pipes.stderr.is_open() => {}
            () = sleep(PROBE_INTERVAL), if over => {}
            () = &mut timer => match phase {
                // A busy host may notice the end and the deadline together. Then the hook was in time.
                ProcessPhase::Running if has_ended(child, &mut status) => {
                    phase = ProcessPhase::Leaking;
                    timer.as_mut().reset(Instant::now() + LEAK_WINDOW);
                }
                ProcessPhase::Running => {
                    group.send_signal(Signal::TERM);
                    group.signal_stray_leader(Signal::TERM);
                    phase = ProcessPhase::Ending;
                    timer.as_mut().reset(Instant::now() + KILL_GRACE);
                }
                ProcessPhase::Ending => {
                    group.send_signal(Signal::KILL);
                    if status.is_none() {
                        group.signal_stray_leader(Signal::KILL);
                    }
                    phase = ProcessPhase::Killed;
                    timer.as_mut().reset(Instant::now() + LEAK_WINDOW);
                }
                ProcessPhase::Leaking | ProcessPhase::Killed => break,
            }
        }
    }
    pipes.drain_available().await;
    (phase, status)
}

/// Checks once whether the process has ended, and stores its status.
fn has_ended(child: &mut Child, status: &mut Option<ExitStatus>) -> bool {
    *status = child.try_wait().ok().flatten();
    status.is_some()
}

/// The status of a process whose end is unknown: killed, which is never a success.
fn unknown_exit_status() -> ExitStatus {
    ExitStatus::from_raw(Signal::KILL.as_raw())
}

/// Starts the process. If the system is out of file descriptors or processes, this retries until the deadline, so that
/// a short overload does not disable a guard.
async fn spawn_with_retry(command: &mut Command, deadline: Instant) -> std::io::Result<Child> {
    loop {
        match command.spawn() {
            Err(error) if is_resource_shortage(&error) && Instant::now() < deadline => sleep(PROBE_INTERVAL).await,
            result => return result,
        }
    }
}

fn is_resource_shortage(error: &std::io::Error) -> bool {
    error
        .raw_os_error()
        .is_some_and(|code| [Errno::MFILE, Errno::NFILE, Errno::AGAIN].iter().any(|errno| errno.raw_os_error() == code))
}

fn build_command(
    request: &ProcessRequest,
    environment: Option<&BTreeMap<OsString, OsString>>,
) -> (Command, Vec<TempPath>) {
    let mut command = Command::new(&request.program);
    command
        .args(&request.args)
        .current_dir(&request.cwd)
        .process_group(0)
        .stdin(match request.stdin {
            Some(_) => Stdio::piped(),
            None => Stdio::null(),
        })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(environment) = environment {
        command.env_clear().envs(environment);
    }
    for variable in &request.variables {
        match &variable.value {
            Some(value) => command.env(&variable.name, value),
            None => command.env_remove(&variable.name),
        };
    }
    let mut spilled = Vec::new();
    for spill in &request.spills {
        // If the disk is full, the hook runs without the file. The variable beside it has the start of the value.
        if let Ok(path) = write_spill(request, spill) {
            command.env(&spill.variable, &path);
            spilled.push(path);
        }
    }
    (command, spilled)
}

fn write_spill(request: &ProcessRequest, spill: &SpilledVariable) -> std::io::Result<TempPath> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("snell-").suffix(".txt");
    let mut file = builder.tempfile_in(&request.temp_dir).or_else(|_| builder.tempfile_in(FALLBACK_TEMP_DIR))?;
    file.write_all(spill.content.as_bytes())?;
    Ok(file.into_temp_path())
}

/// A program that is missing or not executable ends as in a shell: 127 or 126, with a message.
fn outcome_from_spawn_error(request: &ProcessRequest, error: &std::io::Error, duration: Duration) -> Outcome {
    let program = request.program.to_string_lossy();
    let (code, fault) = match error.kind() {
        ErrorKind::NotFound => (127, "not found"),
        ErrorKind::PermissionDenied => (126, "Permission denied (is it executable?)"),
        _ => return Outcome::not_started(format!("{program}: {error}"), duration),
    };
    Outcome { end: RunEnd::Exited(code), stderr: format!("{program}: {fault}\n"), ..Outcome::not_started("", duration) }
}

/// The process group of a running hook. Dropping it kills the group.
#[derive(Debug)]
struct ProcessGroup {
    leader: Option<Pid>,
}

impl ProcessGroup {
    fn from_child(child: &Child) -> Self {
        let leader = child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        Self { leader }
    }

    fn send_signal(&self, signal: Signal) {
        if let Some(leader) = self.leader {
            // An error means that the group is empty.
            let _ = kill_process_group(leader, signal);
        }
    }

    /// Signals a leader that has left its own group. It must not be reaped yet, or its id may belong to another
    /// process.
    fn signal_stray_leader(&self, signal: Signal) {
        if let Some(leader) = self.leader
            && getpgid(Some(leader)).is_ok_and(|group| group != leader)
        {
            let _ = kill_process(leader, signal);
        }
    }

    /// Whether the group is empty. Its id stays reserved until then.
    fn is_gone(&self) -> bool {
        let Some(leader) = self.leader else {
            return true;
        };
        // If this process inherits orphans (as `snell run` does), it reaps them first.
        while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
        test_kill_process_group(leader).is_err()
    }

    /// Leaves the rest of the group alone.
    fn release(&mut self) {
        self.leader = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.send_signal(Signal::KILL);
    }
}
