//! `snell uninstall`: an agent's settings as they were without Snell.

use super::DONE;
use super::install::{InstallTargetArgs, print_script_results};
use crate::install::apply::{self, ChangeMode, UninstallReport};
use crate::output;

/// Remove Snell from an agent's settings
///
/// If nobody has changed the file since, it says again what it said before, to the last byte. Otherwise only Snell's
/// entries are taken out.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  snell uninstall claude --dry-run\n  snell uninstall claude --project")]
pub(crate) struct Args {
    #[command(flatten)]
    place: InstallTargetArgs,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<u8> {
    let mode = if args.place.dry_run { ChangeMode::DryRun } else { ChangeMode::Write };
    let done = apply::uninstall_snell(&args.place.resolve_target()?, mode)?;
    if args.place.json {
        output::print_json(&done)?;
    } else {
        print_removal(&done);
    }
    Ok(DONE)
}

fn print_removal(done: &UninstallReport) {
    let file = done.file.display();
    let scripts = [&done.script, &done.restored_script];
    if !done.changed {
        output::print_line(&format!("Nothing to do: Snell is not installed in {file}."));
    } else if done.dry_run {
        output::print_diff(&done.diff);
        print_script_results(scripts, ["would be removed", "would be again what it was before Snell"]);
    } else {
        output::print_line(&match (done.removed, done.restored) {
            _ if done.diff.is_empty() => {
                format!("Nothing of Snell's was in {file} any more; what was remembered of it is forgotten.")
            }
            (true, _) => format!("Removed {file}, which was not there before Snell."),
            (false, true) => format!("{file} is again what it was before Snell."),
            (false, false) => {
                format!("Took Snell's entries out of {file}. The rest of it stays as it is now.")
            }
        });
        print_script_results(scripts, ["is removed", "is again what it was before Snell"]);
    }
    for warning in &done.warnings {
        output::print_warning(warning);
    }
}
