//! `snell worker`: what a session has others do, where no event tells of it.

mod summary_file;

use std::path::PathBuf;

use anyhow::{Context, bail};
use snell::{BuiltinHandler, Timestamp};
use snell_store::{SessionFilter, SessionRow, SessionWorker, WorkerStatus, WorkerUpdate};

use super::DONE;
use crate::env::caller::CallerEnv;
use crate::handlers::SessionMode;
use crate::output::time::format_elapsed;
use crate::output::{self, TextStyle, TextTable};
use crate::record::open_store::StoreHandle;
use crate::session_arg::SessionSelector;
use crate::tmux_wake;

/// How much of a label and of a summary is shown.
const TEXT_SHOWN: usize = 60;

/// Say that a worker has begun or finished, and list a session's workers
///
/// A session's subagents and background tasks are known by their events. This is for everything else that it starts and
/// does not wait for. Its agent is told once of each that has finished, when it is woken up.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell worker start nightly-build --label \"the whole test suite\"\n  \
    snell worker done nightly-build --summary \"412 passed\" --wake\n  \
    make 2>&1 | tail | snell worker done make --failed --summary-file -\n  snell worker list")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: WorkerCommand,
}

#[derive(Debug, clap::Subcommand)]
enum WorkerCommand {
    Start(WorkerStartArgs),
    Done(WorkerDoneArgs),
    List(WorkerListArgs),
}

/// Say that a worker has begun, so that it is known how long it takes
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell worker start nightly-build --label \"the whole test suite\"")]
struct WorkerStartArgs {
    /// What tells it from the session's other workers
    name: String,
    /// What it is or does, in a few words
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    #[command(flatten)]
    whose: SessionSelector,
}

/// Say that a worker has finished
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell worker done nightly-build --summary \"412 passed\" --wake\n  \
    make 2>&1 | tail | snell worker done make --failed --summary-file -")]
struct WorkerDoneArgs {
    /// What tells it from the session's other workers
    name: String,
    /// What it is or does, in a few words
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// What came out
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Read what came out from this file; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "summary")]
    summary_file: Option<PathBuf>,
    /// It did not do what it should
    #[arg(long)]
    failed: bool,
    /// Wake the session's agent up, as `snell wake` does
    #[arg(long)]
    wake: bool,
    #[command(flatten)]
    whose: SessionSelector,
}

/// List a session's workers, the earliest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell worker list --json | jq '.[] | select(.status == \"running\")'")]
struct WorkerListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    whose: SessionSelector,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.command {
        WorkerCommand::Start(args) => start_worker(args),
        WorkerCommand::Done(args) => finish_worker(args),
        WorkerCommand::List(args) => list_workers(args),
    }
}

fn start_worker(args: &WorkerStartArgs) -> anyhow::Result<u8> {
    let name = check_worker_name(&args.name)?;
    let mut store_handle = StoreHandle::open_for_writing()?;
    let session = args.whose.resolve(&mut store_handle)?;
    let now = store_handle.now();
    let note = WorkerUpdate {
        conversation_id: session.conversation_id,
        name,
        label: args.label.as_deref(),
        status: WorkerStatus::Running,
        summary: None,
    };
    let worker = store_handle.write_with_retry(|store| store.record_worker_update(&note, now))?;
    output::print_line(&format!("{} runs for {}.", worker.name, session.session_id));
    Ok(DONE)
}

fn finish_worker(args: &WorkerDoneArgs) -> anyhow::Result<u8> {
    let name = check_worker_name(&args.name)?;
    let read = args.summary_file.as_deref().map(summary_file::read_summary).transpose()?;
    let summary = args.summary.as_deref().or(read.as_deref());
    let mut store_handle = StoreHandle::open_for_writing()?;
    let session = args.whose.resolve(&mut store_handle)?;
    let now = store_handle.now();
    let note = WorkerUpdate {
        conversation_id: session.conversation_id,
        name,
        label: args.label.as_deref(),
        status: if args.failed { WorkerStatus::Failed } else { WorkerStatus::Done },
        summary: summary.map(str::trim).filter(|text| !text.is_empty()),
    };
    let worker = store_handle.write_with_retry(|store| store.record_worker_update(&note, now))?;
    let session = find_worker_session(&worker, session, &mut store_handle)?;
    let how = if args.failed { "has failed" } else { "is done" };
    let typed = if args.wake {
        let woken = tmux_wake::wake_session(&mut store_handle, session.conversation_id, tmux_wake::WakeMode::Checked);
        Some(woken.context("the worker is noted, but its session's agent was not woken up")?)
    } else {
        None
    };
    let answers = CallerEnv::load_user_settings().map_or(true, |settings| {
        let is_on = |handler| settings.handlers.is_enabled(handler);
        is_on(BuiltinHandler::Track) && is_on(BuiltinHandler::Remind)
    });
    output::print_line(&format!("{} {how}; {}.", worker.name, describe_notification(&session, answers)));
    if let Some(typed) = typed {
        output::print_line(&typed);
    }
    Ok(DONE)
}

fn list_workers(args: &WorkerListArgs) -> anyhow::Result<u8> {
    let mut store_handle = StoreHandle::open()?;
    let session = args.whose.resolve(&mut store_handle)?;
    let workers = store_handle.query(|store| store.list_workers(session.conversation_id))?;
    if args.json {
        output::print_json(&workers)?;
    } else if workers.is_empty() {
        output::print_line(&format!("{} has no workers.", session.session_id));
    } else {
        build_worker_table(&workers, store_handle.now()).print();
    }
    Ok(DONE)
}

/// The session that has a worker: the one that was named, unless that was compacted and has handed it on.
fn find_worker_session(
    worker: &SessionWorker,
    named: SessionRow,
    store_handle: &mut StoreHandle,
) -> anyhow::Result<SessionRow> {
    let filter = SessionFilter { conversation_id: Some(worker.conversation_id), ..SessionFilter::default() };
    if worker.conversation_id == named.conversation_id {
        return Ok(named);
    }
    let found = store_handle.query(|store| store.list_sessions(&filter))?.pop();
    Ok(found.unwrap_or(named))
}

/// Whether and when a session's agent is told of a worker, if wake-ups are answered at all. Nothing here looks anywhere.
fn describe_notification(session: &SessionRow, wake_ups_are_answered: bool) -> String {
    let id = &session.session_id;
    if !wake_ups_are_answered {
        return format!("{id} is not told, because wake-ups are not answered ([handlers] in snell.toml)");
    }
    if SessionMode::from_name(session.mode.as_deref()) == SessionMode::Background {
        return format!("{id} is not told, because it works in the background");
    }
    let reason = session.end_reason.as_deref().unwrap_or("no reason is known");
    match (session.ended_at, reason) {
        (None, _) => format!("{id} is told when it is woken up"),
        (Some(_), "replaced" | "pane_reused") => {
            format!("{id} is not told unless it is resumed, because another session has taken its place ({reason})")
        }
        (Some(_), _) => format!("{id} is not told unless it is resumed, because it has ended ({reason})"),
    }
}

/// A name that says something.
fn check_worker_name(name: &str) -> anyhow::Result<&str> {
    if name.chars().all(|c| c.is_whitespace() || c.is_control()) {
        bail!("the worker's name is empty; write what tells it from others, such as: snell worker done nightly-build");
    }
    Ok(name)
}

/// Workers as people see them.
pub(super) fn build_worker_table(workers: &[SessionWorker], now: Timestamp) -> TextTable<6> {
    let mut table = TextTable::new(["WORKER", "KIND", "STATUS", "TIME", "TOLD", "ABOUT"], 5);
    for worker in workers {
        let plain = |text: String| (text, TextStyle::Plain);
        let about = [&worker.label, &worker.summary];
        let about: Vec<_> =
            about.into_iter().flatten().map(|text| output::shorten_to_one_line(text, TEXT_SHOWN)).collect();
        table.add_styled_row([
            plain(worker.name.clone()),
            plain(worker.kind.to_string()),
            (worker.status.to_string(), status_style(worker.status)),
            plain(format_worker_time(worker, now)),
            plain(if worker.reported_at.is_some() { "yes" } else { "-" }.into()),
            plain(about.join(": ")),
        ]);
    }
    table
}

fn status_style(status: WorkerStatus) -> TextStyle {
    match status {
        WorkerStatus::Running => TextStyle::Bold,
        WorkerStatus::Done => TextStyle::Plain,
        WorkerStatus::Failed => TextStyle::Red,
    }
}

/// How long it took, or has been running.
fn format_worker_time(worker: &SessionWorker, now: Timestamp) -> String {
    match worker.started_at {
        Some(started) => format_elapsed(started, worker.finished_at.unwrap_or(now)),
        None => "-".into(),
    }
}
