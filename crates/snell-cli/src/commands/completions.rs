//! `snell completions`: completion scripts for shells.

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Command, CommandFactory};
use clap_complete::Shell;
use snell::EventName;

use super::{DONE, docs};
use crate::cli::Cli;
use crate::install::agents::InstallAgent;
use crate::output;

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  mkdir -p ~/.local/share/bash-completion/completions\n  \
    snell completions bash > ~/.local/share/bash-completion/completions/snell\n\n  \
    mkdir -p ~/.zfunc    # and in ~/.zshrc, before compinit: fpath+=(~/.zfunc)\n  \
    snell completions zsh > ~/.zfunc/_snell\n\n  \
    mkdir -p ~/.config/fish/completions\n  \
    snell completions fish > ~/.config/fish/completions/snell.fish")]
pub(crate) struct Args {
    /// Name of the shell
    shell: Shell,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut build_completion_command(), "snell", &mut script);
    output::print_text(&String::from_utf8_lossy(&script));
    Ok(DONE)
}

/// The visible commands and options, with the known values of arguments that also take others.
fn build_completion_command() -> Command {
    // clap needs names that live as long as the process.
    let root: &'static Command = Box::leak(Box::new(Cli::command()));
    let seen = strip_hidden(root);
    let commands = root.get_subcommands().filter(|command| !command.is_hide_set());
    let agents = || InstallAgent::all().map(|agent| agent.name).collect();
    let values: [(&str, &str, Vec<&'static str>); 7] = [
        ("docs", "topic", docs::topic_names().collect()),
        ("run", "event", event_names()),
        ("notify", "event", event_names()),
        ("explain", "event", event_names()),
        ("install", "agent", agents()),
        ("uninstall", "agent", agents()),
        ("man", "command", commands.map(Command::get_name).collect()),
    ];
    values.into_iter().fold(seen, |seen, (command, argument, values)| {
        seen.mut_subcommand(command, |command| {
            command.mut_arg(argument, |argument| argument.value_parser(PossibleValuesParser::new(values)))
        })
    })
}

fn event_names() -> Vec<&'static str> {
    EventName::canonical_names().collect()
}

/// The command without hidden options and subcommands.
fn strip_hidden(command: &'static Command) -> Command {
    let arguments = command.get_arguments().filter(|argument| !argument.is_hide_set());
    let is_hidden = |id: &clap::Id| {
        let mut hidden = command.get_arguments().filter(|argument| argument.is_hide_set());
        hidden.any(|argument| argument.get_id() == id)
    };
    let groups = command.get_groups().map(|group| {
        let members = group.get_args().filter(|id| !is_hidden(id)).cloned();
        ArgGroup::new(group.get_id().clone()).multiple(true).args(members)
    });
    let subcommands = command.get_subcommands().filter(|command| !command.is_hide_set());
    Command::new(command.get_name())
        .version(command.get_version())
        .about(command.get_about().cloned().unwrap_or_default())
        .args(arguments.cloned())
        .groups(groups)
        .subcommands(subcommands.map(strip_hidden))
}
