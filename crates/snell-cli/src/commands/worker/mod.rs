//! `snell worker`: reports workers that no event reports.

mod summary_file;

use std::path::PathBuf;

use anyhow::Context;
use snell::{BuiltinHandler, HandlerSwitch, Timestamp};
use snell_store::{SessionFilter, SessionRow, SessionWorker, WorkerStatus, WorkerUpdate};

use super::DONE;
use crate::env::caller::CallerEnv;
use crate::handlers::SessionMode;
use crate::output::time::format_elapsed;
use crate::output::{self, CommandError, TableColumn, TextStyle, TextTable};
use crate::record::open_store::StoreHandle;
use crate::session_arg::SessionSelector;
use crate::tmux_wake;

/// The longest label or summary in the table.
const TEXT_SHOWN: usize = 60;

/// Report that a worker started or finished, and list workers
///
/// A worker is a job that an agent starts and does not wait for. Sub-agents and background tasks report themselves; this command
/// is for all others. When the agent is woken up, Snell reports each finished worker to it once.
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

/// Report that a worker started, so that its duration is known
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell worker start nightly-build --label \"the whole test suite\"")]
struct WorkerStartArgs {
    /// Name of the worker, unique in the session
    name: String,
    /// Describe the worker in a few words
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    #[command(flatten)]
    whose: SessionSelector,
}

/// Report that a worker finished
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell worker done nightly-build --summary \"412 passed\" --wake\n  \
    make 2>&1 | tail | snell worker done make --failed --summary-file -")]
struct WorkerDoneArgs {
    /// Name of the worker, unique in the session
    name: String,
    /// Describe the worker in a few words
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    /// Report this result
    #[arg(long, value_name = "TEXT")]
    summary: Option<String>,
    /// Read the result from this file (- is stdin)
    #[arg(long, value_name = "FILE", conflicts_with = "summary")]
    summary_file: Option<PathBuf>,
    /// Report that the worker failed
    #[arg(long)]
    failed: bool,
    /// Wake the agent, as `snell wake` does
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
    output::print_line(&format!("Recorded: {} runs for {}.", worker.name, session.session_id));
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
    let how = if args.failed { "failed" } else { "is done" };
    let typed = if args.wake {
        let woken = tmux_wake::wake_session(&mut store_handle, session.conversation_id, tmux_wake::WakeMode::Checked);
        Some(woken.context("the worker is recorded, but its agent was not woken up")?)
    } else {
        None
    };
    let answers = CallerEnv::load_user_settings().map_or(true, |settings| {
        let is_off = |handler| settings.handlers.switch_of(handler) == HandlerSwitch::Off;
        !is_off(BuiltinHandler::Track) && !is_off(BuiltinHandler::Remind)
    });
    output::print_line(&format!("Recorded: {} {how}.", worker.name));
    output::print_line(&describe_notification(&session, answers));
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
        output::start_paging();
        build_worker_table(&workers, store_handle.now()).print();
    }
    Ok(DONE)
}

/// The session of a worker: the named one, or after a compaction its successor.
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

/// Whether and when Snell reports a finished worker to its agent.
fn describe_notification(session: &SessionRow, wake_ups_are_answered: bool) -> String {
    let id = &session.session_id;
    if !wake_ups_are_answered {
        return format!("Snell will not report it to {id}: `remind` or `track` is off in [handlers] of snell.toml.");
    }
    if SessionMode::from_name(session.mode.as_deref()) == SessionMode::Background {
        return format!("Snell will not report it to {id}: the session works in the background.");
    }
    let reason = session.end_reason.as_deref().unwrap_or("unknown reason");
    match (session.ended_at, reason) {
        (None, _) => format!("Snell reports it to {id} at the next wake-up."),
        (Some(_), "replaced" | "pane_reused") => {
            format!("Snell will not report it to {id} unless it is resumed: another session replaced it ({reason}).")
        }
        (Some(_), _) => format!("Snell will not report it to {id} unless it is resumed: it ended ({reason})."),
    }
}

/// Refuses a blank name.
fn check_worker_name(name: &str) -> anyhow::Result<&str> {
    if name.chars().all(|c| c.is_whitespace() || c.is_control()) {
        let error = CommandError::new("the name of the worker is empty");
        return Err(error.with_hint("write a name, such as: snell worker done nightly-build").into());
    }
    Ok(name)
}

const COLUMNS: [TableColumn; 6] = [
    TableColumn::new("WORKER"),
    TableColumn::new("KIND").with_drop_rank(2),
    TableColumn::new("STATUS"),
    TableColumn::new("TIME").with_drop_rank(3),
    TableColumn::new("REPORTED").with_drop_rank(1),
    TableColumn::new("ABOUT").flexible(),
];

/// The workers as a table.
pub(super) fn build_worker_table(workers: &[SessionWorker], now: Timestamp) -> TextTable<6> {
    let mut table = TextTable::new(COLUMNS);
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

/// The duration of the worker so far.
fn format_worker_time(worker: &SessionWorker, now: Timestamp) -> String {
    match worker.started_at {
        Some(started) => format_elapsed(started, worker.finished_at.unwrap_or(now)),
        None => "-".into(),
    }
}
