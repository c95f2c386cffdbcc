//! `snell notices`: shows the notices that were sent, and sends a test.

mod list;
mod test;

/// Show the notices about agents, or send a test
///
/// The targets are those of `[notify]` in your own snell.toml. The background process of hooks and `snell serve` send
/// notices.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell notices test\n  snell notices list\n  \
    snell notices list --json | jq '.[] | select(.status == \"failed\")'")]
pub(crate) struct Args {
    #[command(subcommand)]
    command: NoticesCommand,
}

#[derive(Debug, clap::Subcommand)]
enum NoticesCommand {
    List(list::Args),
    Test(test::Args),
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    match &args.command {
        NoticesCommand::List(args) => list::run(args),
        NoticesCommand::Test(args) => test::run(args),
    }
}
