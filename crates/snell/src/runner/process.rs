//! One process: deadline before spawn, pipes drained while waiting, its whole group ended at the deadline.

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

/// Between TERM and KILL.
const KILL_GRACE: Duration = Duration::from_millis(300);
/// How long a hook that ended may have its output held open by what it started.
const LEAK_WINDOW: Duration = Duration::from_millis(100);
/// Where temporary files go if the directory that was named cannot be used.
pub(super) const FALLBACK_TEMP_DIR: &str = "/tmp";
/// How often a group that was told to end is looked at.
const PROBE_INTERVAL: Duration = Duration::from_millis(5);

/// Everything that one process is started with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ProcessRequest {
    pub(crate) program: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) variables: Vec<EnvVariable>,
    pub(crate) spills: Vec<SpilledVariable>,
    /// Not a `PathBuf`: as JSON that would have to be UTF-8.
    pub(crate) cwd: OsString,
    /// Written to standard input; without it the hook reads an empty one.
    pub(crate) stdin: Option<Arc<str>>,
    pub(crate) timeout: Duration,
    /// Where spilled values are put.
    pub(crate) temp_dir: OsString,
}

/// A variable to set, or, without a value, to take away.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct EnvVariable {
    pub(crate) name: String,
    pub(crate) value: Option<OsString>,
}

/// A value too long for the environment: it goes into a file, which this variable names while the process runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SpilledVariable {
    pub(crate) variable: String,
    pub(crate) content: String,
}

/// What the process is being waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProcessPhase {
    /// Until its deadline.
    Running,
    /// It exited; something else still holds its output.
    Leaking,
    /// It was told to end.
    Ending,
    /// It was ended.
    Killed,
}

/// Runs a process to its end or its deadline. `environment` replaces what would be inherited.
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

/// Waits for a process while feeding and draining it, and ends it at its deadline. Answers how far that went, and the
/// process's own status if it could be had.
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
                // Waiting for our own child fails only if somebody else reaped it; then nothing is known of its end.
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
                // A host that was busy may notice the end and the deadline at once; then the hook was in time.
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

/// Looks once whether the process has ended, and remembers how.
fn has_ended(child: &mut Child, status: &mut Option<ExitStatus>) -> bool {
    *status = child.try_wait().ok().flatten();
    status.is_some()
}

/// The status of a process of whose end nothing is known: as if it had been killed, which is never success.
fn unknown_exit_status() -> ExitStatus {
    ExitStatus::from_raw(Signal::KILL.as_raw())
}

/// Starts the process. While the system has no descriptor or process to spare, it is tried again until the deadline: a
/// busy moment must not read as a guard that cannot run.
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
        // A full disk costs the hook the file, not its run: the variable beside it holds the beginning of the value.
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

/// A program that is not there, or may not be run, ends as a shell would say it: 127 or 126, with a message.
fn outcome_from_spawn_error(request: &ProcessRequest, error: &std::io::Error, duration: Duration) -> Outcome {
    let program = request.program.to_string_lossy();
    let (code, fault) = match error.kind() {
        ErrorKind::NotFound => (127, "not found"),
        ErrorKind::PermissionDenied => (126, "Permission denied (is it executable?)"),
        _ => return Outcome::not_started(format!("{program}: {error}"), duration),
    };
    Outcome { end: RunEnd::Exited(code), stderr: format!("{program}: {fault}\n"), ..Outcome::not_started("", duration) }
}

/// The process group of a running hook. Given up while it still runs, it is killed.
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
            // An error says that nobody is left to receive it.
            let _ = kill_process_group(leader, signal);
        }
    }

    /// Signals a leader that has left its own group. It must not have been waited for yet, or its id may be another's.
    fn signal_stray_leader(&self, signal: Signal) {
        if let Some(leader) = self.leader
            && getpgid(Some(leader)).is_ok_and(|group| group != leader)
        {
            let _ = kill_process(leader, signal);
        }
    }

    /// Whether nobody of the group is left. Its id stays reserved as long as somebody is.
    fn is_gone(&self) -> bool {
        let Some(leader) = self.leader else {
            return true;
        };
        // Where this process inherits orphans (`snell run` does), the dead among them are put to rest first.
        while let Ok(Some(_)) = waitpgid(leader, WaitOptions::NOHANG) {}
        test_kill_process_group(leader).is_err()
    }

    /// Leaves what is still there alone.
    fn release(&mut self) {
        self.leader = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.send_signal(Signal::KILL);
    }
}
