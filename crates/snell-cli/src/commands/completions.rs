//! `snell completions`: what a shell needs to complete our command line.

use clap::CommandFactory;
use clap_complete::Shell;

use super::DONE;
use crate::cli::Cli;
use crate::output;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell completions bash > ~/.local/share/bash-completion/completions/snell")]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "snell", &mut script);
    output::text(&String::from_utf8_lossy(&script));
    Ok(DONE)
}
