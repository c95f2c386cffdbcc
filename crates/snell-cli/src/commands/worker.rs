//! `snell worker`: what a session has others do, where no event tells of it.

mod summary;

use std::path::PathBuf;

use anyhow::{Context, bail};
use snell::{Handler, Timestamp};
use snell_store::{SessionFilter, SessionRow, Worker, WorkerNote, WorkerStatus};

use super::DONE;
use crate::caller::Caller;
use crate::handlers::Mode;
use crate::memory::Memory;
use crate::output::{self, Style, Table};
use crate::times::how_long;
use crate::waking;
use crate::whose::Whose;

/// How much of a label and of a summary is shown.
const TEXT_SHOWN: usize = 60;

/// Say that a worker has begun or finished, and list a session's workers
///
/// A session's subagents and background tasks are known by their events. This is for everything else that it starts and
/// does not wait for. Its agent is told once of each that has finished, when it is woken up.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell worker start nightly-build --label \"the whole test suite\"\n  \
    snell worker done nightly-build --summary \"412 passed\" --wake\n  \
    make 2>&1 | tail | snell worker done make --failed --summary-file -\n  snell worker list"
)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Start(StartArgs),
    Done(DoneArgs),
    List(ListArgs),
}

/// Say that a worker has begun, so that it is known how long it takes
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell worker start nightly-build --label \"the whole test suite\"")]
struct StartArgs {
    /// What tells it from the session's other workers
    name: String,
    /// What it is or does, in a few words
    #[arg(long, value_name = "TEXT")]
    label: Option<String>,
    #[command(flatten)]
    whose: Whose,
}

/// Say that a worker has finished
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  snell worker done nightly-build --summary \"412 passed\" --wake\n  \
    make 2>&1 | tail | snell worker done make --failed --summary-file -"
)]
struct DoneArgs {
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
    whose: Whose,
}

/// List a session's workers, the earliest first
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell worker list --json | jq '.[] | select(.status == \"running\")'")]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    whose: Whose,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.command {
        Command::Start(args) => start(args),
        Command::Done(args) => done(args),
        Command::List(args) => list(args),
    }
}

fn start(args: &StartArgs) -> anyhow::Result<u8> {
    let name = checked(&args.name)?;
    let mut memory = Memory::find_to_note()?;
    let session = args.whose.find(&mut memory)?;
    let now = memory.now();
    let note = WorkerNote {
        conversation_id: session.conversation_id,
        name,
        label: args.label.as_deref(),
        status: WorkerStatus::Running,
        summary: None,
    };
    let worker = memory.tell(|store| store.note_worker(&note, now))?;
    output::line(&format!("{} runs for {}.", worker.name, session.session_id));
    Ok(DONE)
}

fn done(args: &DoneArgs) -> anyhow::Result<u8> {
    let name = checked(&args.name)?;
    let read = args.summary_file.as_deref().map(summary::read).transpose()?;
    let summary = args.summary.as_deref().or(read.as_deref());
    let mut memory = Memory::find_to_note()?;
    let session = args.whose.find(&mut memory)?;
    let now = memory.now();
    let note = WorkerNote {
        conversation_id: session.conversation_id,
        name,
        label: args.label.as_deref(),
        status: if args.failed {
            WorkerStatus::Failed
        } else {
            WorkerStatus::Done
        },
        summary: summary.map(str::trim).filter(|text| !text.is_empty()),
    };
    let worker = memory.tell(|store| store.note_worker(&note, now))?;
    let session = having(&worker, session, &mut memory)?;
    let how = if args.failed { "has failed" } else { "is done" };
    let typed = if args.wake {
        let woken = waking::wake_session(&mut memory, session.conversation_id, waking::Care::Checked);
        Some(woken.context("the worker is noted, but its session's agent was not woken up")?)
    } else {
        None
    };
    let answers = Caller::settings().map_or(true, |settings| {
        let is_on = |handler| settings.handlers.is_on(handler);
        is_on(Handler::Track) && is_on(Handler::Remind)
    });
    output::line(&format!("{} {how}; {}.", worker.name, prospect(&session, answers)));
    if let Some(typed) = typed {
        output::line(&typed.to_string());
    }
    Ok(DONE)
}

fn list(args: &ListArgs) -> anyhow::Result<u8> {
    let mut memory = Memory::find()?;
    let session = args.whose.find(&mut memory)?;
    let workers = memory.ask(|store| store.workers_of(session.conversation_id))?;
    if args.json {
        output::json(&workers)?;
    } else if workers.is_empty() {
        output::line(&format!("{} has no workers.", session.session_id));
    } else {
        table(&workers, memory.now()).print();
    }
    Ok(DONE)
}

/// The session that has a worker: the one that was named, unless that was compacted and has handed it on.
fn having(worker: &Worker, named: SessionRow, memory: &mut Memory) -> anyhow::Result<SessionRow> {
    let filter = SessionFilter {
        conversation_id: Some(worker.conversation_id),
        ..SessionFilter::default()
    };
    if worker.conversation_id == named.conversation_id {
        return Ok(named);
    }
    let found = memory.ask(|store| store.session_rows(&filter))?.pop();
    Ok(found.unwrap_or(named))
}

/// Whether and when a session's agent is told of a worker, if wake-ups are answered at all. Nothing here looks anywhere.
fn prospect(session: &SessionRow, wake_ups_are_answered: bool) -> String {
    let id = &session.session_id;
    if !wake_ups_are_answered {
        return format!("{id} is not told, because wake-ups are not answered ([handlers] in snell.toml)");
    }
    if Mode::of(session.mode.as_deref()) == Mode::Background {
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
fn checked(name: &str) -> anyhow::Result<&str> {
    if name.chars().all(|c| c.is_whitespace() || c.is_control()) {
        bail!("the worker's name is empty; write what tells it from others, such as: snell worker done nightly-build");
    }
    Ok(name)
}

/// Workers as people see them.
pub(super) fn table(workers: &[Worker], now: Timestamp) -> Table<6> {
    let mut table = Table::new(["WORKER", "KIND", "STATUS", "TIME", "TOLD", "ABOUT"], 5);
    for worker in workers {
        let plain = |text: String| (text, Style::Plain);
        let about = [&worker.label, &worker.summary];
        let about: Vec<_> = about
            .into_iter()
            .flatten()
            .map(|text| output::in_brief(text, TEXT_SHOWN))
            .collect();
        table.styled_row([
            plain(worker.name.clone()),
            plain(worker.kind.to_string()),
            (worker.status.to_string(), style(worker.status)),
            plain(time_of(worker, now)),
            plain(if worker.reported_at.is_some() { "yes" } else { "-" }.into()),
            plain(about.join(": ")),
        ]);
    }
    table
}

fn style(status: WorkerStatus) -> Style {
    match status {
        WorkerStatus::Running => Style::Bold,
        WorkerStatus::Done => Style::Plain,
        WorkerStatus::Failed => Style::Red,
    }
}

/// How long it took, or has been running.
fn time_of(worker: &Worker, now: Timestamp) -> String {
    match worker.started_at {
        Some(started) => how_long(started, worker.finished_at.unwrap_or(now)),
        None => "-".into(),
    }
}
