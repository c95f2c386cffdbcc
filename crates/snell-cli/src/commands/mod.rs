//! One file per command. Each answers with an exit code; only `output` prints.

pub(crate) mod completions;
pub(crate) mod docs;
pub(crate) mod explain;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod run;
mod supervise;

use crate::cli::Command;
use crate::output;

/// Everything went well.
pub(crate) const DONE: u8 = 0;
/// Snell's own failure, a usage error, or findings.
pub(crate) const FAILED: u8 = 1;
/// A hook blocked the event.
pub(crate) const BLOCKED: u8 = 2;

/// Runs a command and answers with its exit code.
pub(crate) fn run(command: Command) -> u8 {
    let result = match command {
        Command::Run(args) => run::run(&args),
        Command::List(args) => list::run(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Docs(args) => docs::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Supervise => supervise::run(),
    };
    result.unwrap_or_else(|error| {
        output::error(&error);
        FAILED
    })
}

/// A runtime on this thread alone: starting threads would cost more than most hooks.
fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
