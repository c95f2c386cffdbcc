//! One file or folder per command. Each returns an exit code; only `output` prints.

pub(crate) mod agents;
pub(crate) mod answer;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod docs;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod guard;
pub(crate) mod hook;
pub(crate) mod init;
pub(crate) mod install;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod notices;
pub(crate) mod notify;
pub(crate) mod requests;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod service;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod supervise;
pub(crate) mod token;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod uninstall;
pub(crate) mod usage;
pub(crate) mod wake;
pub(crate) mod worker;

use std::time::Duration;

use anyhow::bail;
use snell::{Engine, Event, Hook};
use snell_store::StoreError;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::CliCommand;
use crate::output;
use crate::process::end_signals::CaughtSignals;

/// The command succeeded.
pub(crate) const DONE: u8 = 0;
/// Snell's own failure, a usage error, or findings.
pub(crate) const FAILED: u8 = 1;
/// A hook blocked the event.
pub(crate) const BLOCKED: u8 = 2;

/// Runs a command and returns its exit code.
pub(crate) fn run_command(command: CliCommand) -> u8 {
    let result = match command {
        CliCommand::Run(args) => run::run(&args),
        CliCommand::Hook(args) => Ok(hook::run(&args)),
        CliCommand::Notify(args) => return notify::run(args),
        CliCommand::Notices(args) => notices::run(&args),
        CliCommand::Init(args) => init::run(&args),
        CliCommand::Config(args) => config::run(&args),
        CliCommand::Install(args) => install::run(&args),
        CliCommand::Uninstall(args) => uninstall::run(&args),
        CliCommand::Doctor(args) => doctor::run(&args),
        CliCommand::List(args) => list::run(&args),
        CliCommand::Lint(args) => lint::run(&args),
        CliCommand::Explain(args) => explain::run(&args),
        CliCommand::Guard(args) => guard::run(&args),
        CliCommand::Trust(args) => trust::run(&args),
        CliCommand::Undo(args) => undo::run(&args),
        CliCommand::Serve(args) => serve::run(&args),
        CliCommand::Service(args) => service::run(&args),
        CliCommand::Token(args) => token::run(&args),
        CliCommand::Agents(args) => agents::run(&args),
        CliCommand::Requests(args) => requests::run(&args),
        CliCommand::Answer(args) => answer::run(&args),
        CliCommand::Status(args) => status::run(&args),
        CliCommand::Session(args) => session::run(&args),
        CliCommand::Worker(args) => worker::run(&args),
        CliCommand::Wake(args) => wake::run(&args),
        CliCommand::Log(args) => log::run(&args),
        CliCommand::Usage(args) => usage::run(&args),
        CliCommand::Export(args) => export::run(&args),
        CliCommand::Statusline(args) => Ok(statusline::run(&args)),
        CliCommand::Demo(args) => demo::run(&args),
        CliCommand::Docs(args) => docs::run(&args),
        CliCommand::Man(args) => man::run(&args),
        CliCommand::Completions(args) => completions::run(&args),
        CliCommand::Supervise(args) => supervise::run(&args),
        CliCommand::Daemon(args) => daemon::run(&args),
        CliCommand::Forward(args) => daemon::run(&args.with_forward_job()),
    };
    output::finish_paging();
    match result {
        Ok(DONE) if output::has_write_failed() => FAILED,
        Ok(code) => code,
        Err(error) => {
            output::print_error(&error);
            FAILED
        }
    }
}

/// Whether any enabled hook reacts to this kind of event.
pub(crate) fn has_hook_for_event(engine: &Engine, event: &Event) -> bool {
    engine.hooks().iter().any(|hook| is_hook_for_event(hook, event))
}

/// Whether this hook is enabled and reacts to this kind of event.
pub(crate) fn is_hook_for_event(hook: &Hook, event: &Event) -> bool {
    hook.disabled.is_none() && hook.events.contains(&event.name)
}

/// Makes this process the parent of processes that its hooks leave behind, so that it can reap them. Otherwise they wait for
/// the init process.
fn adopt_orphans() {
    // Without it, zombies of killed hooks only stay a little longer.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Runs the future on this thread, because more threads would cost more than most hooks. A signal cancels it.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(run_until_signal(work));
    match &done {
        // The process ends at once, and nothing runs any more: dropping the runtime would only cost time.
        Ok(_) => std::mem::forget(runtime),
        // This ends the cancelled hooks, without waiting for cancelled requests.
        Err(_) => runtime.shutdown_background(),
    }
    done
}

/// Runs the future until a signal cancels it. Hooks that it awaits end with it: they have their own process groups and would
/// otherwise go on without a deadline.
async fn run_until_signal<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    // If the parent ignores SIGCHLD, this process does too, and the exit status of every hook is lost.
    let _children = signal(SignalKind::child())?;
    tokio::select! {
        done = work => Ok(done),
        _ = terminate.recv() => bail!("SIGTERM ended the command and its running hooks"),
        _ = interrupt.recv() => bail!("SIGINT ended the command and its running hooks"),
        _ = hangup.recv() => bail!("SIGHUP ended the command and its running hooks"),
    }
}

/// Repeats `once` with a pause between, until a signal arrives or standard output is closed. Neither is a failure.
fn repeat_until_signal(pause: Duration, mut once: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut requests = CaughtSignals::end_requests()?;
        loop {
            match once() {
                // Another process holds the database; it may be free the next time.
                Err(error) if matches!(error.downcast_ref(), Some(StoreError::Locked)) => {}
                done => done?,
            }
            if output::has_write_failed() || !output::is_stdout_open() {
                return Ok(());
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                _ = requests.wait() => return Ok(()),
            }
        }
    })
}
