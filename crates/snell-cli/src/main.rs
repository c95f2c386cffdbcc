//! The `snell` command.

mod around;
mod cli;
mod commands;
mod hook_view;
mod output;

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = match cli::parse() {
        Ok(command) => commands::run(command),
        Err(code) => code,
    };
    ExitCode::from(code)
}
