//! `snell session`: shows sessions, and records their status and signs of life.

mod list;
mod ping;
mod show;
mod status;

/// Show sessions, set their status, or report a sign of life
///
/// Agents and people call it from their shell. Without --session ID it uses the caller's own session: the one in
/// CLAUDE_SESSION_ID or CLAUDE_CODE_SESSION_ID, else the session of the agent that started this process, else the session in this tmux pane, else the project's open session if there is only one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell session list\n  snell session show 5f3a\n  \
    snell session status \"migrating the users table\"\n  snell session ping \"all tests pass\"")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Debug, clap::Subcommand)]
enum SessionCommand {
    Show(show::Args),
    List(list::Args),
    Status(status::Args),
    Ping(ping::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.command {
        SessionCommand::Show(args) => show::run(args),
        SessionCommand::List(args) => list::run(args),
        SessionCommand::Status(args) => status::run(args),
        SessionCommand::Ping(args) => ping::run(args),
    }
}
