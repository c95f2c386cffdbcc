//! Background hooks: Snell does not wait for them, but applies their timeout and reports their outcome.
//!
//! A long-lived host keeps them as tasks ([`BackgroundMode::InProcess`]). A host that exits at once, as `snell run` does,
//! starts a process for them ([`BackgroundMode::Detached`]), which calls [`supervise`].

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::process::FALLBACK_TEMP_DIR;
use super::{HookRunner, HookTask, TaskEnd, default_max_running};
use crate::regular_file::{FileAccess, RegularFile};
use crate::report::{HookLabel, HookReport};
use crate::verdict::HookRunStatus;

/// The maximum size of the record file. At this size it is rotated, and one older file is kept.
const MAX_RECORD_BYTES: u64 = 8 * 1024 * 1024;

/// Where background hooks run.
#[derive(Clone, Debug, Default)]
pub enum BackgroundMode {
    /// As tasks of the host's own runtime. They end with it.
    #[default]
    InProcess,
    /// Under a supervising process that outlives the host.
    Detached {
        /// The program that calls [`supervise_jobs`], and its arguments.
        supervisor: Vec<OsString>,
        /// The file to which each outcome is appended as a line of JSON.
        record: PathBuf,
    },
}

/// How a background hook ended.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct BackgroundResult {
    /// When it ended.
    pub finished_at: Timestamp,
    /// The event that started it.
    pub event: String,
    /// The session of that event.
    pub session_id: Option<String>,
    /// The hook and its outcome. It is skipped if its condition is false.
    #[serde(flatten)]
    pub hook: HookReport,
}

/// A hook to run, and the data for its report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct BackgroundJob {
    pub(crate) task: HookTask,
    pub(crate) event: String,
    pub(crate) session_id: Option<String>,
    pub(crate) hook: HookLabel,
    /// A fixed clock, for tests and replays.
    pub(crate) now: Option<Timestamp>,
}

/// The standard input of a supervising process.
#[derive(Debug, Serialize, Deserialize)]
struct SupervisorBatch {
    record: OsString,
    jobs: Vec<BackgroundJob>,
}

/// Called for each background hook that ended.
pub(crate) type BackgroundObserver = Arc<dyn Fn(BackgroundResult) + Send + Sync>;

/// Starts background hooks.
#[derive(Clone)]
pub(crate) struct BackgroundLauncher {
    background: BackgroundMode,
    observer: Option<BackgroundObserver>,
    temp_dir: PathBuf,
    running: watch::Sender<usize>,
}

impl std::fmt::Debug for BackgroundLauncher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launcher")
            .field("background", &self.background)
            .field("running", &*self.running.borrow())
            .finish_non_exhaustive()
    }
}

impl BackgroundLauncher {
    pub(crate) fn new(background: BackgroundMode, observer: Option<BackgroundObserver>, temp_dir: PathBuf) -> Self {
        Self { background, observer, temp_dir, running: watch::Sender::new(0) }
    }

    /// Starts all jobs. Returns where their outcomes will be, or why they could not start.
    pub(crate) fn launch_jobs(&self, jobs: Vec<BackgroundJob>, runner: &HookRunner) -> Result<String, String> {
        match &self.background {
            BackgroundMode::InProcess => {
                for job in jobs {
                    self.spawn_job(job, runner.clone());
                }
                Ok("started in the background".into())
            }
            BackgroundMode::Detached { supervisor, record } => {
                let batch = SupervisorBatch { record: record.clone().into(), jobs };
                spawn_supervisor(supervisor, &batch, runner, &self.temp_dir)
                    .map_err(|error| format!("Snell cannot start it in the background: {error}"))?;
                let shown = record.display();
                Ok(match open_record(record) {
                    Ok(_) => format!("started in the background (its outcome goes to {shown})"),
                    Err(error) => {
                        format!("started in the background (cannot record its outcome in {shown}: {error})")
                    }
                })
            }
        }
    }

    fn spawn_job(&self, job: BackgroundJob, runner: HookRunner) {
        let running = RunningJobToken::new(&self.running);
        let observer = self.observer.clone();
        tokio::spawn(async move {
            let finished = job.run(&runner).await;
            if let Some(observer) = observer {
                observer(finished);
            }
            drop(running);
        });
    }

    /// Waits until all tasks have ended.
    pub(crate) async fn wait_until_idle(&self) {
        // The sender lives in `self`, so waiting cannot fail.
        let _ = self.running.subscribe().wait_for(|running| *running == 0).await;
    }
}

/// Counts a running task until it is dropped.
struct RunningJobToken(watch::Sender<usize>);

impl RunningJobToken {
    fn new(running: &watch::Sender<usize>) -> Self {
        running.send_modify(|count| *count += 1);
        Self(running.clone())
    }
}

impl Drop for RunningJobToken {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl BackgroundJob {
    async fn run(self, runner: &HookRunner) -> BackgroundResult {
        let (status, outcome, why) = match self.task.run(runner).await {
            TaskEnd::Ran(outcome) if outcome.is_success() => (HookRunStatus::Ok, Some(outcome), None),
            TaskEnd::Ran(outcome) if outcome.has_timed_out() => (HookRunStatus::TimedOut, Some(outcome), None),
            TaskEnd::Ran(outcome) => (HookRunStatus::Failed, Some(outcome), None),
            TaskEnd::Withheld(condition) => {
                let why = format!("its condition {}", condition.describe_end());
                (HookRunStatus::Skipped, None, Some(why))
            }
        };
        BackgroundResult {
            finished_at: self.now.unwrap_or_else(Timestamp::now),
            event: self.event,
            session_id: self.session_id,
            hook: HookReport::new(self.hook, status, outcome.as_ref(), why),
        }
    }
}

fn spawn_supervisor(
    supervisor: &[OsString],
    batch: &SupervisorBatch,
    runner: &HookRunner,
    temp_dir: &Path,
) -> std::io::Result<()> {
    let (program, args) =
        supervisor.split_first().ok_or_else(|| std::io::Error::other("no supervisor is configured"))?;
    // A file instead of a pipe, so that this process can exit before it is read.
    let mut input = tempfile::tempfile_in(temp_dir).or_else(|_| tempfile::tempfile_in(FALLBACK_TEMP_DIR))?;
    serde_json::to_writer(&mut input, batch)?;
    input.rewind()?;
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::from(input))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // It has its own session, so a signal to the host's group does not reach it.
        .process_group(0);
    if let Some(environment) = &runner.environment {
        command.env_clear().envs(environment.iter());
    }
    command.spawn().map(drop)
}

/// Runs all hooks that [`BackgroundMode::Detached`] sent on `input`, and records each outcome.
///
/// This is all that a supervising process does. `telling` gets each hook that ended, and returns its record.
///
/// # Errors
///
/// When the input is not from [`BackgroundMode::Detached`], or an outcome cannot be recorded.
pub async fn supervise_jobs(
    input: impl Read,
    mut telling: impl FnMut(&BackgroundResult) -> Value,
) -> std::io::Result<()> {
    let batch: SupervisorBatch = serde_json::from_reader(input)?;
    let runner = HookRunner::new(None, default_max_running());
    let mut running = JoinSet::new();
    for job in batch.jobs {
        let runner = runner.clone();
        running.spawn(async move { job.run(&runner).await });
    }
    // Continue with the others if one outcome cannot be recorded.
    let mut result = Ok(());
    while let Some(finished) = running.join_next().await {
        let recorded = finished
            .map_err(std::io::Error::from)
            .and_then(|finished| append_record(Path::new(&batch.record), &telling(&finished)));
        result = result.and(recorded);
    }
    result
}

fn append_record(record: &Path, line: &Value) -> std::io::Result<()> {
    if fs::metadata(record).is_ok_and(|metadata| metadata.len() > MAX_RECORD_BYTES) {
        // Another supervisor may have just rotated it.
        let mut older = record.as_os_str().to_owned();
        older.push(".1");
        let _ = fs::rename(record, older);
    }
    // One write to a file in append mode, so lines of several supervisors do not mix.
    open_record(record)?.write_all(format!("{line}\n").as_bytes())
}

/// Opens the record for appending. Only the owner can read it and its directory, because outcomes may contain output of
/// tools.
fn open_record(path: &Path) -> std::io::Result<File> {
    if let Some(directory) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    RegularFile::open(path, FileAccess::Append).map(RegularFile::into_file)
}
