//! The parts of the help that the command line parser does not have: groups of commands, exit codes, and pages of the
//! documentation. For `--help`, and as man pages.
//!
//! The tables of variables and files are in the documentation, which is part of the binary. Man pages read them from there.

mod doc_lists;
mod exit_codes;
mod help_groups;
pub(crate) mod man_pages;

use clap::Command;

/// The program and all its commands: `-h` with examples, `--help` also with exit codes.
pub(crate) fn with_full_help(root: Command) -> Command {
    let root = help_groups::with_groups(root);
    let name = root.get_name().to_owned();
    root.mut_subcommands(|command| with_command_help(command, &name))
}

fn with_command_help(command: Command, parent: &str) -> Command {
    let path = format!("{parent} {}", command.get_name());
    let command = command.mut_subcommands(|below| with_command_help(below, &path));
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let words = path.split_once(' ').map_or(path.as_str(), |(_, words)| words);
    let (codes, docs) = (exit_codes::describe_exit_codes(words), help_groups::docs_line(words));
    command
        .after_help(format!("{examples}\n\n{docs}").trim_start().to_owned())
        .after_long_help(format!("{examples}\n\n{codes}\n\n{docs}").trim_start().to_owned())
}
