//! `snell session`: what sessions there are, and what agents and people say about them.

mod list;
mod ping;
mod show;
mod status;

/// Show sessions, and say what one works on or that it is still there
///
/// Agents call this from their shell, people from theirs. Without --session ID it is about the caller's own session: the
/// one that CLAUDE_SESSION_ID or CLAUDE_CODE_SESSION_ID names, else that of the agent above this process, of the tmux
/// pane, or the only open one of the project.
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
