//! What can be typed: the subcommands, and how a mistake in typing ends.

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::commands::{
    DONE, FAILED, agents, completions, docs, explain, export, hook, lint, list, log, run, scribe, status, statusline,
    supervise, trust,
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
    List(list::Args),
    Lint(lint::Args),
    Explain(explain::Args),
    Trust(trust::Args),
    Agents(agents::Args),
    Status(status::Args),
    Log(log::Args),
    Export(export::Args),
    Statusline(statusline::Args),
    Docs(docs::Args),
    Completions(completions::Args),
    #[command(hide = true)]
    Supervise(supervise::Args),
    #[command(hide = true)]
    Scribe(scribe::Args),
}

/// Reads the command line. A mistake ends with 1, never with 2: to a host, 2 is a block.
pub(crate) fn parse() -> Result<Command, u8> {
    Cli::try_parse().map(|cli| cli.command).map_err(|error| {
        let asked_for = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
        output::clap_message(&error);
        if asked_for { DONE } else { FAILED }
    })
}
