//! The `snell` command.

mod around;
mod caller;
mod cli;
mod commands;
mod doctor;
mod faults;
mod forwarding;
mod glimpse;
mod guard;
mod handlers;
mod hook_view;
mod install;
mod log_line;
mod machine;
mod manual;
mod memory;
mod output;
mod pins;
mod post;
mod recording;
mod shallow;
mod signals;
mod stack;
mod times;
mod waking;
mod whose;

use std::process::ExitCode;

fn main() -> ExitCode {
    signals::survive_unsolicited_signals();
    ExitCode::from(stack::run_with_enough_stack(run))
}

fn run() -> u8 {
    // Agents call this many times a minute, and reading a command line takes longer than answering them.
    if let Some(args) = commands::hook::Args::parse_quickly(std::env::args_os().skip(1)) {
        return commands::hook::run(&args);
    }
    match cli::parse() {
        Ok(command) => commands::run(command),
        Err(code) => code,
    }
}
