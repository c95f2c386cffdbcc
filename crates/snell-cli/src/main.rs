//! The `snell` command.

mod backup;
mod cli;
mod commands;
mod config_edit;
mod dispatch;
mod doctor;
mod env;
mod guard;
mod handlers;
mod install;
mod manual;
mod output;
mod payload;
mod process;
mod record;
mod session_arg;
mod settings_file;
mod telemetry;
mod tmux_wake;
mod trust_file;

use std::process::ExitCode;

fn main() -> ExitCode {
    process::signals::survive_unsolicited_signals();
    ExitCode::from(process::stack::run_with_enough_stack(run_cli))
}

fn run_cli() -> u8 {
    // Agents call `snell hook` many times a minute, and clap takes longer than the answer.
    if let Some(args) = commands::hook::Args::parse_quickly(std::env::args_os().skip(1)) {
        return commands::hook::run(&args);
    }
    match cli::parse_command_line() {
        Ok(command) => commands::run_command(command),
        Err(code) => code,
    }
}
