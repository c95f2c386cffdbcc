//! The `snell` command.

mod around;
mod caller;
mod cli;
mod commands;
mod doctor;
mod forwarding;
mod guard;
mod handlers;
mod hook_view;
mod install;
mod log_line;
mod machine;
mod memory;
mod output;
mod pins;
mod post;
mod recording;
mod shallow;
mod times;
mod waking;
mod whose;

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(run())
}

fn run() -> u8 {
    // Agents call this many times a minute, and reading a command line takes longer than answering them.
    if std::env::args_os().skip(1).eq(["hook"]) {
        return commands::hook::run(&commands::hook::Args::default());
    }
    match cli::parse() {
        Ok(command) => commands::run(command),
        Err(code) => code,
    }
}
