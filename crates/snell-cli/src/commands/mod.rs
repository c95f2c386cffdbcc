//! One file per command. Each answers with an exit code; only `output` prints.

pub(crate) mod agents;
pub(crate) mod completions;
pub(crate) mod daemon;
pub(crate) mod demo;
pub(crate) mod docs;
pub(crate) mod doctor;
pub(crate) mod explain;
pub(crate) mod export;
pub(crate) mod guard;
pub(crate) mod hook;
pub(crate) mod install;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod notify;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod session;
pub(crate) mod status;
pub(crate) mod statusline;
pub(crate) mod supervise;
pub(crate) mod trust;
pub(crate) mod uninstall;
pub(crate) mod wake;
pub(crate) mod worker;

use std::time::Duration;

use anyhow::bail;
use snell::{Engine, Event};
use snell_store::StoreError;
use tokio::signal::unix::{SignalKind, signal};

use crate::cli::CliCommand;
use crate::output;
use crate::process::end_signals::CaughtSignals;

/// Everything went well.
pub(crate) const DONE: u8 = 0;
/// Snell's own failure, a usage error, or findings.
pub(crate) const FAILED: u8 = 1;
/// A hook blocked the event.
pub(crate) const BLOCKED: u8 = 2;

/// Runs a command and answers with its exit code.
pub(crate) fn run_command(command: CliCommand) -> u8 {
    let result = match command {
        CliCommand::Run(args) => run::run(&args),
        CliCommand::Hook(args) => Ok(hook::run(&args)),
        CliCommand::Notify(args) => return notify::run(args),
        CliCommand::Install(args) => install::run(&args),
        CliCommand::Uninstall(args) => uninstall::run(&args),
        CliCommand::Doctor(args) => doctor::run(&args),
        CliCommand::List(args) => list::run(&args),
        CliCommand::Lint(args) => lint::run(&args),
        CliCommand::Explain(args) => explain::run(&args),
        CliCommand::Guard(args) => guard::run(&args),
        CliCommand::Trust(args) => trust::run(&args),
        CliCommand::Serve(args) => serve::run(&args),
        CliCommand::Agents(args) => agents::run(&args),
        CliCommand::Status(args) => status::run(&args),
        CliCommand::Session(args) => session::run(&args),
        CliCommand::Worker(args) => worker::run(&args),
        CliCommand::Wake(args) => wake::run(&args),
        CliCommand::Log(args) => log::run(&args),
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
    match result {
        Ok(DONE) if output::has_write_failed() => FAILED,
        Ok(code) => code,
        Err(error) => {
            output::print_error(&error);
            FAILED
        }
    }
}

/// Whether there is a hook that may have something to say about an event.
fn has_hook_for_event(engine: &Engine, event: &Event) -> bool {
    let hooks = engine.hooks();
    hooks.iter().any(|hook| hook.disabled.is_none() && hook.events.contains(&event.name))
}

/// Lets this process inherit what its hooks leave behind, so that the dead among it can be put to rest here rather than
/// by whoever is first in the system, whenever that may be.
fn adopt_orphans() {
    // Where a system cannot do this, only the zombies of killed hooks stay a little longer.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Does the work on this thread alone (starting others would cost more than most hooks), unless told to end.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(run_until_signal(work));
    match &done {
        // The process ends in a moment, and nothing runs any more: taking the runtime apart would only cost time.
        Ok(_) => std::mem::forget(runtime),
        // Here it ends the hooks that were given up, and does not wait for requests that were.
        Err(_) => runtime.shutdown_background(),
    }
    done
}

/// Does the work, unless a signal says to end first. Then the work is given up, and with it end the hooks that it awaits:
/// they have process groups of their own and would otherwise live on without a deadline.
async fn run_until_signal<T>(work: impl Future<Output = T>) -> anyhow::Result<T> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    // A parent that ignores SIGCHLD hands that down, and then the exit status of every hook is lost.
    let _children = signal(SignalKind::child())?;
    tokio::select! {
        done = work => Ok(done),
        _ = terminate.recv() => bail!("ended by SIGTERM; the hooks that were running are ended too"),
        _ = interrupt.recv() => bail!("interrupted; the hooks that were running are ended too"),
        _ = hangup.recv() => bail!("the terminal is gone; the hooks that were running are ended too"),
    }
}

/// Does something again and again, with a pause between, until a signal says to end or nobody listens any more. Being
/// ended like this is how it is meant to end, and no failure.
fn repeat_until_signal(pause: Duration, mut once: impl FnMut() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut requests = CaughtSignals::end_requests()?;
        loop {
            match once() {
                // Somebody else holds the database; the next time it may be free.
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
