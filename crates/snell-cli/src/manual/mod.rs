//! What is said about commands beside their options: for `--help`, and as man pages.
//!
//! Exit codes, variables and files stand in tables of the documentation, which the binary carries. They are read from
//! there when somebody asks, so there is one home for them.

mod doc_lists;
mod exit_codes;
pub(crate) mod man_pages;

use clap::Command;

/// A command and all below it, with exit codes in their help.
pub(crate) fn with_all_exit_codes(mut root: Command) -> Command {
    root.build();
    let name = root.get_name().to_owned();
    root.mut_subcommands(|command| with_exit_codes(command, &name))
}

fn with_exit_codes(command: Command, above: &str) -> Command {
    let path = format!("{above} {}", command.get_name());
    let command = command.mut_subcommands(|below| with_exit_codes(below, &path));
    let said = command.get_after_help().map(ToString::to_string);
    let of_command = path.split_once(' ').map_or(path.as_str(), |(_, below)| below);
    let codes = exit_codes::describe_exit_codes(of_command);
    let paragraphs: Vec<_> = said.into_iter().chain([codes]).collect();
    command.after_help(paragraphs.join("\n\n"))
}
