//! `snell notices test`: sends a notice to each target now.

use snell::Timestamp;

use crate::commands::{DONE, FAILED};
use crate::dispatch::{DeliveryTarget, Notice, NoticeSender};
use crate::env::caller::CallerEnv;
use crate::env::read_clock_override;
use crate::output::{self, CommandError};

/// Send a test notice to each target, and print the results
///
/// Quiet hours do not apply.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  snell notices test")]
pub(crate) struct Args {}

pub(super) fn run(_args: &Args) -> anyhow::Result<u8> {
    let notify = CallerEnv::load_user_settings()?.notify;
    let targets: Vec<_> = DeliveryTarget::ALL.iter().filter(|target| target.is_configured(&notify)).collect();
    if targets.is_empty() {
        let error = CommandError::new("no target for notices is configured");
        return Err(error.with_hint("add [notify] to ~/.config/snell/snell.toml: snell docs notices").into());
    }
    let now = read_clock_override().unwrap_or_else(Timestamp::now);
    let notice = Notice::for_test(&std::env::current_dir().unwrap_or_default(), now);
    let mut code = DONE;
    for target in targets {
        match NoticeSender::new(&notify).send(*target, &notice) {
            Ok(()) => output::print_line(&format!("{}: sent", target.name())),
            Err(failure) => {
                output::print_line(&format!("{}: failed: {}", target.name(), failure.into_text()));
                code = FAILED;
            }
        }
    }
    Ok(code)
}
