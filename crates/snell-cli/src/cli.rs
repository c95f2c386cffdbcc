//! What can be typed: the subcommands, and how a mistake in typing ends.

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::commands::{
    DONE, FAILED, agents, completions, demo, docs, doctor, explain, export, forward, guard, hook, install, lint, list,
    log, notify, run, scribe, serve, session, status, statusline, supervise, trust, uninstall, wake, worker,
};
use crate::output;

/// One hooks system for every coding agent
///
/// Snell reads the hook files of Wave, Claude Code, whale, the flat specification and its own snell.toml, runs each hook
/// under the contract it was written for, and decides.
#[derive(Debug, Parser)]
#[command(name = "snell", version, arg_required_else_help = true, max_term_width = 100)]
#[command(after_help = "Example:\n  \
    echo '{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"git push\"}}' | snell run PreToolUse\n\n\
    Exit codes: 0 go on, 2 blocked (snell run), 1 anything else.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Run(run::Args),
    Hook(hook::Args),
    Notify(notify::Args),
    Install(install::Args),
    Uninstall(uninstall::Args),
    Doctor(doctor::Args),
    List(list::Args),
    Lint(lint::Args),
    Explain(explain::Args),
    Guard(guard::Args),
    Trust(trust::Args),
    Serve(serve::Args),
    Agents(agents::Args),
    Status(status::Args),
    Session(session::Args),
    Worker(worker::Args),
    Wake(wake::Args),
    Log(log::Args),
    Export(export::Args),
    Statusline(statusline::Args),
    Demo(demo::Args),
    Docs(docs::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Supervise(supervise::Args),
    #[command(hide = true)]
    Scribe(scribe::Args),
    #[command(hide = true)]
    Forward(forward::Args),
}

/// Reads the command line. A mistake ends with 1, never with 2: to a host, 2 is a block. Under some agents any failure of a
/// hook is one, so `notify`, which only tells others, ends with 0 even then.
pub(crate) fn parse() -> Result<Command, u8> {
    Cli::try_parse().map(|cli| cli.command).map_err(|error| {
        let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        let only_tells = std::env::args_os().nth(1).is_some_and(|command| command == "notify");
        output::clap_message(&error);
        if asked_for || only_tells { DONE } else { FAILED }
    })
}
